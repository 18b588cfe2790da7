"""Rows on their way into a canonical table: those of plain files apart from those that need more columns."""

import duckdb

from unmet.mobility.readers._tables import TABLES, count


class Staging:
    """Two tables that become one.

    ``plain_…`` holds rows that were found sound while they were read: the canonical columns, `kept`, and
    nothing else, because even an empty column costs time in a large table. ``new_…`` has `extra` columns,
    ``reason`` among them, for rows that are looked at afterwards.
    """

    def __init__(self, con: duckdb.DuckDBPyConnection, kind: str, kept: str, extra: str) -> None:
        self.con, self.kind = con, kind
        self.table, self.plain = f"new_{kind}", f"plain_{kind}"
        self.mixed = True  # whether rows may have values in the extra columns
        self._kept = names_of(f"{TABLES[kind]}, {kept}")
        self._extra = names_of(f"{kept}, {extra}")
        con.execute(f"CREATE OR REPLACE TABLE {self.table}({TABLES[kind]}, {kept}, {extra})")
        con.execute(f"CREATE OR REPLACE TABLE {self.plain}({TABLES[kind]}, {kept})")

    def unite(self) -> int:
        """Bring all rows into one table; returns how many of them have no reason to be rejected."""
        sound = count(self.con, f"SELECT count(*) FROM {self.plain}")
        others = count(self.con, f"SELECT count(*) FROM {self.table} WHERE reason IS NULL")
        self.mixed = not sound or bool(count(self.con, f"SELECT count(*) FROM {self.table}"))
        if self.mixed:
            names = ", ".join(f'"{name}"' for name in self._kept)
            self.con.execute(
                f"INSERT INTO {self.table}({names}) "
                f"SELECT {names} FROM {self.plain} ORDER BY source_number, line"
            )
        self.con.execute(f"DROP TABLE {self.plain if self.mixed else self.table}")
        if not self.mixed:
            self.con.execute(f"ALTER TABLE {self.plain} RENAME TO {self.table}")
        return sound + others

    def strip(self, others: str = "") -> None:
        """Leave the canonical columns alone; `others` were added on the way."""
        for name in self._extra + (names_of(others) if others else []):
            self.con.execute(f"ALTER TABLE {self.table} DROP COLUMN IF EXISTS {name}")

    def discard(self) -> None:
        """Drop what was not used."""
        for table in (self.table, self.plain):
            self.con.execute(f"DROP TABLE IF EXISTS {table}")


def names_of(columns: str) -> list[str]:
    """Names of declared columns."""
    return [item.split()[0].strip('"') for item in columns.split(", ")]
