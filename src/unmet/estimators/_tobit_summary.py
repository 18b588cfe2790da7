"""A fitted Tobit model in words and numbers: coefficients, standard errors, marginal effects."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unmet.censoring import Side

Floats = NDArray[np.float64]


class Readable:
    """Numbers that show themselves as `text`."""

    text: str

    def __repr__(self) -> str:
        return self.text


@dataclass(frozen=True, repr=False)
class TobitSummary(Readable):
    """One entry per parameter (the intercept first, log(scale) last), and the text that shows them."""

    names: tuple[str, ...]
    coefficients: Floats
    standard_errors: Floats
    lower: Floats
    upper: Floats
    p_values: Floats
    log_likelihood: float
    text: str


@dataclass(frozen=True, repr=False)
class MarginalEffects(Readable):
    """What one unit more of each column changes, averaged over rows, with standard errors."""

    columns: tuple[str, ...]
    latent: Floats  # of the latent mean
    observed: Floats  # of the mean of what is observed between the thresholds
    uncensored: Floats  # of the probability to be uncensored
    latent_errors: Floats
    observed_errors: Floats
    uncensored_errors: Floats
    text: str


def column_names(model: Any) -> tuple[str, ...]:
    if hasattr(model, "categories_"):
        return model.categories_.columns
    names = getattr(model, "feature_names_in_", None)
    return tuple(f"x{i}" for i in range(model.n_features_in_)) if names is None else tuple(map(str, names))


def summarise_tobit(model: Any, coverage: float) -> TobitSummary:
    """Return coefficients, standard errors, Wald intervals and p-values of a linear Gaussian model."""
    from scipy.special import ndtr, ndtri

    known = model.likelihood_
    names, found = list(column_names(model)), list(model.coef_)
    if model.fit_intercept:
        names, found = ["intercept", *names], [model.intercept_, *found]
    if len(known.inverse) > len(found):
        names, found = [*names, "log(scale)"], [*found, float(np.log(model.scale_))]
    values = np.array(found)
    errors = known.errors(known.parameters())
    far = ndtri(0.5 + coverage / 2)
    with np.errstate(divide="ignore", invalid="ignore"):
        p_values = 2 * ndtr(-np.abs(values / errors))
    low, high = values - far * errors, values + far * errors
    counts = {"exact": known.exact, "open above": known.right, "open below": known.left}
    counts["intervals"] = known.between
    told = ", ".join(f"{count:,} {what}" for what, count in counts.items() if count)
    wide = max(map(len, names))
    interval = f"{100 * coverage:g}% interval"
    lines = [
        "Tobit regression: Gaussian latent values, linear mean",
        f"{known.rows:,} rows: {told}",
        f"scale {model.scale_:.5g}, log-likelihood {known.log_likelihood:.6g}",
        "",
        f"  {'':{wide}}  {'coefficient':>12}  {'std. error':>12}  {'p':>7}  {interval:>27}",
    ]
    for row in zip(names, values, errors, p_values, low, high):
        name, value, error, p, begin, end = row
        rest = f"  {error:>12.5g}  {p:>7.4f}  {begin:>13.5g} {end:>13.5g}" if np.isfinite(error) else "  –"
        lines.append(f"  {name:{wide}}  {value:>12.5g}{rest}")
    lines += [
        "",
        "This model assumes:",
        "  Latent values are Gaussian around a linear mean, with the same scale in all rows.",
        "  Where a row is cut off is independent of its latent value given X.",
        "Standard errors: inverse of the observed information.",
    ]
    names_, text = tuple(names), "\n".join(lines)
    return TobitSummary(names_, values, errors, low, high, p_values, known.log_likelihood, text)


def find_effects(model: Any, X: Floats, floor: Floats, cap: Floats) -> MarginalEffects:
    """Return average effects of every column, and their standard errors by the delta method.

    With l and u the z-values of floor and cap, P = Φ(u) − Φ(l) is the probability to be uncensored. One unit
    more of column j changes the latent mean by β_j, the mean of what is observed by β_j P, and P by
    −β_j (φ(u) − φ(l)) / σ.
    """
    from scipy.special import ndtr

    slopes, scale = model.coef_, model.scale_
    known = model.likelihood_
    location = model.intercept_ + X @ slopes
    low, high = (floor - location) / scale, (cap - location) / scale
    inside = ndtr(high) - ndtr(low)
    at_low, at_high = _density(low), _density(high)
    slope = (at_high - at_low) / scale
    # Derivatives of P and of its slope along the location and log σ; an open end adds nothing.
    low_z, high_z = np.where(np.isinf(low), 0.0, low), np.where(np.isinf(high), 0.0, high)
    design = known.design(X)
    d_inside = _gradient(-slope, -(high_z * at_high - low_z * at_low), design)
    bend = (high_z * at_high - low_z * at_low) / scale**2
    spread = (high_z**2 * at_high - low_z**2 * at_low) / scale - slope
    d_slope = _gradient(bend, spread, design)
    size, first = len(known.inverse), int(known.intercept)
    own = known.parameters()[first : first + len(slopes)]
    beta = slopes[:, None]
    gradients = (
        own,
        own * inside.mean() + beta * d_inside[:size],
        -(own * slope.mean() + beta * d_slope[:size]),
    )
    effects = slopes, slopes * inside.mean(), -slopes * slope.mean()
    columns = column_names(model)
    parts = [*effects, *map(known.errors, gradients)]
    wide = max(map(len, columns))
    heads = ("latent mean", "observed mean", "P(uncensored)")
    lines = [
        f"One unit more of a column changes, on average over {len(X):,} rows (standard error):",
        f"  {'':{wide}}  " + "  ".join(f"{head:>24}" for head in heads),
    ]
    for number, name in enumerate(columns):
        shown = [f"{error[number]:.3g}" if np.isfinite(error[number]) else "–" for error in parts[3:]]
        cells = [f"{parts[i][number]:>11.5g} ({shown[i]:>10})" for i in range(3)]
        lines.append(f"  {name:{wide}}  " + "  ".join(cells))
    a, b, c, d, e, f = parts
    return MarginalEffects(columns, a, b, c, d, e, f, "\n".join(lines))


def thresholds(threshold: Any, side: Side, rows: int) -> tuple[Floats, Floats]:
    """Return floors and caps, one per row, from a threshold as `fit` takes it."""
    pair: Any = (-np.inf, np.inf)
    wanted, why = f"a number or one per row of X ({rows})", ""
    if threshold is not None:
        pair = {"right": (-np.inf, threshold), "left": (threshold, np.inf), "both": threshold}[side]
    if side == "both":
        wanted = f"a pair (floor, cap), each {wanted}"
        why = "; fit had intervals or rows cut off on both sides, so use -inf or inf for an end without limit"
    if isinstance(pair, np.ndarray) and pair.ndim == 2:
        pair = pair.T
    try:
        if not hasattr(pair, "__len__") or len(pair) != 2:
            raise ValueError(f"got {np.shape(pair) or pair}")
        floor, cap = (np.broadcast_to(np.asarray(end, np.float64), (rows,)) for end in pair)
    except (TypeError, ValueError) as error:
        raise ValueError(f"threshold must be {wanted}: {error}{why}") from None
    if not (floor < cap).all():
        raise ValueError("threshold: every floor must lie below its cap, without NaN")
    return floor, cap


def _density(z: Floats) -> Floats:
    return np.exp(-0.5 * np.square(np.where(np.isinf(z), 1e3, z))) / np.sqrt(2 * np.pi)


def _gradient(by_location: Floats, by_log_scale: Floats, design: Floats) -> Floats:
    return np.append((by_location @ design) / len(design), by_log_scale.mean())
