"""Networks as ONNX files: the format's reference evaluator gives the quantiles of `predict_quantiles`."""

import sys

import numpy as np
import pytest

from unmet import CensoredQuantileRegressor, TobitRegressor
from unmet.runs import MissingExtraError

SHORT = {"max_epochs": 20, "random_state": 0}
CASES = {
    "default": CensoredQuantileRegressor(**SHORT),
    "mirrored": CensoredQuantileRegressor(side="left", **SHORT),
    "positive": CensoredQuantileRegressor(positive=True, quantiles=(0.05,), **SHORT),
    "alone": CensoredQuantileRegressor(head="free", joint=False, **SHORT),
    "tobit": TobitRegressor(quantiles=(0.123, 0.6), **SHORT),
}


def evaluate(path, X):
    import onnx
    from onnx.reference import ReferenceEvaluator

    model = onnx.load(path)
    levels = [float(level) for level in model.metadata_props[0].value.split()]
    return ReferenceEvaluator(model).run(None, {"X": X})[0], levels


def check(model, X, path):
    model.to_onnx(path)
    new = np.concatenate([X, X[:5] * 3, [[1e300, -1e300]]])
    found, levels = evaluate(path, new)
    expected = model.predict_quantiles(new)
    assert levels == list(model.quantiles)
    assert found[:-1] == pytest.approx(expected[:-1], abs=1e-5)
    assert found[-1] == pytest.approx(expected[-1], rel=1e-4)


@pytest.mark.parametrize("name", CASES)
def test_the_file_predicts_the_same(capped, name, tmp_path):
    pytest.importorskip("onnx")
    X, y = 100 * capped.X + 1000, np.abs(capped.y)
    model = CASES[name].fit(X, y)
    check(model, X, tmp_path / "model.onnx")
    assert not model.positive or (model.predict_quantiles(X) == 0).any()


@pytest.mark.slow
def test_the_file_averages_networks(capped, tmp_path):
    pytest.importorskip("onnx")
    model = CensoredQuantileRegressor(network="mlp", hidden=(8,), random_state=0).fit(capped.X, capped.y)
    assert len(model.fitted_.members) == 5
    check(model, capped.X, tmp_path / "model.onnx")


def test_what_cannot_be_exported(capped, tmp_path, monkeypatch):
    import pandas as pd

    frame = pd.DataFrame({"x": capped.X[:, 0], "sign": np.where(capped.X[:, 1] > 0, "plus", "minus")})
    model = CensoredQuantileRegressor(head="free", max_epochs=5).fit(frame, capped.y)
    with pytest.raises(ValueError, match="columns x, sign = minus, sign = plus as numbers"):
        model.to_onnx(tmp_path / "model.onnx")
    model.fit(capped.X, capped.y)
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(MissingExtraError, match=r"unmet\[onnx\]"):
        model.to_onnx(tmp_path / "model.onnx")
    assert not (tmp_path / "model.onnx").exists()
