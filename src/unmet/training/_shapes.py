"""Padded shapes and the number of networks in flight, from the shape of one problem alone.

They never depend on how many problems there are or how many processes work: the same problem then runs the
same program everywhere, and its result is the same to the bit.
"""

# Floats of activations that the networks in flight hold together; found by timing, about half an L2 cache.
_ACTIVATIONS_IN_FLIGHT = 2**18
_MOST_SLOTS = 128


def padded_rows(rows: int) -> int:
    """The next power of two, from 16; beyond 4,096 the next of eight steps per doubling, to waste less."""
    if rows <= 16:
        return 16
    if rows <= 4096:
        return 1 << (rows - 1).bit_length()
    step = 1 << ((rows - 1).bit_length() - 4)
    return -(-rows // step) * step


def padded_columns(columns: int) -> int:
    """The next power of two up to 16, then the next multiple of 8: padding costs time in every product."""
    return 1 << (columns - 1).bit_length() if columns <= 16 else -(-columns // 8) * 8


def padded_batches(batches: int) -> int:
    """Mini-batches per epoch: exact to 64, then the next of thirty-two steps per doubling."""
    if batches <= 64:
        return batches
    step = 1 << ((batches - 1).bit_length() - 6)
    return -(-batches // step) * step


def slots(rows: int, activations_per_row: int) -> int:
    """How many networks to keep in flight, a power of two: as many as fit the cache, at least one."""
    fitting = _ACTIVATIONS_IN_FLIGHT // max(1, rows * activations_per_row)
    return max(1, min(_MOST_SLOTS, 1 << fitting.bit_length() >> 1))
