"""How large groups are that set out together, from pickups of one place within a minute."""

from __future__ import annotations

import numpy as np

from unmet.mobility.panel._events import PICKUP, unpack
from unmet.mobility.panel._ledger import Ledger

_CLOSE = 60  # seconds between two who set out together
_APART = (120, 600)  # seconds between two who do not, but find the same demand


def measure_groups(ledger: Ledger) -> float:
    """Return E[S²] / E[S] for groups of S people who set out together; 1 if everybody comes alone.

    One more than twice the pickups in the minute after a pickup, beyond those to be expected from pickups
    two to ten minutes later. A train that brings many people counts as a group.
    """
    close = apart = pickups = 0.0
    for numbers in ledger.events.batches():
        no, t, kind = unpack(ledger.events.fetch(*numbers).keys)
        took = kind == PICKUP
        no, t = no[took].astype(np.int64), t[took]
        found = companions(t + no * (1 << 40), int(_grain(t)))
        pickups, close, apart = pickups + len(t), close + found[0], apart + found[1]
    return 1 + 2 * max(0.0, close - apart) / max(pickups, 1.0)


def companions(t: np.ndarray, grain: int = 1) -> tuple[float, float]:
    """Return pairs of pickups within a minute, and those that are to be expected without groups.

    Parameters
    ----------
    t : seconds of pickups, ascending.
    grain : seconds to which they are rounded.
    """
    own = np.arange(1, len(t) + 1)
    until_close, begin, end = (np.searchsorted(t, t + lag, "right") for lag in (_CLOSE, *_APART))
    # Two of the same stamp may be in either order, so that lag counts half.
    share = (_CLOSE + grain / 2) / (_APART[1] - _APART[0])
    return float((until_close - own).sum()), float((end - begin).sum() * share)


def _grain(t: np.ndarray) -> int:
    return 60 if len(t) and not (t % 60).any() else 1
