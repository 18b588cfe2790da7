"""Mutated weather, TOML, panels, run folders and models: a result or one line, and nothing half-written.

Trips, status and stations are in tests/mobility/sources/test_sources_fuzz.py.
"""

import json
import os
import random
import shutil
import time
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from cli_tools import QUICK, call, contents

from mutations import mutate, mutate_columns, mutate_json, pack
from unmet.runs import load_model, save_model
from unmet.tables import read_columns, write_columns

SECONDS = 60
# UNMET_FUZZ=1000:1100 does a fifth of them.
SEEDS = range(*map(int, os.environ.get("UNMET_FUZZ", "1000:1500").split(":")))
TOML = """# options of a panel
zone = "America/New_York"
by = "hour"
calendar = true
max-reject-share = 0.5
memory = "1GB"
weather-keep = ["place=1"]
describe = "P01"
days = 3
"""
TRIPS = """ride_id,rideable_type,started_at,ended_at,start_station_name,start_station_id,end_station_name,\
end_station_id,start_lat,start_lng,end_lat,end_lng,member_casual
1,bike,2021-02-03 10:11:28,2021-02-03 10:21:28,A,P01,B,b,40.1,-74.1,40.2,-74.1,member
2,bike,2021-02-03 12:11:28,2021-02-03 12:21:28,B,b,A,P01,40.2,-74.1,40.1,-74.1,member
"""


@pytest.fixture
def prepared(finished: Path, tmp_path: Path) -> Path:
    """A folder with small trips, weather, TOML and the files of a finished run."""
    (tmp_path / "trips.csv").write_text(TRIPS)
    rows = "".join(f"2021-02-{day:02d},{day}.5,{day % 3},1\n" for day in range(1, 29))
    (tmp_path / "weather.csv").write_text("date,temperature,rain,place\n" + rows)
    (tmp_path / "options.toml").write_text(TOML)
    shutil.copytree(finished, tmp_path / "sound")
    return tmp_path


def damaged(data: bytes, chance: random.Random, packed: bool = False) -> bytes:
    for _ in range(chance.randrange(1, 4)):
        data = mutate(data, chance) or b" "
    return (pack(data, chance, "{}") if packed else data) or b" "


def damage(path: Path, chance: random.Random) -> None:
    """Change the bytes of a file, or what it holds."""
    if chance.random() < 0.4:
        path.write_bytes(damaged(path.read_bytes(), chance))
    elif path.suffix == ".parquet":
        columns, about = read_columns(path)
        changed = mutate_columns(columns, chance)
        write_columns(path, changed, about=about if chance.random() < 0.9 else {})
    elif path.suffix == ".json":
        found = json.loads(path.read_bytes())
        for _ in range(chance.randrange(1, 4)):
            found = mutate_json(found, chance)
        path.write_text(json.dumps(found, indent=1, sort_keys=True) + "\n")
    else:
        path.write_bytes(damaged(path.read_bytes(), chance))


def fuzz_weather(folder: Path, chance: random.Random) -> int:
    path = folder / f"mutated{chance.choice(['.csv', '.CSV', '', '.csv.gz', '.parquet'])}"
    path.write_bytes(damaged((folder / "weather.csv").read_bytes(), chance, packed=True))
    try:
        return call(
            *("panel", folder / "trips.csv", "--zone", "UTC", "-q", "-o", folder / "out.parquet"),
            *("--weather", path, *(["--weather-keep", "place=1"] if chance.random() < 0.3 else [])),
        )
    finally:
        path.unlink()


def fuzz_toml(folder: Path, chance: random.Random) -> int:
    path = folder / "mutated.toml"
    path.write_bytes(damaged((folder / "options.toml").read_bytes(), chance))
    return call(
        *("panel", folder / "trips.csv", "--weather", folder / "weather.csv", "--config", path),
        *("-q", "-o", folder / "out.parquet", "--picture", folder / "out.png"),
    )


