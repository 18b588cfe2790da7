"""One random stream for each part of the city, so that a switch changes only its own part."""

import numpy as np

_PARTS = (
    "map",
    "weather",
    "events",
    "shocks",
    "counts",
    "requests",
    "rides",
    "spill",
    "rival",
    "destinations",
)


def generator(seed: int, part: str) -> np.random.Generator:
    """The generator of one part: a function of the seed and the part's name alone."""
    return np.random.default_rng([_PARTS.index(part), seed])
