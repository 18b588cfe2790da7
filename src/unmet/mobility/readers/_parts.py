"""The columns of a plain file, a part at a time, made in another thread or in another process."""

from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass
from itertools import repeat
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from unmet.mobility._ahead import ahead
from unmet.mobility.readers._blocks import Block, block_size, blocks
from unmet.mobility.readers._codes import Codes

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


def parts_ahead(file: File) -> Parts:
    """The same by a thread, which works ahead."""
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
