"""TobitRegressor against R's survreg: coefficients, scale, standard errors, likelihood."""

import json
from pathlib import Path

import numpy as np
import pytest

from unmet import TobitRegressor

HERE = Path(__file__).parent


def told(part):
    """The rows of a part, as tobit.R makes them."""
    name = "right_flags.csv" if part == "right" else "synthetic_gaussian.csv"
    rows = np.genfromtxt(HERE / name, delimiter=",", names=True)
    X = np.column_stack([rows["x1"], rows["x2"]])
    if part != "interval":
        return X, {"y": rows["y"], "censored": rows["censored"] == 1}
    latent = rows["latent"]
    low = np.floor(latent / 0.75) * 0.75
    high = low + 0.75
    low[latent < -1], high[latent < -1] = -np.inf, -1
    low[latent > 2], high[latent > 2] = 2, np.inf
    exact = np.arange(1, len(latent) + 1) % 5 == 0
    low[exact] = high[exact] = latent[exact]
    return X, {"lower": low, "upper": high}


@pytest.mark.parametrize("part", ["left", "right", "interval"])
def test_fits_and_standard_errors_are_survregs(part):
    golden = json.loads((HERE / "tobit_errors.json").read_text())[part]
    X, how = told(part)
    model = TobitRegressor(side="left" if part == "left" else "right", random_state=0).fit(X, **how)
    found = model.summary()
    theirs = np.array([*golden["coefficients"], np.log(golden["scale"])])
    errors = np.sqrt(np.diag(golden["covariance"]))
    assert (np.abs(found.coefficients - theirs) / errors).max() < 1e-3
    assert found.standard_errors == pytest.approx(errors, rel=1e-4)
    assert model.scale_ == pytest.approx(golden["scale"], rel=1e-4)
    assert found.log_likelihood == pytest.approx(golden["log_likelihood"], rel=1e-9)
    assert model.likelihood_.covariance == pytest.approx(np.array(golden["covariance"]), rel=1e-3, abs=1e-8)
