"""Rows on their way into a canonical table: those of plain files by number, the others with more columns."""

import duckdb

from unmet.mobility.readers._coded import CODED
from unmet.mobility.readers._tables import TABLES, count

_NEW = "new_"


class Staging:
    """What is read before it takes the place of a canonical table.

    Rows that were found sound while they were read go to coded tables (:mod:`._coded`), the others to
    ``new_…``, which has `extra` columns, ``reason`` among them, for rows that are looked at afterwards.
    If there are only sound ones, the canonical table becomes a view of the coded ones.
    """

    def __init__(self, con: duckdb.DuckDBPyConnection, kind: str, kept: str, extra: str) -> None:
        """`kept` declares the columns that both have beyond the canonical ones."""
        self.con, self.kind = con, kind
        self.table, self.view = f"{_NEW}{kind}", f"plain_{kind}"
        self.mixed = True  # whether all rows are in ``new_…``
        self._coded = CODED[kind]
        self._names = names_of(f"{TABLES[kind]}, {kept}")
        self._extra = names_of(f"{kept}, {extra}")
        con.execute(f"CREATE OR REPLACE TABLE {self.table}({TABLES[kind]}, {kept}, {extra})")
        for name, columns in self._coded.tables.items():
            con.execute(f"CREATE OR REPLACE TABLE {_NEW}{name}({columns})")

    @property
    def rows(self) -> str:
        """The table in which the rows are, with their ``started_at``, ``line`` and the like."""
        return self.table if self.mixed else f"{_NEW}{self._coded.rows}"

    @property
    def relation(self) -> str:
        """SQL of the rows with canonical and kept columns, and ``id``, the ``rowid`` in `rows`."""
        return f"(SELECT *, rowid AS id FROM {self.table})" if self.mixed else self.view

    def unite(self) -> int:
        """Bring all rows into one form; returns how many of them have no reason to be rejected."""
        for name, columns in self._coded.tables.items():
            if name != self._coded.rows:
                self._tell_once(f"{_NEW}{name}", names_of(columns)[0])
        self.con.execute(
            f"CREATE OR REPLACE TEMP VIEW {self.view} AS {self._coded.select(_NEW, staging=True)}"
        )
        sound = count(self.con, f"SELECT count(*) FROM {_NEW}{self._coded.rows}")
        others = count(self.con, f"SELECT count(*) FROM {self.table} WHERE reason IS NULL")
        self.mixed = not sound or bool(count(self.con, f"SELECT count(*) FROM {self.table}"))
        if self.mixed and sound:
            names = ", ".join(f'"{name}"' for name in self._names)
            self.con.execute(
                f"CREATE OR REPLACE TABLE {self.table} AS FROM (FROM {self.table} "
                f"UNION ALL BY NAME SELECT {names} FROM {self.view}) ORDER BY source_number, line"
            )
        return sound + others

    def _tell_once(self, table: str, number: str) -> None:
        """Several files told what a number means: keep it once, and make sure that they agree."""
        self.con.execute(
            f"CREATE OR REPLACE TABLE {table} AS FROM (SELECT DISTINCT * FROM {table}) ORDER BY ALL"
        )
        if count(self.con, f"SELECT count(*) - count(DISTINCT {number}) FROM {table}"):
            raise ValueError("the names of stations or vehicles do not add up: please report this file")

    def replace(self, others: str = "") -> None:
        """Let what was read take the place of the canonical table; `others` were added on the way."""
        drop(self.con, self.kind)
        self.con.execute(f"DROP VIEW {self.view}")
        for name in self._coded.tables:
            self.con.execute(f"DROP TABLE IF EXISTS {name}")
            if self.mixed:
                self.con.execute(f"DROP TABLE {_NEW}{name}")
            else:
                self.con.execute(f"ALTER TABLE {_NEW}{name} RENAME TO {name}")
        if not self.mixed:
            self.con.execute(f"DROP TABLE {self.table}")
            self.con.execute(f"CREATE VIEW {self.kind} AS {self._coded.select()}")
            return
        for name in self._extra + (names_of(others) if others else []):
            self.con.execute(f"ALTER TABLE {self.table} DROP COLUMN IF EXISTS {name}")
        self.con.execute(f"ALTER TABLE {self.table} RENAME TO {self.kind}")

    def discard(self) -> None:
        """Drop what was not used."""
        self.con.execute(f"DROP VIEW IF EXISTS {self.view}")
        for table in (self.table, *(f"{_NEW}{name}" for name in self._coded.tables)):
            self.con.execute(f"DROP TABLE IF EXISTS {table}")


def names_of(columns: str) -> list[str]:
    """Names of declared columns."""
    return [item.split()[0].strip('"') for item in columns.split(", ")]


def is_view(con: duckdb.DuckDBPyConnection, name: str) -> bool:
    """Whether a canonical table is a view of coded rows."""
    return bool(count(con, f"SELECT count(*) FROM duckdb_views() WHERE view_name = '{name}'"))


def drop(con: duckdb.DuckDBPyConnection, name: str) -> None:
    """Drop a canonical table, whichever form it has."""
    con.execute(f"DROP {'VIEW' if is_view(con, name) else 'TABLE'} IF EXISTS {name}")
