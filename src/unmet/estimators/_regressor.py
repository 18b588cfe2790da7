"""Censored quantile regression: linear, neural or recurrent, many quantiles at once."""

from dataclasses import dataclass, replace
from typing import get_args

from unmet.estimators._choices import CensoringModel, HeadName, LossName
from unmet.estimators._network import NetworkRegressor
from unmet.estimators._settings import Settings, check_choice, check_head, check_number, check_switch
from unmet.networks import LocationScale


@dataclass(kw_only=True, eq=False, repr=False)
class CensoredQuantileRegressor(NetworkRegressor):
    """Predict quantiles of a latent target that is observed only up to a cap.

    For right censoring, `fit` minimises the mean over rows i and levels k of ρ_θk(y_i − min(cap_i, q̂_ik)),
    where ρ_θ(r) = max(θ r, (θ−1) r). Without censoring this is plain quantile regression. With `censored=`
    alone the thresholds are unknown, and Portnoy's weights over the quantile grid replace them. With a known
    floor and cap the loss is ρ_θ(y − min(cap, max(floor, q̂))). With `lower=` and `upper=` on both sides, the
    mass of a row is spread between its bounds as the current quantiles say (self-consistency, in Turnbull's
    manner).

    Assumes that where a row is cut off is independent of its latent value given X; with `threshold=` it is
    enough that the fitted quantiles do not move with the threshold. A quantile that lies beyond the caps near
    x is known only through the network and its head: "location-scale" says that noise has the same shape
    everywhere, up to its spread.

    Cost: about 2,000 steps, each over a batch of rows, and at least 10 passes over all, but at most 10,000
    steps of a default linear fit (see `max_epochs`); an MLP or a kernel stops by itself. The default takes
    about a second for 1,000 rows of 3 columns, and 4 for a million of 20, on one core once its program is
    compiled, which takes seconds for each new shape.

    Parameters
    ----------
    **What to predict**

    quantiles : sequence of float
        Levels to predict: increasing, each between 0 and 1.
    side : {"right", "left", "both"}
        "right" if large values are cut off, "left" if small ones are, "both" for a known floor and cap. With
        `lower` and `upper` in `fit` it follows from them.
    positive : bool
        The latent value is never below zero: quantiles, intervals, draws and completed values below zero
        become zero. max(q, 0) is the quantile of max(y, 0), so nothing else changes, and no quantile moves
        away from the truth. It needs no logarithm, so that zeros may be among y. `fit` refuses negative y.

    **Which model**

    network : {"linear", "mlp", "kernel", "lstm", "graph", "grid"} or callable
        "kernel" is a ridge over 128 cosines and sines, close to a support vector machine with a Gaussian
        kernel, whose bandwidths are learnt; see `unmet.networks.Kernel`. For smooth curves in few columns.
        "graph" and "grid" also read what happened around the place of a row; see `neighbours`.
        A callable `f(columns, outputs, key)` returns an Equinox module that maps one row to the outputs.
    head : {"location-scale", "monotone", "free"} or LocationScale
        How outputs become quantiles. Only the quantiles of "free" can cross. See
        `unmet.networks.LocationScale`.
    joint : bool
        True trains one network for all quantiles. False trains one per quantile and needs head="free".
    hidden : sequence of int or "auto"
        Sizes of the hidden layers of an MLP; of a graph or grid network, those after its core. "auto" is
        (64, 64), and (32, 32, 32) for an MLP that stops by itself (see `patience`) on up to 4,096 rows.
    units : int
        Size of the state of an LSTM; of a graph network, also its kernels; of a grid network, its filters.
    sequence : (steps, features), optional
        For an LSTM: the leading steps × features columns of X are the sequence, oldest first; the other
        columns are static. By default all columns are the sequence, one feature per step. A graph or grid
        network needs it.
    neighbours : (number, attributes), optional
        For a graph or grid network, which need it. After the sequence X holds the series of each neighbour
        (number × steps columns), then what tells neighbours apart, such as distance and direction (number ×
        attributes), then the static columns. Neighbours of a grid network are a square of cells with an odd
        side, row by row.
    activation : {"relu", "tanh", "softplus", "linear"}, optional
        By default "relu" for an MLP and "tanh" for an LSTM.
    dropout : float
        Dropout rate on the inputs.
    fit_intercept : bool
        Learn an intercept.

    **What to minimise**

    loss : {"censored", "published", "ipcw"}
        "published" caps only the censored rows and takes the others as exact, as behind the paper's figures.
        It is simple, and convex for linear models, but inconsistent. The location–scale
        head then has no likelihood term, which would correct it. "ipcw" is the plain loss of the uncensored
        rows, weighted by δ/Ĝ(y−), the inverse of their chance to be seen. It needs the point of censoring to
        be independent of the latent value given X (of X too, with censoring="kaplan-meier"), and a chance to
        be seen everywhere: it is wrong where stock reacts to demand, or where every value beyond a cap is
        hidden. Chances below 0.05 count as 0.05; `ipcw_` reports how many, and `fit` warns.
    censoring : {"kaplan-meier", "forest"} or None
        For loss="ipcw": the estimate of Ĝ, the same for all rows (None means this) or by the neighbours of
        each row.
    smoothing : float
        Width of the Huber smoothing of the loss, in standard deviations of y if standardised. 0 for none.
    l2 : float or "auto"
        Penalty on squared weights. Biases are not penalised. "auto" is 0 unless the head is location–scale;
        then it is half the number of columns per row for a linear network, 0.001 for an MLP, on up to 4,096
        rows 3 / rows but at most 0.003, and 0.0001 for a kernel.

    **How to train**

    learning_rate : float or "auto"
        Adam's learning rate. "auto" is 0.05 for linear networks and for the layers (32, 32, 32), and 0.02
        for others.
    schedule : {"constant", "cosine"}
        "cosine" lowers the rate to zero over max_epochs, with every step.
    max_epochs : int, optional
        By default about 2,000 gradient steps and at least 10 epochs. On automatic mini-batches a linear
        network with the location–scale head takes 3,000 steps on up to 16,384 rows and at most 10,000.
    patience : int, "auto" or None
        Stop after this many epochs without improvement on the validation rows, and keep the best epoch. None
        trains on all rows for max_epochs. "auto" is None for linear networks, for heads other than
        location–scale, and if max_epochs is given. Otherwise an MLP or a kernel is five networks, each of
        which keeps its best epoch on a fifth of the rows that only it did not see, and their quantiles are
        averaged (with the layers (32, 32, 32) seven networks and a seventh); larger problems and other
        networks are one network that keeps its best epoch on validation_fraction of the rows. If `fit` gets
        `validation` and patience is no number, training runs to max_epochs without those rows and keeps the
        best epoch on them.
    validation_fraction : float
        Share of rows to hold out for patience if `fit` gets no `validation`.
    batch_size : int, None or "auto"
        Rows per gradient step. None uses all rows. "auto" uses all up to 16,384 rows and 2,048 beyond; for a
        linear network with the location–scale head all up to 4,096.
    clip_norm : float, optional
        Largest norm of a gradient. None for no limit.
    n_restarts : int
        Train from this many starts and keep the one with the lowest loss.
    initialiser : {"neutral", "ones", "normal", "glorot"}
        Starting weights. "neutral" starts at the mean and standard deviation of the observed values.
    standardise : bool
        Standardise X and y internally.
    warm_start : bool
        True lets `fit` go on from the weights and the standardisation of the fit before, if there is one,
        with a new run of the learning rate's schedule. Network, head, quantiles and columns must be the same.

    **Housekeeping**

    random_state : int, RandomState or None
    progress : bool, optional
        Show a progress bar. By default only in a terminal, when training takes long.

    Attributes
    ----------
    history_ : dict of arrays, or a list of them if several networks were trained
        "loss" per epoch, and "validation_loss" if rows were held out.
    n_iter_ : int
        Epochs trained.
    ipcw_ : InverseWeights
        With loss="ipcw": rows used, largest weight, share of truncated weights.
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

    References
    ----------
    Powell (1986), Censored regression quantiles, J. Econometrics 32: known caps. Portnoy (2003), Censored
    regression quantiles, J. Am. Stat. Assoc. 98: flags. Turnbull (1976), J. R. Stat. Soc. B 38: bounds.
    Robins & Rotnitzky (1992), Recovery of information and adjustment for dependent censoring, in AIDS
    Epidemiology: loss="ipcw".

    Examples
    --------
    >>> from unmet import CensoredQuantileRegressor, datasets
    >>> data = datasets.make_synthetic("gaussian")
    >>> model = CensoredQuantileRegressor(side="left", random_state=0)
    >>> model.fit(data.X, data.y, threshold=data.threshold).predict_quantiles(data.X).shape
    (1000, 3)
    """

    # which model
    head: HeadName | LocationScale = "location-scale"
    joint: bool = True
    # what to minimise
    loss: LossName = "censored"
    censoring: CensoringModel | None = None
    smoothing: float = 0.0

    def _settings(self) -> Settings:
        head = check_head(self.head)
        check_choice("loss", self.loss, get_args(LossName))
        if self.censoring is not None:
            check_choice("censoring", self.censoring, get_args(CensoringModel))
            if self.loss != "ipcw":
                raise ValueError(f"censoring is for loss='ipcw' only; loss is {self.loss!r}: leave it out")
        check_number("smoothing", self.smoothing, 0)
        joint = check_switch("joint", self.joint)
        if not joint and head != "free":
            raise ValueError(
                f"joint=False trains a network per quantile and needs head='free', not {self.head!r}"
            )
        settings = self._checked(
            {"l2": 0.0, "patience": None},
            head=head,
            joint=joint,
            loss=self.loss,
            censoring=self.censoring or "kaplan-meier",
            smoothing=float(self.smoothing),
        )
        if not isinstance(head, LocationScale):
            return settings
        stops = self.patience == "auto" and settings.network.kind != "linear" and self.max_epochs is None
        return replace(
            settings,
            auto_l2=self.l2 == "auto",
            auto_stop=stops,
            auto_hidden=settings.network.kind == "mlp" and isinstance(self.hidden, str),
            auto_rate=self.learning_rate == "auto",
        )
