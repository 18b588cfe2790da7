"""Networks that look around: shapes, order of neighbours, equality with sums and convolutions by hand."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from unmet.networks import ModelSpec, NetworkSpec, Noise, Start, build, flatten, layout, unflatten

STEPS, FEATURES, STATIC, ROWS = 3, 2, 4, 6


def make(kind, count, attributes, units=3, hidden=(5,)):
    columns = STEPS * FEATURES + count * (STEPS + attributes) + STATIC
    network = NetworkSpec(
        kind,
        hidden=hidden,
        units=units,
        activation="tanh",
        sequence=(STEPS, FEATURES),
        neighbours=(count, attributes),
    )
    spec = ModelSpec(network, "free", columns, 2, "glorot")
    noise = Noise(jnp.asarray(np.random.default_rng(0).normal(size=layout(spec).noise), jnp.float32))
    levels = jnp.array([0.25, 0.75])
    model = build(spec, noise, jnp.zeros(2, jnp.uint32), levels, Start(0.0, 1.0), jnp.ones(columns))
    x = np.random.default_rng(1).normal(size=(columns, ROWS)).astype(np.float32)
    return spec, model, x


def parts(x, count, attributes):
    ends = np.cumsum([STEPS * FEATURES, count * STEPS, count * attributes])
    own, series, edges, static = np.split(x, ends)
    shapes = (STEPS, FEATURES), (count, STEPS), (count, attributes)
    return [part.reshape(*shape, ROWS) for part, shape in zip((own, series, edges), shapes)] + [static]


def test_the_order_of_neighbours_does_not_matter_to_a_graph():
    _, model, x = make("graph", 4, 3)
    own, series, edges, static = parts(x, 4, 3)
    turned = [2, 0, 3, 1]
    other = np.concatenate(
        [part.reshape(-1, ROWS) for part in (own, series[turned], edges[turned])] + [static]
    )
    assert not np.array_equal(x, other)
    np.testing.assert_allclose(model.body(x), model.body(other), rtol=2e-5, atol=1e-6)
    mixed = np.concatenate([part.reshape(-1, ROWS) for part in (own, series[turned], edges)] + [static])
    assert np.abs(model.body(x) - model.body(mixed)).max() > 1e-3  # a series belongs to its edge


def test_a_graph_sums_neighbours_by_a_kernel_of_the_edge():
    _, model, x = make("graph", 4, 3, hidden=())
    body = model.body
    own, series, edges, static = parts(x.astype(np.float64), 4, 3)
    hidden = np.zeros((3, ROWS))
    cell = np.zeros((3, ROWS))
    squash = lambda v: 1 / (1 + np.exp(-v))  # noqa: E731
    for s in range(STEPS):
        around = np.zeros((3, ROWS))
        for j in range(4):
            inner = np.tanh(np.asarray(body.edge.weight) @ edges[j] + np.asarray(body.edge.bias)[:, None])
            kernel = np.asarray(body.kernel.weight) @ inner + np.asarray(body.kernel.bias)[:, None]
            around += kernel * series[j, s] / 4
        gates = np.asarray(body.inputs) @ np.concatenate([own[s], around]) + np.asarray(body.bias)[:, None]
        gates += np.asarray(body.recurrent) @ hidden
        enter, forget, leave, candidate = np.split(gates, 4)
        cell = squash(forget) * cell + squash(enter) * np.tanh(candidate)
        hidden = squash(leave) * np.tanh(cell)
    last = body.layers[-1]
    wanted = np.asarray(last.weight) @ np.concatenate([hidden, static]) + np.asarray(last.bias)[:, None]
    np.testing.assert_allclose(body(x), wanted, rtol=1e-4, atol=1e-5)


def test_a_square_of_cells_gives_what_the_same_convolutions_give_on_the_map():
    _, model, x = make("grid", 25, 1)
    body = model.body
    own, series, cells, static = parts(x, 25, 1)
    square = np.concatenate([series, cells], axis=1).reshape(5, 5, STEPS + 1, ROWS)
    image = jnp.moveaxis(jnp.asarray(square), (3, 2, 0, 1), (0, 1, 2, 3))
    for layer in body.filters:
        channels = layer.weight.shape[1] // 9
        filters = layer.weight.reshape(-1, 3, 3, channels).transpose(0, 3, 1, 2)
        image = jnp.tanh(jax.lax.conv(image, filters, (1, 1), "VALID") + layer.bias[None, :, None, None])
    middle = np.concatenate([np.asarray(image)[:, :, 0, 0].T, own.reshape(-1, ROWS), static])
    hidden = np.maximum(np.asarray(body.layers[0](middle)), 0)
    np.testing.assert_allclose(body(x), body.layers[1](hidden), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(("kind", "count", "attributes"), [("graph", 4, 3), ("grid", 9, 1)])
def test_every_weight_has_a_gradient(kind, count, attributes):
    spec, model, x = make(kind, count, attributes)
    weights = flatten(model)

    def loss(vector):
        return jnp.sum(jnp.square(unflatten(spec, vector).body(x) - 1.0))

    gradient = unflatten(spec, jax.grad(loss)(weights)).body
    names = jax.tree_util.tree_leaves_with_path(gradient)
    still = [jax.tree_util.keystr(path) for path, leaf in names if not np.any(np.abs(leaf) > 0)]
    assert still == []
    step = np.random.default_rng(2).normal(size=weights.shape).astype(np.float32)
    slope = float(jnp.vdot(jax.grad(loss)(weights), step))
    width = 1e-3
    finite = float(loss(weights + width * step) - loss(weights - width * step)) / (2 * width)
    assert finite == pytest.approx(slope, rel=0.02)
