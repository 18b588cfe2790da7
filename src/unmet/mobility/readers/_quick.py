"""The quick way: a file whose cells are all as expected is taken by types, in one pass, without repairs.

Whatever is not as expected (a blank at the end of a cell, the word NULL, a stamp of another form, a number
that is none) stops the quick way at once, and the file is read again as text, with every check.
"""

from unmet.mobility.readers._formats import NULLS
from unmet.mobility.readers._recognise import Layout
from unmet.mobility.readers._stamp_blocks import FORMS
from unmet.mobility.readers._stamps import guess
from unmet.tables import literal

_NUMBERS = {
    "trips": ("start_lat", "start_lng", "end_lat", "end_lng"),
    "status": ("available", "docks"),
}
_FLAGS = ("renting", "returning", "installed")
TRIP_TEXTS = ("ride", "vehicle", "start_place", "start_name", "end_place", "end_name", "trip_type")
STATION = ("place", "name", "lat", "lng")
_LONGEST_NULL = max(len(word) for word in NULLS)


def types_of(layout: Layout, samples: list[list[str]]) -> dict[int, str] | None:
    """Types of the columns that are not text, by position; ``None`` where only the careful way will do."""
    where = layout.positions
    stamp = {"trips": "start", "status": "at"}.get(layout.kind, "")
    if any(len(columns) > 1 for columns in where.values()) or stamp not in where or not samples:
        return None
    stamps = [row[where[stamp][0]].strip() for row in samples]
    types = {where[name][0]: "DOUBLE" for name in _NUMBERS[layout.kind] if name in where}
    if layout.kind == "status":
        if "vehicle_id" in where or not all(text.isdigit() for text in stamps):
            return None
        flags = {where[name][0]: "BOOLEAN" for name in _FLAGS if name in where}
        return {**types, **flags, where["at"][0]: "BIGINT"}
    form = guess(stamps)
    return types if form is not None and form.startswith("%Y-") else None


def run_of(layout: Layout, side: str) -> tuple[int, int] | None:
    """First and last of the columns about a ride's start or end; ``None`` where others lie between them."""
    where = layout.positions
    found = [where[f"{side}_{name}"][0] for name in STATION if f"{side}_{name}" in where]
    return (min(found), max(found)) if found and max(found) - min(found) == len(found) - 1 else None


def fits_blocks(layout: Layout, samples: list[list[str]]) -> bool:
    """Whether a file, if it is plain, may be read in blocks of lines.

    Of trips everything about a station must stand in a run of columns that repeats from ride to ride. Ids of
    rides do not repeat.
    """
    where = layout.positions
    if layout.kind != "trips":
        return True
    form = guess([row[where["start"][0]] for row in samples])
    return (
        "ride" not in where
        and "trip_type" not in where
        and "end" in where
        and form in FORMS
        and all(run_of(layout, side) is not None for side in ("start", "end"))
    )


def fits_types(layout: Layout, types: list[str]) -> tuple[int, ...] | None:
    """Positions of stamps and degrees of a typed trip file; ``None`` where one of them has another type."""
    where = layout.positions
    if layout.kind != "trips" or any(len(columns) > 1 for columns in where.values()):
        return None
    wanted = dict.fromkeys(("start", "end"), "TIMESTAMP") | dict.fromkeys(_NUMBERS["trips"], "DOUBLE")
    if any(types[where[name][0]] != kind for name, kind in wanted.items() if name in where):
        return None
    return tuple(where[name][0] for name in wanted if name in where)


def even_text(text: str) -> str:
    """SQL condition: a cell is empty, or needs no trimming and is no word for "nothing here"."""
    words = ", ".join(literal(word) for word in NULLS)
    # Whatever starts with a blank comes before '!'.
    return (
        f"{text} IS NULL OR ({text} >= '!' AND NOT suffix({text}, ' ') "
        f"AND (strlen({text}) > {_LONGEST_NULL} OR {text} NOT IN ({words})))"
    )


def stop_unless(sound: list[str]) -> str:
    """SQL for the column `reason`: NULL throughout, or an end to the quick way."""
    return (
        f"CASE WHEN {' AND '.join(f'({test})' for test in sound)} THEN NULL ELSE error('not as expected') END"
    )
