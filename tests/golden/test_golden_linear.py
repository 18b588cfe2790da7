"""The exact linear methods against R's quantreg, on R's own grids."""

import json
from pathlib import Path

import numpy as np
import pytest

from unmet import LinearCensoredQuantiles
from unmet.estimators.linear._simplex import first_basis, solve
from unmet.losses import censored_tilted_loss

HERE = Path(__file__).parent
GOLDEN = json.loads((HERE / "linear.json").read_text())


def table(name):
    rows = np.genfromtxt(HERE / name, delimiter=",", names=True)
    return np.column_stack([rows["x1"], rows["x2"]]), rows["y"], rows["censored"] == 1


def golden(part):
    found = GOLDEN[part]
    return np.array(found["levels"]), np.array(found["coefficients"])


def standard_errors(part, levels):
    found = GOLDEN[f"{part}_errors"]
    errors = np.array(found["standard_errors"])
    return np.column_stack([np.interp(levels, found["levels"], column) for column in errors.T])


def coefficients(method, levels):
    X, y, censored = table("right_flags.csv")
    model = LinearCensoredQuantiles(method=method, grid=levels, quantiles=levels[:1])
    model.fit(X, y, censored=censored)
    return model.fitted_.coefficients(tuple(levels))


@pytest.mark.parametrize("part", ["portnoy", "portnoy_coarse"])
def test_portnoy_is_crqs_on_its_own_grid(part):
    levels, theirs = golden(part)
    levels, theirs = levels[1:-1], theirs[1:-1]  # R adds the ends 0 and 1
    # R's grid starts where one solution gives way to the next, and R reports the upper one.
    levels[0] += 1e-9
    gap = np.abs(coefficients("portnoy", levels) - theirs) / standard_errors("portnoy", levels)
    assert gap.max() < 1e-6


def masses(levels):
    """The levels that R's Peng–Huang fits have reached: it counts from the first level, one step ahead.

    At its label g_j it uses H(g_{j+1}) − H(g_1) where the paper has H(g_j).
    """
    ahead = np.append(levels[1:], 2 * levels[-1] - levels[-2])
    return 1 - (1 - ahead) / (1 - levels[0])


@pytest.mark.parametrize(("part", "exact"), [("peng_huang", 0.93), ("peng_huang_coarse", 1.0)])
def test_every_peng_huang_step_is_crqs_given_the_rows_that_it_counts(part, exact):
    """R decides by the sign of a rounding error whether a row that it fits exactly is still at risk."""
    levels, theirs = golden(part)
    X, y, censored = table("right_flags.csv")
    X = np.column_stack([np.ones(len(y)), X])
    seen = np.flatnonzero(~censored)
    hazard = np.diff(-np.log1p(-masses(levels)), prepend=0.0)
    counted, at_risk = np.zeros(len(y)), np.ones(len(y), bool)
    basis = first_basis(X[seen])[None]
    gaps = []
    for step, beta, sure in zip(hazard, theirs, GOLDEN[part]["fitted_and_at_risk"], strict=True):
        counted = counted + step * at_risk
        target = X[seen].sum(axis=0) - counted @ X
        found = solve(X[seen], y[seen], np.ones((1, len(seen))), target[None], basis)
        assert found.bounded.all()
        basis = found.basis
        gaps.append(np.abs(found.coefficients[0] - beta).max())
        at_risk = y - X @ beta > 1e-9
        at_risk[np.array(sure, int) - 1] = True
    assert np.mean(np.array(gaps) < 1e-6) >= exact


@pytest.mark.parametrize(
    ("part", "exact", "mean"), [("peng_huang", 0.85, 0.05), ("peng_huang_coarse", 0.75, 0.15)]
)
def test_peng_huang_follows_crq_over_the_whole_process(part, exact, mean):
    """A row that is fitted exactly stays at risk by its share: nearly all levels agree, others by one row."""
    levels, theirs = golden(part)
    inside = levels < 0.9
    ours = coefficients("peng-huang", masses(levels))
    gap = (np.abs(ours - theirs) / standard_errors("peng_huang", levels)).max(axis=1)[inside]
    assert np.mean(gap < 0.01) >= exact
    assert gap.mean() < mean


def test_powell_is_never_above_crq():
    X, y, _ = table("synthetic_gaussian.csv")
    levels = tuple(part["level"] for part in GOLDEN["powell"])
    model = LinearCensoredQuantiles(method="powell", side="left", quantiles=levels, random_state=0)
    model.fit(X, y, threshold=0.0)
    quantiles = model.intercept_ + X @ model.coef_.T
    for number, part in enumerate(GOLDEN["powell"]):
        ours = censored_tilted_loss(y, quantiles[:, number], part["level"], 0.0, side="left").sum()
        assert ours <= part["objective"] * (1 + 1e-12)


def test_powell_finds_the_global_minimum():
    X, y, _ = table("synthetic_gaussian.csv")
    best = json.loads((HERE / "powell.json").read_text())
    for seed in range(3):
        model = LinearCensoredQuantiles(
            method="powell", side="left", quantiles=(best["tau"],), random_state=seed
        )
        model.fit(X, y, threshold=0.0)
        found = np.append(model.intercept_, model.coef_)
        assert found == pytest.approx(best["coefficients"], abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["portnoy", "peng-huang"])
def test_standard_errors_are_near_crqs_bootstrap(method):
    X, y, censored = table("right_flags.csv")
    part = GOLDEN[f"{method.replace('-', '_')}_errors"]
    model = LinearCensoredQuantiles(method=method, quantiles=part["levels"], n_bootstrap=500, random_state=0)
    found = model.fit(X, y, censored=censored).summary()
    ratio = found.standard_errors / np.array(part["standard_errors"])
    assert ratio.min() > 0.6
    assert ratio.max() < 1.6
    assert np.exp(np.log(ratio).mean()) == pytest.approx(1, abs=0.1)
