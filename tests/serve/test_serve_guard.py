"""Nothing gets past the guard: names, origins, tokens, sizes, time, paths."""

import socket
import time
from threading import Thread

import pytest
from serve_tools import PATIENCE, Answered, ask_app

from unmet.serve import make_app
from unmet.serve._answers import Answers
from unmet.serve._app import make_api
from unmet.serve._connections import IDLE_SECONDS
from unmet.serve._guards import Limits, guarded
from unmet.serve._hosts import Hosts, allowed_hosts, resolve
from unmet.serve._server import prepare
from unmet.serve._source import read_source

TOKEN = "correct-horse-battery"
LOCAL = Hosts(frozenset({"localhost"}))


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1.evil.example", "localhost@evil", "", "localhost:x", "[::1", "0"]
)
def test_a_foreign_host_is_refused_on_every_path(service, host):
    for path in ("/", "/docs", "/openapi.json", "/api/places", "/assets/what_if.css", "/nothing"):
        answered = service.ask(path, headers={"Host": host})
        assert answered.status in (400, 421), path
        assert b"unique_id" not in answered.body


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost:1234", "LOCALHOST", "[::1]:80"])
def test_own_names_are_answered(service, host):
    assert service.ask("/api/places", headers={"Host": host}).status == 200


def test_pages_of_others_get_nothing(service):
    for origin in (
        "http://evil.example",
        "null",
        "http://localhost.evil.example",
        "file://",
        "http://127.0.0.1:1",
    ):
        answered = service.ask("/api/places", headers={"Origin": origin})
        assert answered.status == 403, origin
    own = f"http://{service.host}:{service.port}"
    assert service.ask("/api/places", headers={"Origin": own}).status == 200


def test_every_reply_has_its_headers_and_none_opens_the_door_to_others(service):
    for path in ("/", "/docs", "/api/places", "/api/nothing", "/assets/what_if.js"):
        answered = service.ask(path)
        assert answered.headers["x-content-type-options"] == "nosniff"
        assert answered.headers["x-frame-options"] == "DENY"
        assert answered.headers["referrer-policy"] == "no-referrer"
        assert answered.headers["cross-origin-resource-policy"] == "same-origin"
        assert answered.headers["content-security-policy"].startswith("default-src 'none'")
        assert "frame-ancestors 'none'" in answered.headers["content-security-policy"]
        assert not [name for name in answered.headers if name.startswith("access-control")]
        assert "server" not in answered.headers


@pytest.mark.parametrize("path", ["/", "/docs"])
def test_pages_name_no_other_address(service, path):
    body = service.ask(path).body.decode()
    assert "http://" not in body.replace("http://www.w3.org", "")
    assert "https://" not in body


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"])
def test_other_methods_are_refused(service, method):
    answered = service.ask("/api/forecast?place=A", method)
    assert answered.status == 405
    assert answered.headers["allow"] == "GET, HEAD"


def test_head_has_no_body(service):
    answered = service.ask("/api/places", "HEAD")
    assert answered.status == 200
    assert answered.body == b""
    assert int(answered.headers["content-length"]) > 100


@pytest.mark.parametrize(
    "path",
    [
        "/../../../../etc/passwd",
        "/%2e%2e/%2e%2e/etc/passwd",
        "/assets/../_app.py",
        "/assets/..%2f_app.py",
        "/assets//etc/passwd",
        "/panel.parquet",
        "/run.json",
        "/assets/what_if.js%00.png",
        "//etc/passwd",
        "/docs/",
    ],
)
def test_no_path_opens_a_file(service, path):
    answered = service.ask(path)
    assert answered.status == 404
    assert answered.headers["content-type"] == "application/problem+json"


def send_large(service, head: bytes, chunk: bytes, total: int) -> tuple[int, bytes]:
    """Bytes of a body that could be sent, and what the server said."""
    sent, said = 0, b""
    with socket.create_connection((service.host, service.port), timeout=PATIENCE) as connection:
        connection.sendall(head)
        try:
            while sent < total:
                sent += connection.send(chunk)
        except OSError:
            pass
        try:
            while part := connection.recv(65536):
                said += part
        except OSError:
            pass
    return sent, said


