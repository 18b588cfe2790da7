"""Linear censored quantile regression by the exact methods of the literature."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, get_args

import numpy as np
from numpy.typing import ArrayLike

from unmet.censoring import Observed, Side, mirror_levels
from unmet.estimators._base import CensoredRegressor, Floats
from unmet.estimators._checks import check_jobs, refuse_all_censored
from unmet.estimators._settings import (
    MOST_STARTS,
    check_choice,
    check_coverage,
    check_number,
    check_quantiles,
    check_switch,
)
from unmet.estimators._warn import warn_user
from unmet.estimators.linear._fit import bootstrap, make_ready, run
from unmet.estimators.linear._process import LinearProcess
from unmet.estimators.linear._summary import Summary, quantile_intervals, summarise

METHODS = ("portnoy", "peng-huang", "powell", "wang-wang")
# These fit each level from all levels before it.
_PROCESSES = ("portnoy", "peng-huang")
_STEPS = 100
# Powell's objective tells nothing of a quantile beyond the threshold. So many rows per coefficient, or
# this share of all rows, must have theirs on the near side.
_LEAST_SEEN, _LEAST_SHARE = 10, 0.1


@dataclass(kw_only=True, eq=False, repr=False)
class LinearCensoredQuantiles(CensoredRegressor):
    """Linear quantiles of a latent target that is observed only up to a cap, by linear programming.

    Every method solves its equations exactly: no learning rate, no stopping rule, the same answer every time.

    ============  ==========================  =============================================================
    method        needs                       assumes
    ============  ==========================  =============================================================
    "portnoy"     which rows are censored     thresholds independent of the latent value given X;
                                              all quantiles up to the fitted one linear
    "peng-huang"  which rows are censored     the same
    "powell"      the threshold of every row  thresholds independent of the latent value given X;
                                              only the fitted quantile linear
    "wang-wang"   which rows are censored     thresholds independent of the latent value given X;
                                              only the fitted quantile linear, at most three continuous
                                              columns
    ============  ==========================  =============================================================

    Portnoy: rows are weighted so that a censored row, passed at level θ_c, keeps w(θ) = (θ − θ_c)/(1 − θ_c)
    of its weight at its value and has the rest at infinity; β(θ) minimises Σ [w ρ_θ(y − x'β) + (1 − w) ρ_θ(∞
    − x'β)]. It generalises Kaplan and Meier's estimate.

    Peng–Huang: Σ x [N(x'β(θ_j)) − Σ_{k<j} 1{y ≥ x'β(θ_k)} (H(θ_{k+1}) − H(θ_k))] = 0 with H(u) = −log(1 − u),
    one linear programme per level. It generalises Nelson and Aalen's estimate.

    Powell: minimises Σ ρ_θ(y − min(cap, x'β)), with side="both" Σ ρ_θ(y − min(cap, max(floor, x'β))). The
    objective is not convex: the search starts from several
    points, keeps the best, and may miss the lowest.

    Wang–Wang: Portnoy's weights with θ_c = F̂(y | x), Beran's local Kaplan–Meier estimate with a bandwidth
    that undersmooths.

    Portnoy and Peng–Huang fit the whole process from the lowest level upwards, so that an error at low levels
    carries over to higher ones. All but Powell end where too much weight lies beyond the caps, Peng–Huang
    also where fewer than p/2 + 1 uncensored rows are left above for p coefficients: higher levels are not
    identified, and `fit` warns if you asked for one. Powell has an answer at every level, and `fit` warns
    where it rests on fewer than ten rows per coefficient and a tenth of all. Left censoring is the mirror
    image, and there low levels are lost.

    Cost: a process over n rows and p columns takes a few n steps of n p operations each, nearly whatever the
    grid: about half a second for n = 1,000 and p = 10. Bootstrap draws run side by side and take a tenth of
    that each. Powell takes about (n_restarts + 2) K searches of a few linear programmes and some five steps
    of n p² log n operations each. Wang–Wang compares each censored row with all others.

    Parameters
    ----------
    method : {"portnoy", "peng-huang", "powell", "wang-wang"}
    quantiles : sequence of float
        Levels to report, increasing, each inside (0, 1).
    side : {"right", "left", "both"}
        Whether large or small values are cut off, or both at a known floor and cap ("powell" only).
    positive : bool
        The latent value is never below zero; see `CensoredQuantileRegressor`.
    grid : sequence of float or None
        Levels to fit beside `quantiles`. None: steps of 0.01 for "portnoy" and "peng-huang", whose estimates
        at one level use all levels before it; only the median for the others. Many rows take smaller steps in
        between, which are not reported: below 0.01 down to 1/n; for "portnoy" also where little is left
        above, for "peng-huang" everywhere.
    fit_intercept : bool
    bandwidth : float or None
        For "wang-wang": half the width of the kernel in standard deviations of a column. None: 2 n^(−0.3) for
        one continuous column, which undersmooths. Columns with at most five values are matched exactly.
    n_restarts : int
        For "powell": random starts per level, beside plain quantile regression and the level before.
    n_bootstrap : int
        Draws of the multiplier bootstrap for standard errors and intervals; 0: none.
    n_jobs : int
        Processes that share the draws; −1: one per core.
    progress : bool or None
        Show a progress bar; None: when a terminal is attached and it takes long.
    random_state : int, RandomState or None

    Attributes
    ----------
    coef_, intercept_ : arrays (K, columns) and (K,)
        At `quantiles`; NaN where a level is not identified.
    levels_ : tuple of float
        All levels that were fitted and are identified.
    bootstrap_ : array (n_bootstrap, K, 1 + columns), or None
        Intercept and slopes of every draw; NaN where a draw does not reach a level.

    References
    ----------
    Powell (1986), J. Econometrics 32. Portnoy (2003), J. Am. Stat. Assoc. 98. Peng & Huang (2008), J. Am.
    Stat. Assoc. 103. Wang & Wang (2009), J. Am. Stat. Assoc. 104. Koenker (2008), J. Stat. Softw. 27(6).

    Examples
    --------
    >>> import numpy as np
    >>> from unmet import LinearCensoredQuantiles
    >>> random = np.random.default_rng(0)
    >>> x = random.uniform(size=500)
    >>> latent, limit = 1 + 2 * x + random.normal(size=500), 3 + random.normal(size=500)
    >>> model = LinearCensoredQuantiles(quantiles=(0.25, 0.5))
    >>> model = model.fit(x[:, None], np.minimum(latent, limit), censored=latent > limit)
    >>> model.coef_.shape
    (2, 1)
    """

    _encoding = "reference"  # all categories and an intercept would not be identified

    method: str = "portnoy"
    quantiles: Sequence[float] = (0.05, 0.5, 0.95)
    side: Side = "right"
    positive: bool = False
    grid: Sequence[float] | None = None
    fit_intercept: bool = True
    bandwidth: float | None = None
    n_restarts: int = 20
    n_bootstrap: int = 0
    n_jobs: int = 1
    progress: bool | None = None
    random_state: Any = None

    def _fit_observed(self, X: Floats, observed: Observed, weight: Floats | None, seed: int) -> None:
        wanted, levels = self._levels()
        self._check_censoring(observed)
        mirrored = observed.side == "left"
        reported = mirror_levels(levels) if mirrored else levels
        ready = make_ready(
            X,
            observed.mirrored() if mirrored else observed,
            weight,
            method=self.method,
            levels=reported,
            intercept=bool(self.fit_intercept),
            options={"bandwidth": self.bandwidth, "n_restarts": self.n_restarts, "seed": seed},
            refine=self.grid is None and self.method in _PROCESSES,
        )
        path = run(ready, ready.weights[None])
        intercepts, slopes = ready.coefficients(path)
        # A process that ends leaves all higher levels without an answer.
        reached = ready.problem.levels[: int(np.argmin(np.append(path.reached[0], False)))]
        asked = set(reported)
        kept = [number for number, level in enumerate(reached) if level in asked]
        if not kept:
            raise ValueError(
                f"no level is identified: too few rows are uncensored for method={self.method!r}; use more "
                "rows, or fit lower levels (higher ones for side='left')"
            )
        found = tuple(reached[number] for number in kept)
        process = _in_users_terms(found, intercepts[0, kept], slopes[0, kept], mirrored)
        self.fitted_ = process
        self.censored_share_ = float(observed.censored.mean())
        self.rows_, self.side_ = len(observed), observed.side
        self._dependent = np.ones(X.shape[1], bool)
        self._dependent[ready.design.used] = False
        self._warn_if_lost(wanted)
        if self.method == "powell":
            self._warn_if_hidden(wanted, X, observed, weight)
        self.bootstrap_ = None
        if self.n_bootstrap:
            inside = [level for level in wanted if level in process.levels]
            inner = mirror_levels(inside) if mirrored else tuple(inside)
            keep = [ready.problem.levels.index(level) for level in inner]
            draws = np.full((self.n_bootstrap, len(wanted), 1 + X.shape[1]), np.nan)
            if keep:
                jobs = check_jobs(self.n_jobs)
                a, b = bootstrap(ready, path, keep, self.n_bootstrap, seed, jobs, self.progress)
                both = np.concatenate([a[:, :, None], b], axis=2)
                draws[:, [wanted.index(level) for level in inside]] = -both[:, ::-1] if mirrored else both
            self.bootstrap_ = draws

    def predict_quantiles(self, X: ArrayLike, quantiles: Sequence[float] | None = None) -> Floats:
        """Quantiles of the latent value, shape (n, K), in the order of `quantiles`.

        Coefficients between fitted levels are interpolated; levels that were not fitted or are not identified
        raise. Linear quantiles may cross where there are few rows.
        """
        self._refuse_hidden(check_quantiles(self.quantiles if quantiles is None else quantiles))
        return super().predict_quantiles(X, quantiles)

    def _refuse_hidden(self, wanted: Sequence[float]) -> None:
        levels = self._fitted().levels
        lost = [level for level in wanted if not levels[0] <= level <= levels[-1]]
        asked = self._levels()[1]
        if any(asked[0] <= level <= asked[-1] for level in lost):
            raise ValueError(
                f"quantiles {lost} are not identified: censored rows leave only levels from {levels[0]:g} "
                f"to {levels[-1]:g}; ask for those, or use CensoredQuantileRegressor"
            )

    @property
    def levels_(self) -> tuple[float, ...]:
        return self._fitted().levels

    @property
    def coef_(self) -> Floats:
        """Slopes at `quantiles`, shape (K, columns)."""
        return self._fitted().coefficients(check_quantiles(self.quantiles))[:, 1:]

    @property
    def intercept_(self) -> Floats:
        """Intercepts at `quantiles`, shape (K,)."""
        return self._fitted().coefficients(check_quantiles(self.quantiles))[:, 0]

    def summary(self, coverage: float = 0.95) -> Summary:
        """Coefficients with standard errors and intervals, and what the method assumes. Print it to read it.

        A standard error is half the distance between the 16th and 84th percentile of the bootstrap draws,
        which a few wild draws do not change. An interval runs between percentiles of the draws. A column that
        depends on others, such as a constant one, has coefficient 0 and no standard error (NaN, shown as –).
        """
        check_coverage(coverage)
        self._fitted()
        return summarise(self, coverage)

    def confidence_interval(self, X: ArrayLike, coverage: float = 0.95) -> Floats:
        """Where the true quantiles at each row lie, shape (n, K, 2): lower and upper ends by level.

        Unlike `predict_interval`, which holds values, it says how well each of `quantiles` is known: the ends
        are percentiles of x'β over the bootstrap draws, so `n_bootstrap` of 200 or more is needed. NaN where
        fewer than 80% of the draws reach a level.
        """
        check_coverage(coverage)
        rows = np.asarray(self._inputs(X), np.float64)
        if self.bootstrap_ is None:
            raise ValueError("confidence_interval needs bootstrap draws: set n_bootstrap=200 and fit again")
        return quantile_intervals(rows, self.bootstrap_, coverage)

    def _pack(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        fitted = self.fitted_
        arrays = {
            "levels": np.asarray(fitted.levels),
            "intercepts": fitted.intercepts,
            "slopes": fitted.slopes,
        }
        if self.bootstrap_ is not None:
            known = np.isfinite(self.bootstrap_)
            arrays["draws"], arrays["drawn"] = np.where(known, self.bootstrap_, 0.0), known
        if self._dependent.any():
            arrays["dependent"] = self._dependent
        config = {"rows": int(self.rows_), "censored_share": float(self.censored_share_), "side": self.side_}
        return config, arrays

    def _unpack(self, config: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
        wanted, _ = self._levels()
        columns = config["columns"]
        levels, intercepts, slopes = (arrays.pop(name) for name in ("levels", "intercepts", "slopes"))
        if (
            levels.ndim != 1
            or not len(levels)
            or (np.diff(levels) <= 0).any()
            or intercepts.shape != levels.shape
            or slopes.shape != (len(levels), columns)
        ):
            raise ValueError("the shapes of the coefficients do not fit the parameters")
        self.bootstrap_ = None
        if "draws" in arrays:
            self.bootstrap_ = np.where(arrays.pop("drawn"), arrays.pop("draws"), np.nan)
            if self.bootstrap_.shape != (self.n_bootstrap, len(wanted), 1 + columns):
                raise ValueError("the shape of the bootstrap draws does not fit the parameters")
        self._dependent = arrays.pop("dependent", np.zeros(columns, bool))
        if self._dependent.shape != (columns,) or self._dependent.dtype != bool:
            raise ValueError("the dependent columns do not fit the parameters")
        self.rows_, self.censored_share_ = config["rows"], config["censored_share"]
        self.side_ = config["side"]
        self.fitted_ = LinearProcess(tuple(levels.tolist()), intercepts, slopes)

    def _check_parameters(self) -> None:
        self._levels()

    def _levels(self) -> tuple[tuple[float, ...], tuple[float, ...]]:
        """The levels asked for and all levels to fit; checks every parameter."""
        check_choice("method", self.method, METHODS)
        check_choice("side", self.side, get_args(Side))
        check_switch("fit_intercept", self.fit_intercept)
        check_number("n_restarts", self.n_restarts, 0, MOST_STARTS, whole=True)
        check_number("n_bootstrap", self.n_bootstrap, 0, MOST_STARTS, whole=True)
        check_jobs(self.n_jobs)
        if self.bandwidth is not None:
            check_number("bandwidth", self.bandwidth, 0, open_=True)
            if self.method != "wang-wang":
                raise ValueError(f"bandwidth is for method='wang-wang' only; method is {self.method!r}")
        wanted = check_quantiles(self.quantiles)
        if self.grid is not None:
            grid = check_quantiles(self.grid, "grid")
        elif self.method in _PROCESSES:
            grid = tuple(step / _STEPS for step in range(1, _STEPS))
        else:
            grid = (0.5,) if wanted[0] < 0.5 < wanted[-1] else ()
        # A requested level that differs from one of the grid by rounding only is that one.
        levels = {round(level, 12): level for level in (*grid, *wanted)}
        return wanted, tuple(sorted(levels.values()))

    def _check_censoring(self, observed: Any) -> None:
        if observed.side == "both" and (self.method != "powell" or not observed.known):
            raise ValueError(
                f"method={self.method!r} needs rows that are all open on the same side: for intervals use "
                "TobitRegressor or CensoredQuantileRegressor with lower= and upper=, and for a known floor "
                "and cap method='powell' with side='both' and threshold=(floor, cap)"
            )
        refuse_all_censored(observed)
        if self.method == "powell" and observed.kind == "flags":
            raise ValueError(
                "method='powell' needs the threshold of every row, also of the uncensored ones: pass "
                "threshold=, or use method='portnoy' or 'peng-huang', which need only the flags"
            )

    def _warn_if_lost(self, wanted: tuple[float, ...]) -> None:
        levels = self._fitted().levels
        lost = [level for level in wanted if not levels[0] <= level <= levels[-1]]
        if lost:
            end = f"above {levels[-1]:g}" if self.side_ == "right" else f"below {levels[0]:g}"
            warn_user(
                f"quantiles {end} are not identified, too few uncensored rows lie there: no answer for {lost}"
            )

    def _warn_if_hidden(
        self, wanted: tuple[float, ...], X: Floats, observed: Observed, weight: Floats | None
    ) -> None:
        """Warn of levels whose fitted quantile lies beyond the threshold in nearly all rows."""
        floor, cap = observed.limits
        found = self._fitted().quantiles(X, wanted)
        seen = (floor[:, None] < found) & (found < cap[:, None])
        seen = seen if weight is None else seen[weight > 0]
        rows = seen.sum(axis=0)
        least = min(_LEAST_SEEN * (X.shape[1] + bool(self.fit_intercept)), _LEAST_SHARE * len(seen))
        if hidden := [level for level, count in zip(wanted, rows, strict=True) if count < least]:
            warn_user(
                f"quantiles {hidden} are not identified, because they lie beyond the threshold in all but "
                f"{int(rows.min()):,} rows: any line beyond it fits as well; use TobitRegressor, or more rows"
            )


def _in_users_terms(levels: Any, intercepts: Any, slopes: Any, mirrored: bool) -> LinearProcess:
    if mirrored:
        return LinearProcess(mirror_levels(levels), -intercepts[::-1], -slopes[::-1])
    return LinearProcess(tuple(levels), intercepts, slopes)
