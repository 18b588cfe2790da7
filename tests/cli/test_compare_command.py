"""`unmet compare` as a user calls it: a table of one's own, a recommendation, files, one-line errors."""

import json
from pathlib import Path

import numpy as np
import pytest
from cli_tools import call

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
    assert all(len(one.rstrip()) <= 80 for one in told.splitlines())
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert {"comparison.csv", "comparison.json", "comparison.png", "comparison.svg", "run.json"} <= names
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
    marked = eval(found["code"].split("censored=")[1].split(")\nmodel.pred")[0], names)
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
        (("--y", "sold", "--threshold", "cap"), "--threshold 'cap' is neither a number nor a column"),
        (("--y", "sold", "--event", "alive"), "--event 'alive' is no column"),
        (("--y", "sold", "--event", "shop"), "--event must be true or false"),
        (("--y", "sold", "--event", "shop"), "found south, north; first wrong at row 0"),
        (("--y", "sold", "--lower", "price", "--upper", "stock"), "leave out y, threshold and censored"),
        (("--y", "sold", "--features", "date"), "--features: column 'date' holds times"),
        ((), "--y must be given, or lower and upper"),
        (("--y", "shop"), "--y must hold numbers"),
    ],
)
def test_errors_are_one_line_that_names_the_option(sales, tmp_path, capsys, options, words):
    assert call("compare", sales, *options, "-o", tmp_path / "out") == 1
    told = capsys.readouterr().err
    assert words in told
    assert told.count("\n") == 1


def test_a_file_that_is_no_table(tmp_path, capsys):
    assert call("compare", tmp_path / "none.csv", "--y", "y") == 1
    assert "does not exist" in capsys.readouterr().err
    (tmp_path / "bad.parquet").write_bytes(b"no")
    assert call("compare", tmp_path / "bad.parquet", "--y", "y") == 1
    assert capsys.readouterr().err.count("\n") == 1
