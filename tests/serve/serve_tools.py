"""A tiny run folder, a server in its own process, and a client that speaks ASGI without any server."""

import asyncio
import http.client
import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from unmet.tables import write_columns

LEVELS = (5, 10, 25, 50, 75, 90, 95)
EVIL = "</script><script>alert(1)</script>"
IDS = ("-7", "A", "B", "C")
NAMES = ("=1+1", "Station A", EVIL, "Ünder the bridge")
FIRST = np.datetime64("2024-03-04T05:00:00", "us")  # midnight in New York
PAST, AHEAD = 14 * 24, 48
PATIENCE = 120  # seconds that a busy machine may take for what takes one
CURVES = {
    "-7": [4.0, 3.0, 2.5, 2.25, 2.25],
    "A": [2.0, 1.25, 0.75, 0.5, 0.375],
    "B": [0.5, 0.25, 0.125, 0.0625, 0.0625],
    "C": [1.0, 0.875, 0.75, 0.625, 0.5],
}


def write_tiny_run(folder: Path) -> Path:
    """Four places, two weeks of hours, two days ahead; place B is identified only up to 0.75."""
    about = {"zone": "America/New_York", "by": "hour"}

    def rows(first: int, count: int) -> dict[str, np.ndarray]:
        times = FIRST + (first + np.arange(count)) * np.timedelta64(1, "h")
        return {"unique_id": np.repeat(np.array(IDS, dtype=object), count), "ds": np.tile(times, len(IDS))}

    past, ahead = rows(0, PAST), rows(PAST, AHEAD)
    y = np.arange(PAST * len(IDS)) % 5
    censored = y == 4
    exposure = np.where(censored, 0.5, 1.0)
    exposure[0] = np.nan
    write_columns(
        folder / "panel.parquet", past | {"y": y, "censored": censored, "exposure": exposure}, about=about
    )
    lost = np.where(censored, 1.5, 0.0)
    high = np.where((past["unique_id"] == "B") & censored, np.inf, y + 2 * lost)
    behind = {"demand_mean": y + lost, "demand_q05": y, "demand_q50": y + lost, "demand_q95": high}
    behind |= {"lost_mean": lost, "lost_q05": 0 * lost, "lost_q95": high - y, "identified": np.isfinite(high)}
    write_columns(
        folder / "lost.parquet",
        past | {"y": y, "censored": censored, "exposure": exposure} | behind,
        about=about,
    )
    mean = 1.0 + np.arange(AHEAD * len(IDS)) % 24 / 8
    quantiles = {f"q{level:02d}": np.round(mean * level / 50, 6) for level in LEVELS}
    unknown = ahead["unique_id"] == "B"
    for name in ("q90", "q95"):
        quantiles[name][unknown] = np.inf
    up_to = {"identified_up_to": np.where(unknown, 0.75, 0.95)}
    write_columns(folder / "forecast.parquet", ahead | {"mean": mean} | quantiles | up_to, about=about)
    stations = {
        "unique_id": np.array(IDS, dtype=object),
        "name": np.array(NAMES, dtype=object),
        "lat": [40.7, 40.71, 40.72, 40.73],
        "lng": [-74.0, -74.01, -74.02, np.nan],
        "capacity": [4.0, 4.0, 4.0, np.nan],
    }
    write_columns(folder / "stations.parquet", stations, about=about)
    columns = ("unique_id", "name", "capacity", "usual_stock", "target", "expected_lost_usual")
    columns += ("expected_lost_target", "rides_saved", "value_of_next_vehicle", "identified")
    lines = [",".join(columns)]
    lines += [
        f"'{place},x,4,2,2,1,1,0,0,True" if place == "-7" else f"{place},x,4,1,2,1,1,0,0,{place != 'B'}"
        for place in IDS
    ]
    (folder / "plan.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (folder / "curves.json").write_text(json.dumps({"places": CURVES}), encoding="utf-8")
    return folder


@dataclass(frozen=True)
class Answered:
    """What came back: status, headers in lower case, body."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass(frozen=True)
class Service:
    """A server that runs in another process."""

    host: str
    port: int
    pid: int = 0

    def ask(
        self, path: str, method: str = "GET", headers: dict[str, str] | None = None, body: Any = None
    ) -> Answered:
        connection = http.client.HTTPConnection(self.host, self.port, timeout=PATIENCE)
        try:
            connection.request(method, path, body=body, headers=headers or {})
            response = connection.getresponse()
            read = response.read()
            return Answered(response.status, {k.lower(): v for k, v in response.getheaders()}, read)
        finally:
            connection.close()


def start_service(
    folder: Path, token: str = "", stderr: int | None = None
) -> tuple[subprocess.Popen[str], Service]:
    command = [sys.executable, "-W", "error", "-m", "unmet", "serve", str(folder), "--port", "0"]
    command += ["--token", token] if token else []
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=stderr, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == f"Reading {folder} …\n"
    line = process.stdout.readline()
    address = line.split(" at http://")[1].split("/")[0]
    host, port = address.rsplit(":", 1)
    return process, Service(host, int(port), process.pid)


def stop_service(process: subprocess.Popen[str]) -> None:
    process.terminate()
    process.wait(timeout=PATIENCE)
    assert process.stdout is not None
    process.stdout.close()


def ask_app(
    app: Any,
    path: str,
    method: str = "GET",
    headers: dict[str, str] | None = None,
    body: bytes | None = b"",
    times: int = 1,
) -> list[Answered]:
    """Ask an ASGI application, `times` times at once, without a server; a body of None never comes."""
    path, _, query = path.partition("?")
    given = {"host": "localhost"} | (headers or {})
    scope = {
        "type": "http",
        "method": method,
        "path": path,
        "query_string": query.encode(),
        "headers": [(name.encode(), value.encode()) for name, value in given.items()],
    }

    async def one() -> Answered:
        sent: list[dict[str, Any]] = []

        async def receive() -> dict[str, Any]:
            if body is None:
                await asyncio.Event().wait()
            return {"type": "http.request", "body": body, "more_body": False}

        async def send(message: Any) -> None:
            sent.append(message)

        await app(scope, receive, send)
        start, *parts = sent
        found = {name.decode(): value.decode() for name, value in start["headers"]}
        return Answered(start["status"], found, b"".join(part.get("body", b"") for part in parts))

    async def every() -> list[Answered]:
        return list(await asyncio.gather(*(one() for _ in range(times))))

    return asyncio.run(every())
