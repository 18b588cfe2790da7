"""A file that the run wrote and that is gone is named; it is not taken for one that was never made."""

import pytest

import unmet
from unmet.report import write_report

WRITTEN = (
    "self_check.json",
    "calibration.json",
    "measures.json",
    "panel.json",
    "stations.parquet",
    "curves.json",
    "fleet.csv",
    "backtest.parquet",
)


@pytest.mark.parametrize("name", WRITTEN)
def test_the_page_and_the_check_name_it(copy: unmet.Run, name: str):
    (copy.folder / name).unlink()
    with pytest.raises(ValueError, match=f"{name} is missing; make it with `unmet"):
        copy.check()
    with pytest.raises(ValueError, match=f"{name} is missing; make it with `unmet"):
        write_report(copy.folder)


@pytest.mark.parametrize("name", ["self_check.json", "calibration.json", "panel.json"])
def test_a_lost_check_does_not_raise_the_grade(copy: unmet.Run, name: str):
    (copy.folder / name).unlink()
    with pytest.raises(ValueError, match=f"{name} is missing"):
        copy.summary()
