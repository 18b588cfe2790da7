"""Dates, times and durations are refused by name: as numbers they would be nanoseconds."""

import re

import numpy as np
import pandas as pd
import polars as pl
import pytest

from unmet import CensoredGaussianProcess, LinearCensoredQuantiles
from unmet.comparison._columns import encode

START = pd.Timestamp("2026-01-01")
DAYS = pd.Series(pd.date_range(START, periods=60))
TIMES = {
    "datetime": DAYS,
    "zone": DAYS.dt.tz_localize("UTC"),
    "date": DAYS.dt.date,
    "time": DAYS.dt.time,
    "timedelta": DAYS - START,
}
SAID = re.escape("column 'when' of X holds times: add columns such as weekday, month or hour instead")
LINE = LinearCensoredQuantiles(quantiles=(0.3, 0.5))


@pytest.fixture
def frame(capped):
    return pd.DataFrame({"a": capped.X[:, 0], "when": capped.X[:, 1]})


def as_frames(frame, when):
    """The frame with times instead of numbers: alone and beside texts, of pandas and of Polars."""
    for table in (frame.assign(when=when), frame.assign(when=when, city="Oslo")):
        yield table
        yield pl.DataFrame({name: table[name].tolist() for name in table})


@pytest.mark.parametrize("kind", TIMES)
def test_fit_and_predict_name_the_column(capped, frame, kind):
    for table in as_frames(frame, TIMES[kind]):
        with pytest.raises(ValueError, match=SAID):
            LINE.fit(table, capped.y, censored=capped.censored)
    model = LINE.fit(frame, capped.y, censored=capped.censored)
    with pytest.raises(ValueError, match=SAID):
        model.predict(frame.assign(when=TIMES[kind]))


def test_several_outputs_name_the_column(capped, frame):
    with pytest.raises(ValueError, match=SAID):
        CensoredGaussianProcess().fit(frame.assign(when=DAYS), np.column_stack([capped.y, capped.y]))


@pytest.mark.parametrize("kind", ["datetime", "timedelta"])
def test_an_array_of_times_is_refused(capped, kind):
    with pytest.raises(ValueError, match="X holds times"):
        LINE.fit(TIMES[kind].to_numpy()[:, None], capped.y, censored=capped.censored)


def test_compare_uses_the_same_words():
    with pytest.raises(ValueError, match=SAID.replace(r"\ of\ X", "")):
        encode({"when": DAYS.to_numpy()}, features=["when"])
