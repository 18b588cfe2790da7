"""Koenker's simulation tables: the published cells, the designs, and a part of the comparison."""

import numpy as np
import pytest
from benchmarks.koenker.__main__ import document
from benchmarks.koenker.compare import cells
from benchmarks.koenker.designs import DESIGNS
from benchmarks.koenker.simulate import run


@pytest.mark.parametrize("design", DESIGNS, ids=lambda design: f"table{design.table}")
def test_designs_have_the_papers_share_of_censored_rows(design):
    x, y, threshold = design.draw(20_000, np.random.default_rng(0))
    assert np.mean(y == threshold) == pytest.approx(0.3, abs=0.08)
    assert (x.min(), x.max()) == pytest.approx((0, 2), abs=0.01)


@pytest.mark.slow
def test_small_samples_agree_with_the_published_tables(tmp_path):
    """60 draws of 100 rows, all tables and estimators; published draws taken as 1,000, the strictest."""
    for design in DESIGNS:
        for batch in range(3):
            np.savez(tmp_path / f"table{design.table}-100-{batch}.npz", **run(design, 100, batch))
    found = cells(tmp_path)
    assert len(found) == 504 // 3
    z = np.abs([cell.z(1000) for cell in found])
    assert z.max() <= 4.2
    assert np.mean(z > 2) <= 0.1
    assert "## Table 7" in document(found)
