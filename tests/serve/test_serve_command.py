"""`unmet serve` starts, says where, stops on an interrupt, and refuses in one line."""

import signal
import socket

import pytest
from serve_tools import PATIENCE, start_service

from unmet.cli import main
from unmet.cli._serve import serve


def test_an_interrupt_ends_it_quietly(run_folder):
    process, service = start_service(run_folder)
    assert service.ask("/api/places").status == 200
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=PATIENCE)
    assert out == "Stopped.\n"
    assert process.returncode == 130


def test_another_address_without_a_token_does_not_start(run_folder):
    with pytest.raises(ValueError, match="give a token"):
        serve(run_folder, host="0.0.0.0", port=0)


def test_a_folder_of_something_else_does_not_start(tmp_path, capsys):
    for folder in (tmp_path, tmp_path / "missing"):
        with pytest.raises(ValueError, match="unmet run"):
            serve(folder, port=0)
    assert capsys.readouterr().out == ""  # not even that it is being read


def test_a_port_in_use_is_told_before_the_folder_is_read(tmp_path, capsys, monkeypatch):
    import unmet.serve._server as server

    monkeypatch.setattr(server, "make_app", lambda *_, **__: pytest.fail("the folder was read"))
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        with pytest.raises(SystemExit) as stop:
            main(["serve", str(tmp_path), "--port", str(port)])
    assert stop.value.code == 1
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.startswith(f"unmet serve: cannot listen on 127.0.0.1 port {port}")
    assert "choose another --port" in told.err
    assert told.err.count("\n") == 1


def test_quiet_says_nothing_but_errors(tmp_path, capsys):
    with pytest.raises(SystemExit) as stop:
        main(["serve", str(tmp_path), "--port", "0", "--quiet"])
    assert stop.value.code == 1
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.count("\n") == 1


def test_a_folder_that_cannot_be_read_frees_the_port(tmp_path):
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with pytest.raises(ValueError, match="unmet run"):
        serve(tmp_path, port=port)
    with socket.socket() as again:
        again.bind(("127.0.0.1", port))


def test_a_refusal_is_one_line(run_folder, capsys):
    with pytest.raises(SystemExit) as stop:
        main(["serve", str(run_folder), "--host", "0.0.0.0", "--port", "0"])
    assert stop.value.code == 1
    told = capsys.readouterr().err
    assert told.startswith("unmet serve: other machines can reach 0.0.0.0: give a token")
    assert told.count("\n") == 1
