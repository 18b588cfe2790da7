"""Tables of users: signs that differ by country, and rows that do not fit."""

import gzip

import pandas as pd
import pytest

from unmet.tables import read_any

ROWS = ["a,b,c", *(f"{i},{i % 7}.5,x{i}" for i in range(2000))]


def write(path, rows):
    data = ("\n".join(rows) + "\n").encode()
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


@pytest.mark.parametrize("name", ["plain.csv", "packed.csv.gz"])
def test_semicolons_and_decimal_commas_are_read(tmp_path, name):
    rows = [row.replace(",", ";").replace(".", ",") for row in ROWS]
    found = read_any(write(tmp_path / name, rows)).columns
    plain = read_any(write(tmp_path / "commas.csv", ROWS)).columns
    assert found["b"].dtype == float
    assert all((found[key] == plain[key]).all() for key in "abc")


def test_a_row_with_a_stray_comma_is_named(tmp_path):
    """DuckDB alone would return the whole file as one row."""
    rows = [*ROWS[:1500], "1499,1.5,x,y", *ROWS[1501:]]
    with pytest.raises(ValueError, match="line 1501 has 4 columns, the header 3"):
        read_any(write(tmp_path / "stray.csv", rows))


def test_a_column_named_by_a_number_is_not_taken_for_a_row():
    found = read_any(pd.DataFrame({0: [1.0, 2.0, 3.0], 1: ["a", "b", None]})).columns
    assert found["0"].tolist() == [1, 2, 3]
    assert found["1"].tolist() == ["a", "b", None]


@pytest.mark.parametrize(
    ("encoding", "why"),
    [("latin-1", "line 3 is not UTF-8, perhaps Latin-1"), ("utf-16", "it is UTF-16; save it")],
)
def test_another_encoding_is_named_with_the_remedy(tmp_path, encoding, why):
    path = tmp_path / "words.csv"
    path.write_bytes("a,b\n1,x\n2,Größe\n".encode(encoding))
    with pytest.raises(ValueError, match=why):
        read_any(path)
