"""skpro's own checks on the adapter. Run by `make test-skpro`, in an environment that has skpro."""

import numpy as np
import pytest

skpro = pytest.importorskip("skpro")
pytestmark = pytest.mark.filterwarnings("ignore")


def test_the_checks_of_skpro_pass():
    from skpro.utils import check_estimator

    from unmet.adapters.skpro import SkproRegressor

    found = check_estimator(SkproRegressor, raise_exceptions=False, verbose=False)
    failed = {name: outcome for name, outcome in found.items() if outcome != "PASSED"}
    print(f"{len(found)} checks, {len(failed)} failed")
    assert len(found) > 50
    assert not failed


def test_the_censoring_indicator_reaches_the_model():
    import pandas as pd

    from unmet.adapters.skpro import SkproRegressor

    rng = np.random.default_rng(0)
    X = pd.DataFrame({"x": rng.normal(size=1000)})
    latent = 5 + 2 * X["x"].to_numpy() + rng.normal(size=1000)
    cap = rng.uniform(3, 9, size=1000)
    y = pd.DataFrame({"y": np.minimum(latent, cap)})
    C = pd.DataFrame({"y": (latent >= cap).astype(int)})
    plain = SkproRegressor().fit(X, y).predict(X)["y"].mean()
    aware = SkproRegressor().fit(X, y, C).predict(X)["y"].mean()
    assert abs(aware - latent.mean()) < 0.3 * abs(plain - latent.mean())
