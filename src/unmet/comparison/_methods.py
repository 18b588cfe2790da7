"""The methods that are compared, as data, from simple to complex; and why one does not apply."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unmet.censoring import Observed, quantiles_of_all

Floats = NDArray[np.float64]
LEVELS = (0.05, *(round(0.1 * step, 1) for step in range(1, 10)), 0.95)
# Powell's search and draws of coefficients, at all levels and in all folds, take minutes beyond so many rows.
_MOST_ROWS = 10_000
# Neighbourhoods are wide in more columns.
_MOST_LOCAL = 3
_ONE_SIDED = ("CensoredQuantileForest", "LocalLinearCensoredQuantiles")
_MOST_CONTINUOUS, _FEW_VALUES = 3, 5
_NEEDS_THRESHOLDS = "needs the threshold of every row, also where it was not reached"


@dataclass(frozen=True)
class Method:
    """A method: the class of this package, and the settings that differ from its defaults."""

    name: str
    estimator: str
    settings: Mapping[str, Any] = field(default_factory=dict, hash=False)

    @property
    def code(self) -> str:
        """How to call it where large values are cut off. Finished fits are kept under this text."""
        return self.call("right")

    def call(self, side: str, **more: Any) -> str:
        """How to call it: `side` is part of it unless it is the default; `more` are settings to add."""
        if self.estimator == "KaplanMeier":
            return f"unmet.censoring.{'turnbull' if side == 'both' else 'kaplan_meier'}"
        settings = {**self.settings, **({} if side == "right" else {"side": side}), **more}
        given = ", ".join(f"{name}={value!r}" for name, value in settings.items())
        return f"{self.estimator}({given})"

    def make(self, quantiles: tuple[float, ...], side: str, seed: int) -> Any:
        """Return the unfitted estimator."""
        if self.estimator == "KaplanMeier":
            return KaplanMeier(quantiles, side)
        from unmet import estimators

        return getattr(estimators, self.estimator)(
            quantiles=quantiles, side=side, random_state=seed, **self.settings
        )


# In the order of simplicity: among methods of equal loss the first is recommended.
METHODS = (
    Method("Kaplan–Meier", "KaplanMeier"),
    Method("Tobit", "TobitRegressor"),
    Method("Portnoy", "LinearCensoredQuantiles", {"method": "portnoy"}),
    Method("Peng–Huang", "LinearCensoredQuantiles", {"method": "peng-huang"}),
    Method("Powell", "LinearCensoredQuantiles", {"method": "powell", "n_restarts": 5}),
    Method("Wang–Wang", "LinearCensoredQuantiles", {"method": "wang-wang"}),
    Method("default", "CensoredQuantileRegressor"),
    Method("inverse weights", "CensoredQuantileRegressor", {"loss": "ipcw"}),
    Method("Tobit, skewed", "TobitRegressor", {"scale": "network", "shape": "sinh-arcsinh"}),
    Method("Bayes, Powell", "BayesianCensoredQuantiles", {"n_chains": 2, "n_draws": 500}),
    Method("Bayes, augmented", "BayesianCensoredQuantiles", {"method": "augmented", "n_chains": 2}),
    Method("local linear", "LocalLinearCensoredQuantiles"),
    Method("Gaussian process", "CensoredGaussianProcess"),
    Method("forest", "CensoredQuantileForest"),
    Method("booster", "CensoredQuantileBooster"),
    Method("kernel", "CensoredQuantileRegressor", {"network": "kernel"}),
    Method("MLP", "CensoredQuantileRegressor", {"network": "mlp"}),
)


def why_not(method: Method, X: Floats, observed: Observed) -> str | None:
    """Return why a method has no answer for such rows; None if it has one."""
    kind = observed.kind
    exact = method.settings.get("method")
    two_sided = observed.side == "both" and bool(observed.censored.any())
    same_side = "needs rows that are all open on the same side"
    if method.estimator in _ONE_SIDED and two_sided:
        return same_side
    if method.estimator == "CensoredQuantileBooster" and two_sided and not observed.known:
        return f"{same_side}, or a known floor and cap of every row"
    if method.estimator == "CensoredQuantileBooster" and find_spec("lightgbm") is None:
        return "needs LightGBM: pip install 'unmet[boosting]'"
    if method.estimator == "BayesianCensoredQuantiles":
        return _why_not_drawn(exact or "powell", observed)
    if method.estimator == "LocalLinearCensoredQuantiles" and X.shape[1] > _MOST_LOCAL:
        return f"takes at most {_MOST_LOCAL} columns, and there are {X.shape[1]}"
    if exact == "powell" and kind in ("flags", "intervals"):
        return _NEEDS_THRESHOLDS
    if exact in ("peng-huang", "powell", "wang-wang") and kind == "none":
        return "is Portnoy's method where nothing is censored"
    if exact == "powell" and len(observed) > _MOST_ROWS:
        return f"takes minutes beyond {_MOST_ROWS:,} rows; name it to compare it all the same"
    if exact in ("portnoy", "peng-huang", "wang-wang") and two_sided:
        return same_side
    if exact == "wang-wang" and (wide := _continuous(X)) > _MOST_CONTINUOUS:
        return f"takes at most {_MOST_CONTINUOUS} continuous columns, and there are {wide}"
    if method.settings.get("loss") == "ipcw":
        return _why_not_weighted(observed, two_sided, same_side)
    return None


def _why_not_drawn(working: str, observed: Observed) -> str | None:
    """Return why draws of coefficients do not apply: `working` is their working likelihood."""
    if observed.kind == "none":
        return "is Portnoy's method, with draws, where nothing is censored"
    if working == "powell" and observed.kind in ("flags", "intervals"):
        return _NEEDS_THRESHOLDS
    if len(observed) > _MOST_ROWS:
        return f"takes minutes beyond {_MOST_ROWS:,} rows; name it to compare it all the same"
    if working == "powell" and find_spec("blackjax") is None:
        return "needs BlackJAX: pip install 'unmet[bayes]'"
    return None


def _why_not_weighted(observed: Observed, two_sided: bool, same_side: str) -> str | None:
    if two_sided:
        return same_side
    if not observed.censored.any():
        return "is the default where nothing is censored"
    limits = observed.threshold[np.isfinite(observed.threshold)]
    if observed.known and np.ptp(limits) == 0:
        return "needs a chance to see every value, and one cap hides all beyond it"
    return None


def _continuous(X: Floats) -> int:
    return sum(len(np.unique(column)) > _FEW_VALUES for column in X.T)


class KaplanMeier:
    """The distribution of all rows alike: what a method must beat to have learnt from the columns."""

    def __init__(self, quantiles: tuple[float, ...], side: Any) -> None:
        self.levels, self.side = quantiles, side

    def fit(self, X: Floats, y: Any = None, **told: Any) -> Any:
        from unmet.censoring import observe

        self.observed = observe(y, side=self.side, **told)
        return self

    def predict_quantiles(self, X: Floats, quantiles: tuple[float, ...] | None = None) -> Floats:
        """Return the quantiles; one that is not identified is a bound."""
        found, _ = quantiles_of_all(self.observed, self.levels if quantiles is None else quantiles)
        return np.tile(found, (len(X), 1))
