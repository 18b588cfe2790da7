"""From measures to one line per method, and the choice among them."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from unmet.comparison._comparison import Line, number, pair
from unmet.comparison._measures import Measures
from unmet.comparison._methods import METHODS, Method


def make_lines(
    found: Mapping[Method, tuple[Measures, float, str]], side: str = "right", open_on: str = ""
) -> tuple[Line, ...]:
    """Return one line per method from its measures, CPU seconds and note; the lowest loss comes first.

    `side` is what the methods are told, and `open_on` where rows are open, if their bounds tell it instead.
    """
    means = {method: float(measures.losses.mean()) for method, (measures, _, _) in found.items()}
    best = min(means, key=lambda method: (means[method], METHODS_ORDER.get(method.name, len(METHODS))))
    lines = []
    for method, (measures, seconds, note) in found.items():
        above, error = _difference(measures.losses, found[best][0].losses)
        lines.append(
            Line(
                method.name,
                method.call((open_on or side) if method.estimator == "KaplanMeier" else side),
                means[method],
                above,
                error,
                float(measures.log_scores.mean()),
                measures.coverage,
                measures.d_calibration,
                measures.km_distance,
                measures.crossings,
                seconds,
                note,
            )
        )
    return tuple(sorted(lines, key=lambda line: line.loss))


METHODS_ORDER = {method.name: place for place, method in enumerate(METHODS)}


def _difference(one: Any, other: Any) -> tuple[float, float]:
    """Return the mean difference of two losses and its standard error, row by row."""
    each = one - other
    return float(each.mean()), float(each.std(ddof=1) / np.sqrt(len(each)))


def recommend(
    lines: Sequence[Line],
    found: Mapping[Method, tuple[Measures, float, str]],
    asked: int | None = None,
    *,
    weighted: bool = False,
) -> tuple[str, str]:
    """Return the name of the method to use, and the sentence that says so.

    It is the simplest method within one standard error of the lowest loss, without those of them that leave
    quantiles open or that the log score rejects in favour of another of them. `asked` is the number of
    methods that the caller named. A loss that is `weighted` by the chance not to be cut off is wrong where
    cuts follow the columns, and a method that minimises it is right in its own eyes. The log score is not,
    so it rejects first, whatever the loss.
    """
    scores = {method.name: measures.log_scores for method, (measures, _, _) in found.items()}
    lowest, lines, passed = lines[0], trusted(lines, found) if weighted else lines, ""
    if lowest.method != lines[0].method:
        above, error = _difference(scores[lowest.method], scores[lines[0].method])
        passed = (
            f" {lowest.method} has a lower loss, {number(lowest.loss)}, but a worse log score, by "
            f"{number(above)} (standard error {number(error)}): the weights of the loss are wrong if cuts "
            "follow the columns."
        )
    low = "lowest that the log score does not reject" if passed else "lowest"
    close = [line for line in lines if line.above_best <= line.error]
    whole = [line for line in close if not line.note] or close
    rejected = _rejected([line.method for line in whole], scores)
    simple = sorted(whole, key=lambda line: METHODS_ORDER.get(line.method, len(METHODS)))
    chosen = next(line for line in simple if line.method not in rejected)
    simpler = [line.method for line in simple[: simple.index(chosen)]]
    yielding = _yielding(close, chosen)
    such = _such(yielding, simpler)
    but = f". {rejected[simpler[0]]}" if simpler else ""
    but += f". {yielding[0].method} comes as close, but {yielding[0].note}" if yielding else ""
    best, others = lines[0], [line for line in lines if line.method != chosen.method]
    if chosen.method == METHODS[0].name and not others:
        words = (
            "Only Kaplan–Meier was compared, which does not use the columns: compare it with another method"
        )
        return chosen.method, f"{words}."
    if chosen.method == METHODS[0].name:
        words = (
            "The columns tell nothing: no method is better than Kaplan–Meier of all rows by more than one "
            "standard error. Add columns or rows"
        )
        return chosen.method, f"{words}."
    words = f"Use {chosen.code}: "
    if chosen is not best:
        one, other = pair(chosen.loss, best.loss)
        words += (
            f"its loss {one} is within one standard error ({number(chosen.error)}) of the {low}, {other} of "
            f"{best.method}, and it is the simplest such method{such}"
        )
    elif len(close) > 1:
        words += (
            f"it has the lowest loss, {number(best.loss)}, and of the {len(close)} methods within one "
            f"standard error it is the simplest{such}"
        )
    elif others:
        words += (
            f"its loss {number(best.loss)} is the {low}, {number(others[0].above_best)} below "
            f"{others[0].method} (standard error {number(others[0].error)})"
        )
    else:
        words += {None: "no other method applies", 1: "you asked for no other method"}.get(
            asked, "no other method that you asked for applies"
        )
    return chosen.method, words + but + "." + passed + _second_opinion(chosen, scores)


def trusted(lines: Sequence[Line], found: Mapping[Method, tuple[Measures, float, str]]) -> Sequence[Line]:
    """Return the methods whose log score is within two standard errors of the best, from the lowest loss."""
    losses = {method.name: measures.losses for method, (measures, _, _) in found.items()}
    scores = {method.name: measures.log_scores for method, (measures, _, _) in found.items()}
    judges = [line.method for line in lines if not line.note] or [line.method for line in lines]
    best = min(judges, key=lambda name: float(scores[name].mean()))
    worse = {line.method: _difference(scores[line.method], scores[best]) for line in lines}
    kept = [line for line in lines if worse[line.method][0] <= 2 * worse[line.method][1]]
    above = [_difference(losses[line.method], losses[kept[0].method]) for line in kept]
    return [replace(line, above_best=gap, error=error) for line, (gap, error) in zip(kept, above)]


def _yielding(close: Sequence[Line], chosen: Line) -> list[Line]:
    """Return the methods that yield to the chosen one because they warn, though simpler or of lowest loss."""
    order = {line.method: METHODS_ORDER.get(line.method, len(METHODS)) for line in (*close, chosen)}
    before = [line for line in close if line is close[0] or order[line.method] < order[chosen.method]]
    return [] if chosen.note else [line for line in before if line.note]


def _such(yielding: Sequence[Line], simpler: Sequence[str]) -> str:
    """Return what sets the chosen method apart from close ones that are simpler."""
    words = ["whose fit does not warn"] if yielding else []
    words += ["that the log score does not reject"] if simpler else []
    return f" {' and '.join(words)}" if words else ""


def _rejected(names: Sequence[str], scores: Mapping[str, Any]) -> dict[str, str]:
    """Return the methods whose log score is worse than another's by over two standard errors, and words.

    The one of the lowest mean is never among them.
    """
    found: dict[str, str] = {}
    better = sorted(names, key=lambda name: float(scores[name].mean()))
    for name in names:
        for other in better:
            above, error = _difference(scores[name], scores[other])
            if above > 2 * error and name not in found:
                found[name] = (
                    f"{name} is simpler, but its log score is worse than that of {other} by {number(above)} "
                    f"(standard error {number(error)})"
                )
    return found


def _second_opinion(chosen: Line, scores: Mapping[str, Any]) -> str:
    """Return a sentence if the log score clearly prefers another method."""
    best = min(scores, key=lambda name: float(scores[name].mean()))
    above, error = _difference(scores[chosen.method], scores[best])
    if above <= 2 * error:
        return ""
    return (
        f" The log score prefers {best}, by {number(above)} (standard error {number(error)}): the choice is "
        "not clear."
    )
