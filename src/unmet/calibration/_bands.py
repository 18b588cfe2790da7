"""The level to use for each nominal level, by band of predicted rate."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unmet.censoring import Distribution, kaplan_meier

Floats = NDArray[np.float64]
# A band needs 500 rows. Only 25 of 500 lie beyond the level 0.95, too few to identify it. So bands have about
# 3,000 rows, which leaves 50 even if a third of the rows is held out and a third of the rest is censored
# before.
LEAST_ROWS = 500
USUAL_ROWS = 3000
LEAST_AT_RISK = 50
MOST_BANDS = 10


@dataclass(frozen=True)
class Band:
    """Rows whose predicted rate lies in [low, high): nominal levels and the levels to use for them."""

    low: float
    high: float
    rows: int
    level: tuple[float, ...]
    at_risk: tuple[int, ...]


@dataclass(frozen=True)
class LevelMap:
    """Level of the forecast distribution to use for each nominal level, in bands of predicted rate.

    A level of inf is not identified: fewer than `LEAST_AT_RISK` rows are known to reach that far.
    """

    nominal: tuple[float, ...]
    bands: tuple[Band, ...]

    def band(self, rate: ArrayLike) -> NDArray[np.int64]:
        """Return the band number of each rate. Rates beyond the first or last band belong to it."""
        edges = np.array([band.low for band in self.bands[1:]])
        return np.searchsorted(edges, np.asarray(rate, np.float64), side="right")

    def levels(self, rate: ArrayLike) -> Floats:
        """Return the levels to use, shape (n, K), with inf where not identified."""
        table = np.array([band.level for band in self.bands], np.float64)
        return table[self.band(rate)]

    def identified_up_to(self, rate: ArrayLike) -> Floats:
        """Return, for each rate, the highest nominal level up to which all are identified, or 0."""
        table = np.array([_highest(self.nominal, band.level) for band in self.bands])
        return table[self.band(rate)]

    def as_dicts(self) -> list[dict[str, Any]]:
        """Return the map for JSON. Unidentified levels and the outermost edges are null."""
        return [
            {
                "low": _finite(band.low),
                "high": _finite(band.high),
                "rows": band.rows,
                "at_risk": list(band.at_risk),
                "nominal": list(self.nominal),
                "level": [_finite(level) for level in band.level],
                "identified_up_to": _highest(self.nominal, band.level),
            }
            for band in self.bands
        ]

    @staticmethod
    def from_dicts(dicts: list[dict[str, Any]]) -> "LevelMap":
        """Return the map from what `as_dicts` returned."""
        bands = tuple(
            Band(
                -np.inf if entry["low"] is None else float(entry["low"]),
                np.inf if entry["high"] is None else float(entry["high"]),
                int(entry["rows"]),
                tuple(np.inf if level is None else float(level) for level in entry["level"]),
                tuple(int(rows) for rows in entry["at_risk"]),
            )
            for entry in dicts
        )
        return LevelMap(tuple(float(level) for level in dicts[0]["nominal"]), bands)


def fit_level_map(
    rate: ArrayLike,
    values: ArrayLike,
    censored: ArrayLike,
    nominal: ArrayLike,
    *,
    edges: ArrayLike | None = None,
    least_rows: int = LEAST_ROWS,
    usual_rows: int = USUAL_ROWS,
    least_at_risk: int = LEAST_AT_RISK,
    most_bands: int = MOST_BANDS,
) -> LevelMap:
    """Learn the level to use for each nominal level from out-of-sample forecasts.

    In each band of predicted rate, Ĥ is the Kaplan–Meier distribution of the randomised probability-integral
    values, and the level for nominal θ is Ĥ⁻¹(θ). For a perfect forecast it is θ itself.

    Parameters
    ----------
    rate
        Predicted rate of each row.
    values, censored
        Probability-integral values (see `randomised_pit`) and whether they are bounds.
    nominal
        Levels wanted, increasing.
    edges
        Inner edges of the bands. By default at most `most_bands` bands of equal size, with about `usual_rows`
        and at least `least_rows` each.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> found = fit_level_map(np.ones(2000), rng.uniform(size=2000) ** 2, np.zeros(2000, bool), [0.5])
    >>> bool(abs(found.levels([1.0])[0, 0] - 0.25) < 0.03)
    True
    """
    rates, pits = np.asarray(rate, np.float64), np.asarray(values, np.float64)
    flags, levels = np.asarray(censored), tuple(float(level) for level in np.asarray(nominal))
    if rates.shape != pits.shape or rates.ndim != 1 or not len(rates):
        raise ValueError(f"rate and values must be equally long, not {rates.shape} and {pits.shape}")
    inner = (
        _edges(rates, least_rows, usual_rows, most_bands) if edges is None else np.asarray(edges, np.float64)
    )
    number = np.searchsorted(inner, rates, side="right")
    outer = np.concatenate([[-np.inf], inner, [np.inf]])
    bands = []
    for index in range(len(outer) - 1):
        rows = number == index
        found = kaplan_meier(pits[rows], flags[rows])
        level = tuple(_between(found, share, least_at_risk) for share in levels)
        risk = tuple(found.supported(min(one, 1.0)) if np.isfinite(one) else 0 for one in level)
        bands.append(Band(float(outer[index]), float(outer[index + 1]), int(rows.sum()), level, risk))
    return LevelMap(levels, tuple(bands))


def _edges(rates: Floats, least_rows: int, usual_rows: int, most_bands: int) -> Floats:
    """Return inner edges of bands of about equal size. Equal rates share a band."""
    count = max(1, min(most_bands, len(rates) // max(usual_rows, least_rows)))
    edges = np.unique(np.quantile(rates, np.arange(1, count) / count))
    while len(edges):
        sizes = np.bincount(np.searchsorted(edges, rates, side="right"), minlength=len(edges) + 1)
        smallest = int(np.argmin(sizes))
        if sizes[smallest] >= least_rows:
            break
        # Remove the edge between the smallest band and the smaller of its neighbours.
        right = smallest == 0 or (smallest < len(edges) and sizes[smallest + 1] < sizes[smallest - 1])
        edges = np.delete(edges, smallest if right else smallest - 1)
    return edges


def _between(found: Distribution, share: float, least_at_risk: int) -> float:
    """Return Ĥ⁻¹(share), halfway into its step so that both ends of a distribution are treated alike."""
    level = found.level(share, least_at_risk)
    if not np.isfinite(level):
        return level
    index = int(np.searchsorted(found.points, level))
    before = found.points[index - 1] if index else 0.0
    start = found.reached[index - 1] if index else 0.0
    portion = (share - start) / max(found.reached[index] - start, 1e-12)
    return float(before + np.clip(portion, 0.0, 1.0) * (level - before))


def _highest(nominal: tuple[float, ...], level: tuple[float, ...]) -> float:
    highest = 0.0
    for wanted, used in zip(nominal, level):
        if not np.isfinite(used):
            break
        highest = wanted
    return highest


def _finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
