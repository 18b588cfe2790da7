"""Every file argument of every command takes any name, and no header of a file ever runs.

The arguments come from the application itself: a new one fails here until it is tried too.
"""

import csv
import gzip
import io
import json
import os
import shutil
from importlib import import_module
from pathlib import Path
from typing import get_type_hints

import pytest
from cli_tools import QUICK, call

from unmet.cli._app import COMMANDS, application
from unmet.tables import read_columns

# A name that is a pattern, with a file beside it that the pattern matches; and one that is SQL.
NAMES = {"pattern": ("a[1]b*c?d", "a1bxcyd"), "sql": ("q'\"; DROP TABLE trips; --\nx", "other")}
INJECTION = "x\"; COPY (SELECT 1) TO '{folder}/stolen.csv'; SELECT \"'y"


def path_parameters(command: str) -> set[str]:
    """Names of the parameters of a command that may be paths."""
    types = get_type_hints(getattr(import_module(f"unmet.cli._{command}"), command))
    paths = {name for name, kind in types.items() if "Path" in str(kind)}
    found = application().get_command(None, command).params
    return paths | {one.name for one in found if "FILE" in str(one.metavar)}


class Names:
    """Paths with odd names in a folder, each beside a decoy."""

    def __init__(self, folder: Path, kind: str) -> None:
        self.folder = folder
        self.odd, self.decoy = NAMES[kind]

    def new(self, ending: str) -> Path:
        (self.folder / f"{self.decoy}{ending}").write_bytes(b"this file was not named\n")
        return self.folder / f"{self.odd}{ending}"

    def file(self, ending: str, data: bytes) -> Path:
        path = self.new(ending)
        path.write_bytes(data)
        return path

    def run_folder(self, finished: Path) -> Path:
        shutil.copytree(finished, self.folder / f"{self.decoy}-run")
        (self.folder / f"{self.decoy}-run" / "run.json").write_text("{")
        return shutil.copytree(finished, self.folder / f"{self.odd}-run")

    def check(self) -> None:
        assert not (self.folder / "stolen.csv").exists()
        decoys = [path for path in self.folder.glob(f"{self.decoy}*") if path.is_file()]
        assert all(path.read_bytes() == b"this file was not named\n" for path in decoys)


def with_injection(text: str, folder: Path) -> bytes:
    """A table with one more column, whose name is an attack."""
    header, *rows = list(csv.reader(io.StringIO(text)))
    file = io.StringIO()
    name = INJECTION.replace("{folder}", str(folder))
    csv.writer(file, lineterminator="\n").writerows([[*header, name], *([*row, "1"] for row in rows)])
    return file.getvalue().encode()


@pytest.fixture
def inputs(city, tmp_path, kind):
    """Options of `panel` and `run` by the name of their parameter, all files under odd names."""
    source = city[0]
    names = Names(tmp_path, kind)

    def table(name: str, ending: str) -> Path:
        data = (source / name).read_bytes()
        text = (gzip.decompress(data) if name.endswith(".gz") else data).decode()
        return names.file(ending, with_injection(text, tmp_path))

    stations = json.loads((source / "station_information.json").read_text())["data"]["stations"]
    rows = [
        f"{one['station_id']},{one['station_id']},{one['lat']},{one['lon']},{one['capacity']}"
        for one in stations
    ]
    text = "\n".join(["station_id,name,lat,lon,capacity", *rows]) + "\n"
    hubs = "\n".join(["place,hub", *(f"{one['station_id']},all" for one in stations)]) + "\n"
    return names, {
        "trips": table("trips.csv.gz", "-trips.csv"),
        "status": table("station_status_events.csv.gz", "-status.csv"),
        "stations": names.file("-stations.csv", with_injection(text, tmp_path)),
        "weather": table("weather_daily.csv", "-weather.csv"),
        "hubs": names.file("-hubs.csv", with_injection(hubs, tmp_path)),
        "area": names.file("-area.geojson", json.dumps(WORLD).encode()),
        "config": names.file(".toml", b'zone = "America/New_York"\n'),
    }


