"""The names others rely on, pinned."""

import subprocess
import sys

import pytest

import unmet

PUBLIC = {
    "BayesianCensoredQuantiles",
    "CensoredGaussianProcess",
    "CensoredQuantileBooster",
    "CensoredQuantileForest",
    "CensoredQuantileRegressor",
    "Conformal",
    "LinearCensoredQuantiles",
    "LocalLinearCensoredQuantiles",
    "TobitRegressor",
    "censored_objective",
    "compare",
    "fit_many",
    "iter_fit_many",
    "load",
    "datasets",
    "metrics",
    "Run",
    "open_run",
    "run",
}


def test_public_names_are_exactly_these() -> None:
    assert set(unmet.__all__) == PUBLIC


@pytest.mark.parametrize("name", sorted(PUBLIC))
def test_every_public_name_loads(name: str) -> None:
    assert getattr(unmet, name) is not None


def test_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        unmet.nonsense


def test_import_is_light() -> None:
    heavy = ("jax", "sklearn", "scipy", "numpy", "duckdb")
    code = f"import sys, unmet; print([m for m in {heavy} if m in sys.modules])"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"
