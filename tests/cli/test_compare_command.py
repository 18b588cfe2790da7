"""`unmet compare` as a user calls it: a table of one's own, a recommendation, files, one-line errors."""

import json
import signal
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from cli_tools import call

from unmet.cli._compare_words import _listed
from unmet.tables import write_columns

FAST = ("--methods", "Kaplan–Meier,Portnoy", "--folds", "2", "--jobs", "1")


@pytest.fixture(scope="module")
def sales(tmp_path_factory):
    """A table of lost sales: texts, gaps, a date, and an id."""
    random = np.random.default_rng(1)
    n = 150
    price = random.uniform(1, 5, n)
    stock = random.integers(5, 15, n)
    sold = np.minimum(np.round(14 - 2 * price + 2 * random.normal(size=n)), stock)
    lines = ["date,shop,price,stock,sold"]
    for row in range(n):
        told = "" if row == 7 else f"{price[row]:.2f}"
        lines.append(
            f"2026-01-{1 + row % 28:02d},{'north' if row % 3 else 'south'},{told},{stock[row]},{sold[row]:g}"
        )
    path = tmp_path_factory.mktemp("sales") / "sales.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


def test_a_table_ends_in_a_recommendation(sales, tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    asked = ["compare", sales, "--y", "sold", "--threshold", "stock", *FAST, "-o", tmp_path / "out"]
    assert call(*asked) == 0
    told = capsys.readouterr().out
    assert "Use LinearCensoredQuantiles(method='portnoy')" in " ".join(told.split())
    assert 'model.fit(X, table["sold"], threshold=table["stock"])' in told
    assert "Left out: date: holds times" in told
    assert "price (1)" in told
    assert "Columns: shop = south, price, price is missing." in told
    table = [one for one in told.splitlines() if one.startswith(("Portnoy", "Kaplan–Meier"))]
    assert len(table) == 2
    prose = [one for one in told.splitlines() if "read_csv(" not in one]  # code is not broken, to be pasted
    assert all(len(one.rstrip()) <= 80 for one in prose)
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert {"comparison.csv", "comparison.json", "comparison.png", "comparison.svg", "run.json"} <= names
    code = "import pandas" + told.split("\nimport pandas")[1].split("\n\n")[0]  # as one copies it
    exec(code, {})
    assert capsys.readouterr().out.startswith("[[")
    assert call(*asked, "--json") == 0  # goes on with what is there
    found = json.loads(capsys.readouterr().out)
    assert found["recommended"] == "Portnoy"
    assert found["columns"] == ["shop = south", "price", "price is missing"]


@pytest.mark.parametrize(
    ("width", "shown", "hidden"),
    [
        (100, ("score", "dist.", "cross-", "D-cal", "CPU"), ()),
        (60, ("score", "D-cal"), ("cross-", "dist.")),
        (30, ("loss",), ("score", "D-cal", "CPU", "dist.")),
    ],
)
def test_a_narrow_terminal_hides_columns_and_cuts_no_number(width, shown, hidden, capsys, monkeypatch):
    from unmet.cli._compare_words import tell
    from unmet.comparison import Comparison, Line

    monkeypatch.setenv("COLUMNS", str(width))
    lines = [
        Line("Bayes, augmented", "X()", 80.123, 0.0, 0.0, 1.75, 0.9, 0.25, 0.015, 0, 12.5),
        Line("Gaussian process", "X()", 81.234, 1.111, 0.222, 1.85, 0.9, 0.25, 0.015, 12345, 112.5),
    ]
    found = Comparison(
        tuple(lines), "Bayes, augmented", "Use it.", {}, (), "tilted loss", 99, ("x",), 0.5, (0.05, 0.95), 5
    )
    tell(found, [Path("out/comparison.csv")], as_json=False, quiet=False)
    told = capsys.readouterr().out
    head, table = told.split("Columns: x.")[0], told.split("Columns: x.")[1].split("Lower")[0]
    assert "1 column" in head
    assert "…" not in told
    assert all(number in table for number in ("Bayes, augmented", "80.1", "81.2", "1.11", "0.222"))
    assert all(name in table for name in shown)
    assert not any(name in table for name in hidden)
    assert ("Not shown" in told) == bool(hidden)


def test_small_numbers_have_one_notation_in_a_column(capsys):
    from unmet.cli._compare_words import tell
    from unmet.comparison import Comparison, Line

    lines = [
        Line("Tobit", "X()", 0.01, 0.0, 0.0, 1.75, 0.9, 0.25, 0.015, 0, 1.0),
        Line("MLP", "X()", 0.0101, 5.12e-5, 1.5e-4, 1.75, 0.9, 0.25, 0.015, 0, 1.0),
        Line("forest", "X()", 0.0111, 0.00101, 1.5e-4, 1.75, 0.9, 0.25, 0.015, 0, 1.0),
    ]
    found = Comparison(tuple(lines), "Tobit", "", {}, (), "tilted loss", 99, ("x",), 0.5, (0.05, 0.95), 5)
    tell(found, [Path("out/comparison.csv")], as_json=False, quiet=False)
    rows = {line.split()[0]: line.split() for line in capsys.readouterr().out.splitlines() if line.strip()}
    assert rows["Tobit"][1:3] == ["0.0100", "best"]
    assert rows["MLP"][1:4] == ["0.0101", "5.12e-05", "1.50e-04"]
    assert rows["forest"][1:4] == ["0.0111", "1.01e-03", "1.50e-04"]


def test_events_are_the_opposite_of_flags(tmp_path, capsys):
    random = np.random.default_rng(2)
    x = random.normal(size=100)
    flags, noise = random.uniform(size=100) < 0.3, random.normal(size=100)
    path = write_columns(
        tmp_path / "t.parquet", {"x": x, "time": x + random.normal(size=100), "seen": ~flags}
    )
    lines = []
    for option, column in (("--event", ~flags), ("--censored", flags)):
        table = {"x": x, "time": x + noise, "flag": column.astype(int)}
        path = write_columns(tmp_path / f"{option}.parquet", table)
        asked = ("compare", path, "--y", "time", option, "flag", *FAST, "--json", "-o", tmp_path / option)
        assert call(*asked) == 0
        found = json.loads(capsys.readouterr().out)
        assert f'censored=table["flag"]{" == 0" if option == "--event" else ""})' in found["code"]
        lines.append(found["lines"])
    assert [one["loss"] for one in lines[0]] == [one["loss"] for one in lines[1]]


@pytest.mark.parametrize("words", [("yes", "no"), ("T", "F"), ("Y", "N"), ("TRUE", "FALSE"), ("1", "0")])
@pytest.mark.parametrize("option", ["--event", "--censored"])
def test_flags_in_words_and_the_code_that_reads_them(tmp_path, capsys, words, option):
    random = np.random.default_rng(2)
    x, flags = random.normal(size=100), random.uniform(size=100) < 0.3
    lines = ["x,time,flag"]
    for row in range(100):
        word = "" if row % 9 == 0 else words[0] if flags[row] == (option == "--censored") else words[1]
        lines.append(f"{x[row]:.3f},{x[row] + random.normal():.3f},{word}")
    path = tmp_path / "t.csv"
    path.write_text("\n".join(lines) + "\n")
    asked = ("compare", path, "--y", "time", option, "flag", *FAST, "--json", "-o", tmp_path / "out")
    assert call(*asked) == 0
    found = json.loads(capsys.readouterr().out)
    gap = np.arange(100) % 9 == 0
    assert found["censored"] == flags[~gap].mean()
    assert found["code"].startswith(
        "import pandas as pd\nfrom unmet import LinearCensoredQuantiles\ntable = "
    )
    assert f'pd.read_csv("{path}")' in found["code"]
    names: dict = {}
    exec(found["code"], names)
    assert len(names["X"]) == found["rows"]
    marked = eval(found["code"].split("censored=")[1].split(")\nprint(")[0], names)
    np.testing.assert_array_equal(marked.to_numpy().astype(bool), flags[~gap])


def test_names_with_commas_and_lists_in_a_toml_file(tmp_path, capsys):
    random = np.random.default_rng(2)
    table = {"size, cm": random.normal(size=80), "x": random.normal(size=80), "y": random.normal(size=80)}
    path = write_columns(tmp_path / "t.parquet", table)
    asked = ("compare", path, "--y", "y", "--folds", "2", "--jobs", "1", "--json")
    options = ("--methods", "kaplan-meier, tobit", "--features", "size, cm,x", "-o", tmp_path / "one")
    assert call(*asked, *options) == 0
    one = json.loads(capsys.readouterr().out)
    assert one["columns"] == ["size, cm", "x"]
    assert {line["method"] for line in one["lines"]} == {"Kaplan–Meier", "Tobit"}
    config = tmp_path / "compare.toml"
    config.write_text('methods = ["Kaplan-Meier", "Tobit"]\nfeatures = ["size, cm", "x"]\n')
    assert call(*asked, "--config", config, "-o", tmp_path / "two") == 0
    assert json.loads(capsys.readouterr().out)["columns"] == one["columns"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--y", "sales"), "--y 'sales' is no column; there are date, shop, price, stock, sold"),
        (
            ("--y", "slod", "--event", "shop"),
            "; did you mean 'sold'? There are date, shop, price, stock, sold",
        ),
        (("--y", "sold", "--features", "Prize"), "--features: 'Prize' is no column; did you mean 'price'?"),
        (("--y", "sold", "--threshold", "cap"), "--threshold 'cap' is neither a number nor a column"),
        (("--y", "sold", "--threshold", "stok"), "nor a column; did you mean 'stock'? There"),
        (("--y", "sold", "--event", "alive"), "--event 'alive' is no column"),
        (("--y", "sold", "--event", "shop"), "--event must be true or false"),
        (("--y", "sold", "--event", "shop"), "found south, north; first wrong at row 0"),
        (
            ("--y", "sold", "--threshold", "stock", "--lower", "sold"),
            "compare: --lower and --upper are given instead of --y: leave out --y and --threshold, or them\n",
        ),
        (("--lower", "sold"), "compare: --lower needs --upper too: a column that is empty where"),
        (("--y", "sold", "--event", "shop", "--censored", "shop"), "--event and --censored say the same"),
        (("--y", "sold", "--features", "date"), "--features: column 'date' holds times"),
        ((), "compare: give --y, the column to predict; or --lower and --upper, its bounds\n"),
        (("--y", "shop"), "--y must hold numbers"),
    ],
)
def test_errors_are_one_line_that_names_the_option(sales, tmp_path, capsys, options, words):
    assert call("compare", sales, *options, "-o", tmp_path / "out") == 1
    told = capsys.readouterr().err
    assert words in told
    assert told.count("\n") == 1


