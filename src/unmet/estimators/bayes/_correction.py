"""The corrected covariance of a posterior whose likelihood is only a working one."""

import numpy as np
from numpy.typing import NDArray

from unmet.estimators.bayes._laplace import between, slope_beyond
from unmet.estimators.bayes._rows import Working

Floats = NDArray[np.float64]


def corrected_covariance(posterior: Floats, information: Floats) -> Floats:
    """Return Σ_adj = Σ_post V Σ_post, where V is the variance of the score of the working likelihood.

    For Powell's loss V = n θ(1 − θ)/σ² D̂₀, with D̂₀ the mean of x x' over rows whose fitted quantile lies
    inside its limits, and Σ_adj is that of Yang, Wang and He. The posterior's own covariance estimates the
    inverse of the curvature; it is the right one only if curvature and V agree.

    Parameters
    ----------
    posterior, information : arrays (K, r, r)

    References
    ----------
    Yang, Wang & He (2016), Posterior inference in Bayesian quantile regression with asymmetric Laplace
    likelihood, Int. Stat. Rev. 84.
    """
    return posterior @ information @ posterior


def powell_information(rows: Working, levels: Floats, scales: Floats, found: Floats) -> Floats:
    """Return θ(1 − θ)/σ² Σ w x x' over rows with floor < x'β < cap, shape (K, r, r)."""
    fitted = found @ rows.columns.T
    inside = rows.weights * ((fitted < rows.cap) & (fitted > rows.floor))
    products = np.einsum("kn,ni,nj->kij", inside, rows.columns, rows.columns)
    return products * (levels * (1 - levels) / np.square(scales))[:, None, None]


def augmented_information(rows: Working, levels: Floats, scales: Floats, found: Floats) -> Floats:
    """Return Σ w s s' with the scores s of the asymmetric Laplace likelihood at β, shape (K, r, r).

    An exact row has the score x (θ − 1{y < x'β})/σ, a row known to lie between two bounds that of the
    logarithm of F(upper) − F(lower).
    """
    fitted = found @ rows.columns.T
    theta, scale = levels[:, None], scales[:, None]
    exact = rows.lower == rows.upper
    above, below = np.isposinf(rows.upper), np.isneginf(rows.lower)
    closed = ~(exact | above | below)
    low, high = (rows.lower - fitted) / scale, (rows.upper - fitted) / scale
    score = np.where(exact, theta - (rows.y < fitted), 0.0)
    only = above & ~below
    score[:, only] = -slope_beyond(low[:, only], theta)
    only = below & ~above
    score[:, only] = slope_beyond(-high[:, only], 1 - theta)
    if closed.any():
        _, first, second = between(low[:, closed], high[:, closed], theta)
        score[:, closed] = -(first + second)
    return np.einsum("kn,ni,nj->kij", rows.weights * np.square(score / scale), rows.columns, rows.columns)
