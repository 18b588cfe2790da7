"""A run that is killed again and again ends in the same bytes, and does no finished stage twice."""

import sys
from pathlib import Path

import pytest
from benchmarks.metropolis.kills import blow

_KILLS = 30


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_kills_at_any_moment_lose_the_stage_under_way_and_no_more(city: Path, tmp_path: Path):
    def command(output: Path) -> list[str]:
        files = [city / "trips.csv.gz", "--status", city / "station_status_events.csv.gz"]
        files += ["--stations", city / "station_information.json", "--zone", "America/New_York"]
        told = ["-o", str(output), "--jobs", "1", "-q"]
        return [sys.executable, "-m", "unmet", "run", *map(str, files), *told]

    found = blow(command, tmp_path, _KILLS, warm=True)
    assert len(found.killed) == _KILLS
    assert len(set(found.killed)) > 1  # at different stages
    assert not found.different
    assert not found.twice
