"""How long supply lasted where the data only say that it ran out."""

import numpy as np
import pytest
from own_tables import NAMES, weekly_sales

from unmet.forecasting import fit_demand
from unmet.forecasting._time_lasted import effective_exposure, time_lasted


@pytest.mark.parametrize(("y", "rate", "shape"), [(3.0, 5.0, 4.0), (20.0, 18.0, 10.0), (1.0, 0.5, 2.0)])
def test_effective_exposure_is_the_mean_over_simulated_requests(y, rate, shape):
    rng = np.random.default_rng(0)
    shock = rng.gamma(shape, 1 / shape, 400_000)
    moment = rng.gamma(y, 1 / (rate * shock))
    moment = moment[moment < 1]
    wanted = (1 / np.mean(1 / (shape + rate * moment)) - shape) / rate
    found = effective_exposure(np.array([y]), np.array([rate]), np.array([shape]))[0]
    assert found == pytest.approx(wanted, rel=0.01)
    # Given the moment T, lost requests have mean λ(1 − T)(r + y) / (r + λT).
    lost = np.mean(rate * (1 - moment) * (shape + y) / (shape + rate * moment))
    assert rate * (1 - found) * (shape + y) / (shape + rate * found) == pytest.approx(lost, rel=0.02)


def test_draws_of_the_moment_are_those_of_simulated_requests():
    rng = np.random.default_rng(1)
    y, rate, shape = 6.0, 8.0, 5.0
    shock = rng.gamma(shape, 1 / shape, 400_000)
    moment = rng.gamma(y, 1 / (rate * shock))
    moment = moment[moment < 1]
    levels = np.array([0.1, 0.5, 0.9])
    found = time_lasted(levels, *(np.full(3, one) for one in (y, rate, shape)))
    np.testing.assert_allclose(found, np.quantile(moment, levels), atol=0.005)


def test_the_ends():
    y, rate, shape = np.array([0.0, 500.0, 5.0]), np.array([4.0, 3.0, 1e-8]), np.full(3, 6.0)
    found = effective_exposure(y, rate, shape)
    assert found[0] == 0  # nothing was there
    assert found[1:] == pytest.approx(1, abs=0.2)  # more than expected: supply lasted almost to the end
    assert ((found >= 0) & (found <= 1)).all()
    drawn = time_lasted(np.full(3, 0.5), y, rate, shape)
    assert ((drawn >= 0) & (drawn <= 1)).all()
    assert drawn[0] == 0


@pytest.mark.slow
def test_totals_from_flags_alone_hold():
    """On 20 tables that were not used to choose anything, nine in ten intervals hold the lost sales."""
    held, ratio = [], []
    for seed in range(100, 120):
        table = weekly_sales(12, 104, seed=seed)
        model = fit_demand(
            table[["store", "week", "sold", "ran_out"]],
            columns={**NAMES, "censored": "ran_out"},
            networks=("linear",),
            baselines=False,
            progress=False,
        )
        true, found = (table["wanted"] - table["sold"]).sum(), model.lost_total()["lost"]
        held.append(found["q05"] <= true <= found["q95"])
        ratio.append(found["mean"] / true)
    print(f"held {np.mean(held):.2f}, estimate / truth {np.mean(ratio):.3f}, spread {np.std(ratio):.3f}")
    assert np.mean(held) >= 0.75
    assert abs(np.mean(ratio) - 1) < 0.05
