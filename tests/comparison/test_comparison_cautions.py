"""Sentences that come with a recommendation: quantiles beyond all that the data show."""

import numpy as np

import unmet
from unmet.censoring import observe
from unmet.comparison import Line
from unmet.comparison._cautions import below_zero_caution, beyond_cautions, close_call, side_caution

LEVELS = (0.5, 0.9, 0.95)
ROWS = np.tile([1.0, 4.0, 6.0], (10, 1))


def flags(y, side="right"):
    return observe(y, censored=np.arange(10) % 2 == 0, side=side)


def test_levels_and_shares_by_hand():
    seen = flags(np.linspace(0, 5, 10))
    beyond = (
        "above 5.00, the largest value or cap in the data, in 100% of the rows: what lies beyond it is the "
        "model's assumption, not the data's word."
    )
    assert beyond_cautions(seen, ROWS, LEVELS) == [f"Its quantile at level 0.95 lies {beyond}"]
    higher = ROWS + np.where(np.arange(10) < 3, 2.0, 0.0)[:, None]
    words = beyond_cautions(seen, higher, LEVELS)[0]
    assert words.startswith("Its quantiles at levels 0.9 to 0.95 lie above 5.00")
    assert "in up to 100% of the rows" in words


def test_a_tenth_of_the_rows_is_told_and_less_is_not():
    seen = observe(np.linspace(0, 5, 20), censored=np.arange(20) > 15)
    few = np.full((20, 1), 4.0)
    few[0] = 9
    assert beyond_cautions(seen, few, (0.95,)) == []
    few[1] = 9
    assert "in 10% of the rows" in beyond_cautions(seen, few, (0.95,))[0]


def test_caps_count_also_where_they_were_not_reached():
    y = np.linspace(0, 5, 10)
    assert beyond_cautions(observe(y, threshold=np.where(y < 5, 7.0, 5.0)), ROWS, LEVELS) == []
    assert beyond_cautions(observe(y, threshold=5.0), ROWS, LEVELS)
    none = np.where(y < 5, np.inf, 5.0)  # a row without a cap shows nothing
    assert "above 5.00" in beyond_cautions(observe(y, threshold=none), ROWS, LEVELS)[0]


def test_left_censoring_is_the_mirror_image():
    seen = flags(np.linspace(-5, 0, 10), "left")
    words = beyond_cautions(seen, -ROWS[:, ::-1], (0.05, 0.1, 0.5))
    assert len(words) == 1
    assert words[0].startswith("Its quantile at level 0.05 lies below -5.00, the smallest value or limit in")


def test_where_nothing_is_censored_nothing_is_said():
    assert beyond_cautions(observe(np.linspace(0, 5, 10)), ROWS, LEVELS) == []


def test_heavy_censoring_is_told_with_the_recommendation():
    random = np.random.default_rng(0)
    x = random.normal(size=200)
    latent = x + random.normal(size=200)
    y, told = np.minimum(latent, 0.5), {"methods": "Tobit", "folds": 2}
    found = unmet.compare({"x": x}, y, censored=latent > 0.5, **told)
    assert " to 0.95 lie above 0.500, the largest value or cap" in found.cautions[0]
    assert found.cautions[0] in str(found)
    assert unmet.compare({"x": x}, latent, **told).cautions == ()


def test_flags_at_the_wrong_end_of_y_are_told():
    random = np.random.default_rng(0)
    value = np.exp(random.normal(size=200))
    low, limited = value < 0.6, np.maximum(value, 0.6)
    words = side_caution(observe(limited, censored=low))
    assert words == [
        "The censored rows have the smallest values of y: if they lie below a limit, give side='left', or "
        "all of this is wrong."
    ]
    turned = side_caution(observe(-limited, censored=low, side="left"))
    assert "largest values of y: if they lie above a limit, give side='right'" in turned[0]
    assert side_caution(observe(limited, censored=low, side="left")) == []
    assert side_caution(observe(np.minimum(value, 1.0), censored=value > 1)) == []
    assert side_caution(observe(value, censored=random.uniform(size=200) < 0.4)) == []
    table = {"x": random.normal(size=200), "value": limited, "nd": low}
    found = unmet.compare(table, "value", censored="nd", methods="Tobit", folds=2)
    assert found.cautions[0] == words[0]


def test_a_flag_of_nondetects_asks_for_the_left_side_by_its_name():
    random = np.random.default_rng(0)
    value, limit = np.exp(random.normal(size=300)), random.choice([0.2, 1.0, 3.0], 300)
    low, limited = value < limit, np.maximum(value, limit)
    seen = observe(limited, censored=low)
    assert side_caution(seen) == side_caution(seen, low) == side_caution(seen, "censored") == []
    words = side_caution(seen, "non_detect")
    assert words[0].startswith("Large values are taken to be cut off, and non_detect sounds like a detection")
    assert "give side='left'" in words[0]
    assert side_caution(seen, None, "detected")
    assert side_caution(seen, None, "died") == side_caution(seen, None, "nondetect") == []
    assert side_caution(observe(limited, censored=low, side="left"), "non_detect") == []
    table = {"x": random.normal(size=300), "value": limited, "nd": low}
    found = unmet.compare(table, "value", censored="nd", methods="Tobit", folds=2)
    assert found.cautions[0].startswith("Large values are taken to be cut off, and nd sounds")


def test_quantiles_below_zero_of_values_that_are_not_are_told():
    y, predicted = np.arange(100.0), np.ones((100, 2))
    assert below_zero_caution(observe(y), predicted) == []
    predicted[:7, 0] = -1.0
    assert below_zero_caution(observe(y), predicted) == [
        "It predicts quantiles below 0 in 7% of the rows, and the table has no y below 0: if there can be "
        "none, add positive=True to the call."
    ]
    assert below_zero_caution(observe(y - 1), predicted) == []
    random = np.random.default_rng(0)
    x = random.normal(size=300)
    demand, stock = random.poisson(np.exp(1 + 0.5 * x)), random.integers(3, 9, 300)
    found = unmet.compare({"x": x}, np.minimum(demand, stock), threshold=stock, methods="Tobit", folds=2)
    assert found.cautions[0].startswith("It predicts quantiles below 0 in ")


def line(method, above, error):
    return Line(method, "", 1.0 + above, above, error, 0.0, None, None, None, 0, 0.1)


def test_methods_within_two_standard_errors_are_a_close_call():
    lines = [line("a", 0.0, 0.0), line("b", 1.9, 1.0), line("c", 2.1, 1.0)]
    assert close_call(lines, "a") == ["A close call: other folds, by another seed, may prefer b."]
    assert close_call(lines[:1], "a") == close_call([lines[0], lines[2]], "a") == []
    many = [line(name, 0.1, 1.0) for name in "abcdef"]
    assert close_call(many, "c")[0].endswith("may prefer one of a; b; d and 2 more.")
