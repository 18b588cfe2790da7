"""Bayesian linear censored quantile regression: posterior draws of coefficients, and valid intervals."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, get_args

import numpy as np
from scipy.special import ndtri

from unmet.censoring import Observed, Side, mirror_levels
from unmet.estimators._base import CensoredRegressor, Floats
from unmet.estimators._checks import refuse_all_censored
from unmet.estimators._settings import (
    MOST_STARTS,
    check_choice,
    check_coverage,
    check_number,
    check_quantiles,
    check_switch,
)
from unmet.estimators._warn import warn_user
from unmet.estimators.bayes._correction import (
    augmented_information,
    corrected_covariance,
    powell_information,
)
from unmet.estimators.bayes._diagnostics import effective_draws, split_rhat
from unmet.estimators.bayes._rows import Working, working_rows
from unmet.estimators.bayes._summary import BayesianSummary, summarise
from unmet.estimators.linear._process import LinearProcess

METHODS = ("powell", "augmented")
# The search for Powell's estimate, where the chains start, takes this many rows at most.
_MOST_START = 1_000
# Chains that disagree more than this, or are worth fewer draws, are reported.
_RHAT, _EFFECTIVE = 1.05, 200
# Draws whose spread is this part of the prior's, or more, tell of the prior.
_WIDE = 0.25


@dataclass(kw_only=True, eq=False, repr=False)
class BayesianCensoredQuantiles(CensoredRegressor):
    """Linear quantiles of a latent target that is observed only up to a cap, as draws from a posterior.

    ===========  ===========================  ==============================================================
    method       needs                        working likelihood
    ===========  ===========================  ==============================================================
    "powell"     the threshold of every row   exp(−Σ ρ_θ((y − min(cap, x'β))/σ)), σ fixed at the mean loss
    "augmented"  which rows are censored      y* asymmetric Laplace around x'β, unseen y* anywhere beyond
                                              their bounds, σ drawn too
    ===========  ===========================  ==============================================================

    Neither is the law of the data: they are used because x'β then is the θ-quantile. Their posterior is
    centred well, but its width is not that of the error. `intervals` therefore corrects the covariance to
    Σ_adj = Σ_post V Σ_post with V the variance of the score, for Powell n θ(1 − θ)/σ² times the mean of x x'
    over rows whose fitted quantile lies below the cap (Yang, Wang and He).

    "powell" is consistent if thresholds are independent of the latent value given X and the fitted quantile
    is linear. "augmented" trusts the asymmetric Laplace law wherever a row is unseen. It is biased unless
    that law is the true one, the more so where caps lie below the quantile, and correcting its covariance
    does not move it. It is here to be compared with, and for flags, and intervals beside exact rows, where
    Powell has no answer.

    β has a normal prior. It is wide, and felt where caps hide a direction: once a quantile lies beyond the
    caps of all rows that could tell, Powell's loss is flat. `fit` warns if the draws are nearly as wide as
    the prior.
    Each level is fitted by itself, so that quantiles may cross.

    Cost: "powell" compiles for some seconds, once for each shape. A draw takes 10 to 60 products of all rows
    with the coefficients, "augmented" about 3 to 15. 1,000 draws of 10,000 rows and 3 levels, from 2 chains,
    take 2 seconds with two columns and 8 with twenty; 2,000 draws of "augmented" take the same.

    Parameters
    ----------
    method : {"powell", "augmented"}
        "powell" needs the extra `bayes`.
    quantiles : sequence of float
        Levels to fit, increasing, each inside (0, 1).
    side : {"right", "left", "both"}
        Whether large or small values are cut off, or both at a known floor and cap.
    positive : bool
        The latent value is never below zero; see `CensoredQuantileRegressor`.
    fit_intercept : bool
    prior_scale : float
        Standard deviation of the normal prior of each coefficient, for independent columns of mean square
        one and in standard deviations of y.
    n_chains : int
    n_draws : int
        Draws to keep from each chain, after warm-up.
    random_state : int, RandomState or None

    Attributes
    ----------
    samples_ : array (n_chains, n_draws, K, 1 + columns)
        Draws of intercept and slopes.
    coef_, intercept_ : arrays (K, columns) and (K,)
        Posterior medians, which a flat stretch of the loss moves less than means.
    covariance_ : array (K, 1 + columns, 1 + columns)
        Corrected covariance of intercept and slopes.
    rhat_, effective_draws_ : arrays (K, 1 + columns)
        Whether the chains have met, and the number of independent draws they are worth. `fit` warns where R̂
        exceeds 1.05 or fewer than 200 draws are left.

    References
    ----------
    Yu & Stander (2007), Bayesian analysis of a Tobit quantile regression model, J. Econometrics 137. Kozumi &
    Kobayashi (2011), J. Stat. Comput. Simul. 81. Yang, Wang & He (2016), Int. Stat. Rev. 84.

    Examples
    --------
    >>> import numpy as np
    >>> from unmet import BayesianCensoredQuantiles
    >>> random = np.random.default_rng(0)
    >>> x = random.uniform(size=200)
    >>> latent, limit = 1 + 2 * x + random.normal(size=200), 3 + random.normal(size=200)
    >>> model = BayesianCensoredQuantiles(method="augmented", quantiles=(0.5,), random_state=0)
    >>> model.fit(x[:, None], np.minimum(latent, limit), threshold=limit).intervals(0.9).shape
    (1, 2, 2)
    """

    _encoding = "reference"  # all categories and an intercept would not be identified

    method: str = "powell"
    quantiles: Sequence[float] = (0.25, 0.5, 0.75)
    side: Side = "right"
    positive: bool = False
    fit_intercept: bool = True
    prior_scale: float = 2.5
    n_chains: int = 4
    n_draws: int = 1_000
    random_state: Any = None

    def _fit_observed(self, X: Floats, observed: Observed, weight: Floats | None, seed: int) -> None:
        levels = check_quantiles(self.quantiles)
        self._check_censoring(observed)
        mirrored = observed.side == "left"
        seen = observed.mirrored() if mirrored else observed
        inner = np.asarray(mirror_levels(levels) if mirrored else levels)
        rows, index = working_rows(X, seen, weight, bool(self.fit_intercept))
        given: dict[str, Any] = {
            "prior_scale": float(self.prior_scale),
            "chains": self.n_chains,
            "draws": self.n_draws,
        }
        if self.method == "powell":
            from unmet.estimators.bayes._powell import powell_scales, sample_powell

            start = rows.working(self._start(X[index], seen.take(index), rows, inner, seed), X[index])
            scales = powell_scales(rows, inner, start)
            drawn = sample_powell(rows, inner, start, scales, seed=seed, **given)
            middle = rows.working(np.median(rows.restore(drawn), axis=(0, 1)), X[index])
            information = powell_information(rows, inner, scales, middle)
        else:
            from unmet.estimators.bayes._augmented import sample_augmented

            drawn, sigma = sample_augmented(rows, inner, seed=seed, **given)
            scales = sigma.mean(axis=(0, 1))
            middle = rows.working(np.median(rows.restore(drawn), axis=(0, 1)), X[index])
            information = augmented_information(rows, inner, scales, middle)
        posterior = np.array([np.cov(part.T).reshape(part.shape[1], -1) for part in _pooled(drawn)])
        self._warn_if_hidden(posterior, np.asarray(levels)[::-1] if mirrored else np.asarray(levels))
        samples = rows.restore(drawn)
        covariance = rows.restore_covariance(corrected_covariance(posterior, information))
        if mirrored:
            samples, covariance = -samples[:, :, ::-1], covariance[::-1]
        self._keep(samples, np.ascontiguousarray(covariance))
        self.censored_share_, self.rows_, self.side_ = (
            float(observed.censored.mean()),
            len(observed),
            observed.side,
        )
        self._warn_if_poor()

    def _start(self, X: Floats, observed: Observed, rows: Working, levels: Floats, seed: int) -> Floats:
        """Return intercepts and slopes of Powell's estimate, by search over the first rows."""
        from unmet.estimators.linear._fit import make_ready, run

        some = slice(0, _MOST_START)  # canonical rows are in random order
        ready = make_ready(
            X[some],
            observed.take(some),
            rows.weights[some],
            method="powell",
            levels=tuple(levels.tolist()),
            intercept=bool(self.fit_intercept),
            options={"n_restarts": 5, "seed": seed},
        )
        intercepts, slopes = ready.coefficients(run(ready, ready.weights[None]))
        return np.concatenate([intercepts[0][:, None], slopes[0]], axis=1)

    def _keep(self, samples: Floats, covariance: Floats) -> None:
        """Derive everything from the draws."""
        self.samples_, self.covariance_ = samples, covariance
        self.rhat_, self.effective_draws_ = split_rhat(samples), effective_draws(samples)
        middle = np.median(samples, axis=(0, 1))
        self.fitted_ = LinearProcess(check_quantiles(self.quantiles), middle[:, 0], middle[:, 1:])

    def _warn_if_hidden(self, posterior: Floats, levels: Floats) -> None:
        """Warn of levels whose posterior is in some direction nearly as wide as the prior."""
        wide = np.sqrt(np.linalg.eigvalsh(posterior)[:, -1]) > _WIDE * self.prior_scale
        if wide.any():
            told = ", ".join(f"{level:g}" for level in sorted(levels[wide]))
            warn_user(
                f"the data hardly tell of the quantiles {told}: caps hide some direction of X there, and the "
                "prior decides. Do not trust their intervals; fit other levels, or drop columns that vary "
                "only where the quantile is hidden"
            )

    def _warn_if_poor(self) -> None:
        worst, fewest = float(self.rhat_.max()), float(self.effective_draws_.min())
        if worst > _RHAT or fewest < _EFFECTIVE:
            warn_user(
                f"the chains have not settled: largest R̂ {worst:.2f} (should be below {_RHAT:g}), fewest "
                f"effective draws {fewest:.0f} (should be at least {_EFFECTIVE}); set n_draws higher, or fit "
                "levels that fewer caps hide"
            )

    @property
    def coef_(self) -> Floats:
        """Posterior medians of the slopes, shape (K, columns)."""
        return self._fitted().slopes

    @property
    def intercept_(self) -> Floats:
        """Posterior medians of the intercepts, shape (K,)."""
        return self._fitted().intercepts

    def intervals(self, level: float = 0.9, corrected: bool = True) -> Floats:
        """Return the ends of intervals for intercept and slopes, shape (K, 1 + columns, 2).

        Corrected, they are posterior median ± z √diag Σ_adj, which cover the true coefficient in the given
        share of samples if n is large. Otherwise they run between percentiles of the draws, which do not.
        """
        check_coverage(level)
        middle = self._fitted().coefficients(check_quantiles(self.quantiles))
        if not check_switch("corrected", corrected):
            tail = 50 * (1 - level)
            ends = np.percentile(self.samples_, [tail, 100 - tail], axis=(0, 1))
            return np.moveaxis(ends, 0, -1)
        reach = -ndtri((1 - level) / 2) * np.sqrt(np.diagonal(self.covariance_, axis1=1, axis2=2))
        return np.stack([middle - reach, middle + reach], axis=-1)

    def summary(self, coverage: float = 0.9) -> BayesianSummary:
        """Coefficients, corrected standard errors and intervals, diagnostics. Print it to read it."""
        check_coverage(coverage)
        self._fitted()
        return summarise(self, coverage)

    def _pack(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        config = {"rows": int(self.rows_), "censored_share": float(self.censored_share_), "side": self.side_}
        return config, {"samples": np.ascontiguousarray(self.samples_), "covariance": self.covariance_}

    def _unpack(self, config: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
        self._check_parameters()
        count, size = len(check_quantiles(self.quantiles)), 1 + config["columns"]
        samples, covariance = arrays.pop("samples"), arrays.pop("covariance")
        if samples.shape != (self.n_chains, self.n_draws, count, size):
            raise ValueError("the shape of the draws does not fit the parameters")
        if covariance.shape != (count, size, size):
            raise ValueError("the shape of the covariance does not fit the parameters")
        self.rows_, self.censored_share_ = config["rows"], config["censored_share"]
        self.side_ = config["side"]
        self._keep(samples, covariance)

    def _check_parameters(self) -> None:
        check_choice("method", self.method, METHODS)
        check_choice("side", self.side, get_args(Side))
        check_switch("fit_intercept", self.fit_intercept)
        check_number("prior_scale", self.prior_scale, 0, open_=True)
        check_number("n_chains", self.n_chains, 1, 1_000, whole=True)
        check_number("n_draws", self.n_draws, 4, MOST_STARTS, whole=True)
        check_quantiles(self.quantiles)

    def _check_censoring(self, observed: Observed) -> None:
        refuse_all_censored(observed)
        if self.method == "powell" and observed.kind in ("flags", "intervals"):
            raise ValueError(
                "method='powell' needs the threshold of every row, also of the uncensored ones: pass "
                "threshold=, or use method='augmented', which needs only flags or bounds"
            )


def _pooled(drawn: Floats) -> Floats:
    """Return draws (K, chains × draws, r) of all chains together."""
    every = drawn.reshape(-1, *drawn.shape[2:])
    return np.moveaxis(every, 0, 1)
