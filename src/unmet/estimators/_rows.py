"""One canonical form of a set of weighted rows: order and repetition of rows change nothing."""

import numpy as np
from numpy.typing import NDArray

_MIX = np.uint64(0x9E3779B97F4A7C15)
_SHIFT = np.uint64(29)
_HALF = np.uint64(32)


def canonical_rows(
    table: NDArray[np.float64], weight: NDArray[np.float64] | None
) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Merge equal rows and put the rest in an order that depends on their content only.

    A row given twice then trains exactly like one with weight two, a weight of zero like an absent row, and
    any order of the rows gives the same bits. The order follows a hash of the content, so it is also as good
    as random, which mini-batches rely on.

    Returns
    -------
    index, weight
        Rows to keep, and their weights, which sum to one.
    """
    chosen: NDArray[np.intp] | None = None
    if weight is not None and not weight.all():
        chosen = np.flatnonzero(weight)
        table, weight = table[chosen], weight[chosen]
    keys = _hash_rows(table)
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    new = np.empty(len(order), bool)
    new[:1] = True
    np.not_equal(keys[1:], keys[:-1], out=new[1:])
    twins = np.flatnonzero(~new)
    if len(twins):
        same = (table[order[twins]] == table[order[twins - 1]]).all(axis=1)
        new[twins[~same]] = True  # unequal rows with equal hashes
    starts = np.flatnonzero(new)
    if weight is None:
        total = np.diff(starts, append=len(order)).astype(np.float64)
    else:
        total = np.add.reduceat(weight[order], starts)
    kept = order[starts]
    return (kept if chosen is None else chosen[kept]), total / total.sum()


def _hash_rows(table: NDArray[np.float64]) -> NDArray[np.uint64]:
    bits = (table + 0.0).view(np.uint64)  # adding zero makes −0.0 and 0.0 one number
    bits ^= bits >> _HALF
    bits *= _MIX
    bits ^= bits >> _SHIFT
    bits *= np.random.RandomState(0).randint(0, 2**63, table.shape[1], dtype=np.int64).astype(
        np.uint64
    ) | np.uint64(1)
    keys = bits.sum(axis=1)
    keys ^= keys >> _HALF
    keys *= _MIX
    return keys
