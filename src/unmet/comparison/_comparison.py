"""The result of a comparison: one line per method, and which one to use."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from unmet.comparison._measures import Measures
from unmet.comparison._methods import METHODS, Method


@dataclass(frozen=True)
class Line:
    """Measures of one method; None where censoring hides the answer.

    Parameters
    ----------
    loss : mean loss per row and level, of rows that the fit did not see; lower is better.
    above_best, error : how much it is above the lowest loss, and the standard error of that difference.
    log_score : −log of the predicted chance of what was seen; lower is better.
    coverage : share of latent values between the lowest and the highest quantile.
    d_calibration : p-value; small if the predicted distributions do not hold.
    km_distance : distance of the mean predicted distribution from Kaplan–Meier's, root mean square.
    crossings : neighbouring quantiles in the wrong order.
    seconds : CPU time of a fit, median over folds.
    note : what the method leaves open.
    """

    method: str
    code: str
    loss: float
    above_best: float
    error: float
    log_score: float
    coverage: float | None
    d_calibration: float | None
    km_distance: float | None
    crossings: int
    seconds: float
    note: str = ""


@dataclass(frozen=True)
class Comparison:
    """Methods compared on one table.

    Attributes
    ----------
    lines : tuple of Line
        From the lowest loss to the highest.
    recommended : str
        Name of a method: the simplest whose loss is within one standard error of the lowest.
    recommendation : str
        The same as a sentence, with its uncertainty.
    left_out : dict
        Why a method was not compared, by its name.
    notes : tuple of str
        What was done to the table.
    loss_name : str
        Which loss the lines hold.
    """

    lines: tuple[Line, ...]
    recommended: str
    recommendation: str
    left_out: Mapping[str, str]
    notes: tuple[str, ...]
    loss_name: str
    rows: int
    columns: tuple[str, ...]
    censored: float
    levels: tuple[float, ...]
    folds: int

    def frame(self, backend: str | None = None) -> Any:
        """Return the lines as a frame of pandas, Polars or Arrow, whichever is installed or asked for."""
        from unmet.results import choose_backend, make_frame

        lines = [asdict(line) for line in self.lines]
        columns = {name: np.array([line[name] for line in lines]) for name in lines[0]}
        numbers = {name: _floats(values) for name, values in columns.items() if values.dtype == object}
        return make_frame({**columns, **numbers}, choose_backend(backend))

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values."""
        found = asdict(self)
        lists = {name: list(found[name]) for name in ("lines", "notes", "columns", "levels")}
        return {**found, **lists, "left_out": dict(self.left_out)}

    def plot(self, ax: Any) -> Any:
        """Draw the losses of all methods on an axis, and return it."""
        from unmet.plotting import plot_comparison

        return plot_comparison(
            ax,
            methods=[line.method for line in self.lines],
            above_best=[line.above_best for line in self.lines],
            error=[line.error for line in self.lines],
            recommended=self.recommended,
            loss_name=self.loss_name,
        )


def _floats(values: Any) -> Any:
    return np.array([np.nan if value is None else value for value in values], np.float64)


def make_lines(found: Mapping[Method, tuple[Measures, float, str]]) -> tuple[Line, ...]:
    """Return one line per method from its measures, CPU seconds and note; the lowest loss comes first."""
    means = {method: float(measures.losses.mean()) for method, (measures, _, _) in found.items()}
    best = min(means, key=lambda method: (means[method], METHODS_ORDER.get(method.name, len(METHODS))))
    lines = []
    for method, (measures, seconds, note) in found.items():
        above, error = _difference(measures.losses, found[best][0].losses)
        lines.append(
            Line(
                method.name,
                method.code,
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


def recommend(lines: Sequence[Line], found: Mapping[Method, tuple[Measures, float, str]]) -> tuple[str, str]:
    """Return the name of the method to use, and the sentence that says so."""
    close = [line for line in lines if line.above_best <= line.error]
    whole = [line for line in close if not line.note] or close
    chosen = min(whole, key=lambda line: METHODS_ORDER.get(line.method, len(METHODS)))
    best, others = lines[0], [line for line in lines if line.method != chosen.method]
    if chosen.method == METHODS[0].name:
        words = (
            "The columns tell nothing: no method is better than Kaplan–Meier of all rows by more than one "
            "standard error. Add columns or rows"
        )
        return chosen.method, f"{words}."
    words = f"Use {chosen.code}: "
    if chosen is not best:
        words += (
            f"its loss {number(chosen.loss)} is within one standard error ({number(chosen.error)}) of the "
            f"lowest, {number(best.loss)} of {best.method}, and it is the simplest such method"
        )
    elif len(close) > 1:
        words += (
            f"it has the lowest loss, {number(best.loss)}, and of the {len(close)} methods within one "
            "standard error it is the simplest"
        )
    elif others:
        words += (
            f"its loss {number(best.loss)} is the lowest, {number(others[0].above_best)} below "
            f"{others[0].method} (standard error {number(others[0].error)})"
        )
    else:
        words += "no other method applies"
    return chosen.method, words + "." + _second_opinion(chosen, found)


def _second_opinion(chosen: Line, found: Mapping[Method, tuple[Measures, float, str]]) -> str:
    """Return a sentence if the log score clearly prefers another method."""
    scores = {method.name: measures.log_scores for method, (measures, _, _) in found.items()}
    best = min(scores, key=lambda name: float(scores[name].mean()))
    above, error = _difference(scores[chosen.method], scores[best])
    if above <= 2 * error:
        return ""
    return (
        f" The log score prefers {best}, by {number(above)} (standard error {number(error)}): the choice is "
        "not clear."
    )


def number(value: float) -> str:
    """Return a number with three significant digits, without an exponent where it is readable."""
    if value == 0 or not np.isfinite(value):
        return f"{value:g}"
    digits = max(0, 2 - int(np.floor(np.log10(abs(value)))))
    return f"{value:,.{digits}f}" if digits <= 6 else f"{value:.2e}"
