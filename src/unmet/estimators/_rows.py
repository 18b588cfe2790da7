"""Canonical form of weighted rows: order and repetition of rows change nothing."""

from functools import cache

import numpy as np
from numpy.typing import NDArray

_MIX = np.uint64(0x9E3779B97F4A7C15)
_SHIFT = np.uint64(29)
_HALF = np.uint64(32)


def canonical_rows(
    table: NDArray[np.float64], weight: NDArray[np.float64] | None
) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Merge equal rows and sort the rest by a hash of their content.

    A row given twice then trains exactly like one of weight two, a row of weight zero like none, and any
    order of the rows gives the same bits. The order by hash is as good as random; mini-batches rely on that.

    Returns
    -------
    index, weight
        Rows to keep and their weights, which sum to one.
    """
    chosen: NDArray[np.intp] | None = None
    if weight is not None and not weight.all():
        chosen = np.flatnonzero(weight)
        table, weight = table[chosen], weight[chosen]
    keys = _hash_rows(table)
    order = np.argsort(keys)
    keys = keys[order]
    twins = np.flatnonzero(keys[1:] == keys[:-1]) + 1
    if not len(twins):
        kept = order if chosen is None else chosen[order]
        share = np.full(len(order), 1 / len(order)) if weight is None else weight[order] / weight.sum()
        return kept, share
    order = np.argsort(_hash_rows(table), kind="stable")
    new = np.ones(len(order), bool)
    # Unequal rows with equal hashes stay apart.
    new[twins] = (table[order[twins]] != table[order[twins - 1]]).any(axis=1)
    starts = np.flatnonzero(new)
    if weight is None:
        total = np.diff(starts, append=len(order)).astype(np.float64)
    else:
        total = np.add.reduceat(weight[order], starts)
    kept = order[starts]
    return (kept if chosen is None else chosen[kept]), total / total.sum()


def _hash_rows(table: NDArray[np.float64]) -> NDArray[np.uint64]:
    bits = (table + 0.0).view(np.uint64)  # adding zero turns −0.0 into 0.0
    bits ^= bits >> _HALF
    bits *= _MIX
    bits ^= bits >> _SHIFT
    bits *= _multipliers(table.shape[1])
    keys = bits.sum(axis=1)
    keys ^= keys >> _HALF
    keys *= _MIX
    return keys


@cache
def _multipliers(columns: int) -> NDArray[np.uint64]:
    """Return a fixed odd number per column, so that equal values in different columns hash differently."""
    numbers = np.random.RandomState(0).randint(0, 2**63, columns, dtype=np.int64)
    return numbers.astype(np.uint64) | np.uint64(1)
