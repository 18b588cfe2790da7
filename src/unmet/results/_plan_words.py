"""A plan in sentences: the day it is for, what it saves, and what recent days like it lost."""

from unmet.results._values import PlanFigures, PlannedDay
from unmet.results.numbers import counted, day, number


def plan_sentences(plan: PlanFigures, *, at_least: bool = False, shown: bool = True) -> list[str]:
    """Return the day planned for, what the plan saves, and what recent days like it lost.

    Parameters
    ----------
    at_least : demand is known only from below; then nobody knows what recent days lost.
    shown : whether the run gives totals of lost rides; what a plan loses and recent days lost are some too.
    """
    when = "Plan" if plan.day is None else f"Plan for {day_in_words(plan.day)}"
    stock = f"{counted(plan.vehicles, 'vehicle')} at {counted(plan.places, 'place')}"
    found = [f"{when}: {stock}. {if_no_van_came(plan, at_least=at_least, shown=shown)}"]
    past = None if plan.day is None or at_least or not shown else recent_days(plan.day)
    return found if past is None else [*found, past]


def if_no_van_came(plan: PlanFigures, *, at_least: bool = False, shown: bool = True) -> str:
    """Return the lost rides of the planned day with the usual stock and with the plan.

    A lower bound rests on rides that were seen, so it is given even where no total is.
    """
    if not (shown or at_least):
        return "These data cannot tell how many rides it saves: use it to compare places."
    usual, target = (number(lost, plan.digits) for lost in (plan.lost_usual, plan.lost_target))
    word = "at least" if at_least else "about"
    return (
        f"If no van came all day, {word} {usual} rides would be lost with the usual stock and {target} with "
        "the plan."
    )


def day_in_words(planned: PlannedDay) -> str:
    """Return the planned day: Sunday, 2 Jun 2024, from 04:00."""
    return f"{planned.weekday}, {day(planned.date)}, from {planned.clock}"


_OTHERWISE = ": they began with other stock than the usual, and vans came."


def recent_days(planned: PlannedDay) -> str | None:
    """Return what recent days of the planned weekday lost, to set the expected loss against."""
    if not planned.past:
        return None
    lost = sorted(round(gone) for _, _, gone in planned.past)
    # The hour is said so that nobody looks for these figures among calendar days.
    from_hour = f" (from {planned.clock})" if planned.clock not in ("", "00:00") else ""
    if len(lost) == 1:
        return (
            f"The last {planned.weekday}{from_hour} lost {number(lost[0])}{_OTHERWISE.replace('they', 'it')}"
        )
    span = number(lost[0]) if lost[0] == lost[-1] else f"{number(lost[0])} to {number(lost[-1])}"
    return f"Recent {planned.weekday}s{from_hour} lost {span}{_OTHERWISE}"
