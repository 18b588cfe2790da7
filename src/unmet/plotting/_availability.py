"""One place over some days: stock, stock-outs and observed pickups."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

import numpy as np

from unmet.plotting._colours import BLUE, GREEN, GREY, ORANGE, VERMILION

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_BANDS = {
    "empty": (VERMILION, 0.30, "empty: demand unseen"),
    "closed": (GREY, 0.45, "closed"),
    "unknown": (GREY, 0.20, "not known"),
}


def plot_availability(
    ax: Axes,
    *,
    segments: Sequence[tuple[datetime, datetime, str, int]],
    starts: Sequence[datetime],
    pickups: Sequence[int],
    censored: Sequence[bool],
    every: str = "hour",
    title: str | None = None,
) -> Axes:
    """Draw stock, availability and pickups of one place, and return the axis.

    A step line above zero shows the stock. Bars below zero show the pickups of each period, hatched if the
    place ran out: the bar is then a lower bound on demand. Bands show when the place was empty, closed or
    unknown.

    Parameters
    ----------
    segments : (from, until, state, vehicles) in order, as in table ``timeline``, in local time.
    starts, pickups, censored : one entry per period, in local time.
    every : name of a period on the axis.
    """
    import matplotlib.dates as mdates
    from matplotlib.ticker import MaxNLocator

    if not segments or not len(starts):
        raise ValueError("segments and starts must not be empty: choose days that the panel covers")
    if not len(starts) == len(pickups) == len(censored):
        raise ValueError("starts, pickups and censored must have one entry per period")
    begin = mdates.date2num(list(starts))
    width = float(np.diff(begin).min()) if len(begin) > 1 else 1 / 24
    flags = np.asarray(censored, bool)
    counts = np.asarray(pickups)
    look: dict[str, Any] = {"width": width * 0.9, "align": "edge", "linewidth": 0.4, "edgecolor": "white"}
    for mask, colour, hatch, label in (
        (~flags, GREEN, None, f"pickups in the {every}"),
        (flags, ORANGE, "////", "pickups, ran out: a lower bound"),
    ):
        if mask.any():
            ax.bar(begin[mask], -counts[mask], color=colour, hatch=hatch, label=label, zorder=2, **look)
    named = set()
    for start, stop, state, _ in segments:
        if state in _BANDS:
            colour, alpha, label = _BANDS[state]
            ax.axvspan(
                float(mdates.date2num(start)),
                float(mdates.date2num(stop)),
                color=colour,
                alpha=alpha,
                linewidth=0,
                zorder=1,
                label=None if state in named else label,
            )
            named.add(state)
    times = [float(mdates.date2num(segment[0])) for segment in segments]
    levels = [segment[3] for segment in segments]
    ends = float(mdates.date2num(segments[-1][1]))
    ax.step(
        [*times, ends],
        [*levels, levels[-1]],
        where="post",
        color=BLUE,
        linewidth=1.4,
        zorder=3,
        label="stock",
    )
    locator = mdates.AutoDateLocator(maxticks=9)
    ax.xaxis.set_major_locator(locator)
    ax.xaxis.set_major_formatter(mdates.ConciseDateFormatter(locator, show_offset=False))
    ax.set_xlim(times[0], ends)
    most = max(1, int(counts.max(initial=0)))
    ax.set_ylim(-1.08 * most, 1.08 * max(1, *levels))
    ax.axhline(0, color="black", linewidth=0.8, zorder=4)
    ax.yaxis.set_major_locator(MaxNLocator(integer=True, nbins=9))
    ax.yaxis.set_major_formatter(lambda value, _: f"{abs(value):.0f}")
    ax.set_xlabel("local time")
    ax.set_ylabel(f"↓ pickups per {every}    vehicles in stock ↑")
    if title:
        ax.set_title(title, loc="left")
    ax.legend(loc="upper left", bbox_to_anchor=(0, -0.14), ncols=4, frameon=False)
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    return ax
