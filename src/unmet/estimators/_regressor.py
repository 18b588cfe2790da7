"""Censored quantile regression: linear, neural or recurrent, many quantiles at once."""

from collections.abc import Callable, Sequence
from typing import Any

from unmet.estimators._base import CensoredRegressor
from unmet.estimators._settings import (
    Settings,
    check_choice,
    check_head,
    check_network,
    check_number,
    check_quantiles,
    check_switch,
    check_training,
)


class CensoredQuantileRegressor(CensoredRegressor):
    """Quantiles of a latent target that is observed only up to a cap.

    For right censoring it minimises the mean over rows i and levels k of ρ_θk(y_i − min(cap_i, q̂_ik)), where
    ρ_θ(r) = max(θ r, (θ−1) r); without censoring this is plain quantile regression. With `censored=` alone,
    Portnoy's weights over the quantile grid take the place of the unknown thresholds.

    The paper's models are settings of this class:

    ================  =========================================================================
    QNN               head="free", joint=False, and neither threshold nor censored in `fit`
    Multi-QNN         head="free", and neither threshold nor censored in `fit`
    CQNN              head="free", joint=False, with threshold or censored in `fit`
    Multi-CQNN        head="free", with threshold or censored in `fit`
    … + LSTM          the same with network="lstm"
    ================  =========================================================================

    with learning_rate=0.01, schedule="constant", patience=10, l2=0.001, loss="published" to follow the paper.

    Parameters
    ----------
    quantiles : sequence of float
        Levels to predict, increasing, each inside (0, 1).
    side : {"right", "left"}
        Whether large or small values are cut off.
    network : {"linear", "mlp", "lstm"} or callable
        A callable `f(columns, outputs, key)` returns an Equinox module that maps one row to the outputs.
    head : {"location-scale", "monotone", "free"} or LocationScale
        How outputs become quantiles. The first two cannot cross. See `unmet.networks.LocationScale`.
    joint : bool
        One network for all quantiles; False: an independent network per quantile (needs head="free").
    loss : {"censored", "published"}
        "published": caps apply to censored rows only and other rows count as exact, the variant behind the
        paper's figures. Simple, convex for linear models, but inconsistent. The location–scale head then has
        no likelihood term, which would mend it.
    smoothing : float
        Width of the Huber smoothing of the loss, in standard deviations of y if standardised; 0: none.
    learning_rate, schedule : float or "auto", {"constant", "cosine"}
        Adam's rate ("auto": 0.05 for linear networks, 0.02 for others), and whether it falls to zero over
        max_epochs.
    max_epochs : int or None
        None: about 2,000 gradient steps.
    patience : int or None
        Stop after so many epochs without improvement on the validation rows and keep the best; None: train
        on all rows for max_epochs. With `validation=` and no patience, those rows are held out and the best
        epoch on them is kept.
    validation_fraction : float
        Share of rows held out for patience when `fit` gets no `validation`.
    batch_size : int, None or "auto"
        Rows per step. None: all. "auto": all up to 16,384 rows, then 2,048.
    l2, clip_norm : float, float or None
        Penalty on squared weights (not biases); largest norm of a gradient.
    n_restarts : int
        Train from several starts and keep the one with the lowest loss.
    initialiser : {"neutral", "ones", "normal", "glorot"}
        "neutral" starts at the mean and standard deviation of the observed values.
    standardise, fit_intercept : bool
        Standardise X and y inside; learn an intercept.
    hidden, units, activation, dropout, sequence
        Sizes of an MLP; units of an LSTM; "relu", "tanh", "softplus" or "linear"; dropout on the inputs;
        (steps, features): the leading columns of X are the sequence, oldest first, the rest static.
    progress : bool or None
        Show a progress bar; None: when a terminal is attached and it takes long.
    random_state : int, RandomState or None

    Attributes
    ----------
    history_ : dict of arrays, or a list of them with joint=False
        "loss" per epoch, and "validation_loss" where there are validation rows.
    n_iter_ : int
        Epochs trained.
    coef_, intercept_ : arrays
        For network="linear" with head="free".

    Examples
    --------
    >>> from unmet import CensoredQuantileRegressor, datasets
    >>> data = datasets.make_synthetic("gaussian")
    >>> model = CensoredQuantileRegressor(side="left", random_state=0)
    >>> model.fit(data.X, data.y, threshold=data.threshold).predict_quantiles(data.X).shape
    (1000, 3)
    """

    def __init__(
        self,
        *,
        quantiles: Sequence[float] = (0.05, 0.5, 0.95),
        side: str = "right",
        network: str | Callable[..., Any] = "linear",
        head: Any = "location-scale",
        joint: bool = True,
        loss: str = "censored",
        smoothing: float = 0.0,
        learning_rate: float | str = "auto",
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
        self.network = network
        self.head = head
        self.joint = joint
        self.loss = loss
        self.smoothing = smoothing
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
        head = check_head(self.head)
        check_choice("loss", self.loss, ("censored", "published"))
        check_number("smoothing", self.smoothing, 0)
        joint = check_switch("joint", self.joint)
        if not joint and head != "free":
            raise ValueError(
                f"joint=False trains a network per quantile and needs head='free', not {self.head!r}"
            )
        return Settings(
            quantiles=check_quantiles(self.quantiles),
            network=check_network(
                self.network, self.hidden, self.units, self.activation, self.dropout, self.sequence
            ),
            head=head,
            joint=joint,
            loss=self.loss,
            smoothing=float(self.smoothing),
            **check_training(vars(self)),
        )
