"""Fitting many problems at once: bit for bit what fitting them one by one gives."""

import gc
import time
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone

from unmet import CensoredQuantileRegressor, TobitRegressor, fit_many, iter_fit_many
from unmet.estimators import _many
from unmet.runs import Parcels, collect_seldom

BASE = CensoredQuantileRegressor(head="free", max_epochs=12, hidden=(8,), units=4, random_state=5)

# What a problem may set for itself; each line with its own way of knowing about censoring.
KINDS = [
    ({"network": "linear"}, "threshold"),
    ({"network": "linear", "patience": 2, "learning_rate": 0.3, "max_epochs": 40}, "threshold"),
    ({"network": "linear", "joint": False}, "both"),
    ({"network": "mlp", "n_restarts": 2}, "threshold"),
    ({"network": "mlp", "patience": 2, "learning_rate": 0.3, "max_epochs": 40}, "both"),
    ({"network": "lstm"}, "none"),
    ({"network": "lstm", "patience": 2, "learning_rate": 0.3, "max_epochs": 40}, "threshold"),
    ({"network": "linear", "head": "location-scale"}, "threshold"),
    ({"network": "linear", "dropout": 0.2}, "none"),
    ({"network": "linear"}, "flags"),
]


def mixed_problems(make, count, least_rows=34):
    """Problems of many kinds, rows, columns, seeds and stopping times.

    From 52 rows on, each kind has one padded shape and is compiled once; the first kind always has two.
    """
    random = np.random.default_rng(1)
    problems = []
    for number in range(count):
        special, knows = KINDS[number % len(KINDS)]
        least = least_rows if number % len(KINDS) else 34
        columns = 3 if number % 4 or (special["network"] == "lstm" and least_rows > 34) else 4
        data = make(int(random.integers(least, 64)), columns, seed=number)
        problem = {"X": data.X, "y": data.y, "random_state": number, **special}
        if knows in ("threshold", "both"):
            problem["threshold"] = data.threshold
        if knows in ("flags", "both"):
            problem["censored"] = data.censored
        if number % 7 == 3:
            problem["sample_weight"] = random.integers(0, 3, len(data.y)).astype(float)
        problems.append(problem)
    return problems


def one_by_one(base, problems):
    models = []
    for problem in problems:
        data = sorted({"X", "y", "threshold", "censored", "validation", "sample_weight"} & set(problem))
        settings = {name: value for name, value in problem.items() if name not in data}
        models.append(clone(base).set_params(**settings).fit(**{name: problem[name] for name in data}))
    return models


def all_bytes(model):
    """Everything training decided, as bytes."""
    histories = model.history_ if isinstance(model.history_, list) else [model.history_]
    arrays = [member.weights for member in model.fitted_.members]
    arrays += [values for history in histories for values in history.values()]
    return b"".join(array.tobytes() for array in arrays)


def assert_same(models, others, problems):
    assert len(models) == len(others) == len(problems)
    for number, (model, other, problem) in enumerate(zip(models, others, problems)):
        assert repr(model) == repr(other), number
        assert all_bytes(model) == all_bytes(other), number
        predictions = model.predict_quantiles(problem["X"])
        assert predictions.tobytes() == other.predict_quantiles(problem["X"]).tobytes(), number
        assert model.n_iter_ == other.n_iter_


@pytest.fixture(scope="module")
def mixed(make):
    problems = mixed_problems(make, 30, least_rows=52)
    return problems, one_by_one(BASE, problems)


def test_the_mixed_problems_stop_at_different_times(mixed):
    _, models = mixed
    stopped = {model.n_iter_ for model in models if model.patience}
    assert len(stopped) > 2
    assert min(stopped) < 40


def test_fit_many_equals_fit_one_by_one_to_the_bit(mixed):
    problems, models = mixed
    first = fit_many(BASE, problems)
    assert_same(first, models, problems)
    assert_same(fit_many(BASE, iter(problems[::-1])), models[::-1], problems[::-1])


def test_two_processes_give_the_same_bits(mixed, monkeypatch):
    problems, models = mixed
    monkeypatch.setattr(_many, "_MOST_PER_TASK", 13)
    monkeypatch.setattr(_many, "_FEWEST_PER_TASK", 5)
    assert_same(fit_many(BASE, problems, n_jobs=2), models, problems)


