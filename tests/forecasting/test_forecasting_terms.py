"""Terms of the rate that depend on time alone."""

import numpy as np

from unmet.calendar import make_calendar
from unmet.forecasting._terms import TimeTerms, make_terms


def test_terms_do_not_depend_on_the_order_of_covariates():
    """A saved model comes back with its covariates in alphabetical order."""
    ds = np.datetime64("2024-03-01", "us") + np.arange(24 * 20) * np.timedelta64(1, "h")
    calendar = make_calendar(ds, "America/New_York", "hour")
    random = np.random.default_rng(0)
    weather = {name: random.normal(size=len(ds)) for name in ("wind", "rain", "temperature")}
    terms = make_terms(calendar, weather)
    back = {name: terms.columns[name] for name in sorted(terms.columns)}
    loaded = TimeTerms(back, terms.centre, terms.scale, terms.last, terms.seasonal)
    np.testing.assert_array_equal(loaded.matrix(calendar, weather), terms.matrix(calendar, weather))


def test_a_bend_rests_on_a_day_of_periods() -> None:
    """A few wet hours set no knot: the rate of one of them could go to any height."""
    ds = np.datetime64("2024-03-01T00", "us") + np.arange(35 * 24) * np.timedelta64(1, "h")
    calendar = make_calendar(ds, "UTC", "hour")
    rain = np.zeros(len(ds))
    rain[::20] = np.linspace(0.1, 9, len(rain[::20]))  # 42 wet hours
    knots = make_terms(calendar, {"rain": rain}).columns["rain"]["knots"]
    assert knots
    assert all((rain > knot).sum() >= 24 for knot in knots)
    few = np.where(np.arange(len(ds)) % 90 == 0, rain, 0.0)
    assert make_terms(calendar, {"rain": few}).columns["rain"]["knots"] == []
