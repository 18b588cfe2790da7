"""Table V with ours beside it, and findings."""

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

from unmet.papers._answers import Check
from unmet.papers._cells import Cell, averaged, one, read_published, select
from unmet.papers._tables import Table, lay_out
from unmet.papers.mobility._grid_models import AS_PUBLISHED, DEFAULT, OURS, RAW
from unmet.papers.mobility._protocols import read_rows

TABLE = "table5"
_MEASURES = {"icp": "ICP", "mil": "MIL", "crossing_loss": "CL"}
_ORDER = ["QNN", "CQNN", "Multi-CQNN", "CQNN+LSTM", "Multi-CQNN+LSTM", DEFAULT.name, DEFAULT.name + RAW]


def read_cells(paths: Sequence[Path]) -> list[Cell]:
    """Return the published cells, then ours: mean and standard deviation over the subsets of vehicles."""
    table = read_rows(paths, ("alpha", "block", "model", "subset"))
    groups: dict[tuple[str, str, float], list[int]] = {}
    for index, (alpha, block, model) in enumerate(zip(table["alpha"], table["block"], table["model"])):
        groups.setdefault((str(block), str(model), float(alpha)), []).append(index)
    order = sorted(groups, key=lambda key: (key[0] == OURS, _ORDER.index(key[1]), key[2]))
    return select(read_published(), table=TABLE) + [
        averaged((TABLE, block, f"{alpha:g}", model, "", "all", "", name), table[column][groups[group]])
        for column, name in _MEASURES.items()
        for group in order
        for block, model, alpha in [group]
    ]


def tables(cells: Sequence[Cell], *, spread: bool = True) -> list[Table]:
    """Return one table per measure; the shares of removed vehicles are its columns."""
    return lay_out(cells, ("measure",), ("block", "model"), ("data",), spread=spread)


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
