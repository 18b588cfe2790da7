"""The series of a long frame as arrays, and the columns that a model sees of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

# How many earlier seasons a row sees.
_SEASONS = 3


class Features(NamedTuple):
    """Rows to learn from, in units of the mean of the series, and the rows ahead."""

    past: NDArray[np.float64]
    y: NDArray[np.float64]
    threshold: NDArray[np.float64] | None
    censored: NDArray[np.bool_] | None
    ahead: NDArray[np.float64]
    scale: float


@dataclass(frozen=True)
class Series:
    """One series: values one step apart."""

    unique_id: Any
    ds: NDArray[Any]
    y: NDArray[np.float64]
    threshold: NDArray[np.float64] | None
    censored: NDArray[np.bool_] | None

    def column(self, name: str) -> NDArray[Any] | None:
        """Return y, threshold or censored."""
        return {"y": self.y, "threshold": self.threshold, "censored": self.censored}[name]

    def until(self, end: int) -> Series:
        """Return the first `end` periods."""
        if end < 2:
            raise ValueError(f"series {self.unique_id!r} is too short for n_windows and h: use fewer windows")
        cut = {
            name: None if (v := self.column(name)) is None else v[:end] for name in ("threshold", "censored")
        }
        return replace(self, ds=self.ds[:end], y=self.y[:end], **cut)

    def next_periods(self, h: int) -> NDArray[Any]:
        """Return the `h` periods after the last one."""
        step = self.ds[1] - self.ds[0]
        return self.ds[-1] + step * np.arange(1, h + 1)

    def features(self, h: int, season: int) -> Features:
        """Return what a model sees; no column of a row reads a period less than `h` before it."""
        n = len(self.y)
        first = season * -(-h // season)  # the shortest whole number of seasons that spans the horizon
        lags = [first + season * k for k in range(_SEASONS)]
        scale = abs(float(np.mean(self.y))) or 1.0
        values = np.concatenate([self.y / scale, np.full(h, np.nan)])
        cut = np.zeros(n) if self.censored is None else self.censored.astype(float)
        if self.threshold is not None:
            cut = np.maximum(cut, self.y >= self.threshold)
        cut = np.concatenate([cut, np.full(h, np.nan)])
        at = np.arange(n + h)
        sums = np.concatenate([[0.0], np.cumsum(values[:n])])
        end = np.clip(at - h + 1, 0, n)
        begin = np.clip(end - max(2 * season, 8), 0, n)
        recent = (sums[end] - sums[begin]) / np.maximum(end - begin, 1)
        turn = 2 * np.pi * at / season
        columns = [recent, *(_shifted(values, lag) for lag in lags), *(_shifted(cut, lag) for lag in lags)]
        if season > 1:
            columns += [np.sin(turn), np.cos(turn)]
        table = np.stack(columns, axis=1)
        rows = np.flatnonzero(np.isfinite(table[:n]).all(axis=1) & (at[:n] >= lags[-1]))
        ahead = table[n:]
        if not np.isfinite(ahead).all():
            raise ValueError(
                f"series {self.unique_id!r} has {n} periods: season={season} and h={h} need at least "
                f"{lags[-1] + 1}; give a longer series or a shorter season"
            )
        return Features(
            table[rows],
            values[rows],
            None if self.threshold is None else self.threshold[rows] / scale,
            None if self.censored is None else self.censored[rows],
            ahead,
            scale,
        )


def _shifted(values: NDArray[np.float64], lag: int) -> NDArray[np.float64]:
    return np.concatenate([np.full(lag, np.nan), values])[: len(values)]


def read_frame(df: Any) -> list[Series]:
    """Return the series of a long frame, in the order of their first rows, each sorted by time."""
    import narwhals as nw

    frame = nw.from_native(df, eager_only=True)
    for name in ("unique_id", "ds", "y"):
        if name not in frame.columns:
            raise ValueError(f"df must have the columns unique_id, ds and y; {name} is missing")
    columns = {name: frame[name].to_numpy() for name in frame.columns if name in _KNOWN}
    _, first, index = np.unique(columns["unique_id"].astype(str), return_index=True, return_inverse=True)
    found = []
    for group in np.argsort(first):
        rows = np.flatnonzero(index == group)
        rows = rows[np.argsort(columns["ds"][rows], kind="stable")]
        one = {name: values[rows] for name, values in columns.items()}
        found.append(_series(columns["unique_id"][first[group]], one))
    if not found:
        raise ValueError("df must have at least one row")
    return found


_KNOWN = ("unique_id", "ds", "y", "threshold", "censored")


def _series(unique_id: Any, columns: dict[str, NDArray[Any]]) -> Series:
    y = columns["y"].astype(float)
    if not np.isfinite(y).all():
        raise ValueError(f"y of series {unique_id!r} must be finite; fill or leave out missing periods")
    steps = np.diff(columns["ds"])
    if len(steps) == 0 or (steps != steps[0]).any() or not steps[0] > 0 * steps[0]:
        raise ValueError(f"ds of series {unique_id!r} must be one step apart, without gaps or repetitions")
    threshold = columns["threshold"].astype(float) if "threshold" in columns else None
    censored = columns["censored"].astype(bool) if "censored" in columns else None
    return Series(unique_id, columns["ds"], y, threshold, censored)


def write_frame(like: Any, columns: dict[str, NDArray[Any]]) -> Any:
    """Return columns as a frame of the same kind as `like`."""
    import narwhals as nw

    order = ["unique_id", "ds", "cutoff", "y", "threshold", "censored"]
    names = [name for name in order if name in columns] + [name for name in columns if name not in order]
    frame = nw.from_native(like, eager_only=True)
    made = {name: columns[name] for name in names}
    return nw.from_dict(made, backend=frame.implementation).to_native()
