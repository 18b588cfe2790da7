"""Commands called as a user calls them, and what a folder holds."""

from pathlib import Path

import pytest

from unmet.cli import main

QUICK = ("--network", "linear", "--jobs", "1")


def call(*arguments: object) -> int:
    """Run a command; its exit code."""
    with pytest.raises(SystemExit) as end:
        main([str(argument) for argument in arguments])
    return int(end.value.code or 0)


def given(folder: Path) -> list[str]:
    """Options that name the files of a simulated city."""
    return [
        str(folder / "trips.csv.gz"),
        *("--status", str(folder / "station_status_events.csv.gz")),
        *("--stations", str(folder / "station_information.json")),
        *("--zone", "America/New_York"),
    ]


def contents(folder: Path) -> dict[str, bytes]:
    """Every file of a run but its timings and what it keeps of its reading."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != "log.jsonl" and ".unmet-read" not in path.parts
    }
