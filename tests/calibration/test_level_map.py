"""Level maps: bands, what is identified, the way through JSON, and the coverage they promise."""

import json

import numpy as np
import pytest
from scipy import stats

from unmet.calibration import LevelMap, censored_coverage, fit_level_map, nominal_levels, randomised_pit

LEVELS = (0.05, 0.5, 0.95)


def test_bands_have_enough_rows_and_equal_rates_share_one() -> None:
    rng = np.random.default_rng(0)
    rate = np.concatenate([np.zeros(3000), rng.uniform(1, 2, size=2100)])
    found = fit_level_map(
        rate, rng.uniform(size=rate.size), np.zeros(rate.size, bool), LEVELS, usual_rows=500
    )
    assert len(found.bands) > 3
    assert all(band.rows >= 500 for band in found.bands)
    assert sum(band.rows for band in found.bands) == rate.size
    assert found.bands[0].low == -np.inf
    assert found.bands[-1].high == np.inf
    assert len(set(found.band(np.zeros(5)))) == 1


def test_too_few_rows_at_risk_in_a_small_band() -> None:
    # Of 700 rows 35 lie beyond the level 0.95.
    rng = np.random.default_rng(0)
    found = fit_level_map(np.ones(700), rng.uniform(size=700), np.zeros(700, bool), LEVELS)
    assert found.levels([1.0])[0, 2] == np.inf
    assert found.identified_up_to([1.0])[0] == 0.5


def test_few_rows_make_one_band() -> None:
    rng = np.random.default_rng(0)
    assert (
        len(fit_level_map(rng.uniform(size=900), rng.uniform(size=900), np.zeros(900, bool), LEVELS).bands)
        == 1
    )


def test_a_forecast_that_is_too_narrow_is_widened_to_its_nominal_coverage() -> None:
    rng = np.random.default_rng(5)
    demand = rng.poisson(rng.gamma(2.0, 1.0, size=20_000))  # negative binomial with mean 2
    law = stats.poisson(2.0)  # the forecast knows nothing of the spread

    def pits(counts: np.ndarray) -> np.ndarray:
        flags = np.zeros(counts.size, bool)
        return randomised_pit(law.cdf(counts - 1), law.pmf(counts), rng.uniform(size=counts.size), flags)

    first, second = pits(demand[:10_000]), pits(demand[10_000:])
    raw = ((second > 0.05) & (second <= 0.95)).mean()
    found = fit_level_map(np.full(10_000, 2.0), first, np.zeros(10_000, bool), LEVELS)
    low, _, high = found.levels([2.0])[0]
    assert raw < 0.85
    assert ((second > low) & (second <= high)).mean() == pytest.approx(0.9, abs=0.01)


def test_a_known_cap_leaves_upper_levels_unidentified_and_says_so() -> None:
    rng = np.random.default_rng(6)
    values = rng.uniform(size=4000)
    flags = values > 0.8
    found = fit_level_map(np.ones(4000), np.where(flags, 0.8, values), flags, LEVELS, most_bands=1)
    assert found.levels([1.0])[0, 2] == np.inf
    assert found.levels([1.0])[0, 1] == pytest.approx(0.5, abs=0.03)
    assert found.identified_up_to([1.0])[0] == 0.5
    described = found.as_dicts()
    assert described[0]["level"][2] is None
    assert described[0]["identified_up_to"] == 0.5
    again = LevelMap.from_dicts(json.loads(json.dumps(described, allow_nan=False)))
    assert again == found


def test_nominal_levels_undo_the_map() -> None:
    used = np.tile([0.1, 0.4, 0.9], (4, 1))
    assert nominal_levels(LEVELS, used, [0.1, 0.4, 0.9, 0.95]) == pytest.approx([0.05, 0.5, 0.95, 0.975])
    unidentified = np.tile([0.1, 0.4, np.inf], (2, 1))
    assert nominal_levels(LEVELS, unidentified, [0.4, 0.7]) == pytest.approx([0.5, 0.75])


def test_coverage_of_true_quantiles_plain_and_randomised() -> None:
    rng = np.random.default_rng(7)
    counts = rng.poisson(0.8, size=60_000)
    law = stats.poisson(0.8)
    found = censored_coverage(
        law.cdf(counts - 1),
        law.pmf(counts),
        np.zeros(counts.size, bool),
        rng.uniform(size=counts.size),
        (0.05, 0.95),
    )
    assert found["randomised"].inside == pytest.approx(0.9, abs=0.005)
    assert found["randomised"].upper_tail == pytest.approx(0.05, abs=0.004)
    low, high = law.ppf([0.05, 0.95])
    plain = ((counts >= low) & (counts <= high)).mean()
    assert found["plain"].inside == pytest.approx(plain, abs=1e-12)


def test_coverage_counts_rows_that_were_cut_off() -> None:
    rng = np.random.default_rng(8)
    demand = rng.poisson(3.0, size=60_000)
    stock = rng.integers(0, 10, size=demand.size)
    flags, y = demand >= stock, np.minimum(demand, stock)
    law = stats.poisson(3.0)
    found = censored_coverage(law.cdf(y - 1), law.pmf(y), flags, rng.uniform(size=demand.size), (0.05, 0.95))
    assert found["randomised"].inside == pytest.approx(0.9, abs=0.01)
    # Leaving them out would say something else.
    kept = ~flags
    values = randomised_pit(law.cdf(y - 1), law.pmf(y), rng.uniform(size=y.size), flags)[kept]
    assert ((values > 0.05) & (values <= 0.95)).mean() < 0.895 or (values > 0.95).mean() < 0.02


def test_coverage_beyond_all_that_is_known_is_not_a_number() -> None:
    found = censored_coverage([0.2, 0.1], [0.3, 0.2], np.array([True, False]), [0.5, 0.5], (0.05, 0.95))
    assert np.isnan(found["randomised"].inside)
