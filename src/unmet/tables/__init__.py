"""Tables in DuckDB and Parquet: one locked connection, one way to quote, columns in and out.

Nothing here imports DuckDB before it is used.
"""

from unmet.tables._columns import Columns, fetch_columns, plain, read_columns, read_parquet, write_columns
from unmet.tables._connection import connect, private_folder, scratch, transaction
from unmet.tables._spreadsheet import SPREADSHEET_SIGNS, spreadsheet_columns, spreadsheet_text
from unmet.tables._sql import identifier, literal, literal_path, parquet_notes

__all__ = [
    "SPREADSHEET_SIGNS",
    "Columns",
    "connect",
    "fetch_columns",
    "identifier",
    "literal",
    "literal_path",
    "parquet_notes",
    "plain",
    "private_folder",
    "read_columns",
    "read_parquet",
    "scratch",
    "spreadsheet_columns",
    "spreadsheet_text",
    "transaction",
    "write_columns",
]
