"""Asymmetric-Laplace log-likelihoods; their negatives are the tilted losses up to constants."""

import numpy as np

from unmet.censoring import Side
from unmet.losses._arrays import Array, check_shapes, levels_first, namespace
from unmet.losses._tilted import hold_at_cap, tilted_loss


def asymmetric_laplace_log_likelihood(
    y: Array, quantile: Array, theta: Array, cap: Array | None = None, side: Side = "right"
) -> Array:
    """Return the log-density log θ(1 − θ) − ρ_θ(y − q), one value per element.

    With a cap, q is first replaced by min(cap, q) for the right side and max(cap, q) for the left.

    References
    ----------
    Yu & Stander (2007), Bayesian analysis of a Tobit quantile regression model, J. Econometrics 137.

    Examples
    --------
    >>> round(float(asymmetric_laplace_log_likelihood(3.0, 1.0, 0.5)), 6)   # log 0.25 − 1
    -2.386294
    """
    check_shapes(y=y, quantile=quantile, theta=theta, cap=cap)
    xp = namespace(y, quantile, theta, cap)
    held = quantile if cap is None else hold_at_cap(quantile, cap, side)
    loss = tilted_loss(y, held, theta)
    # NumPy's log of a plain number is a float64 and would widen a float32 loss.
    return xp.asarray(xp.log(theta * (1 - theta)), dtype=loss.dtype) - loss


def multi_output_log_likelihood(
    y: Array, quantiles: Array, thetas: Array, cap: Array | None = None, side: Side = "right"
) -> Array:
    """Return the paper's printed multi-output log-likelihood, log Σ_k Π_i θ_k(1 − θ_k) exp(−ρ_θk(yᵢ − qᵢₖ)).

    The result is one number for the whole sample: the sum over levels is outside the product over rows, so
    it does not split into elements. It uses log-sum-exp because the products underflow after a few hundred
    rows.

    Minimising the summed tilted losses does *not* maximise this, because −log Σ_k is not Σ_k −log. The
    likelihood that matches the loss is the product over k; its log is `asymmetric_laplace_log_likelihood`
    summed over k and i.

    Parameters
    ----------
    y, cap
        Shape (N,); cap may be None.
    quantiles
        Shape (K, N), level axis first.
    thetas
        Shape (K,).
    """
    if np.ndim(quantiles) != 2:
        raise ValueError(f"quantiles must have shape (K, N), got {np.shape(quantiles)}")
    levels = levels_first(thetas, quantiles)
    xp = namespace(y, quantiles, thetas, cap)
    per_level = xp.sum(asymmetric_laplace_log_likelihood(y, quantiles, levels, cap, side), axis=1)
    if xp is np:
        from scipy.special import logsumexp
    else:
        from jax.scipy.special import logsumexp
    return logsumexp(per_level)
