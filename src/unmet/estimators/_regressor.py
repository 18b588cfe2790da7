"""Censored quantile regression: linear, neural or recurrent, many quantiles at once."""

from collections.abc import Callable, Sequence
from typing import Any, get_args

from unmet.censoring import Side
from unmet.estimators._base import CensoredRegressor
from unmet.estimators._choices import Auto, HeadName, LossName, NetworkName, Schedule
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
from unmet.networks import Activation, Initialiser, LocationScale


class CensoredQuantileRegressor(CensoredRegressor):
    """Predict quantiles of a latent target that is observed only up to a cap.

    For right censoring, `fit` minimises the mean over rows i and levels k of ρ_θk(y_i − min(cap_i, q̂_ik)),
    where ρ_θ(r) = max(θ r, (θ−1) r). Without censoring this is plain quantile regression. With `censored=`
    alone the thresholds are unknown, and Portnoy's weights over the quantile grid replace them.

    Parameters
    ----------
    **What to predict**

    quantiles : sequence of float
        Levels to predict: increasing, each between 0 and 1.
    side : {"right", "left"}
        "right" if large values are cut off, "left" if small ones are.

    **Which model**

    network : {"linear", "mlp", "lstm"} or callable
        A callable `f(columns, outputs, key)` returns an Equinox module that maps one row to the outputs.
    head : {"location-scale", "monotone", "free"} or LocationScale
        How outputs become quantiles. Only the quantiles of "free" can cross. See
        `unmet.networks.LocationScale`.
    joint : bool
        True trains one network for all quantiles. False trains one per quantile and needs head="free".
    hidden : sequence of int
        Sizes of the hidden layers of an MLP.
    units : int
        Size of the state of an LSTM.
    sequence : (steps, features), optional
        For an LSTM: the leading steps × features columns of X are the sequence, oldest first; the other
        columns are static. By default all columns are the sequence, one feature per step.
    activation : {"relu", "tanh", "softplus", "linear"}, optional
        By default "relu" for an MLP and "tanh" for an LSTM.
    dropout : float
        Dropout rate on the inputs.
    fit_intercept : bool
        Learn an intercept.

    **What to minimise**

    loss : {"censored", "published"}
        "published" caps only the censored rows and takes the others as exact, as behind the paper's figures.
        It is simple, and convex for linear models, but inconsistent. The location–scale
        head then has no likelihood term, which would correct it.
    smoothing : float
        Width of the Huber smoothing of the loss, in standard deviations of y if standardised. 0 for none.
    l2 : float
        Penalty on squared weights. Biases are not penalised.

    **How to train**

    learning_rate : float or "auto"
        Adam's learning rate. "auto" is 0.05 for linear networks and 0.02 for others.
    schedule : {"constant", "cosine"}
        "cosine" lowers the rate to zero over max_epochs.
    max_epochs : int, optional
        By default about 2,000 gradient steps.
    patience : int, optional
        Stop after this many epochs without improvement on the validation rows, and keep the best epoch. By
        default all rows train for max_epochs. If `fit` gets `validation` and patience is None, training runs
        to max_epochs without those rows and keeps the best epoch on them.
    validation_fraction : float
        Share of rows to hold out for patience if `fit` gets no `validation`.
    batch_size : int, None or "auto"
        Rows per gradient step. None uses all rows. "auto" uses all up to 16,384 rows and 2,048 beyond.
    clip_norm : float, optional
        Largest norm of a gradient. None for no limit.
    n_restarts : int
        Train from this many starts and keep the one with the lowest loss.
    initialiser : {"neutral", "ones", "normal", "glorot"}
        Starting weights. "neutral" starts at the mean and standard deviation of the observed values.
    standardise : bool
        Standardise X and y internally.

    **Housekeeping**

    random_state : int, RandomState or None
    progress : bool, optional
        Show a progress bar. By default only in a terminal, when training takes long.

    Attributes
    ----------
    history_ : dict of arrays, or a list of them with joint=False
        "loss" per epoch, and "validation_loss" if rows were held out.
    n_iter_ : int
        Epochs trained.
    coef_, intercept_ : arrays
        For network="linear" with head="free" only.

    Notes
    -----
    The paper's models are settings of this class:

    ================  =========================================================================
    QNN               head="free", joint=False, and neither threshold nor censored in `fit`
    Multi-QNN         head="free", and neither threshold nor censored in `fit`
    CQNN              head="free", joint=False, with threshold or censored in `fit`
    Multi-CQNN        head="free", with threshold or censored in `fit`
    … + LSTM          the same with network="lstm"
    ================  =========================================================================

    To train them as the paper does, set learning_rate=0.01, schedule="constant", patience=10, l2=0.001 and
    loss="published".

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
        # what to predict
        quantiles: Sequence[float] = (0.05, 0.5, 0.95),
        side: Side = "right",
        # which model
        network: NetworkName | Callable[..., Any] = "linear",
        head: HeadName | LocationScale = "location-scale",
        joint: bool = True,
        hidden: Sequence[int] = (64, 64),
        units: int = 32,
        sequence: tuple[int, int] | None = None,
        activation: Activation | None = None,
        dropout: float = 0.0,
        fit_intercept: bool = True,
        # what to minimise
        loss: LossName = "censored",
        smoothing: float = 0.0,
        l2: float = 0.0,
        # how to train
        learning_rate: float | Auto = "auto",
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
        self.network = network
        self.head = head
        self.joint = joint
        self.hidden = hidden
        self.units = units
        self.sequence = sequence
        self.activation = activation
        self.dropout = dropout
        self.fit_intercept = fit_intercept
        self.loss = loss
        self.smoothing = smoothing
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
        head = check_head(self.head)
        check_choice("loss", self.loss, get_args(LossName))
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
