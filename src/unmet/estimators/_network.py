"""What networks share: parameters of architecture and training, fitting by the trainer, files."""

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Self, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unmet.censoring import Observed, Side, observe
from unmet.estimators._base import CensoredRegressor, Floats
from unmet.estimators._checks import check_mask, check_seed, refuse_two_sided, warn_all_censored
from unmet.estimators._choices import Auto, NetworkName, Schedule
from unmet.estimators._fitted import Fitted, Member
from unmet.estimators._prepare import Prepared, prepare
from unmet.estimators._programs import model_spec
from unmet.estimators._scaling import Scaling
from unmet.estimators._settings import Settings, check_hidden, check_network, check_quantiles, check_training
from unmet.estimators._warn import warn_user
from unmet.networks import Activation, Initialiser, layout, split
from unmet.training import Trained, train

# Inverse weights use uncensored rows alone: so many per coefficient of a line, at most half of all rows.
_LEAST_SEEN = 10


@dataclass(kw_only=True, eq=False, repr=False)
class NetworkRegressor(CensoredRegressor):
    """Base of the estimators that train networks. A subclass turns its parameters into `Settings`."""

    __metadata_request__fit = {"validation": True}  # noqa: RUF012

    # what to predict
    quantiles: Sequence[float] = (0.05, 0.5, 0.95)
    side: Side = "right"
    positive: bool = False
    # which model
    network: NetworkName | Callable[..., Any] = "linear"
    hidden: Sequence[int] | Auto = "auto"
    units: int = 32
    sequence: tuple[int, int] | None = None
    neighbours: tuple[int, int] | None = None
    activation: Activation | None = None
    dropout: float = 0.0
    fit_intercept: bool = True
    # what to minimise
    l2: float | Auto = "auto"
    # how to train
    learning_rate: float | Auto = "auto"
    schedule: Schedule = "cosine"
    max_epochs: int | None = None
    patience: int | Auto | None = "auto"
    validation_fraction: float = 0.2
    batch_size: int | Auto | None = "auto"
    clip_norm: float | None = 1.0
    n_restarts: int = 1
    initialiser: Initialiser = "neutral"
    standardise: bool = True
    warm_start: bool = False
    # housekeeping
    random_state: Any = None
    progress: bool | None = None

    @abstractmethod
    def _settings(self) -> Settings:
        """Return the checked parameters."""

    def _checked(self, automatic: Mapping[str, Any] | None = None, **own: Any) -> Settings:
        """Return the checked parameters of all networks, and a subclass's own.

        `automatic` has the numbers that stand for "auto" until the data are known.
        """
        shape = (self.hidden, self.units, self.activation, self.dropout, self.sequence, self.neighbours)
        given = dict(vars(self))
        given.update({name: value for name, value in (automatic or {}).items() if given[name] == "auto"})
        return Settings(
            quantiles=check_quantiles(self.quantiles),
            network=check_network(self.network, *shape),
            **own,
            **check_training(given),
        )

    def _check_parameters(self) -> None:
        self._settings()

    def fit(  # type: ignore[override]
        self,
        X: ArrayLike,
        y: ArrayLike | None = None,
        threshold: ArrayLike | None = None,
        censored: ArrayLike | None = None,
        validation: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        *,
        lower: ArrayLike | None = None,
        upper: ArrayLike | None = None,
    ) -> Self:
        self._check_parameters()
        told = {"threshold": threshold, "censored": censored, "lower": lower, "upper": upper}
        rows, observed, weight = self._observe(X, y, sample_weight, **told)
        mask = None if validation is None else check_mask(validation, len(observed))
        self._fit_observed(rows, observed, weight, check_seed(self.random_state), mask)
        return self

    fit.__qualname__ = "fit"  # Python names it in errors, and users do not know this class
    fit.__doc__ = (CensoredRegressor.fit.__doc__ or "").replace(
        "        sample_weight :",
        """        validation : boolean array of shape (n,), optional
            Rows that only decide when to stop; `fit` does not train on them.
        sample_weight :""",
    )

    def _fit_observed(
        self, X: Floats, observed: Observed, weight: Floats | None, seed: int, validation: Any = None
    ) -> None:
        from unmet.runs import progress

        settings = self._settings()
        prepared = self._prepare(settings, X, observed, weight, validation, seed)
        most, results = {job.tag: job.epochs for job in prepared.jobs}, {}
        with progress(sum(most.values()), "fit", "epochs", shown=self.progress) as bar:
            for tag, trained in train(prepared.jobs, bar.advance):
                results[tag] = trained
                bar.advance(most[tag] - trained.epochs)  # those that it stopped before
        self._finish(prepared, results, settings)

    def _prepare(
        self, settings: Settings, X: Floats, observed: Observed, weight: Any, mask: Any, seed: int
    ) -> Prepared:
        """Return the training jobs for checked rows."""
        if observed.side != settings.side:
            settings = replace(settings, side=observed.side)
        if observed.censored.all():
            warn_all_censored(observed)
        self.__dict__.pop("ipcw_", None)  # left by an earlier fit
        if settings.loss == "ipcw":
            X, observed, weight, mask = self._weigh(X, observed, weight, mask, settings, seed)
        return prepare(X, observed, weight, mask, settings, seed, self._before())

    def _observe(
        self, X: Any, y: Any, sample_weight: Any, **told: Any
    ) -> tuple[NDArray[Any], Observed, Floats | None]:
        had = self.__dict__.get("feature_names_in_")
        found = super()._observe(X, y, sample_weight, **told)
        now = self.__dict__.get("feature_names_in_")
        if self._before() is not None and had is not None and now is not None and list(had) != list(now):
            self.feature_names_in_ = had
            raise ValueError(
                f"warm_start=True goes on from the fit before, but the columns of X are {', '.join(now)} and "
                f"were {', '.join(had)}: set warm_start=False"
            )
        return found

    def _before(self) -> Fitted | None:
        """Return the fit to go on from, if there is one."""
        fitted = self.__dict__.get("fitted_") if self.warm_start else None
        return fitted if fitted is not None and fitted.scaling.y_scale else None

    def _weigh(
        self, X: Any, observed: Observed, weight: Any, mask: Any, settings: Settings, seed: int
    ) -> tuple[Any, Observed, Any, Any]:
        """Return the uncensored rows with the inverse of their chance to be seen as weights."""
        from unmet.estimators._inverse_weights import inverse_weights

        refuse_two_sided(observed, "loss='ipcw'", "loss='censored'")
        if observed.censored.all():
            raise ValueError("loss='ipcw' needs uncensored rows, and every row is censored")
        seen = observed.mirrored() if observed.side == "left" else observed
        weights, self.ipcw_ = inverse_weights(
            np.asarray(X, np.float64), seen, weight, settings.censoring, seed
        )
        least = min(_LEAST_SEEN * (X.shape[1] + bool(self.fit_intercept)), len(observed) / 2)
        if self.ipcw_.rows < least and observed.censored.any():
            warn_user(
                f"loss='ipcw' fits uncensored rows alone, and only {self.ipcw_.rows:,} of {len(observed):,} "
                "rows are: quantiles follow these rows, and intervals are too narrow. Use TobitRegressor or "
                "loss='censored', which learn from censored rows too"
            )
        rows = ~observed.censored
        exact = observe(observed.observed[rows], threshold=None, side=settings.side)
        return X[rows], exact, weights[rows], None if mask is None else mask[rows]

    def _finish(
        self, prepared: Prepared, results: dict[tuple[int, int], Trained], settings: Settings
    ) -> Self:
        """Keep the best restart of every network."""
        members, histories = [], []
        for group in range(1 + max(group for group, _ in results)):
            restarts = [(result.loss, tag) for tag, result in results.items() if tag[0] == group]
            # NaN loses to any finite loss; ties go to the first start.
            _, tag = min(restarts, key=lambda item: (not np.isfinite(item[0]), item[0], item[1]))
            job = next(job for job in prepared.jobs if job.tag == tag)
            best = results[tag]
            if not np.isfinite(best.weights).all():
                raise ValueError(
                    "training diverged: lower learning_rate, set clip_norm, or keep standardise=True"
                )
            members.append(Member(job.spec.model, prepared.members[group], best.weights))
            histories.append(
                {"loss": best.history[:, 0], "validation_loss": best.history[:, 1]}
                if job.spec.stop_rows
                else {"loss": best.history[:, 0]}
            )
        scaling, side = prepared.scaling, prepared.side
        self.fitted_ = Fitted(tuple(members), scaling, settings.monotone, settings.parametric, side)
        self.history_ = histories[0] if settings.joint and len(histories) == 1 else histories
        self.n_iter_ = max(len(history["loss"]) for history in histories)
        return self

    def _pack(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        fitted = self.fitted_
        arrays = {"x_center": fitted.scaling.x_center, "x_scale": fitted.scaling.x_scale}
        for index, member in enumerate(fitted.members):
            for name, array in split(member.spec, member.weights).items():
                arrays[f"member{index}.{name}"] = array
        config = {
            "levels": [list(member.levels) for member in fitted.members],
            "y_center": float(fitted.scaling.y_center),
            "y_scale": float(fitted.scaling.y_scale),
            "epochs": int(self.n_iter_),
            "side": fitted.side,
        }
        if "ipcw_" in self.__dict__:
            config["ipcw"] = asdict(self.ipcw_)
        return config, arrays

    def _unpack(self, config: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
        if config["side"] not in get_args(Side):
            raise ValueError(f"unknown side {config['side']!r}")
        settings = replace(self._settings(), side=config["side"])
        if settings.auto_hidden:
            settings = replace(settings, network=replace(settings.network, hidden=_layer_sizes(arrays)))
        columns = config["columns"]
        members = []
        for index, levels in enumerate(config["levels"]):
            spec = model_spec(settings, columns, tuple(levels))
            plan = layout(spec)
            found = [arrays.pop(f"member{index}.{name}") for name in plan.names]
            fitting = [array.shape == shape for array, shape in zip(found, plan.shapes)]
            if not all(fitting) or any(array.dtype != np.float32 for array in found):
                raise ValueError("the shapes of the weights do not match the parameters")
            members.append(Member(spec, tuple(levels), np.concatenate([array.ravel() for array in found])))
        units = arrays.pop("x_center"), arrays.pop("x_scale")
        if any(array.shape != (columns,) or array.dtype != np.float64 for array in units):
            raise ValueError("the units of the columns do not match the parameters")
        scaling = Scaling(*units, config["y_center"], config["y_scale"])
        self.fitted_ = Fitted(tuple(members), scaling, settings.monotone, settings.parametric, settings.side)
        self.n_iter_ = config["epochs"]
        if "ipcw" in config:
            from unmet.estimators._inverse_weights import InverseWeights

            self.ipcw_ = InverseWeights(**config["ipcw"])

    def to_onnx(self, path: Any) -> None:
        """Write the fitted network to an ONNX file, which other programs run without Python or JAX.

        The graph has the input `X`, float64 of shape (rows, columns), and the output `quantiles`, float64 of
        shape (rows, K): the levels of the parameter `quantiles`, also in the file's metadata as `levels`.
        Standardisation, averaging of networks, units and positive=True are part of it. Values equal those of
        `predict_quantiles` up to rounding in float32. Needs the extra `onnx` (`pip install "unmet[onnx]"`).
        """
        from unmet.estimators._onnx import to_onnx_bytes
        from unmet.runs import write_bytes

        fitted = self._fitted()
        if (known := self.__dict__.get("categories_")) is not None:
            raise ValueError(
                f"an ONNX file takes numbers: fit to the columns {', '.join(known.columns)} as numbers "
                "instead of categories, for instance by scikit-learn's OneHotEncoder"
            )
        write_bytes(path, to_onnx_bytes(fitted, check_quantiles(self.quantiles), bool(self.positive)))

    @property
    def coef_(self) -> Floats:
        """Slopes of a linear network with head="free", in the user's units, shape (K, columns)."""
        return self._linear()[0]

    @property
    def intercept_(self) -> Floats:
        """Intercepts of a linear network with head="free", shape (K,)."""
        return self._linear()[1]

    def _linear(self) -> tuple[Floats, Floats]:
        fitted = self._fitted()
        spec = fitted.members[0].spec
        if spec.network.kind != "linear" or spec.head != "free":
            raise AttributeError("coef_ and intercept_ exist only for network='linear' with head='free'")
        parts = [split(spec, member.weights) for member in fitted.members]
        weight = np.concatenate([part["body.layers[0].weight"] for part in parts]).astype(np.float64)
        scaling = fitted.scaling
        slopes = weight[:, : self._width] * (scaling.y_scale / scaling.x_scale)
        bias = np.zeros(len(weight))
        if spec.intercept:
            bias = np.concatenate([part["body.layers[0].bias"] for part in parts]).astype(np.float64)
        bias = scaling.y_center + scaling.y_scale * bias - slopes @ scaling.x_center
        if fitted.side == "left":
            slopes, bias = -slopes[::-1], -bias[::-1]
        asked = [fitted.levels.index(level) for level in check_quantiles(self.quantiles)]
        return slopes[asked], bias[asked]  # the fit may include a grid of other levels


def _layer_sizes(arrays: Mapping[str, np.ndarray]) -> tuple[int, ...]:
    """Return the sizes of the hidden layers of a saved MLP, whose last layer is its output."""
    sizes: list[int] = []
    while (weight := arrays.get(f"member0.body.layers[{len(sizes)}].weight")) is not None:
        sizes.append(weight.shape[0] if weight.ndim else 0)
    return check_hidden(sizes[:-1])
