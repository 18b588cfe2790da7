"""Layout of tables, the measures behind them, and what they are checked for."""

from dataclasses import replace

import numpy as np
import pytest

from unmet.datasets import make_synthetic
from unmet.papers import TABLES, Model
from unmet.papers._cells import Cell, one, read_published, select
from unmet.papers._checks import check_table1, check_table4, geometric_mean
from unmet.papers._experiments import TABLE1, TABLE2, TABLE3, Block
from unmet.papers._measures import Prediction, crossings, errors, intervals, zeros
from unmet.papers._models import PRINTED, RELEASED
from unmet.papers._runner import make_problem, run_block, run_blocks
from unmet.papers._tables import lay_out, to_markdown


def cell(block, data, model, mean, sd=None, measure="MAE", truth="paper"):
    return Cell("table2", block, data, model, "0.05", "all", truth, measure, mean, sd)


def test_a_table_puts_cells_where_they_belong():
    cells = [
        cell("published", "gaussian", "QNN", 1.152, 0.1),
        cell("published", "mixture", "QNN", 0.943, 0.0),
        cell("ours", "gaussian", "default", 0.1129, 0.012),
        cell("ours", "mixture", "default", 0.05, 0.004, truth="corrected"),
    ]
    (table,) = lay_out(cells, ("measure",), ("block", "model"), ("data",))
    assert table.title == "MAE"
    mixture = ("Gaussian Mixture", "Gaussian Mixture (corrected truth)")
    assert table.head == ("block", "model", "Standard Gaussian", *mixture)
    assert table.lines == (
        ("published", "QNN", "1.152 ± 0.1", "0.943 ± 0.0", "–"),
        ("ours", "default", "0.113 ± 0.01", "–", "0.050 ± 0.00"),
    )
    assert "| ours | default | 0.113 ± 0.01 | – | 0.050 ± 0.00 |" in to_markdown([table])
    (plain,) = lay_out(cells, ("measure",), ("block", "model"), ("data",), spread=False)
    assert plain.lines[0][2] == "1.152"


def test_table1_equals_the_paper_in_all_cells():
    cells = select(read_published(), table="table1") + run_block(TABLE1, TABLE1.blocks[0])
    (check,) = check_table1(cells)
    assert check.holds
    assert check.found == "9 of 9"
    spoilt = [
        replace(found, mean=found.mean + 0.1) if found.theta == "0.95" else found for found in cells[:9]
    ]
    assert check_table1(spoilt + cells[9:])[0].found == "6 of 9"


def test_the_corrected_truth_moves_the_mixture_only():
    corrected = run_block(TABLE1, TABLE1.blocks[1])
    for found in corrected:
        theirs = one(read_published(), table="table1", data=found.data, theta=found.theta).mean
        same = found.data != "mixture" or found.theta == "0.50"
        assert (round(found.mean, 1) == theirs) is same


def test_measures_by_hand():
    data = make_synthetic("mixture")
    rows = np.arange(5)
    exact = data.quantile([0.05, 0.95])[rows]
    perfect = Prediction(data, rows, (0.05, 0.95), exact + 0.25)
    found = {measured[:4]: measured[4] for measured in errors(perfect) if measured[1] == "all"}
    assert found["0.05", "all", "corrected", "MAE"] == pytest.approx(0.25)
    wrong = 1.6448536 * (np.hypot(0.75, 0.5) - np.hypot(0.75, 0.25))  # the paper's truth is too narrow
    assert found["0.05", "all", "paper", "MAE"] == pytest.approx(abs(0.25 - wrong), abs=1e-6)
    latent = data.latent[rows]
    edge = Prediction(data, rows, (0.05, 0.95), np.stack([latent - 1, latent + 2], axis=1))
    measured = {(name, where): value for _, where, _, name, value in intervals(edge)}
    assert measured["ICP", "all"] == 1
    assert measured["MIL", "all"] == pytest.approx(3)
    assert measured["tilted loss", "all"] == pytest.approx(5 * (0.05 * 1 + 0.05 * 2))
    assert measured["tilted loss", "non-censored"] == pytest.approx((latent > 0).sum() * 0.15)
    flipped = Prediction(data, rows, (0.1, 0.2, 0.3), np.tile([1.0, 1.0, 0.5], (5, 1)))
    measured = {(name, where): value for _, where, _, name, value in crossings(flipped)}
    assert measured["crosses", "all"] == 10
    assert measured["crosses, ties not counted", "all"] == 5
    assert measured["crossing loss", "all"] == pytest.approx(0.5)
    assert measured["crossing loss", "non-censored"] == pytest.approx(0.5 * (latent > 0).sum())
    half = Prediction(data, rows[:4], (0.05,), np.array([[-1.0], [0.0], [0.1], [2.0]]))
    assert [value for *_, value in zeros(half)] == [50.0]


def test_a_problem_gets_what_the_model_may_see():
    data = make_synthetic("gaussian")
    problem = make_problem(TABLE2, RELEASED["Multi-CQNN"], data, 3)
    assert problem["validation"].sum() == 134
    assert len(problem["y"]) == 670
    assert problem["random_state"] == 3
    assert problem["clip_norm"] == pytest.approx(1 / (536 * 3))  # 1 for the sum over rows and levels
    single = make_problem(TABLE2, PRINTED["CQNN"], data, 0)
    assert single["l2"] == pytest.approx(0.001 / 536)
    assert "threshold" not in make_problem(TABLE2, RELEASED["QNN"], data, 0)
    oracle = make_problem(TABLE2, Model("oracle", sees="latent"), data, 0)
    assert oracle["y"].min() < 0
    assert "threshold" not in oracle
    assert "validation" not in oracle


def test_adding_a_row_is_adding_a_model():
    extra = Block("mine", (Model("mine", {"head": "monotone"}, seeded=False),))
    cells = run_block(replace(TABLE2.small(), noises=("gaussian",)), extra)
    assert {(found.block, found.model, found.runs) for found in cells} == {("mine", "mine", 1)}
    assert one(cells, measure="crosses").mean == 0


def test_table4_check_can_fail():
    def crosses(block, data, model, mean):
        return replace(cell(block, data, model, mean, measure="crosses"), truth="", theta="")

    noises = ("gaussian", "heteroskedastic", "mixture")
    cells = [crosses("as published", data, "CQNN", 5.0) for data in noises]
    cells += [
        crosses("as published", data, "Multi-CQNN", 7.0 if data == "mixture" else 1.0) for data in noises
    ]
    cells += [crosses("ours", data, "default", 0.0) for data in noises]
    assert [check.holds for check in check_table4(cells)] == [True, True, False, True]


def test_geometric_mean():
    assert geometric_mean([0.25, 1.0]) == pytest.approx(0.5)


def test_every_table_has_its_blocks():
    for experiment in TABLES.values():
        assert experiment.blocks[0].name == "as published"
        if experiment.name != "table1":
            assert [block.name for block in experiment.blocks[-2:]] == ["ours", "oracle"]


def test_blocks_that_are_fitted_together_are_those_fitted_alone():
    experiment = replace(TABLE3.small(), noises=("gaussian",))
    assert experiment.together
    assert not TABLE3.together
    # Two models of one name, and both estimators.
    blocks = [Block("one", (RELEASED["CQNN"], RELEASED["Tobit"])), Block("two", (PRINTED["CQNN"],))]
    together = run_blocks(experiment, blocks)
    assert together == [run_block(experiment, block) for block in blocks]
    assert [{found.block for found in part} for part in together] == [{"one"}, {"two"}]
    assert together[0][0].mean != together[1][0].mean
