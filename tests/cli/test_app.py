"""The command line itself: overview, help, unknown commands, exit codes."""

import inspect
import re
import resource
import signal
import subprocess
import sys
import textwrap
import threading
import types
from importlib import import_module

import pytest

import unmet
from unmet.cli import main
from unmet.cli._app import COMMANDS
from unmet.cli._help import spread
from unmet.runs import Steps


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
        ) or (argument in ("trips", "panel", "folder", "table", "what", "shell", "context"))


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
    monkeypatch.setattr(Steps, "left_unfinished", False)  # by another test of this process
    try:
        shop.happens = number
        assert run("shop") == code
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)
    assert capsys.readouterr().err == f"unmet shop: {words}.\n"


@pytest.fixture
def interrupted(tmp_path):
    """Run a command that does this; its exit code and what it told."""

    def command(body: str, **files: str) -> tuple[int, str]:
        for name, text in files.items():
            (tmp_path / f"{name}.py").write_text(textwrap.dedent(text))
        (tmp_path / "program.py").write_text(
            PROGRAM.format(body=textwrap.indent(textwrap.dedent(body), "    "))
        )
        done = subprocess.run(
            [sys.executable, str(tmp_path / "program.py"), "shop"], capture_output=True, text=True
        )
        return done.returncode, done.stderr + done.stdout

    return command


PROGRAM = """
import logging, signal, sys, threading, time, types, warnings

def shop():
{body}
    time.sleep(20)
    print("went on")

from unmet.cli import _app, _signals, main
_signals._ERROR_SECONDS = 0.5
module = types.ModuleType("unmet.cli._shop")
module.EXAMPLE, module.shop = "Example: unmet shop", shop
sys.modules["unmet.cli._shop"] = module
_app.COMMANDS["shop"] = "Sell something."
main()
"""


def test_an_import_is_completed_before_a_signal_ends_the_program(interrupted):
    """A compiled module that is cut short may crash."""
    told = interrupted(
        "import slow_one",
        slow_one="""
        import signal, time
        signal.raise_signal(signal.SIGINT)
        for _ in range(30):
            time.sleep(0.01)
        print("completed")
    """,
    )
    assert told == (130, "unmet shop: interrupted.\ncompleted\n")


@pytest.mark.parametrize(
    "body",
    [
        """
    class Odd:
        def __del__(self):
            signal.raise_signal(signal.SIGTERM)
    Odd()
    """,
        """
    try:
        signal.raise_signal(signal.SIGTERM)
    except BaseException:
        pass
    """,
        """
    try:
        signal.raise_signal(signal.SIGTERM)
    except BaseException:
        raise ValueError("query interrupted") from None
    """,
        """
    try:
        raise KeyError
    except KeyError:
        try:
            signal.raise_signal(signal.SIGTERM)
        except BaseException:
            pass
        time.sleep(20)
    """,
        """
    try:
        signal.raise_signal(signal.SIGTERM)
    finally:
        warnings.warn("half done")
        logging.getLogger("asyncio").error("a task was never retrieved")
        thread = threading.Thread(target=lambda: 1 / 0)
        thread.start()
        thread.join()
    """,
    ],
    ids=["finalizer", "swallowed", "turned into another", "swallowed in a handler", "complaints"],
)
def test_a_signal_ends_the_program_in_one_line_whatever_becomes_of_its_exception(interrupted, body):
    assert interrupted(body) == (143, "unmet shop: terminated.\n")


def test_memory_that_gives_out_is_told_in_one_line(shop, capsys):
    shop.happens = MemoryError("Unable to allocate 30 GiB")
    assert run("shop") == 1
    told = capsys.readouterr().err
    assert told.count("\n") == 1
    assert "not enough memory (Unable to allocate 30 GiB)" in told


@pytest.mark.parametrize("kind", ["system", "database"])
def test_a_full_disk_is_told_in_one_line(shop, capsys, kind):
    import duckdb

    text = 'Async write failed for range [size=3]: {"x": "Could not write file: No space left on device"}'
    shop.happens = OSError(28, "No space left on device") if kind == "system" else duckdb.IOException(text)
    assert run("shop") == 1
    assert capsys.readouterr().err.startswith("unmet shop: the disk is full, where")


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
