"""Large tables in float32: kept as they are, and fitted like the same numbers in an array."""

import re
import tracemalloc
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import dataset, parquet
from scipy.sparse import csr_matrix
from sklearn.base import clone

from unmet import CensoredQuantileRegressor, LinearCensoredQuantiles
from unmet.estimators._prepare import _Features

NAMES = ["rain", "wind"]
MODEL = CensoredQuantileRegressor(head="free", max_epochs=5, random_state=0)
KINDS = {
    "array": np.asarray,
    "columns": np.asfortranarray,
    "part": lambda X: np.column_stack([X, X])[:, :2],
    "pandas": lambda X: pd.DataFrame(X, columns=NAMES),
    "pandas-columns": lambda X: pd.DataFrame({name: X[:, i] for i, name in enumerate(NAMES)}),
    "pandas-nullable": lambda X: pd.DataFrame(X, columns=NAMES).astype("Float32"),
    "polars": lambda X: pl.DataFrame(X, schema=NAMES),
    "arrow": lambda X: pa.table({name: X[:, i] for i, name in enumerate(NAMES)}),
    "sparse": csr_matrix,
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("target", [np.asarray, pd.Series, pl.Series])
def test_float32_stays_and_fits_to_the_same_bits(capped, kind, target):
    X = capped.X.astype(np.float32)
    own = KINDS[kind](X)
    rows, _, _ = clone(MODEL)._observe(own, target(capped.y), None, threshold=capped.threshold)
    assert rows.dtype == np.float32
    plain = clone(MODEL).fit(X, capped.y, threshold=capped.threshold)
    found = clone(MODEL).fit(own, target(capped.y), threshold=capped.threshold)
    assert found.predict_quantiles(own).tobytes() == plain.predict_quantiles(X).tobytes()


def test_half_precision_becomes_float32(capped):
    X = capped.X.astype(np.float16)
    rows, _, _ = clone(MODEL)._observe(X, capped.y, None)
    assert rows.dtype == np.float32
    assert np.array_equal(rows, X)


def test_other_columns_keep_their_digits(capped):
    mixed = pl.DataFrame({"rain": capped.X[:, 0].astype(np.float32), "wind": capped.X[:, 1]})
    rows, _, _ = clone(MODEL)._observe(mixed, capped.y, None)
    assert rows.dtype == np.float64
    assert np.array_equal(rows[:, 1], capped.X[:, 1])


def test_bounds_leave_float32_too(capped):
    X = pd.DataFrame(capped.X.astype(np.float32))
    rows, _, _ = clone(MODEL)._observe(X, None, None, lower=capped.y - 1, upper=capped.y + 1)
    assert rows.dtype == np.float32


def test_an_exact_method_sees_the_same_numbers(capped):
    X = capped.X.astype(np.float32)
    model = LinearCensoredQuantiles(quantiles=(0.1, 0.3))
    found = [clone(model).fit(each, capped.y).coef_ for each in (X.astype(np.float64), pd.DataFrame(X))]
    assert np.array_equal(*found)


@pytest.mark.parametrize("order", ["C", "F"])
def test_a_block_of_rows_copies_no_other_rows(order):
    """`take` along the rows of a frame's columns first copies all of them, once for each block."""
    X = np.ones((50_000, 20), np.float32, order=order)
    tracemalloc.start()
    try:
        found = _Features(X[None], np.arange(100)[None])
        assert tracemalloc.get_traced_memory()[1] < X.nbytes / 10
    finally:
        tracemalloc.stop()
    assert found.only is not None
    assert found.only.shape == (1, 20, 100)


def test_a_parquet_file_becomes_one_table_in_float32(tmp_path, monkeypatch):
    """As the page says: its blocks run, and both ways fit the same."""
    monkeypatch.chdir(tmp_path)
    names = {}
    page = (Path(__file__).parents[2] / "docs" / "how-to" / "large-tables.md").read_text(encoding="utf-8")
    first, second = re.findall(r"```python\n(.*?)```", page, re.S)
    exec(first, names)
    frame = names["sales"].select(names["names"])
    found = names["model"].predict_quantiles(frame[:50])
    exec(second, names)
    assert isinstance(names["X"], np.memmap)
    assert names["X"].dtype == np.float32
    assert np.array_equal(names["X"], frame.to_numpy())
    assert np.array_equal(names["model"].predict_quantiles(names["X"][:50]), found)


def test_what_holds_no_rows_yet_is_refused(tmp_path):
    path = tmp_path / "rows.parquet"
    parquet.write_table(pa.table({"rain": [1.0, 2.0, 3.0]}), path)
    for X, remedy in (
        (str(path), "read the file first"),
        (pl.scan_parquet(path), r"X\.collect\(\)"),
        (dataset.dataset(path), r"X\.to_table\(\)"),
    ):
        with pytest.raises(ValueError, match=remedy):
            clone(MODEL).fit(X, [1.0, 2.0, 3.0])
