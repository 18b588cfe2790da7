"""Have the chains met? Split R̂ and the effective number of draws."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def split_rhat(draws: Floats) -> Floats:
    """Return R̂ of draws (chains, draws, …): 1 if the halves of all chains agree.

    R̂² = ((m − 1)/m W + B/m) / W for half-chains of m draws, W the mean variance within them and B/m the
    variance of their means. A number that never moves has R̂ = 1.

    References
    ----------
    Gelman et al. (2013), Bayesian Data Analysis, Section 11.4.
    """
    half = draws.shape[1] // 2
    parts = np.concatenate([draws[:, :half], draws[:, half : 2 * half]])
    within = parts.var(axis=1, ddof=1).mean(axis=0)
    between = parts.mean(axis=1).var(axis=0, ddof=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        found = np.sqrt((half - 1) / half + between / within)
    return np.where(within > 0, found, np.where(between > 0, np.inf, 1.0))


def effective_draws(draws: Floats) -> Floats:
    """Return how many independent draws (chains, draws, …) are worth as much for their mean.

    m n / (1 + 2 Σ ρ̂_t) over m chains of n draws, summed while pairs of neighbouring autocorrelations are
    positive, and then made to fall (Geyer's initial monotone sequence).

    References
    ----------
    Geyer (1992), Practical Markov chain Monte Carlo, Stat. Sci. 7.
    """
    chains, count = draws.shape[:2]
    centred = draws - draws.mean(axis=1, keepdims=True)
    spectrum = np.fft.rfft(centred, n=2 * count, axis=1)
    products = np.fft.irfft(np.abs(spectrum) ** 2, axis=1)[:, :count].mean(axis=0) / count
    within = products[0] * count / (count - 1)
    means = draws.mean(axis=1)
    between = means.var(axis=0, ddof=1) if chains > 1 else np.zeros_like(within)
    total = products[0] + between
    still = total <= 0
    shares = 1 - (within - products) / np.where(still, 1.0, total)
    shares[0] = 1.0
    even = 2 * (count // 2)
    pairs = shares[0:even:2] + shares[1:even:2]
    pairs = np.minimum.accumulate(pairs, axis=0)
    positive = np.cumprod(pairs > 0, axis=0)
    longest = -1 + 2 * (pairs * positive).sum(axis=0)
    found = chains * count / np.maximum(longest, 1 / np.log10(chains * count))
    return np.where(still, float(chains * count), found)
