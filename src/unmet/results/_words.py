"""The figures of a run in sentences, for a terminal, a notebook and the page, in the words of its data."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from unmet.calendar import step_of
from unmet.results._plan_words import plan_sentences
from unmet.results._values import Doubt, Interval, PlaceTotals
from unmet.results.numbers import about, about_whole, between, known, listed, number, percent

if TYPE_CHECKING:
    from unmet.results._summary import Summary

_SHOWN = 5
_LONGEST_NOUN = 30
_HOUR = 3600


@dataclass(frozen=True)
class Words:
    """What a run calls what it counts: rides at places with vehicles, or the sales of a series.

    Attributes
    ----------
    noun : what is counted, in the plural.
    own : whether the panel is a table of somebody's own, of which only counts and supply are known.
    by : length of a period.
    """

    noun: str = "rides"
    own: bool = False
    by: str = "hour"

    @property
    def people(self) -> bool:
        """Whether people ride vehicles; else nothing is known but what is counted."""
        return self.noun == "rides" and not self.own

    @property
    def one(self) -> str:
        """The noun in the singular.

        >>> [Words(noun).one for noun in ("rides", "sales", "deliveries", "boxes", "sheep")]
        ['ride', 'sale', 'delivery', 'box', 'sheep']
        """
        for end, single in (
            ("ies", "y"),
            ("xes", "x"),
            ("ches", "ch"),
            ("shes", "sh"),
            ("ss", "ss"),
            ("s", ""),
        ):
            if self.noun.endswith(end):
                return self.noun[: -len(end)] + single
        return self.noun

    @property
    def place(self) -> str:
        return "series" if self.own else "place"

    @property
    def places(self) -> str:
        return "series" if self.own else "places"

    @property
    def period(self) -> str:
        """One period: hour, day, week, or period where its length has no name."""
        return step_of(self.by).word

    @property
    def each_period(self) -> str:
        """As a rate: an hour, a week, in 15 minutes."""
        if self.period == "period":
            return f"in {self.by}"
        return "an hour" if self.by == "hour" else f"a {self.by}"

    @property
    def block(self) -> str:
        """What sums over all places are shown by: day, or week."""
        return "week" if self.by == "week" else "day"

    @property
    def without(self) -> str:
        """Said of time in which nobody was served."""
        if not self.own:
            return "without a vehicle"
        return "out of stock" if self.noun == "sales" else "without supply"

    @property
    def ran_out(self) -> str:
        """Said of a place that could not serve everybody."""
        return "ran out of stock" if self.own and self.noun == "sales" else "ran out"


RIDES = Words()


def check_noun(noun: str) -> str:
    """Return what a panel counts, in the plural and in small letters, or raise ValueError."""
    text = noun.strip()
    if not re.fullmatch(r"[^\W\d_]+([ -][^\W\d_]+)*", text) or len(text) > _LONGEST_NOUN:
        raise ValueError(f"noun must be a word in the plural such as sales, got {noun!r}")
    return text


def sentences(summary: Summary) -> list[str]:
    """Return what a person wants to know: how far to trust it, then the most important first."""
    found = [summary.trust.sentence, headline(summary), *doubts(summary)]
    shown = summary.trust.show_total
    found += [*(unserved(summary) if shown else []), *left_out(summary), *summary.notes]
    found += [*(worst(summary) if shown else []), *never(summary), *self_check_words(summary)]
    found += [*intervals_hold(summary), *inferred(summary), *truth(summary)]
    if summary.plan is None:
        return found
    return found + plan_sentences(summary.plan, at_least=not summary.total.lost.point, shown=shown)


def headline(summary: Summary) -> str:
    """Return how many people wanted a ride, got one and gave up, or only how many rides were seen."""
    total, words = summary.total, summary.words
    if not words.people and total.lost.point:
        seen = f"{number(total.observed, 0)} {words.noun} were seen"
        if not summary.trust.show_total:
            return f"{seen}. These data cannot tell how many more were wanted."
        lost = f"about {about(total.lost)} ({between(total.lost)}) were lost"
        return (
            f"Demand was about {about(total.demand)} {words.noun} (90% interval {between(total.demand)}): "
            f"{number(total.observed, 0)} were seen, {lost if total.lost.mean > 0 else 'none were lost'}."
        )
    if not total.lost.point:
        return (
            f"{number(total.observed, 0)} people got a ride. How many gave up cannot be told: there is no "
            "status feed and no vehicle id, so nobody knows when places were empty."
        )
    if not summary.trust.show_total:
        return (
            f"{number(total.observed, 0)} rides were seen. These data cannot tell how many more were wanted."
        )
    gave_up = f"about {about(total.lost)} ({between(total.lost)}) gave up"
    return (
        f"About {about(total.demand)} people wanted a ride (90% interval {between(total.demand)}): "
        f"{number(total.observed, 0)} got one, {gave_up if total.lost.mean > 0 else 'nobody gave up'}."
    )


def doubts(summary: Summary) -> list[str]:
    """Return what lost rides rest on where no feed tells when places were empty."""
    doubt = summary.doubt
    if doubt is None:
        return []
    if doubt.empty is None:
        return [*bounds(doubt), "Forecasts and the plan count rides as demand, which is at least that high."]
    low, high = (percent(end, 0) for end in (doubt.empty.low, doubt.empty.high))
    return [
        f"In {percent(doubt.share, 0)} of the time nobody knows whether a vehicle stood at its place: "
        f"neither a status feed nor vehicle ids tell. {low} to {high} of that time is taken to be empty. "
        f"{doubt.assumption}"
    ]


def bounds(doubt: Doubt) -> list[str]:
    """Return lost rides under each assumption about vans."""
    if not doubt.bounds:
        return []
    said = [f"{_at_most(lost)} if {text}" for text, lost in doubt.bounds]
    return [f"Lost rides are {listed(said)}. If vans also came by day, there may be more."]


def _at_most(lost: float) -> str:
    if not known(lost):
        return "without any bound even"
    return "none" if lost < 0.5 else f"at most {number(lost, 0)}"


def unserved(summary: Summary) -> list[str]:
    """Return how many found no vehicle, which data know best, and what became of them."""
    missed, walked = summary.total.unserved, summary.total.next_door
    if missed is None or walked is None or walked.mean < 1:
        return []
    return [
        f"About {about(missed)} requests ({between(missed)}) found no vehicle: of these about "
        f"{about(summary.total.lost)} gave up and about {about(walked)} ({between(walked)}) rode from a "
        "neighbouring place."
    ]


def left_out(summary: Summary) -> list[str]:
    """Return what no figure holds."""
    if not summary.left_out_share and not summary.left_out_rides:
        return []
    if summary.words.own and summary.notes:  # they say it
        return []
    rides = summary.left_out_rides
    words = summary.words
    seen = f" and the {number(rides)} {words.one if rides == 1 else words.noun} in them" if rides else ""
    why = "nothing is known of them" if words.own else _CLOSED
    return [f"Every figure leaves out {percent(summary.left_out_share)} of the rows{seen}: {why}."]


_CLOSED = "the place was closed or nothing is known of it for part of the time"


def worst(summary: Summary) -> list[str]:
    """Return the places that lost most rides."""
    if not summary.worst or not summary.total.lost.point:
        return []
    places = [f"{place.name} ({about_whole(place.lost)})" for place in summary.worst[:_SHOWN]]
    where = "by" if summary.words.own else "at"
    return [f"Most {summary.words.noun} were lost {where} {', '.join(places)}."]


def never(summary: Summary) -> list[str]:
    """Return the places that never had a vehicle."""
    places = summary.never_available
    if not places:
        return []
    shown = [place.name for place in places[:_SHOWN]]
    if len(places) > _SHOWN:
        shown.append(f"{len(places) - _SHOWN:,} more")
    words = summary.words
    had = "any supply" if words.own else "a vehicle"
    return [
        f"{listed(shown)} never had {had}: lost {words.noun} there are guessed from other {words.places}."
    ]


def intervals_hold(summary: Summary) -> list[str]:
    """Return whether the intervals hold what they promise."""
    coverage = summary.coverage
    if known(coverage.get("randomised")):
        plain = f" ({percent(coverage['plain'])} of whole counts)" if known(coverage.get("plain")) else ""
        held = percent(coverage["randomised"])
        return [f"Tested on the last weeks, the 90% intervals held {held} of demand{plain}."]
    if coverage:
        return ["There is too little data to test the 90% intervals; their upper ends are not identified."]
    return []


def self_check_words(summary: Summary) -> list[str]:
    """Return whether the run finds rides that it hid from itself."""
    found = summary.self_check
    if found is None:
        return []
    if not found["done"]:
        noun = summary.words.noun
        return [f"This run did not check itself on {noun} that it hid: {found.get('why')}."]
    if not found.get("hidden") or not known(found.get("ratio")):
        return ["Holding back vehicles hides no rides here, so the run could not check itself."]
    guess = Interval.read(found["estimate"])
    said = (
        f"Holding back the last {number(found['reserve'])} vehicles of every place hides "
        f"{number(found['hidden'], 0)} rides that really happened; the run finds about {about(guess)} of "
        f"them ({between(guess)})."
    )
    of_total, of_places = ((found.get("error") or {}).get(name, 0.0) for name in ("total", "places"))
    # Without a total there is no interval of it to widen.
    if of_total > 0.005 and summary.trust.show_total:
        said += f" The 90% interval of lost rides is widened by {percent(of_total, 0)} of them for that."
    if known(found.get("coverage")):
        said += f" The 90% intervals of single places hold at {percent(found['coverage'], 0)} of them"
        if of_places > 0.005 and known(found.get("coverage_drawn")):
            said += (
                f", widened by {percent(of_places, 0)} of the estimate; without that at "
                f"{percent(found['coverage_drawn'], 0)}"
            )
        said += "."
    return [said]


def inferred(summary: Summary) -> list[str]:
    """Return how much of the stock nobody reported."""
    if summary.inferred is None or summary.inferred < 0.005:
        return []
    share = percent(summary.inferred, 0)
    return [f"Stock was inferred from rides in {share} of the rows: no status feed covers them."]


def truth(summary: Summary) -> list[str]:
    """Return what a simulated city knows."""
    found = summary.truth or {}
    lost, played = found.get("lost"), found.get("targets")
    said = []
    if isinstance(lost, dict) and known(lost.get("true")):
        said.append(f"The simulation knows the truth: {number(lost['true'])} rides were lost.")
    figures = targets_played(found)
    if figures is not None and known(figures.get("days")):
        assert isinstance(played, dict)
        said.append(
            f"Played again with new stock targets, the last {number(played['days'])} days lose "
            f"{number(played['lost_observed'])} rides with targets from usage, "
            f"{number(played['lost_estimated'])} with targets from this estimate and "
            f"{number(played['lost_true'])} with targets from the truth."
        )
    return [" ".join(said)] if said else []


def targets_played(found: dict[str, Any] | None) -> dict[str, Any] | None:
    """Return the lost rides of a simulated city with three kinds of targets; None where it has none."""
    played = (found or {}).get("targets")
    names = ("lost_observed", "lost_estimated", "lost_true")
    if not isinstance(played, dict) or not all(known(played.get(name)) for name in names):
        return None
    return played


def not_here(summary: Summary) -> list[str]:
    """Return what a page about this run cannot show, and why."""
    found = []
    if all(place.lat is None for place in summary.worst):
        found.append("There is no map: no coordinates are known.")
    if summary.no_plan is not None:
        found.append(f"There is no plan: {summary.no_plan}.")
    if step_of(summary.by).seconds > _HOUR:
        found.append(f"There is no chart of hours: the panel counts by {summary.by}.")
    return found


def place_sentence(place: PlaceTotals, words: Words | None = None) -> str:
    r"""Return what people wanted at one place and what became of them.

    Those who came from a neighbour are set off against those who walked to one, so that the parts add up.

    Examples
    --------
    >>> from unmet.results import Interval
    >>> wanted, gone = Interval(5147.0, 5050.0, 5250.0), Interval(790.0, 700.0, 880.0)
    >>> walked = Interval(430.0, 390.0, 470.0)
    >>> place = PlaceTotals("a", "A", None, None, None, 4064, wanted, gone, 0.1, 0.1, 0.0, walked)
    >>> print(*place_sentence(place).split(": "), sep="\n")
    About 5,150 people wanted a ride here
    4,064 left from here, about 790 gave up, about 293 (net) walked to a neighbour.
    """
    if words is not None and not words.people and place.lost.point:
        return (
            f"Demand was about {about_whole(place.demand)} {words.noun}: {number(place.observed, 0)} were "
            f"seen, about {about_whole(place.lost)} were lost."
        )
    left = f"{number(place.observed, 0)} left from here"
    if not place.lost.point:
        return f"{left}. How many gave up cannot be told."
    gave_up = f"about {about_whole(place.lost)} gave up"
    wanted = f"About {about_whole(place.demand)} people wanted a ride here"
    walked = 0.0 if place.next_door is None else place.demand.mean - place.observed - place.lost.mean
    if round(walked) > 0:
        return f"{wanted}: {left}, {gave_up}, about {number(walked, 0)} (net) walked to a neighbour."
    if round(walked) < 0:
        came = f"about {number(-walked, 0)} of them (net) from a neighbour"
        return f"{wanted}: {left}, {came}, and {gave_up}."
    return f"{wanted}: {left}, {gave_up}."
