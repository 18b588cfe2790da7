"""Features: right values by hand, either library, and nothing from the future."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from unmet.mobility import add_features


def panel(hours=30, places="BA", seed=0):
    rng = np.random.default_rng(seed)
    ds = pd.date_range("2021-03-13 20:00", periods=hours, freq="h")
    frame = pd.concat(
        [
            pd.DataFrame(
                {
                    "unique_id": p,
                    "ds": ds,
                    "y": rng.integers(0, 9, hours),
                    "censored": rng.random(hours) < 0.3,
                }
            )
            for p in places
        ]
    )
    return frame.sample(frac=1, random_state=1)  # rows in no order, and an index that is not 0, 1, 2, …


def test_values_by_hand():
    frame = pd.DataFrame({
        "unique_id": "A", "ds": pd.date_range("2021-05-03", periods=5, freq="h"),
        "y": [1, 2, 3, 4, 5], "censored": [False, True, False, True, False],
    })  # fmt: skip
    found = add_features(frame, lags=(1, 2), rolling=(3,))
    nan = np.nan
    np.testing.assert_array_equal(found["lag_1"], [nan, 1, 2, 3, 4])
    np.testing.assert_array_equal(found["lag_2"], [nan, nan, 1, 2, 3])
    np.testing.assert_array_equal(found["lag_1_censored"], [nan, 0, 1, 0, 1])
    # Means of the exact periods among the three before: {}, {1}, {1}, {1, 3}, {3}.
    np.testing.assert_array_equal(found["mean_3"], [nan, 1, 1, 2, 3])


def test_either_library_gives_the_same_and_keeps_the_order():
    frame = panel()
    options = {
        "lags": (1, 24),
        "rolling": (6,),
        "calendar": ("hour", "weekday", "month"),
        "zone": "America/New_York",
    }
    one = add_features(frame, **options)
    two = add_features(pl.from_pandas(frame), **options)
    assert isinstance(one, pd.DataFrame)
    assert isinstance(two, pl.DataFrame)
    assert one.index.equals(frame.index)
    assert one["ds"].tolist() == frame["ds"].tolist()
    assert list(one.columns) == two.columns
    for name in one.columns[4:]:
        np.testing.assert_array_equal(one[name].to_numpy(), two[name].to_numpy(), err_msg=name)
    # 06:00 UTC is 01:00 winter time; 07:00 UTC is 03:00 summer time, on the Sunday of the change.
    when = one.set_index("ds").loc["2021-03-14 07:00"]
    assert set(when["hour"]) == {3}
    assert set(when["weekday"]) == {6}


def test_nothing_comes_from_the_future():
    frame = panel(hours=48).reset_index(drop=True)
    options = {"lags": (1, 2, 24), "rolling": (3, 24)}
    names = ["lag_1", "lag_1_censored", "lag_2", "lag_24", "mean_3", "mean_24"]
    before = add_features(frame, **options)
    for cut in frame["ds"].sort_values().unique()[[5, 20, 40]]:
        changed = frame.copy()
        later = changed["ds"] >= cut
        changed.loc[later, "y"] = 1000
        changed.loc[later, "censored"] = ~changed.loc[later, "censored"]
        after = add_features(changed, **options)
        known = frame["ds"] <= cut  # also the period that starts at the cut knows only what was before
        pd.testing.assert_frame_equal(before.loc[known, names], after.loc[known, names])
        assert not before.loc[~known, names].equals(after.loc[~known, names])


def test_a_shifted_panel_has_shifted_features():
    frame = panel().reset_index(drop=True)
    moved = frame.assign(ds=frame["ds"] + pd.Timedelta(days=7))
    names = ["lag_2", "lag_2_censored", "mean_5"]
    one, two = (add_features(f, lags=(2,), rolling=(5,))[names] for f in (frame, moved))
    pd.testing.assert_frame_equal(one, two)


def test_the_end_of_a_panel_may_be_cut_off():
    frame = panel().sort_values(["unique_id", "ds"]).reset_index(drop=True)
    whole = add_features(frame, lags=(3,), rolling=(4,))
    cut = frame[frame["ds"] < frame["ds"].sort_values().iloc[-8]]
    part = add_features(cut, lags=(3,), rolling=(4,))
    pd.testing.assert_frame_equal(whole.loc[part.index], part)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"lags": (0,)}, "lags"),
        ({"lags": (-1,)}, "lags"),
        ({"lags": (1.5,)}, "lags"),
        ({"rolling": (0,)}, "rolling"),
        ({"calendar": ("season",)}, "season"),
        ({"calendar": ("hour",)}, "zone"),
    ],
)
def test_wrong_arguments(options, words):
    with pytest.raises(ValueError, match=words):
        add_features(panel(), **options)


def test_wrong_panels():
    frame = panel().sort_values(["unique_id", "ds"])
    with pytest.raises(ValueError, match="'censored'"):
        add_features(frame.drop(columns="censored"))
    with pytest.raises(ValueError, match="is missing"):
        add_features(frame.iloc[[0, 1, 3, *range(30, 60)]])
    with pytest.raises(ValueError, match="is repeated"):
        add_features(pd.concat([frame, frame.iloc[:1]]))
    assert len(add_features(frame.iloc[:0])) == 0
