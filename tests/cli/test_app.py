"""The command line itself: overview, help, unknown commands, exit codes."""

import inspect
import re
import resource
import signal
import subprocess
import sys
import threading
import types
from importlib import import_module

import pytest

import unmet
from unmet.cli import main
from unmet.cli._app import COMMANDS
from unmet.cli._help import spread


def run(*arguments: str) -> int:
    with pytest.raises(SystemExit) as stop:
        main(list(arguments))
    return int(stop.value.code or 0)


@pytest.fixture
def shop(monkeypatch):
    """A command that does what the test tells it to."""
    import typer

    module = types.ModuleType("unmet.cli._shop")
    module.EXAMPLE = "Example: unmet shop --count 3"
    module.happens = None
    module.counts = []

    def shop(count: int = 1, file: list[str] = typer.Option([], metavar="FILE…")) -> None:  # noqa: B008
        """Sell something."""
        module.counts.append(count)
        module.files = file
        if isinstance(module.happens, signal.Signals):
            signal.raise_signal(module.happens)
        elif module.happens is not None:
            raise module.happens

    module.shop = shop
    monkeypatch.setitem(sys.modules, "unmet.cli._shop", module)
    monkeypatch.setitem(COMMANDS, "shop", "Sell something.")
    return module


@pytest.mark.parametrize("arguments", [(), ("--help",), ("-h",), ("help",)])
def test_the_overview_names_every_command(arguments, capsys):
    assert run(*arguments) == 0
    printed = capsys.readouterr().out
    for name in COMMANDS:
        assert f"\n  {name} " in printed
    assert "Example: unmet demo" in printed


@pytest.mark.parametrize("width", [30, 60, 100])
def test_the_overview_fits_the_terminal(width, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(width))
    run()
    assert max(map(len, capsys.readouterr().out.splitlines())) <= max(width, 30)


def test_the_overview_is_quick_and_light():
    code = (
        "import sys\nfrom unmet.cli import main\ntry:\n    main(['--help'])\nexcept SystemExit:\n    pass\n"
        "heavy = ('rich', 'pydantic', 'numpy', 'jax', 'duckdb', 'unmet.cli._run')\n"
        "print([name for name in heavy if name in sys.modules], file=sys.stderr)"
    )
    seconds = []  # of the processor, which do not depend on what else the machine does
    for _ in range(3):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds.append(after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime)
        assert done.stderr.strip() == "[]"
    assert min(seconds) < 0.3


def test_version(capsys):
    assert run("--version") == 0
    assert capsys.readouterr().out.strip() == f"unmet {unmet.__version__}"


def test_an_unknown_command_gets_a_suggestion(capsys):
    assert run("repotr") == 2
    told = capsys.readouterr().err
    assert told == "unmet: no such command 'repotr'. Did you mean 'report'? (see unmet --help)\n"
    assert run("xyzzy") == 2
    assert "(see unmet --help)" in capsys.readouterr().err


# Options whose name is not that of their argument.
WORDS = {"as_json": "json", "show": "open", "open_browser": "open"}


