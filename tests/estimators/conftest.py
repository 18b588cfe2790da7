"""Data that the tests of the estimators share: few distinct shapes, so that few programs are compiled."""

from typing import NamedTuple

import numpy as np
import pytest


class Capped(NamedTuple):
    """Linear latent values behind random right thresholds."""

    X: np.ndarray
    y: np.ndarray
    threshold: np.ndarray
    censored: np.ndarray
    latent: np.ndarray


def make_capped(rows=60, columns=2, seed=0):
    random = np.random.default_rng(seed)
    X = random.normal(size=(rows, columns))
    latent = 1 + X @ np.linspace(1, -0.5, columns) + random.normal(size=rows)
    threshold = 1.5 + random.normal(size=rows)
    return Capped(X, np.minimum(latent, threshold), threshold, latent > threshold, latent)


@pytest.fixture(scope="session")
def make():
    return make_capped


@pytest.fixture(scope="session")
def capped():
    return make_capped()
