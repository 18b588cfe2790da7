"""Account for every line of every source, as data and as a short text."""

from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from duckdb import DuckDBPyConnection as Connection

from unmet.mobility.sources._csv import Reject, csv_table, write_rows
from unmet.mobility.sources._tables import TABLES, count
from unmet.tables import literal

_MANY = 200_000  # rejects to hold in memory


@dataclass(frozen=True)
class FileReport:
    """What happened to the lines of one source: ``lines == headers + accepted + rejected``."""

    source: str
    format: str
    lines: int
    headers: int
    accepted: int
    rejected: int


def _reasons(reasons: dict[str, int], most: int = 5) -> str:
    ordered = sorted(reasons.items(), key=lambda pair: (-pair[1], pair[0]))
    return "; ".join(f"{number:,} × {words}" for words, number in ordered[:most])


@dataclass(frozen=True)
class Report:
    """Totals over all sources."""

    files: tuple[FileReport, ...]
    reasons: dict[str, int]
    notes: tuple[str, ...]
    first: datetime | None = None
    last: datetime | None = None

    @property
    def lines(self) -> int:
        return sum(file.lines for file in self.files)

    @property
    def headers(self) -> int:
        return sum(file.headers for file in self.files)

    @property
    def accepted(self) -> int:
        """Number of valid rows, including duplicates and rows left out by ``keep``."""
        return sum(file.accepted for file in self.files)

    @property
    def rejected(self) -> int:
        return sum(file.rejected for file in self.files)

    @property
    def formats(self) -> dict[str, int]:
        """Format → number of sources."""
        result: dict[str, int] = {}
        for file in self.files:
            result[file.format] = result.get(file.format, 0) + 1
        return result

    def _opening(self) -> list[str]:
        kinds = ", ".join(f"{number} × {name}" for name, number in self.formats.items())
        sources = f"{len(self.files)} source{'s' * (len(self.files) != 1)}"
        lines = [
            f"{self.lines:,} lines in {sources} ({kinds}) = {self.headers:,} headers "
            f"+ {self.accepted:,} accepted + {self.rejected:,} rejected"
        ]
        if self.rejected:
            lines.append(f"rejected: {_reasons(self.reasons)}")
        return lines

    def _closing(self) -> list[str]:
        lines = [f"{self.first:%Y-%m-%d %H:%M} to {self.last:%Y-%m-%d %H:%M} UTC"] if self.first else []
        return (
            lines
            + [f"note: {note}" for note in self.notes[:10]]
            + ([f"and {len(self.notes) - 10} more notes"] if len(self.notes) > 10 else [])
        )


@dataclass(frozen=True)
class TripsReport(Report):
    """What ``read_trips`` found. Table ``trips`` has ``rides == accepted - duplicates - left_out`` rows."""

    duplicates: int = 0
    left_out: int = 0
    flags: dict[str, int] = field(default_factory=dict)
    vehicles: int = 0
    unmapped: dict[str, int] = field(default_factory=dict)  # start place that is not a known station → rides
    zone: str | None = None

    @property
    def rides(self) -> int:
        return self.accepted - self.duplicates - self.left_out

    def __str__(self) -> str:
        lines = self._opening()
        lines.append(
            f"{self.rides:,} rides of {self.vehicles:,} vehicles ({self.duplicates:,} duplicates and "
            f"{self.left_out:,} left out by keep are among the accepted)"
        )
        if self.flags:
            flagged = ", ".join(f"{number:,} {name}" for name, number in sorted(self.flags.items()))
            lines.append(f"flagged, not dropped: {flagged}")
        if self.unmapped:
            lines.append(
                f"{sum(self.unmapped.values()):,} rides start at {len(self.unmapped)} places "
                "that are not known stations"
            )
        return "\n".join(lines + self._closing())