def test_a_part_of_the_methods_says_what_it_replaces(sales, tmp_path, capsys):
    asked = ("compare", sales, "--y", "sold", "--threshold", "stock", "-o", tmp_path / "out")
    assert call(*asked, *FAST) == 0
    told = capsys.readouterr().err
    assert "is finished, 2 of 2" in told  # no terminal: a line for each method
    assert "now compares" not in told
    assert call(*asked, *FAST, "--methods", "Kaplan–Meier") == 0
    out, told = capsys.readouterr()
    assert f"{tmp_path / 'out'} now compares 1 method, without Portnoy, which it had before." in told
    assert "Only Kaplan–Meier was compared" in " ".join(out.split())
    assert call(*asked, *FAST, "-q") == 0
    assert capsys.readouterr() == ("", "")
    assert call(*asked, *FAST, "--methods", "Portnoy", "-q") == 0
    assert capsys.readouterr() == ("", "")


def test_forgotten_censoring_is_told_in_options(sales, tmp_path, capsys):
    assert call("compare", sales, "--y", "sold", *FAST, "-o", tmp_path / "out") == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "and is never below it: if it is the cap, give --threshold 'stock'." in told


def test_a_caution_names_the_option(tmp_path, capsys):
    random = np.random.default_rng(2)
    value = np.exp(random.normal(size=100))
    columns = {"x": random.normal(size=100), "value": np.maximum(value, 0.6), "nd": value < 0.6}
    write_columns(tmp_path / "t.parquet", columns)
    asked = ("compare", tmp_path / "t.parquet", "--y", "value", "--censored", "nd", *FAST)
    assert call(*asked, "-o", tmp_path / "out") == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "if they lie below a limit, give --side 'left', or all of this is wrong." in told


