"""Flags as people write them: true or false, yes or no, 1 or 0."""

import json
from typing import Any

import numpy as np
from numpy.typing import NDArray

_WORDS = {
    **dict.fromkeys(("true", "t", "yes", "y", "1"), 1.0),
    **dict.fromkeys(("false", "f", "no", "n", "0"), 0.0),
}
# Texts that `pandas.read_csv` turns into booleans; it leaves yes and no as they are.
_PANDAS_BOOLEANS = {"true", "True", "TRUE", "false", "False", "FALSE"}
_MOST_SHOWN = 5


def read_flags(values: NDArray[Any], name: str) -> NDArray[np.float64]:
    """Return 1 for true, 0 for false and NaN for a gap; anything else is shown and refused.

    >>> read_flags(np.array(["Yes", "n", None, 1], object), "censored").tolist()
    [1.0, 0.0, nan, 1.0]
    """
    if values.dtype.kind in "biuf":
        found = values.astype(np.float64)
        wrong = ~(np.isnan(found) | (found == 0) | (found == 1)).ravel()
    else:
        read = [_meaning(value) for value in values.ravel().tolist()]
        wrong = np.array([one is None for one in read], bool)
        found = np.array([np.nan if one is None else one for one in read]).reshape(values.shape)
    if not wrong.any():
        return found
    distinct = list(dict.fromkeys(str(value) for value in values.ravel().tolist()))
    more = ", …" if len(distinct) > _MOST_SHOWN else ""
    first = int(np.argmax(wrong))
    raise ValueError(
        f"{name} must be true or false, yes or no, or 1 or 0, in every row: found "
        f"{', '.join(distinct[:_MOST_SHOWN])}{more}; first wrong at row {first}, counted from 0 "
        f"({values.ravel()[first]})"
    )


def _meaning(value: Any) -> float | None:
    """Return 1, 0, or NaN for a gap; None if it is no flag."""
    if value is None or value == "" or value != value:
        return np.nan
    if isinstance(value, str):
        word = value.strip().casefold()
        if word in _WORDS:
            return _WORDS[word]
        try:
            value = float(word)
        except ValueError:
            return None
    return float(value) if value in (0, 1) else None


def flag_code(column: str, values: NDArray[Any], *, is_event: bool, in_csv: bool) -> str:
    """Return Python that marks the censored rows of `column` in a pandas frame `table` without gaps.

    Parameters
    ----------
    values : what the column holds, a CSV file's as it is written.
    is_event : whether a true flag means that the row was seen.
    in_csv : whether pandas reads the column from a CSV file, where it turns some texts into values.

    >>> flag_code("failed", np.array(["yes", "No", "no"], object), is_event=True, in_csv=True)
    'table["failed"].isin(["No", "no"])'
    """
    place = f"table[{json.dumps(column, ensure_ascii=False)}]"
    known = [value for value in dict.fromkeys(values.tolist()) if value is not None and value == value]
    known = [value for value in known if value != ""]
    texts = [value for value in known if isinstance(value, str)]
    if in_csv and (all(map(_is_number, texts)) or set(texts) <= _PANDAS_BOOLEANS):
        texts = []
    if not texts:
        return f"{place} == 0" if is_event else place
    wanted = 0.0 if is_event else 1.0
    censored = sorted((value for value in known if _meaning(value) == wanted), key=str)
    return f"{place}.isin([{', '.join(_literal(value) for value in censored)}])"


def _literal(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else repr(value)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
