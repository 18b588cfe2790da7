"""Every method that applies to a table, compared by measures that need no truth."""

from unmet.comparison._compare import compare
from unmet.comparison._comparison import Comparison, Line, number
from unmet.comparison._flags import read_flags
from unmet.comparison._folds import predict_reached
from unmet.comparison._methods import LEVELS, METHODS, Method, why_not
from unmet.comparison._names import no_column, split_names

__all__ = [
    "LEVELS",
    "METHODS",
    "Comparison",
    "Line",
    "Method",
    "compare",
    "no_column",
    "number",
    "predict_reached",
    "read_flags",
    "split_names",
    "why_not",
]
