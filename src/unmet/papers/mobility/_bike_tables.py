"""Tables of the bike experiment, and findings, also where a claim does not hold."""

from collections.abc import Sequence

import numpy as np

from unmet.papers._answers import Check
from unmet.papers._cells import select
from unmet.papers._tables import Table
from unmet.papers.mobility._bike_results import (
    BikeCell,
    distance,
    intensities,
    names,
    overall,
    spread_distance,
)
from unmet.papers.mobility._grid_models import AS_PUBLISHED, COVERAGE, DEFAULT, DROPPED, OURS, RAW

_ERRORS = {"calendar": "given the calendar", "weather": "given calendar, weather and events"}


def tables(cells: Sequence[BikeCell]) -> list[Table]:
    """Return the whole grid with a line per model, then ICP and MIL by intensity and γ."""
    found = [summary(cells)]
    for measure, title, digits in (
        ("icp", "ICP on all test days, mean over hubs and censorings", 2),
        ("mil", "MIL on all test days", 0),
        ("icp_exact", "ICP on test days that were not censored", 2),
        ("mil_exact", "MIL on test days that were not censored", 0),
    ):
        found.append(by_gamma(cells, measure, title, digits))
    if "error_low_calendar" in cells[0].values:
        found.append(errors(cells))
    return found


def summary(cells: Sequence[BikeCell]) -> Table:
    head = ("block", "model", "mean |ICP − 0.9|", "censorings apart", "ICP", "MIL", "excluded")
    lines = []
    for block, model in _models(cells):
        mine = select(cells, block=block, model=model)
        runs = sum(cell.excluded + len(cell.values["icp"]) for cell in mine)
        lines.append(
            (
                block,
                model,
                f"{distance(mine):.3f}",
                f"{spread_distance(mine):.3f}",
                _show(overall(mine, "icp"), 3),
                _show(overall(mine, "mil"), 0),
                f"{sum(cell.excluded for cell in mine)} of {runs}" if block == AS_PUBLISHED else "–",
            )
        )
    return Table("the whole grid, all test days, against latent demand", head, tuple(lines), 2)


def by_gamma(cells: Sequence[BikeCell], measure: str, title: str, digits: int) -> Table:
    gammas = sorted(names(cells, "gamma"))
    lines = []
    for intensity in intensities(cells):
        for block, model in _models(cells):
            if model.endswith(RAW) and measure != "icp":
                continue
            mine = [select(cells, block=block, model=model, intensity=intensity, gamma=g) for g in gammas]
            lines.append((intensity, model, *(_show(overall(part, measure), digits) for part in mine)))
    return Table(title, ("intensity", "model", *(f"γ = {gamma:g}" for gamma in gammas)), tuple(lines), 2)


def errors(cells: Sequence[BikeCell]) -> Table:
    """Return mean absolute errors of the two quantiles against the truth of the simulated city."""
    head = ["block", "model"]
    for words in _ERRORS.values():
        head += [f"θ = .05, {words}", f"θ = .95, {words}"]
    lines = []
    for block, model in _models(cells):
        mine = select(cells, block=block, model=model)
        ends = [overall(mine, f"error_{end}_{kind}") for kind in _ERRORS for end in ("low", "high")]
        lines.append((block, model, *(_show(value, 0) for value in ends)))
    title = "mean absolute error of the estimated quantiles against the truth, test days, whole grid"
    return Table(title, tuple(head), tuple(lines), 2)


