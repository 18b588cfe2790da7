"""The printed code: it runs as it is, and fits what was compared."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

import unmet
from unmet.comparison._columns import encode, read_table
from unmet.comparison._flags import flag_code
from unmet.comparison._methods import Method
from unmet.comparison._paste import Used, fit_code
from unmet.comparison._target import choose_rows, read_target

TOBIT = {"methods": ["Tobit"], "folds": 2}


def code_of(X, given, side="right", features=None):
    """The code for a method X(), and what it should fit: columns as numbers, and the target."""
    names = [given[name] for name in ("censored", "event") if isinstance(given.get(name), str)]
    table = read_table(X, names)
    told, used = read_target(given, table.columns, side)
    rows, kept, _ = choose_rows(told, len(next(iter(table.columns.values()))), 5_000, 0)
    offered = {
        name: values[rows]
        for name, values in table.columns.items()
        if (name not in used if features is None else name in features)
    }
    encoded = encode(offered, features)
    code = fit_code(
        Method("any", "TobitRegressor"), Used(X, table, given, told, side, kept, encoded.made_from)
    )
    return code, encoded.X, {name: values[rows] for name, values in told.items()}


def messy(n=260, yes="Yes", no="no", separator=",", point="."):
    """A CSV file as people have it: groups, gaps, flags in words, a row number and a date."""
    random = np.random.default_rng(0)
    x, shop = random.normal(size=n), random.choice(["north", "south", "NA"], n)
    latent, cut = 5 + 2 * x + (shop == "NA") + random.normal(size=n), 6 + random.normal(size=n)
    lines = [["id", "when", "shop", "size, cm", "member", "failed", "hours", "one", "same"]]
    for row in range(n):
        cells = [
            f"{row + 5}",
            f"2026-01-{1 + row % 28:02d}",
            "" if row % 17 == 0 else str(shop[row]),
            "" if row % 11 == 0 else f"{x[row]:.3f}".replace(".", point),
            "" if row % 13 == 0 else ("yes", "no")[row % 2],
            "" if row % 29 == 3 else yes if latent[row] <= cut[row] else no,
            "" if row % 31 == 4 else f"{min(latent[row], cut[row]):.4f}".replace(".", point),
            "" if row % 7 == 0 else "1",
            "3",
        ]
        lines.append(cells)
    quoted = [[f'"{cell}"' if separator in cell else cell for cell in line] for line in lines]
    return "\n".join(separator.join(line) for line in quoted) + "\n"


def fitted(code, **names):
    exec(code, names)
    return names


def check(code, X, told, side="right", /, **names):
    """The code must predict what a fit to the comparison's own columns predicts."""
    found = fitted(code, **names)
    if "censored" in told:
        told = {**told, "censored": told["censored"] == 1}
    model = unmet.TobitRegressor(side=side).fit(X, **told)
    assert len(found["X"]) == len(X)
    np.testing.assert_allclose(
        found["model"].predict_quantiles(found["X"]), model.predict_quantiles(X), rtol=1e-3, atol=1e-3
    )


@pytest.mark.parametrize(
    ("yes", "no", "words"),
    [
        ("Yes", "no", '.isin(["no"])'),
        ("T", "F", '.isin(["F"])'),
        ("y", "N", '.isin(["N"])'),
        ("true", "False", " == 0"),
        ("1", "0", " == 0"),
    ],
)
@pytest.mark.parametrize("signs", [{}, {"separator": ";", "point": ","}])
def test_the_code_runs_on_a_messy_file(tmp_path, yes, no, words, signs):
    path = tmp_path / "messy.csv"
    path.write_text(messy(yes=yes, no=no, **signs))
    code, X, told = code_of(path, {"y": "hours", "event": "failed"})
    assert f'censored=table["failed"]{words})' in code
    assert 0.2 < told["censored"].mean() < 0.8
    check(code, X, told)


