"""Daily profiles of demand: departures and arrivals by kind of place."""

import numpy as np


def _day(*peaks: tuple[float, float, float], floor: float = 0.02) -> np.ndarray:
    """Return 24 hourly weights: a floor plus bells (centre, width, height), around the clock."""
    hour = np.arange(24) + 0.5
    total = np.full(24, floor)
    for centre, width, height in peaks:
        apart = np.abs(hour - centre)
        total += height * np.exp(-0.5 * (np.minimum(apart, 24.0 - apart) / width) ** 2)
    return total


# Rows follow KINDS: residential, office, leisure. Index [weekend][kind][hour].
LEAVING = np.array(
    [
        [
            _day((8.2, 1.1, 1.0), (13.0, 3.0, 0.25), (18.5, 2.0, 0.35)),
            _day((17.3, 1.2, 1.1), (12.5, 1.5, 0.35)),
            _day((18.0, 3.0, 0.55), (22.0, 1.5, 0.35), (12.0, 2.5, 0.3)),
        ],
        [
            _day((11.5, 3.0, 0.55), (17.0, 3.0, 0.35)),
            _day((14.0, 3.5, 0.25)),
            _day((16.5, 3.0, 0.75), (22.5, 2.0, 0.4)),
        ],
    ]
)

SEEKING = np.array(
    [
        [
            _day((17.8, 1.8, 1.0), (22.0, 2.0, 0.8), (13.0, 3.0, 0.3), floor=0.08),
            _day((8.3, 1.2, 1.5), (13.5, 1.5, 0.4), floor=0.04),
            _day((19.0, 2.0, 0.5), (12.5, 2.5, 0.4), floor=0.06),
        ],
        [
            _day((18.0, 3.0, 0.8), (22.5, 2.5, 0.8), (12.0, 4.0, 0.3), floor=0.08),
            _day((12.0, 3.5, 0.25), floor=0.04),
            _day((13.5, 3.0, 1.0), (19.5, 2.0, 0.6), floor=0.06),
        ],
    ]
)
