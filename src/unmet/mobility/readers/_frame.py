"""Parts of a plain file on their way into DuckDB: codes translated, gathered, inserted together."""

from collections.abc import Callable
from contextlib import closing
from typing import Any

import duckdb
import numpy as np

from unmet.mobility._gathered import Gathered
from unmet.mobility.readers._blocks import Uneven
from unmet.mobility.readers._codes import Codes
from unmet.mobility.readers._csv import Plain
from unmet.mobility.readers._names import Names
from unmet.mobility.readers._parts import File, Parser, parts_of
from unmet.tables import literal


class Texts:
    """A table of the texts behind codes, brought up to date before rows are inserted."""

    def __init__(
        self,
        con: duckdb.DuckDBPyConnection,
        table: str,
        codes: Codes,
        names: Names,
        sort: str,
        select: str,
        delimiter: str,
    ) -> None:
        """
        Parameters
        ----------
        names, sort : numbers that texts have in all files; `sort` says which texts of other columns and
            files mean the same.
        select : SQL over ``{cells}``: ``number``, and a text or NULL for each column of the file.
        """
        self._con, self._table = con, table
        self._first, self._last = codes.first, codes.last
        self._names, self._sort = names, sort
        self._select, self._delimiter = select, delimiter
        self._stored = 0
        self.texts: list[bytes] = []
        self.numbers = np.zeros(0, np.int32)  # of each code

    def learn(self, new: list[bytes]) -> None:
        """Hear of the texts of the next codes."""
        if new:
            self.texts += new
            self.numbers = np.concatenate([self.numbers, self._names.numbers(self._table, self._sort, new)])

    def update(self) -> bool:
        """Store the texts that came since the last time; whether there are any."""
        new = self.texts[self._stored :]
        if not new:
            return False
        # Neither line ends nor delimiters occur inside a cell: one text brings them all.
        cells = ", ".join(
            f"nullif(cells[{index + 1}], '') AS c{self._first + index}"
            for index in range(self._last - self._first + 1)
        )
        mark = literal(self._delimiter)
        rows = f"""(
            SELECT number, {cells}
            FROM (SELECT unnest($numbers::INTEGER[]) AS number,
                         string_split(unnest(string_split($texts, chr(10))), {mark}) AS cells))"""
        self._con.execute(
            f"INSERT INTO {self._table} {self._select.replace('{cells}', f'{rows} AS cells')}",
            {"numbers": self.numbers[self._stored :].tolist(), "texts": b"\n".join(new).decode()},
        )
        self._stored = len(self.texts)
        return True


def insert_parts(
    con: duckdb.DuckDBPyConnection,
    plain: Plain,
    width: int,
    parser: Parser,
    texts: dict[str, Texts],
    insert: Callable[[], str],
) -> tuple[int, Any]:
    """Insert all lines of a file; returns how many there were, or -1 where the file is not plain, and what
    the parser was told.

    Parameters
    ----------
    texts : by the name of their column.
    insert : called before each statement; gives the SQL that inserts the rows of ``_frame``.
    """
    file = File(plain.path, plain.delimiter, width, parser)
    rows, lines = Gathered(con, insert), 0
    told: Any = None
    try:
        with closing(parts_of(file, plain.streams)) as found:
            while True:
                try:
                    part = next(found)
                except StopIteration as end:
                    told = end.value
                    break
                if plain.stopped.is_set():
                    raise Uneven("nobody waits for it")
                lines += part.rows
                columns = dict(part.columns)
                for name, table in texts.items():
                    table.learn(part.texts[name])
                    columns[name] = table.numbers[columns[name]]
                rows.add(columns)
        fits = rows.flush() == lines
    except Uneven:
        fits = False
    con.unregister("_frame")
    return (lines if fits else -1), told
