"""The result of a comparison: one line per method, and which one to use."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np


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
    note : what the method leaves open, or why its fit is not to be trusted.
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
    code : str
        Lines to paste that prepare your frame `table` as it was compared, fit the recommended method and
        print its quantiles; a file is read first. Empty if the columns tell nothing.
    cautions : tuple of str
        What to know before the recommended fit is used.
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
    code: str = ""
    cautions: tuple[str, ...] = ()

    def __str__(self) -> str:
        """Return losses and the recommendation, in a few lines."""
        wide = max(len(line.method) for line in self.lines)
        losses, above, errors = self.loss_columns()
        rows = [
            f"  {line.method:<{wide}}  {losses[place]}"
            + (f"  (+{above[place]} ± {errors[place]})" if line.above_best else "")
            for place, line in enumerate(self.lines)
        ]
        about = f"{self.about()}. Loss: {self.loss_words()}."
        code = ["", self.code] if self.code else []
        # Code stands at the margin, or it could not be pasted.
        return "\n".join([about, *rows, self.recommendation, *self.cautions, *code])

    def about(self) -> str:
        """Return rows, censoring, columns and folds as words."""
        columns = f"{len(self.columns)} column{'s' if len(self.columns) > 1 else ''}"
        return f"{self.rows_words()}, {columns}, {self.folds} folds"

    def rows_words(self) -> str:
        """Return rows and the share of them that is censored as words."""
        how = "known to an interval" if self.loss_name == "log score" else "censored"
        return f"{self.rows:,} rows, {self.censored:.0%} of them {how}"

    def loss_words(self) -> str:
        """Return which loss the lines hold, and over what it is taken."""
        many = f"{len(self.levels)} quantiles"
        # A log score is of the whole distribution, not of each quantile.
        joint = self.loss_name == "log score"
        return f"{self.loss_name}, from {many}" if joint else f"{self.loss_name}, mean over {many}"

    def loss_columns(self) -> tuple[list[str], list[str], list[str]]:
        """Return losses, distances to the best and their errors as texts; the last two in one notation."""
        many = len(self.lines)
        both = numbers([*(line.above_best for line in self.lines), *(line.error for line in self.lines)])
        return numbers([line.loss for line in self.lines]), both[:many], both[many:]

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
        lists = {name: list(found[name]) for name in ("lines", "notes", "columns", "levels", "cautions")}
        return {**found, **lists, "left_out": dict(self.left_out)}

    def plot(self, ax: Any, name: str = "") -> Any:
        """Draw the losses of all methods on an axis, and return it; the title begins with `name`."""
        from unmet.plotting import plot_comparison

        return plot_comparison(
            ax,
            methods=[line.method for line in self.lines],
            above_best=[line.above_best for line in self.lines],
            error=[line.error for line in self.lines],
            recommended=self.recommended,
            loss_name=self.loss_name,
            unidentified=[line.method for line in self.lines if line.note],
            title=f"{name}{': ' if name else ''}{self.rows_words()}",
        )


def _floats(values: Any) -> Any:
    return np.array([np.nan if value is None else value for value in values], np.float64)


def pair(one: float, other: float) -> tuple[str, str]:
    """Return two numbers with digits enough to tell them apart.

    >>> pair(1.0512, 1.0468)
    ('1.0512', '1.0468')
    """
    gap = abs(one - other) * (1 + 1e-9)  # 0.41 − 0.40 is a little less than 0.01
    if not np.isfinite(gap) or gap <= 1e-9 * abs(one):
        return number(one), number(other)
    largest = max(abs(one), abs(other))
    digits = max(1 - int(np.floor(np.log10(gap))), 2 - int(np.floor(np.log10(largest))), 0)
    return (f"{one:,.{digits}f}", f"{other:,.{digits}f}") if digits <= 8 else (f"{one:.8g}", f"{other:.8g}")


def number(value: float) -> str:
    """Return a number with three significant digits, without an exponent where it is readable."""
    return numbers([value])[0]


def numbers(values: Sequence[float]) -> list[str]:
    """Return numbers with three significant digits: with an exponent, all of them, if one needs it.

    >>> numbers([0.00101, 0.00015]), numbers([0.00101, 0.0000512])
    (['0.00101', '0.000150'], ['1.01e-03', '5.12e-05'])
    """
    plain = [value == 0 or not np.isfinite(value) for value in values]
    digits = [
        0 if one else max(0, 2 - int(np.floor(np.log10(abs(value)))))
        for one, value in zip(plain, values, strict=True)
    ]
    short = max(digits, default=0) <= 6
    return [
        f"{value:g}" if one else f"{value:,.{many}f}" if short else f"{value:.2e}"
        for one, many, value in zip(plain, digits, values, strict=True)
    ]
