"""Frames by Nixtla's column names go in and come out, and no forecast sees what came after its cutoff."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from unmet import LinearCensoredQuantiles
from unmet.adapters import cross_validate_frame, forecast_frame

# Exact and quick; the default network is tried in the tutorials and in the docs.
MODEL = LinearCensoredQuantiles(method="powell", n_restarts=2, random_state=0)


def weeks(places: int = 4, n: int = 80) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    parts = []
    for place in range(places):
        mean = 20 * (1 + place) * (1 + 0.3 * np.sin(2 * np.pi * np.arange(n) / 4))
        wanted = mean + rng.normal(0, 0.15 * mean)
        cap = mean.mean() * rng.uniform(0.8, 1.6, n)
        ds = pd.date_range("2024-01-07", periods=n, freq="W")
        part = {"unique_id": f"s{place}", "ds": ds, "y": np.minimum(wanted, cap), "threshold": cap}
        parts.append(pd.DataFrame({**part, "wanted": wanted}))
    return pd.concat(parts, ignore_index=True)


def test_a_frame_goes_in_and_comes_out():
    df = weeks()
    found = forecast_frame(df, 3, season=4, level=[80, 90], model=MODEL)
    names = ["unique_id", "ds", "unmet", "unmet-lo-80", "unmet-hi-80", "unmet-lo-90", "unmet-hi-90"]
    assert list(found.columns) == names
    assert found["unique_id"].tolist() == [f"s{place}" for place in range(4) for _ in range(3)]
    assert (
        found["ds"][:3].to_numpy() == df["ds"].max().to_numpy() + np.arange(1, 4) * np.timedelta64(7, "D")
    ).all()
    assert (found["unmet-lo-80"] <= found["unmet"]).all()
    assert (found["unmet"] <= found["unmet-hi-80"]).all()
    # The order of rows does not matter, and Polars gives the same.
    shuffled = forecast_frame(df.sample(frac=1, random_state=1), 3, season=4, level=[80, 90], model=MODEL)
    wanted = found.set_index(["unique_id", "ds"]).sort_index()
    assert shuffled.set_index(["unique_id", "ds"]).sort_index().equals(wanted)
    other = forecast_frame(pl.from_pandas(df), 3, season=4, level=[80, 90], model=MODEL)
    assert isinstance(other, pl.DataFrame)
    assert np.array_equal(other["unmet"].to_numpy(), found["unmet"].to_numpy())


def test_forecasts_follow_demand_and_not_the_caps():
    df = weeks(places=6, n=120)
    found = cross_validate_frame(df, 4, season=4, n_windows=2, model=MODEL).merge(
        df[["unique_id", "ds", "wanted"]]
    )
    plain = cross_validate_frame(df.drop(columns="threshold"), 4, season=4, n_windows=2, model=MODEL)
    short = abs((plain["unmet"] - found["wanted"]).mean())
    assert abs((found["unmet"] - found["wanted"]).mean()) < 0.5 * short
    assert set(found.columns) >= {"cutoff", "y", "threshold"}


def test_cutoffs_are_those_of_nixtla():
    df = weeks()
    found = cross_validate_frame(df, 2, season=4, n_windows=3, step_size=1, model=MODEL)
    assert len(found) == 4 * 2 * 3
    last = df["ds"].max()
    assert sorted(found["cutoff"].unique()) == [last - pd.Timedelta(weeks=k) for k in (4, 3, 2)]
    assert (found["ds"] > found["cutoff"]).all()
    seen = found.merge(df, on=["unique_id", "ds"])
    assert (seen["y_x"] == seen["y_y"]).all()


def test_what_comes_after_the_cutoff_changes_nothing():
    df = weeks()
    late = df["ds"] > df["ds"].max() - pd.Timedelta(weeks=2)
    other = df.assign(y=df["y"].where(~late, 1.0))
    first = cross_validate_frame(df, 2, season=4, model=MODEL)
    second = cross_validate_frame(other, 2, season=4, model=MODEL)
    assert (first["unmet"] == second["unmet"]).all()
    assert (first["y"] != second["y"]).any()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda df: df.drop(columns="ds"), "ds is missing"),
        (lambda df: df.drop(index=5), "one step apart"),
        (lambda df: df.assign(y=np.nan), "y of series"),
        (lambda df: df.groupby("unique_id").head(5), "longer series"),
    ],
)
def test_what_cannot_be_forecast_is_named(change, words):
    with pytest.raises(ValueError, match=words):
        forecast_frame(change(weeks()), 2, season=4, model=MODEL)


@pytest.mark.parametrize(("name", "value"), [("h", 0), ("season", 1.5), ("level", [120])])
def test_wrong_arguments_are_named(name, value):
    with pytest.raises(ValueError, match=name):
        forecast_frame(weeks(), **{"h": 2, "season": 4, "model": MODEL, name: value})
