"""Training rows of a local fit, and the neighbours of any point among them."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# Numbers that one block of points keeps alive in one array: it should stay in a core's cache.
_BLOCK = 2**15


@dataclass(frozen=True, eq=False)
class Rows:
    """Right-censored rows in standardised columns."""

    x: Floats  # (n, columns)
    y: Floats
    cap: Floats  # y where censored, else the threshold; infinite if it plays no part
    censored: NDArray[np.bool_]
    weight: Floats  # (n,): of the row in the loss; 0 for a row that only tells of the censoring
    share: Floats  # (n,): of the row among all rows

    def take(self, index: NDArray[np.intp]) -> "Rows":
        return Rows(*(getattr(self, name)[index] for name in self.__dataclass_fields__))


class Near(NamedTuple):
    """Neighbours of some points: which rows, where from the point, and how much they count."""

    rows: NDArray[np.intp]  # (points, m)
    away: Floats  # (points, m, columns)
    kernel: Floats  # (points, m)


def neighbours(rows: Rows, points: Floats, span: float) -> Iterator[tuple[slice, Near]]:
    """Yield the neighbours of blocks of points: the nearest `span` of all rows, in standardised columns.

    The kernel is Epanechnikov's, 1 − u², with u the distance in units of a bandwidth that ends just beyond
    the last neighbour. Neighbours are in the order of the rows.
    """
    count, columns = rows.x.shape
    wanted = min(count, max(ceil(span * count), 2 * (columns + 1)))
    size = max(1, _BLOCK // count)
    for begin in range(0, len(points), size):
        part = points[begin : begin + size]
        # A neighbourhood is a large part of all rows: a tree would find it more slowly.
        apart = np.zeros((len(part), count))
        for column in range(columns):
            apart += np.square(rows.x[:, column] - part[:, column, None])
        index = np.sort(np.argpartition(apart, wanted - 1, axis=1)[:, :wanted], axis=1)
        apart = np.take_along_axis(apart, index, axis=1)
        reach = 1.05**2 * apart.max(axis=1, keepdims=True)
        kernel = 1 - apart / np.where(reach > 0, reach, 1.0)
        yield slice(begin, begin + len(part)), Near(index, rows.x[index] - part[:, None], kernel)
