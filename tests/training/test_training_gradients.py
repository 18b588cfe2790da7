"""Gradients of what is minimised: finite for any weights, also at the threshold, and right elsewhere."""

from functools import cache

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unmet.networks import LocationScale, ModelSpec, NetworkSpec, TobitShape, layout, unflatten
from unmet.training import Hyper, Problem, ProgramSpec, Rows
from unmet.training._objective import stopping_loss, training_loss

ROWS, COLUMNS = 16, 2
LEVELS = (0.1, 0.25, 0.5, 0.75, 0.9)
MODELS = {
    "free": ModelSpec(NetworkSpec("linear"), "free", COLUMNS, len(LEVELS)),
    "monotone": ModelSpec(NetworkSpec("linear"), "monotone", COLUMNS, len(LEVELS)),
    "location-scale": ModelSpec(
        NetworkSpec("linear"), LocationScale(grid=LEVELS), COLUMNS, len(LEVELS), fixed_levels=LEVELS
    ),
    "tobit": ModelSpec(NetworkSpec("linear"), TobitShape("network", True), COLUMNS, len(LEVELS)),
}
CASES = [
    ("free", "quantile", 0.0),
    ("free", "portnoy", 0.0),
    ("monotone", "quantile", 0.0),
    ("monotone", "portnoy", 0.0),
    ("location-scale", "quantile", 0.0),
    ("location-scale", "quantile", 0.1),
    ("location-scale", "portnoy", 0.0),
    ("tobit", "tobit", 0.0),
]


def make_spec(model, objective, smoothing):
    return ProgramSpec(
        model=MODELS[model],
        objective=objective,
        rows=ROWS,
        stop_rows=0,
        batches=1,
        segments=1,
        slots=1,
        smoothing=smoothing,
    )


def problem(x, y, cap, censored, far=50.0):
    rows = Rows(*(np.asarray(array, np.float32) for array in (x, y, cap, censored, np.full(ROWS, 1 / ROWS))))
    hyper = Hyper(0.01, 0.001, 1.0, far, 0.0, 1.0, 0.0, 0.01, 0.02)
    hyper = Hyper(*(np.float32(number) for number in hyper))
    key = np.zeros(2, np.uint32)
    every = np.ones(COLUMNS, np.float32)
    return Problem(rows, None, np.float32(LEVELS), every, every, hyper, None, key, 1, 1)


@cache
def gradient(model, objective, smoothing):
    spec = make_spec(model, objective, smoothing)

    def loss(weights, data):
        return training_loss(weights, data.train, data, spec, None)[0]

    return jax.jit(jax.value_and_grad(loss))


@cache
def predicted(model):
    spec = MODELS[model]
    return jax.jit(lambda weights, x: unflatten(spec, weights)(x, jnp.float32(LEVELS)).quantiles)


@pytest.mark.parametrize("case", CASES, ids=str)
@settings(max_examples=40)
@given(
    seed=st.integers(0, 2**32 - 1),
    size=st.sampled_from([0.0, 0.1, 1.0, 10.0, 300.0]),
    spread=st.sampled_from([0.0, 1e-20, 1.0, 1e3, 1e9]),
    level=st.integers(0, len(LEVELS) - 1),
)
def test_gradients_are_finite_also_exactly_at_the_threshold(case, seed, size, spread, level):
    model = case[0]
    random = np.random.default_rng(seed)
    weights = (size * random.standard_normal(layout(MODELS[model]).size)).astype(np.float32)
    x = (spread * random.standard_normal((COLUMNS, ROWS))).astype(np.float32)
    x[0, :4] = 0.0
    quantiles = np.asarray(predicted(model)(weights, x))
    y = random.standard_normal(ROWS).astype(np.float32)
    y[:8] = np.clip(quantiles[level, :8], -1e6, 1e6)  # the prediction is the observation
    cap = np.full(ROWS, np.inf, np.float32)
    cap[:4] = y[:4]  # … and the threshold
    cap[8:12] = y[8:12] + 1
    censored = np.zeros(ROWS, bool)
    censored[[0, 1, 4, 8]] = True
    loss, slope = gradient(*case)(weights, problem(x, y, cap, censored))
    assert np.isfinite(loss)
    assert np.isfinite(slope).all()


@pytest.mark.parametrize("case", [CASES[0], CASES[2], CASES[7]], ids=str)
def test_gradients_are_those_of_finite_differences(case):
    """Where no weights depend on the model (Portnoy's and 1/σ̂ do, and carry no gradient by design)."""
    model = case[0]
    random = np.random.default_rng(1)
    weights = (0.5 * random.standard_normal(layout(MODELS[model]).size)).astype(np.float32)
    x = random.standard_normal((COLUMNS, ROWS))
    y = 3 * random.standard_normal(ROWS)
    data = problem(x, y, y + 1, np.arange(ROWS) < 5)
    data = data._replace(
        train=data.train._replace(cap=np.where(np.arange(ROWS) < 5, data.train.y, y + 1).astype(np.float32))
    )
    run = gradient(*case)
    _, slope = run(weights, data)
    step = 1e-2
    for index in range(len(weights)):
        up, down = weights.copy(), weights.copy()
        up[index] += step
        down[index] -= step
        change = float(run(up, data)[0] - run(down, data)[0]) / (2 * step)
        assert change == pytest.approx(float(slope[index]), abs=0.03, rel=0.01)


def test_the_training_loss_by_hand():
    """Mean over levels of the weighted censored tilted loss, plus l2 times the squared weights."""
    spec = make_spec("free", "quantile", 0.0)
    random = np.random.default_rng(0)
    weights = random.standard_normal(layout(spec.model).size).astype(np.float32)
    x, y = random.standard_normal((COLUMNS, ROWS)), random.standard_normal(ROWS)
    cap = np.where(np.arange(ROWS) % 3 == 0, y, y + 0.5)
    data = problem(x, y, cap, np.arange(ROWS) % 3 == 0)
    quantiles = np.asarray(predicted("free")(weights, data.train.x), float)
    residual = y - np.minimum(cap, quantiles)
    thetas = np.array(LEVELS)[:, None]
    by_hand = np.maximum(thetas * residual, (thetas - 1) * residual).mean()
    total, part = training_loss(weights, data.train, data, spec, None)
    matrix = weights[: COLUMNS * len(LEVELS)]
    assert float(part) == pytest.approx(by_hand, rel=1e-5)
    assert float(total) == pytest.approx(by_hand + 0.001 * np.square(matrix).sum(), rel=1e-5)
    assert float(stopping_loss(weights, data.train, data, spec)) == pytest.approx(by_hand, rel=1e-5)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_rows_of_weight_zero_change_nothing(case):
    spec = make_spec(*case)
    random = np.random.default_rng(0)
    weights = random.standard_normal(layout(spec.model).size).astype(np.float32)
    data = problem(
        random.standard_normal((COLUMNS, ROWS)),
        random.standard_normal(ROWS),
        np.full(ROWS, np.inf),
        np.zeros(ROWS),
    )
    empty = data.train.weight * (np.arange(ROWS) < 10)
    train = data.train._replace(weight=empty / empty.sum())
    first = gradient(*case)(weights, data._replace(train=train))
    other = train._replace(y=np.where(empty > 0, train.y, 7).astype(np.float32))
    second = gradient(*case)(weights, data._replace(train=other))
    assert np.array_equal(first[0], second[0])
    assert np.array_equal(first[1], second[1])
