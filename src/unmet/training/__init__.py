"""The trainer of all models: many networks at once in compiled loops, each with its own early stopping."""

from unmet.training._problem import Hyper, Problem, Rows, blank, views
from unmet.training._shapes import padded_batches, padded_columns, padded_rows, slots
from unmet.training._spec import ProgramSpec
from unmet.training._trainer import Job, Trained, train

__all__ = [
    "Hyper",
    "Job",
    "Problem",
    "ProgramSpec",
    "Rows",
    "Trained",
    "blank",
    "padded_batches",
    "padded_columns",
    "padded_rows",
    "slots",
    "train",
    "views",
]
