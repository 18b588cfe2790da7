"""Parquet tables: what goes in comes out, whole files only, same bytes."""

import numpy as np
import pytest

from unmet.tables import read_columns, read_parquet, write_columns


def table():
    return {
        "unique_id": np.array(["00042", "b'; DROP", "ü"]),
        "ds": np.array(["2024-01-01T00", "2024-01-01T01", "NaT"], dtype="datetime64[h]"),
        "y": np.array([3, 0, -1]),
        "q50": np.array([0.1, np.inf, np.nan]),
        "censored": np.array([True, False, True]),
        "name": np.array(["x", None, "=1+1"], dtype=object),
    }


def test_round_trip(tmp_path):
    path = write_columns(tmp_path / "t.parquet", table(), about={"zone": "Europe/Berlin", "note": "it's"})
    columns, about = read_columns(path)
    assert about == {"zone": "Europe/Berlin", "note": "it's"}
    assert list(columns) == list(table())
    for name, values in table().items():
        expected = values.astype("datetime64[us]") if name == "ds" else values
        np.testing.assert_array_equal(columns[name], expected)
    assert columns["y"].dtype.kind == "i"


def test_same_values_same_bytes(tmp_path):
    first = write_columns(tmp_path / "1.parquet", table(), about={"a": "b"}).read_bytes()
    assert write_columns(tmp_path / "2.parquet", table(), about={"a": "b"}).read_bytes() == first


def test_many_rows_keep_their_order(tmp_path):
    values = np.random.default_rng(0).permutation(300_000)
    write_columns(tmp_path / "t.parquet", {"i": values})
    np.testing.assert_array_equal(read_columns(tmp_path / "t.parquet")[0]["i"], values)


def test_no_rows(tmp_path):
    write_columns(tmp_path / "t.parquet", {"i": np.array([], int), "s": np.array([], str)})
    columns, _ = read_columns(tmp_path / "t.parquet")
    assert [len(v) for v in columns.values()] == [0, 0]


@pytest.mark.parametrize("columns", [{}, {"a": [1], "b": [1, 2]}])
def test_unequal_columns_are_refused(tmp_path, columns):
    with pytest.raises(ValueError, match="equal length"):
        write_columns(tmp_path / "t.parquet", columns)
    assert not list(tmp_path.iterdir())


def test_what_is_not_parquet_is_refused(tmp_path):
    (tmp_path / "t.parquet").write_text("a,b\n1,2\n")
    with pytest.raises(ValueError, match="not a Parquet file"):
        read_columns(tmp_path / "t.parquet")
    with pytest.raises(ValueError, match="does not exist"):
        read_columns(tmp_path / "missing.parquet")


def test_rows_by_what_has_no_order(tmp_path):
    path = write_columns(tmp_path / "t.parquet", {"ds": np.array([True, None, False], object)})
    with pytest.raises(ValueError, match="is not a panel: its column ds holds BOOLEAN, which has no order"):
        read_parquet(path, "panel", order=("ds",))
