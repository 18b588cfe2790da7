"""The stock of places as a step function: one segment per event, with its level and state."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unmet.mobility._keys import CHANGE, EDGE, IS_CLOSED, IS_OPEN, IS_UNKNOWN, pack, unpack
from unmet.mobility._observed import Listening, reconcile
from unmet.mobility._stream import Batch

OPEN, CLOSED, UNKNOWN = 0, 1, 2


@dataclass(frozen=True)
class Segments:
    """Segments in order of place and time.

    Level is the stock from `t` on (after the event) until `until`: the opening stock plus all rides and
    moves so far. An event of kind EDGE stands at the start of each period, before anything that happens in
    that second, so its level is the stock at the start.
    """

    no: np.ndarray
    t: np.ndarray
    until: np.ndarray
    kind: np.ndarray
    level: np.ndarray
    regime: np.ndarray


def segments(batch: Batch, edges: np.ndarray, last: int, how: Listening | None) -> Segments:
    """Segments of a batch, cut at the starts of the periods (`edges`) and at `last`."""
    places = len(batch.observed)
    everywhere = np.arange(places)
    moves, opening = [batch.moves], np.zeros(places, np.int64)
    regimes = [pack(everywhere[~batch.observed], int(edges[0]), IS_OPEN)]
    if how is not None and batch.observed.any():
        seen = batch.rides if batch.observed.all() else batch.rides[batch.observed[unpack(batch.rides)[0]]]
        found = reconcile(seen, batch.records, places, how)
        moves.append(found.moves)
        regimes.append(found.regimes)
        opening = found.opening
    periods = pack(np.repeat(everywhere, len(edges)), np.tile(edges, places), EDGE)
    keys = np.concatenate([periods, *regimes, batch.rides, *moves])
    keys.sort()
    no, t, kind = unpack(keys)
    if len(t) and t.max() >= last:
        inside = t < last
        no, t, kind = no[inside], t[inside], kind[inside]
    starts = np.searchsorted(no, everywhere)  # every place has an edge
    lengths = np.diff(starts, append=len(no))
    total = np.cumsum(CHANGE[kind], dtype=np.int64)
    level = total + np.repeat(opening - np.where(starts > 0, total[starts - 1], 0), lengths)
    # A place is unknown until an event says what it is.
    says = np.flatnonzero((kind >= IS_OPEN) & (kind <= IS_UNKNOWN))
    turns = np.concatenate([starts, says])
    order = np.argsort(turns, kind="stable")
    states = np.concatenate([np.full(places, UNKNOWN, np.int8), kind[says] - np.int8(IS_OPEN)])[order]
    regime = np.repeat(states, np.diff(turns[order], append=len(no)))
    until = np.empty_like(t)
    until[:-1] = t[1:]
    until[starts + lengths - 1] = last
    return Segments(no, t, until, kind, level, regime)


assert (IS_OPEN - IS_OPEN, IS_CLOSED - IS_OPEN, IS_UNKNOWN - IS_OPEN) == (OPEN, CLOSED, UNKNOWN)
