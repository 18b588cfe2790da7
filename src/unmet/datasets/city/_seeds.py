"""One random generator per part of the city, so that a switch changes only its own part."""

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
    "workshop",
    "fronts",
    "refusal",
)


def generator(seed: int, part: str) -> np.random.Generator:
    """Return the generator of one part. It depends only on the seed and the name of the part."""
    return np.random.default_rng([_PARTS.index(part), seed])