def test_another_comparison_is_told_by_what_differs(sales, tmp_path, capsys):
    asked = ("compare", sales, "--y", "sold", "--threshold", "stock", "-q", "-o", tmp_path / "out")
    assert call(*asked, *FAST) == 0
    assert call(*asked, *FAST, "--folds", "3", "--seed", "4") == 1
    assert (
        "holds another run, with folds 2 instead of 3, seed 0 instead of 4: choose" in capsys.readouterr().err
    )
    assert call("compare", sales, "--y", "sold", "-q", "-o", tmp_path / "out", *FAST) == 1
    told = capsys.readouterr().err
    assert "target y and threshold instead of y" in told
    sales_now = tmp_path / "now.csv"
    sales_now.write_text(sales.read_text().replace("north", "east", 1))
    changed = ("compare", sales_now, *asked[2:], "--features", "price")
    assert call(*asked[:2], *changed[2:], *FAST, "--replace") == 0
    sales_now.write_text(sales.read_text().replace(",12,", ",13,"))
    assert call(*changed, *FAST) == 1
    told = capsys.readouterr().err
    assert "of other content" in told
    assert max(map(len, told.split())) < 64 + len(str(tmp_path))


def test_help_names_every_method_and_the_time_it_takes(capsys):
    from unmet.cli._compare import NAMES
    from unmet.comparison import METHODS

    assert "; ".join(method.name for method in METHODS) == NAMES
    assert call("compare", "--help") == 0
    told = " ".join(capsys.readouterr().out.split())
    assert NAMES in told
    assert "two minutes of CPU time for 1,500 rows and 10 columns, counted after texts became" in told


