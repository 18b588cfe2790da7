"""Warnings that point at the user's line, however deep in the package they arise."""

import os
import sys
import warnings
from pathlib import Path

_PACKAGE = str(Path(__file__).parents[1]) + os.sep


def warn_user(message: str) -> None:
    """Warn at the nearest line outside this package.

    A fixed `stacklevel` is wrong for all but one caller: `predict`, a pipeline and `Conformal` reach the same
    line by different ways.
    """
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, UserWarning, stacklevel=level)