def fuzz_hubs(folder: Path, chance: random.Random) -> int:
    if chance.random() < 0.5:
        path, data = folder / "mutated.csv", b"place,hub\nP01,h1\nb,h2\n"
    else:
        path, data = folder / "mutated.json", b'{"h1": ["P01"], "h2": ["b"]}'
    path.write_bytes(damaged(data, chance))
    return call(
        *("panel", folder / "trips.csv", "--zone", "UTC", "--hubs", path, "-q", "-o", folder / "out.parquet")
    )


def fuzz_panel(folder: Path, chance: random.Random) -> int:
    path = shutil.copy(folder / "sound" / "panel.parquet", folder / "mutated.parquet")
    damage(Path(path), chance)
    return call("fit", path, "-o", folder / "out", *QUICK, "-q")


def fuzz_folder(folder: Path, chance: random.Random, part: str = "") -> int:
    """Damage one file of a run, then ask for something that reads it."""
    run = shutil.copytree(folder / "sound", folder / "out")
    files = [path for path in sorted(run.rglob("*")) if path.is_file() and part in str(path.relative_to(run))]
    path = chance.choice([one for one in files if one.name not in ("log.jsonl", "report.html")])
    if not part or chance.random() < 0.5:
        damage(path, chance)
    else:  # with right checksums
        config, arrays = load_model(path.parent)
        changed = mutate_json(config, chance)
        save_model(path.parent, changed if isinstance(changed, dict) else {"kind": changed}, arrays)
    before = contents(run)
    command = chance.choice(["report", "plan", "forecast"] if not part else ["plan", "forecast"])
    more = {"plan": ["--fleet", 12], "forecast": ["--horizon", 9], "report": ["--title", "T"]}[command]
    code = call(command, run, *more, "-q")
    if code:
        assert contents(run) == before, f"{command} failed and changed files after damage to {path.name}"
    return code


def fuzz_model(folder: Path, chance: random.Random) -> int:
    return fuzz_folder(folder, chance, "model")


KINDS: dict[str, Callable[[Path, random.Random], int]] = {
    "weather": fuzz_weather,
    "toml": fuzz_toml,
    "hubs": fuzz_hubs,
    "panel": fuzz_panel,
    "folder": fuzz_folder,
    "model": fuzz_model,
}


def fuzz(kind: str, folder: Path, seeds: range, capsys: pytest.CaptureFixture[str]) -> Counter[int]:
    codes: Counter[int] = Counter()
    slowest = 0.0
    for seed in seeds:
        began = time.process_time()  # not of the wall: the machine may be busy
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # a panel may well be odd
                code = KINDS[kind](folder, random.Random(seed))
            told = capsys.readouterr()
            assert code in (0, 1, 2)
            assert told.err.count("\n") == (1 if code else 0), told.err
            assert not list(folder.rglob("*.part"))
            assert code == 0 or not (folder / "out.parquet").exists()
            took = time.process_time() - began
            assert took < SECONDS
        except BaseException as error:
            error.add_note(f"{kind}, seed {seed}")
            raise
        codes[code] += 1
        slowest = max(slowest, took)
        shutil.rmtree(folder / "out", ignore_errors=True)
        for name in ("out.parquet", "out.png"):
            (folder / name).unlink(missing_ok=True)
    with capsys.disabled():
        print(f"\n{kind}: {len(seeds)} files, exit codes {dict(codes)}, slowest {slowest:.1f} s")
    return codes


@pytest.mark.parametrize("kind", KINDS)
def test_a_few_mutations(prepared, kind, capsys):
    codes = fuzz(kind, prepared, range(8), capsys)
    assert codes[1] + codes[2] > 0


@pytest.mark.slow
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("kind", KINDS)
def test_hundreds_of_mutations(prepared, kind, capsys):
    codes = fuzz(kind, prepared, SEEDS, capsys)
    assert codes[1] + codes[2] > len(SEEDS) / 10
