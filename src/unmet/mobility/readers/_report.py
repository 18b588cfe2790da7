"""What a reading found, as data and as a few lines a person can read."""

from dataclasses import dataclass, field
from datetime import datetime


@dataclass(frozen=True)
class FileReport:
    """How the lines of one source were used: ``lines == headers + accepted + rejected``."""

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
    """Totals over all sources. ``blank`` counts the rejected lines that were merely blank."""

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
        """Sound rows, duplicates and rows left out by ``keep`` among them."""
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
    """Result of ``read_trips``; ``rides == accepted - duplicates - left_out`` are in table ``trips``."""

    duplicates: int = 0
    left_out: int = 0
    flags: dict[str, int] = field(default_factory=dict)
    vehicles: int = 0
    unmapped: dict[str, int] = field(default_factory=dict)  # start places without a station → rides
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
                "that are no known station"
            )
        return "\n".join(lines + self._closing())


@dataclass(frozen=True)
class StatusReport(Report):
    """Result of ``read_status``; duplicates are repeated (place, time) pairs among the accepted."""

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
            lines.append(f"{len(self.unmapped)} places are no known station")
        return "\n".join(lines + self._closing())


@dataclass(frozen=True)
class StationsReport(Report):
    """Result of ``read_stations``."""

    stations: int = 0
    ids: int = 0  # other ids that lead to a station
    renamed: int = 0  # rows of trips and status that were given the station's one id

    def __str__(self) -> str:
        lines = self._opening()
        lines.append(f"{self.stations:,} stations, {self.ids:,} further ids; {self.renamed:,} rows renamed")
        return "\n".join(lines + self._closing())


def too_many(rejected: int, total: int, share: float, reasons: dict[str, int], examples: list[str]) -> str:
    """The message with which a reading stops."""
    shown = ("; for example " + " | ".join(examples[:3])) if examples else ""
    return (
        f"{rejected:,} of {total:,} rows were rejected, more than max_reject_share={share:g} allows: "
        f"{_reasons(reasons)}{shown}"
    )
