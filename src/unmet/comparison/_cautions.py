"""What to know before the recommended fit is used: quantiles below zero, and beyond all that was seen."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unmet.censoring import Observed
from unmet.comparison._comparison import Line, number
from unmet.comparison._methods import Method
from unmet.comparison._untold import lies_below, marks_nondetects

Floats = NDArray[np.float64]
# Fewer rows than this share are told of nothing.
_LEAST_BELOW, _LEAST_BEYOND = 0.005, 0.1
# So many methods of nearly equal loss are named.
_MOST_NEAR = 3


def logarithm_caution(method: Method, predicted: Floats, logarithm: str) -> str:
    """Return what goes wrong with positive, skewed values as they are, and the remedies.

    `logarithm` says what to take the logarithm of; `predicted` are quantiles of rows that no fit saw.
    """
    share = float((predicted < 0).any(axis=1).mean())
    if share < _LEAST_BELOW:
        return (
            f"Compare {logarithm} before you decide: linear methods fit better there, and without the "
            "logarithm they can predict quantiles below 0."
        )
    other = "; positive=True in the call, the other remedy, raises them to 0" if _positive(method) else ""
    return (
        f"Take {logarithm} first: y is positive, but without the logarithm this method predicts quantiles "
        f"below 0 in {_percent(share)} of the rows{other}."
    )


def below_zero_caution(observed: Observed, predicted: Floats) -> list[str]:
    """Return a sentence if quantiles of held-out rows fall below 0, and no value or bound does."""
    known = np.concatenate([observed.lower, observed.upper])
    share = float((predicted < 0).any(axis=1).mean())
    if (known[np.isfinite(known)] < 0).any() or share < _LEAST_BELOW:
        return []
    return [
        f"It predicts quantiles below 0 in {_percent(share)} of the rows, and the table has no y below 0: if "
        "there can be none, add positive=True to the call."
    ]


def beyond_cautions(observed: Observed, predicted: Floats, levels: Sequence[float]) -> list[str]:
    """Return a sentence for each open end beyond whose last value or cap many predicted quantiles lie."""
    found = []
    if np.isinf(observed.upper).any():
        largest = _last(observed.observed, observed.upper, observed.ceiling)
        found += _beyond(predicted > largest, levels, f"above {number(largest)}, the largest value or cap")
    if np.isinf(observed.lower).any():
        smallest = -_last(-observed.observed, -observed.lower, -observed.floor)
        found += _beyond(
            predicted < smallest, levels, f"below {number(smallest)}, the smallest value or limit"
        )
    return found


def side_caution(observed: Observed, censored: Any = None, event: Any = None) -> list[str]:
    """Return a sentence if flagged rows lie at the wrong end: small values where large ones are cut off.

    With several detection limits they need not be the smallest, but the name of their column may say it:
    `censored` and `event` are the names, if there are some.
    """
    if observed.kind != "flags" or observed.side == "both":
        return []
    left = observed.side == "left"
    if not lies_below(-observed.observed if left else observed.observed, observed.censored):
        name = censored if event is None else event
        if left or not isinstance(name, str) or not marks_nondetects(name, event=event is not None):
            return []
        return [
            f"Large values are taken to be cut off, and {name} sounds like a detection limit: if the "
            "censored rows lie below one, give side='left', or all of this is wrong."
        ]
    which, where, other = ("largest", "above", "right") if left else ("smallest", "below", "left")
    return [
        f"The censored rows have the {which} values of y: if they lie {where} a limit, give side={other!r}, "
        "or all of this is wrong."
    ]


def close_call(lines: Sequence[Line], chosen: str) -> list[str]:
    """Return a sentence on methods whose loss is within two standard errors of the lowest."""
    near = [line.method for line in lines if line.method != chosen and line.above_best <= 2 * line.error]
    if not near or len(near) == len(lines) == 1:
        return []
    more = f" and {len(near) - _MOST_NEAR} more" if len(near) > _MOST_NEAR else ""
    names = "; ".join(near[:_MOST_NEAR])
    which = "one of " if near[1:] else ""
    return [f"A close call: other folds, by another seed, may prefer {which}{names}{more}."]


def _beyond(beyond: NDArray[np.bool_], levels: Sequence[float], where: str) -> list[str]:
    shares = beyond.mean(axis=0)
    far = [level for level, share in zip(levels, shares, strict=True) if share >= _LEAST_BEYOND]
    if not far:
        return []
    one = f"Its quantile at level {far[0]:g} lies"
    which = one if len(far) == 1 else f"Its quantiles at levels {far[0]:g} to {far[-1]:g} lie"
    share = f"{'' if len(far) == 1 else 'up to '}{_percent(float(shares.max()))}"
    return [
        f"{which} {where} in the data, in {share} of the rows: what lies beyond it is the model's "
        "assumption, not the data's word."
    ]


def _last(*ends: Floats) -> float:
    return max(float(values[np.isfinite(values)].max(initial=-np.inf)) for values in ends)


def _positive(method: Method) -> bool:
    """Whether the estimator has the parameter `positive`."""
    from inspect import signature

    from unmet import estimators

    made = getattr(estimators, method.estimator, None)
    return made is not None and "positive" in signature(made).parameters


def _percent(share: float) -> str:
    return f"{max(share, 0.01):.0%}"
