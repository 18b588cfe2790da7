"""The bike grid: shards, seeds, the paper's rules, and tables that can say no."""

from dataclasses import replace

import numpy as np
import pytest

from unmet.papers._tables import to_markdown
from unmet.papers.mobility import _bike_results, _bike_tables, _bikes, _protocols
from unmet.papers.mobility._grid_models import DEFAULT, DROPPED, RAW
from unmet.papers.mobility._shards import Demand
from unmet.tables import write_columns

DAYS = np.datetime64("2024-03-04") + np.arange(127)


def hub(name="hub-1", seed=0):
    rng = np.random.default_rng(seed)
    latent = 200 + 40 * np.sin(np.arange(127) * 2 * np.pi / 7) + rng.normal(0, 20, 127)
    truth = {kind: np.column_stack([latent - 30, latent + 30]) for kind in ("calendar", "weather")}
    return Demand(name, DAYS, latent, np.zeros(127, bool), truth)


def test_the_full_grid_has_every_cell():
    hubs = (hub("hub-1"), hub("hub-2"), hub("hub-3"))
    shards = _bikes.make_shards(_bikes.FULL, hubs)
    assert len({shard.key for shard in shards}) == len(shards)
    networks = {}
    cells = {}
    for shard in shards:
        name = shard.model.name
        networks[name] = networks.get(name, 0) + shard.networks
        cells.setdefault(name, []).extend(tuple(case.labels.values()) for case in shard.cases)
    assert all(len(set(found)) == len(found) == 900 for found in cells.values())
    assert networks["Multi-CQNN"] == networks["Multi-CQNN+LSTM"] == 3 * 3 * 10 * 10 * 10
    assert networks["QNN"] == networks["CQNN"] == networks["CQNN+LSTM"] == 18_000
    assert networks[DEFAULT.name] == 900


def test_processes_that_begin_together_compile_different_programs():
    for config in (_bikes.FULL, _bikes.SMOKE):
        shards = _bikes.make_shards(config, (hub("a"), hub("b")))
        first = [shard.model.name for shard in shards[: len(config.models)]]
        assert first == [model.name for model in config.models]


def test_a_quick_pass_has_one_shape():
    from unmet.papers.mobility import Asked
    from unmet.papers.mobility._series import LAGS, thirds
    from unmet.training import padded_rows

    split = thirds(Asked("smoke").data().days - LAGS)
    rows = split.train.stop
    assert max(rows, split.test.start - _protocols.KEPT_BACK) == rows
    left = rows * (1 - max(_bikes.SMOKE.gammas))
    assert padded_rows(rows) == padded_rows(round(left - 3 * (left * 0.2) ** 0.5))


def test_released_settings_clip_the_sum_of_the_loss(monkeypatch):
    from unmet import estimators

    seen = {}

    def fit(estimator, problems, progress):
        seen[shard.model.name] = estimator.get_params()
        return iter(())

    monkeypatch.setattr(estimators, "iter_fit_many", fit)
    text, released = (_bikes.SIZES[size] for size in ("full", "released"))
    assert [model.name for model in released.models][:3] == ["QNN", "CQNN", "Multi-CQNN"]
    for config, rate, clips in ((text, 0.01, (1, 1)), (released, 0.001, (1 / 40, 1 / 80))):
        for shard in _bikes.make_shards(config, (hub(),))[:3]:
            assert list(_protocols._as_published(shard)) == []
        assert {found["learning_rate"] for found in seen.values()} == {rate}
        assert seen["CQNN"]["clip_norm"] == pytest.approx(clips[0])
        assert seen["Multi-CQNN"]["clip_norm"] == pytest.approx(clips[1])
    assert seen["CQNN"]["loss"] == "published"


def test_all_models_see_the_same_censorings_and_starts_differ():
    shards = _bikes.make_shards(replace(_bikes.FULL, intensities=("high",)), (hub("a"), hub("b")))
    wanted = {"intensity": "high", "gamma": 0.4}

    def cases(name, censoring):
        labels = {"hub": name, "censoring": censoring, **wanted}
        return [case for shard in shards for case in shard.cases if case.labels == labels]

    here = cases("a", 3)
    assert len(here) == 7
    assert all(np.array_equal(here[0].observed, other.observed) for other in here)
    assert not np.array_equal(here[0].censored, cases("b", 3)[0].censored)
    assert not np.array_equal(here[0].censored, cases("a", 4)[0].censored)
    seeds = {seed for censoring in range(10) for seed in cases("a", censoring)[0].seeds}
    assert len(seeds) == 100


def table(rows):
    names = ["hub", "intensity", "gamma", "block", "model", "censoring", "start"]
    names += ["validation_icp", "validation_mil", "train_mean", "icp", "mil"]
    names += ["icp_exact", "mil_exact", "crossing_loss"]
    return {name: np.array([row[i] for row in rows]) for i, name in enumerate(names)}


