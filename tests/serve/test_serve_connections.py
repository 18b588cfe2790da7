"""Clients that ask nothing, or never read their answer, cost others nothing; the service stops quietly."""

import asyncio
import contextlib
import http.client
import resource
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from threading import Thread

import numpy as np
import pytest
from serve_tools import PATIENCE, Service, ask_app, start_service

from unmet.serve._connections import STOP_SECONDS, Connection
from unmet.serve._guards import Limits, guarded
from unmet.serve._hosts import Hosts
from unmet.serve._server import Ready, prepare

REQUEST = b"GET /assets/what_if.js HTTP/1.1\r\nHost: localhost\r\n\r\n"
MANY = 400  # requests whose answers no system keeps for a client that does not read them


@contextlib.contextmanager
def running(folder) -> Iterator[tuple[Ready, Service]]:
    """A service in a thread of this process."""
    ready = prepare(folder, port=0)
    thread = Thread(target=ready.run)
    thread.start()
    try:
        yield ready, Service("127.0.0.1", ready.socket.getsockname()[1])
    finally:
        ready.server.should_exit = True
        thread.join(PATIENCE)
        assert not thread.is_alive()


def wait_until(true: Callable[[], bool]) -> bool:
    ends = time.monotonic() + PATIENCE
    while not true() and time.monotonic() < ends:
        time.sleep(0.02)
    return true()


def connect(service: Service, sent: bytes = b"") -> socket.socket:
    """A client with a small buffer that sends something and reads nothing."""
    client = socket.socket()
    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    client.connect((service.host, service.port))
    client.sendall(sent)
    return client


def closed(client: socket.socket) -> bool:
    """Whether the service has ended a connection."""
    client.settimeout(0.2)
    try:
        return not client.recv(1)
    except TimeoutError:
        return False
    except ConnectionError:
        return True


def test_a_new_client_takes_the_place_of_the_one_that_waits_longest(run_folder, monkeypatch):
    monkeypatch.setattr("unmet.serve._connections.CONNECTIONS", 6)
    monkeypatch.setattr("unmet.serve._connections.HEAD_SECONDS", 10 * PATIENCE)
    with running(run_folder) as (ready, service), contextlib.ExitStack() as stack:
        honest = http.client.HTTPConnection(service.host, service.port, timeout=PATIENCE)
        stack.callback(honest.close)

        def ask() -> int:
            honest.request("GET", "/assets/what_if.js")
            response = honest.getresponse()
            return response.status if response.read() else 0

        assert ask() == 200
        same = honest.sock
        idle = [stack.enter_context(connect(service)) for _ in range(20)]
        assert wait_until(lambda: len(ready.server.server_state.connections) == 6)
        assert service.ask("/api/places").status == 200
        # The client that asked something keeps its connection; of the others, the first had to go.
        assert (ask(), honest.sock) == (200, same)
        assert closed(idle[0])
        assert not closed(idle[-1])


def test_a_client_that_never_reads_is_cut_off(run_folder, monkeypatch):
    paused: list[Connection] = []
    pause = Connection.pause_writing
    monkeypatch.setattr(Connection, "pause_writing", lambda one: (paused.append(one), pause(one)))
    monkeypatch.setattr("unmet.serve._connections.SEND_SECONDS", 0.4)
    monkeypatch.setattr("unmet.serve._connections.HEAD_SECONDS", 10 * PATIENCE)
    with running(run_folder) as (ready, service), connect(service, MANY * REQUEST):
        assert wait_until(lambda: bool(paused))
        assert wait_until(lambda: not ready.server.server_state.connections)


def test_a_client_that_reads_slowly_gets_everything(run_folder):
    with running(run_folder) as (_, service), connect(service, 40 * REQUEST) as client:
        client.settimeout(PATIENCE)
        body = service.ask("/assets/what_if.js").body
        found = b""
        while found.count(body) < 40:
            found += client.recv(65536)
            time.sleep(0.001)


def test_answers_that_nobody_reads_leave_room_for_others():
    async def answer(scope, receive, send):
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"x" * 300_000})

    app = guarded(answer, Hosts(frozenset({"localhost"})), None, Limits(requests=2))
    scope = {
        "type": "http",
        "method": "GET",
        "path": "/",
        "query_string": b"",
        "headers": [(b"host", b"localhost")],
    }
    held: list[int] = []

    async def never(message):
        held.append(len(message.get("body", b"")))
        if message["type"] == "http.response.body":
            await asyncio.Event().wait()

    async def ask() -> int:
        deaf = [asyncio.create_task(app(scope, None, never)) for _ in range(5)]
        while len(held) < 7:  # two heads and two first parts; three that are refused at once
            await asyncio.sleep(0.01)
        found = await asyncio.to_thread(ask_app, app, "/")
        for task in deaf:
            task.cancel()
        return found[0].status

    assert asyncio.run(ask()) == 200
    assert max(held) <= 65536  # the rest of the answer waits outside the connection