def test_this_process_trains_a_share(mixed, monkeypatch):
    problems, models = mixed
    shares = []
    monkeypatch.setattr(
        _many, "_fit_here", lambda *given, fit=_many._fit_here: shares.append(1) or fit(*given)
    )
    monkeypatch.setattr(_many, "_MOST_PER_TASK", 3)
    found = dict(iter_fit_many(BASE, iter(problems), n_jobs=2))
    assert len(shares) == 1  # here; workers call their own
    assert_same([found[index] for index in range(len(problems))], models, problems)


def test_tasks_that_no_worker_has_begun_are_trained_here_at_the_end(mixed, monkeypatch):
    problems, models = mixed
    taken = []

    class Watched(Parcels):
        def begin(self, number):
            offered, until = Path(self._folder, str(number)), time.monotonic() + 60
            while number and offered.exists() and time.monotonic() < until:
                time.sleep(0.01)  # a worker that is slow to begin its second task
            return super().begin(number)

        def take_back(self, number):
            taken.append((number, super().take_back(number)))
            return taken[-1][1]

    monkeypatch.setattr("unmet.runs.Parcels", Watched)
    monkeypatch.setattr(_many, "_MOST_PER_TASK", 8)
    monkeypatch.setattr(_many, "_FEWEST_PER_TASK", 8)
    assert_same(fit_many(BASE, problems[:40], n_jobs=2), models[:40], problems[:40])
    assert taken == [(1, True)] or taken == [(1, True), (0, False)]


