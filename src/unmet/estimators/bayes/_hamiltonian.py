"""Hamiltonian Monte Carlo for many smooth log-densities side by side, in NumPy."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# Steps of each round of warm-up; each begins with the covariance of the second half of the one before.
WARM_UP = (150, 150, 200)
# Paths are up to half a turn long in whitened coordinates, of random length so that they never resonate, and
# of so many steps at most.
_HALF_TURN, _MOST_STEPS = 3.0, 30
_ACCEPTED = 0.8
_FIRST_STEP = 0.3


def sample(
    density: Callable[[Floats], Floats],
    gradient: Callable[[Floats], Floats],
    middle: Floats,
    covariance: Floats,
    *,
    chains: int,
    draws: int,
    seed: int,
) -> Floats:
    """Return draws (chains, draws, K, r) from K log-densities, all chains in step.

    Positions are whitened by a covariance that is learnt in warm-up; so is each chain's size of steps, by
    dual averaging.

    Parameters
    ----------
    density, gradient : positions (K, chains, r) to values (K, chains) and to gradients (K, chains, r)
    middle, covariance : arrays (K, r) and (K, r, r)
        A guess where the mass lies, to start from.

    References
    ----------
    Neal (2011), MCMC using Hamiltonian dynamics, Handbook of Markov Chain Monte Carlo. Hoffman & Gelman
    (2014), The No-U-Turn sampler, J. Mach. Learn. Res. 15, for the size of steps.
    """
    random = np.random.default_rng(seed)
    count, size = middle.shape
    root = _root(covariance)
    at = middle[:, None] + _turn(root, random.normal(size=(count, chains, size)))
    steps = np.full((count, chains), _FIRST_STEP)
    for number, length in enumerate(WARM_UP):
        found, steps = _run(density, gradient, random, at, root, steps, length, adapt=True)
        at = found[-1]
        if number + 1 < len(WARM_UP):
            late = np.moveaxis(found[length // 2 :], 0, 1).reshape(count, -1, size)
            root = _root(_mixed(late, root))
    found, _ = _run(density, gradient, random, at, root, steps, draws, adapt=False)
    return found.transpose(2, 0, 1, 3)


def _run(
    density: Callable[[Floats], Floats],
    gradient: Callable[[Floats], Floats],
    random: np.random.Generator,
    at: Floats,
    root: Floats,
    steps: Floats,
    length: int,
    *,
    adapt: bool,
) -> tuple[Floats, Floats]:
    """Return positions (length, K, chains, r), and the sizes of steps (K, chains) after adapting them."""
    back = np.swapaxes(root, -1, -2)
    found = np.empty((length, *at.shape))
    height, slope = density(at), _turn(back, gradient(at))
    height = np.where(np.isnan(height), -np.inf, height)  # a start without a density is left, not kept
    tuned = _DualAverage(steps)
    for number in range(length):
        size = tuned.size if adapt else steps
        longest = np.clip(np.ceil(_HALF_TURN / size), 1, _MOST_STEPS)
        own = np.ceil(longest * (1 - random.uniform()))
        momentum = random.normal(size=at.shape)
        before = height - 0.5 * np.square(momentum).sum(axis=-1)
        new, climb = at, slope
        for step in range(int(own.max())):
            going = np.where(step < own, size, 0.0)[..., None]  # a chain whose path is shorter waits
            momentum = momentum + 0.5 * going * climb
            new = new + _turn(root, going * momentum)
            climb = _turn(back, gradient(new))
            momentum += 0.5 * going * climb
        reached = density(new)
        gain = reached - 0.5 * np.square(momentum).sum(axis=-1) - before
        chance = np.exp(np.minimum(np.where(np.isnan(gain), -np.inf, gain), 0.0))
        taken = random.uniform(size=chance.shape) < chance
        at, slope = np.where(taken[..., None], new, at), np.where(taken[..., None], climb, slope)
        height = np.where(taken, reached, height)
        tuned.update(chance)
        found[number] = at
    return found, tuned.average


class _DualAverage:
    """The size of steps that is accepted as often as wanted, for each chain; its constants are Stan's."""

    def __init__(self, steps: Floats) -> None:
        self.size, self.average = steps, steps
        self.goal = np.log(10 * steps)
        self.lack, self.log_average, self.count = np.zeros_like(steps), np.zeros_like(steps), 0

    def update(self, chance: Floats) -> None:
        self.count += 1
        share = 1 / (self.count + 10)
        self.lack = (1 - share) * self.lack + share * (_ACCEPTED - chance)
        now = self.goal - np.sqrt(self.count) / 0.05 * self.lack
        weight = self.count**-0.75
        self.log_average = weight * now + (1 - weight) * self.log_average
        self.size, self.average = np.exp(now), np.exp(self.log_average)


def _turn(matrix: Floats, vectors: Floats) -> Floats:
    """Multiply vectors (K, chains, r) by matrices (K, r, r)."""
    return vectors @ np.swapaxes(matrix, -1, -2)


def _mixed(draws: Floats, root: Floats) -> Floats:
    """Return the covariance of draws (K, m, r), and a little of the one before, which has full rank."""
    away = draws - draws.mean(axis=1, keepdims=True)
    old = 10.0 * draws.shape[2]
    sums = np.swapaxes(away, 1, 2) @ away
    return (sums + old * (root @ np.swapaxes(root, 1, 2))) / (draws.shape[1] + old)


def _root(covariance: Floats) -> Floats:
    return np.linalg.cholesky(covariance).astype(np.float64, copy=False)
