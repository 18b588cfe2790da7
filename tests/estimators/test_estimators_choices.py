"""Named choices: the types an editor reads are exactly what `fit` accepts."""

import subprocess
import sys
from types import UnionType
from typing import Literal, Union, get_args, get_origin, get_type_hints

import numpy as np
import pytest
from sklearn.base import clone

from unmet import CensoredQuantileRegressor, TobitRegressor
from unmet.estimators._choices import CensoringModel
from unmet.networks import ACTIVATIONS, Activation

X, Y = np.arange(20.0)[:, None], np.arange(20.0)

# What a choice needs beside it to be accepted.
NEEDS = {("activation", value): {"network": "mlp"} for value in get_args(Activation)}
NEEDS |= {("network", kind): {"sequence": (4, 1), "neighbours": (9, 1)} for kind in ("graph", "grid")}
NEEDS |= {("censoring", value): {"loss": "ipcw"} for value in get_args(CensoringModel)}


def literals(hint):
    """Values of all Literal types in a hint."""
    if get_origin(hint) is Literal:
        return set(get_args(hint))
    if get_origin(hint) in (Union, UnionType):
        return set().union(*map(literals, get_args(hint)))
    return set()


def choices(kind):
    hints = get_type_hints(kind.__init__)
    return {name: literals(hint) for name, hint in hints.items() if literals(hint)}


def test_every_text_parameter_names_its_values():
    assert set(choices(CensoredQuantileRegressor)) == {
        *("side", "network", "head", "activation", "loss", "learning_rate", "schedule", "batch_size"),
        *("initialiser", "censoring", "l2", "patience", "hidden"),
    }
    assert set(choices(TobitRegressor)) == {
        *("side", "scale", "shape", "network", "activation", "schedule", "batch_size", "initialiser"),
    }


@pytest.mark.parametrize("kind", [CensoredQuantileRegressor, TobitRegressor])
def test_fit_accepts_the_typed_values_and_no_others(kind):
    for name, values in choices(kind).items():
        for value in values:
            model = clone(kind(**{name: value}, **NEEDS.get((name, value), {})))
            model._settings()  # what `fit` checks first
        with pytest.raises(ValueError, match=f"{name} must be") as error:
            kind(**{name: "rigth"}).fit(X, Y)
        if name not in (
            "learning_rate",
            "batch_size",
            "l2",
            "patience",
            "hidden",
        ):  # numbers, or one word
            assert all(repr(value) in str(error.value) for value in values)


def test_activations_are_those_that_networks_have():
    assert set(get_args(Activation)) == set(ACTIVATIONS)


@pytest.mark.slow
def test_a_type_checker_catches_a_misspelt_choice(tmp_path):
    snippet = tmp_path / "snippet.py"
    snippet.write_text(
        "from unmet import CensoredQuantileRegressor, TobitRegressor\n"
        'CensoredQuantileRegressor(side="right", head="free", network="mlp", batch_size=None)\n'
        'TobitRegressor(scale=1.5, shape="sinh-arcsinh")\n'
        'CensoredQuantileRegressor(side="rigth")\n'
        'TobitRegressor(shape="norml")\n'
    )
    command = [sys.executable, "-m", "mypy", "--ignore-missing-imports", "--follow-imports=silent"]
    found = subprocess.run([*command, str(snippet)], capture_output=True, text=True, check=False).stdout
    lines = {int(line.split(":")[1]) for line in found.splitlines() if ": error:" in line}
    assert lines == {4, 5}, found
