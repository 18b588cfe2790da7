"""Hashes that are computed once: descriptions of programs are looked up for every network trained."""

from typing import Any


class Remembered:
    """A frozen dataclass whose hash is kept after its first use. Decorate subclasses with `remember_hash`."""

    def __getstate__(self) -> dict[str, Any]:
        # Hashes of strings differ between processes: a copy must compute its own.
        return {name: value for name, value in self.__dict__.items() if name != "_hash"}


def remember_hash(cls: Any) -> Any:
    """Make a frozen dataclass keep its hash."""
    compute = cls.__hash__

    def __hash__(self: Any) -> int:
        known = self.__dict__.get("_hash")
        if known is None:
            known = compute(self)
            object.__setattr__(self, "_hash", known)
        return known

    cls.__hash__ = __hash__
    return cls
