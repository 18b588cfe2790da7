"""Checked settings of a fit, from the parameters of an estimator."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import isfinite, isqrt
from numbers import Integral, Real
from typing import Any, get_args

import numpy as np

from unmet.censoring import Side
from unmet.estimators._choices import HeadName, NetworkName, Schedule
from unmet.networks import (
    Activation,
    Initialiser,
    LocationScale,
    NetworkSpec,
    Remembered,
    TobitShape,
    remember_hash,
)

# No network is wider and no fit longer than this; larger numbers are slips that would exhaust memory.
_MOST_UNITS, _MOST_EPOCHS, MOST_STARTS = 65_536, 10**9, 100_000
# Frequencies of network="kernel": each is a cosine and a sine.
_FREQUENCIES = 128
# hidden="auto", unless rows are few.
_HIDDEN = (64, 64)
# learning_rate="auto": linear networks stand a higher rate.
_RATE, _LINEAR_RATE = 0.02, 0.05


@remember_hash
@dataclass(frozen=True)
class Settings(Remembered):
    """Checked parameters of an estimator. Equal settings train in the same programs."""

    quantiles: tuple[float, ...]
    side: Side
    network: NetworkSpec
    head: str | LocationScale | TobitShape
    joint: bool = True
    loss: str = "censored"
    censoring: str = "kaplan-meier"
    smoothing: float = 0.0
    learning_rate: float = 0.02
    schedule: str = "cosine"
    max_epochs: int | None = None
    patience: int | None = None
    validation_fraction: float = 0.2
    batch_size: int | str | None = "auto"
    l2: float = 0.0
    clip_norm: float = float("inf")
    n_restarts: int = 1
    initialiser: str = "neutral"
    standardise: bool = True
    intercept: bool = True
    fixed_scale: float | None = None
    auto_l2: bool = False  # the penalty follows from rows and columns
    auto_stop: bool = False  # networks stop on rows they did not see
    auto_hidden: bool = False  # the layers of an MLP follow from the rows
    auto_rate: bool = False

    @property
    def parametric(self) -> bool:
        """Whether the fitted model is a distribution, which has a quantile at every level."""
        return isinstance(self.head, TobitShape)

    @property
    def monotone(self) -> bool:
        """Whether the fitted quantiles cannot cross."""
        return self.head != "free"


def check_choice(name: str, value: Any, choices: Sequence[str]) -> None:
    if not isinstance(value, str) or value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, choices))}, not {value!r}")


def check_switch(name: str, value: Any) -> bool:
    if not isinstance(value, (bool, np.bool_)):
        raise ValueError(f"{name} must be True or False, not {value!r}")
    return bool(value)


def check_coverage(coverage: Any) -> None:
    if not 0 < coverage < 1:
        raise ValueError(f"coverage must lie strictly between 0 and 1, not {coverage!r}")


def check_number(
    name: str,
    value: Any,
    least: float,
    most: float = float("inf"),
    *,
    open_: bool = False,
    whole: bool = False,
) -> None:
    kind = Integral if whole else Real
    fits = isinstance(value, kind) and not isinstance(value, bool) and isfinite(value)
    if not fits or not (least < value if open_ else least <= value) or not value <= most:
        what = "a whole number" if whole else "a number"
        bound = f"above {least:g}" if open_ else f"of at least {least:g}"
        top = f" and at most {most:g}" if most < float("inf") else ""
        raise ValueError(f"{name} must be {what} {bound}{top}, not {value!r}")


def check_quantiles(quantiles: Any, name: str = "quantiles") -> tuple[float, ...]:
    """Return the levels as a tuple, or raise unless they increase strictly inside (0, 1)."""
    try:
        levels = tuple(float(level) for level in quantiles)
    except (TypeError, ValueError):
        raise ValueError(
            f"{name} must be a sequence of numbers such as (0.05, 0.5, 0.95), not {quantiles!r}"
        ) from None
    if not levels:
        raise ValueError(f"{name} must hold at least one level, such as (0.5,)")
    if not all(0 < level < 1 for level in levels):
        raise ValueError(f"{name} must lie strictly between 0 and 1, not {levels}")
    if any(later <= earlier for earlier, later in pairwise(levels)):
        raise ValueError(f"{name} must increase, each level once: sort them; got {levels}")
    return levels


def check_head(head: Any) -> str | LocationScale:
    if isinstance(head, LocationScale):
        return head
    check_choice("head", head, get_args(HeadName))
    return LocationScale() if head == "location-scale" else head


def check_network(
    network: Any,
    hidden: Any,
    units: Any,
    activation: str | None,
    dropout: float,
    sequence: Any,
    neighbours: Any = None,
) -> NetworkSpec:
    """Return the spec of the network. Its sequence is completed when the number of columns is known."""
    sizes = check_hidden(hidden)
    check_number("units", units, 1, _MOST_UNITS, whole=True)
    check_number("dropout", dropout, 0, 0.99)
    if activation is not None:
        check_choice("activation", activation, get_args(Activation))
    if callable(network):
        if dropout or activation is not None:
            raise ValueError("dropout and activation do not apply to a custom network: build them into it")
        return NetworkSpec("custom", builder=network)
    check_choice("network", network, get_args(NetworkName))
    around = network in ("graph", "grid")
    if sequence is not None and network != "lstm" and not around:
        raise ValueError(f"sequence is for network='lstm', 'graph' and 'grid' only; network is {network!r}")
    if (neighbours is not None) != around:
        raise ValueError(
            "neighbours=(number, attributes) is for network='graph' and 'grid', which need it; network is "
            f"{network!r} and neighbours is {neighbours!r}"
        )
    if network in ("linear", "kernel"):
        if activation is not None:
            raise ValueError(f"activation is for network='mlp' and 'lstm'; network='{network}' has none")
        units = _FREQUENCIES if network == "kernel" else 0
        return NetworkSpec(network, units=units, dropout=float(dropout))
    if network == "mlp":
        return NetworkSpec("mlp", hidden=sizes, activation=activation or "relu", dropout=float(dropout))
    shape = (0, 0) if sequence is None else _pair("sequence", sequence, "(steps, features)")
    if around:
        if sequence is None:
            raise ValueError(f"network={network!r} needs sequence=(steps, features)")
        count = _pair("neighbours", neighbours, "(number, attributes)")
        if network == "grid" and (isqrt(count[0]) ** 2 != count[0] or count[0] % 2 == 0 or count[0] < 9):
            raise ValueError(
                "neighbours of network='grid' are a square of cells with an odd side, such as 25, not "
                f"{count[0]}"
            )
        return NetworkSpec(
            network,
            hidden=sizes,
            units=int(units),
            activation=activation or ("tanh" if network == "graph" else "relu"),
            dropout=float(dropout),
            sequence=shape,
            neighbours=count,
        )
    squash = activation or "tanh"
    return NetworkSpec("lstm", units=int(units), activation=squash, dropout=float(dropout), sequence=shape)


def check_hidden(hidden: Any) -> tuple[int, ...]:
    """Return the sizes of hidden layers; for "auto", those of many rows."""
    if isinstance(hidden, str) and hidden == "auto":
        return _HIDDEN
    sizes = tuple(hidden) if isinstance(hidden, Sequence) and not isinstance(hidden, str) else (hidden,)
    for size in sizes:
        check_number("hidden", size, 1, _MOST_UNITS, whole=True)
    return sizes


def _pair(name: str, value: Any, what: str) -> tuple[int, int]:
    if not isinstance(value, Sequence) or isinstance(value, str) or len(value) != 2:
        raise ValueError(f"{name} must be a pair {what}, not {value!r}")
    for one in value:
        check_number(name, one, 1, whole=True)
    return int(value[0]), int(value[1])


def check_training(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return the checked training parameters under the names of `Settings`."""
    p = parameters
    check_choice("side", p["side"], get_args(Side))
    if p["learning_rate"] != "auto":
        check_number("learning_rate", p["learning_rate"], 0, open_=True)
    check_choice("schedule", p["schedule"], get_args(Schedule))
    for name in ("max_epochs", "patience"):
        if p[name] is not None:
            check_number(name, p[name], 1, _MOST_EPOCHS, whole=True)
    check_number("validation_fraction", p["validation_fraction"], 0, 0.9, open_=True)
    if p["batch_size"] is not None and p["batch_size"] != "auto":
        check_number("batch_size", p["batch_size"], 1, _MOST_EPOCHS, whole=True)
    check_number("l2", p["l2"], 0)
    if p["clip_norm"] is not None:
        check_number("clip_norm", p["clip_norm"], 0, open_=True)
    check_number("n_restarts", p["n_restarts"], 1, MOST_STARTS, whole=True)
    if p["progress"] is not None:
        check_switch("progress", p["progress"])
    check_switch("warm_start", p["warm_start"])
    check_choice("initialiser", p["initialiser"], get_args(Initialiser))
    as_given = "side learning_rate schedule max_epochs patience validation_fraction batch_size l2"
    checked = {name: p[name] for name in (*as_given.split(), "n_restarts", "initialiser")}
    if p["learning_rate"] == "auto":
        checked["learning_rate"] = _LINEAR_RATE if p.get("network") == "linear" else _RATE
    checked["clip_norm"] = float("inf") if p["clip_norm"] is None else float(p["clip_norm"])
    if isinstance(p["batch_size"], Integral):
        checked["batch_size"] = int(p["batch_size"])  # may be a NumPy integer
    checked["standardise"] = check_switch("standardise", p["standardise"])
    checked["intercept"] = check_switch("fit_intercept", p["fit_intercept"])
    return checked
