"""A warm start goes on from the fit before; the progress bar of a fit counts its epochs."""

import numpy as np
import pandas as pd
import pytest

from unmet import CensoredQuantileRegressor, TobitRegressor, fit_many, load, runs

SHORT = {"max_epochs": 30, "random_state": 0}


def fit(model, data):
    return model.fit(data.X, data.y, threshold=data.threshold)


@pytest.mark.parametrize(
    "settings", [{"head": "free"}, {}, {"network": "mlp", "hidden": (8,), "patience": 5}], ids=str
)
def test_a_second_fit_goes_on_where_the_first_ended(capped, settings):
    model = fit(CensoredQuantileRegressor(warm_start=True, **SHORT, **settings), capped)
    cold = fit(CensoredQuantileRegressor(**SHORT, **settings), capped)
    assert model.predict_quantiles(capped.X).tobytes() == cold.predict_quantiles(capped.X).tobytes()
    first = model.history_["loss"]
    fit(model, capped)
    # At the neutral start the first loss is that of the marginal quantiles.
    assert model.history_["loss"][0] == pytest.approx(first[-1], abs=0.2 * float(first[0] - first[-1]))
    again = fit(CensoredQuantileRegressor(**SHORT, **settings), capped)
    assert again.history_["loss"][0] == first[0]


def test_weights_mean_the_same_on_other_rows(capped, make):
    """With a learning rate of nearly zero a second fit, to rows of other units, changes nothing."""
    model = fit(CensoredQuantileRegressor(**SHORT), capped)
    expected = model.predict_quantiles(capped.X)
    model.set_params(warm_start=True, learning_rate=1e-12)
    other = make(seed=1)
    fit(model, other._replace(X=3 * other.X + 5, y=10 * other.y, threshold=10 * other.threshold))
    assert model.predict_quantiles(capped.X) == pytest.approx(expected, abs=1e-5)


def test_a_loaded_model_goes_on(capped, tmp_path):
    model = fit(TobitRegressor(warm_start=True, **SHORT), capped)
    model.save(tmp_path / "model")
    loaded = load(tmp_path / "model")
    assert fit(loaded, capped).coef_.tobytes() == fit(model, capped).coef_.tobytes()


def test_what_cannot_go_on_is_refused(capped):
    model = fit(CensoredQuantileRegressor(warm_start=True, **SHORT), capped)
    with pytest.raises(ValueError, match="X has 3 columns and had 2: set warm_start=False"):
        model.fit(np.column_stack([capped.X, capped.y]), capped.y, threshold=capped.threshold)
    with pytest.raises(ValueError, match="side of the censoring is 'left'"):
        model.set_params(side="left").fit(capped.X, capped.y, censored=capped.censored)
    with pytest.raises(ValueError, match="quantiles, or the number of networks"):
        fit(model.set_params(side="right", quantiles=(0.33,)), capped)
    with pytest.raises(ValueError, match="the network or its head differs"):
        fit(model.set_params(quantiles=(0.05, 0.5, 0.95), network="mlp", hidden=(8,)), capped)
    with pytest.raises(ValueError, match="warm_start must be True or False"):
        fit(model.set_params(warm_start="yes"), capped)
    with pytest.raises(ValueError, match="afresh"):
        fit_many(CensoredQuantileRegressor(warm_start=True), [])


@pytest.mark.parametrize("patience", [None, 3])
def test_the_bar_of_a_fit_counts_epochs(capped, monkeypatch, patience):
    bars = []

    def shown(total, label, unit, shown=None):
        bars.append(runs.Progress(total, label, unit, False))
        return bars[-1]

    monkeypatch.setattr(runs, "progress", shown)
    told = []
    monkeypatch.setattr(runs.Progress, "advance", lambda bar, number=1: told.append(number))
    model = CensoredQuantileRegressor(head="free", n_restarts=2, max_epochs=300, patience=patience)
    fit(model, capped)
    (bar,) = bars
    assert (bar.total, bar._unit) == (600, "epochs")
    assert sum(told) == 600
    assert len([number for number in told if number]) > 2


def test_columns_in_another_order_are_refused(capped):
    frame = pd.DataFrame({"a": capped.X[:, 0], "b": 5000 + 100 * capped.X[:, 0] ** 2})
    model = CensoredQuantileRegressor(warm_start=True, **SHORT)
    model.fit(frame, capped.y, threshold=capped.threshold)
    expected = model.predict(frame)
    with pytest.raises(ValueError, match="the columns of X are b, a and were a, b: set warm_start=False"):
        model.fit(frame[["b", "a"]], capped.y, threshold=capped.threshold)
    assert model.predict(frame).tobytes() == expected.tobytes()
    model.fit(frame, capped.y, threshold=capped.threshold)
