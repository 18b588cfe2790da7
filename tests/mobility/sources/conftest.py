"""A fresh connection for each test, and the folder of real data where there is one."""

import os
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from unmet.mobility import connect


@pytest.fixture
def con(tmp_path_factory: pytest.TempPathFactory) -> Iterator[duckdb.DuckDBPyConnection]:
    spill = tmp_path_factory.mktemp("spill")  # outside the folders that tests read
    connection = connect(memory_limit="1GB", threads=2, spill=spill)
    yield connection
    connection.close()


@pytest.fixture(scope="session")
def data() -> Path:
    root = Path(__file__).resolve().parents[3]
    folder = Path(os.environ.get("UNMET_DATA", root.parent / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip("no real data: set UNMET_DATA")
    return folder
