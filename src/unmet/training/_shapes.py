"""Padded shapes and the number of slots, from the shape of one problem alone.

They never depend on the number of problems or processes. The same problem then runs the same program
everywhere, and its result is the same to the bit.
"""

# Activations, in floats, that all slots hold together: about half an L2 cache, found by timing.
_ACTIVATIONS_IN_FLIGHT = 2**18
_MOST_SLOTS = 32  # the rows of more would leave the cache


def padded_rows(rows: int) -> int:
    """Round up to a power of two, at least 16. Above 4,096 use eight steps per doubling, to waste less."""
    if rows <= 16:
        return 16
    if rows <= 4096:
        return 1 << (rows - 1).bit_length()
    step = 1 << ((rows - 1).bit_length() - 4)
    return -(-rows // step) * step


def padded_columns(columns: int) -> int:
    """Round up to a power of two up to 16, then to a multiple of 8: padding slows every product."""
    return 1 << (columns - 1).bit_length() if columns <= 16 else -(-columns // 8) * 8


def padded_batches(batches: int) -> int:
    """Return mini-batches per epoch: exact up to 64, then rounded up in 32 steps per doubling."""
    if batches <= 64:
        return batches
    step = 1 << ((batches - 1).bit_length() - 6)
    return -(-batches // step) * step


def slots(rows: int, activations_per_row: int) -> int:
    """Return the number of networks to train at once: the power of two that fits the cache, at least one.

    Never two: a pair takes as long as one after the other, a single fit would train an empty slot beside its
    own, and a program without a batch axis compiles faster.
    """
    fitting = _ACTIVATIONS_IN_FLIGHT // max(1, rows * activations_per_row)
    found = min(_MOST_SLOTS, 1 << fitting.bit_length() >> 1)
    return found if found > 2 else 1


def refilled(slots: int) -> int:
    """Return how many slots are filled at a time: a quarter of them, at least one."""
    return max(1, slots // 4)
