"""The asymmetric Laplace likelihood by Gibbs sampling: unseen values are drawn along with everything else."""

import numpy as np
from numpy.typing import NDArray

from unmet.estimators.bayes._rows import Working

Floats = NDArray[np.float64]

WARM_UP = 500
# Residuals nearer than this to zero count as this far: the mean of their inverse Gaussian has no limit.
_NEAREST = 1e-6
_SMALLEST = 1e-12
# The inverse-gamma prior of the scale, nearly flat.
_SHAPE, _RATE = 0.01, 0.01


def sample_augmented(
    rows: Working, levels: Floats, *, prior_scale: float, chains: int, draws: int, seed: int
) -> tuple[Floats, Floats]:
    """Return draws (chains, draws, K, r) of β and (chains, draws, K) of σ.

    y* = x'β + a v + τ √(σ v) z with z normal and v exponential of mean σ, where a = (1 − 2θ)/(θ(1 − θ)) and
    τ² = 2/(θ(1 − θ)), has the asymmetric Laplace law with quantile x'β. Each round draws the latent
    y* of rows that are only bounded and σ (inverse gamma), both without v, which mixes better than with it;
    then 1/v (inverse Gaussian) and β (normal). All levels and chains go side by side.

    References
    ----------
    Kozumi & Kobayashi (2011), Gibbs sampling methods for Bayesian quantile regression, J. Stat. Comput.
    Simul. 81.
    """
    random = np.random.default_rng(seed)
    repeats = rows.weights.astype(int)
    x = np.repeat(rows.columns, repeats, axis=0)
    y, lower, upper = (np.repeat(part, repeats) for part in (rows.y, rows.lower, rows.upper))
    hidden = np.flatnonzero(lower < upper)
    count, columns = x.shape
    shape = (len(levels), chains)
    theta = levels[:, None, None]
    lean, wide = (1 - 2 * theta) / (theta * (1 - theta)), 2 / (theta * (1 - theta))
    beta = np.broadcast_to(x.T @ y / count, (*shape, columns)) + 0.1 * random.normal(size=(*shape, columns))
    sigma = np.full((*shape, 1), 0.3)
    latent = np.broadcast_to(y, (*shape, count)).copy()
    kept = np.empty((draws, *shape, columns))
    scales = np.empty((draws, *shape))
    for number in range(WARM_UP + draws):
        if len(hidden):
            middle = beta @ x[hidden].T
            low, high = (lower[hidden] - middle) / sigma, (upper[hidden] - middle) / sigma
            latent[..., hidden] = middle + sigma * _bounded(random, theta, low, high)
        away = latent - beta @ x.T
        loss = np.maximum(theta * away, (theta - 1) * away).sum(axis=-1, keepdims=True)
        sigma = (_RATE + loss) / random.gamma(_SHAPE + count, size=loss.shape)
        first = np.maximum(np.square(away), _NEAREST**2) / (wide * sigma)
        second = np.broadcast_to(2 / sigma + np.square(lean) / (wide * sigma), first.shape)
        v = 1 / np.maximum(random.wald(np.sqrt(second / first), second), _SMALLEST)
        precision = 1 / (wide * sigma * v)
        products = np.einsum("kcn,ni,nj->kcij", precision, x, x, optimize=True)
        products += np.eye(columns) / prior_scale**2
        root = np.linalg.cholesky(products)
        target = ((latent - lean * v) * precision) @ x
        half = np.linalg.solve(root, target[..., None])[..., 0] + random.normal(size=target.shape)
        beta = np.linalg.solve(np.swapaxes(root, -1, -2), half[..., None])[..., 0]
        if number >= WARM_UP:
            kept[number - WARM_UP], scales[number - WARM_UP] = beta, sigma[..., 0]
    return kept.transpose(2, 0, 1, 3), scales.transpose(2, 0, 1)


def _bounded(random: np.random.Generator, theta: Floats, low: Floats, high: Floats) -> Floats:
    """Return standard asymmetric Laplace numbers between bounds, by the distribution function.

    Bounds above zero are mirrored first: in the lower tail the function θ exp((1 − θ) z) keeps its digits.
    """
    flip = low > 0
    own = np.where(flip, 1 - theta, theta)
    low, high = np.where(flip, -high, low), np.where(flip, -low, high)
    at, top = _reached(low, own), _reached(high, own)
    share = np.clip(at + random.uniform(size=low.shape) * (top - at), 1e-300, 1 - 1e-16)
    below = share <= own
    found = np.where(below, np.log(share / own) / (1 - own), -np.log((1 - share) / (1 - own)) / own)
    found = np.clip(found, low, high)
    return np.where(flip, -found, found)


def _reached(z: Floats, theta: Floats) -> Floats:
    low = theta * np.exp((1 - theta) * np.minimum(z, 0.0))
    return np.where(z <= 0, low, 1 - (1 - theta) * np.exp(-theta * np.maximum(z, 0.0)))
