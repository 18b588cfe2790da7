"""The recommended fit as Python lines that run as they are pasted: read, prepare, fit, predict."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unmet.comparison._columns import as_numbers
from unmet.comparison._flags import flag_code
from unmet.comparison._methods import Method
from unmet.tables import AnyTable

# Texts that `pandas.read_csv` takes for gaps, and the comparison does not.
_PANDAS_GAPS = {
    *("#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN", "<NA>"),
    *("N/A", "NA", "NULL", "NaN", "None", "n/a", "nan", "null"),
}


@dataclass(frozen=True, eq=False)
class Used:
    """What was compared.

    Parameters
    ----------
    X : as the caller gave it.
    table : X as it was read, all rows.
    given : arguments of the target as the caller gave them; names of columns, numbers or arrays.
    told : the target as it was read, all rows.
    kept : rows that tell something of the target.
    features : columns of the table to predict from.
    seed : starts the fit, so that two pastes agree.
    """

    X: Any
    table: AnyTable
    given: Mapping[str, Any]
    told: Mapping[str, NDArray[Any]]
    side: str
    kept: NDArray[np.bool_]
    features: tuple[str, ...]
    seed: int = 0


@dataclass
class _Lines:
    imports: set[str] = field(default_factory=set)
    lines: list[str] = field(default_factory=list)


def fit_code(method: Method, used: Used) -> str:
    """Return the lines that fit a method to the rows that were compared; none for Kaplan–Meier.

    `table` is the caller's frame; a file is read into it. Arrays keep the names of their arguments.
    """
    if method.estimator == "KaplanMeier":
        return ""
    code = _Lines({f"from unmet import {method.estimator}"})
    words, added = _target(used, code)
    _columns(used, code, added)
    _reading(used, code)
    side = "right" if "lower" in words else used.side  # bounds say themselves which side is open
    call = method.call(side, random_state=used.seed)
    told = ["X", *(word if name == "y" else f"{name}={word}" for name, word in words.items())]
    return "\n".join(
        [
            *sorted(code.imports, key=lambda line: (line.startswith("from unmet"), line)),
            *code.lines,
            f"model = {call}",
            f"model.fit({', '.join(told)})",
            "print(model.predict_quantiles(X))",
        ]
    )


def _reading(used: Used, code: _Lines) -> None:
    """Put the line first that makes a frame of pandas, unless the caller has one or none is needed."""
    table = used.table
    if not any("table" in line for line in code.lines):
        return
    line = ""
    if table.path is not None:
        options = [_text(str(table.path))]
        options += [f"sep={table.separator!r}"] if table.separator != "," else []
        options += [f"decimal={table.decimal!r}"] if table.decimal != "." else []
        options += ["header=0", f"names={_listed(table.columns)}"] if table.renamed else []
        if _in_csv(used) and any(_PANDAS_GAPS & _texts(table.columns[name]) for name in used.features):
            options += ["keep_default_na=False", 'na_values=[""]']
        line = f"table = pd.{'read_csv' if _in_csv(used) else 'read_parquet'}({', '.join(options)})"
    elif _is_array(used.X):
        line = f"table = pd.DataFrame(X, columns={_listed(table.columns)})"
    elif isinstance(used.X, Mapping):
        line = "table = pd.DataFrame(table)"
    elif hasattr(used.X, "to_pandas"):  # Polars, Arrow
        line = "table = table.to_pandas()"
    elif not all(isinstance(name, str) for name in used.X.columns):
        line = "table = table.rename(columns=str)"
    if line:
        code.lines.insert(0, line)
    if "pd." in line:
        code.imports.add("import pandas as pd")


def _target(used: Used, code: _Lines) -> tuple[dict[str, str], list[str]]:
    """Add the lines that leave out rows; return arguments of `fit`, and columns that were added for it."""
    told, columns = used.told, used.table.columns
    open_ends = {name: np.isinf(told[name]).any() for name in ("lower", "upper") if name in told}
    # Arrays go into the table where rows are left out of both, gaps are filled or flags are turned round.
    into_table = not used.kept.all() or any(open_ends.values()) or _needs_words(used.given)
    words: dict[str, str] = {}
    added: dict[str, str] = {}
    gaps: list[str] = []
    ends: dict[str, str] = {}
    for name, value in used.given.items():
        if value is None:
            continue
        parts = []
        for place, (key, word, part) in enumerate(_parts(name, value, used.side)):
            if np.ndim(part) == 0 and not isinstance(part, str):
                parts.append(_number(part))
                if np.isinf(part):
                    code.imports.add("from math import inf")
                continue
            column = part if isinstance(part, str) else None
            if column is None and into_table:
                column = key
                while column in columns or column in added:
                    column += "_"
                added[column] = f"list({word})"
            if column is None:
                parts.append(word)
                continue
            values = told["censored" if name == "event" else name]
            if name in ("lower", "upper"):
                ends[column] = "-inf" if name == "lower" else "inf"
            elif np.isnan(values if values.ndim == 1 else values[:, place]).any():
                gaps.append(column)
            if name in ("censored", "event"):
                raw = np.asarray(part if not isinstance(part, str) else columns[part])
                in_csv = _in_csv(used) and isinstance(part, str)
                parts.append(flag_code(column, raw, is_event=name == "event", in_csv=in_csv))
            else:
                parts.append(_place(column))
        words[name] = parts[0] if len(parts) == 1 else f"({', '.join(parts)})"
    if "event" in words:
        words["censored"] = words.pop("event")
    if added:
        code.lines.append(
            f"table = table.assign({', '.join(f'{key}={word}' for key, word in added.items())})"
        )
    if gaps:
        code.lines.append(f"table = table.dropna(subset={_listed(dict.fromkeys(gaps))})")
    _leave_out_unbounded(used, code, ends)
    return words, list(added)


def _leave_out_unbounded(used: Used, code: _Lines, ends: Mapping[str, str]) -> None:
    """Add the lines for bounds: a gap is an open end, and a row that is open on both sides tells nothing."""
    if not ends or not any(np.isinf(used.told[name]).any() for name in ("lower", "upper")):
        return
    code.imports.add("from math import inf")
    code.lines.append(f"table = table.fillna({{{', '.join(f'{_text(k)}: {v}' for k, v in ends.items())}}})")
    if not used.kept.all():
        known = " | ".join(f"({_place(name)} != {end})" for name, end in ends.items())
        code.lines.append(f"table = table[{known}]")


def _columns(used: Used, code: _Lines, added: Iterable[str]) -> None:
    """Add the lines that choose the columns to predict from and fill their gaps, as `encode` does."""
    fills: dict[str, str] = {}
    marks: list[str] = []
    chosen: list[str] = []
    before: dict[str, str] = {}
    after: dict[str, str] = {}
    for name in used.features:
        values = used.table.columns[name][used.kept]
        numbers = as_numbers(values)
        kind = _pandas_kind(used.X, name)
        chosen.append(name)
        if numbers is None or (_in_csv(used) and values.dtype == object):
            # Texts; and yes or no with gaps, which pandas reads as texts or as objects.
            if any(value is None or value != value for value in values.tolist()):
                fills[name] = _text("missing")
                if kind == "category":
                    before[name] = "object"
                if numbers is not None:
                    after[name] = "str"
            continue
        if kind or values.dtype == object:
            before[name] = "float"
        gap = np.isnan(numbers)
        if gap.any():
            marks.append(name)
            seen = numbers[~gap]
            if (seen == seen[0]).all():
                chosen.remove(name)
                before.pop(name, None)
            else:
                fills[name] = _number(np.median(seen))
    everything = [*used.table.columns, *added]
    if _is_array(used.X) and not code.lines and not fills and not marks and chosen == everything:
        return  # X itself
    rest = [name for name in everything if name not in chosen]
    ways = [f"table[{_listed(chosen)}]", f"table.drop(columns={_listed(rest)})"]
    code.lines.append(f"X = {min(ways, key=len) if chosen else ways[0]}")
    if before:
        code.lines.append(f"X = X.astype({{{', '.join(f'{_text(k)}: {v}' for k, v in before.items())}}})")
    if len(marks) == 1:
        mark = f"{_text(f'{marks[0]} is missing')}: {_place(marks[0])}.isna()"
        code.lines.append(f"X = X.assign(**{{{mark}}})")
    elif marks:
        many = f'f"{{name}} is missing": table[name].isna() for name in {_listed(marks)}'
        code.lines.append(f"X = X.assign(**{{{many}}})")
    if fills:
        code.lines.append(f"X = X.fillna({{{', '.join(f'{_text(k)}: {v}' for k, v in fills.items())}}})")
    if after:
        code.lines.append(f"X = X.astype({{{', '.join(f'{_text(k)}: {v}' for k, v in after.items())}}})")


def _parts(name: str, value: Any, side: str) -> list[tuple[str, str, Any]]:
    """Return the parts of an argument: what to call each as a column, as an expression, and what it is."""
    if name == "threshold" and side == "both":
        if isinstance(value, (tuple, list)) and len(value) == 2:
            return [("floor", "threshold[0]", value[0]), ("cap", "threshold[1]", value[1])]
        if np.ndim(value) == 2:
            return [
                ("floor", "threshold[:, 0]", np.asarray(value)[:, 0]),
                ("cap", "threshold[:, 1]", np.asarray(value)[:, 1]),
            ]
    return [(name, name, value)]


def _needs_words(given: Mapping[str, Any]) -> bool:
    """Whether flags are an array that `fit` does not take as it is."""
    event, censored = given.get("event"), given.get("censored")
    if event is not None:
        return not isinstance(event, str)
    return (
        censored is not None
        and not isinstance(censored, str)
        and np.asarray(censored).dtype.kind not in "biuf"
    )


def _in_csv(used: Used) -> bool:
    return used.table.path is not None and not used.table.path.name.lower().endswith(".parquet")


def _is_array(X: Any) -> bool:
    return isinstance(X, (np.ndarray, list, tuple)) or hasattr(X, "toarray")


def _pandas_kind(X: Any, name: str) -> str:
    """Return what a column of pandas is if it takes more than `fillna`: category, extension."""
    kind = getattr(getattr(X, "dtypes", {}), "get", lambda name: None)(name)
    if kind is None or not type(X).__module__.startswith("pandas"):
        return ""
    if isinstance(kind, np.dtype):
        return ""
    return "category" if str(kind) == "category" else "extension"


def _texts(values: NDArray[Any]) -> set[str]:
    return {value for value in values.tolist() if isinstance(value, str)} if values.dtype == object else set()


def _text(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _listed(names: Iterable[str]) -> str:
    return f"[{', '.join(map(_text, names))}]"


def _place(column: str) -> str:
    return f"table[{_text(column)}]"


def _number(value: Any) -> str:
    short = f"{float(value):g}"
    return short if float(short) == float(value) else repr(float(value))
