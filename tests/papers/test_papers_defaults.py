"""The comparison of configurations: its arithmetic, and that the class's default is in it."""

import pytest

from unmet.papers._cells import Cell
from unmet.papers._defaults import (
    check_defaults,
    configurations,
    experiments,
    summarise,
    tabulate,
)
from unmet.papers._experiments import OTHER_NOISES, PAPER_NOISES

REFERENCE = "Multi-CQNN as published"


def cells(errors: dict[str, tuple[float, float]]) -> list[Cell]:
    """For each block, its error and that of its oracle, the same in every cell."""
    return [
        Cell("defaults", block, noise, model, theta, "all", "corrected", "MAE", mean)
        for block, (mine, oracle) in errors.items()
        for noise in PAPER_NOISES + OTHER_NOISES
        for theta in ("0.05", "0.50", "0.95")
        for model, mean in ((block, mine), ("oracle", oracle))
    ]


def test_ratios_by_hand():
    found = cells({REFERENCE: (0.8, 0.1), "mine": (0.2, 0.16)})
    summary = summarise(found, "mine", PAPER_NOISES)
    assert summary.ratio == pytest.approx(0.25)
    assert summary.worst == pytest.approx(0.25)
    assert summary.over_oracle == pytest.approx(1.25)
    found = [
        cell
        if (cell.block, cell.data, cell.theta, cell.model) != ("mine", "mixture", "0.05", "mine")
        else Cell("defaults", "mine", "mixture", "mine", "0.05", "all", "corrected", "MAE", 1.6)
        for cell in found
    ]
    worse = summarise(found, "mine", PAPER_NOISES)
    assert worse.worst == pytest.approx(2.0)
    assert worse.ratio == pytest.approx(0.25 * 8 ** (1 / 9))
    assert summarise(found, "mine", OTHER_NOISES).ratio == pytest.approx(0.25)


def test_checks_tell_good_from_bad():
    names = {model.name: (0.5, 0.5) for model in configurations()}
    good = cells(
        {
            **names,
            REFERENCE: (1.0, 0.5),
            "Multi-CQNN with the text's settings": (1.0, 1.0),
            "default": (0.2, 0.2),
        }
    )
    assert all(check.holds for check in check_defaults(good))
    bad = cells({**names, REFERENCE: (1.0, 0.5), "default": (0.9, 0.2)})
    assert [check.holds for check in check_defaults(bad)] == [False, False, False, False, False, True]
    assert len(tabulate(good, good).lines) == len(names)


def test_what_is_compared():
    choosing, reporting = experiments()
    assert (choosing.seeds, reporting.seeds) == (tuple(range(100, 120)), tuple(range(200, 220)))
    assert reporting.noises == PAPER_NOISES + OTHER_NOISES
    assert [block.name for block in reporting.blocks].count("default") == 1
    for block in reporting.blocks:
        mine, oracle = block.models
        assert (oracle.name, oracle.sees, oracle.parameters) == ("oracle", "latent", mine.parameters)
    heads = {str(model.parameters.get("head", "")) for model in configurations()}
    assert {"free", "monotone"} <= heads
