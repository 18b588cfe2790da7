"""Censored Gaussian processes as an estimator."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self, get_args

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import validate_data

from unmet.censoring import Observed, Side, refuse_mask
from unmet.estimators._base import CensoredRegressor, Floats
from unmet.estimators._categories import refuse_times
from unmet.estimators._checks import (
    check_lengths,
    check_seed,
    check_weights,
    dense,
    refuse_negative,
    seen_loss,
    warn_if_untold,
)
from unmet.estimators._rows import canonical_rows
from unmet.estimators._settings import MOST_STARTS, check_choice, check_number, check_quantiles, check_switch
from unmet.estimators.gaussian_process._complete import complete_mixture
from unmet.estimators.gaussian_process._files import pack_process, take_process
from unmet.estimators.gaussian_process._fit import Choices, Table, fit_process
from unmet.estimators.gaussian_process._kernels import TERMS
from unmet.estimators.gaussian_process._outputs import observe_outputs, several

LikelihoodName = Literal["gaussian", "poisson", "negative-binomial"]
_MOST_POINTS = 4_096


@dataclass(kw_only=True, eq=False, repr=False)
class CensoredGaussianProcess(CensoredRegressor):
    """Predict a latent target by a smooth random function of the columns, observed only up to a cap.

    The latent value y has a distribution p(y | f(x)) with f a Gaussian process. `fit` maximises the evidence
    lower bound Σ E log p(seen | f) − KL(q, prior), in which an exact row counts with log p(y | f), a
    right-censored one with log P(Y ≥ y | f), the log survival, and a row known by an interval with the
    logarithm of its probability. Expectations are by Gauss–Hermite quadrature; the posterior q is normal, at
    `inducing` points, found by natural gradients; kernel and noise by L-BFGS with weak priors.

    Where a row is cut off must be independent of its latent value given X. A mask that hides rows at random
    and shows a random share of them, as in the paper, breaks this: flagged rows then draw the fit up a
    little.

    Parameters
    ----------
    quantiles : sequence of float
        Levels that `predict_quantiles` returns by default. Any other level can be asked for.
    side : {"right", "left", "both"}
        "right" if large values are cut off, "left" if small ones are, "both" for a known floor and cap.
    positive : bool
        The latent value is never below zero; see `CensoredQuantileRegressor`. Counts never are.
    likelihood : {"gaussian", "poisson", "negative-binomial"}
        Distribution of the latent value given f: normal around f, or a count of mean exp(f). Quantiles of
        counts are whole numbers.
    heteroskedastic : bool
        Let the log-scale of the normal distribution be a second process.
    kernel : str
        "rbf", "matern" (5/2), "linear", "periodic", or a sum such as "matern+linear". Each term has a
        variance, and a lengthscale for every column.
    periods : sequence of pairs (column, period)
        Columns that repeat, for the "periodic" term, such as ((0, 24.0),) for an hour in column 0.
    inducing : int
        Most inducing points, chosen among the rows. With as many as rows the posterior is that of all rows.
    n_restarts : int
        Starts of the search, the first from lengthscales that suit standardised columns, others around them.
    random_state : int, RandomState or None
        For further starts only: one start has no randomness.

    Attributes
    ----------
    fitted_ : FittedProcess
        Parameters, inducing points and posterior.
    bound_ : float
        Evidence lower bound with the log prior, in the units of the fit. Higher is better.

    Notes
    -----
    Several outputs: give y, and thresholds, flags or bounds, of shape (n, outputs). The processes of all
    outputs are mixtures of as many processes that share the kernel (the linear model of coregionalisation).
    NaN in y leaves out an output of a row. Predictions then have an axis of outputs after that of the rows.

    Cost: a step takes n · inducing² operations, several outputs half their square as many. 5,000 rows of five
    columns take some seconds.

    References
    ----------
    Gammelli, Peled, Rodrigues, Pacino, Kurtaran & Pereira (2020), Estimating latent demand of shared mobility
    through censored Gaussian processes, Transp. Res. C 120. Gammelli, Rolsted, Pacino & Rodrigues (2022),
    Generalized multi-output Gaussian process censored regression, Pattern Recognit. 129. Hensman, Matthews &
    Ghahramani (2015), Scalable variational Gaussian process classification, AISTATS.

    Examples
    --------
    >>> import numpy as np
    >>> from unmet import CensoredGaussianProcess
    >>> random = np.random.default_rng(0)
    >>> x = random.uniform(size=200)
    >>> latent, limit = np.sin(6 * x) + 0.2 * random.normal(size=200), 0.5 + random.exponential(size=200)
    >>> model = CensoredGaussianProcess(inducing=20)
    >>> model = model.fit(x[:, None], np.minimum(latent, limit), censored=latent > limit)
    >>> model.predict_interval([[0.2]]).shape
    (1, 2)
    """

    quantiles: Sequence[float] = (0.05, 0.5, 0.95)
    side: Side = "right"
    positive: bool = False
    likelihood: LikelihoodName = "gaussian"
    heteroskedastic: bool = False
    kernel: str = "matern+linear"
    periods: Sequence[tuple[int, float]] = ()
    inducing: int = 128
    n_restarts: int = 1
    random_state: Any = None

    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike | None = None,
        threshold: ArrayLike | None = None,
        censored: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        *,
        lower: ArrayLike | None = None,
        upper: ArrayLike | None = None,
    ) -> Self:
        """Fit to censored observations of one or several outputs.

        Parameters
        ----------
        X : array of shape (n, columns)
        y, threshold, censored, lower, upper
            As in the other estimators, shape (n,); or all of shape (n, outputs), where a threshold may also
            be one number, or one per output.
        sample_weight : array of shape (n,), optional
            A row of weight 2 counts as two equal rows, a row of weight 0 not at all.
        """
        if not several(y, lower):
            return super().fit(X, y, threshold, censored, sample_weight, lower=lower, upper=upper)
        self._check_parameters()
        refuse_mask(X, "X")
        refuse_mask(y, "y")
        refuse_times(X)
        rows = validate_data(self, dense(X), dtype=np.float64)
        told = {"threshold": threshold, "censored": censored, "lower": lower, "upper": upper}
        found = observe_outputs(y, self.side, **told)
        _check_rows(rows, found)
        if check_switch("positive", self.positive):
            for _, observed in found:
                refuse_negative(observed)
        self.told_censoring_ = any(observed.kind != "none" for _, observed in found)
        weight = None if sample_weight is None else check_weights(sample_weight, len(rows))
        self._fit_outputs(rows, found, weight, check_seed(self.random_state))
        return self

    def _fit_observed(self, X: Floats, observed: Observed, weight: Floats | None, seed: int) -> None:
        self._fit_outputs(X, [(np.ones(len(X), bool), observed)], weight, seed)

    def _fit_outputs(
        self, X: Floats, found: list[tuple[Any, Observed]], weight: Floats | None, seed: int
    ) -> None:
        lower, upper = (np.full((len(X), len(found)), np.nan) for _ in range(2))
        for number, (present, observed) in enumerate(found):
            if observed.side != "both" and observed.censored.all():
                raise ValueError(
                    "every row is censored: a process needs rows that show their value, "
                    "or bounds on both sides"
                )
            bounds = observed.lower, observed.upper
            lower[present, number], upper[present, number] = (
                bounds if self.likelihood == "gaussian" else whole_bounds(*bounds, self.likelihood)
            )
        index, share = canonical_rows(X, [*lower.T, *upper.T], weight)
        total = len(X) if weight is None else float(weight.sum())
        table = Table(X[index], lower[index], upper[index], share * total)
        choices = Choices(
            self.likelihood,
            bool(self.heteroskedastic),
            self.kernel,
            dict(self._periods(X.shape[1])),
            int(self.inducing),
            int(self.n_restarts),
        )
        self.fitted_ = fit_process(table, choices, check_quantiles(self.quantiles), seed)

    @property
    def bound_(self) -> float:
        """Evidence lower bound with the log prior. Higher is better."""
        return self._fitted().bound

    def predict_mean(self, X: ArrayLike) -> Floats:
        """Return the mean of the latent value, shape (n,) or (n, outputs)."""
        found = self._fitted().mixture(self._inputs(X)).mean(self.positive)
        return found[:, 0] if self.fitted_.outputs == 1 else found

    def sample(self, X: ArrayLike, n_draws: int = 1, random_state: Any = None) -> Floats:
        """Return draws of the latent value, shape (n, n_draws) or (n, outputs, n_draws)."""
        check_number("n_draws", n_draws, 1, whole=True)
        mixture = self._fitted().mixture(self._inputs(X))
        found = mixture.draw(np.random.RandomState(check_seed(random_state)), int(n_draws))
        found = np.maximum(found, 0.0) if self.positive else found
        return found[:, 0] if self.fitted_.outputs == 1 else found

    def score(
        self,
        X: ArrayLike,
        y: ArrayLike | None = None,
        threshold: ArrayLike | None = None,
        censored: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        *,
        lower: ArrayLike | None = None,
        upper: ArrayLike | None = None,
    ) -> float:
        """Return minus the mean censored tilted loss over rows, outputs and `quantiles`. Higher is better."""
        if not several(y, lower):
            return super().score(X, y, threshold, censored, sample_weight, lower=lower, upper=upper)
        told = {"threshold": threshold, "censored": censored, "lower": lower, "upper": upper}
        warn_if_untold(self, told, "score")
        quantiles = self.predict_quantiles(X)
        found = observe_outputs(y, self.side, **told)
        self._check_outputs(quantiles, found)
        weight = (
            np.ones(len(quantiles)) if sample_weight is None else check_weights(sample_weight, len(quantiles))
        )
        levels = np.asarray(self.quantiles, np.float64)
        losses = [
            seen_loss(observed, quantiles[present, number], levels).mean(axis=1)
            for number, (present, observed) in enumerate(found)
        ]
        weights = [weight[present] for present, _ in found]
        return -float(np.average(np.concatenate(losses), weights=np.concatenate(weights)))

    def complete(
        self,
        X: ArrayLike,
        y: ArrayLike | None = None,
        threshold: ArrayLike | None = None,
        censored: ArrayLike | None = None,
        *,
        lower: ArrayLike | None = None,
        upper: ArrayLike | None = None,
        n_draws: int | None = None,
        random_state: Any = None,
    ) -> Floats:
        """Return latent values: y where it is exact, and an estimate where it is a bound or missing.

        The estimate is the mean of the predicted distribution beyond the bound (between the bounds), shape
        (n,) or (n, outputs). With `n_draws`, it is that many draws from it on a last axis.

        Parameters
        ----------
        X, y, threshold, censored, lower, upper
            As in `fit`.
        """
        from unmet.censoring import observe

        if n_draws is not None:
            check_number("n_draws", n_draws, 1, whole=True)
        rows = self._inputs(X)
        told = {"threshold": threshold, "censored": censored, "lower": lower, "upper": upper}
        if several(y, lower):
            found = observe_outputs(y, self.side, **told)
        else:
            observed = observe(y, side=self.side, **told)
            check_lengths(rows, observed, y)
            found = [(np.ones(len(rows), bool), observed)]
        self._check_outputs(rows, found)
        warn_if_untold(self, told, "complete")
        random = np.random.RandomState(check_seed(random_state))
        filled = complete_mixture(self.fitted_, rows, found, n_draws, random, self.positive)
        return filled[:, 0] if self.fitted_.outputs == 1 else filled

    def _check_outputs(self, rows: Any, found: list[tuple[Any, Observed]]) -> None:
        _check_rows(rows, found)
        outputs = self._fitted().outputs
        if len(found) != outputs:
            raise ValueError(f"the model was fitted to {outputs} outputs, and y has {len(found)}")

    def _pack(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        return pack_process(self.fitted_)

    def _unpack(self, config: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
        self._check_parameters()
        periods = self._periods(config["columns"])
        self.fitted_ = take_process(self, config, arrays, periods)

    def _check_parameters(self) -> None:
        check_choice("side", self.side, get_args(Side))
        check_choice("likelihood", self.likelihood, get_args(LikelihoodName))
        check_switch("heteroskedastic", self.heteroskedastic)
        if self.heteroskedastic and self.likelihood != "gaussian":
            raise ValueError(
                f"heteroskedastic=True needs likelihood='gaussian', not {self.likelihood!r}: the spread of a "
                "count follows from its mean"
            )
        if not isinstance(self.kernel, str):
            raise ValueError(f"kernel must be a text such as 'matern+linear', not {self.kernel!r}")
        terms = self.kernel.split("+")
        for term in terms:
            check_choice("kernel", term, TERMS)
        if len(set(terms)) < len(terms):
            raise ValueError(f"kernel must name each term once, not {self.kernel!r}")
        check_number("inducing", self.inducing, 1, _MOST_POINTS, whole=True)
        check_number("n_restarts", self.n_restarts, 1, MOST_STARTS, whole=True)
        check_quantiles(self.quantiles)

    def _periods(self, columns: int) -> tuple[tuple[int, float], ...]:
        """Return the columns that repeat, or raise ValueError if they do not fit the kernel or the table."""
        try:
            pairs = tuple((column, period) for column, period in self.periods)
        except (TypeError, ValueError):
            raise ValueError(
                f"periods must be pairs (column, period) such as ((0, 24.0),), not {self.periods!r}"
            ) from None
        for column, period in pairs:
            check_number("column in periods", column, 0, columns - 1, whole=True)
            check_number("period in periods", period, 0, open_=True)
        if bool(pairs) != ("periodic" in self.kernel.split("+")):
            raise ValueError(
                "kernel with a 'periodic' term and periods=((column, period), …) go together: give both"
            )
        return tuple((int(column), float(period)) for column, period in pairs)


def _check_rows(rows: Any, found: list[tuple[Any, Observed]]) -> None:
    if len(rows) != len(found[0][0]):
        raise ValueError(f"X has {len(rows)} rows but y has {len(found[0][0])}")


def whole_bounds(lower: Floats, upper: Floats, likelihood: str) -> tuple[Floats, Floats]:
    """Return bounds on counts as whole numbers, NaN where they tell nothing; raise ValueError if none fit."""
    exact = lower == upper
    wrong = exact & ((lower < 0) | (lower != np.floor(lower)))
    if wrong.any():
        first = int(np.argmax(wrong))
        raise ValueError(
            f"likelihood={likelihood!r} needs counts, whole numbers from 0 on, and y has {lower[first]:g} at "
            f"row {first}: use likelihood='gaussian'"
        )
    low, high = np.maximum(np.ceil(lower), 0.0), np.floor(upper)
    if (low > high).any():
        first = int(np.argmax(low > high))
        raise ValueError(
            f"no count lies between {lower[first]:g} and {upper[first]:g}, the bounds of row {first}"
        )
    silent = (low == 0) & np.isinf(high)
    return np.where(silent, np.nan, low), np.where(silent, np.nan, high)
