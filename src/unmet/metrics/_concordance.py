"""Concordance: do larger predictions go with larger latent values?"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from unmet.metrics._arrays import numbers, same_shape
from unmet.metrics._right_censored import inverse, right_censored, staying_uncensored

# Pairs compared at a time.
_PAIRS = 2**22


def concordance(
    y: ArrayLike,
    censored: ArrayLike,
    prediction: ArrayLike,
    *,
    weighted: bool = False,
    reference: Any = None,
    until: float | None = None,
) -> float:
    """Share of comparable pairs that the predictions put in the right order; ½ by chance, ties count half.

    A pair (i, j) is comparable if i is uncensored and yᵢ < yⱼ, or yᵢ = yⱼ and j is censored: then i's latent
    value is the smaller (Harrell). Which pairs these are depends on the censoring; with `weighted=True` each
    counts 1/Ĝ(yᵢ−)² (Uno), which estimates the same share for any censoring that is independent of values and
    of X. It takes n² comparisons.

    Parameters
    ----------
    prediction
        Larger for larger latent values, such as the median.
    reference
        With `weighted=True`: rows (y, censored) from which Ĝ is estimated; by default the rows measured.
    until
        Only pairs with yᵢ < until: where few rows are left, weights are large.

    References
    ----------
    Harrell and others (1982), Evaluating the yield of medical tests, JAMA 247. Uno and others (2011), On the
    C-statistics for evaluating overall adequacy of risk prediction procedures, Stat. Med. 30.

    Examples
    --------
    >>> concordance([1.0, 2.0, 3.0], [False, True, False], [1.0, 5.0, 4.0])
    1.0
    """
    values, flags = right_censored(y, censored)
    scores = numbers(prediction, "prediction", infinite=True)
    same_shape(y=values, prediction=scores)
    if reference is not None and not weighted:
        raise ValueError("reference is for weighted=True only")
    first = np.flatnonzero(~flags & (values < (np.inf if until is None else until)))
    first = first[(values[first] < values.max()) | np.isin(values[first], values[flags])]
    weight = np.ones(len(first))
    if weighted:
        weight = np.square(inverse(staying_uncensored(values, flags, reference).before(values[first])))
    right = pairs = 0.0
    size = max(1, _PAIRS // values.size)
    for begin in range(0, len(first), size):
        rows, counts = first[begin : begin + size, None], weight[begin : begin + size, None]
        comparable = (values > values[rows]) | ((values == values[rows]) & flags)
        order = (scores > scores[rows]) + 0.5 * (scores == scores[rows])
        right += float((counts * comparable * order).sum())
        pairs += float((counts * comparable).sum())
    if not pairs:
        raise ValueError("no pair of rows can be compared: no uncensored row lies below another row")
    return right / pairs
