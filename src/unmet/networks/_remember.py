"""Cached hashes: training looks up the spec of a program once for every network."""

from typing import Any


class Remembered:
    """Base of frozen dataclasses that cache their hash. Decorate subclasses with `remember_hash`."""

    def __getstate__(self) -> dict[str, Any]:
        # Hashes of strings differ between processes, so a copy must compute its own.
        return {name: value for name, value in self.__dict__.items() if name != "_hash"}


def remember_hash(cls: Any) -> Any:
    """Make a frozen dataclass cache its hash."""
    compute = cls.__hash__

    def __hash__(self: Any) -> int:
        known = self.__dict__.get("_hash")
        if known is None:
            known = compute(self)
            object.__setattr__(self, "_hash", known)
        return known

    cls.__hash__ = __hash__
    return cls
