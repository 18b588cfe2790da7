"""Files of a simulated city with parts cut out: what nobody recorded is not there."""

from __future__ import annotations

import csv
import gzip
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

ZONE = "America/New_York"
CUTS = ("early_trips", "no_month", "silent_feed", "late_places")


def cut_city(made: Path, folder: Path, first: datetime, *, cuts: tuple[str, ...], month: int = 30) -> Path:
    """Copy trips and status events of a city without what `cuts` name; days count from `first`.

    - early_trips: the feed begins three weeks after the trips.
    - no_month: no trips for `month` days from day 28 on.
    - silent_feed: no record for two days from noon of day 24 on.
    - late_places: ten places (or a third of them) open on day 23 at noon: no ride and no record before.
    """
    folder.mkdir(parents=True)

    def day(number: float) -> datetime:
        return first.astimezone(ZoneInfo(ZONE)) + timedelta(days=number)  # by the wall clock

    with gzip.open(made / "station_status_events.csv.gz", "rt") as file:
        places = sorted({row["station_id"] for row in csv.DictReader(file)})
    late = set(places[:: max(1, len(places) // min(10, len(places) // 3))][:10])

    def record_stays(row: dict[str, str]) -> bool:
        at = datetime.fromtimestamp(int(row["last_reported"]), UTC).astimezone(ZoneInfo(ZONE))
        if "early_trips" in cuts and at < day(21):
            return False
        if "silent_feed" in cuts and day(24.5) <= at < day(26.5):
            return False
        return not ("late_places" in cuts and row["station_id"] in late and at < day(23.5))

    def ride_stays(row: dict[str, str]) -> bool:
        at = datetime.fromisoformat(row["starttime"]).replace(tzinfo=ZoneInfo(ZONE))
        if "no_month" in cuts and day(28) <= at < day(28 + month):
            return False
        ends = {row["start station id"], row["end station id"]}
        return not ("late_places" in cuts and ends & late and at < day(23.5))

    _copy(made / "station_status_events.csv.gz", folder, record_stays)
    _copy(made / "trips.csv.gz", folder, ride_stays)
    return folder


def _copy(source: Path, folder: Path, stays: Callable[[dict[str, str]], bool]) -> None:
    with (
        gzip.open(source, "rt", newline="") as file,
        gzip.open(folder / source.name, "wt", newline="") as out,
    ):
        rows = csv.DictReader(file)
        writer = csv.DictWriter(out, rows.fieldnames or ())
        writer.writeheader()
        writer.writerows(row for row in rows if stays(row))
