"""Cells that a spreadsheet must not run: text that begins like a formula gets an apostrophe."""

from unmet.tables._sql import identifier, literal

# A spreadsheet takes a cell that begins with one of these for a formula.
SPREADSHEET_SIGNS = ("=", "+", "-", "@", "\t", "\r")


def spreadsheet_text(text: str) -> str:
    """Return a text as a cell that a spreadsheet shows and does not run.

    >>> spreadsheet_text("=1+1")
    "'=1+1"
    """
    return f"'{text}" if text.startswith(SPREADSHEET_SIGNS) else text


def own_text(cell: str) -> str:
    """Return a text without the apostrophe that keeps spreadsheets from running it.

    >>> own_text("'=1+1")
    '=1+1'
    """
    return cell[1:] if cell[:1] == "'" and cell[1:].startswith(SPREADSHEET_SIGNS) else cell


def spreadsheet_columns(kinds: dict[str, str]) -> str:
    """Return SQL for the columns of a table, by name and type, with names and texts that are safe to open."""
    signs = ", ".join(literal(sign) for sign in SPREADSHEET_SIGNS)

    def cell(name: str) -> str:
        column = identifier(name)
        if kinds[name] != "VARCHAR":
            return column
        return f"CASE WHEN left({column}, 1) IN ({signs}) THEN '''' || {column} ELSE {column} END"

    return ", ".join(f"{cell(name)} AS {identifier(spreadsheet_text(name))}" for name in kinds)
