"""Columns of a data frame that hold categories, as numbers: known categories, kept with the model."""

from dataclasses import dataclass
from datetime import date, time, timedelta
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
# One column of 0 and 1 per category; the same but for the first category; or one column of numbers.
Encoding = Literal["one-hot", "reference", "codes"]
# As `unmet compare` says it.
_TIMES = "holds times: add columns such as weekday, month or hour instead"


@dataclass(frozen=True)
class Categories:
    """The columns of a frame and, where they hold categories, those that `fit` saw."""

    names: tuple[str, ...]
    seen: tuple[tuple[str, ...] | None, ...]  # None for a column of numbers
    encoding: Encoding

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns of numbers."""
        found: list[str] = []
        for name, seen in zip(self.names, self.seen):
            if seen is None or self.encoding == "codes":
                found.append(name)
            else:
                found += [f"{name} = {category}" for category in self._shown(seen)]
        return tuple(found)

    @property
    def coded(self) -> list[int]:
        """Columns of numbers that are numbers of categories."""
        return [i for i, seen in enumerate(self.seen) if seen is not None] if self.encoding == "codes" else []

    def refuse_arrays(self, X: Any) -> None:
        """Raise ValueError unless X is a frame."""
        if not _is_frame(X):
            raise ValueError(
                f"fit saw categories in {_names(self.names, self.seen)}: pass a data frame with the same "
                "columns"
            )

    def expand(self, X: Any) -> Floats:
        """Return a frame with these columns as numbers. Raise ValueError for a category that is not known."""
        import narwhals.stable.v2 as nw

        frame = nw.from_native(X, eager_only=True)
        parts: list[NDArray[Any]] = []
        names = {str(name): name for name in frame.columns}  # pandas takes numbers too
        for name, seen in zip(self.names, self.seen):
            column = frame.get_column(names.get(name, name))
            if seen is None:
                parts.append(column.to_numpy().astype(np.float64)[:, None])
                continue
            codes = _codes(name, _texts(name, column), seen)
            if self.encoding == "codes":
                parts.append(codes[:, None].astype(np.float64))
            else:
                shown = np.arange(len(seen) - len(self._shown(seen)), len(seen))
                parts.append((codes[:, None] == shown).astype(np.float64))
        return np.ascontiguousarray(np.concatenate(parts, axis=1))

    def _shown(self, seen: tuple[str, ...]) -> tuple[str, ...]:
        return seen[1:] if self.encoding == "reference" else seen

    def plain(self) -> dict[str, Any]:
        """Return plain data to save."""
        seen = [None if one is None else list(one) for one in self.seen]
        return {"names": list(self.names), "seen": seen, "encoding": self.encoding}


def refuse_times(X: Any) -> None:
    """Raise ValueError if X holds dates, times or durations: as numbers they would be nanoseconds."""
    import narwhals.stable.v2 as nw

    if not _is_frame(X):
        if getattr(getattr(X, "dtype", None), "kind", "") in ("m", "M"):
            raise ValueError(f"X {_TIMES}")
        return
    frame = nw.from_native(X, eager_only=True)
    times = (nw.Datetime, nw.Date, nw.Time, nw.Duration)
    for name, kind in frame.schema.items():
        if isinstance(kind, times) or (isinstance(kind, nw.Object) and _holds_times(frame.get_column(name))):
            raise ValueError(f"column {name!r} of X {_TIMES}")


def number_type(X: Any) -> type[np.floating[Any]]:
    """Return float32 if all columns of X have it, or float16, and float64 otherwise.

    A large table in float32 is then not copied to float64.
    """
    import narwhals.stable.v2 as nw

    if _is_frame(X):
        kinds = nw.from_native(X, eager_only=True).schema.values()
        return np.float32 if kinds and all(kind == nw.Float32 for kind in kinds) else np.float64
    return np.float32 if getattr(X, "dtype", None) in (np.float32, np.float16) else np.float64


def find_categories(X: Any, encoding: Encoding) -> Categories | None:
    """Return the categories of a frame; None if it has none, or if X is no frame."""
    import narwhals.stable.v2 as nw

    if not _is_frame(X):
        return None
    frame = nw.from_native(X, eager_only=True)
    texts = (nw.String, nw.Categorical, nw.Enum)
    if not any(isinstance(kind, texts) for kind in frame.schema.values()):
        return None
    seen = [
        tuple(np.unique(_texts(name, frame.get_column(name))).tolist()) if isinstance(kind, texts) else None
        for name, kind in frame.schema.items()
    ]
    return Categories(tuple(map(str, frame.columns)), tuple(seen), encoding)


def read_categories(config: dict[str, Any]) -> Categories:
    """Return what `plain` returned, checked. Raise ValueError if it does not fit."""
    seen = tuple(None if one is None else tuple(map(str, one)) for one in config["seen"])
    known = all(one is None or (len(one) > 0 and list(one) == sorted(set(one))) for one in seen)
    encoding = config["encoding"]
    if len(seen) != len(config["names"]) or not known or encoding not in ("one-hot", "reference", "codes"):
        raise ValueError("the categories of the columns are wrong")
    return Categories(tuple(map(str, config["names"])), seen, encoding)


def _is_frame(X: Any) -> bool:
    import narwhals.stable.v2 as nw

    return hasattr(X, "columns") and bool(nw.dependencies.is_into_dataframe(X))


def _holds_times(column: Any) -> bool:
    """Whether Python objects are dates: pandas has no other column of dates without a time."""
    return any(isinstance(value, (date, time, timedelta)) for value in column.to_numpy())


def _texts(name: str, column: Any) -> NDArray[Any]:
    values = column.to_numpy()
    if column.is_null().any() or any(value is None or value != value for value in values):
        raise ValueError(
            f"column {name!r} of X has missing categories: fill them in, for instance with 'missing'"
        )
    return np.array([str(value) for value in values])


def _codes(name: str, texts: NDArray[Any], seen: tuple[str, ...]) -> NDArray[np.intp]:
    known = np.array(seen)
    place = np.minimum(np.searchsorted(known, texts), len(known) - 1)
    strange = known[place] != texts
    if strange.any():
        raise ValueError(
            f"column {name!r} of X holds {str(texts[strange][0])!r}, which fit did not see: fit with such "
            "rows, or ignore it by a Pipeline with OneHotEncoder(handle_unknown='ignore')"
        )
    return place


def _names(names: tuple[str, ...], seen: tuple[Any, ...]) -> str:
    return ", ".join(repr(name) for name, one in zip(names, seen) if one is not None)
