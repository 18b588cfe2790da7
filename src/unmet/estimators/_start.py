"""Where training starts if some values are hidden: the normal law that fits what was seen of all."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
_STEPS, _HALVINGS = 50, 30
_ENOUGH = 1e-8  # gain of a step, in nats per row, after which nothing changes any more
_MOST = 50.0  # of the logarithm of a hazard, where rounding of far values would overflow
# Beyond these, in units of what was seen, rows say too little: training starts from what was seen.
_FARTHEST, _NARROWEST = 100.0, 0.01


def latent_start(y: Floats, hidden: NDArray[np.bool_], weight: Floats) -> tuple[float, float] | None:
    """Return mean and standard deviation of a normal law by censored maximum likelihood.

    A network that starts from what was seen has to climb first where most rows are hidden, and by then it has
    learned noise. Rows that are `hidden` are lower bounds. In a = μ/σ and t = 1/σ the likelihood is concave
    (Olsen 1978), so Newton's steps find its maximum. None if there is none worth starting from.
    """
    seen, share, rest = y[~hidden], weight[~hidden], weight[hidden]
    if not len(seen) or not len(rest):
        return None
    from scipy.special import log_ndtr

    def gain(a: float, t: float) -> float:
        exact = share * (np.log(t) - 0.5 * np.square(t * seen - a))
        return float(exact.sum() + (rest * log_ndtr(a - t * y[hidden])).sum())

    a, t = 0.0, 1.0
    now = gain(a, t)
    for _ in range(_STEPS):
        z, u = t * seen - a, t * y[hidden] - a
        hazard = np.exp(np.minimum(-0.5 * np.square(u) - log_ndtr(-u), _MOST)) / np.sqrt(2 * np.pi)
        bend = rest * hazard * (hazard - u)
        mixed = (share * seen).sum() + (bend * y[hidden]).sum()
        corner = (share * (np.square(seen) + t**-2)).sum() + (bend * np.square(y[hidden])).sum()
        curve = np.array([[share.sum() + bend.sum(), -mixed], [-mixed, corner]])
        slope = np.array(
            [
                (share * z).sum() + (rest * hazard).sum(),
                (share * (1 / t - z * seen)).sum() - (rest * hazard * y[hidden]).sum(),
            ]
        )
        try:
            step = np.linalg.solve(curve, slope)
        except np.linalg.LinAlgError:
            return None
        for _ in range(_HALVINGS):
            if t + step[1] > 0 and gain(a + step[0], t + step[1]) >= now:
                break
            step /= 2
        else:
            break
        a, t = a + step[0], t + step[1]
        before, now = now, gain(a, t)
        if now - before < _ENOUGH:
            break
    mean, deviation = a / t, 1 / t
    usable = abs(mean) < _FARTHEST and _NARROWEST < deviation < _FARTHEST
    return (mean, deviation) if usable else None
