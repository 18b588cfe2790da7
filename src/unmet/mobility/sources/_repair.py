"""Repair an irregular CSV file: read it line by line and write the valid lines, numbered, to a new file."""

import csv
import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from unmet.mobility.sources._encoding import LATIN_1, guess_encoding, is_utf_8

LONGEST = 1_000_000  # bytes; longer lines are rejected
_JUDGED = 64 * 1024  # bytes from which an encoding is told
Reject = tuple[int, str, str]  # line, reason, text


@dataclass
class Repaired:
    """How many lines a file has, and how many `good` ones were written."""

    lines: int = 0
    good: int = 0
    other: int = 0  # lines that are not UTF-8
    blank: int = 0


def physical_lines(file: IO[bytes]) -> Iterator[tuple[bytes, bool]]:
    """Yield each line and whether it is too long; a line that is too long is cut."""
    while line := file.readline(LONGEST + 2):
        if len(line) <= LONGEST or line.endswith(b"\n"):
            yield line, len(line) > LONGEST + 1
            continue
        while (rest := file.readline(LONGEST)) and not rest.endswith(b"\n"):
            pass
        yield line[:200], True


def repair(
    path: Path, target: IO[str], delimiter: str, width: int, rejects: list[Reject], encoding: str = LATIN_1
) -> Repaired:
    """Copy the valid lines of a file to `target` as ``line,cell,…`` and append the others to `rejects`.

    A line is valid if it is CSV on its own and has `width` cells. Each line of a record that runs over
    several lines is rejected. Lines that are not UTF-8 are read in `encoding`.
    """
    done = Repaired()
    rows = csv.writer(target, lineterminator="\n")
    with open(path, "rb") as file:
        for number, (raw, long) in enumerate(physical_lines(file), start=1):
            done.lines = number
            if number == 1:
                continue
            try:
                text = raw.decode("utf-8")
            except UnicodeDecodeError:
                text = raw.decode(encoding, errors="replace")
                done.other += 1
            text = text.rstrip("\r\n")
            cells: list[str] = []
            if long:
                reason = f"longer than {LONGEST:,} bytes"
            elif not text.strip():
                reason = "blank line"
                done.blank += 1
            elif "\0" in text:
                reason = "NUL byte"
            else:
                cells, reason = _cells(text, delimiter, width)
            if reason:
                rejects.append((number, reason, text[:500]))
            else:
                rows.writerow([number, *cells])
                done.good += 1
    return done


def encoding_of_odd_lines(path: Path) -> str:
    """Return the likeliest encoding of the lines that are not UTF-8, judged by the first of them."""
    odd, size = [], 0
    with open(path, "rb") as file:
        for raw, long in physical_lines(file):
            if not long and not raw.isascii() and not is_utf_8(raw):
                odd.append(raw)
                size += len(raw)
                if size > _JUDGED:
                    break
    found = guess_encoding(b"".join(odd))
    return LATIN_1 if found == "utf-8" else found


def _cells(text: str, delimiter: str, width: int) -> tuple[list[str], str]:
    try:
        cells = next(csv.reader([text], delimiter=delimiter, strict=True))
    except (csv.Error, StopIteration) as error:
        what = str(error)
        if "unexpected end" in what:
            return [], "a quote is left open"
        if "new-line" in what:
            return [], "a carriage return inside the line"
        return [], f"not CSV: {what}"[:120]
    if len(cells) != width:
        return [], f"{'too many' if len(cells) > width else 'too few'} cells"
    return [cell.replace("\r", " ").replace("\n", " ") for cell in cells], ""


def texts_of(path: Path, lines: list[int]) -> dict[int, str]:
    """Return the start of the text of these physical lines."""
    wanted, found = set(lines), {}
    last = max(wanted, default=0)
    with open(path, "rb") as file:
        for number, (raw, _) in enumerate(itertools.islice(physical_lines(file), last), start=1):
            if number in wanted:
                found[number] = raw[:500].decode("utf-8", errors="replace").strip("\r\n").replace("\0", "\\0")
    return found
