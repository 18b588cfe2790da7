"""What is run: the common training rule, and the lines of the table in a full and a small size."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from typing import Any


@dataclass(frozen=True)
class Rule:
    """Settings that every contender follows. The defaults are those of the bike-sharing experiment."""

    network: str = "linear"
    quantiles: tuple[float, ...] = (0.05, 0.95)
    units: int = 32
    hidden: tuple[int, ...] = (64, 64)
    learning_rate: float = 0.01
    clip_norm: float = 1.0
    l2: float = 0.001
    max_epochs: int = 1000
    patience: int | None = 10
    batch_size: int | None = None
    initialiser: str = "normal"

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> Rule:
        """A rule that went through JSON, which knows no tuples."""
        return cls(**{k: tuple(v) if isinstance(v, list) else v for k, v in values.items()})


@dataclass(frozen=True)
class Line:
    """One line of the table.

    `kind` names the function in `lines` that runs it, `sizes` how much work each contender gets, `floor` the
    ratio that must be reached (for "scaling": not exceeded), `aim` the one hoped for, and `tolerance` by how
    much the mean losses may differ beyond three standard errors, as a share of the rival's.
    """

    key: str
    title: str
    kind: str
    rule: Rule
    sizes: dict[str, int]
    floor: float | None = None
    aim: float | None = None
    tolerance: float = 0.02
    rounds: int = 3
    options: dict[str, float] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


LINEAR = Rule()
LSTM_32 = Rule(network="lstm", units=32)
LSTM_128 = Rule(network="lstm", units=128)
# Default starts of the MLP, no penalty, a fixed number of epochs: the usual way to train a large table.
TABLE = Rule(
    network="mlp",
    quantiles=(0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9),
    learning_rate=0.001,
    l2=0.0,
    max_epochs=8,
    patience=None,
    batch_size=4096,
    initialiser="glorot",
)
# One plain quantile against solvers that run to the optimum: long enough to come within a percent of it.
MEDIAN = Rule(
    quantiles=(0.9,), learning_rate=0.05, l2=0.0, max_epochs=300, patience=None, initialiser="glorot"
)

FULL = (
    Line(
        "linear",
        "linear, K = 2, 126 + 126 rows, 7 lags",
        "many",
        LINEAR,
        {"ours": 9000, "torch": 120, "keras": 2},
        floor=260,
        aim=400,
    ),
    Line(
        "numpy",
        "4,000 of the same against a NumPy loop",
        "many",
        LINEAR,
        {"ours": 4000, "numpy": 400},
        floor=12,
        aim=30,
        options={"preparing": 0.2},
    ),
    Line(
        "lstm-32",
        "LSTM-32, same problems",
        "many",
        LSTM_32,
        {"ours": 400, "torch": 300, "keras": 2},
        floor=3.8,
        aim=8,
    ),
    Line(
        "lstm-128",
        "LSTM-128, same problems",
        "many",
        LSTM_128,
        {"ours": 80, "torch": 80},
        floor=1.5,
        aim=2.5,
    ),
    Line("two-linear", "linear, both cores / one", "cores", LINEAR, {"ours": 20_000}, floor=1.6),
    Line("two-lstm-32", "LSTM-32, both cores / one", "cores", LSTM_32, {"ours": 400}, floor=1.6),
    Line(
        "mlp",
        "MLP 64-64, K = 9, seconds per epoch",
        "table",
        TABLE,
        {"rows": 1_000_000, "columns": 20},
        floor=1.3,
    ),
    Line(
        "scaling",
        "linear, cost per network, many / few",
        "scaling",
        LINEAR,
        {"few": 1000, "many": 100_000},
        floor=1.2,
        options={"memory_ratio": 1.1},
    ),
    Line(
        "solvers",
        "one linear quantile, 1,000 rows",
        "solvers",
        MEDIAN,
        {"ours": 1000, "statsmodels": 20, "sklearn": 10, "rows": 1000},
        tolerance=0.01,
    ),
)

_SMALL_SIZES: dict[str, dict[str, int]] = {
    "linear": {"ours": 200, "torch": 10},
    "numpy": {"ours": 200, "numpy": 10},
    "lstm-32": {"ours": 16, "torch": 8, "keras": 1},
    "lstm-128": {"ours": 4, "torch": 4},
    "two-linear": {"ours": 400},
    "two-lstm-32": {"ours": 16},
    "mlp": {"rows": 20_000, "columns": 20},
    "scaling": {"few": 200, "many": 1000},
    "solvers": {"ours": 20, "statsmodels": 2, "sklearn": 2, "rows": 1000},
}
# Small enough for every commit: it shows that all lines run and agree roughly; its ratios mean nothing.
SMALL = tuple(
    replace(
        line,
        sizes=_SMALL_SIZES[line.key],
        floor=None,
        aim=None,
        rounds=1,
        tolerance=0.5,
        options={},
    )
    for line in FULL
)
CONFIGS = {"full": FULL, "small": SMALL}
