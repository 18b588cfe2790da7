"""How much memory a fit takes, and how many of its stages that lets run side by side."""

from __future__ import annotations

import warnings

from unmet.forecasting._fit_plan import FitPlan

# Bytes of a whole process. Measured, with one stage after the other: .52 GB at 60 places × 60 days of hours,
# .69 at 120 × 180, .77 at 250 × 90, 1.35 at 250 × 365 and 6.5 at 2,200 × 365, where a row comes to 337. These
# parts say .53, .69, .77, 1.26 and 7.4: Python and the libraries, a row, the quantiles of a row of the
# backtest; and .15 more at 250 × 90 for a second stage beside the first.
_PROGRAM = 470_000_000
_ROW, _BACKTEST_ROW, _FURTHER_ROW = 300, 800, 300
_USUAL = 1_000_000_000


class MemoryWarning(UserWarning):
    """A fit will take more memory than it was given."""


def fit_memory(plan: FitPlan) -> int:
    """Return about how many bytes a fit takes whose stages run one after the other."""
    tested = len(plan.grid.places) * plan.days * plan.grid.per_day
    return _PROGRAM + _ROW * plan.grid.y.size + _BACKTEST_ROW * tested


def side_by_side(plan: FitPlan, jobs: int, memory: int | None) -> int:
    """Return how many stages run at once in `memory` bytes; warn if that is too little for one of them.

    None, where nobody said how much: those that a gigabyte holds beside the first.
    """
    most = min(jobs, len(plan.stages))
    least = fit_memory(plan)
    if memory is None:
        memory = least + _USUAL
    if memory < least:
        _warn(plan, least, memory)
        return 1
    return max(1, min(most, 1 + (memory - least) // (_FURTHER_ROW * plan.grid.y.size)))


def _warn(plan: FitPlan, least: int, memory: int) -> None:
    places, periods = plan.grid.y.shape
    enough = -(-least * 11 // 10_000_000_000)  # with a tenth to spare
    fewer = ", or fit fewer places or a shorter time" if memory > 2 * _PROGRAM else ""
    warnings.warn(
        f"memory: {in_gb(memory)} is too little for a fit of {places * periods:,} rows ({places:,} places × "
        f"{periods:,} periods), which takes about {in_gb(least)}. Its parts run one after the other, and the "
        f"system may end it. Allow {enough} GB{fewer}",
        MemoryWarning,
        stacklevel=4,
    )


def in_gb(count: int) -> str:
    """Return bytes as people say them.

    >>> in_gb(6_853_000_000), in_gb(250_000_000)
    ('6.9 GB', '0.25 GB')
    """
    return f"{count / 1e9:.1f} GB" if count >= 1e9 else f"{count / 1e9:.2g} GB"
