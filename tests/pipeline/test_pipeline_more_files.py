"""One more month: files that are added to a run, one by one, end in the same bytes as all at once."""

import csv
import gzip
import json
import os
from datetime import UTC, datetime
from pathlib import Path

import pytest
from village_files import ZONE, make_village

from unmet.pipeline import PanelInputs, Watching, panel_step
from unmet.runs import RunError, Steps


def add(folder: Path, **given: object) -> list[str]:
    """Do the first step of a run with these inputs; what it tells about its reading."""
    inputs = PanelInputs.among({"zone": ZONE, **given})
    told: list[str] = []
    with Steps(folder, source=inputs.source) as steps, Watching(shown=False) as watching:
        panel_step(steps, inputs, watching, told=told)
    return told


def contents(folder: Path) -> dict[str, bytes]:
    return {
        path.name: path.read_bytes()
        for path in folder.iterdir()
        if path.is_file() and path.name != "log.jsonl"
    }


def last_reading(folder: Path) -> tuple[int, int]:
    lines = [json.loads(line) for line in (folder / "log.jsonl").read_text().splitlines()]
    found = [line for line in lines if "lines_read" in line][-1]
    return found["lines_read"], found["lines_kept"]


@pytest.fixture(scope="module")
def city(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_village(tmp_path_factory.mktemp("city"), days=14)


def by_day(path: Path, folder: Path, day_of) -> list[Path]:
    """The lines of a packed CSV file in one file per day."""
    folder.mkdir()
    with gzip.open(path, "rt") as file:
        header, *rows = csv.reader(file)
    days: dict[str, list[list[str]]] = {}
    for row in rows:
        days.setdefault(day_of(row), []).append(row)
    for day, found in days.items():
        with open(folder / f"{day}.csv", "w", newline="") as file:
            csv.writer(file).writerows([header, *found])
    return sorted(folder.iterdir())


def test_a_feed_by_day(city: Path, tmp_path: Path) -> None:
    feed = by_day(
        city / "station_status_events.csv.gz",
        tmp_path / "feed",
        lambda row: datetime.fromtimestamp(int(row[0]), UTC).strftime("%Y-%m-%d"),
    )
    trips = by_day(city / "trips.csv.gz", tmp_path / "trips", lambda row: row[1][:10])
    for last in (3, 8, len(feed) - 1, len(feed)):
        told = add(tmp_path / "one", trips=trips[:last], status=feed[:last])
    add(tmp_path / "all", trips=trips, status=feed)
    assert contents(tmp_path / "one") == contents(tmp_path / "all")
    read, kept = last_reading(tmp_path / "one")
    assert 0 < read < (read + kept) / 5
    assert f"Read {read:,} of {read + kept:,} lines" in told[-1]


def test_a_folder_that_grows(city: Path, tmp_path: Path) -> None:
    parts = by_day(city / "trips.csv.gz", tmp_path / "parts", lambda row: row[1][:10])
    folder = tmp_path / "trips"
    folder.mkdir()
    for number, part in enumerate(parts):
        os.link(part, folder / part.name)
        if number in (5, len(parts) - 1):
            add(tmp_path / "one", trips=[folder])
    add(tmp_path / "all", trips=[folder])
    assert contents(tmp_path / "one") == contents(tmp_path / "all")
    assert last_reading(tmp_path / "one")[1] > 0


def test_a_new_file_that_changes_the_order_of_days_is_told(city: Path, tmp_path: Path) -> None:
    def rows(path: Path) -> tuple[list[str], list[list[str]]]:
        with gzip.open(path, "rt") as file:
            header, *found = csv.reader(file)
        for row in found:
            for place in (1, 2):
                row[place] = datetime.strptime(row[place][:19], "%Y-%m-%d %H:%M:%S").strftime(
                    "%d/%m/%Y %H:%M:%S"
                )
        return header, found

    header, found = rows(city / "trips.csv.gz")
    early = [row for row in found if int(row[1][:2]) <= 12]
    late = [row for row in found if int(row[1][:2]) > 12]
    paths = [tmp_path / "early.csv", tmp_path / "late.csv"]
    for path, part in zip(paths, (early, late)):
        with open(path, "w", newline="") as file:
            csv.writer(file).writerows([header, *part])
    add(tmp_path / "one", trips=paths[:1])
    told = add(tmp_path / "one", trips=paths)
    assert any("early.csv: another order of day and month" in line for line in told)
    add(tmp_path / "all", trips=paths)
    assert contents(tmp_path / "one") == contents(tmp_path / "all")
    assert json.loads((tmp_path / "one" / "panel.json").read_text())["panel"]["periods"] < 15 * 24


def test_other_files_still_need_replace(city: Path, tmp_path: Path) -> None:
    parts = by_day(city / "trips.csv.gz", tmp_path / "parts", lambda row: row[1][:10])
    add(tmp_path / "one", trips=parts[:3])
    with pytest.raises(RunError, match="--replace"):
        add(tmp_path / "one", trips=parts[1:4])
    with pytest.raises(RunError, match="--replace"):
        add(tmp_path / "one", trips=parts[:2])


def test_what_was_kept_may_be_removed_or_damaged(city: Path, tmp_path: Path) -> None:
    parts = by_day(city / "trips.csv.gz", tmp_path / "parts", lambda row: row[1][:10])
    add(tmp_path / "all", trips=parts)
    add(tmp_path / "one", trips=parts[:-1])
    kept = sorted((tmp_path / "one" / ".unmet-read").glob("*.parquet"))
    kept[0].unlink()
    kept[1].write_bytes(kept[1].read_bytes()[:-9] + b"x" * 9)
    add(tmp_path / "one", trips=parts)
    assert contents(tmp_path / "one") == contents(tmp_path / "all")
    assert len(list((tmp_path / "one" / ".unmet-read").glob("*.json"))) == len(parts)


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_twelve_months_one_by_one(tmp_path: Path) -> None:
    root = Path(os.environ.get("UNMET_DATA") or Path(__file__).parents[3] / "shared" / "data")
    months = sorted((root / "jersey_city_2019").glob("*.zip"))
    if not months:
        pytest.skip("needs the trips of Jersey City in UNMET_DATA or ../shared/data")
    assert len(months) == 12
    for last in range(1, 13):
        add(tmp_path / "one", trips=months[:last])
    add(tmp_path / "all", trips=months)
    assert contents(tmp_path / "one") == contents(tmp_path / "all")
    read, kept = last_reading(tmp_path / "one")
    assert read + kept == 404_959
    assert read < (read + kept) / 5
