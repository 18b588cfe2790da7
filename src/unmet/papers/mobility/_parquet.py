"""Small tables as Parquet: equal columns give equal bytes."""

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Columns = dict[str, NDArray]


def to_parquet(columns: Mapping[str, Sequence[object] | NDArray]) -> bytes:
    """The table as the bytes of a Parquet file, rows in the given order."""
    import duckdb

    arrays = {name: _array(values) for name, values in columns.items()}
    with (
        tempfile.TemporaryDirectory(prefix="unmet-") as folder,
        duckdb.connect(config={"threads": 1}) as con,
    ):
        path = Path(folder) / "table.parquet"
        con.register("columns", arrays)
        con.execute(f"COPY (FROM columns) TO '{path}' (FORMAT parquet)")
        return path.read_bytes()


def read_parquet(paths: Sequence[Path], order: Sequence[str]) -> Columns:
    """All rows of the files, ordered by the named columns."""
    import duckdb

    with duckdb.connect(config={"threads": 1}) as con:
        names = ", ".join(order)
        found = con.execute(
            f"FROM read_parquet(?) ORDER BY {names}", [[str(path) for path in paths]]
        ).fetchnumpy()
    # DuckDB takes NaN for missing, and gives it back as masked.
    return {
        name: np.ma.filled(v, np.nan) if np.ma.is_masked(v) else np.asarray(v) for name, v in found.items()
    }


def _array(values: Sequence[object] | NDArray) -> NDArray:
    array = np.asarray(values)
    return array.astype(object) if array.dtype.kind == "U" else array