def test_a_comparison_of_a_messy_file_prints_that_code(tmp_path):
    path = tmp_path / "messy.csv"
    path.write_text(messy())
    found = unmet.compare(path, "hours", event="failed", **TOBIT)
    made = fitted(found.code)
    assert len(made["X"]) == found.rows
    assert made["table"]["failed"].isin(["no"]).mean() == found.censored
    assert list(made["X"]) == ["shop", "size, cm", "member", "size, cm is missing", "one is missing"]
    kept = pd.read_csv(path, keep_default_na=False, na_values=[""]).drop(columns="when")
    kept["failed"] = kept["failed"].map({"Yes": 0, "no": 1})
    again = unmet.compare(kept, "hours", censored="failed", **TOBIT)
    assert again.lines[0].loss == pytest.approx(found.lines[0].loss)
    check_frame = fitted(again.code, table=kept)
    np.testing.assert_allclose(
        check_frame["model"].predict_quantiles(check_frame["X"]),
        made["model"].predict_quantiles(made["X"]),
        rtol=1e-3,
        atol=1e-3,
    )


@pytest.mark.parametrize("flag", ["nd", "seen"])
def test_flags_of_detection_limits(tmp_path, flag):
    random = np.random.default_rng(1)
    x = random.normal(size=200)
    value, low = np.maximum(x + random.normal(size=200), -0.5), None
    low = value == -0.5
    words = np.where(low if flag == "nd" else ~low, "Yes", "No")
    path = tmp_path / "t.csv"
    pd.DataFrame({"x": x, "value": value, flag: words}).to_csv(path, index=False)
    given = {"y": "value", "censored" if flag == "nd" else "event": flag}
    code, X, told = code_of(path, given, "left")
    np.testing.assert_array_equal(told["censored"], low)
    check(code, X, told, "left")


def rows(n=150):
    random = np.random.default_rng(2)
    x = random.normal(size=n)
    latent, cut = 2 * x + random.normal(size=n), 1 + random.normal(size=n)
    return x, np.minimum(latent, cut), cut, latent > cut


@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize("kind", ["array", "mapping", "pandas", "polars"])
def test_the_code_runs_on_tables_in_memory(kind, gaps):
    x, y, _, flags = rows()
    other = np.where(np.arange(150) % 9 == 0, np.nan, x**2) if gaps else x**2
    y = np.where(np.arange(150) % 8 == 0, np.nan, y) if gaps else y
    columns = {"x": x, "other": other}
    made = {
        "array": np.column_stack([x, other]),
        "mapping": columns,
        "pandas": pd.DataFrame(columns, index=np.arange(150) + 7),
        "polars": pl.DataFrame(columns),
    }[kind]
    code, X, told = code_of(made, {"y": y, "censored": flags})
    check(code, X, told, **{"X" if kind == "array" else "table": made, "y": y, "censored": flags})
    if kind == "array" and not gaps:
        assert code == (
            "from unmet import TobitRegressor\nmodel = TobitRegressor(random_state=0)\n"
            "model.fit(X, y, censored=censored)\nprint(model.predict_quantiles(X))"
        )


def test_events_and_words_in_arrays():
    x, y, _, flags = rows()
    for name, values in (("event", ~flags), ("censored", np.where(flags, "yes", "no").astype(object))):
        code, X, told = code_of({"x": x, "y": x**2}, {"y": y, name: values})
        check(code, X, told, table={"x": x, "y": x**2}, y=y, **{name: values})


def test_nullable_and_categorical_columns_of_pandas():
    x, y, _, flags = rows()
    gap = np.arange(150) % 9 == 0
    table = pd.DataFrame({"x": x, "y": y, "flag": flags})
    table["whole"] = pd.array(np.where(gap, None, np.arange(150) % 4), "Int64")
    table["member"] = pd.array(np.where(gap, None, x > 0), "boolean")
    table["group"] = pd.Categorical(np.where(np.roll(gap, 1), None, np.where(x > 1, "a", "b")))
    code, X, told = code_of(table, {"y": "y", "censored": "flag"})
    check(code, X, told, table=table)


def test_bounds_with_gaps(tmp_path):
    x, y, _, _ = rows()
    low = np.where(np.arange(150) % 5 == 0, np.nan, np.floor(y))
    high = np.where(np.arange(150) % 10 < 1, np.nan, np.floor(y) + 1)
    path = tmp_path / "t.csv"
    pd.DataFrame({"x": x, "from": low, "to": high}).to_csv(path, index=False)
    code, X, told = code_of(path, {"lower": "from", "upper": "to"})
    assert len(X) == 135
    check(code, X, told)


