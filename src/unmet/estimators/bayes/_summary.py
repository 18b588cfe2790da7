"""A fitted Bayesian model in words and numbers."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unmet.estimators._tobit_summary import Readable, column_names

Floats = NDArray[np.float64]
_NAMES = {"powell": "Powell's loss", "augmented": "asymmetric Laplace, unseen values drawn"}
_ASSUMES = {
    "powell": "The threshold of every row is known and does not depend on its latent value given X.",
    "augmented": "Latent values follow the asymmetric Laplace law. Where they do not, caps bias the result.",
}


@dataclass(frozen=True, repr=False)
class BayesianSummary(Readable):
    """Numbers by level and column (the intercept first), and the text that shows them."""

    levels: tuple[float, ...]
    columns: tuple[str, ...]
    coefficients: Floats  # (K, 1 + columns), posterior medians
    standard_errors: Floats  # corrected
    lower: Floats
    upper: Floats
    rhat: Floats
    effective_draws: Floats
    text: str


def summarise(model: Any, coverage: float) -> BayesianSummary:
    """Posterior medians, corrected errors and intervals of a fitted model."""
    levels = tuple(float(level) for level in model.quantiles)
    columns = ("intercept", *column_names(model))
    found = np.column_stack([model.intercept_, model.coef_])
    errors = np.sqrt(np.diagonal(model.covariance_, axis1=1, axis2=2))
    ends = model.intervals(coverage)
    raw = model.samples_.std(axis=(0, 1), ddof=1)
    chains, draws = model.samples_.shape[:2]
    lines = [
        f"Bayesian censored quantile regression, {_NAMES[model.method]}",
        f"{model.rows_:,} rows, {model.censored_share_:.0%} censored ({model.side_}); {chains} chains of "
        f"{draws:,} draws, largest R̂ {model.rhat_.max():.3f}, fewest effective draws "
        f"{model.effective_draws_.min():,.0f}",
    ]
    wide = max(map(len, columns))
    percent = f"{100 * coverage:g}% interval"
    for number, level in enumerate(levels):
        lines += ["", f"quantile {level:g}"]
        lines.append(f"  {'':{wide}}  {'median':>12}  {'std. error':>12}  {percent:>27}  {'uncorrected':>12}")
        for name, *values in zip(columns, found[number], errors[number], ends[number], raw[number]):
            middle, error, (low, high), own = values
            lines.append(
                f"  {name:{wide}}  {middle:>12.5g}  {error:>12.5g}  {low:>13.5g} {high:>13.5g}  {own:>12.5g}"
            )
    lines += ["", "This method assumes:", f"  {_ASSUMES[model.method]}", "  Each quantile is linear in X."]
    lines.append(
        "Standard errors are corrected as by Yang, Wang and He; the last column is the posterior's own."
    )
    return BayesianSummary(
        levels,
        columns,
        found,
        errors,
        ends[..., 0],
        ends[..., 1],
        model.rhat_,
        model.effective_draws_,
        "\n".join(lines),
    )