@pytest.mark.parametrize(("how", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_it_stops_quietly_among_clients_that_never_read(run_folder, how, code):
    process, service = start_service(run_folder, stderr=subprocess.PIPE)
    with contextlib.ExitStack() as stack:
        for sent in [b"", b"GET / HT", REQUEST, MANY * REQUEST] * 5:
            stack.enter_context(connect(service, sent))
        assert service.ask("/api/places").status == 200
        time.sleep(2)  # until the answers that nobody reads fill all buffers
        process.send_signal(how)
        began = time.monotonic()
        out, error = process.communicate(timeout=PATIENCE)
    assert (out, error, process.returncode) == ("Stopped.\n", "", code)
    assert time.monotonic() - began < STOP_SECONDS + 10  # nobody waited for them: that takes SEND_SECONDS


SECONDS, DEAF, IDLE, HONEST = 60, 300, 1000, 20
AIM = 300.0  # milliseconds
PAGE = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"


async def hostile(service: Service, sent: bytes, ends: float, seed: int) -> None:
    """Connect, send, never read; come back a few seconds after being cut off."""
    loop, rng = asyncio.get_running_loop(), np.random.default_rng(seed)
    while time.monotonic() < ends:
        with socket.socket() as client:
            client.setblocking(False)
            with contextlib.suppress(OSError, TimeoutError):
                async with asyncio.timeout(5):
                    await loop.sock_connect(client, (service.host, service.port))
                    await loop.sock_sendall(client, sent)
                while time.monotonic() < ends:
                    await asyncio.sleep(rng.uniform(1, 3))
                    with contextlib.suppress(BlockingIOError):
                        if not client.recv(1, socket.MSG_PEEK):
                            break
        await asyncio.sleep(rng.uniform(1, 5))


async def honest(service: Service, paths: list[str], ends: float, seed: int, times: list[float]) -> None:
    """Ask ten times a second over one connection; open another where the service has closed it."""
    rng = np.random.default_rng(seed)
    writer: asyncio.StreamWriter | None = None
    while time.monotonic() < ends:
        path = paths[rng.integers(len(paths))]
        began = time.perf_counter()
        head = b""
        while not head:
            assert time.perf_counter() - began < 10, f"{path} was not answered"
            if writer is None:
                reader, writer = await asyncio.open_connection(service.host, service.port)
            with contextlib.suppress(OSError, asyncio.IncompleteReadError):
                writer.write(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
                head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 10)
                length = int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
                await asyncio.wait_for(reader.readexactly(length), 10)
                continue
            writer.close()
            writer, head = None, b""
        assert head.startswith(b"HTTP/1.1 200 "), head
        times.append(1000 * (time.perf_counter() - began))
        await asyncio.sleep(rng.uniform(0.05, 0.15))
    if writer is not None:
        writer.close()


def late(service: Service, paths: list[str], seconds: float, deaf: int, idle: int) -> float:
    """Milliseconds within which 95% of the honest clients' questions are answered."""
    times: list[float] = []

    async def all_at_once() -> None:
        ends = time.monotonic() + seconds
        async with asyncio.TaskGroup() as group:
            for seed in range(deaf + idle):
                group.create_task(hostile(service, 3 * PAGE if seed < deaf else b"", ends, seed))
            for seed in range(HONEST):
                group.create_task(honest(service, paths, ends, seed, times))

    asyncio.run(all_at_once())
    middle, found, most = np.percentile(times, [50, 95, 100])
    told = f"{len(times)} answers: median {middle:.0f} ms, 95% within {found:.0f}, all within {most:.0f}"
    print(f"\n{HONEST} honest, {deaf} that never read, {idle} idle: {told}")
    assert len(times) > HONEST * seconds
    return float(found)


@pytest.mark.slow
def test_honest_clients_among_300_that_never_read_and_1000_that_ask_nothing(tmp_path):
    from sample_run import write_sample_run

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard < 4096:
        pytest.skip("this machine allows too few open files")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, 4096), hard))
    process, service = start_service(write_sample_run(tmp_path, places=24, days=14), stderr=subprocess.PIPE)
    place = service.ask("/api/places").json["places"][0]["unique_id"]
    paths = [f"/api/forecast?place={place}", f"/api/panel?place={place}", "/api/places", "/api/plan", "/"]
    try:
        late(service, paths, 10, 0, 0)  # printed beside the other figure
        among = late(service, paths, SECONDS, DEAF, IDLE)
    finally:
        process.send_signal(signal.SIGINT)
        out, error = process.communicate(timeout=PATIENCE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert (out, error, process.returncode) == ("Stopped.\n", "", 130)
    assert among < AIM
