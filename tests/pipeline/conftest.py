"""One small city, its run, and copies that tests may change."""

import shutil
from pathlib import Path
from typing import Any

import pytest

import unmet


@pytest.fixture(scope="session")
def city(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from unmet.datasets import make_city

    folder = tmp_path_factory.mktemp("city")
    make_city("village", places=5, days=18, seed=3).write(folder, snapshots=None)
    return folder


@pytest.fixture(scope="session")
def given(city: Path) -> dict[str, Any]:
    """Arguments that name the files of the city."""
    return {
        "trips": city / "trips.csv.gz",
        "status": [city / "station_status_events.csv.gz"],
        "stations": str(city / "station_information.json"),
        "zone": "America/New_York",
    }


@pytest.fixture(scope="session")
def finished(given: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> unmet.Run:
    output = tmp_path_factory.mktemp("run") / "out"
    return unmet.run(**given, output=output, network="linear", jobs=1, progress=False)


@pytest.fixture
def copy(finished: unmet.Run, tmp_path: Path) -> unmet.Run:
    return unmet.open_run(shutil.copytree(finished.folder, tmp_path / "out"))
