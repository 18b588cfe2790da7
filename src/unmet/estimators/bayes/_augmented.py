"""The asymmetric Laplace likelihood of values that are seen, or known to lie between bounds, sampled."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unmet.estimators.bayes._correction import augmented_information
from unmet.estimators.bayes._hamiltonian import sample
from unmet.estimators.bayes._laplace import between, log_beyond, slope_beyond
from unmet.estimators.bayes._rows import Working

Floats = NDArray[np.float64]

# The inverse-gamma prior of the scale, nearly flat.
_SHAPE, _RATE = 0.01, 0.01
# Steps of the search for the mode, and how often a step that leads down is halved.
_SEARCH, _HALVINGS = 30, 6


def sample_augmented(
    rows: Working, levels: Floats, *, prior_scale: float, chains: int, draws: int, seed: int
) -> tuple[Floats, Floats]:
    """Return draws (chains, draws, K, r) of β and (chains, draws, K) of σ.

    y* has the asymmetric Laplace law with quantile x'β and scale σ. Drawing the unseen y* along with β and σ
    (Yu and Stander) or a mixture for each row (Kozumi and Kobayashi) gives the same posterior as summing over
    them, which is done here in closed form: an open row counts by the logarithm of the probability beyond its
    bounds. Chains then move in few dimensions and hardly remember where they were.

    References
    ----------
    Yu & Stander (2007), Bayesian analysis of a Tobit quantile regression model, J. Econometrics 137. Kozumi &
    Kobayashi (2011), Gibbs sampling methods for Bayesian quantile regression, J. Stat. Comput. Simul. 81.
    """
    posterior = Posterior.of(rows, levels, prior_scale)
    # Paths that lead far away overflow, and are refused.
    with np.errstate(all="ignore"):
        middle, covariance = _mode(posterior, rows, levels)
        found = sample(
            posterior.density, posterior.gradient, middle, covariance, chains=chains, draws=draws, seed=seed
        )
    return found[..., :-1], np.exp(found[..., -1])


@dataclass(frozen=True)
class Part:
    """Rows of one kind: `bounds` holds their values, their one bound, or both."""

    x: Floats  # (n, r)
    bounds: Floats  # (n,) or (2, n)
    weight: Floats  # (n,)

    @classmethod
    def of(cls, rows: Working, which: NDArray[np.bool_], bounds: Floats) -> "Part":
        return cls(rows.columns[which], bounds[..., which], rows.weights[which])

    def away(self, at: Floats) -> tuple[Floats, Floats]:
        """Return (bounds − x'β)/σ and σ for positions (K, chains, r + 1)."""
        scale = np.exp(at[..., -1:])
        bounds = self.bounds if self.bounds.ndim == 1 else self.bounds[:, None, None]
        return (bounds - at[..., :-1] @ self.x.T) / scale, scale


@dataclass(frozen=True)
class Posterior:
    """The log-posterior of (β, log σ) at K levels, up to a constant, and its gradient."""

    seen: Part
    above: Part  # known to lie above a bound
    below: Part
    between: Part
    theta: Floats  # (K, 1, 1)
    prior_scale: float

    @classmethod
    def of(cls, rows: Working, levels: Floats, prior_scale: float) -> "Posterior":
        seen = rows.lower == rows.upper
        above, below = np.isposinf(rows.upper), np.isneginf(rows.lower)
        return cls(
            Part.of(rows, seen, rows.y),
            Part.of(rows, above & ~below, rows.lower),
            Part.of(rows, below & ~above, rows.upper),
            Part.of(rows, ~(seen | above | below), np.stack([rows.lower, rows.upper])),
            levels[:, None, None],
            prior_scale,
        )

    def density(self, at: Floats) -> Floats:
        """Return values (K, chains) at positions (K, chains, r + 1)."""
        log_scale, theta = at[..., -1], self.theta
        total = -0.5 * np.square(at[..., :-1] / self.prior_scale).sum(axis=-1)
        total -= _SHAPE * log_scale + _RATE * np.exp(-log_scale)
        away, _ = self.seen.away(at)
        total -= np.maximum(theta * away, (theta - 1) * away) @ self.seen.weight
        total -= self.seen.weight.sum() * log_scale
        if len(self.above.weight):
            total += log_beyond(self.above.away(at)[0], theta) @ self.above.weight
        if len(self.below.weight):
            total += log_beyond(-self.below.away(at)[0], 1 - theta) @ self.below.weight
        if len(self.between.weight):
            low, high = self.between.away(at)[0]
            total += between(low, high, theta)[0] @ self.between.weight
        return total

    def gradient(self, at: Floats) -> Floats:
        """Return gradients (K, chains, r + 1) at such positions."""
        theta = self.theta
        found = np.empty_like(at)
        found[..., :-1] = -at[..., :-1] / self.prior_scale**2
        found[..., -1] = -_SHAPE + _RATE * np.exp(-at[..., -1]) - self.seen.weight.sum()
        away, scale = self.seen.away(at)
        self._add(found, self.seen, away, (away < 0) - theta, scale)
        if len(self.above.weight):
            away, scale = self.above.away(at)
            self._add(found, self.above, away, slope_beyond(away, theta), scale)
        if len(self.below.weight):
            away, scale = self.below.away(at)
            self._add(found, self.below, away, -slope_beyond(-away, 1 - theta), scale)
        if len(self.between.weight):
            (low, high), scale = self.between.away(at)
            _, first, second = between(low, high, theta)
            self._add(found, self.between, low, first, scale)
            self._add(found, self.between, high, second, scale)
        return found

    @staticmethod
    def _add(found: Floats, part: Part, away: Floats, slope: Floats, scale: Floats) -> None:
        """Add what rows contribute whose log-likelihood has this slope in z = (bound − x'β)/σ."""
        slope = slope * part.weight
        found[..., :-1] -= slope @ part.x / scale
        found[..., -1] -= np.einsum("kcn,kcn->kc", slope, away)


def _mode(posterior: Posterior, rows: Working, levels: Floats) -> tuple[Floats, Floats]:
    """Return positions (K, r + 1) near the mode, and the inverse information there, by steps of BHHH.

    References
    ----------
    Berndt, Hall, Hall & Hausman (1974), Estimation and inference in nonlinear structural models, Ann. Econ.
    Soc. Meas. 3.
    """
    count, size = len(levels), rows.columns.shape[1]
    at = np.zeros((count, 1, size + 1))
    at[..., :-1] = rows.weights * rows.y @ rows.columns / rows.weights.sum()
    at[..., -1] = np.log(0.3)
    height = posterior.density(at)
    for _ in range(_SEARCH):
        covariance = _inverse_information(posterior, rows, levels, at[:, 0])
        step = np.einsum("kij,kcj->kci", covariance, posterior.gradient(at))
        # A long way off the score tells the direction only.
        step /= np.maximum(1.0, np.abs(step).max(axis=-1, keepdims=True))
        open_ = np.ones(height.shape, bool)
        for halving in range(_HALVINGS):
            new = at + step * 0.5**halving
            reached = posterior.density(new)
            better = open_ & (reached > height)
            at, height = np.where(better[..., None], new, at), np.where(better, reached, height)
            open_ &= ~better
        if open_.all():
            break
    return at[:, 0], _inverse_information(posterior, rows, levels, at[:, 0])


def _inverse_information(posterior: Posterior, rows: Working, levels: Floats, at: Floats) -> Floats:
    size = rows.columns.shape[1]
    found = np.zeros((len(levels), size + 1, size + 1))
    found[:, :-1, :-1] = augmented_information(rows, levels, np.exp(at[:, -1]), at[:, :-1])
    found[:, :-1, :-1] += np.eye(size) / posterior.prior_scale**2
    found[:, -1, -1] = posterior.seen.weight.sum()
    return np.linalg.inv(found)
