"""The lines: who runs what in each, and the verdict that follows from what they measured."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from statistics import stdev
from typing import Any

from benchmarks.engine.config import Line
from benchmarks.engine.race import Entry, Outcome, race


@dataclass
class Verdict:
    """One row of the table: rival against ours, their ratio, and whether the losses agree."""

    line: str
    title: str
    rival: str
    rival_figure: str = ""
    our_figure: str = ""
    ratio: float | None = None
    floor: float | None = None
    aim: float | None = None
    at_most: bool = False
    rival_loss: float | None = None
    our_loss: float | None = None
    tolerance: float | None = None
    loss_error: float = 0.0  # standard error of the difference of the mean losses
    remarks: list[str] = field(default_factory=list)

    @property
    def losses_agree(self) -> bool | None:
        """None where no losses are compared."""
        if self.rival_loss is None or self.our_loss is None or self.tolerance is None:
            return None
        allowed = self.tolerance * self.rival_loss + 3 * self.loss_error
        return abs(self.our_loss - self.rival_loss) <= allowed

    @property
    def reached(self) -> bool | None:
        """Whether the floor was reached (or, for costs, kept); None without a floor or a ratio."""
        if self.floor is None or self.ratio is None:
            return None
        return self.ratio <= self.floor if self.at_most else self.ratio >= self.floor

    def to_json(self) -> dict[str, Any]:
        return asdict(self) | {"losses_agree": self.losses_agree, "reached": self.reached}


Result = tuple[list[Verdict], dict[str, Outcome]]
Say = Callable[[str], None]


def run_line(line: Line, say: Say) -> Result:
    """All rows of one line, and what every contender answered."""
    verdicts, outcomes = KINDS[line.kind](line, say)
    for verdict in verdicts:
        for name, outcome in outcomes.items():
            if outcome.problem and name in (verdict.rival, "ours"):
                verdict.remarks.append(outcome.problem)
        if any(answer["core_share"] < 0.85 for o in outcomes.values() for answer in o.answers[:1]):
            verdict.remarks.append("the machine was busy with other work")
    return verdicts, outcomes


def _mean(values: list[float]) -> float:
    return sum(values) / len(values)


def _compare_losses(verdict: Verdict, rival: Outcome, ours: Outcome) -> None:
    """Mean losses over the problems that both have trained, and how far chance moves their difference."""
    common = min(len(rival.losses), len(ours.losses))
    verdict.rival_loss, verdict.our_loss = _mean(rival.losses[:common]), _mean(ours.losses[:common])
    if common > 1:
        differences = [a - b for a, b in zip(ours.losses, rival.losses, strict=False)]
        verdict.loss_error = stdev(differences) / common**0.5


def _many(line: Line, say: Say) -> Result:
    """Rivals train a sample, ours all; networks per second, every turn."""
    entries = {
        name: Entry(name, "many", line.rule, size, 1 if name == "keras" else line.rounds)
        for name, size in line.sizes.items()
    }
    outcomes = race(entries, say)
    ours, verdicts = outcomes["ours"], []
    for name in entries:
        if name == "ours":
            continue
        rival = outcomes[name]
        # The floors are set against the first rival; others stand beside it.
        first = name == next(rival for rival in line.sizes if rival != "ours")
        floor, aim = (line.floor, line.aim) if first else (None, None)
        # A handful of networks from random starts says nothing about losses.
        tolerance = line.tolerance if line.sizes[name] >= 10 else None
        verdict = Verdict(line.key, line.title, name, floor=floor, aim=aim, tolerance=tolerance)
        verdicts.append(verdict)
        if not (ours.answers and rival.answers):
            continue
        verdict.rival_figure = f"{1 / rival.seconds_each:,.3g} networks/s"
        verdict.our_figure = f"{1 / ours.seconds_each:,.4g} networks/s"
        verdict.ratio = rival.seconds_each / ours.seconds_each
        _compare_losses(verdict, rival, ours)
        whole = (ours.middle() + ours.middle("warm_up_seconds")) / line.sizes["ours"]
        verdict.remarks.append(f"{rival.seconds_each / whole:.3g}× with the cold start counted")
        share = ours.middle("preparing_seconds") / ours.middle()
        verdict.remarks.append(f"preparing took {share:.0%} of our time")
        if share > line.options.get("preparing", 1.0):
            verdict.remarks.append(f"PREPARING TOO LONG: more than {line.options['preparing']:.0%}")
            verdict.floor = float("inf")
        epochs = [_mean(o.answers[0]["epochs"]) for o in (rival, ours)]
        verdict.remarks.append(f"mean epochs {epochs[0]:.0f} and {epochs[1]:.0f}")
    return verdicts, outcomes


def _cores(line: Line, say: Say) -> Result:
    """Ours on one core against ours on two, and what the cores give two processes that share nothing."""
    size = line.sizes["ours"]
    entries = {
        "one core": Entry("ours", "many", line.rule, size, line.rounds),
        "ours": Entry("ours", "many", line.rule, size, line.rounds, cores=2),
        "apart": Entry("ours", "many", line.rule, size, line.rounds, cores=2, apart=True),
    }
    outcomes = race(entries, say)
    one, two, apart = outcomes["one core"], outcomes["ours"], outcomes["apart"]
    verdict = Verdict(line.key, line.title, "one core", floor=line.floor, aim=line.aim, tolerance=0.0)
    if one.answers and two.answers:
        verdict.rival_figure = f"{1 / one.seconds_each:,.4g} networks/s"
        verdict.our_figure = f"{1 / two.seconds_each:,.4g} networks/s"
        verdict.ratio = one.seconds_each / two.seconds_each
        _compare_losses(verdict, one, two)
    if one.answers and apart.answers:
        given = 2 * one.seconds_each / apart.seconds_each
        verdict.remarks.append(f"two processes that share nothing: {given:.2f}×")
    return [verdict], outcomes


def _table(line: Line, say: Say) -> Result:
    """Seconds per epoch over one large table."""
    columns = (("columns", line.sizes["columns"]),)
    entries = {
        name: Entry(name, "table", line.rule, line.sizes["rows"], line.rounds, options=columns)
        for name in ("torch", "ours")
    }
    outcomes = race(entries, say)
    rival, ours = outcomes["torch"], outcomes["ours"]
    verdict = Verdict(line.key, line.title, "torch", floor=line.floor, aim=line.aim, tolerance=line.tolerance)
    if rival.answers and ours.answers:
        # The first epoch of the rival warms it up, as the first call does for ours.
        slow = Outcome(tuple({"each": _mean(a["epoch_seconds"][1:])} for a in rival.answers)).middle("each")
        fast = Outcome(tuple({"each": a["epoch_seconds"][0]} for a in ours.answers)).middle("each")
        verdict.rival_figure, verdict.our_figure = f"{slow:.3g} s/epoch", f"{fast:.3g} s/epoch"
        verdict.ratio = slow / fast
        _compare_losses(verdict, rival, ours)
        ends = [o.middle("end_to_end_seconds") for o in (rival, ours)]
        cold = ours.middle("warm_up_seconds")
        verdict.remarks.append(
            f"{line.rule.max_epochs} epochs end to end {ends[0]:.3g} s and {ends[1]:.3g} s; "
            f"ours cold, one epoch: {cold:.3g} s"
        )
    return [verdict], outcomes


def _scaling(line: Line, say: Say) -> Result:
    """Cost per network and peak memory of a short and a long stream."""
    few, many = line.sizes["few"], line.sizes["many"]
    entries = {
        "few": Entry("ours", "streamed", line.rule, few, line.rounds, options=(("repeats", 5),)),
        "ours": Entry("ours", "streamed", line.rule, many, 1, options=(("repeats", 1),)),
    }
    outcomes = race(entries, say)
    short, long = outcomes["few"], outcomes["ours"]
    verdict = Verdict(line.key, line.title, "few", floor=line.floor, at_most=True)
    if short.answers and long.answers:
        verdict.rival_figure = f"{few:,}: {1e3 * short.seconds_each:.3g} ms each"
        verdict.our_figure = f"{many:,}: {1e3 * long.seconds_each:.3g} ms each"
        verdict.ratio = long.seconds_each / short.seconds_each
        low, high = short.middle("peak_mb"), long.middle("peak_mb")
        verdict.remarks.append(f"peak memory {low:.0f} MB and {high:.0f} MB")
        limit = line.options.get("memory_ratio")
        if limit and high > limit * low:
            verdict.remarks.append(f"MEMORY GROWS: more than {limit} times")
            verdict.floor = 0.0
    return [verdict], outcomes


def _solvers(line: Line, say: Say) -> Result:
    """One plain quantile: solvers one by one, ours many at once; losses relative to the optimum."""
    rows = (("rows", line.sizes["rows"]),)
    entries = {
        name: Entry(name, "plain", line.rule, line.sizes[name], line.rounds, options=rows)
        for name in ("statsmodels", "sklearn", "ours")
    }
    outcomes = race(entries, say)
    ours, verdicts = outcomes["ours"], []
    for name in ("statsmodels", "sklearn"):
        rival, verdict = outcomes[name], Verdict(line.key, line.title, name, tolerance=line.tolerance)
        verdicts.append(verdict)
        if rival.answers and ours.answers:
            verdict.rival_figure = f"{1e3 * rival.seconds_each:.3g} ms/fit"
            verdict.our_figure = f"{1e3 * ours.seconds_each:.3g} ms/fit"
            verdict.ratio = rival.seconds_each / ours.seconds_each
            _compare_losses(verdict, rival, ours)
            verdict.remarks.append("a point of reference: they solve exactly, ours takes gradient steps")
    return verdicts, outcomes


KINDS: dict[str, Callable[[Line, Say], Result]] = {
    "many": _many,
    "cores": _cores,
    "table": _table,
    "scaling": _scaling,
    "solvers": _solvers,
}
