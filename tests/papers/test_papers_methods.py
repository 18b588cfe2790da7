"""The comparison of methods: its data, its arithmetic, and what is stored of other programs."""

import numpy as np
import pytest

from unmet.papers import _methods as methods
from unmet.papers._method_data import LEVELS, NONLINEAR, Case, draw

NOISES = [noise for group in methods.GROUPS.values() for noise in group]


@pytest.mark.parametrize("data", NOISES)
@pytest.mark.parametrize("share", methods.SHARES)
def test_data_are_as_they_say(data, share):
    drawn = draw(Case(data, 4000, share, 1))
    assert drawn.censored.mean() == pytest.approx(share, abs=0.001)
    assert drawn.X.shape[1] == drawn.test.shape[1] == (20 if data == NONLINEAR else 2)
    assert drawn.truth.shape == (1000, len(LEVELS))


@pytest.mark.parametrize("data", NOISES)
def test_true_quantiles_hold(data):
    from unmet.papers import _method_data as module

    case = Case(data, 20_000, 0.3, 2)
    make = module._nonlinear(20_000, 2) if data == NONLINEAR else module._noise(case, 20_000)
    below = (make[1][:, None] <= make[2]).mean(axis=0)
    np.testing.assert_allclose(below, LEVELS, atol=0.008)


def test_half_of_the_columns_of_the_nonlinear_set_do_nothing():
    from unmet.papers._method_data import _nonlinear

    X, latent, _ = _nonlinear(20_000, 0)
    seen = [abs(np.corrcoef(X[:, column], latent)[0, 1]) for column in range(10, 20)]
    assert max(seen) < 0.03


def errors():
    found = {}
    for seed, error in ((300, 1.0), (301, 3.0)):
        for noise in NOISES:
            found[Case(noise, 300, 0.3, seed)] = {"Tobit": error, "forest": 2.0}
    return found


def test_the_table_by_hand():
    table = methods.tabulate(errors(), 300, 0.3)
    assert table.title == "300 rows, 30% censored, 2 seeds"
    assert table.lines[0] == ("Tobit", *["**2.000** ± 1.000"] * 3)
    assert methods.tabulate(errors(), 300, 0.6).lines == ()
    cells = methods.to_cells(errors())
    assert len(cells) == 2 * len(NOISES)
    assert cells[0].mean == 2.0
    assert cells[0].runs == 2


def test_findings_by_hand():
    found = errors()
    for one in found.values():
        one["*quantile-forest, unaware*"] = 1.0
    (check,) = methods.check(found)
    assert not check.holds
    assert check.found.startswith("2.00")


def test_a_method_that_applies_beats_one_that_knows_no_columns():
    case = Case("laplace", 300, 0.3, 5)
    assert methods.run_method(case, "Portnoy") < 0.6 * methods.run_method(case, "Kaplan–Meier")
    assert methods.run_method(Case(NONLINEAR, 300, 0.3, 5), "Wang–Wang") is None


def test_a_new_method_leaves_the_finished_ones_alone(tmp_path, monkeypatch):
    ran = []

    def run_piece(piece):
        ran.append(piece[1])
        return 1.0 + len(ran) / 100

    monkeypatch.setattr(methods, "_run_piece", run_piece)
    how = {"size": "smoke", "jobs": 1}
    methods.compare_methods(tmp_path, **how, only=["Tobit"])
    first = list(ran)
    assert set(first) == {"Tobit"}
    monkeypatch.setattr("unmet.runs._steps.code_version", lambda: "later")
    methods.compare_methods(tmp_path, **how, only=["forest"])
    assert set(ran[len(first) :]) == {"forest"}
    methods.compare_methods(tmp_path, **how, only=["none"])
    assert len(ran) == 2 * len(first)
    text = (tmp_path / "methods.md").read_text()
    assert "| Tobit |" in text
    assert "| forest |" in text
    assert "| booster |" not in text
    with pytest.raises(ValueError, match="no method 'trees'"):
        methods.compare_methods(tmp_path, **how, only=["trees"])


def test_stored_programs_belong_to_known_cases():
    known = set(methods.cases("full"))
    stored = methods.read_outside()
    assert stored
    assert set(stored) <= known
    # The last level of R's Peng–Huang process runs away in a few draws.
    errors = [(name, error) for found in stored.values() for name, error in found.items()]
    assert all(0 < error < (100 if name == "*crq, Peng–Huang*" else 20) for name, error in errors)