@pytest.mark.parametrize("width", ["40", "80"])
@pytest.mark.parametrize("name", list(COMMANDS))
def test_every_help_fits_and_ends_with_an_example(name, width, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", width)
    assert run(name, "--help") == 0
    printed = capsys.readouterr().out
    assert f"Usage: unmet {name}" in printed
    assert f"Example: unmet {name}" in printed[printed.rindex("\n\n") :]
    assert max(map(len, printed.splitlines())) <= int(width)
    assert not re.search(r"<\w|[{}]|list\[", printed)  # placeholders are words, not types
    module = import_module(f"unmet.cli._{name}")
    for argument in inspect.signature(getattr(module, name)).parameters:
        assert re.search(
            rf"^  (-\w, )?--{WORDS.get(argument, argument.replace('_', '-'))}\b", printed, re.M
        ) or (argument in ("trips", "panel", "folder", "table", "what", "shell"))


def test_success_runs_the_command(shop):
    assert run("shop", "--count", "3") == 0
    assert shop.counts == [3]


def test_a_file_that_lacks_something_is_named_in_one_line(shop, capsys):
    shop.happens = KeyError("returns")
    assert run("shop") == 1
    printed = capsys.readouterr().err
    assert printed.startswith("unmet shop: a file of the run lacks 'returns'")
    assert printed.count("\n") == 1


@pytest.mark.parametrize("problem", [ValueError("no such thing"), FileNotFoundError(2, "No such file", "a")])
def test_bad_input_is_one_line_and_exit_code_1(shop, capsys, problem):
    shop.happens = problem
    assert run("shop") == 1
    printed = capsys.readouterr()
    assert printed.err == f"unmet shop: {problem}\n"
    assert printed.out == ""


def test_a_database_without_memory_is_one_line(shop, capsys):
    import duckdb

    shop.happens = duckdb.OutOfMemoryException(
        "Out of Memory Error: could not allocate\nPossible solutions: …"
    )
    assert run("shop") == 1
    told = capsys.readouterr().err
    assert told == "unmet shop: the database needs more memory than --memory allows; raise it.\n"
    shop.happens = ValueError("x.csv cannot be read")
    shop.happens.__context__ = duckdb.OutOfMemoryException("could not allocate")
    assert run("shop") == 1
    assert "more memory than --memory allows" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("number", "code", "words"), [(signal.SIGINT, 130, "interrupted"), (signal.SIGTERM, 143, "terminated")]
)
def test_a_signal_is_told_in_one_line_with_its_exit_code(shop, capsys, monkeypatch, number, code, words):
    before = {one: signal.getsignal(one) for one in (signal.SIGINT, signal.SIGTERM)}
    monkeypatch.setattr(sys, "unraisablehook", sys.unraisablehook)
    monkeypatch.setattr(threading, "excepthook", threading.excepthook)
    try:
        shop.happens = number
        assert run("shop") == code
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)
    assert capsys.readouterr().err == f"unmet shop: {words}.\n"


def test_memory_that_gives_out_is_told_in_one_line(shop, capsys):
    shop.happens = MemoryError("Unable to allocate 30 GiB")
    assert run("shop") == 1
    told = capsys.readouterr().err
    assert told.count("\n") == 1
    assert "not enough memory (Unable to allocate 30 GiB)" in told


def test_a_mistake_of_ours_is_not_hidden(shop):
    shop.happens = ZeroDivisionError()
    with pytest.raises(ZeroDivisionError):
        main(["shop"])


@pytest.mark.parametrize("arguments", [("--colour",), ("--count", "three"), ("stray",)])
def test_wrong_usage_exits_with_2(shop, capsys, arguments):
    assert run("shop", *arguments) == 2
    told = capsys.readouterr()
    assert told.err.startswith("unmet shop: ")
    assert told.err.endswith(" (see unmet shop --help)\n")
    assert told.err.count("\n") == 1
    assert told.out == ""
    assert not shop.counts


def test_options_for_many_paths_take_what_a_pattern_leaves(shop):
    assert run("shop", "--file", "a", "b", "c", "--count", "2") == 0
    assert (list(shop.files), shop.counts) == (["a", "b", "c"], [2])


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ("--s --s", "--s --s"),
        ("t --s a b -o x", "t --s a --s b -o x"),
        ("t --s a --s b -o x", "t --s a --s b -o x"),
        ("t -o x y", "t -o x y"),
        ("--s=a b", "--s=a b"),
        ("--s a - --r b c", "--s a --s - --r b --r c"),
        ("--s a -- b", "--s a -- b"),
        ("--s", "--s"),
    ],
)
def test_spread(given, wanted):
    assert spread(given.split(), ("--s", "--r")) == wanted.split()
