"""Canonical form of weighted rows: order and repetition of rows change nothing."""

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_MIX = np.uint64(0x9E3779B97F4A7C15)
_SHIFT = np.uint64(29)
_HALF = np.uint64(32)


def canonical_rows(
    X: NDArray[Any], others: Sequence[NDArray[Any]], weight: Floats | None
) -> tuple[NDArray[np.intp], Floats]:
    """Merge equal rows and sort the rest by a hash of their content.

    A row given twice then trains exactly like one of weight two, a row of weight zero like none, and any
    order of the rows gives the same bits. The order by hash is as good as random; mini-batches rely on that.

    Parameters
    ----------
    X : array (rows, columns)
    others : further columns, (rows,) each.

    Returns
    -------
    index, weight
        Rows to keep and their weights, which sum to one.
    """
    chosen: NDArray[np.intp] | None = None
    if weight is not None and not weight.all():
        chosen = np.flatnonzero(weight)
        X, others, weight = X[chosen], [column[chosen] for column in others], weight[chosen]
    keys = _hash_rows(X, others)
    order = np.argsort(keys)
    sorted_ = keys[order]
    twins = np.flatnonzero(sorted_[1:] == sorted_[:-1]) + 1
    if not len(twins):
        kept = order if chosen is None else chosen[order]
        share = np.full(len(order), 1 / len(order)) if weight is None else weight[order] / weight.sum()
        return kept, share
    order = np.argsort(keys, kind="stable")
    new = np.ones(len(order), bool)
    # Unequal rows with equal hashes stay apart.
    one, other = order[twins], order[twins - 1]
    unlike = (X[one] != X[other]).any(axis=1)
    for column in others:
        unlike |= column[one] != column[other]
    new[twins] = unlike
    starts = np.flatnonzero(new)
    if weight is None:
        total = np.diff(starts, append=len(order)).astype(np.float64)
    else:
        total = np.add.reduceat(weight[order], starts)
    kept = order[starts]
    return (kept if chosen is None else chosen[kept]), total / total.sum()


def distinct_rows(
    X: NDArray[Any], others: Sequence[NDArray[Any]]
) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
    """Return the canonical order of rows without weights, (problems, rows), and where none are equal."""
    keys = _hash_rows(X, others)
    order = np.argsort(keys, axis=1)
    keys = np.take_along_axis(keys, order, axis=1)
    return order, (keys[:, 1:] != keys[:, :-1]).all(axis=1)


def _hash_rows(X: NDArray[Any], others: Sequence[NDArray[Any]]) -> NDArray[np.uint64]:
    """Return a hash per row of X, (..., rows, columns), and further columns, (..., rows)."""
    multipliers = _multipliers(X.shape[-1] + len(others))
    keys = np.zeros(X.shape[:-1], np.uint64)
    for number, multiplier in enumerate(multipliers):
        column = X[..., number] if number < X.shape[-1] else others[number - X.shape[-1]]
        bits = (column.astype(np.float64) + 0.0).view(np.uint64)  # adding zero turns −0.0 into 0.0
        bits ^= bits >> _HALF
        bits *= _MIX
        bits ^= bits >> _SHIFT
        bits *= multiplier
        keys += bits
    keys ^= keys >> _HALF
    keys *= _MIX
    return keys


@cache
def _multipliers(columns: int) -> NDArray[np.uint64]:
    """Return a fixed odd number per column, so that equal values in different columns hash differently."""
    numbers = np.random.RandomState(0).randint(0, 2**63, columns, dtype=np.int64)
    return numbers.astype(np.uint64) | np.uint64(1)
