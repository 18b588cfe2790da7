"""A forecast comes quickly also when twenty clients ask at once; the figures are printed (`pytest -s`)."""

import asyncio
import time

import numpy as np
from serve_tools import AHEAD, IDS

CLIENTS, EACH = 20, 50
AIM = 50.0  # milliseconds


async def client(service, paths: list[str], times: list[float]) -> None:
    """One connection that asks again as soon as it has its answer."""
    reader, writer = await asyncio.open_connection(service.host, service.port)
    for path in paths:
        started = time.perf_counter()
        writer.write(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        head = await reader.readuntil(b"\r\n\r\n")
        length = int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
        body = await reader.readexactly(length)
        times.append(1000 * (time.perf_counter() - started))
        assert head.startswith(b"HTTP/1.1 200 ")
        assert body.startswith(b'{"place":')
    writer.close()
    await writer.wait_closed()


def test_forecasts_under_twenty_clients(service):
    every = [f"/api/forecast?place={place}&horizon={hours}" for place in IDS for hours in range(1, AHEAD + 1)]
    order = np.random.default_rng(0).permutation(CLIENTS * EACH) % len(every)
    times: list[float] = []

    async def all_at_once() -> None:
        asked = [[every[n] for n in own] for own in order.reshape(CLIENTS, EACH)]
        await asyncio.gather(*(client(service, paths, times) for paths in asked))

    asyncio.run(all_at_once())
    assert len(times) == CLIENTS * EACH
    middle, late = np.percentile(times, [50, 95])
    print(f"\n{CLIENTS} clients, {len(times)} forecasts: median {middle:.1f} ms, 95% within {late:.1f} ms")
    # Other work on the same cores may cost several times as much as the aim.
    assert late < 6 * AIM