def options(given: dict[str, Path]) -> list[object]:
    """The command line that gives these files."""
    found: list[object] = [given["trips"]]
    for name, path in given.items():
        if name != "trips":
            found += [f"--{name}", path]
    return found


WORLD = {"type": "Polygon", "coordinates": [[[-179, -89], [179, -89], [179, 89], [-179, 89], [-179, -89]]]}
kinds = pytest.mark.parametrize("kind", NAMES)


@kinds
def test_panel(inputs, tmp_path):
    names, given = inputs
    panel, picture = names.new(".parquet"), names.new(".png")
    assert {*given, "output", "picture"} == path_parameters("panel")
    without_hubs = {name: path for name, path in given.items() if name != "hubs"}
    assert (
        call("panel", *options(without_hubs), "-q", "-o", panel, "--describe", "P01", "--picture", picture)
        == 0
    )
    columns, _ = read_columns(panel)
    name = INJECTION.replace("{folder}", str(tmp_path))
    assert columns[name].tolist().count(1.0) == len(columns["y"])  # of the weather, taken as a name
    assert picture.stat().st_size > 1000
    assert call("panel", *options(given), "-q", "-o", panel) == 0
    assert set(read_columns(panel)[0]["unique_id"]) == {"all"}
    names.check()


@pytest.mark.slow
@kinds
def test_run(inputs):
    names, given = inputs
    ahead = names.file("-ahead.csv", b"date,rain\n2024-03-26,1\n2024-03-27,0\n")
    given = {**given, "covariates": ahead}
    assert {*given, "output"} == path_parameters("run")
    output = names.folder / f"{names.odd}-out"
    without_hubs = {name: path for name, path in given.items() if name != "hubs"}
    assert call("run", *options(without_hubs), *QUICK, "-q", "-o", output) == 0
    assert (output / "report.html").is_file()
    names.check()


@pytest.mark.slow
@kinds
def test_fit_and_what_follows(inputs, finished):
    names, given = inputs
    panel = names.file(".parquet", (finished / "panel.parquet").read_bytes())
    config = names.file("-fit.toml", b"seed = 1\n")
    output = names.folder / f"{names.odd}-out"
    assert path_parameters("fit") == {"panel", "output", "stations", "config"}
    assert (
        call("fit", panel, "--stations", given["stations"], "--config", config, *QUICK, "-q", "-o", output)
        == 0
    )
    names.check()


@kinds
def test_commands_on_a_run_folder(finished, tmp_path, kind):
    from unmet.serve._server import prepare

    names = Names(tmp_path, kind)
    folder = names.run_folder(finished)
    settings = {"forecast": b"horizon = 24\n", "plan": b"fleet = 12\n", "report": b'title = "T"\n'}
    for command, text in settings.items():
        more = {"covariates"} if command == "forecast" else set()
        assert path_parameters(command) == {"folder", "config"} | more
        config = names.file(f"-{command}.toml", text)
        assert call(command, folder, "--config", config, "-q") == 0
    ahead = names.file("-ahead.csv", b"date,rain\n2024-03-26,1\n2024-03-27,0\n")
    assert call("forecast", folder, "--covariates", ahead, "-q") == 1  # its column is none of the model
    assert path_parameters("serve") == {"folder"}
    prepare(folder, port=0).socket.close()
    names.check()


@kinds
def test_city(tmp_path, kind):
    names = Names(tmp_path, kind)
    assert path_parameters("city") == {"output"}
    output = names.folder / f"{names.odd}-city"
    assert call("city", "-o", output, "--size", "village", "--days", 2, "--no-snapshots", "-q") == 0
    assert (output / "city.json").is_file()
    names.check()


