"""Options of a run as people give them, checked and in one form."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from unmet.runs import MOST_JOBS, available_cores, refuse_address
from unmet.tables import Pairs

COST_LOST, COST_IDLE = 1.0, 0.1  # of a lost ride, and of a vehicle that stands idle for a day
MOST_VEHICLES = 1_000_000
MAX_MOVE = 20.0  # km that a van drives for one move
MEMORY = "1GB"  # that the database takes where nobody says how much
NETWORKS = ("linear", "mlp", "lstm", "graph", "grid")

Paths = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]


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


def seconds_of(given: str | float, name: str) -> float:
    """Return a length of time in seconds, from a number of them or from text such as '1 minute'."""
    try:
        seconds = float(given)
    except ValueError:
        from unmet.calendar import interval_seconds

        return float(interval_seconds(str(given), name))
    if not 0 <= seconds < float("inf"):
        raise ValueError(f"{name} must be a number of seconds of at least 0, got {given!r}")
    return seconds


def networks_of(given: str | Sequence[str] | None) -> tuple[str, ...]:
    """Return the networks to choose among."""
    names = (given,) if isinstance(given, str) else tuple(given or ("linear", "mlp"))
    for name in names:
        if name not in NETWORKS:
            raise ValueError(f"network must be linear, mlp, lstm, graph or grid, got {name!r}")
    return names


def jobs_of(jobs: int) -> int:
    """Return the number of worker processes."""
    if jobs != -1 and jobs < 1:
        raise ValueError(f"jobs must be at least 1, or -1 for one per core, got {jobs}")
    if jobs > MOST_JOBS:
        raise ValueError(f"jobs must be at most {MOST_JOBS}, got {jobs}")
    return available_cores() if jobs == -1 else jobs


def check_plan(
    fleet: int | None, cost_lost: float, cost_idle: float, free: bool, max_move: float = MAX_MOVE
) -> None:
    """Refuse options of a plan that make no sense, or would have no effect together."""
    if fleet is not None and not 0 <= fleet <= MOST_VEHICLES:
        raise ValueError(f"fleet must be between 0 and {MOST_VEHICLES:,} vehicles, got {fleet}")
    if not 0 < max_move < float("inf"):
        raise ValueError(f"max_move must be a number of km above 0, got {max_move!r}")
    if free and fleet is not None:
        raise ValueError("free= ignores fleet size and fleet= sets it: choose one")
    if not free and (cost_lost, cost_idle) != (COST_LOST, COST_IDLE):
        raise ValueError("cost_lost and cost_idle only matter with free=: add it, or leave them out")


def check_exist(paths: Sequence[Path]) -> None:
    """Refuse a path that leads nowhere."""
    for path in paths:
        refuse_address(path)
        if not path.exists():
            raise ValueError(f"{path} does not exist; check the path")


def bytes_of(memory: str) -> int:
    """Return an amount of memory such as "2GB" or "500 MiB" in bytes.

    >>> bytes_of("1.5GB")
    1500000000
    """
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]?)(I?)B?\s*", memory.upper())
    if found is None:
        raise ValueError(f"memory must read like '2GB', got {memory!r}")
    step = 1024 if found[3] else 1000
    return int(float(found[1]) * step ** " KMGT".index(found[2] or " "))
