"""The levels a censored quantile process steps through: finer than those it reports where rows allow it."""

_COARSE = 100
_MOST = 1_000


def refine_levels(levels: tuple[float, ...], method: str, rows: int) -> tuple[float, ...]:
    """Return the levels of a process over right-censored rows, `levels` among them.

    Below its first step a process knows nothing of the censored rows that it passes, so steps are halved from
    the first down to 1/rows. Peng and Huang's sum takes a row as at risk for a whole step: its error is of
    the order of the step and must vanish faster than 1/√rows. The step is 1/(2 rows^0.7), as in R's crq, in
    parts of 0.01 and not below 0.001. Portnoy's levels between two steps are interpolated: steps of 0.01 do.
    """
    steps = _COARSE
    if method == "peng-huang":
        steps = min(max(round(2 * rows**0.7 / _COARSE) * _COARSE, _COARSE), _MOST)
    inner = [step / steps for step in range(1, steps)]
    low = 1 / (2 * steps)
    while low >= 1 / rows:
        inner.append(low)
        low /= 2
    # A reported level that differs from a step by rounding only is that one.
    return tuple(sorted({round(level, 12): level for level in (*inner, *levels)}.values()))
