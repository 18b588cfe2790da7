"""Fixtures of the service: a run folder and a server in its own process."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from serve_tools import Service, start_service, stop_service, write_tiny_run


@pytest.fixture(scope="session")
def run_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tiny_run(tmp_path_factory.mktemp("run"))


@pytest.fixture(scope="session")
def service(run_folder: Path) -> Iterator[Service]:
    process, found = start_service(run_folder)
    yield found
    stop_service(process)
