"""Tables of shards: as the bytes of a Parquet file, and many files as one table."""

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from unmet.tables import Columns, read_columns, write_columns


def to_parquet(columns: Mapping[str, Any]) -> bytes:
    """The table as a Parquet file, rows in the given order."""
    with tempfile.TemporaryDirectory(prefix="unmet-") as folder:
        return write_columns(Path(folder) / "table.parquet", columns).read_bytes()


def read_parquet(paths: Sequence[Path], order: Sequence[str]) -> Columns:
    """All rows of the files, ordered by the named columns, the first of which varies slowest."""
    parts = [read_columns(path)[0] for path in paths]
    table = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    keys = [table[name].astype(str) if table[name].dtype == object else table[name] for name in order]
    rows = np.lexsort(keys[::-1])
    return {name: values[rows] for name, values in table.items()}
