"""A fitted linear model in words and numbers."""

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unmet.estimators._tobit_summary import Readable, column_names

_ASSUMES = {
    "portnoy": (
        "Where a row is cut off is independent of its latent value given X.",
        "All quantiles up to the one reported are linear in X.",
    ),
    "peng-huang": (
        "Where a row is cut off is independent of its latent value given X.",
        "All quantiles up to the one reported are linear in X.",
    ),
    "powell": (
        "The threshold of every row is known and does not depend on its latent value given X.",
        "The reported quantile is linear in X; others need not be.",
    ),
    "wang-wang": (
        "Where a row is cut off is independent of its latent value given X.",
        "The reported quantile is linear in X; the distribution given X is smooth in X.",
    ),
}
_NAMES = {"portnoy": "Portnoy", "peng-huang": "Peng–Huang", "powell": "Powell", "wang-wang": "Wang–Wang"}
# Fewer draws than this share at a level: its spread would describe the lucky ones.
_ENOUGH = 0.8


@dataclass(frozen=True, repr=False)
class Summary(Readable):
    """Numbers by level and column (the intercept first), and the text that shows them."""

    levels: tuple[float, ...]
    columns: tuple[str, ...]
    coefficients: NDArray[np.float64]  # (K, 1 + columns)
    standard_errors: NDArray[np.float64]
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    text: str


def summarise(model: Any, coverage: float) -> Summary:
    """Coefficients, standard errors and percentile intervals of a fitted model."""
    levels = tuple(float(level) for level in model.quantiles)
    columns = ("intercept", *column_names(model))
    found = np.column_stack([model.intercept_, model.coef_])
    errors, lower, upper = (np.full(found.shape, np.nan) for _ in range(3))
    if model.bootstrap_ is not None:
        tail = 50 * (1 - coverage)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # a level that no draw reaches
            low, high, lower, upper = np.nanpercentile(
                model.bootstrap_, [15.8655, 84.1345, tail, 100 - tail], axis=0
            )
        errors = (high - low) / 2
        lost = np.isfinite(model.bootstrap_).mean(axis=0) < _ENOUGH
        lost[:, 1:] |= model._dependent
        errors[lost] = lower[lost] = upper[lost] = np.nan
    text = _text(model, levels, columns, coverage, (found, errors, lower, upper))
    return Summary(levels, columns, found, errors, lower, upper, text)


def quantile_intervals(
    rows: NDArray[np.float64], draws: NDArray[np.float64], coverage: float
) -> NDArray[np.float64]:
    """Percentile intervals of x'β over draws (B, K, 1 + columns), shape (n, K, 2)."""
    tail = 50 * (1 - coverage)
    found = np.full((len(rows), draws.shape[1], 2), np.nan)
    for level in np.flatnonzero(np.isfinite(draws).all(axis=2).mean(axis=0) >= _ENOUGH):
        reached = draws[np.isfinite(draws[:, level]).all(axis=1), level]
        lines = reached[:, :1] + reached[:, 1:] @ rows.T
        found[:, level] = np.percentile(lines, [tail, 100 - tail], axis=0).T
    return found


def _text(model: Any, levels: Any, columns: Any, coverage: float, tables: Any) -> str:
    found, errors, lower, upper = tables
    lines = [
        f"Linear censored quantile regression, {_NAMES[model.method]}",
        f"{model.rows_:,} rows, {model.censored_share_:.0%} censored ({model.side_}); "
        f"levels {model.levels_[0]:g} to {model.levels_[-1]:g} fitted",
    ]
    wide = max(map(len, columns))
    percent = f"{100 * coverage:g}% interval"
    for number, level in enumerate(levels):
        lines += ["", f"quantile {level:g}"]
        if np.isnan(found[number]).any():
            lines.append("  not identified: too few uncensored rows lie there")
            continue
        lines.append(f"  {'':{wide}}  {'coefficient':>12}  {'std. error':>12}  {percent:>27}")
        for name, value, error, low, high in zip(
            columns, found[number], errors[number], lower[number], upper[number]
        ):
            rest = f"  {error:>12.5g}  {low:>13.5g} {high:>13.5g}"
            if np.isnan(error):
                rest = "" if model.bootstrap_ is None else "  –"
            lines.append(f"  {name:{wide}}  {value:>12.5g}{rest}")
    lines += ["", "This method assumes:", *(f"  {line}" for line in _ASSUMES[model.method])]
    if model.bootstrap_ is None:
        lines.append("No standard errors: set n_bootstrap=200 and fit again.")
    else:
        lines.append(f"Standard errors and intervals: multiplier bootstrap, {len(model.bootstrap_)} draws.")
        free = np.append(True, ~model._dependent)
        if not free.all():
            lines.append("No standard error where a column depends on others: its coefficient is set to 0.")
        if np.isnan(errors[:, free][np.isfinite(found[:, free])]).any():
            lines.append(f"No standard error where fewer than {_ENOUGH:.0%} of the draws reach the level.")
    return "\n".join(lines)
