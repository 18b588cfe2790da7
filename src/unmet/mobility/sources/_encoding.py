"""Tell the file type and the encoding of a source by its bytes, and rewrite text as UTF-8."""

import codecs
from collections.abc import Callable
from pathlib import Path

_HEAD = 64 * 1024
UTF_8, LATIN_1 = "utf-8", "cp1252"
_BOMS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
# What a file starts with, what it is, and what to do about it.
_BINARY = (
    (b"\xd0\xcf\x11\xe0", "an old Excel workbook", "save the sheet as CSV"),
    (b"%PDF", "a PDF", "get the data as CSV"),
    (b"\x89PNG", "a picture", "give the data as CSV"),
    (b"\xff\xd8\xff", "a picture", "give the data as CSV"),
    (b"GIF8", "a picture", "give the data as CSV"),
    (b"7z\xbc\xaf", "a 7-Zip archive", "unpack it first"),
    (b"Rar!", "a RAR archive", "unpack it first"),
    (b"SQLite format", "an SQLite database", "export the table as CSV"),
    (b"ARROW1", "an Arrow file", "save it as Parquet or CSV"),
    (b"\x89HDF", "an HDF5 file", "save it as Parquet or CSV"),
    (b"\x80\x04\x95", "a Python pickle", "save it as Parquet or CSV"),
)


def content_of(path: Path, name: str, encoding: str | None = None) -> str:
    """Return ``"parquet"``, ``"json"`` or ``"csv"``, whatever the file is called.

    Text in another encoding is rewritten as UTF-8, and carriage returns at the end of lines as line feeds.
    Single lines that are no UTF-8 stay as they are.
    """
    with open(path, "rb") as file:
        start = file.read(_HEAD)
    if not start:
        raise ValueError(f"{name} is empty")
    if start[:4] == b"PAR1":
        return "parquet"
    _refuse_binary(start, name)
    bom = next((codec for mark, codec in _BOMS if start.startswith(mark)), None)
    found = bom or encoding or _wide(start) or guess_encoding(start)
    if found not in (UTF_8, LATIN_1) or (encoding is not None and codecs.lookup(found).name != UTF_8):
        _rewrite(path, lambda text: text, found, UTF_8, name)
        return content_of(path, name)
    if b"\r" in start and b"\n" not in start and start.lstrip(b"\xef\xbb\xbf \t\r")[:1] not in (b"{", b"["):
        _rewrite(path, lambda text: text.replace("\r", "\n"), "latin-1", "latin-1", name)
    return "json" if start.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] in (b"{", b"[") else "csv"


def check_encoding(encoding: str | None) -> str | None:
    """Return the argument `encoding` if Python knows it."""
    if encoding is None:
        return None
    try:
        codecs.lookup(encoding)
        "".encode(encoding)
    except (LookupError, TypeError):
        raise ValueError(
            f"encoding must be the name of a text encoding such as cp949, got {encoding!r}"
        ) from None
    return encoding


def guess_encoding(data: bytes) -> str:
    """Return the likeliest encoding of text: UTF-8, one of East Asia, Cyrillic, else Latin-1 (cp1252).

    Only lines that are not UTF-8 are judged: a few such lines in a UTF-8 file say nothing about the others.
    """
    odd = b"\n".join(line for line in data.split(b"\n")[:-1] or [data] if not is_utf_8(line))
    if not odd:
        return UTF_8
    for codec, fits in _FITS:
        try:
            text = odd.decode(codec)
        except UnicodeDecodeError:
            continue
        letters = [letter for letter in text if ord(letter) > 127]
        if letters and fits(letters, odd):
            return {"gb2312": "gb18030"}.get(codec, codec)
    return LATIN_1


def is_utf_8(line: bytes) -> bool:
    """Return whether bytes are UTF-8."""
    try:
        line.decode(UTF_8)
    except UnicodeDecodeError:
        return False
    return True


def _share(letters: list[str], first: int, last: int) -> float:
    return sum(first <= ord(letter) <= last for letter in letters) / len(letters)


def _is_korean(letters: list[str], data: bytes) -> bool:
    return _share(letters, 0xAC00, 0xD7A3) > 0.85


def _is_japanese(letters: list[str], data: bytes) -> bool:
    return _share(letters, 0x3041, 0x30FF) > 0.15 and _share(letters, 0xFF61, 0xFF9F) < 0.1


def _is_chinese(letters: list[str], data: bytes) -> bool:
    return _share(letters, 0x4E00, 0x9FFF) > 0.7


def _is_big5(letters: list[str], data: bytes) -> bool:
    # Every second byte may be ASCII, so accents of Latin-1 pass too; but theirs are not the common leads.
    leads = [byte for byte in data if byte > 0xA3]
    common = sum(0xA4 <= byte <= 0xC6 for byte in leads)
    return len(letters) >= 4 and _is_chinese(letters, data) and common > 0.6 * len(leads)


def _is_cyrillic(letters: list[str], data: bytes) -> bool:
    high = [byte > 127 for byte in data]
    starts = sum(now and not before for now, before in zip(high, [False, *high]))
    return _share(letters, 0x410, 0x44F) > 0.85 and sum(high) >= 3 * starts  # words, not single accents


_FITS: tuple[tuple[str, Callable[[list[str], bytes], bool]], ...] = (
    ("cp949", _is_korean),
    ("cp932", _is_japanese),
    ("euc_jp", _is_japanese),
    ("gb2312", _is_chinese),
    ("cp950", _is_big5),
    ("cp1251", _is_cyrillic),
)


def _wide(start: bytes) -> str | None:
    """Return the encoding of text without a mark that has a NUL byte in every second place."""
    head = start[:200]
    if len(head) < 8 or b"\0" not in head:
        return None
    if head[1::2].count(0) > 0.9 * len(head[1::2]) and 0 not in head[::2]:
        return "utf-16-le"
    if head[::2].count(0) > 0.9 * len(head[::2]) and 0 not in head[1::2]:
        return "utf-16-be"
    return None


def _refuse_binary(start: bytes, name: str) -> None:
    for mark, what, remedy in _BINARY:
        if start.startswith(mark):
            raise ValueError(f"{name} is {what}, not a table; {remedy}")
    if start[257:262] == b"ustar":
        raise ValueError(f"{name} is a tar archive; unpack it first")
    line = start.split(b"\n", 1)[0][:4096]
    control = sum(byte < 32 and byte not in (9, 13) for byte in line)
    if (
        control > 0.1 * len(line)
        and _wide(start) is None
        and not start.startswith(tuple(b for b, _ in _BOMS))
    ):
        raise ValueError(f"{name} holds no text; give CSV, JSON or Parquet")


def _rewrite(path: Path, change: Callable[[str], str], encoding: str, into: str, name: str) -> None:
    rewritten = path.with_name("rewritten")
    # A few broken letters in a large file must not refuse it; UTF-16 that breaks is no text at all.
    errors = "strict" if encoding.startswith("utf-") else "replace"
    try:
        with (
            open(path, encoding=encoding, newline="", errors=errors) as old,
            open(rewritten, "w", encoding=into, newline="") as new,
        ):
            while text := old.read(2**20):
                new.write(change(text))
    except UnicodeError:
        raise ValueError(f"{name} starts like {encoding.upper()} text but is not; save it as UTF-8") from None
    path.unlink()
    rewritten.rename(path)
