"""The fits of the protocol: one mask, or one station of counts, at a time."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np

from benchmarks.censored_gp.station import Floats, Stations, mask, simulate

SHARES = (0.3, 0.6)
STATION_SEEDS, MASKS = 5, 50  # ten masks on each of five simulated sets of stations
COUNT_STATIONS = 40
POINTS = 64  # inducing points of each output: half the default, for the sake of time
# Kinds of the same model, the first two with Gaussian noise of one size.
KINDS: dict[str, dict[str, Any]] = {
    "unaware": {},
    "censored": {},
    "heteroskedastic": {"heteroskedastic": True},
    "multi-output": {},
}


class Piece(NamedTuple):
    """One piece of work: a name for its file, and what it fits."""

    name: str
    kind: str
    share: float
    seed: int


def pieces() -> list[Piece]:
    """Return all pieces; fits on the truth do not depend on masks."""
    found = [Piece(f"truth-{seed}", "truth", 0.0, seed) for seed in range(STATION_SEEDS)]
    found += [
        Piece(f"mask-{share:g}-{seed}", "mask", share, seed) for seed in range(MASKS) for share in SHARES
    ]
    found += [
        Piece(f"counts-{likelihood}-{seed}", likelihood, 0.3, seed)
        for seed in range(COUNT_STATIONS)
        for likelihood in ("poisson", "negative-binomial")
    ]
    return found


def run(piece: Piece) -> dict[str, float]:
    """Return R² of each kind, or the share of test hours inside the 90% interval."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if piece.kind == "truth":
            return run_truth(piece.seed)
        if piece.kind == "mask":
            return run_mask(piece.seed, piece.share)
        return run_counts(piece.kind, piece.seed, piece.share)


def r_squared(truth: Floats, predicted: Floats) -> float:
    return float(1 - ((truth - predicted) ** 2).sum() / ((truth - truth.mean()) ** 2).sum())


def _fit(kind: str, stations: Stations, y: Floats, censored: Any = None) -> float:
    """Return R² of the first station's demand in the test hours."""
    from unmet import CensoredGaussianProcess

    several = kind == "multi-output"
    y = y if several else y[:, 0]
    told = {} if censored is None else {"censored": censored if several else censored[:, 0]}
    model = CensoredGaussianProcess(inducing=POINTS, random_state=0, **KINDS[kind]).fit(
        stations.X[stations.train], y, **told
    )
    found = model.predict_mean(stations.X[stations.test])
    return r_squared(stations.demand[stations.test, 0], found[:, 0] if several else found)


def run_truth(seed: int) -> dict[str, float]:
    stations = simulate(seed)
    demand = stations.demand[stations.train]
    found = {kind: _fit(kind, stations, demand) for kind in KINDS if kind != "unaware"}
    return {**found, "unaware": found["censored"]}


def run_mask(seed: int, share: float) -> dict[str, float]:
    stations = simulate(seed % STATION_SEEDS)
    demand = stations.demand[stations.train]
    seen = mask(demand, share, seed)
    return {
        kind: _fit(kind, stations, seen.rides, None if kind == "unaware" else seen.censored) for kind in KINDS
    }


def run_counts(likelihood: str, seed: int, share: float) -> dict[str, float]:
    """Return the share of test hours whose randomised level lies in (.05, .95).

    Rides end when the stock of a cut-off hour does: stock is drawn before demand is known, and hides `share`
    of the hours. Stations are drawn from the likelihood that is fitted, around the same patterns.
    """
    from unmet import CensoredGaussianProcess

    stations = simulate(
        1_000 + seed, busiest=8.0, groups=np.inf if likelihood == "poisson" else 4.0, shocks=0.0
    )
    random = np.random.default_rng([seed, 13])
    demand, train, test = stations.demand[:, 0], stations.train, stations.test
    stock = np.floor(random.uniform(0, 2 * np.quantile(demand, 1 - share), len(demand)))
    stock = np.where(random.uniform(size=len(demand)) < 2 * share, stock, np.inf)
    seen = np.minimum(demand, stock)
    model = CensoredGaussianProcess(likelihood=likelihood, inducing=POINTS, random_state=0)
    model.fit(stations.X[train], seen[train], censored=(demand >= stock)[train])
    below, upto = model.fitted_.mixture(stations.X[test]).below(demand[test, None])
    level = (below + random.uniform(size=below.shape) * (upto - below))[:, 0]
    return {
        "covered": float(np.mean((level > 0.05) & (level < 0.95))),
        "censored": float(np.mean((demand >= stock)[train])),
    }
