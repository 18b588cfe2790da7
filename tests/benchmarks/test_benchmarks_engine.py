"""The parts of the benchmarks that need no rival: problems, rule, lines and verdicts."""

import json
import os
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from benchmarks.engine.config import CONFIGS, FULL, LINEAR, SMALL, Rule
from benchmarks.engine.lines import KINDS, Verdict, _compare_losses
from benchmarks.engine.problems import LAGS, pinball, seasonal, tabular, uncensored
from benchmarks.engine.race import Entry, Outcome
from benchmarks.engine.starts import draw
from benchmarks.environment import requirements


def test_seasonal_problem_is_the_same_for_everyone():
    one, again, other = seasonal(3), seasonal(3), seasonal(4)
    np.testing.assert_array_equal(one.X, again.X)
    assert not np.array_equal(one.y, other.y)
    assert one.X.shape == (252, LAGS)
    assert one.validation.sum() == 126
    # The first row's lags are followed by the observations that later rows have as lags.
    np.testing.assert_array_equal(one.X[LAGS], one.y[:LAGS])


def test_seasonal_problem_is_standardised_and_censored():
    problems = [seasonal(index) for index in range(20)]
    for problem in problems:
        (_, y, _), _ = problem.split()
        assert abs(y.mean()) < 1e-5
        assert abs(y.std() - 1) < 1e-4
        assert np.all(problem.y <= problem.threshold)
        np.testing.assert_array_equal(problem.censored, problem.y == problem.threshold)
    assert 0.2 < np.mean([problem.censored.mean() for problem in problems]) < 0.45


def test_tabular_holds_out_a_tenth_beyond_the_rows():
    problem = tabular(1000, 5)
    assert (~problem.validation).sum() == 1000
    assert problem.validation.sum() == 100
    assert not problem.validation[:1000].any()


def test_uncensored_has_no_cap():
    assert np.isinf(uncensored(0, 50).cap).all()


def test_pinball_by_hand():
    y, cap = np.array([1.0, 2.0]), np.array([np.inf, 2.0])
    predicted = np.array([[0.0, 3.0], [5.0, 1.0]])
    # Row 1: 0.1·1 and (1 − 0.9)·2. Row 2: capped at 2, so 0 and 0.9·1.
    assert pinball(y, cap, predicted, (0.1, 0.9)) == pytest.approx((0.1 + 0.2 + 0.0 + 0.9) / 4)


def test_starts():
    np.testing.assert_array_equal(draw((4,), [0, 1], "normal"), np.zeros(4))
    assert abs(draw((100, 100), [0, 1], "normal").std() - 1) < 0.05
    assert np.abs(draw((20, 40), [0, 1], "glorot")).max() <= np.sqrt(6 / 60)


def test_rule_survives_json():
    rule = replace(LINEAR, quantiles=(0.1, 0.9))
    entry = Entry("torch", "many", rule, 3, 1)
    (text,) = entry.tasks()
    task = json.loads(text)
    assert Rule.from_json(task["rule"]) == rule
    assert len(task["cores"]) == 1
    cores = len(os.sched_getaffinity(0))
    apart = [json.loads(text) for text in replace(entry, cores=2, apart=True).tasks()]
    assert [one["n_jobs"] for one in apart] == [1] * min(2, cores)


def test_configs_have_the_same_lines_and_only_the_full_one_has_floors():
    assert [line.key for line in FULL] == [line.key for line in SMALL]
    assert set(CONFIGS) == {"full", "small"}
    assert {line.kind for line in FULL} == set(KINDS)
    assert all(line.floor is None for line in SMALL)
    floors = {line.key: line.floor for line in FULL}
    assert floors["linear"] == 260
    assert floors["lstm-32"] == 3.8
    assert floors["lstm-128"] == 1.5
    assert floors["mlp"] == 1.3


@pytest.mark.parametrize(
    ("ratio", "at_most", "reached"),
    [(2.0, False, True), (1.0, False, False), (1.0, True, True), (2.0, True, False)],
)
def test_verdict_floor(ratio, at_most, reached):
    assert Verdict("k", "t", "torch", ratio=ratio, floor=1.5, at_most=at_most).reached is reached


def test_verdict_losses():
    verdict = Verdict("k", "t", "torch", rival_loss=1.0, our_loss=1.04, tolerance=0.05)
    assert verdict.losses_agree is True
    verdict.our_loss = 0.94
    assert verdict.losses_agree is False
    verdict.loss_error = 0.01
    assert verdict.losses_agree is True
    verdict.tolerance = None
    assert verdict.losses_agree is None


def test_loss_error_is_that_of_the_paired_differences():
    ours = Outcome(({"losses": [1.0, 2.0, 3.0, 9.0]},))
    rival = Outcome(({"losses": [1.0, 1.0, 1.0]},))
    verdict = Verdict("k", "t", "torch")
    _compare_losses(verdict, rival, ours)
    assert (verdict.our_loss, verdict.rival_loss) == (2.0, 1.0)
    assert verdict.loss_error == pytest.approx(1 / 3**0.5)


def test_outcome_takes_medians():
    answers = tuple({"seconds": s, "size": 4, "losses": [1.0, 3.0]} for s in (8.0, 100.0, 4.0))
    outcome = Outcome(answers)
    assert outcome.seconds_each == 2.0
    assert outcome.to_json()["mean_losses"] == 2.0


def test_torch_is_pinned_exactly():
    assert "torch==2.13.0" in requirements()
