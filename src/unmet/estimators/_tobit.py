"""Tobit regression: a normal or sinh-arcsinh latent target, observed only up to a cap."""

from collections.abc import Callable, Sequence
from typing import Any, get_args

from unmet.censoring import Side
from unmet.estimators._base import CensoredRegressor
from unmet.estimators._choices import Auto, NetworkName, Schedule, TobitScale, TobitShapeName
from unmet.estimators._settings import (
    Settings,
    check_choice,
    check_network,
    check_number,
    check_quantiles,
    check_training,
)
from unmet.networks import SMALLEST_SCALE, Activation, Initialiser, TobitShape, split


class TobitRegressor(CensoredRegressor):
    """Predict a latent target with location μ(x), scale σ and a normal shape, observed only up to a cap.

    `fit` minimises the mean of −log φ(z) + log σ over uncensored rows and −log(1 − Φ(z)) over right-censored
    ones (−log Φ(z) over left-censored ones), where z = (y − μ(x)) / σ. A row is censored if it is flagged, or
    if y has reached its threshold. The fitted distribution gives a quantile at every level.

    Parameters
    ----------
    **What to predict**

    quantiles : sequence of float
        Levels that `predict_quantiles` returns by default: increasing, each between 0 and 1.
    side : {"right", "left"}
        "right" if large values are cut off, "left" if small ones are.

    **Which model**

    scale : {"constant", "network"} or float
        σ is one learned number ("constant"), a second output of the network ("network"), or the given number.
    shape : {"normal", "sinh-arcsinh"}
        "sinh-arcsinh" also learns skewness and weight of the tails (Jones & Pewsey).
    network : {"linear", "mlp", "lstm"} or callable
        Network that predicts μ(x).
    hidden, units, sequence, activation, dropout, fit_intercept
        As in `CensoredQuantileRegressor`.

    **What to minimise**

    l2 : float
        Penalty on squared weights. Biases are not penalised.

    **How to train**

    learning_rate, schedule, max_epochs, patience, validation_fraction, batch_size
        As in `CensoredQuantileRegressor`, but the learning rate is a number.
    clip_norm, n_restarts, initialiser, standardise
        As in `CensoredQuantileRegressor`.

    **Housekeeping**

    random_state, progress
        As in `CensoredQuantileRegressor`.

    Attributes
    ----------
    scale_ : float
        σ in the units of y, if it is the same for all rows.
    history_, n_iter_
        As in `CensoredQuantileRegressor`.

    Examples
    --------
    >>> from unmet import TobitRegressor, datasets
    >>> data = datasets.make_synthetic("gaussian")
    >>> model = TobitRegressor(side="left", random_state=0).fit(data.X, data.y, threshold=data.threshold)
    >>> model.predict_interval(data.X).shape
    (1000, 2)
    """

    def __init__(
        self,
        *,
        # what to predict
        quantiles: Sequence[float] = (0.05, 0.5, 0.95),
        side: Side = "right",
        # which model
        scale: TobitScale | float = "constant",
        shape: TobitShapeName = "normal",
        network: NetworkName | Callable[..., Any] = "linear",
        hidden: Sequence[int] = (64, 64),
        units: int = 32,
        sequence: tuple[int, int] | None = None,
        activation: Activation | None = None,
        dropout: float = 0.0,
        fit_intercept: bool = True,
        # what to minimise
        l2: float = 0.0,
        # how to train
        learning_rate: float = 0.02,
        schedule: Schedule = "cosine",
        max_epochs: int | None = None,
        patience: int | None = None,
        validation_fraction: float = 0.2,
        batch_size: int | Auto | None = "auto",
        clip_norm: float | None = 1.0,
        n_restarts: int = 1,
        initialiser: Initialiser = "neutral",
        standardise: bool = True,
        # housekeeping
        random_state: Any = None,
        progress: bool | None = None,
    ) -> None:
        self.quantiles = quantiles
        self.side = side
        self.scale = scale
        self.shape = shape
        self.network = network
        self.hidden = hidden
        self.units = units
        self.sequence = sequence
        self.activation = activation
        self.dropout = dropout
        self.fit_intercept = fit_intercept
        self.l2 = l2
        self.learning_rate = learning_rate
        self.schedule = schedule
        self.max_epochs = max_epochs
        self.patience = patience
        self.validation_fraction = validation_fraction
        self.batch_size = batch_size
        self.clip_norm = clip_norm
        self.n_restarts = n_restarts
        self.initialiser = initialiser
        self.standardise = standardise
        self.random_state = random_state
        self.progress = progress

    def _settings(self) -> Settings:
        check_choice("shape", self.shape, get_args(TobitShapeName))
        kind, given = "fixed", None
        if isinstance(self.scale, str):
            check_choice("scale", self.scale, get_args(TobitScale))
            kind = self.scale
        else:
            check_number("scale", self.scale, 0, open_=True)
            given = float(self.scale)
        return Settings(
            quantiles=check_quantiles(self.quantiles),
            network=check_network(
                self.network, self.hidden, self.units, self.activation, self.dropout, self.sequence
            ),
            head=TobitShape(kind, self.shape == "sinh-arcsinh"),
            fixed_scale=given,
            **check_training(vars(self)),
        )

    @property
    def scale_(self) -> float:
        """The scale σ in the units of y, if it is the same for all rows."""
        from jax.nn import softplus

        member = self._fitted().members[0]
        if not isinstance(member.spec.head, TobitShape) or member.spec.head.scale == "network":
            raise AttributeError(
                "scale_ exists only if all rows share one scale: use predict_quantiles instead"
            )
        raw = split(member.spec, member.weights)["head.raw_scale"]
        fixed = member.spec.head.scale == "fixed"
        inner = float(raw[0]) if fixed else float(softplus(raw[0])) + SMALLEST_SCALE
        return inner * (self._fitted().scaling.y_scale or 1.0)