def test_an_interruption_says_that_finished_fits_are_kept(sales, tmp_path, capsys, monkeypatch):
    """The signal comes after the first method."""
    from unmet.cli import _compare

    handlers = {one: signal.getsignal(one) for one in (signal.SIGINT, signal.SIGTERM)}
    asked = ("compare", sales, "--y", "sold", "--threshold", "stock", *FAST, "-o", tmp_path / "out")
    with monkeypatch.context() as patched:
        patched.setattr(sys, "unraisablehook", sys.unraisablehook)
        patched.setattr(threading, "excepthook", threading.excepthook)
        patched.setattr(_compare, "_say", lambda words: signal.raise_signal(signal.SIGINT))
        try:
            assert call(*asked) == 130
        finally:
            for one, handler in handlers.items():
                signal.signal(one, handler)
    told = capsys.readouterr().err
    assert told == (
        "unmet compare: interrupted. What is finished is kept: "
        "give the same command again to go on from there.\n"
    )
    assert call(*asked) == 0
    told = capsys.readouterr().err
    assert "was kept from before, 1 of 2" in told
    assert "is finished, 2 of 2" in told


def test_a_file_that_is_no_table(tmp_path, capsys):
    assert call("compare", tmp_path / "none.csv", "--y", "y") == 1
    assert "does not exist" in capsys.readouterr().err
    (tmp_path / "bad.parquet").write_bytes(b"no")
    assert call("compare", tmp_path / "bad.parquet", "--y", "y") == 1
    assert capsys.readouterr().err.count("\n") == 1


def test_groups_of_one_column_are_listed_as_one():
    names = ["price", *(f"store = {number}" for number in range(30)), "day = Sunday", "price is missing"]
    assert _listed(names) == "price, store (31 groups), day = Sunday, price is missing"
    assert _listed([f"x{number}" for number in range(22)]).endswith("x19 and 2 more")


def test_a_command_with_workers_ends_when_it_is_finished(tmp_path):
    random = np.random.default_rng(0)
    write_columns(tmp_path / "t.parquet", {"x": random.normal(size=80), "y": random.normal(size=80)})
    command = [sys.executable, "-m", "unmet", "compare", "t.parquet", "--y", "y", "--jobs", "2", "-q"]
    # Idle workers would end by themselves only after two minutes.
    subprocess.run([*command, "--methods", "Kaplan–Meier"], cwd=tmp_path, check=True, timeout=90)
