"""Blocks of a plain file on their way into DuckDB: parsed ahead, gathered in one frame, inserted together."""

from collections.abc import Callable

import duckdb

from unmet.mobility._ahead import ahead
from unmet.mobility._gathered import Columns, Gathered
from unmet.mobility.readers._blocks import Block, Lines, Uneven, blocks
from unmet.mobility.readers._codes import Codes
from unmet.mobility.readers._csv import Plain
from unmet.mobility.readers._tables import quote

_BEGUN = 6  # blocks parsed while others are inserted


def insert_blocks(
    con: duckdb.DuckDBPyConnection,
    plain: Plain,
    width: int,
    parse: Callable[[Block], Columns],
    insert: Callable[[], str],
) -> int:
    """Insert all lines of a file; returns how many there were, or -1 where the file is not plain.

    Parameters
    ----------
    parse : columns of one block, always the same; called in another thread.
    insert : called before each statement; gives the SQL that inserts the rows of ``_frame``.
    """

    def columns(lines: Lines) -> tuple[int, Columns]:
        block = Block(lines, width, plain.delimiter)
        return block.rows, parse(block)

    rows, lines = Gathered(con, insert), 0
    try:
        for future in ahead(columns, blocks(plain.path, held=_BEGUN + 1), threads=1, begun=_BEGUN):
            found, held = future.result()
            if plain.stopped.is_set():
                raise Uneven("nobody waits for it")
            lines += found
            rows.add(held)
        fits = rows.flush() == lines
    except Uneven:
        fits = False
    con.unregister("_frame")
    return lines if fits else -1


class Texts:
    """A table of the texts behind codes, brought up to date before rows are inserted."""

    def __init__(
        self, con: duckdb.DuckDBPyConnection, table: str, codes: Codes, select: str, delimiter: str
    ) -> None:
        """`select` is SQL over ``{cells}``: ``number``, and a text or NULL for each column of the file."""
        self._con, self._table, self._codes = con, table, codes
        self._select, self._delimiter = select, delimiter
        self._known = 0

    def update(self) -> bool:
        """Bring the texts that came since the last time; whether there are any."""
        new = self._codes.texts[self._known :]
        if not new:
            return False
        # Neither line ends nor delimiters occur inside a cell: one text brings them all.
        cells = ", ".join(
            f"nullif(cells[{index + 1}], '') AS c{self._codes.first + index}"
            for index in range(self._codes.last - self._codes.first + 1)
        )
        mark = quote(self._delimiter)
        rows = f"""(
            SELECT number, {cells}
            FROM (SELECT unnest($numbers::INTEGER[]) AS number,
                         string_split(unnest(string_split($texts, chr(10))), {mark}) AS cells))"""
        numbers = self._codes.shared[self._known : self._known + len(new)]
        self._con.execute(
            f"INSERT INTO {self._table} {self._select.replace('{cells}', f'{rows} AS cells')}",
            {"numbers": numbers.tolist(), "texts": b"\n".join(new).decode()},
        )
        self._known += len(new)
        return True
