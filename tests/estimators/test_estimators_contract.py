"""One table that drives every network, head, loss, side and kind of censoring through the same contract."""

import pickle
from itertools import product

import numpy as np
import pytest
from sklearn.base import clone

import unmet
from unmet import CensoredQuantileRegressor, TobitRegressor, load
from unmet.estimators._files import _ESTIMATORS
from unmet.estimators._programs import program_spec

NETWORKS = {"linear": {}, "mlp": {"hidden": (8,)}, "lstm": {"units": 4}}
HEADS = ("free", "monotone", "location-scale")
KNOWN = ("none", "threshold", "flags", "both")


def table():
    """Every network × head, every head × kind of censoring × loss × side; Tobit beside them."""
    cases = []
    for network, head in product(NETWORKS, HEADS):
        cases.append(({"network": network, "head": head, **NETWORKS[network]}, "right", "threshold"))
    for head, known in product(HEADS, KNOWN):
        cases.append(({"head": head}, "left", known))
    for head, known, side in product(("free", "location-scale"), ("flags", "both"), ("left", "right")):
        cases.append(({"head": head, "loss": "published"}, side, known))
    cases += [({"head": "free", "joint": False}, side, "threshold") for side in ("left", "right")]
    cases += [
        ({"tobit": True, **settings}, side, known)
        for settings in ({}, {"scale": "network", "shape": "sinh-arcsinh"}, {"scale": 1.5})
        for side, known in (("right", "threshold"), ("left", "flags"))
    ]
    return cases


def build(settings, side):
    settings = dict(settings)
    kind = TobitRegressor if settings.pop("tobit", False) else CensoredQuantileRegressor
    return kind(side=side, max_epochs=15, random_state=0, **settings)


def name(case):
    return "-".join(map(str, [*case[0].values(), *case[1:]])) if isinstance(case, tuple) else str(case)


@pytest.mark.parametrize("case", table(), ids=name)
def test_contract(case, capped, tmp_path):
    settings, side, known = case
    sign = 1 if side == "right" else -1
    X, y = capped.X, sign * capped.y
    how = {}
    if known in ("threshold", "both"):
        how["threshold"] = sign * capped.threshold
    if known in ("flags", "both"):
        how["censored"] = capped.censored
    model = build(settings, side)
    before = model.get_params()
    assert model.fit(X, y, **how) is model
    assert model.get_params() == before

    quantiles = model.predict_quantiles(X)
    assert quantiles.shape == (60, 3)
    assert quantiles.dtype == np.float64
    assert np.isfinite(quantiles).all()
    assert np.ptp(quantiles[:, 1]) > 0  # it has looked at X
    assert np.array_equal(model.predict(X), quantiles[:, 1])
    assert np.array_equal(model.predict_interval(X, coverage=0.9), quantiles[:, [0, 2]])
    between = model.predict_quantiles(X, quantiles=(0.05, 0.3, 0.5, 0.7, 0.95))
    assert np.array_equal(between[:, [0, 2, 4]], quantiles)
    if settings.get("head") != "free":
        assert (np.diff(between, axis=1) >= 0).all()
        assert (quantiles[:, 0] < quantiles[:, 2]).all()
    assert np.isfinite(model.score(X, y, **how))

    histories = model.history_ if isinstance(model.history_, list) else [model.history_]
    assert len(histories) == (1 if settings.get("joint", True) else 3)
    for history in histories:
        assert set(history) == {"loss"}
        assert history["loss"].shape == (15,)
        assert np.isfinite(history["loss"]).all()
    assert model.n_iter_ == 15
    assert type(model).__name__ in repr(model)
    assert "random_state=0" in repr(model)

    again = clone(model)
    assert not hasattr(again, "fitted_")
    assert again.fit(X, y, **how).predict_quantiles(X).tobytes() == quantiles.tobytes()

    copy = pickle.loads(pickle.dumps(model))
    assert copy.predict_quantiles(X).tobytes() == quantiles.tobytes()

    model.save(tmp_path / "model")
    loaded = load(tmp_path / "model")
    assert isinstance(loaded, type(model))
    assert loaded.predict_quantiles(X).tobytes() == quantiles.tobytes()
    assert loaded.score(X, y, **how) == model.score(X, y, **how)
    assert repr(loaded) == repr(model)
    assert loaded.n_iter_ == 15
    assert clone(loaded).fit(X, y, **how).predict_quantiles(X).tobytes() == quantiles.tobytes()


@pytest.mark.parametrize("kind", _ESTIMATORS)
def test_every_estimator_says_what_it_assumes_and_costs(kind):
    text = getattr(unmet, kind).__doc__
    for part in ("independent", "Cost:", "References\n    ------"):
        assert part in text, part


@pytest.mark.parametrize(("rows", "passes"), [(16_384, 2000), (100_000, 41), (410_000, 10), (5_000_000, 10)])
def test_passes_of_tobit_are_those_of_its_docstring(rows, passes):
    spec, epochs = program_spec(TobitRegressor()._settings(), "tobit", False, 3, rows, 0, (0.5,), 1)
    assert epochs == passes
    assert spec.batches == 1 or passes == 10 or epochs * spec.batches == pytest.approx(2000, abs=spec.batches)
