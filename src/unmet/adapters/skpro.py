"""The estimators as an skpro regressor. Needs skpro, which installs an older pandas: `pip install skpro`.

from unmet.adapters.skpro import SkproRegressor
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import pandas as pd
from sklearn.base import clone
from skpro.regression.base import BaseProbaRegressor

LEVELS = (0.005, 0.01, 0.025, *(round(0.05 * k, 2) for k in range(1, 20)), 0.975, 0.99, 0.995)


class SkproRegressor(BaseProbaRegressor):
    """Predict the distribution of a latent target from censored observations, with skpro's interface.

    `fit(X, y, C)` takes skpro's censoring indicator: C is 1 where y was cut off from above. The distribution
    is given at `levels`; asking for a quantile outside them is an error.

    Parameters
    ----------
    regressor : estimator of unmet; by default `CensoredQuantileRegressor(random_state=0)`.
    levels : levels of the quantiles, increasing; None for 25 from 0.005 to 0.995.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> from unmet.adapters.skpro import SkproRegressor
    >>> X = pd.DataFrame({"x": np.linspace(-1, 1, 60)})
    >>> y = pd.DataFrame({"y": np.minimum(X["x"], 0.5)})
    >>> C = pd.DataFrame({"y": (X["x"] >= 0.5).astype(int)})
    >>> SkproRegressor().fit(X, y, C).predict_interval(X, coverage=0.9).shape
    (60, 2)
    """

    _tags: ClassVar[dict[str, Any]] = {
        "authors": ["The unmet developers"],
        "python_dependencies": ["unmet"],
        "capability:survival": True,
        "capability:multioutput": False,
        "capability:missing": False,
    }

    def __init__(self, regressor: Any = None, levels: Any = None) -> None:
        self.regressor = regressor
        self.levels = levels
        super().__init__()

    def _fit(self, X: pd.DataFrame, y: pd.DataFrame, C: pd.DataFrame | None = None) -> SkproRegressor:
        if self.regressor is None:
            from unmet.estimators import CensoredQuantileRegressor

            model = CensoredQuantileRegressor(random_state=0)
        else:
            model = clone(self.regressor)
        self.levels_ = tuple(LEVELS if self.levels is None else self.levels)
        censored = None if C is None else C.to_numpy().ravel().astype(float) > 0
        self.columns_ = y.columns
        model.set_params(quantiles=self.levels_)
        self.regressor_ = model.fit(X.to_numpy(float), y.to_numpy(float).ravel(), censored=censored)
        return self

    def _quantiles(self, X: pd.DataFrame, levels: Any) -> Any:
        rising, places = np.unique(levels, return_inverse=True)  # skpro asks in any order
        return self.regressor_.predict_quantiles(X.to_numpy(float), tuple(rising))[:, places]

    def _predict_quantiles(self, X: pd.DataFrame, alpha: list[float]) -> pd.DataFrame:
        columns = pd.MultiIndex.from_product([self.columns_, alpha])
        return pd.DataFrame(self._quantiles(X, alpha), index=X.index, columns=columns)

    def _predict(self, X: pd.DataFrame) -> pd.DataFrame:
        mean = self._predict_proba(X).mean()
        return pd.DataFrame(np.asarray(mean), index=X.index, columns=self.columns_)

    def _predict_proba(self, X: pd.DataFrame) -> Any:
        from skpro.distributions import QPD_Empirical

        values = self._quantiles(X, self.levels_)
        index = pd.MultiIndex.from_product([self.levels_, X.index])
        table = pd.DataFrame(values.T.reshape(-1, 1), index=index, columns=self.columns_)
        return QPD_Empirical(table, index=X.index, columns=self.columns_)

    @classmethod
    def get_test_params(cls, parameter_set: str = "default") -> list[dict[str, Any]]:
        """Return settings that skpro's checks use."""
        from unmet.estimators import CensoredQuantileRegressor, TobitRegressor

        quick = CensoredQuantileRegressor(max_epochs=200, random_state=0)
        return [{"regressor": quick}, {"regressor": TobitRegressor(max_epochs=200, random_state=0)}]
