"""A run and what it found: its folder, the schema of its files, frames and figures.

Every file of a run folder and every column is defined once, in `_schema.py`.
"""

from unmet.results import numbers
from unmet.results._frames import choose_backend, make_frame
from unmet.results._panel import check_panel, checked_panel
from unmet.results._places import shown_name
from unmet.results._plan_words import if_no_van_came, plan_sentences, recent_days
from unmet.results._run import Run, open_run
from unmet.results._schema import FILES, Column, File, Part, outputs_of
from unmet.results._summary import Summary
from unmet.results._trust import Evidence, Reason, Trust, judge
from unmet.results._values import Doubt, Interval, PlaceTotals, PlanFigures, PlannedDay
from unmet.results._words import (
    Words,
    check_noun,
    doubts,
    headline,
    not_here,
    place_sentence,
    self_check_words,
    sentences,
    targets_played,
)
from unmet.results._write import write_file, write_map

__all__ = [
    "FILES",
    "Column",
    "Doubt",
    "Evidence",
    "File",
    "Interval",
    "Part",
    "PlaceTotals",
    "PlanFigures",
    "PlannedDay",
    "Reason",
    "Run",
    "Summary",
    "Trust",
    "Words",
    "check_noun",
    "check_panel",
    "checked_panel",
    "choose_backend",
    "doubts",
    "headline",
    "if_no_van_came",
    "judge",
    "make_frame",
    "not_here",
    "numbers",
    "open_run",
    "outputs_of",
    "place_sentence",
    "plan_sentences",
    "recent_days",
    "self_check_words",
    "sentences",
    "shown_name",
    "targets_played",
    "write_file",
    "write_map",
]
