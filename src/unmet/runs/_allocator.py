"""How the C library treats freed memory."""

import contextlib
import ctypes

# Numbers of the settings in glibc's malloc.h.
_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3


def keep_freed_memory() -> None:
    """Use freed memory again instead of giving every array back to the system, as glibc does by itself.

    Dask starts workers that give memory back at once. Each new array then costs a page fault for every
    4 KiB, which makes training of many small networks three times slower. Without glibc nothing happens.
    """
    with contextlib.suppress(OSError, AttributeError, TypeError):
        library = ctypes.CDLL(None)
        library.mallopt(_MMAP_THRESHOLD, 1 << 25)  # the largest that glibc takes
        library.mallopt(_TRIM_THRESHOLD, 1 << 26)
