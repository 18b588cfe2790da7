"""Tables in DuckDB and Parquet: one locked connection, one way to quote, columns in and out.

Nothing here imports DuckDB before it is used.
"""

from unmet.tables._any_table import AnyTable, Pairs, columns_of, read_any
from unmet.tables._columns import (
    Columns,
    fetch_columns,
    parquet_about,
    plain,
    read_columns,
    read_parquet,
    write_columns,
)
from unmet.tables._connection import connect, private_folder, scratch, transaction
from unmet.tables._sorted_keys import SortedKeys
from unmet.tables._spreadsheet import own_text, spreadsheet_columns, spreadsheet_text
from unmet.tables._sql import identifier, literal, literal_path, parquet_notes

__all__ = [
    "AnyTable",
    "Columns",
    "Pairs",
    "SortedKeys",
    "columns_of",
    "connect",
    "fetch_columns",
    "identifier",
    "literal",
    "literal_path",
    "own_text",
    "parquet_about",
    "parquet_notes",
    "plain",
    "private_folder",
    "read_any",
    "read_columns",
    "read_parquet",
    "scratch",
    "spreadsheet_columns",
    "spreadsheet_text",
    "transaction",
    "write_columns",
]
