"""Table V beside ours, and what it shows."""

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np

from unmet.papers._cells import PUBLISHED, Cell, one, read_published, rounded, select
from unmet.papers._checks import Check
from unmet.papers._tables import Table
from unmet.papers.mobility._models import AS_PUBLISHED, DEFAULT, OURS, RAW
from unmet.papers.mobility._parquet import read_parquet

TABLE = "table5"
_MEASURES = {"icp": "ICP", "mil": "MIL", "crossing_loss": "CL"}
_BLOCKS = [PUBLISHED, AS_PUBLISHED, OURS]
_KEYS = ("alpha", "block", "model", "subset")
_ORDER = ["QNN", "CQNN", "Multi-CQNN", "CQNN+LSTM", "Multi-CQNN+LSTM", DEFAULT.name, DEFAULT.name + RAW]


def read_cells(paths: Sequence[Path]) -> list[Cell]:
    """The published cells, then ours: mean and standard deviation over the subsets of vehicles."""
    table = read_parquet(paths, _KEYS)
    groups: dict[tuple[str, str, float], list[int]] = {}
    for index, (alpha, block, model) in enumerate(zip(table["alpha"], table["block"], table["model"])):
        groups.setdefault((str(block), str(model), float(alpha)), []).append(index)
    order = sorted(groups, key=lambda key: (key[0] == OURS, _ORDER.index(key[1]), key[2]))
    cells = select(read_published(), table=TABLE)
    for key, name in _MEASURES.items():
        for block, model, alpha in order:
            values = table[key][groups[block, model, alpha]]
            sd = float(np.std(values, ddof=1)) if len(values) > 1 else None
            cells.append(
                rounded(
                    Cell(
                        TABLE,
                        block,
                        f"{alpha:g}",
                        model,
                        "",
                        "all",
                        "",
                        name,
                        float(values.mean()),
                        sd,
                        len(values),
                    )
                )
            )
    return cells


def tables(cells: Sequence[Cell], *, spread: bool = True) -> list[Table]:
    """One table per measure; the shares of removed vehicles are its columns."""
    shares = sorted({cell.data for cell in cells}, key=float)
    found = []
    for measure in _MEASURES.values():
        held = {(cell.block, cell.model, cell.data): cell for cell in select(cells, measure=measure)}
        rows = sorted(
            {key[:2] for key in held}, key=lambda row: (_BLOCKS.index(row[0]), _ORDER.index(row[1]))
        )
        lines = tuple(
            (*row, *(_show(held.get((*row, share)), spread=spread) for share in shares)) for row in rows
        )
        head = ("block", "model", *(f"α = {float(share):.0%}" for share in shares))
        found.append(Table(measure, head, lines, 2))
    return found


def _show(cell: Cell | None, *, spread: bool) -> str:
    """Digits as the paper prints them."""
    if cell is None:
        return "–"
    digits = 0 if cell.measure == "MIL" else 3
    text = f"{cell.mean:.{digits}f}"
    if cell.sd is None or not spread:
        return text
    if cell.block == PUBLISHED and digits:
        return f"{text} ± {cell.sd:.1f}"
    return f"{text} ± {cell.sd:.{digits}f}"


def checks(cells: Sequence[Cell]) -> list[Check]:
    found = []
    shares = sorted({cell.data for cell in cells if cell.block == AS_PUBLISHED and float(cell.data) > 0})
    models = list(dict.fromkeys(cell.model for cell in select(cells, block=AS_PUBLISHED)))
    falls, text = True, []
    for model in models:
        icp = [_mean(cells, AS_PUBLISHED, model, alpha) for alpha in shares]
        falls &= all(later < earlier for earlier, later in pairwise(icp))
        text.append(f"{model} {' → '.join(f'{value:.2f}' for value in icp)}")
    found.append(Check("As published: the ICP of all models falls with α", "; ".join(text), falls))
    unaware = [_mean(cells, AS_PUBLISHED, "QNN", alpha) for alpha in shares]
    worst = [
        min(_mean(cells, AS_PUBLISHED, model, alpha) for model in models if model != "QNN") >= value
        for alpha, value in zip(shares, unaware)
    ]
    found.append(
        Check(
            "As published: the unaware QNN has the lowest ICP",
            f"at {sum(worst)} of {len(worst)} values of α",
            all(worst),
        )
    )
    ours = {alpha: _mean(cells, OURS, DEFAULT.name, alpha) for alpha in sorted({"0", *shares})}
    raw = {alpha: _mean(cells, OURS, DEFAULT.name + RAW, alpha) for alpha in ours}
    found.append(
        Check(
            "Ours, known share and rolling calibration: ICP between 0.85 and 0.95 at every α",
            ", ".join(f"α = {float(a):.0%} {v:.3f} (not calibrated {raw[a]:.2f})" for a, v in ours.items()),
            all(0.85 <= value <= 0.95 for value in ours.values()),
        )
    )
    return found


def _mean(cells: Sequence[Cell], block: str, model: str, alpha: str) -> float:
    return one(cells, block=block, model=model, data=alpha, measure="ICP").mean
