"""Graph and grid networks in the estimators: what they learn, files, settings that do not fit."""

import numpy as np
import pytest

from unmet.estimators import CensoredQuantileRegressor, load

STEPS, FEATURES = 2, 1


def rows(count, attributes, n=1200):
    """Rows whose value is the newest value of the neighbour (or cell) with the highest first attribute."""
    rng = np.random.default_rng(0)
    own, static = rng.normal(size=(n, STEPS * FEATURES)), rng.normal(size=(n, 2))
    series, edges = rng.normal(size=(n, count, STEPS)), rng.uniform(size=(n, count, attributes))
    y = (edges[:, :, 0] * series[:, :, -1]).sum(axis=1) + 0.2 * rng.normal(size=n)
    return np.hstack([own, series.reshape(n, -1), edges.reshape(n, -1), static]), y


def test_a_graph_network_learns_how_much_a_neighbour_matters_and_saves_it(tmp_path):
    X, y = rows(4, 2)
    settings = {"sequence": (STEPS, FEATURES), "neighbours": (4, 2), "units": 6, "hidden": (8,)}
    model = CensoredQuantileRegressor(
        network="graph", max_epochs=80, batch_size=256, learning_rate=0.02, random_state=0, **settings
    )
    threshold = np.full(900, np.quantile(y, 0.8))
    seen = np.minimum(y[:900], threshold)
    found = model.fit(X[:900], seen, threshold=threshold).predict_quantiles(X[900:])
    low = y[900:] < threshold[0]
    error = np.mean((y[900:] - found[:, 1])[low] ** 2)
    assert error < 0.35 * y.var()
    model.save(tmp_path / "graph")
    np.testing.assert_array_equal(load(tmp_path / "graph").predict_quantiles(X[900:]), found)
    again = CensoredQuantileRegressor(**model.get_params()).fit(X[:900], seen, threshold=threshold)
    np.testing.assert_array_equal(again.predict_quantiles(X[900:]), found)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"network": "graph", "sequence": (2, 1)}, "neighbours"),
        ({"network": "graph", "neighbours": (4, 2)}, "sequence"),
        ({"network": "mlp", "neighbours": (4, 2)}, "neighbours"),
        ({"network": "graph", "sequence": (2, 1), "neighbours": (4,)}, "pair"),
        ({"network": "graph", "sequence": (2, 1), "neighbours": (40, 2)}, "need 162 columns"),
        ({"network": "grid", "sequence": (2, 1), "neighbours": (4, 1)}, "odd side"),
        ({"network": "grid", "sequence": (2, 1), "neighbours": (10, 1)}, "odd side"),
    ],
)
def test_shapes_that_do_not_fit_are_refused(settings, words):
    X, y = rows(4, 2, 60)
    with pytest.raises(ValueError, match=words):
        CensoredQuantileRegressor(max_epochs=2, **settings).fit(X, y)
