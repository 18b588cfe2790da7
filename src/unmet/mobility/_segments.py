"""The stock of places as a step function: one segment per event, with its level and state."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unmet.mobility._observed import Listening, reconcile
from unmet.mobility._stream import CHANGE, EDGE, IS_CLOSED, IS_OPEN, IS_UNKNOWN, Batch, pack, unpack

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
    places = len(batch.names)
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
    starts = np.r_[True, no[1:] != no[:-1]]
    begin = np.flatnonzero(starts)[np.cumsum(starts) - 1]
    change = CHANGE[kind].astype(np.int64)
    total = np.cumsum(change)
    level = opening[no] + total - (total - change)[begin]
    says = np.maximum.accumulate(np.where((kind >= IS_OPEN) & (kind <= IS_UNKNOWN), np.arange(len(kind)), 0))
    regime = np.where((says >= begin) & (kind[says] >= IS_OPEN) & (kind[says] <= IS_UNKNOWN),
                      kind[says] - IS_OPEN, UNKNOWN).astype(np.int8)  # fmt: skip
    until = np.r_[t[1:], last]
    until[np.r_[starts[1:], True]] = last
    return Segments(no, t, until, kind, level, regime)


assert (IS_OPEN - IS_OPEN, IS_CLOSED - IS_OPEN, IS_UNKNOWN - IS_OPEN) == (OPEN, CLOSED, UNKNOWN)
