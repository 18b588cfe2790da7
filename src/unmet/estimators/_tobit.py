"""Tobit regression: a normal (or sinh-arcsinh) latent target behind a cap."""

from collections.abc import Callable, Sequence
from typing import Any

from unmet.estimators._base import CensoredRegressor
from unmet.estimators._settings import (
    Settings,
    check_choice,
    check_network,
    check_number,
    check_quantiles,
    check_training,
)
from unmet.networks import SMALLEST_SCALE, TobitShape, split


class TobitRegressor(CensoredRegressor):
    """A latent target with location μ(x), scale σ and a normal shape, observed only up to a cap.

    Minimises the mean of −log φ(z) + log σ over uncensored rows and −log(1 − Φ(z)) over right-censored ones
    (−log Φ(z) over left-censored ones), z = (y − μ(x)) / σ. A row is censored where it is flagged, or where y
    has reached its threshold.

    Parameters
    ----------
    scale : {"constant", "network"} or float
        σ is one learned number, a second output of the network, or given.
    shape : {"normal", "sinh-arcsinh"}
        The latter learns skewness and weight of the tails (Jones & Pewsey).

    All others mean what they mean in `CensoredQuantileRegressor`. Quantiles exist for every level.

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
        quantiles: Sequence[float] = (0.05, 0.5, 0.95),
        side: str = "right",
        scale: str | float = "constant",
        shape: str = "normal",
        network: str | Callable[..., Any] = "linear",
        learning_rate: float = 0.02,
        schedule: str = "cosine",
        max_epochs: int | None = None,
        patience: int | None = None,
        validation_fraction: float = 0.2,
        batch_size: int | str | None = "auto",
        l2: float = 0.0,
        clip_norm: float | None = 1.0,
        n_restarts: int = 1,
        initialiser: str = "neutral",
        standardise: bool = True,
        fit_intercept: bool = True,
        hidden: Sequence[int] = (64, 64),
        units: int = 32,
        activation: str | None = None,
        dropout: float = 0.0,
        sequence: tuple[int, int] | None = None,
        progress: bool | None = None,
        random_state: Any = None,
    ) -> None:
        self.quantiles = quantiles
        self.side = side
        self.scale = scale
        self.shape = shape
        self.network = network
        self.learning_rate = learning_rate
        self.schedule = schedule
        self.max_epochs = max_epochs
        self.patience = patience
        self.validation_fraction = validation_fraction
        self.batch_size = batch_size
        self.l2 = l2
        self.clip_norm = clip_norm
        self.n_restarts = n_restarts
        self.initialiser = initialiser
        self.standardise = standardise
        self.fit_intercept = fit_intercept
        self.hidden = hidden
        self.units = units
        self.activation = activation
        self.dropout = dropout
        self.sequence = sequence
        self.progress = progress
        self.random_state = random_state

    def _settings(self) -> Settings:
        check_choice("shape", self.shape, ("normal", "sinh-arcsinh"))
        given = None
        if isinstance(self.scale, str):
            check_choice("scale", self.scale, ("constant", "network"))
            kind = self.scale
        else:
            check_number("scale", self.scale, 0, open_=True)
            kind, given = "fixed", float(self.scale)
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
        """The one scale of scale="constant" or a given scale, in the user's units."""
        from jax.nn import softplus

        member = self._fitted().members[0]
        if not isinstance(member.spec.head, TobitShape) or member.spec.head.scale == "network":
            raise AttributeError("scale_ exists only with one scale for all rows; use predict_quantiles")
        raw = split(member.spec, member.weights)["head.raw_scale"]
        fixed = member.spec.head.scale == "fixed"
        inner = float(raw[0]) if fixed else float(softplus(raw[0])) + SMALLEST_SCALE
        return inner * (self._fitted().scaling.y_scale or 1.0)