@pytest.mark.parametrize("chunked", [False, True])
def test_a_body_of_200_megabytes_is_refused_unread(service, chunked):
    size = 200 * 1024 * 1024
    length = b"Transfer-Encoding: chunked" if chunked else b"Content-Length: %d" % size
    head = (
        b"POST /api/plan HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        + length
        + b"\r\n\r\n"
    )
    block = b" " * 65536
    chunk = b"10000\r\n" + block + b"\r\n" if chunked else block
    sent, said = send_large(service, head, chunk, size)
    assert said.startswith(b"HTTP/1.1 413 ")
    assert sent < 20 * 1024 * 1024
    assert service.ask("/api/places").status == 200


def test_a_false_length_is_refused(run_folder):
    app = make_app(run_folder)
    for length in ("-1", "1e3", "9" * 400, "٣"):
        (answered,) = ask_app(app, "/api/plan", "POST", {"content-length": length})
        assert answered.status in (400, 413)


def test_a_token_is_asked_of_every_path(run_folder):
    app = make_app(run_folder, token=TOKEN)
    for path in (
        "/",
        "/docs",
        "/openapi.json",
        "/api/places",
        "/assets/what_if.css",
        "/nothing",
        "/?token=wrong",
    ):
        (answered,) = ask_app(app, path)
        assert answered.status == 401, path
        assert answered.headers["www-authenticate"] == "Bearer"
    for given in (TOKEN[:-1], TOKEN + "x", "", "é"):
        (answered,) = ask_app(app, "/api/places", headers={"authorization": f"Bearer {given}"})
        assert answered.status == 401
    (answered,) = ask_app(app, "/api/places", headers={"authorization": f"bearer {TOKEN}"})
    assert answered.status == 200
    assert (
        "securitySchemes"
        in ask_app(app, "/openapi.json", headers={"authorization": f"Bearer {TOKEN}"})[0].json["components"]
    )


def test_a_browser_trades_the_token_for_a_cookie(run_folder):
    app = make_app(run_folder, token=TOKEN)
    (answered,) = ask_app(app, f"/?token={TOKEN}")
    assert (answered.status, answered.headers["location"]) == (303, "/")
    cookie = answered.headers["set-cookie"]
    assert TOKEN not in cookie
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie
    (answered,) = ask_app(app, "/", headers={"cookie": cookie.split(";")[0]})
    assert answered.status == 200
    (answered,) = ask_app(app, "/", headers={"cookie": "unmet_session=guess"})
    assert answered.status == 401


class Slow:
    """Answers that take their time, or fail."""

    def __init__(self, real: Answers, seconds: float = 0.0, error: Exception | None = None) -> None:
        self.real, self.seconds, self.error = real, seconds, error

    def places(self):
        time.sleep(self.seconds)
        if self.error is not None:
            raise self.error
        return self.real.places()


def slow_app(run_folder, limits: Limits | None = None, **how):
    slow = Slow(Answers(read_source(run_folder)), **how)
    return guarded(make_api(slow, {}), LOCAL, None, limits or Limits())


def test_nothing_is_traced(run_folder, monkeypatch):
    """FastAPI traces requests wherever the process has set up OpenTelemetry."""
    telemetry = pytest.importorskip("opentelemetry.trace")
    traced: list[str] = []

    class Recorder(telemetry.TracerProvider):
        def get_tracer(self, *names, **more):
            traced.append("tracer")
            return telemetry.NoOpTracer()

    monkeypatch.setattr(telemetry, "get_tracer_provider", Recorder)
    (answered,) = ask_app(make_app(run_folder), "/api/places")
    assert answered.status == 200
    assert traced == []


