"""Findings, one line each: how close the reproduction is, and how much better ours is."""

from collections.abc import Callable, Sequence

import numpy as np

from unmet.papers._answers import Check
from unmet.papers._cells import PUBLISHED, Cell, one, select

LEVELS = ("0.05", "0.50", "0.95")
NOISES = ("gaussian", "heteroskedastic", "mixture")


def check_table1(cells: Sequence[Cell]) -> list[Check]:
    pairs = [
        (
            one(cells, block=PUBLISHED, data=data, theta=theta),
            one(cells, block="as published", data=data, theta=theta),
        )
        for data in NOISES
        for theta in LEVELS
    ]
    equal = sum(f"{theirs.mean:.1f}" == f"{ours.mean:.1f}" for theirs, ours in pairs)
    return [Check("All nine cells equal the paper's", f"{equal} of 9", equal == 9)]


def _mae(cells: Sequence[Cell], block: str, data: str, model: str, theta: str) -> float:
    found = one(
        cells, block=block, data=data, model=model, theta=theta, rows="all", truth="paper", measure="MAE"
    )
    return found.mean


def _distance(
    cells: Sequence[Cell], block: str, model: str, published: str, levels: Sequence[str]
) -> tuple[float, str]:
    """Return the largest difference of a model's MAE from a published one, and where it occurs."""
    found = [
        (
            abs(_mae(cells, block, data, model, theta) - _mae(cells, PUBLISHED, data, published, theta)),
            f"{data} {theta}",
        )
        for data in NOISES
        for theta in levels
    ]
    return max(found)


def check_table2(cells: Sequence[Cell]) -> list[Check]:
    """Compare with the published errors; a quick pass leaves out some blocks and their findings."""
    checks = []
    blocks = {cell.block for cell in cells}
    for block, model, published, most in (
        ("converged", "QNN", "Multi-QNN", 0.02),
        ("converged", "Multi-QNN", "Multi-QNN", 0.02),
        ("as published", "QNN", "Multi-QNN", 0.02),
        ("as published", "QNN", "QNN", 0.02),
        ("as published", "Multi-QNN", "Multi-QNN", 0.02),
        ("as published", "CQNN", "CQNN", 0.06),
        ("as published", "Multi-CQNN", "Multi-CQNN", 0.06),
    ):
        if block not in blocks:
            continue
        furthest, where = _distance(cells, block, model, published, LEVELS[:2])
        checks.append(
            Check(
                f"{model} ({block}) within {most} MAE of the published {published} at θ = .05 and .50",
                f"{furthest:.3f} ({where})",
                furthest <= most,
            )
        )
    for model in ("QNN", "Multi-QNN", "CQNN", "Multi-CQNN"):
        furthest, where = _distance(cells, "as published", model, model, LEVELS[2:])
        checks.append(
            Check(
                f"{model} (as published) within 0.06 MAE of the published {model} at θ = .95",
                f"{furthest:.3f} ({where})",
                furthest <= 0.06,
            )
        )
    better, worse = 0, []
    for data in NOISES:
        for theta in LEVELS:
            theirs = select(
                cells, block=PUBLISHED, data=data, theta=theta, rows="all", measure="MAE", truth="paper"
            )
            best = min(cell.mean for cell in theirs)
            mine = _mae(cells, "ours", data, "default", theta)
            better += mine < best
            if mine >= best:
                worse.append(f"{data} {theta}: {mine:.3f} against {best:.3f}")
    found = f"{better} of 9" + (f"; not {', '.join(worse)}" if worse else "")
    checks.append(
        Check("Ours beats the best published MAE in at least 8 of 9 cells, all test rows", found, better >= 8)
    )
    crossed = sum(cell.mean for cell in select(cells, block="ours", measure="crosses"))
    checks.append(Check("Ours has no crossing", f"{crossed:.0f}", crossed == 0))
    return checks


def check_table3(cells: Sequence[Cell]) -> list[Check]:
    checks = []
    for data in NOISES:
        pick = {"data": data, "model": "Tobit", "rows": "all"}
        theirs, ours = (
            {
                name: one(cells, block=block, measure=name, **pick).mean
                for name in ("ICP", "MIL", "tilted loss")
            }
            for block in (PUBLISHED, "as published")
        )
        holds = (
            round(ours["MIL"], 2) == theirs["MIL"]
            and abs(ours["ICP"] - theirs["ICP"]) <= 0.02
            and abs(ours["tilted loss"] / theirs["tilted loss"] - 1) <= 0.01
        )
        found = f"ICP {ours['ICP']:.3f} ({theirs['ICP']}), MIL {ours['MIL']:.2f} ({theirs['MIL']}), "
        found += f"tilted loss {ours['tilted loss']:.2f} ({theirs['tilted loss']})"
        checks.append(
            Check(
                f"Tobit with σ = 1 on {data} data: MIL equal, ICP within 0.02, loss within 1%", found, holds
            )
        )
    return checks


def check_table4(cells: Sequence[Cell]) -> list[Check]:
    checks = []
    for data in NOISES:
        single, multi = (
            one(cells, block="as published", data=data, model=model, rows="all", measure="crosses").mean
            for model in ("CQNN", "Multi-CQNN")
        )
        checks.append(
            Check(
                f"Multi-output has fewer crosses than single-output on {data} data (as published)",
                f"{multi:.1f} against {single:.1f}",
                multi < single,
            )
        )
    crossed = sum(cell.mean for cell in select(cells, block="ours", measure="crosses"))
    checks.append(Check("Ours has none anywhere", f"{crossed:.0f}", crossed == 0))
    return checks


CHECKS: dict[str, Callable[[Sequence[Cell]], list[Check]]] = {
    "table1": check_table1,
    "table2": check_table2,
    "table3": check_table3,
    "table4": check_table4,
}


def geometric_mean(ratios: Sequence[float]) -> float:
    return float(np.exp(np.mean(np.log(np.asarray(ratios)))))
