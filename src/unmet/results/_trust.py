"""How far the headline of a run can be trusted: one grade, one sentence, and the reasons for it.

Each rule looks at the evidence on its own and returns a reason, or None if it has nothing against the
figures. The worst reason decides the grade. To add a rule, write a function and name it in `RULES`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from unmet.results._words import RIDES, Words
from unmet.results.numbers import known, number, percent

Grade = Literal["A", "B", "C", "D"]
MEANINGS: dict[Grade, str] = {
    "A": "use as is",
    "B": "use with care",
    "C": "a rough guide",
    "D": "no total",
}


@dataclass(frozen=True)
class Reason:
    """Why a run has no better grade than this one, in one short sentence with its figure."""

    grade: Grade
    words: str


@dataclass(frozen=True)
class Evidence:
    """What the rules look at, from the files of a run; None where the run does not know.

    Attributes
    ----------
    known : share of place-periods in which the place was known and open.
    inferred, inferred_from : share of rows whose stock nobody reported; "vehicle ids" or "ride counts".
    unsure : share of lost rides in periods whose upper bound the data do not identify.
    thin : share of lost rides at places with little open time or few rides.
    coverage : share of demand inside the 90% intervals of past forecasts, in rows that did not run out.
    tested : whether there were past forecasts to test at all.
    upper_bounds_agree : whether two checks of the upper bounds agree.
    lost_per_ride : lost rides for each ride seen.
    width : width of the 90% interval of lost rides over their estimate, or over 1% of all rides if more.
    beyond : share of lost rides in periods with more demand than the place ever served in one period.
    standing, vehicles, docks : mean number of vehicles at the places; vehicles seen in the trips; all docks.
    assumed_ends : whether rides had no ends in the data, so that presence rests on assumed ones.
    self_check : what self_check.json holds.
    point : whether lost rides have an estimate, and not only bounds.
    untimed : whether the data say only that supply ran out, not for how long.
    words : what the run counts.
    """

    known: float = 1.0
    inferred: float | None = None
    inferred_from: str | None = None
    unsure: float = 0.0
    thin: float = 0.0
    coverage: float | None = None
    tested: bool = True
    upper_bounds_agree: bool = True
    lost_per_ride: float = 0.0
    width: float = 0.0
    beyond: float = 0.0
    standing: float | None = None
    vehicles: float | None = None
    docks: float | None = None
    assumed_ends: bool = False
    self_check: dict[str, Any] | None = None
    point: bool = True
    untimed: bool = False
    words: Words = RIDES


@dataclass(frozen=True)
class Trust:
    """The verdict on a run. Without `show_total`, no total of demand or lost rides is shown anywhere."""

    grade: Grade
    sentence: str
    reasons: tuple[Reason, ...]

    @property
    def show_total(self) -> bool:
        return self.grade != "D"

    @property
    def meaning(self) -> str:
        return MEANINGS[self.grade]

    def as_dict(self) -> dict[str, Any]:
        """Return the verdict as plain data."""
        reasons = [{"grade": reason.grade, "reason": reason.words} for reason in self.reasons]
        return {
            "grade": self.grade,
            "sentence": self.sentence,
            "show_total": self.show_total,
            "reasons": reasons,
        }


def judge(evidence: Evidence) -> Trust:
    """Return the grade of a run: that of its worst reason, or A.

    Examples
    --------
    >>> judge(Evidence(inferred=1.0, inferred_from="ride counts")).sentence
    'Grade D, no total: stock was guessed from ride counts in 100% of the rows.'
    """
    found = [reason for rule in RULES if (reason := rule(evidence)) is not None]
    reasons = tuple(sorted(found, key=lambda reason: reason.grade, reverse=True))
    grade: Grade = reasons[0].grade if reasons else "A"
    because = reasons[0].words if reasons else _all_well(evidence)
    return Trust(grade, f"Grade {grade}, {MEANINGS[grade]}: {because[0].lower()}{because[1:]}", reasons)


def _all_well(evidence: Evidence) -> str:
    stock = "Stock was reported" if evidence.inferred is not None else f"{_supply(evidence)} is known"
    held = f", and the 90% intervals held {percent(evidence.coverage, 0)} of past demand"
    return f"{stock} for {percent(evidence.known, 0)} of the time{held if known(evidence.coverage) else ''}."


def _supply(evidence: Evidence) -> str:
    return "Supply" if evidence.words.own else "Stock"


def _graded(value: float, **floors: float) -> Grade | None:
    """Return the worst grade whose floor the value exceeds: ``_graded(x, B=0.1, D=0.5)``."""
    worst: Grade | None = None
    for grade in ("B", "C", "D"):
        if grade in floors and value > floors[grade]:
            worst = grade
    return worst


def _reason(grade: Grade | None, words: str) -> Reason | None:
    return None if grade is None else Reason(grade, words)


def known_time(evidence: Evidence) -> Reason | None:
    """Little known time: the figures are about the rest only."""
    grade = _graded(1 - evidence.known, B=0.1, C=0.4, D=0.9)
    return _reason(grade, f"{_supply(evidence)} is known for only {percent(evidence.known, 0)} of the time.")


def inferred_stock(evidence: Evidence) -> Reason | None:
    """Stock that nobody reported."""
    share = evidence.inferred or 0.0
    rows = f"in {percent(share, 0)} of the rows."
    if evidence.inferred_from == "ride counts":
        return _reason(_graded(share, B=0.02, C=0.1, D=0.5), f"Stock was guessed from ride counts {rows}")
    return _reason(_graded(share, B=0.1, C=0.5), f"Stock was inferred from vehicle ids {rows}")


def bounds_only(evidence: Evidence) -> Reason | None:
    """Places without a feed and without vehicle ids: nothing tells when they were empty."""
    words = "Lost rides have bounds but no estimate: some places have no status feed and no vehicle ids."
    return None if evidence.point else Reason("D", words)


def assumed_ends(evidence: Evidence) -> Reason | None:
    """Arrivals that are not in the data."""
    words = "Where vehicles stood rests on an assumed length and end of rides."
    return Reason("C", words) if evidence.assumed_ends else None


def unknown_moments(evidence: Evidence) -> Reason | None:
    """Flags without times: how long supply lasted is itself an estimate."""
    words = "The data say that supply ran out, but not for how long: that was estimated too."
    return Reason("B", words) if evidence.untimed else None


def identified_losses(evidence: Evidence) -> Reason | None:
    """Lost rides whose upper bound rests on the model alone."""
    words = (
        f"{percent(evidence.unsure, 0)} of the lost {evidence.words.noun} fall in periods whose upper bound "
        "nobody knows."
    )
    return _reason(_graded(evidence.unsure, B=0.1, C=0.5), words)


def wide_interval(evidence: Evidence) -> Reason | None:
    """Lost rides that are hardly known, mostly because counts do not tell who walked and who gave up."""
    words = (
        f"The 90% interval of the lost {evidence.words.noun} is {number(evidence.width, 1)} times as wide as "
        "their estimate."
    )
    return _reason(_graded(evidence.width, B=1.0, C=2.0), words)


def thin_places(evidence: Evidence) -> Reason | None:
    """Lost rides of places about which the data say next to nothing."""
    noun, places = evidence.words.noun, evidence.words.places
    words = f"{percent(evidence.thin, 0)} of the lost {noun} fall at {places} where next to nothing was seen."
    return _reason(_graded(evidence.thin, B=0.05, C=0.2, D=0.5), words)


def calibration(evidence: Evidence) -> Reason | None:
    """Intervals that did not hold in rows that did not run out."""
    if evidence.coverage is None or not known(evidence.coverage):
        return None if evidence.tested else Reason("B", "There were no past forecasts to test the intervals.")
    words = f"Tested on the past, the 90% intervals held {percent(evidence.coverage, 0)} of demand."
    return _reason(_graded(0.9 - evidence.coverage, B=0.05, C=0.1, D=0.4), words)


def upper_bounds(evidence: Evidence) -> Reason | None:
    """Stock-outs that seem to follow demand in ways the model does not know."""
    words = "Two checks of the upper bounds differ by over 2%."
    return None if evidence.upper_bounds_agree else Reason("B", words)


def plausible_demand(evidence: Evidence) -> Reason | None:
    """More rides lost than any system loses."""
    words = (
        f"The model finds {number(evidence.lost_per_ride, 1)} lost {evidence.words.noun} for each "
        f"{evidence.words.one} seen."
    )
    return _reason(_graded(evidence.lost_per_ride, B=0.5, C=1.0, D=2.0), words)


def plausible_hours(evidence: Evidence) -> Reason | None:
    """Demand of single periods beyond anything that the place ever served."""
    words = (
        f"{percent(evidence.beyond, 0)} of the lost {evidence.words.noun} fall in periods with more demand "
        f"than their {evidence.words.place} ever served in one."
    )
    return _reason(_graded(evidence.beyond, B=0.1, C=0.25, D=0.5), words)


def plausible_fleet(evidence: Evidence) -> Reason | None:
    """More vehicles at the places than were ever seen, or than there are docks."""
    if evidence.standing is None:
        return None
    for most, what in ((evidence.vehicles, "in the trips"), (evidence.docks, "docks")):
        if most:
            words = (
                f"The stock adds up to {number(evidence.standing, 0)} vehicles, but {number(most, 0)} {what}."
            )
            if reason := _reason(_graded(evidence.standing / most, C=1.05, D=1.5), words):
                return reason
    return None


def self_check(evidence: Evidence) -> Reason | None:
    """Rides hidden by virtual stock-outs that the model finds too many or too few of."""
    found = evidence.self_check
    if found is None or not found.get("done"):
        return Reason("B", f"The run did not check itself on {evidence.words.noun} that it hid.")
    ratio = found.get("ratio")
    if ratio is None or not known(ratio):
        return Reason("B", "There were too few rides to hide for a check of the run on its own data.")
    noun = evidence.words.noun
    words = f"The run estimates {number(ratio, 2)} times as many {noun} as it hid from itself."
    distance = max(ratio, 1 / ratio) if ratio > 0 else float("inf")
    return _reason(_graded(distance, B=1.05, C=1.3, D=2.0), words)


RULES: tuple[Callable[[Evidence], Reason | None], ...] = (
    known_time,
    inferred_stock,
    bounds_only,
    assumed_ends,
    unknown_moments,
    identified_losses,
    wide_interval,
    thin_places,
    calibration,
    upper_bounds,
    plausible_demand,
    plausible_hours,
    plausible_fleet,
    self_check,
)
