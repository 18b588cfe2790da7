"""Over-dispersed demand as a mixture of Poisson processes: a few weighted rates replace a gamma."""

import numpy as np

from unmet.planning._arrays import Floats


def gamma_nodes(shape: Floats, count: int) -> tuple[Floats, Floats]:
    """Return nodes and weights that replace an average over G ~ Gamma(r, scale 1/r): E G = 1, Var G = 1/r.

    E f(G) ≈ Σₖ wₖ f(gₖ), exact for polynomials up to degree 2·count − 1. This is Gauss–Laguerre of order
    r − 1, from the eigenvalues of the Jacobi matrix with diagonal 1 + 2k/r and off-diagonal
    √(k (k − 1 + r)) / r. An infinite shape is plain Poisson: every node is 1.

    Parameters
    ----------
    shape : array (…)
        r > 0 of the negative binomial, Var = λ + λ²/r.

    Returns
    -------
    nodes, weights : arrays (…, count)
    """
    distinct, where = np.unique(shape, return_inverse=True)
    k = np.arange(count)
    inverse = 1.0 / distinct[:, None]  # 0 where infinite
    beside = np.sqrt(k[1:] * ((k[1:] - 1) * inverse + 1.0) * inverse)
    matrix = np.zeros((len(distinct), count, count))
    matrix[:, k, k] = 1.0 + 2.0 * k * inverse
    matrix[:, k[1:], k[:-1]] = beside
    matrix[:, k[:-1], k[1:]] = beside
    nodes, vectors = np.linalg.eigh(matrix)
    weights = vectors[:, 0, :] ** 2
    where = where.reshape(shape.shape)
    return np.maximum(nodes, 0.0)[where], (weights / weights.sum(axis=1, keepdims=True))[where]