@kinds
def test_compare(tmp_path, kind):
    names = Names(tmp_path, kind)
    assert path_parameters("compare") == {"table", "output", "config"}
    rows = "\n".join(f"{row % 7},{row % 5 + row % 7}" for row in range(60))
    table = names.file("-table.csv", with_injection(f"x,y\n{rows}\n", tmp_path))
    config = names.file("-compare.toml", b'y = "y"\nmethods = "Kaplan\xe2\x80\x93Meier"\njobs = 1\n')
    output = names.folder / f"{names.odd}-compare"
    assert call("compare", table, "--config", config, "-o", output, "-q") == 0
    assert (output / "comparison.json").is_file()
    names.check()


@pytest.mark.slow
@kinds
def test_demo(tmp_path, kind):
    names = Names(tmp_path, kind)
    assert path_parameters("demo") == {"output"}
    output = names.folder / f"{names.odd}-demo"
    assert call("demo", "-o", output, "--size", "village", "--days", 42, "-q") == 0
    assert (output / "truth.json").is_file()
    names.check()


@pytest.mark.slow
@kinds
def test_paper(inputs):
    from unmet.papers import insert_tables

    names, given = inputs
    assert path_parameters("paper") == {"output", "into", "trips", "stations"}
    output = names.folder / f"{names.odd}-paper"
    arguments = ["--trips", given["trips"], "--stations", given["stations"], "--zone", "America/New_York"]
    assert call("paper", "bikes", "--smoke", *arguments, "--jobs", 1, "-q", "-o", output) == 0
    written = sorted(path.stem for path in (output / "smoke").glob("*.md"))
    markers = "".join(f"<!-- {name} -->\n<!-- /{name} -->\n" for name in written)
    document = names.file(".md", markers.encode())
    insert_tables(document, output / "smoke", written)
    names.check()


def test_every_command_with_a_path_is_tried():
    tried = {"panel", "run", "fit", "forecast", "plan", "report", "serve", "city", "demo", "paper", "compare"}
    assert {command for command in COMMANDS if path_parameters(command)} == tried


@pytest.mark.parametrize("thing", ["pipe", "/dev/zero", "folder"])
@pytest.mark.parametrize("option", ["trips", "--status", "--stations", "--weather", "--hubs", "--config"])
def test_only_regular_files_are_read(city, tmp_path, capsys, option, thing):
    """A pipe would block for ever and a device would never end."""
    path = Path(thing)
    if thing == "pipe":
        path = tmp_path / "pipe.csv"
        os.mkfifo(path)
    elif thing == "folder":
        path = tmp_path / "folder"
        path.mkdir()
    trips = path if option == "trips" else city[0] / "trips.csv.gz"
    more = [] if option == "trips" else [option, path]
    arguments = ["panel", trips, "--zone", "America/New_York", "-q", "-o", tmp_path / "panel.parquet"]
    assert call(*arguments, *more) in (1, 2)
    told = capsys.readouterr().err
    assert told.count("\n") == 1
    assert str(path) in told


@pytest.mark.parametrize(
    ("name", "words"),
    [(os.fsdecode(b"a\xff.csv"), "is not UTF-8 here; rename the file"), ("", "an empty path")],
)
def test_names_that_no_command_takes(tmp_path, monkeypatch, capsys, name, words):
    """Bytes that are no text, and what an unset variable of the shell leaves."""
    monkeypatch.chdir(tmp_path)
    for arguments in (
        ["panel", name, "--zone", "UTC", "-o", "p.parquet"],
        ["panel", "trips.csv", "--weather", name, "-o", "p.parquet"],
        ["run", "trips.csv", "--zone", "UTC", "-o", name],
        *([command, name] for command in ("fit", "forecast", "plan", "report", "serve")),
    ):
        assert call(*arguments) == 2, arguments
        told = capsys.readouterr().err
        assert words in told
        assert told.count("\n") == 1
    assert not list(tmp_path.iterdir())
