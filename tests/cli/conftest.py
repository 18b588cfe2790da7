"""One small city and one finished run of it for all tests of commands; they copy what they change."""

import warnings

import numpy as np
import pytest
from cli_tools import QUICK, call, given

from unmet.tables import read_columns, write_columns


@pytest.fixture(scope="session")
def city(tmp_path_factory):
    from unmet.datasets import make_city

    folder = tmp_path_factory.mktemp("city")
    made = make_city("village", places=6, days=21, seed=3)
    made.write(folder)
    return folder, made


@pytest.fixture(scope="session")
def finished(city, tmp_path_factory):
    output = tmp_path_factory.mktemp("run") / "out"
    assert call("run", *given(city[0]), *QUICK, "--quiet", "-o", output) == 0
    return output


@pytest.fixture(scope="session")
def given_panel(finished, tmp_path_factory):
    """A panel file in which place P03 never has a vehicle."""
    columns, about = read_columns(finished / "panel.parquet")
    empty = columns["unique_id"] == "P03"
    columns["y"] = np.where(empty, 0, columns["y"])
    columns["exposure"] = np.where(empty, 0.0, columns["exposure"])
    columns["censored"] = columns["censored"] | empty
    return write_columns(tmp_path_factory.mktemp("given") / "panel.parquet", columns, about=about)


@pytest.fixture(scope="session")
def alone(given_panel, tmp_path_factory):
    """What `unmet fit` makes of that panel, and nothing else."""
    output = tmp_path_factory.mktemp("alone") / "out"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # so few days leave doubts about the assumption
        assert call("fit", given_panel, "-o", output, *QUICK, "--quiet") == 0
    return output
