"""Measures that weight the uncensored rows by the inverse of their chance to be seen (IPCW)."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from unmet import losses
from unmet.metrics._arrays import Floats, numbers
from unmet.metrics._distribution import chances, check_times
from unmet.metrics._right_censored import inverse, right_censored, staying_uncensored


def ipcw_tilted_loss(
    y: ArrayLike, censored: ArrayLike, quantile_values: ArrayLike, thetas: ArrayLike, *, reference: Any = None
) -> float:
    """Tilted loss of latent values from right-censored rows: the mean of δᵢ/Ĝ(yᵢ−) ρ_θ(yᵢ − qᵢₖ).

    δ is 1 for uncensored rows, Ĝ the Kaplan–Meier estimate of the chance to be still uncensored. It estimates
    the loss against latent values if cuts are independent of them and of X, and no row is cut off for
    certain. Where stock reacts to demand it is wrong.

    Parameters
    ----------
    quantile_values
        Shape (n, K) in the order of thetas, or (n,) for a single level.
    reference
        Rows (y, censored) from which Ĝ is estimated, such as the training rows; by default the rows measured.

    References
    ----------
    Robins & Rotnitzky (1992), Recovery of information and adjustment for dependent censoring.

    Examples
    --------
    >>> ipcw_tilted_loss([1.0, 2.0, 3.0], [False, True, False], [2.0, 2.0, 2.0], [0.5])
    0.5
    """
    values, flags = right_censored(y, censored)
    levels, curves = np.atleast_1d(numbers(thetas, "thetas")), numbers(quantile_values, "quantile_values")
    curves = curves[:, None] if curves.ndim == 1 else curves
    if levels.ndim != 1 or curves.shape != (values.size, levels.size):
        raise ValueError(
            f"quantile_values must have shape (n, K) = {(values.size, levels.size)}, got {curves.shape}"
        )
    if not ((levels > 0) & (levels < 1)).all():
        raise ValueError("thetas must lie inside (0, 1)")
    if flags.all():
        raise ValueError("censored: every row is censored, so that the loss of none is known")
    weight = inverse(staying_uncensored(values, flags, reference).before(values[~flags]))
    each = losses.tilted_loss(values[~flags, None], curves[~flags], levels)
    return float((weight @ each).sum() / (values.size * levels.size))


def brier_score(
    y: ArrayLike, censored: ArrayLike, survival: ArrayLike, times: ArrayLike, *, reference: Any = None
) -> Floats:
    """Mean squared error of predicted survival at each time, from right-censored rows, shape (T,).

    BS(t) = mean of S(t|xᵢ)² 1{yᵢ ≤ t} δᵢ/Ĝ(yᵢ−) + (1 − S(t|xᵢ))² 1{yᵢ > t}/Ĝ(t).

    Parameters
    ----------
    survival
        P(latent > t | x), shape (n, T).
    times
        Increasing, shape (T,), below the last value that could be seen.
    reference
        Rows (y, censored) from which Ĝ is estimated, such as the training rows; by default the rows measured.

    References
    ----------
    Graf, Schmoor, Sauerbrei & Schumacher (1999), Assessment and comparison of prognostic classification
    schemes for survival data, Stat. Med. 18.

    Examples
    --------
    >>> brier_score([1.0, 3.0], [False, False], [[0.5, 0.5], [0.5, 1.0]], [0.5, 2.0]).tolist()
    [0.25, 0.125]
    """
    values, flags = right_censored(y, censored)
    grid, curves = check_times(times), chances(survival)
    if curves.shape != (values.size, grid.size):
        raise ValueError(f"survival must have shape (n, T) = {(values.size, grid.size)}, got {curves.shape}")
    chance = staying_uncensored(values, flags, reference)
    weight = np.zeros(values.size)
    needed = ~flags & (values <= grid[-1])
    weight[needed] = inverse(chance.before(values[needed]))
    happened = values[:, None] <= grid
    squares = np.where(
        happened, np.square(curves) * weight[:, None], np.square(1 - curves) * inverse(chance.at(grid))
    )
    return np.asarray(squares.mean(axis=0))


def integrated_brier_score(
    y: ArrayLike, censored: ArrayLike, survival: ArrayLike, times: ArrayLike, *, reference: Any = None
) -> float:
    """Mean of `brier_score` over the times, by the trapezoidal rule: ∫ BS(t) dt / (t_T − t_1).

    Examples
    --------
    >>> integrated_brier_score([1.0, 3.0], [False, False], [[0.5, 0.5], [0.5, 1.0]], [0.5, 2.0])
    0.1875
    """
    scores, grid = brier_score(y, censored, survival, times, reference=reference), check_times(times)
    return float((np.diff(grid) * (scores[1:] + scores[:-1]) / 2).sum() / (grid[-1] - grid[0]))
