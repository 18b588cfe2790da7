"""Saved estimators: opened late, the real thing once used, refused when they do not fit."""

import json
import pickle
import subprocess
import sys

import numpy as np
import pytest
from sklearn.base import clone

from unmet import CensoredQuantileRegressor, TobitRegressor, load
from unmet.networks import LocationScale


@pytest.fixture(scope="module")
def saved(capped, tmp_path_factory):
    path = tmp_path_factory.mktemp("models") / "model"
    model = CensoredQuantileRegressor(head="free", max_epochs=20, random_state=np.int64(0))
    model.fit(capped.X, capped.y, threshold=capped.threshold).save(path)
    return path, model


def test_loading_imports_neither_jax_nor_scikit_learn_until_the_model_is_used(saved):
    code = f"""
import sys
from unmet import load
model = load({str(saved[0])!r})
heavy = [name for name in ("jax", "equinox", "optax", "sklearn", "scipy") if name in sys.modules]
assert not heavy, heavy
assert model.predict([[0.5, 0.5]]).shape == (1,)
assert "jax" in sys.modules and "sklearn" in sys.modules
from unmet import CensoredQuantileRegressor, TobitRegressor
assert isinstance(model, CensoredQuantileRegressor)
assert not isinstance(model, TobitRegressor)
print("opened late")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout == "opened late\n", done.stderr


def test_a_loaded_model_is_the_real_thing(saved, capped):
    path, model = saved
    loaded = load(path)
    assert isinstance(loaded, CensoredQuantileRegressor)
    assert loaded.get_params() == model.get_params()
    assert np.array_equal(loaded.coef_, model.coef_)
    assert "predict_quantiles" in dir(loaded)
    assert type(clone(loaded)) is CensoredQuantileRegressor
    copy = pickle.loads(pickle.dumps(loaded))
    assert np.array_equal(copy.predict(capped.X), model.predict(capped.X))
    loaded.set_params(max_epochs=3).fit(capped.X, capped.latent)
    assert loaded.n_iter_ == 3
    loaded.progress = False
    assert loaded.get_params()["progress"] is False


def test_saving_a_loaded_model_gives_the_same_bytes(saved, tmp_path):
    path, _ = saved
    load(path).save(tmp_path / "again")
    first, second = (
        {p.name: p.read_bytes() for p in folder.iterdir()} for folder in (path, tmp_path / "again")
    )
    assert first == second


@pytest.mark.parametrize(
    "model",
    [
        CensoredQuantileRegressor(
            head=LocationScale(scale="linear", grid=(0.1, 0.3, 0.5, 0.9)), max_epochs=5
        ),
        CensoredQuantileRegressor(quantiles=np.array([0.2, 0.8]), head="free", max_epochs=5, hidden=[4]),
        CensoredQuantileRegressor(network="mlp", hidden=[4], max_epochs=5),
        TobitRegressor(scale=np.float64(2), max_epochs=5, random_state=np.random.RandomState(0)),
    ],
    ids=["settings-of-the-head", "arrays", "lists", "generator"],
)
def test_parameters_survive_saving(model, capped, tmp_path):
    model.fit(capped.X, capped.y).save(tmp_path / "model")
    loaded = load(tmp_path / "model")
    assert np.array_equal(loaded.predict_quantiles(capped.X), model.predict_quantiles(capped.X))
    for name, value in loaded.get_params().items():
        if name != "random_state":
            assert np.all(np.asarray(value, object) == np.asarray(getattr(model, name), object)), name


def test_column_names_survive_saving(capped, tmp_path):
    import pandas as pd

    frame = pd.DataFrame(capped.X, columns=["rain", "wind"])
    CensoredQuantileRegressor(head="free", max_epochs=5).fit(frame, capped.y).save(tmp_path / "model")
    loaded = load(tmp_path / "model")
    assert loaded.feature_names_in_.tolist() == ["rain", "wind"]
    with pytest.raises(ValueError, match="feature names"):
        loaded.predict(frame[["wind", "rain"]])


def test_only_a_fitted_model_can_be_saved(tmp_path):
    with pytest.raises(ValueError, match="not fitted"):
        CensoredQuantileRegressor().save(tmp_path / "model")
    assert not (tmp_path / "model").exists()


def test_files_that_fit_no_estimator_are_refused(capped, saved, tmp_path):
    from unmet.runs import load_model, save_model

    config, arrays = load_model(saved[0])

    def refused(match, config=config, arrays=arrays):
        save_model(tmp_path / "bad", config, arrays)
        with pytest.raises(ValueError, match=match):
            load(tmp_path / "bad").predict(capped.X)

    config = json.loads(json.dumps(config))
    refused("unknown estimator", {**config, "estimator": "os.system"})
    refused("hidden_size", {**config, "parameters": {**config["parameters"], "hidden_size": 3}})
    refused("head", {**config, "parameters": {**config["parameters"], "head": "none"}})
    refused("shapes|arrays", {**config, "columns": 9})
    refused("member0", arrays={name: array for name, array in arrays.items() if "bias" not in name})
    refused("arrays", arrays={**arrays, "extra": np.ones(2, np.float32)})
    del config["levels"]
    refused("levels", config)
