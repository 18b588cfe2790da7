"""Heads and networks for any weights and any input: finite, in order, equal to formulas written by hand."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import ndtri

from unmet.networks import (
    LocationScale,
    ModelSpec,
    NetworkSpec,
    Noise,
    Start,
    TobitShape,
    build,
    flatten,
    layout,
    split,
    unflatten,
)
from unmet.networks._location_scale import LINKS

LEVELS = (0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95)
ROWS = 16
SPECS = {
    "monotone": ModelSpec(NetworkSpec("linear"), "monotone", 2, len(LEVELS)),
    "monotone-mlp": ModelSpec(NetworkSpec("mlp", hidden=(4,)), "monotone", 2, len(LEVELS)),
    "location-scale": ModelSpec(
        NetworkSpec("linear"), LocationScale(grid=LEVELS), 2, len(LEVELS), fixed_levels=LEVELS
    ),
    "location-scale-shared": ModelSpec(
        NetworkSpec("mlp", hidden=(4,)), LocationScale(grid=LEVELS), 2, len(LEVELS), fixed_levels=LEVELS
    ),
    "location-scale-softplus": ModelSpec(
        NetworkSpec("linear"),
        LocationScale(grid=LEVELS, link="softplus"),
        2,
        len(LEVELS),
        fixed_levels=LEVELS,
    ),
    "location-scale-constant": ModelSpec(
        NetworkSpec("linear"),
        LocationScale(scale="constant", grid=LEVELS),
        2,
        len(LEVELS),
        fixed_levels=LEVELS,
    ),
}
PROGRAMS = {
    name: jax.jit(lambda weights, x, spec=spec: unflatten(spec, weights)(x, jnp.asarray(LEVELS)).quantiles)
    for name, spec in SPECS.items()
}

anything = st.sampled_from([0.0, 1e-30, 1e-6, 0.5, 1.0, 30.0, 1e4, 1e9])
seeds = st.integers(0, 2**32 - 1)


@pytest.mark.parametrize("name", SPECS)
@settings(max_examples=60)
@given(seed=seeds, size=st.sampled_from([0.0, 0.1, 1.0, 10.0, 1e3]), spread=anything)
def test_quantiles_never_cross_and_stay_finite(name, seed, size, spread):
    random = np.random.default_rng(seed)
    weights = size * random.standard_normal(layout(SPECS[name]).size)
    x = spread * random.standard_normal((2, ROWS))
    x[:, 0] = 0.0
    x[1, 1:4] = spread  # a constant stretch
    quantiles = np.asarray(PROGRAMS[name](weights.astype(np.float32), x.astype(np.float32)))
    assert np.isfinite(quantiles).all()
    # Steps upwards may be swallowed by rounding, never reversed beyond it.
    slack = 4e-7 * np.abs(quantiles).max(axis=0) * len(LEVELS)
    assert (np.diff(quantiles, axis=0) >= -slack).all()


def test_the_monotone_head_is_the_first_output_plus_softplus_steps():
    spec = SPECS["monotone"]
    weights = np.random.default_rng(0).standard_normal(layout(spec).size).astype(np.float32)
    parts = split(spec, weights)
    x = np.random.default_rng(1).standard_normal((2, ROWS)).astype(np.float32)
    raw = parts["body.layers[0].weight"] @ x + parts["body.layers[0].bias"][:, None]
    by_hand = raw[0] + np.concatenate(
        [np.zeros((1, ROWS)), np.cumsum(np.log1p(np.exp(raw[1:].astype(float))), axis=0)]
    )
    assert np.allclose(PROGRAMS["monotone"](weights, x), by_hand, atol=1e-5)


def test_the_location_scale_head_has_the_median_as_location_and_a_fixed_unit():
    spec = SPECS["location-scale-constant"]
    weights = np.random.default_rng(0).standard_normal(layout(spec).size).astype(np.float32)
    parts = split(spec, weights)
    x = np.random.default_rng(1).standard_normal((2, ROWS)).astype(np.float32)
    quantiles = np.asarray(PROGRAMS["location-scale-constant"](weights, x))
    location = parts["body.layers[0].weight"] @ x + parts["body.layers[0].bias"][:, None]
    scale = np.hypot(parts["head.raw_scale"], 0.05) - 0.05
    low, middle, high = (quantiles[LEVELS.index(level)] for level in (0.1, 0.5, 0.9))
    assert np.allclose(middle, location[0], atol=1e-5)
    assert np.allclose((high - low) / scale, 2 * ndtri(0.9), atol=1e-3)


@pytest.mark.parametrize("name", ["free", *SPECS])
def test_a_neutral_start_predicts_normal_quantiles_of_the_observed_values(name):
    spec = SPECS.get(name, ModelSpec(NetworkSpec("linear"), "free", 2, len(LEVELS)))
    model = build(
        spec,
        Noise(jnp.ones(layout(spec).noise)),
        jnp.zeros(2, jnp.uint32),
        jnp.asarray(LEVELS),
        Start(3.0, 2.0, 0.0),
        jnp.ones(2),
    )
    quantiles = model(jnp.zeros((2, 3)), jnp.asarray(LEVELS)).quantiles
    assert np.allclose(quantiles, (3 + 2 * ndtri(LEVELS))[:, None], atol=1e-3)


def test_tobit_quantiles_are_those_of_its_distribution():
    spec = ModelSpec(NetworkSpec("linear"), TobitShape("constant"), 2, 3)
    weights = np.random.default_rng(0).standard_normal(layout(spec).size).astype(np.float32)
    parts = split(spec, weights)
    x = np.ones((2, 1), np.float32)
    asked = np.array([0.1, 0.5, 0.9])
    location = parts["body.layers[0].weight"].sum() + parts["body.layers[0].bias"][0]
    scale = np.log1p(np.exp(parts["head.raw_scale"][0]))
    found = unflatten(spec, weights)(x, jnp.asarray(asked)).quantiles[:, 0]
    assert np.allclose(found, location + scale * ndtri(asked), atol=1e-5)


@pytest.mark.parametrize("link", ["hyperbola", "softplus"])
def test_links_give_scales_and_their_inverse_gives_them_back(link):
    scale = jnp.asarray([1e-4, 0.01, 0.3, 1.0, 50.0])
    raw = LINKS[link].raw(scale)
    np.testing.assert_allclose(LINKS[link].scale(raw), scale, rtol=1e-4)
    slope = jax.vmap(jax.grad(LINKS[link].scale))(jnp.asarray([-1e30, -1.0, 0.0, 1.0, 1e30]))
    assert np.isfinite(slope).all()


def test_the_hyperbola_is_nearly_linear():
    raw = np.array([0.5, 1.0, 2.0])
    expected = np.sqrt(raw**2 + 0.05**2) - 0.05
    np.testing.assert_allclose(LINKS["hyperbola"].scale(jnp.asarray(raw, jnp.float32)), expected, rtol=1e-6)


@pytest.mark.parametrize("kind", ["linear", "mlp", "kernel", "lstm"])
def test_flattening_and_back_gives_the_same_model(kind):
    network = NetworkSpec(
        kind, hidden=(3,) if kind == "mlp" else (), units=2, sequence=(2, 1), activation="tanh"
    )
    spec = ModelSpec(network, "free", 3, 2)
    weights = np.arange(layout(spec).size, dtype=np.float32)
    assert np.array_equal(flatten(unflatten(spec, weights)), weights)
    assert sum(part.size for part in split(spec, weights).values()) == weights.size


@pytest.mark.parametrize("activation", ["tanh", "linear"])
def test_the_lstm_follows_its_equations(activation):
    """Two steps of two features and a static column, written out with loops in float64."""
    spec = ModelSpec(NetworkSpec("lstm", units=3, sequence=(2, 2), activation=activation), "free", 5, 2)
    weights = np.random.default_rng(0).standard_normal(layout(spec).size).astype(np.float32)
    parts = {name.split(".", 1)[1]: part.astype(float) for name, part in split(spec, weights).items()}
    x = np.random.default_rng(1).standard_normal((5, 4)).astype(np.float32)
    squash = np.tanh if activation == "tanh" else (lambda z: z)
    found = np.asarray(unflatten(spec, weights)(x, jnp.array([0.1, 0.9])).quantiles)
    for row in range(4):
        hidden, cell = np.zeros(3), np.zeros(3)
        for step in (x[0:2, row], x[2:4, row]):
            gates = parts["inputs"] @ step + parts["recurrent"] @ hidden + parts["bias"]
            enter, forget, leave = (1 / (1 + np.exp(-gates[3 * g : 3 * g + 3])) for g in range(3))
            cell = forget * cell + enter * squash(gates[9:])
            hidden = leave * squash(cell)
        by_hand = parts["readout.weight"] @ np.append(hidden, x[4, row]) + parts["readout.bias"]
        assert np.allclose(found[:, row], by_hand, atol=1e-4)


def test_padding_columns_start_at_zero_and_do_not_count_as_inputs():
    spec = ModelSpec(NetworkSpec("linear"), "free", 4, 2, initialiser="glorot")
    noise = Noise(jnp.ones(layout(spec).noise))
    real = jnp.array([1.0, 1.0, 0.0, 0.0])
    model = build(spec, noise, jnp.zeros(2, jnp.uint32), jnp.array([0.1, 0.9]), Start(0.0, 1.0), real)
    assert np.allclose(model.body.layers[0].weight, np.sqrt(2 / (2 + 2)) * np.array([[1, 1, 0, 0]] * 2))


@pytest.mark.parametrize("activation", ["tanh", "linear"])
@pytest.mark.parametrize("steps", [1, 3])
def test_the_written_gradient_of_the_lstm_is_its_derivative(activation, steps):
    from unmet.networks._lstm import last_state

    units, features, rows = 3, 2, 5
    random = np.random.default_rng(0)
    shapes = [(4 * units, features), (4 * units, units), (4 * units,), (steps, features, rows)]
    arguments = [random.standard_normal(shape).astype(np.float32) for shape in shapes]
    target = random.standard_normal((units, rows)).astype(np.float32)

    def plain(inputs, recurrent, bias, sequence):
        hidden = cell = jnp.zeros((units, rows))
        squash = jnp.tanh if activation == "tanh" else (lambda z: z)
        for x in sequence:
            gates = inputs @ x + recurrent @ hidden + bias[:, None]
            enter, forget, leave = jnp.split(jax.nn.sigmoid(gates[: 3 * units]), 3)
            cell = forget * cell + enter * squash(gates[3 * units :])
            hidden = leave * squash(cell)
        return jnp.sum(target * hidden)

    def ours(*arguments):
        return jnp.sum(target * last_state(activation, *arguments))

    assert np.allclose(ours(*arguments), plain(*arguments), atol=1e-5)
    expected = jax.grad(plain, argnums=(0, 1, 2, 3))(*arguments)
    for found, wanted in zip(jax.grad(ours, argnums=(0, 1, 2, 3))(*arguments), expected, strict=True):
        assert np.allclose(found, wanted, atol=1e-4)