def test_the_rules_of_exclusion_and_choice():
    def start(censoring, number, icp, mil, test, block="as published", model="QNN"):
        return (
            *("hub-1", "low", 0.1, block, model, censoring, number),
            *(icp, mil, 100.0, test, 10 * test, test, test, 0.0),
        )

    rows = [
        start(0, 0, 0.90, 200.1, 0.11),  # closest, but too wide
        start(0, 1, 0.80, 200.0, 0.12),
        start(0, 2, 0.95, 100.0, 0.13),  # taken
        start(0, 3, 0.85, 100.0, 0.14),  # as close: the first one counts
        start(1, 0, 0.90, 201.0, 0.2),  # nothing is left of this censoring
    ]
    (cell,) = _bike_results.choose(table(rows))
    assert cell.values["icp"].tolist() == [0.13]
    assert cell.excluded == 1
    ours = [start(0, 0, np.nan, np.nan, 0.5, "ours", "default")]
    (cell,) = _bike_results.choose(table(ours))
    assert (cell.mean("icp"), cell.excluded) == (0.5, 0)
    (empty,) = _bike_results.choose(table(rows[-1:]))
    assert np.isnan(empty.mean("icp"))
    assert _bike_results.distance([empty]) == 0.9


def test_threshold_rule_and_rows_reach_the_estimator(monkeypatch):
    """γ = 0: the factor is 1, and every threshold is the observation itself."""
    from unmet import estimators

    caught = []

    def catch(estimator, problems, **_):
        caught.extend(problems)
        return iter(())

    monkeypatch.setattr(estimators, "iter_fit_many", catch)
    config = replace(_bikes.SMOKE, gammas=(0.0, 0.5), intensities=("low",))
    shards = {s.model.name: s for s in _bikes.make_shards(config, (hub(),))}
    list(_protocols._as_published(shards["Multi-CQNN"]))
    half = len(caught) // 2
    none, some = caught[0], caught[half]
    assert np.array_equal(none["threshold"], none["y"])
    assert none["validation"].sum() == 40
    assert len(none["y"]) == 80
    latent = hub().latent[7:87]
    factor = latent[:40].mean() / some["y"][:40].mean()
    assert np.allclose(some["threshold"], some["y"] * factor)
    assert factor > 1.02
    assert some["censored"].mean() == pytest.approx(0.5, abs=0.15)
    caught.clear()
    list(_protocols._as_published(shards["QNN"]))
    assert all(not {"threshold", "censored"} & set(problem) for problem in caught)
    caught.clear()
    list(_protocols._ours(shards[DROPPED.name]))
    assert len(caught[0]["y"]) == 40  # the days before the last 60 of the first two thirds, at least a third
    assert 15 <= len(caught[-1]["y"]) <= 25
    assert "censored" not in caught[-1]


def cells(models, gammas=(0.0, 0.4)):
    """Cells with the ICP that `models` names, the same everywhere."""
    found = []
    for (block, model), icp in models.items():
        for gamma in gammas:
            names = ("mil", "mil_exact", "crossing_loss")
            values = {"icp": np.array([icp]), "icp_exact": np.array([icp])}
            values |= {name: np.array([100.0]) for name in names}
            found.append(_bike_results.BikeCell("hub-1", "high", gamma, block, model, values, 0))
    return found


PUBLISHED = {"QNN": 0.5, "CQNN": 0.7, "Multi-CQNN": 0.8, "CQNN+LSTM": 0.6, "Multi-CQNN+LSTM": 0.7}


def grid(ours, dropped, **published):
    named = {("as published", model): icp for model, icp in {**PUBLISHED, **published}.items()}
    named |= {("ours", DEFAULT.name): ours, ("ours", DEFAULT.name + RAW): 0.4}
    return cells(named | {("ours", DROPPED.name): dropped, ("ours", DROPPED.name + RAW): 0.4})


def test_checks_say_yes_and_no():
    good = {check.statement[:30]: check for check in _bike_tables.checks(grid(0.88, 0.87))}
    assert good["As published, γ ≥ 0.4, high in"].holds
    assert good["Ours: mean |ICP − 0.9| over th"].holds
    assert "0.020 against 0.100 (Multi-CQNN), 0.20 of it" in good["Ours: mean |ICP − 0.9| over th"].found
    assert good["Something beats dropping the c"].holds
    assert good["The published threshold rule d"].holds
    bad = _bike_tables.checks(grid(0.84, 0.9, **{"CQNN+LSTM": 0.3}))
    assert [check.holds for check in bad] == [False, False, True, False, False]
    assert "nothing beats it" in bad[3].found


def test_tables_of_a_grid():
    found = _bike_tables.tables(grid(0.88, 0.87))
    assert found[0].lines[0] == ("as published", "QNN", "0.400", "0.400", "0.500", "100", "0 of 2")
    assert found[1].head == ("intensity", "model", "γ = 0", "γ = 0.4")
    assert ("high", "default", "0.88", "0.88") in found[1].lines
    head = to_markdown(found[:1]).splitlines()[2]
    assert head == r"| block | model | mean \|ICP − 0.9\| | censorings apart | ICP | MIL | excluded |"


def test_rows_come_in_the_order_asked_for(tmp_path):
    parts = ({"model": ["b"], "start": [1]}, {"model": ["c", "a"], "start": [0, 0]})
    paths = [write_columns(tmp_path / f"{n}.parquet", part) for n, part in enumerate(parts)]
    found = _protocols.read_rows(paths, ["start", "model"])
    assert found["model"].tolist() == ["a", "c", "b"]
    assert found["start"].dtype.kind == "i"
