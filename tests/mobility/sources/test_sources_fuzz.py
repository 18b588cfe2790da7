"""Mutated files: counts that add up or one clean error, never anything else."""

import bz2
import gzip
import io
import json
import lzma
import random
import zipfile
from pathlib import Path

import duckdb
import pytest
from backports import zstd
from source_examples import EXAMPLES, STATUS
from world_examples import LAYOUTS, STATUS_KOREAN, make_rides, written, youbike

from mutations import damaged, mutate, pack
from unmet.mobility import read_stations, read_status, read_trips

RECORDS = STATUS + "".join(f"{1604188880 + 60 * n},{n % 9},1,s{n % 3},1,1,{9 - n % 9}\n" for n in range(40))
FEED = json.dumps(
    {
        "last_updated": 1604188880,
        "data": {
            "stations": [
                {
                    "station_id": f"s{n}",
                    "num_bikes_available": n,
                    "num_docks_available": 9,
                    "is_renting": 1,
                    "is_returning": 1,
                    "is_installed": 1,
                    "last_reported": 1604188880,
                }
                for n in range(20)
            ]
        },
    }
)
INFORMATION = json.dumps(
    {
        "data": {
            "stations": [
                {"station_id": f"s{n}", "name": f"N{n}", "lat": 1.5, "lon": n, "capacity": 5}
                for n in range(20)
            ]
        }
    }
)


def longer(text: str) -> str:
    """A fixture with its rows repeated, so that mutations have something to hit."""
    header, *rows = text.strip().splitlines()
    return "\n".join([header, *(rows * 20)]) + "\n"


def pack_more(data: bytes, random_: random.Random, beside: str) -> bytes:
    """The text as it is or in one of the other packings, which may be damaged too."""
    kind = random_.randrange(8)
    if kind < 3:
        return data
    if kind < 6:
        packed = (bz2.compress, lzma.compress, zstd.compress)[kind - 3](data)
    else:
        inner = zipped("a.csv" if kind == 6 else "a.csv.xz", data if kind == 6 else lzma.compress(data))
        packed = zipped("inner.zip", inner)
    return damaged(packed, random_)


def zipped(name: str, data: bytes) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, data)
    return buffer.getvalue()


def lines_of(path: Path) -> int | None:
    """Physical lines of a plain text file, counted here and not by the package; None for anything else."""
    data = path.read_bytes()
    packed = (b"\x1f\x8b", b"PK", b"\xff\xfe", b"\xfe\xff", b"PAR1", b"BZh", b"\xfd7zXZ", b"\x28\xb5\x2f\xfd")
    if data.startswith(packed):
        return None
    if b"\n" not in data[:4096] and b"\r" in data[:4096]:
        data = data.replace(b"\r", b"\n")
    if data.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] in (b"{", b"["):
        return None
    return data.count(b"\n") + (not data.endswith(b"\n"))


def attempt(con: duckdb.DuckDBPyConnection, path: Path, kind: str) -> str:
    """Read once; returns how it went, fails where the counts do not add up or the error is not clean."""
    share = 1.0
    try:
        if kind == "trips":
            report = read_trips(con, path, zone="America/New_York", max_reject_share=share)
        elif kind == "status":
            report = read_status(con, path, zone="America/New_York", max_reject_share=share)
        else:
            report = read_stations(con, path, max_reject_share=share)
    except (ValueError, OSError) as error:
        message = str(error)
        assert message
        assert "\n" not in message
        assert "do not add up" not in message
        assert "DuckDB could not" not in message
        return "refused"
    assert report.lines == report.headers + report.accepted + report.rejected
    assert sum(report.reasons.values()) == report.rejected
    counted = con.execute("SELECT count(*), count(reason) FROM rejects WHERE kind = ?", [kind]).fetchone()
    assert counted == (report.rejected, report.rejected)
    if kind == "trips":
        assert con.execute("SELECT count(*) FROM trips").fetchone() == (report.rides,)
    expected = lines_of(path)
    if expected is not None:
        assert report.lines == expected
    return "read"


CASES = [(name, "trips", longer(example.text).encode()) for name, example in EXAMPLES.items()]
CASES += [("status", "status", RECORDS.encode()), ("feed", "status", FEED.encode())]
CASES += [("information", "stations", INFORMATION.encode())]


