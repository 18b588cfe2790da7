"""The truth that Bayesian, kernel and local methods are measured against is the truth of the data drawn."""

import numpy as np
import pytest

from benchmarks import bayesian_coverage, kernels


@pytest.mark.parametrize("name", kernels.SETS)
def test_true_quantiles_hold_their_share_of_new_rows(name):
    X, y, cap, new, truth = kernels.draw(name, 3)
    assert (y == cap).mean() == pytest.approx(kernels.SHARE, abs=0.002)
    middle, spread = kernels.SETS[name][0](new)
    latent = middle + spread * np.random.default_rng(0).normal(size=len(new))
    assert (latent[:, None] < truth).mean(axis=0) == pytest.approx(kernels.LEVELS, abs=0.04)
    assert X.shape == (kernels.ROWS, new.shape[1])


@pytest.mark.parametrize("noise", bayesian_coverage.NOISES)
def test_true_coefficients_are_those_of_the_quantiles(noise, monkeypatch):
    """A cap of its own would hide the upper rows: count those below the quantile among rows it spares."""
    monkeypatch.setattr(bayesian_coverage, "ROWS", 40_000)
    X, y, cap, truth = bayesian_coverage.draw(noise, 5)
    assert 0.2 < (y == cap).mean() < 0.4
    for level, (intercept, *slopes) in zip(bayesian_coverage.LEVELS, truth):
        quantile = intercept + X @ slopes
        spared = quantile < cap
        assert (y < quantile)[spared].mean() == pytest.approx(level, abs=0.012)


def test_tables_land_between_their_marks(tmp_path, monkeypatch):
    page = tmp_path / "page.md"
    page.write_text("before\n<!-- kernels -->\nold\n<!-- /kernels -->\nafter\n", encoding="utf-8")
    monkeypatch.setattr("sys.argv", ["kernels", "--write", str(page)])
    monkeypatch.setattr(kernels, "error", lambda method, name, seed: (0.1 + 0.01 * seed, 1.0))
    kernels.main()
    text = page.read_text(encoding="utf-8")
    assert text.startswith("before\n<!-- kernels -->\n\n| method |")
    assert "| forest | **0.145** ± 0.010 |" in text
    assert "old" not in text
    assert text.endswith("<!-- /kernels -->\nafter\n")