def test_two_thresholds(tmp_path):
    x, y, cut, _ = rows()
    table = {"x": x, "y": np.clip(y, -1, cut + 2), "cap": np.where(np.arange(150) % 7 == 0, np.nan, cut + 2)}
    code, X, told = code_of(table, {"y": "y", "threshold": (-1.0, "cap")}, "both")
    assert 'threshold=(-1, table["cap"])' in code
    check(code, X, told, "both", table=table)
    given = {"y": table["y"], "threshold": (np.full(150, -1.0), table["cap"])}
    code, X, told = code_of({"x": x}, given, "both")
    check(code, X, told, "both", table={"x": x}, **given)
    code, X, told = code_of(table, {"y": "y", "threshold": (-np.inf, "cap")}, "both")
    check(code, X, told, "both", table=table)


def test_only_what_is_needed_is_printed():
    x, y, cut, _ = rows()
    table = pd.DataFrame({"x": x, "sold": y, "stock": cut})
    code, *_ = code_of(table, {"y": "sold", "threshold": "stock"})
    assert code.splitlines() == [
        "from unmet import TobitRegressor",
        'X = table[["x"]]',
        "model = TobitRegressor(random_state=0)",
        'model.fit(X, table["sold"], threshold=table["stock"])',
        "print(model.predict_quantiles(X))",
    ]


def test_columns_named_by_numbers():
    x, y, _, flags = rows()
    table = pd.DataFrame(np.column_stack([x, x**2, np.where(flags, 1.0, 0.0)]))
    code, X, told = code_of(table, {"y": y, "censored": flags})
    check(code, X, told, table=table, y=y, censored=flags)
    table[3] = y
    code, X, told = code_of(table, {"y": "3", "censored": "2"})
    check(code, X, told, table=table)


def test_headers_that_are_empty_or_stand_twice(tmp_path):
    x, y, *_ = rows()
    path = tmp_path / "twice.csv"
    lines = [f"{a},{2 - a},{a * a},{b}" for a, b in zip(x, y, strict=True)]
    path.write_text("\n".join(["x,x,,y", *lines]) + "\n")
    code, X, told = code_of(path, {"y": "y"})
    assert "header=0, names=[" in code
    check(code, X, told)
    path.write_text("\n".join(["a,b,c,y", *lines]) + "\n")
    assert "names=" not in code_of(path, {"y": "y"})[0]


def test_two_pastes_agree(capsys):
    x, y, *_ = rows()
    found = unmet.compare({"x": x}, y, methods="forest", folds=2, random_state=np.int64(3))
    assert "model = CensoredQuantileForest(random_state=3)" in found.code
    told = []
    for _ in range(2):
        fitted(found.code, table={"x": x}, y=y)
        told.append(capsys.readouterr().out)
    assert told[0] == told[1] != ""


def test_gaps_that_were_not_drawn_are_filled_all_the_same():
    x, y, _, flags = rows()
    table = pd.DataFrame({"x": x, "y": y, "flag": flags})
    table.loc[140, "x"] = np.nan
    seeds = range(9)
    for seed in seeds:  # at least one draw has no gap
        found = unmet.compare(table, "y", censored="flag", max_rows=75, random_state=seed, **TOBIT)
        fitted(found.code, table=table)


@pytest.mark.parametrize(
    ("values", "is_event", "in_csv", "words"),
    [
        (["no", "yes", "NO", None], True, True, 'table["f"].isin(["NO", "no"])'),
        (["no", "yes", "NO", None], False, True, 'table["f"].isin(["yes"])'),
        (["true", "FALSE", None], True, True, 'table["f"] == 0'),
        (["true", "FALSE", None], True, False, 'table["f"].isin(["FALSE"])'),
        (["1", "0"], False, True, 'table["f"]'),
        (["1", "0"], False, False, 'table["f"].isin(["1"])'),
        (["true", "0"], True, True, 'table["f"].isin(["0"])'),
        ([True, None, False], True, False, 'table["f"] == 0'),
        ([1.0, 0.0], False, False, 'table["f"]'),
    ],
)
def test_flags_in_code(values, is_event, in_csv, words):
    assert flag_code("f", np.array(values, object), is_event=is_event, in_csv=in_csv) == words