def json_lines(text: str) -> bytes:
    header, *rows = (line.split(",") for line in text.strip().splitlines())
    return "\n".join(json.dumps(dict(zip(header, row)), ensure_ascii=False) for row in rows).encode()


RIDES = make_rides(40)
WORLD = [(name, "trips", written(name, rides=RIDES).encode()) for name in LAYOUTS]
WORLD += [
    (f"{name} in CP949", "trips", written(name, rides=RIDES).encode("cp949")) for name in ("Seoul", "Toronto")
]
WORLD += [("unknown", "trips", written("Seoul", LAYOUTS["Seoul"][2], RIDES).encode("cp949"))]
WORLD += [
    ("youbike", "status", youbike().encode()),
    ("unknown", "status", youbike(STATUS_KOREAN).encode("cp949")),
]
WORLD += [
    (f"{name} as JSON Lines", "trips", json_lines(written(name, rides=RIDES)))
    for name in ("Seoul", "BIXI from 2022")
]
WORLD += [("feed by line", "status", "\n".join([FEED] * 5).encode())]


def heads(data: Path) -> list[tuple[str, str, bytes]]:
    """The first lines of the real files."""
    jersey = next((data / "jersey_city_2019").glob("JC-201901*.zip"))
    with zipfile.ZipFile(jersey) as archive:
        trips = archive.read(archive.namelist()[0])
    files = [
        ("trips", trips),
        ("trips", gzip.decompress((data / "jump_sf_2018" / "pickups.csv.gz").read_bytes())),
        ("trips", (data / "munich_carsharing_2019" / "carsharing.csv").read_bytes()),
        ("trips", gzip.decompress((data / "bay_area_2014" / "trips.csv.gz").read_bytes())),
        ("stations", (data / "bay_area_2014" / "stations.csv").read_bytes()),
    ]
    short = [("real", kind, b"".join(content.splitlines(keepends=True)[:300])) for kind, content in files]
    status = (data / "gbfs" / "example_v2.3" / "station_status.json").read_bytes()
    information = (data / "jersey_city_winter" / "station_information.json").read_bytes()
    return [*short, ("real", "status", status), ("real", "stations", information)]


def fuzz(
    con: duckdb.DuckDBPyConnection, folder: Path, seeds: range, cases: list = CASES, packing=pack
) -> dict[str, int]:
    outcomes = {"read": 0, "refused": 0}
    path = folder / "fuzzed"
    for seed in seeds:
        random_ = random.Random(seed)
        name, kind, data = cases[seed % len(cases)]
        for _ in range(random_.randrange(1, 4)):
            data = mutate(data, random_) or b" "
        path.write_bytes(packing(data, random_, FEED) or b" ")
        try:
            outcomes[attempt(con, path, kind)] += 1
        except BaseException as error:
            error.add_note(f"seed {seed}, {name}")
            raise
    assert outcomes["read"] > len(seeds) / 4  # the mutations are not all fatal
    assert outcomes["refused"] > 0
    return outcomes


def test_mutations_of_hand_written_files(con: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    fuzz(con, tmp_path, range(130))


def test_mutations_of_the_heads_of_real_files(
    con: duckdb.DuckDBPyConnection, tmp_path: Path, data: Path
) -> None:
    fuzz(con, tmp_path, range(70), heads(data))


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("part", range(5))
def test_thousands_of_mutations(con: duckdb.DuckDBPyConnection, tmp_path: Path, part: int) -> None:
    fuzz(con, tmp_path, range(1000 * (part + 1), 1000 * (part + 2)))


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_a_thousand_mutations_of_real_files(
    con: duckdb.DuckDBPyConnection, tmp_path: Path, data: Path
) -> None:
    fuzz(con, tmp_path, range(10_000, 11_000), heads(data))


def test_mutations_of_other_layouts_and_packings(con: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    fuzz(con, tmp_path, range(70), WORLD, pack_more)


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("part", range(2))
def test_two_thousand_mutations_of_other_layouts_and_packings(
    con: duckdb.DuckDBPyConnection, tmp_path: Path, part: int
) -> None:
    outcomes = fuzz(con, tmp_path, range(20_000 + 1000 * part, 21_000 + 1000 * part), WORLD, pack_more)
    print(outcomes)