def test_a_mistake_of_ours_says_nothing_about_itself(run_folder, caplog):
    app = slow_app(run_folder, error=RuntimeError("secret of /etc/passwd"))
    (answered,) = ask_app(app, "/api/places")
    assert answered.status == 500
    assert b"secret" not in answered.body
    assert b"Traceback" not in answered.body
    assert answered.json["title"] == "Internal Server Error"
    assert "secret" in caplog.text


def test_an_answer_that_takes_too_long_is_given_up(run_folder):
    (answered,) = ask_app(slow_app(run_folder, Limits(seconds=0.05), seconds=1.5), "/api/places")
    assert answered.status == 503
    assert "took too long" in answered.json["detail"]


def test_a_body_that_never_comes_is_not_waited_for(run_folder):
    app = slow_app(run_folder, Limits(seconds=0.2))
    (answered,) = ask_app(app, "/api/plan", "POST", {"content-type": "application/json"}, body=None)
    assert answered.status == 408
    assert answered.headers["connection"] == "close"


def test_too_many_at_once_are_sent_away(run_folder):
    app = slow_app(run_folder, Limits(requests=3), seconds=0.8)
    found: list[Answered] = ask_app(app, "/api/places", times=8)
    assert sorted(one.status for one in found) == [200] * 3 + [503] * 5
    assert all(one.headers["retry-after"] == "1" for one in found if one.status == 503)
    assert ask_app(app, "/api/places")[0].status == 200


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "0", "192.0.2.1"])
def test_another_address_without_a_token_is_refused(run_folder, host):
    with pytest.raises(ValueError, match=r"other machines can reach .* give a token"):
        prepare(run_folder, host=host, port=0)


@pytest.mark.parametrize(
    ("options", "told"), [({"host": ""}, "host"), ({"port": 70000}, "port"), ({"token": ""}, "token")]
)
def test_settings_that_make_no_sense(run_folder, options, told):
    with pytest.raises(ValueError, match=told):
        prepare(run_folder, **({"port": 0} | options))


def test_a_taken_port_is_one_line(run_folder):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(ValueError, match=f"cannot listen on 127.0.0.1 port {port}"):
            prepare(run_folder, port=port)


def test_names_of_a_public_service():
    hosts = allowed_hosts("0.0.0.0", "0.0.0.0", ["demand.example.org"])
    assert hosts.allows("192.0.2.7:8765")
    assert hosts.allows("demand.example.org")
    assert hosts.allows(socket.gethostname())
    assert not hosts.allows("evil.example")
    assert not allowed_hosts("127.0.0.1", "127.0.0.1").allows("192.0.2.7")
    assert resolve("localhost", 0)[1] in ("127.0.0.1", "::1")
    with pytest.raises(ValueError, match="allow_hosts"):
        allowed_hosts("127.0.0.1", "127.0.0.1", ["http://x/"])


def test_a_head_that_never_ends_is_cut_off(run_folder, monkeypatch):
    limit = "unmet.serve._connections.HEAD_SECONDS"
    ready = prepare(run_folder, port=0)
    thread = Thread(target=ready.run)
    thread.start()
    try:
        address = ("127.0.0.1", int(ready.address.rsplit(":", 1)[1].strip("/")))
        whole = b"GET /docs HTTP/1.1\r\nHost: localhost\r\n\r\n"
        for first, then in ((b"", b""), (b"GET / HTTP/1.1\r\nHost: loc", b""), (whole, b"GET / HT")):
            # A whole request has all the time it needs; what follows it has not.
            monkeypatch.setattr(limit, 10 * PATIENCE if then else 0.4)
            with socket.create_connection(address, timeout=PATIENCE) as connection:
                connection.sendall(first)
                if then:
                    assert connection.recv(65536).startswith(b"HTTP/1.1 200")
                    monkeypatch.setattr(limit, 0.4)
                    connection.sendall(then)
                began = time.monotonic()
                while connection.recv(65536):
                    pass
                assert time.monotonic() - began < IDLE_SECONDS - 1
    finally:
        ready.server.should_exit = True
        thread.join(PATIENCE)
    assert not thread.is_alive()