def test_problems_are_shared_evenly_between_processes():
    def sizes(count, total, X=None):
        problems = [{"X": X} for _ in range(count)]
        tasks = list(_many._chunks(_many._Source(problems), total, 2))
        assert [item for task in tasks for item in task] == list(enumerate(problems))
        return [len(task) for task in tasks]

    assert sizes(3, 3) == [1, 1, 1]
    assert sizes(0, 0) == []
    assert sizes(500, 500) == [100, 80, 64, 52, 41, 33, 26, 21, 17, 16, 16, 16, 16, 2]
    assert sizes(20_000, 20_000)[:5] == [4000, 3200, 2560, 2048, 1639]
    assert sizes(20_000, 20_000)[-3:] == [512, 512, 98]
    assert sizes(20_000, None) == [8192, 8192, 3616]
    large = np.zeros(_many._MOST_BYTES_PER_TASK // 32)  # a quarter of what a task may hold
    assert sizes(20, None, large) == [4, 4, 4, 4, 4]
    assert sizes(20, 20, large) == [4, 4, 3, 2, 2, 1, 1, 1, 1, 1]


@pytest.mark.slow
def test_500_mixed_problems_one_process_two_processes_twice(make):
    problems = mixed_problems(make, 500)
    begun = time.perf_counter()
    models = one_by_one(BASE, problems)
    seconds = {"one by one": time.perf_counter() - begun}
    for name, jobs in (("fit_many", 1), ("two processes", 2), ("fit_many again", 1), ("two again", 2)):
        begun = time.perf_counter()
        many = fit_many(BASE, problems, n_jobs=jobs)
        seconds[name] = time.perf_counter() - begun
        assert_same(many, models, problems)
    stopped = sorted({model.n_iter_ for model in models})
    print("\n500 problems, epochs", stopped, {name: f"{value:.1f} s" for name, value in seconds.items()})


def test_results_arrive_as_they_finish_and_problems_are_taken_as_needed(make):
    data = make(40, seed=1)
    taken = []

    def problems():
        for number in range(400):
            taken.append(number)
            yield {"X": data.X, "y": data.y, "random_state": number}

    seen = []
    for index, model in iter_fit_many(BASE, problems()):
        if not seen:
            ahead = len(taken)
        seen.append(index)
        assert model.random_state == index
    assert ahead < 400  # the first result came before the last problem was asked for
    assert sorted(seen) == list(range(400))


def test_other_estimators_and_the_given_one_stays_unfitted(make):
    data = make(40, seed=1)
    base = TobitRegressor(max_epochs=10, random_state=0)
    problems = [
        {"X": data.X, "y": data.y, "threshold": data.threshold, "scale": s} for s in ("constant", 2.0)
    ]
    many = fit_many(base, problems)
    assert_same(many, one_by_one(base, problems), problems)
    assert many[1].scale_ == pytest.approx(2.0, rel=1e-6)
    assert not hasattr(base, "fitted_")
    assert base.scale == "constant"


def test_no_problems_give_no_models():
    assert fit_many(BASE, []) == []


def test_errors_name_the_problem(make):
    data = make(40, seed=1)
    good = {"X": data.X, "y": data.y}
    with pytest.raises(ValueError, match="problem 1: y must be finite"):
        fit_many(BASE, [good, {"X": data.X, "y": data.y * np.nan}])
    with pytest.raises(ValueError, match=r"problem 1: .*X and y"):
        fit_many(BASE, [good, {"X": data.X}])
    with pytest.raises(ValueError, match=r"problem 0: .*thresold"):
        fit_many(BASE, [{**good, "thresold": 3.0}])
    with pytest.raises(ValueError, match="n_jobs"):
        fit_many(BASE, [good], n_jobs=0)


def test_a_generator_as_random_state_moves_on_from_problem_to_problem(make):
    data = make(40, seed=1)
    base = clone(BASE).set_params(random_state=np.random.RandomState(3), initialiser="normal")
    first, second = fit_many(base, [{"X": data.X, "y": data.y}] * 2)
    assert all_bytes(first) != all_bytes(second)


@pytest.mark.filterwarnings("default::ResourceWarning")
def test_a_cluster_gives_the_same_bits():
    distributed = pytest.importorskip("distributed")
    estimator = CensoredQuantileRegressor(network="linear", max_epochs=20, random_state=0)
    rng, problems = np.random.default_rng(0), []
    for _ in range(5):
        X = rng.normal(size=(60, 2))
        problems.append({"X": X, "y": np.minimum(X.sum(axis=1), 0.5), "threshold": 0.5})
    alone = fit_many(estimator, problems)
    with distributed.Client(
        n_workers=1, threads_per_worker=1, processes=False, dashboard_address="127.0.0.1:0"
    ) as client:
        there = fit_many(estimator, problems, cluster=client)
    for one, other, problem in zip(alone, there, problems):
        assert np.array_equal(one.predict(problem["X"]), other.predict(problem["X"]))
    with pytest.raises(ValueError, match="give n_jobs= for processes on this machine or cluster="):
        fit_many(estimator, problems, n_jobs=2, cluster="local")


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize(
    "bad", [None, {"X": [[object()]], "y": [1.0]}, {"X": [[1.0], [2.0]], "y": [1.0, 2.0], "warm_start": True}]
)
def test_a_bad_problem_is_named(bad, n_jobs):
    good = {"X": np.arange(6.0)[:, None], "y": np.arange(6.0)}
    with pytest.raises(ValueError, match="problem 2: "):
        fit_many(CensoredQuantileRegressor(max_epochs=2), [good, good, bad, good], n_jobs=n_jobs)


def test_one_problem_is_no_list_of_problems():
    with pytest.raises(ValueError, match="list of dicts"):
        fit_many(CensoredQuantileRegressor(max_epochs=2), {"X": np.ones((3, 1)), "y": np.ones(3)})


def test_zero_processes_are_refused_with_what_is_allowed():
    with pytest.raises(ValueError, match="-1 for one per core"):
        fit_many(CensoredQuantileRegressor(max_epochs=2), [], n_jobs=0)


def test_rows_that_are_not_read_yet_are_asked_for():
    polars = pytest.importorskip("polars")
    for X, words in (
        ("table.parquet", "read the file first"),
        (polars.LazyFrame({"a": [1.0, 2.0]}), "collect"),
    ):
        with pytest.raises(ValueError, match=words):
            CensoredQuantileRegressor(max_epochs=2).fit(X, [1.0, 2.0])


@pytest.mark.parametrize("setting", [(700, 10, 10), (50_000, 5, 5), (0, 10, 10)])
def test_garbage_is_looked_for_as_before_once_fits_are_done(setting):
    """While they run less often, unless the caller wants that anyway."""
    before, during = gc.get_threshold(), []
    X = np.random.default_rng(0).normal(size=(30, 1))

    def problems():
        during.append(gc.get_threshold())
        yield {"X": X, "y": X[:, 0]}
        raise KeyError("no more")

    gc.set_threshold(*setting)
    try:
        with pytest.raises(KeyError, match="no more"):
            fit_many(BASE, problems())
        assert gc.get_threshold() == setting
        assert during == [(20_000, 10, 10) if setting[0] == 700 else setting]
    finally:
        gc.set_threshold(*before)


def test_threads_that_overlap_leave_the_setting_of_before():
    before = gc.get_threshold()
    first, second = collect_seldom(), collect_seldom()
    for one in (first, second):
        one.__enter__()
    first.__exit__(None, None, None)
    assert gc.get_threshold()[0] == 20_000
    second.__exit__(None, None, None)
    assert gc.get_threshold() == before