@dataclass(frozen=True)
class StatusReport(Report):
    """What ``read_status`` found. Duplicates are repeated records of a place at the same time."""

    duplicates: int = 0
    rows: int = 0  # in table `status`
    vehicles: int = 0  # rows in table `vehicles`
    places: int = 0
    unmapped: tuple[str, ...] = ()

    def __str__(self) -> str:
        lines = self._opening()
        lines.append(
            f"{self.rows:,} states of {self.places:,} places, {self.vehicles:,} states of vehicles "
            f"({self.duplicates:,} repeated)"
        )
        if self.unmapped:
            lines.append(f"{len(self.unmapped)} places are not known stations")
        return "\n".join(lines + self._closing())


@dataclass(frozen=True)
class StationsReport(Report):
    """What ``read_stations`` found."""

    stations: int = 0
    ids: int = 0  # other ids of stations
    renamed: int = 0  # rows of trips and status that now have the station's id

    def __str__(self) -> str:
        lines = self._opening()
        lines.append(f"{self.stations:,} stations, {self.ids:,} other ids; {self.renamed:,} rows renamed")
        return "\n".join(lines + self._closing())


@dataclass
class Account:
    """Counts of lines and rejects while sources are read."""

    con: Connection
    kind: str
    files: list[FileReport] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    blank: int = 0  # rejected lines that are only blank
    left_out: int = 0  # valid rows that `keep` left out

    def __post_init__(self) -> None:
        self._rejects: list[list[Any]] = []
        self.con.execute(f"CREATE OR REPLACE TEMP TABLE new_rejects({TABLES['rejects']})")

    def add_file(self, source: str, format: str, lines: int, headers: int, rejected: int) -> None:
        """Add the counts of one source."""
        accepted = lines - headers - rejected
        self.files.append(FileReport(source, format, lines, headers, accepted, rejected))

    def add_rejects(self, source: str, rejects: list[Reject]) -> None:
        """Add rejected lines."""
        self._rejects += [[line, source, reason, text] for line, reason, text in rejects]

    def write_many_rejects(self, folder: Path) -> None:
        """Write the rejects so far to table ``new_rejects`` if there are many."""
        if len(self._rejects) > _MANY:
            self.write_rejects(folder)

    def write_rejects(self, folder: Path) -> None:
        """Write the rejects so far to table ``new_rejects``."""
        if not self._rejects:
            return
        path = folder / "rejects.csv"
        write_rows(path, self._rejects)
        self.con.execute(
            f"INSERT INTO new_rejects SELECT c0, line, c1, coalesce(c2, ''), {literal(self.kind)} "
            f"FROM {csv_table(path, 3, ',', numbered=True, nulls=('',))}"
        )
        path.unlink()
        self._rejects.clear()

    def reasons(self) -> dict[str, int]:
        """Return how many lines were rejected for each reason."""
        found = self.con.execute(
            "SELECT reason, count(*) FROM new_rejects GROUP BY 1 ORDER BY 2 DESC, 1"
        ).fetchall()
        return {str(reason): int(number) for reason, number in found}

    def check(self, rows: int, max_reject_share: float) -> None:
        """Raise ValueError if a line is not accounted for or if too many rows were rejected.

        `rows` is the number of rows that were inserted. Blank lines do not count as rejected rows.
        """
        rejected = count(self.con, "SELECT count(*) FROM new_rejects")
        accepted = sum(file.accepted for file in self.files)
        if rejected != sum(file.rejected for file in self.files) or rows + self.left_out != accepted:
            raise ValueError("accepted and rejected lines do not add up: please report this as a bug")
        if not 0 <= max_reject_share <= 1:
            raise ValueError(f"max_reject_share must lie between 0 and 1, got {max_reject_share!r}")
        rejected -= self.blank
        total = accepted + rejected
        if rejected > max_reject_share * total:
            examples = self.con.execute(
                "SELECT source || ' line ' || line || ': ' || reason FROM new_rejects "
                "WHERE reason <> 'blank line' ORDER BY source, line LIMIT 3"
            ).fetchall()
            reasons = {words: number for words, number in self.reasons().items() if words != "blank line"}
            shown = ("; for example " + " | ".join(row[0] for row in examples)) if examples else ""
            raise ValueError(
                f"{rejected:,} of {total:,} rows were rejected, more than max_reject_share="
                f"{max_reject_share:g} allows: {_reasons(reasons)}{shown}"
            )
