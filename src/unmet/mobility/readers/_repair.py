"""Read a troubled CSV file line by line and write what is sound, with line numbers, as a clean one."""

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from unmet.mobility.readers._scan import LONGEST

Reject = tuple[int, str, str]  # line, reason, text


@dataclass
class Repaired:
    """Result of a careful reading: ``good`` rows were written, the others are in ``rejects``."""

    lines: int = 0
    good: int = 0
    latin: int = 0
    blank: int = 0


def physical_lines(file: IO[bytes]) -> Iterator[tuple[bytes, bool]]:
    """Lines with a flag "too long"; of such a line only the beginning is kept."""
    while line := file.readline(LONGEST + 2):
        if len(line) <= LONGEST or line.endswith(b"\n"):
            yield line, len(line) > LONGEST + 1
            continue
        while (rest := file.readline(LONGEST)) and not rest.endswith(b"\n"):
            pass
        yield line[:200], True


def repair(path: Path, target: IO[str], delimiter: str, width: int, rejects: list[Reject]) -> Repaired:
    """Copy sound rows of ``path`` to ``target`` as ``line,cell,…``; troubled lines go to ``rejects``.

    A line is sound if it is CSV by itself with ``width`` cells. A record that runs over several lines is
    not read: each of its lines is rejected. Bytes that are not UTF-8 are read as Latin-1 (Windows-1252).
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
                text = raw.decode("cp1252", errors="replace")
                done.latin += 1
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
