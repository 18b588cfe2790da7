"""The columns of a plain file, a part at a time, made in another thread or in another process."""

from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass
from itertools import repeat
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from unmet.mobility._ahead import ahead
from unmet.mobility.readers._blocks import Block, Uneven, block_size, blocks
from unmet.mobility.readers._codes import Codes
from unmet.runs import Stream, StreamLostError, Streams

_BEGUN = 6  # parts made while others are inserted


class Parser(Protocol):
    """Makes columns of blocks, one after the other; can be pickled before it begins."""

    codes: dict[str, Codes]  # columns of codes, by name

    def columns(self, block: Block) -> dict[str, np.ndarray]:
        """Columns of one block, always the same."""

    def told(self) -> Any:
        """What it learned from all blocks."""


@dataclass(frozen=True)
class File:
    """A plain file and how to read it."""

    path: Path
    delimiter: str
    width: int
    parser: Parser


@dataclass(frozen=True)
class Part:
    """Columns of some lines, and the texts that their codes stand for, as far as they are new."""

    rows: int
    columns: Mapping[str, np.ndarray]
    texts: dict[str, list[bytes]]


Parts = Generator[Part, None, Any]  # ends with what the parser was told
WORTH = 48 << 20  # bytes of a file for which a process pays


def parts(file: File) -> Parts:
    """Parse a file block by block."""
    known = dict.fromkeys(file.parser.codes, 0)
    for lines in blocks(file.path, block_size(file.path)):
        block = Block(lines, file.width, file.delimiter)
        columns = file.parser.columns(block)
        new = {name: codes.texts[known[name] :] for name, codes in file.parser.codes.items()}
        known = {name: len(codes.texts) for name, codes in file.parser.codes.items()}
        yield Part(block.rows, columns, new)
    return file.parser.told()


def parts_of(file: File, streams: Streams) -> Parts:
    """The parts of a file, which are made ahead: of a large one by another process, else by a thread."""
    return _by_process(file, streams) if file.path.stat().st_size >= WORTH else _by_thread(file)


def _by_thread(file: File) -> Parts:
    found: Iterator[Part] = parts(file)
    coming = ahead(lambda _: next(found, None), repeat(None), threads=1, begun=_BEGUN)
    try:
        for future in coming:
            part = future.result()
            if part is None:
                return file.parser.told()
            yield part
    finally:
        coming.close()


def _by_process(file: File, streams: Streams) -> Parts:
    found, begun = streams.run(items, file), False
    try:
        while True:
            arrays, rest = next(found)
            begun = True
            yield Part(rest[0], arrays, rest[1])
    except StopIteration as end:
        return end.value
    except StreamLostError:
        if begun:
            raise Uneven("its process is gone") from None
    finally:
        found.close()
    return (yield from _by_thread(file))


def items(file: File) -> Stream:
    """The parts as another process gives them: arrays, and what is none."""
    found = parts(file)
    while True:
        try:
            part = next(found)
        except StopIteration as end:
            return end.value
        yield part.columns, (part.rows, part.texts)