def checks(cells: Sequence[BikeCell]) -> list[Check]:
    """Return what the paper claims and what ours should reach, each with its figures."""
    found = []
    aware = [model for block, model in _models(cells) if block == AS_PUBLISHED and model != "QNN"]
    for intensity in intensities(cells):
        far = [cell for cell in select(cells, intensity=intensity) if cell.gamma >= 0.4]
        if far:
            found.append(_closer(far, intensity, aware))
    scores = {m: distance(select(cells, block=AS_PUBLISHED, model=m)) for m in ("QNN", *aware)}
    best = min(scores, key=lambda model: scores[model])
    for model, words in ((DEFAULT.name, "Ours"), (DROPPED.name, "Ours with censored rows dropped")):
        mine = select(cells, block=OURS, model=model)
        theirs = select(cells, block=AS_PUBLISHED, model=best)
        ratio = distance(mine) / scores[best]
        text = f"{distance(mine):.3f} against {scores[best]:.3f} ({best}), {ratio:.2f} of it; MIL "
        text += f"{overall(mine, 'mil'):,.0f} against {overall(theirs, 'mil'):,.0f}"
        found.append(
            Check(
                f"{words}: mean |ICP − 0.9| over the grid at most half that of the best as-published model",
                text,
                ratio <= 0.5,
            )
        )
    found.append(_against_dropping(cells, [*scores, DEFAULT.name]))
    if 0.0 in names(cells, "gamma"):
        found.append(_at_zero(cells, aware))
    return found


def _closer(cells: Sequence[BikeCell], intensity: str, aware: Sequence[str]) -> Check:
    """Check the paper's main claim; a cell has no result if the rule excluded every start."""
    text, holds = [], True
    for model in aware:
        pairs = [
            (cell, other)
            for cell in select(cells, block=AS_PUBLISHED, model=model)
            for other in select(cells, model="QNN", hub=cell.hub, gamma=cell.gamma)
            if len(cell.values["icp"]) and len(other.values["icp"])
        ]
        if not pairs:
            continue
        mine, theirs = (distance([pair[place] for pair in pairs]) for place in (0, 1))
        closer = sum(distance([cell]) < distance([other]) for cell, other in pairs)
        text.append(f"{model} {mine:.3f} against {theirs:.3f}, closer in {closer} of {len(pairs)} cells")
        holds &= mine < theirs
    empty = [
        f"{model} {lost}"
        for model in ("QNN", *aware)
        if (lost := sum(not len(cell.values["icp"]) for cell in select(cells, model=model)))
    ]
    excluded = f"; cells without a result, excluded by the rule: {', '.join(empty)}" if empty else ""
    return Check(
        f"As published, γ ≥ 0.4, {intensity} intensity: every censorship-aware model has ICP closer to 0.9 "
        "than QNN (mean |ICP − 0.9| over cells where both have a result)",
        "; ".join(text) + excluded,
        holds,
    )


def _against_dropping(cells: Sequence[BikeCell], models: Sequence[str]) -> Check:
    """Check whether anything beats dropping censored rows, which is consistent: they are random here."""
    yardstick = select(cells, model=DROPPED.name)
    score, width = distance(yardstick), overall(yardstick, "mil")
    better = []
    for model in models:
        mine = select(cells, model=model)
        if distance(mine) < score:
            better.append(f"{model} ({distance(mine):.3f}, MIL {overall(mine, 'mil'):,.0f})")
    text = f"dropping has {score:.3f} with MIL {width:,.0f}; "
    text += f"closer to 0.9: {', '.join(better)}" if better else "nothing beats it"
    return Check("Something beats dropping the censored rows", text, bool(better))


def _at_zero(cells: Sequence[BikeCell], aware: Sequence[str]) -> Check:
    """Check γ = 0, where the published thresholds equal the observations: every row counts as censored."""
    icp = {m: overall(select(cells, block=AS_PUBLISHED, model=m, gamma=0.0), "icp") for m in ("QNN", *aware)}
    text = ", ".join(f"{model} {_show(value, 2)}" for model, value in icp.items())
    fails = any(not abs(value - COVERAGE) <= abs(icp["QNN"] - COVERAGE) for value in list(icp.values())[1:])
    return Check(
        "The published threshold rule does no harm at γ = 0, where its factor is 1", f"ICP: {text}", not fails
    )


def _models(cells: Sequence[BikeCell]) -> list[tuple[str, str]]:
    order = ["QNN", "CQNN", "Multi-CQNN", "CQNN+LSTM", "Multi-CQNN+LSTM"]
    order += [name + end for name in (DEFAULT.name, DROPPED.name) for end in ("", RAW)]
    held = {(cell.block, cell.model) for cell in cells}
    return sorted(held, key=lambda item: order.index(item[1]))


def _show(value: float, digits: int) -> str:
    return "–" if np.isnan(value) else f"{value:,.{digits}f}"
