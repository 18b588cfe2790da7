"""The published numbers are those of the paper, and cells survive their files."""

import csv
import io

import pytest

from unmet.papers._cells import Cell, from_json, one, read_published, rounded, select, to_csv, to_json


def test_counts_of_the_four_tables():
    cells = read_published()
    counts = [len(select(cells, table=f"table{number}")) for number in (1, 2, 3, 4)]
    assert counts == [3 * 3, 2 * 3 * 4 * 3 * 2, 3 * 3 * 6, 3 * 2 * 4]
    assert {cell.block for cell in cells} == {"published"}


@pytest.mark.parametrize(
    ("wanted", "mean", "sd"),
    [
        (("table1", "heteroskedastic", "true quantiles", "0.95", "all", "% zero"), 11.4, None),
        (("table2", "gaussian", "Multi-CQNN", "0.05", "all", "MAE"), 0.808, 0.0),
        (("table2", "mixture", "CQNN", "0.05", "non-censored", "RMSE"), 0.784, 0.2),
        (("table2", "heteroskedastic", "QNN", "0.95", "all", "MAE"), 0.534, 0.0),
        (("table3", "gaussian", "CQNN", "", "all", "tilted loss"), 107.95, 8.7),
        (("table3", "mixture", "Tobit", "", "non-censored", "ICP"), 0.94, 0.0),
        (("table4", "gaussian", "CQNN", "", "non-censored", "crossing loss"), 2.18, 1.9),
    ],
)
def test_numbers_as_printed(wanted, mean, sd):
    names = ("table", "data", "model", "theta", "rows", "measure")
    cell = one(read_published(), **dict(zip(names, wanted)))
    assert (cell.mean, cell.sd) == (mean, sd)


def test_cells_survive_json_and_are_plain_in_csv():
    cell = Cell("table9", "ours", "gaussian", "default", "0.05", "all", "paper", "MAE", 0.123456789, None, 1)
    assert from_json(to_json([cell])) == [cell]
    assert rounded(cell).mean == 0.123457
    (row,) = csv.DictReader(io.StringIO(to_csv([cell])))
    assert (row["mean"], row["sd"], row["runs"]) == ("0.123456789", "", "1")


def test_one_refuses_an_ambiguous_question():
    with pytest.raises(ValueError, match="cells, not one"):
        one(read_published(), table="table1")
