"""Local linear censored quantile regression."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, get_args

import numpy as np

from unmet.censoring import Observed, Side, mirror_levels
from unmet.estimators._base import CensoredRegressor, Floats
from unmet.estimators._checks import refuse_all_censored, refuse_two_sided
from unmet.estimators._inverse_weights import inverse_weights
from unmet.estimators._rows import canonical_rows
from unmet.estimators._settings import check_choice, check_number, check_quantiles
from unmet.estimators._warn import warn_user
from unmet.estimators.local._fit import local_linear, reached_levels
from unmet.estimators.local._rows import Rows
from unmet.losses import censored_tilted_loss

METHODS = ("auto", "powell", "ipcw")
SPANS = (0.08, 0.12, 0.18, 0.27, 0.4, 0.6, 0.9)
_FOLDS = 5
# Held-out rows that choose the span: enough to tell spans apart. If rows are five times as many, all others
# of these are fitted, since the best span shrinks as rows grow.
_MOST_TRIED = 1_000
_MOST_COLUMNS = 3


@dataclass(frozen=True, eq=False)
class FittedLocal:
    """Training rows, which answer for any level, of −y if the data are censored from below."""

    rows: Rows
    reach: Floats  # (n,): the level at which each row meets its cap
    center: Floats
    scale: Floats
    span: float
    levels: tuple[float, ...]
    side: Side
    parametric = True

    def quantiles(self, X: Floats, wanted: tuple[float, ...]) -> Floats:
        left = self.side == "left"
        asked = mirror_levels(wanted) if left else wanted
        with np.errstate(over="ignore"):
            points = np.clip((X - self.center) / self.scale, -1e9, 1e9)
        found, known = local_linear(self.rows, points, np.asarray(asked), self.span, self.reach)
        if not known.all():
            share = float(1 - known.mean(axis=0).min())
            bounds = "upper" if left else "lower"
            warn_user(
                f"a quantile is not identified in up to {share:.0%} of the rows, because caps hide it among "
                f"their neighbours or these are too few: the values given there are {bounds} bounds"
            )
        return -found[:, ::-1] if left else found


@dataclass(kw_only=True, eq=False, repr=False)
class LocalLinearCensoredQuantiles(CensoredRegressor):
    """Quantiles of a latent target that is observed only up to a cap, by lines fitted around each point.

    The quantile at x₀ and level θ is the a that minimises, with b, Σ K((xᵢ − x₀)/h) wᵢ ρ_θ(yᵢ − a − b'(xᵢ −
    x₀)). K is Epanechnikov's kernel; h reaches to the nearest `span` of all rows, so that it adapts to where
    rows are dense.

    ========  ==========================  ==================================================================
    method    needs                       rows and weights w
    ========  ==========================  ==================================================================
    "powell"  the threshold of every row  rows whose quantile lies below their cap, w = 1
    "ipcw"    which rows are censored     uncensored rows, w = 1/Ĝ(y−), the inverse of their chance to be seen
    ========  ==========================  ==================================================================

    Both assume that where a row is cut off is independent of its latent value given X; "ipcw" also that it is
    independent of X, and that every value has a chance to be seen. Where caps hide a quantile in a whole
    neighbourhood, the answer is a bound, and `predict_quantiles` warns.

    For one to three columns: in more, neighbourhoods are wide and `fit` warns. Columns are standardised.
    Quantiles of a point are sorted, so they never cross.

    Cost: up to 1,000 rows, a prediction takes about 50 rounds over its neighbourhood. With more, lines are
    fitted around 60 / span places and blended, so that cost grows in proportion to the rows; around each
    distinct point if most of these places are equal, as where X has few values. From 10,000 rows and at three
    levels, the choice of `span` takes a few seconds, and any number of predictions less.

    Parameters
    ----------
    method : {"auto", "powell", "ipcw"}
        "auto" is "powell" if thresholds are known or nothing is censored, and "ipcw" for flags alone.
    quantiles : sequence of float
        Levels that `predict_quantiles` returns by default. Any other level can be asked for.
    side : {"right", "left"}
        Whether large or small values are cut off. All censored rows are open on the same side.
    positive : bool
        The latent value is never below zero; see `CensoredQuantileRegressor`.
    span : float or None
        Share of the rows in each neighbourhood. None chooses one by five-fold cross-validation under the loss
        that the method minimises, which needs no latent values.
    random_state : int, RandomState or None

    Attributes
    ----------
    span_ : float
        The span that is used.

    References
    ----------
    Gannoun, Saracco, Yuan & Bonney (2005), Non-parametric quantile regression with censored data, Scand. J.
    Stat. 32.

    Examples
    --------
    >>> import numpy as np
    >>> from unmet import LocalLinearCensoredQuantiles
    >>> random = np.random.default_rng(0)
    >>> x = random.uniform(size=300)
    >>> latent, limit = np.sin(6 * x) + 0.3 * random.normal(size=300), 0.8 + random.normal(size=300)
    >>> model = LocalLinearCensoredQuantiles(span=0.3)
    >>> model = model.fit(x[:, None], np.minimum(latent, limit), threshold=limit)
    >>> model.predict_quantiles([[0.2]], quantiles=(0.25, 0.5)).shape
    (1, 2)
    """

    method: str = "auto"
    quantiles: Sequence[float] = (0.05, 0.5, 0.95)
    side: Side = "right"
    positive: bool = False
    span: float | None = None
    random_state: Any = None

    def _fit_observed(self, X: Floats, observed: Observed, weight: Floats | None, seed: int) -> None:
        levels = check_quantiles(self.quantiles)
        self._check_censoring(X, observed)
        left = observed.side == "left"
        seen = observed.mirrored() if left else observed
        if np.abs(X).max() > 1e150 or np.abs(seen.observed).max() > 1e150:
            raise ValueError("X or y has values beyond 1e150: use larger units")
        cap = seen.limits[1]
        index, share = canonical_rows(X, [seen.observed, cap, seen.censored], weight)
        X, seen, cap, share = X[index], seen.take(index), cap[index], share * len(index)
        center, scale = X.mean(axis=0), X.std(axis=0)
        scale = np.where(scale > 1e-12 * np.abs(center), scale, 1.0)
        weights, censored = share, seen.censored
        if self.method == "ipcw" or (self.method == "auto" and not seen.known):
            weights, self.ipcw_ = inverse_weights(X, seen, share, "kaplan-meier", seed)
            cap = np.full(len(cap), np.inf)
        rows = Rows((X - center) / scale, seen.observed, cap, censored, weights, share)
        asked = np.asarray(mirror_levels(levels) if left else levels)
        self.span_ = float(_choose_span(rows, asked) if self.span is None else self.span)
        reach = reached_levels(rows, self.span_)
        self.fitted_ = FittedLocal(rows, reach, center, scale, self.span_, levels, observed.side)

    def _pack(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        fitted = self.fitted_
        arrays = {name: np.ascontiguousarray(getattr(fitted.rows, name)) for name in _ROW_ARRAYS}
        arrays["capped"] = np.isfinite(arrays["cap"])
        arrays["cap"] = np.where(arrays["capped"], arrays["cap"], 0.0)
        arrays |= {"reach": fitted.reach, "center": fitted.center, "scale": fitted.scale}
        return {"side": fitted.side, "span": fitted.span}, arrays

    def _unpack(self, config: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
        self._check_parameters()
        check_choice("side", config["side"], ("right", "left"))
        check_number("span", config["span"], 0, 1, open_=True)
        parts = {name: arrays.pop(name) for name in _ROW_ARRAYS}
        capped, reach, center, scale = (arrays.pop(name) for name in ("capped", "reach", "center", "scale"))
        count, columns = len(parts["y"]), config["columns"]
        flat = [parts[name].shape == (count,) for name in _ROW_ARRAYS if name != "x"]
        flat += [capped.shape == (count,), reach.shape == (count,), parts["x"].shape == (count, columns)]
        flat += [center.shape == (columns,), scale.shape == (columns,), count > 0]
        if not all(flat) or capped.dtype != bool or parts["censored"].dtype != bool:
            raise ValueError("the shapes of the rows do not fit each other")
        rows = replace(Rows(**parts), cap=np.where(capped, parts["cap"], np.inf))
        self.span_ = float(config["span"])
        levels = check_quantiles(self.quantiles)
        self.fitted_ = FittedLocal(rows, reach, center, scale, self.span_, levels, config["side"])

    def _check_parameters(self) -> None:
        check_choice("method", self.method, METHODS)
        check_choice("side", self.side, get_args(Side))
        if self.span is not None:
            check_number("span", self.span, 0, 1, open_=True)
        check_quantiles(self.quantiles)

    def _check_censoring(self, X: Floats, observed: Observed) -> None:
        refuse_two_sided(
            observed, type(self).__name__, "CensoredQuantileRegressor with network='kernel' or 'mlp'"
        )
        refuse_all_censored(observed)
        if self.method == "powell" and observed.kind == "flags":
            raise ValueError(
                "method='powell' needs the threshold of every row, also of the uncensored ones: pass "
                "threshold=, or use method='ipcw'"
            )
        if X.shape[1] > _MOST_COLUMNS:
            warn_user(
                f"X has {X.shape[1]} columns: neighbourhoods are wide in more than {_MOST_COLUMNS}, and "
                "local fits poor; use CensoredQuantileRegressor with network='kernel', or a forest"
            )


_ROW_ARRAYS = ("x", "y", "cap", "censored", "weight", "share")


def _choose_span(rows: Rows, levels: Floats) -> float:
    """Return the span with the lowest loss of held-out rows, Powell's or the weighted one."""
    many = len(rows.y) >= _FOLDS * _MOST_TRIED
    count = _FOLDS * _MOST_TRIED if many else min(len(rows.y), _MOST_TRIED)  # rows are in random order
    if count < 2 * _FOLDS:
        return SPANS[-1]
    losses = np.zeros(len(SPANS))
    for fold in range(1 if many else _FOLDS):
        held = np.arange(count) % _FOLDS == fold
        train, test = rows.take(np.flatnonzero(~held)), rows.take(np.flatnonzero(held))
        if not (train.weight > 0).any():
            continue
        for number, span in enumerate(SPANS):
            found, _ = local_linear(train, test.x, levels, span, reached_levels(train, span))
            each = censored_tilted_loss(test.y[:, None], found, levels, test.cap[:, None], side="right")
            losses[number] += float(test.weight @ each.sum(axis=1))
    return SPANS[int(np.argmin(losses))]
