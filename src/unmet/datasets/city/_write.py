"""Write a city as files: trips, feeds, weather and the truth, all or none."""

import gzip
import json
import os
import shutil
import tempfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict
from datetime import UTC, datetime
from os import PathLike
from pathlib import Path

from unmet.datasets.city._city import City
from unmet.datasets.city._export import copy_moves, copy_status, copy_trips, copy_truth, copy_weather
from unmet.datasets.city._feeds import snapshots as take_snapshots
from unmet.datasets.city._feeds import station_information, station_status, status_events

_STAGING = ".unmet-city-"


def write_city(
    city: City,
    folder: str | PathLike[str],
    *,
    parts: str = "one",
    compress: bool = True,
    snapshots: int | None = 300,
    times: str = "local",
    progress: Callable[[str], None] | None = None,
) -> list[Path]:
    """Write the files of a city. The same city gives the same bytes.

    Parameters
    ----------
    folder : path
        Created if missing. Files of an earlier city are replaced; other files stay.
    parts : {"one", "month"}
        One trips file, or one per local month in which rides start.
    compress : bool
        Gzip trips and status files.
    snapshots : int or None
        Seconds between snapshots of every station. ``None`` writes no snapshots.
    times : {"local", "utc"}
        Clock of the trips file. Operators write local time, in which one hour occurs twice in autumn.
    progress : callable, optional
        Called with the name of each file before it is written.

    Returns
    -------
    list of Path
        The files. ``city.json`` comes last and lists the others.
    """
    if parts not in ("one", "month"):
        raise ValueError(f"parts must be 'one' or 'month', got {parts!r}")
    if times not in ("local", "utc"):
        raise ValueError(f"times must be 'local' or 'utc', got {times!r}")
    if snapshots is not None and not 1 <= snapshots <= 86_400:
        raise ValueError(f"snapshots must be a number of seconds from 1 to 86400, or None, got {snapshots}")
    target = Path(folder)
    if target.exists() and not target.is_dir():
        raise ValueError(f"folder {target} is a file: give a folder to write the city into")
    target.mkdir(parents=True, exist_ok=True)
    for leftover in target.glob(f"{_STAGING}*"):
        shutil.rmtree(leftover, ignore_errors=True)
    say = progress or (lambda name: None)
    with tempfile.TemporaryDirectory(prefix=_STAGING, dir=target) as staging:
        names = _stage(city, Path(staging), parts, compress, snapshots, times, say)
        (target / "snapshots").mkdir(exist_ok=True)
        for name in _earlier(target) - set(names):
            (target / name).unlink(missing_ok=True)
        # city.json goes last: if it exists, all files it lists are complete.
        for name in names:
            os.replace(Path(staging) / name, target / name)
    return [target / name for name in names]


def _stage(
    city: City,
    staging: Path,
    parts: str,
    compress: bool,
    every: int | None,
    times: str,
    say: Callable[[str], None],
) -> list[str]:
    """Write every file into the staging folder and return the names in order."""
    names: list[str] = []
    ending = ".csv.gz" if compress else ".csv"

    def finish(name: str) -> None:
        if name.endswith(".csv.gz"):
            _compress(staging / name.removesuffix(".gz"), staging / name)
        names.append(name)

    say("trips")
    for name in copy_trips(city, staging, parts, times):
        finish(name.removesuffix(".csv") + ending)
    say("station_status_events")
    copy_status(city, staging / "station_status_events.csv", *status_events(city))
    finish("station_status_events" + ending)
    if every is not None:
        say("station_status_snapshots")
        copy_status(city, staging / "station_status_snapshots.csv", *take_snapshots(city, every))
        finish("station_status_snapshots" + ending)
    say("station_information.json")
    _dump(staging / "station_information.json", station_information(city))
    names.append("station_information.json")
    (staging / "snapshots").mkdir()
    for minute in range(0, 60, 5):  # the rush hour of the first morning
        second = 8 * 3600 + 60 * minute
        name = f"snapshots/station_status_{city.hours.first + second}.json"
        _dump(staging / name, station_status(city, second))
        names.append(name)
    if city.weather is not None:
        names += copy_weather(city, staging)
    say("truth.parquet")
    copy_truth(city, staging / "truth.parquet")
    copy_moves(city, staging / "moves.parquet")
    names += ["truth.parquet", "moves.parquet"]
    _dump(staging / "city.json", describe(city, [*names, "city.json"]))
    return [*names, "city.json"]


def describe(city: City, files: list[str]) -> dict[str, object]:
    """Return the content of ``city.json``: settings, totals, events and the list of files."""
    truth = city.truth
    return {
        "format": 1,
        "settings": asdict(city.settings),
        "first_hour": _utc(city.hours.first),
        "hours": len(city.hours),
        "rides": len(city.rides),
        "requests": int(truth.latent.sum()),
        "lost": int(truth.lost.sum()),
        "spilled": int(truth.spilled_in.sum()),
        "rival": int(truth.rival.sum()),
        "moved": len(city.moves),
        "share_empty": round(city.share_empty, 6),
        **({} if city.targets is None else {"targets": city.targets}),
        "events": [
            {
                "place": city.map.ids[event.place],
                "start": _utc(city.hours.first + 3600 * event.first_hour),
                "hours": event.hours,
                "strength": event.strength,
            }
            for event in city.events
        ],
        "files": files,
    }


def _earlier(target: Path) -> set[str]:
    """Return the files that an earlier city listed, if they lie inside the folder."""
    with suppress(OSError, ValueError, AttributeError, TypeError):
        listed = json.loads((target / "city.json").read_text())["files"]
        return {
            name
            for name in listed
            if isinstance(name, str)
            and (Path(name).parent in (Path("."), Path("snapshots")) and ".." not in name)
        }
    return set()


def _dump(path: Path, content: dict[str, object]) -> None:
    path.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def _compress(plain: Path, packed: Path) -> None:
    """Gzip without name or time, so that the same content gives the same bytes."""
    with (
        plain.open("rb") as source,
        packed.open("wb") as sink,
        gzip.GzipFile(filename="", mode="wb", compresslevel=1, fileobj=sink, mtime=0) as stream,
    ):
        shutil.copyfileobj(source, stream, 1 << 20)
    plain.unlink()


def _utc(posix: int) -> str:
    return datetime.fromtimestamp(posix, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
