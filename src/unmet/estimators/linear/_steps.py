"""The levels a censored quantile process steps through: finer than those it reports where rows allow it."""

from math import ceil

_COARSE = 100
_MOST = 1_000
# Steps of Portnoy's process are at most this part of what lies above them.
_PART = 0.04


def refine_levels(levels: tuple[float, ...], method: str, rows: int) -> tuple[float, ...]:
    """Return the levels of a process over right-censored rows, `levels` among them.

    Below its first step a process knows nothing of the censored rows that it passes, so steps are halved from
    the first down to 1/rows. In Portnoy's process a row that is passed within a step counts as infinite until
    the next: steps of 0.01 are split until they are at most 4% of what lies above them. Peng and Huang's sum
    takes a row as at risk for a whole step: its error is of the order of the step and must vanish faster than
    1/√rows. The step is 1/(2 rows^0.7), as in R's crq, in parts of 0.01 and not below 0.001.
    """
    if method == "peng-huang":
        steps = min(max(round(2 * rows**0.7 / _COARSE) * _COARSE, _COARSE), _MOST)
        inner = [step / steps for step in range(1, steps)]
    else:
        inner = [level for step in range(1, _COARSE) for level in _split(step, rows)]
    low = inner[0] / 2
    while low >= 1 / rows:
        inner.append(low)
        low /= 2
    # A reported level that differs from a step by rounding only is that one.
    return tuple(sorted({round(level, 12): level for level in (*inner, *levels)}.values()))


def _split(step: int, rows: int) -> list[float]:
    """Levels from a step of 0.01 on, before the next, at least 1/rows apart."""
    above = _COARSE - step - 1
    parts = min(ceil(1 / (_PART * above)), max(rows // _COARSE, 1)) if above else 1
    return [(step + part / parts) / _COARSE for part in range(parts)]
