"""Decide whether dates such as 3/4/2019 have the day or the month first, over all files of one layout."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from duckdb import DuckDBPyConnection as Connection

from unmet.mobility.sources._files import Source
from unmet.mobility.sources._relation import Relation

_DATE = r"^\s*(\d{1,2})[/-](\d{1,2})[/-]\d{4}"


@dataclass(frozen=True)
class DayEvidence:
    """The largest first and second number in the dates of one file; 0 if it has no such dates."""

    first: int = 0
    second: int = 0

    @classmethod
    def of(cls, texts: Iterable[str]) -> "DayEvidence":
        """Return what these dates show."""
        pairs = [found.groups() for text in texts if (found := re.match(_DATE, text))]
        largest = [max((int(pair[place]) for pair in pairs), default=0) for place in (0, 1)]
        return cls(*largest)

    @property
    def order(self) -> bool | None:
        """Whether the day comes first; None if the file does not show it, or shows both."""
        if (12 < self.first <= 31) == (12 < self.second <= 31):
            return None
        return self.first > 12

    @property
    def is_open(self) -> bool:
        """Whether there are such dates, and they do not show the order."""
        return self.first > 0 and self.order is None


# source → (layout, usual order of the layout, evidence)
Evidence = Mapping[Source, tuple[str, bool, DayEvidence]]


def day_evidence(con: Connection, relation: Relation, name: str) -> DayEvidence:
    """Return what the dates of a source show about the order of day and month."""
    where = relation.layout.positions[name][0]
    if relation.type(name) != "VARCHAR" or not DayEvidence.of(row[where] for row in relation.samples).first:
        return DayEvidence()
    numbers = ", ".join(
        f"max(try_cast(regexp_extract(c{where}, '{_DATE}', {group}) AS INTEGER))" for group in (1, 2)
    )
    found = con.execute(f"SELECT {numbers} FROM ({relation.select(False)})").fetchone()
    assert found is not None
    return DayEvidence(found[0] or 0, found[1] or 0)


@dataclass
class DayOrder:
    """The order of day and month in each layout.

    Attributes
    ----------
    given : what the caller says, for all layouts; None leaves it to the files.
    decided : order by layout, where the files that show it agree.
    surveyed : layouts of which all files were looked at.
    """

    given: bool | None = None
    decided: dict[str, bool] = field(default_factory=dict)
    surveyed: set[str] = field(default_factory=set)

    def of(self, evidence: DayEvidence, layout: str, usual: bool) -> bool:
        """Return the order in one file: as given, as it shows itself, as others of its layout, else usual."""
        if self.given is not None:
            return self.given
        if evidence.order is not None:
            return evidence.order
        return self.decided.get(layout, usual)

    def decide(self, layout: str, evidence: Evidence) -> None:
        """Decide the order in a layout by the evidence of all its files."""
        self.surveyed.add(layout)
        orders = {one.order for name, _, one in evidence.values() if name == layout}
        if len(orders - {None}) == 1:
            self.decided[layout] = next(order for order in orders if order is not None)

    def notes(self, evidence: Evidence) -> list[str]:
        """Return what to tell: files that others decided, and what remains in doubt."""
        if self.given is not None:
            return []
        found = []
        for layout, usual in {name: usual for name, usual, _ in evidence.values()}.items():
            mine = {
                source: one for source, (name, _, one) in evidence.items() if name == layout and one.first
            }
            shown = {one.order for one in mine.values()} - {None}
            open_ = [source.name for source, one in mine.items() if one.order is None]
            if len(shown) == 2:
                found.append(
                    f"{layout}: some files have the day first and others the month, and each is read as it "
                    "shows; give --day-first or --month-first if that is wrong"
                )
            elif open_ and shown == {True}:
                some = ", ".join(open_[:3]) + (f" and {len(open_) - 3} more" if len(open_) > 3 else "")
                found.append(f"{some}: read with the day first, as the other files of {layout} show")
            elif open_ and not shown:
                found.append(
                    f"{layout}: no date shows whether the day or the month comes first; read with the "
                    f"{'day' if usual else 'month'} first (--day-first and --month-first decide it)"
                )
        return found
