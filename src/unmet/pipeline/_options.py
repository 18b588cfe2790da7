"""Options of a run as people give them, checked and in one form."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from unmet.runs import available_cores

COST_LOST, COST_IDLE = 1.0, 0.1  # of a lost ride, and of a vehicle that stands idle for a day
NETWORKS = ("linear", "mlp", "lstm")

Paths = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]
Pairs = Mapping[str, str] | Sequence[str] | str


def paths_of(given: Paths | None) -> tuple[Path, ...]:
    """Return one path or several as a tuple."""
    if given is None:
        return ()
    if isinstance(given, str | os.PathLike):
        return (Path(given),)
    return tuple(Path(one) for one in given)


def pairs_of(given: Pairs | None, name: str) -> dict[str, str] | None:
    """Return ``name=value`` texts (or one text of them, with commas) as a dict; None where there are none."""
    if not given:
        return None
    if isinstance(given, Mapping):
        return {str(key): str(value) for key, value in given.items()}
    found = {}
    for text in given.split(",") if isinstance(given, str) else given:
        key, sign, value = text.partition("=")
        if not sign or not key.strip():
            raise ValueError(f"{name}= takes name=value, got {text!r}")
        found[key.strip()] = value.strip()
    return found


def networks_of(given: str | Sequence[str] | None) -> tuple[str, ...]:
    """Return the networks to choose among."""
    names = (given,) if isinstance(given, str) else tuple(given or ("linear", "mlp"))
    for name in names:
        if name not in NETWORKS:
            raise ValueError(f"network must be linear, mlp or lstm, got {name!r}")
    return names


def jobs_of(jobs: int) -> int:
    """Return the number of worker processes."""
    if jobs != -1 and jobs < 1:
        raise ValueError(f"jobs must be at least 1, or -1 for one per core, got {jobs}")
    return available_cores() if jobs == -1 else jobs


def check_plan(fleet: int | None, cost_lost: float, cost_idle: float, free: bool) -> None:
    """Refuse options of a plan that would have no effect together."""
    if free and fleet is not None:
        raise ValueError("free= ignores the size of the fleet and fleet= sets it: give one of them")
    if not free and (cost_lost, cost_idle) != (COST_LOST, COST_IDLE):
        raise ValueError("cost_lost and cost_idle have no effect without free=: add it, or leave them out")


def check_exist(paths: Sequence[Path]) -> None:
    """Refuse a path that leads nowhere."""
    for path in paths:
        if not path.exists():
            raise ValueError(f"{path} does not exist; check the path")
