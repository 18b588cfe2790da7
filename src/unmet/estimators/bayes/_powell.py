"""Powell's loss as a log-density, sampled by BlackJAX: all chains of a level side by side."""

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unmet.estimators.bayes._rows import Working
from unmet.losses import doubly_censored_tilted_loss
from unmet.runs import naming_extras, refuse_fork
from unmet.training import padded_columns, padded_rows

Floats = NDArray[np.float64]

# Steps of one call of the program: warm-up and draws are several calls, so that one program serves all.
STEPS = 250
_DOUBLINGS = 6
_ACCEPTED = 0.8


def powell_scales(rows: Working, levels: Floats, found: Floats) -> Floats:
    """Return σ for each level: the mean loss of the rows whose quantile lies inside its limits."""
    fitted = found @ rows.columns.T
    loss = doubly_censored_tilted_loss(rows.y, fitted, levels[:, None], rows.floor, rows.cap)
    inside = rows.weights * ((fitted < rows.cap) & (fitted > rows.floor))
    # Never zero: a perfect fit would make the density a spike.
    return np.maximum((loss * inside).sum(axis=1) / np.maximum(inside.sum(axis=1), 1.0), 1e-4)


def sample_powell(
    rows: Working,
    levels: Floats,
    start: Floats,
    scales: Floats,
    *,
    prior_scale: float,
    chains: int,
    draws: int,
    seed: int,
) -> Floats:
    """Return draws (chains, draws, K, r) from exp(−Σ w ρ_θ(y − min(cap, max(floor, x'β)))/σ) × N(0, s²).

    The sampler is NUTS. It works in coordinates whitened at first by an estimate of the curvature at
    `start`, then by the covariance of the first steps.

    References
    ----------
    Hoffman & Gelman (2014), The No-U-Turn sampler, J. Mach. Learn. Res. 15.
    """
    refuse_fork()
    import jax

    count, columns = rows.columns.shape
    wide, tall = padded_columns(columns), padded_rows(count)
    data = {
        "x": np.zeros((tall, wide), np.float32),
        "y": np.zeros(tall, np.float32),
        "floor": np.full(tall, -np.inf, np.float32),
        "cap": np.full(tall, np.inf, np.float32),
        "weight": np.zeros(tall, np.float32),
    }
    data["x"][:count, :columns] = rows.columns
    data["y"][:count], data["floor"][:count], data["cap"][:count] = rows.y, rows.floor, rows.cap
    data["weight"][:count] = rows.weights
    middle = np.zeros((len(levels), wide), np.float32)
    middle[:, :columns] = start
    asked = levels.astype(np.float32), scales.astype(np.float32)
    run = _program(len(levels), chains)

    def call(number: int, adapt: bool, spread: Any, position: Any, tuned: Any) -> tuple[Any, Any]:
        keys = jax.random.split(jax.random.fold_in(jax.random.key(seed), number), (len(levels), chains))
        prior = np.float32(prior_scale)
        return run(keys, position, tuned, np.bool_(adapt), *asked, middle, spread, prior, data)

    spread = _whiten(_first_covariance(rows, levels, start, scales), wide)
    first = np.random.default_rng(seed).normal(size=(len(levels), chains, wide)).astype(np.float32)
    _, found = call(0, True, spread, first, None)
    drawn = _coordinates(found, middle, spread)[:, :, STEPS // 2 :, :columns]
    pooled = drawn.reshape(len(levels), -1, columns)
    spread = _whiten(np.array([np.cov(part.T).reshape(columns, columns) for part in pooled]), wide)
    first = np.random.default_rng([seed, 1]).normal(size=first.shape).astype(np.float32)
    tuned, found = call(1, True, spread, first, None)
    kept = []
    for number in range(-(-draws // STEPS)):
        tuned, found = call(2 + number, False, spread, found[:, :, -1], tuned)
        kept.append(_coordinates(found, middle, spread)[..., :columns])
    every = np.concatenate(kept, axis=2)[:, :, :draws]
    return np.moveaxis(every, 0, 2)


def _coordinates(found: Any, middle: Any, spread: Any) -> Floats:
    """Return coefficients (K, chains, steps, r) from whitened positions."""
    moved = np.einsum("kij,kcsj->kcsi", spread.astype(np.float64), np.asarray(found, np.float64))
    return middle[:, None, None].astype(np.float64) + moved


def _first_covariance(rows: Working, levels: Floats, start: Floats, scales: Floats) -> Floats:
    """Return σ (Σ w f̂ x x')⁻¹: f̂ counts rows near their quantile, in a window wide enough to hold some."""
    fitted = start @ rows.columns.T
    inside = (fitted < rows.cap) & (fitted > rows.floor)
    width = 3 * scales[:, None] * len(rows.y) ** -0.2 + 1e-3
    near = rows.weights * inside * (np.abs(rows.y - fitted) < width) / (2 * width)
    curvature = np.einsum("kn,ni,nj->kij", near, rows.columns, rows.columns)
    floor = 0.01 * rows.weights.sum() / np.maximum(scales, 1e-3)
    curvature += floor[:, None, None] * np.eye(rows.columns.shape[1])
    return np.linalg.inv(curvature) * scales[:, None, None]


def _whiten(covariance: Floats, wide: int) -> NDArray[np.float32]:
    """Return L with L L' = covariance, padded by ones on the diagonal."""
    columns = covariance.shape[1]
    tiny = 1e-10 * np.trace(covariance, axis1=1, axis2=2)[:, None, None] + 1e-20
    found = np.tile(np.eye(wide, dtype=np.float32), (len(covariance), 1, 1))
    found[:, :columns, :columns] = np.linalg.cholesky(covariance + tiny * np.eye(columns))
    return found


@cache
def _program(levels: int, chains: int) -> Any:
    """Return the compiled sampler: STEPS steps of every chain, whose step size adapts if asked to."""
    import jax
    import jax.numpy as jnp

    with naming_extras():
        import blackjax
        from blackjax.adaptation.step_size import dual_averaging_adaptation

    kernel = blackjax.nuts.build_kernel()
    begin, update, _ = dual_averaging_adaptation(_ACCEPTED)

    def losses(beta: Any, theta: Any, data: Any) -> Any:
        return doubly_censored_tilted_loss(data["y"], data["x"] @ beta, theta, data["floor"], data["cap"])

    def density(z, at, theta, scale, middle, spread, prior, data):  # type: ignore[no-untyped-def]
        beta = middle + spread @ z
        loss = losses(beta, theta, data)
        # The difference from the middle, row by row, loses no digits of a large sum.
        used = jnp.any(data["x"] != 0, axis=0)
        padding = jnp.sum(jnp.where(used, 0.0, jnp.square(z)))
        own = jnp.sum(jnp.where(used, jnp.square(beta / prior), 0.0))
        return -(data["weight"] @ (loss - at)) / scale - 0.5 * (own + padding)

    def chain(keys, z, tuned, adapt, theta, scale, middle, spread, prior, data):  # type: ignore[no-untyped-def]
        at = losses(middle, theta, data)

        def target(z: Any) -> Any:
            return density(z, at, theta, scale, middle, spread, prior, data)

        mass = jnp.ones_like(z)

        def step(carry: Any, key: Any) -> Any:
            state, tuned = carry
            size = jnp.exp(jnp.where(adapt, tuned.log_step_size, tuned.log_step_size_avg))
            state, info = kernel(key, state, target, size, mass, _DOUBLINGS)
            moved = update(tuned, info.acceptance_rate)
            tuned = jax.tree.map(lambda new, old: jnp.where(adapt, new, old), moved, tuned)
            return (state, tuned), state.position

        state = blackjax.nuts.init(z, target)
        (_, tuned), found = jax.lax.scan(step, (state, tuned), jax.random.split(keys, STEPS))
        return tuned, found

    def every(keys, z, tuned, adapt, thetas, scales, middles, spreads, prior, data):  # type: ignore[no-untyped-def]
        inner = jax.vmap(chain, (0, 0, 0, None, None, None, None, None, None, None))

        def level(own: Any) -> Any:
            keys, z, tuned, theta, scale, middle, spread = own
            return inner(keys, z, tuned, adapt, theta, scale, middle, spread, prior, data)

        # One level after the other: side by side, all would wait for the one with the longest paths.
        return jax.lax.map(level, (keys, z, tuned, thetas, scales, middles, spreads))

    compiled = jax.jit(every)

    def run(keys: Any, z: Any, tuned: Any, *rest: Any) -> Any:
        if tuned is None:
            tuned = jax.tree.map(
                lambda leaf: np.full((levels, chains), leaf, np.asarray(leaf).dtype), begin(0.5)
            )
        tuned, found = compiled(keys, z, tuned, *rest)
        return tuned, np.asarray(found)

    return run
