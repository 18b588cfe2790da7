"""The share of walkers is the one with the highest likelihood, also where own means nearly vanish."""

import numpy as np
import pytest

from unmet.forecasting._spill import _Rows


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("true", [0.0, 0.3, 1.0])
def test_no_share_of_a_fine_grid_is_likelier(seed, true):
    rng = np.random.default_rng(seed)
    own = rng.gamma(0.5, 1.0, 2000)
    # Compared with other periods of the cell, walkers may be fewer than usual: by more than come anyway.
    came = np.maximum(rng.normal(0.3, 0.6, 2000), -own * rng.uniform(0.5, 2.5, 2000))
    mean = np.maximum(own + true * came, 1e-9)
    rows = _Rows(rng.poisson(mean).astype(float), own, np.full(2000, 20.0), np.arange(2000))
    found = rows.best_share(came)
    best = max(rows.fit(share * came) for share in np.linspace(0, 1, 1001))
    assert rows.fit(found * came) >= best - 1e-3
