"""What to expect from more workers: a model on paper, from the cost of each task."""

_WORKERS = (1, 2, 10, 100)


def expected(program: float, kinds: dict[str, dict[str, float]], each: float, workers: int) -> float:
    """Return the seconds by the clock with so many workers, each with a core of its own.

        T(n) = program + Σ over kinds of max(seconds / n, longest) + number of tasks × each

    One kind follows the other. Within a kind, tasks fill the workers evenly, but no task is split. The
    program does not work while workers do. The shared folder is as fast for all workers as for one.

    Parameters
    ----------
    program : CPU seconds of the program itself.
    kinds : for each kind of task its number, seconds and longest (`unmet.runs.Cluster.costs`).
    each : seconds that a task costs which does nothing.

    Examples
    --------
    >>> expected(10.0, {"files": {"tasks": 4, "seconds": 40.0, "longest": 12.0}}, 0.5, 2)
    32.0
    >>> expected(10.0, {"files": {"tasks": 4, "seconds": 40.0, "longest": 12.0}}, 0.5, 10)
    24.0
    """
    found = program
    for cost in kinds.values():
        found += max(cost["seconds"] / workers, cost["longest"]) + cost["tasks"] * each
    return found


def table(program: float, kinds: dict[str, dict[str, float]], each: float) -> str:
    """Return the expected seconds for 1, 2, 10 and 100 workers in words."""
    found = ", ".join(f"{n}: {expected(program, kinds, each, n):.0f} s" for n in _WORKERS)
    return f"  by the model, seconds with so many workers: {found}"
