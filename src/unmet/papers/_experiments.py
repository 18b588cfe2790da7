"""The experiments of Section IV as data. A row of a table is a line here."""

from dataclasses import dataclass, replace

from unmet.papers._models import CONVERGED, DEFAULT, ORACLE, PRINTED, RELEASED, Model

PAPER_NOISES = ("gaussian", "heteroskedastic", "mixture")
OTHER_NOISES = ("skewed-right", "skewed-left", "student", "skewed-heteroskedastic", "varying-shape")
DECILES = tuple(round(0.1 * step, 1) for step in range(1, 10))
LEVELS = (0.05, 0.5, 0.95)


@dataclass(frozen=True)
class Block:
    """Rows of a table that belong together.

    A quick pass leaves out blocks without `quick`, which only compile more programs. `repeats` replaces the
    number of runs of the experiment.
    """

    name: str
    models: tuple[Model, ...]
    quick: bool = True
    repeats: int | None = None


@dataclass(frozen=True)
class Experiment:
    """What to fit, to which data, how often, and what to measure.

    Parameters
    ----------
    measures : names in `unmet.papers._measures.MEASURES`.
    repeats : runs of each model on each data set, which differ in their random start.
    rows : "test" or "all": which rows are measured.
    sections, lines, columns : fields of a cell that lay out the table.
    """

    name: str
    title: str
    blocks: tuple[Block, ...]
    measures: tuple[str, ...]
    quantiles: tuple[float, ...] = LEVELS
    noises: tuple[str, ...] = PAPER_NOISES
    seeds: tuple[int, ...] = (42,)
    repeats: int = 10
    rows: str = "test"
    sections: tuple[str, ...] = ("rows",)
    lines: tuple[str, ...] = ("data", "block", "model")
    columns: tuple[str, ...] = ("measure",)
    epochs: int | None = None  # a cap on the epochs of all models, for a quick look
    together: bool = False  # all blocks at once, which a killed run loses together

    def small(self) -> "Experiment":
        """Return a quick pass through the same code, with numbers that mean nothing.

        It spends most of its time compiling. So all tables share their levels, and with them their programs,
        and all blocks of a table compile together.
        """
        blocks = tuple(replace(block, repeats=None) for block in self.blocks if block.quick)
        return replace(
            self,
            blocks=blocks,
            quantiles=LEVELS,
            repeats=min(self.repeats, 2),
            seeds=self.seeds[:1],
            epochs=30,
            together=True,
        )


# The paper has ten runs. Ten other starts move some means by 0.1, so one could pick ten that fit. A hundred
# leave no such choice.
STARTS = 100

OURS = (Block("ours", (DEFAULT,)), Block("oracle", (ORACLE,)))

TABLE1 = Experiment(
    "table1",
    "Percent of conditional quantiles that are zero after censoring, over all 1,000 rows",
    (
        Block("as published", (Model("true quantiles", sees="truth", truth="published", seeded=False),)),
        Block("corrected", (Model("true quantiles", sees="truth", truth="exact", seeded=False),)),
    ),
    ("zeros",),
    rows="all",
    sections=(),
    lines=("data", "block"),
    columns=("theta",),
)

TABLE2 = Experiment(
    "table2",
    "Errors of estimated quantiles against the true conditional quantiles of the latent value",
    (
        Block(
            "as published",
            tuple(RELEASED[n] for n in ("QNN", "Multi-QNN", "CQNN", "Multi-CQNN")),
            repeats=STARTS,
        ),
        Block(
            "text's settings",
            tuple(PRINTED[n] for n in ("QNN", "Multi-QNN", "CQNN", "Multi-CQNN")),
            quick=False,
        ),
        Block(
            "converged",
            tuple(CONVERGED[n] for n in ("QNN", "Multi-QNN", "Multi-CQNN", "Multi-CQNN, printed equation")),
            quick=False,
        ),
        *OURS,
    ),
    ("errors", "crosses"),
    sections=("measure", "rows"),
    lines=("theta", "block", "model"),
    columns=("data",),
)

TABLE3 = Experiment(
    "table3",
    "Interval from the 0.05 to the 0.95 quantile, against latent values",
    (
        Block("as published", tuple(RELEASED[n] for n in ("Tobit", "CQNN", "Multi-CQNN")), repeats=STARTS),
        Block("text's settings", tuple(PRINTED[n] for n in ("Tobit", "CQNN", "Multi-CQNN")), quick=False),
        Block(
            "converged",
            tuple(CONVERGED[n] for n in ("Tobit, σ estimated", "Tobit, σ(x) estimated")),
            quick=False,
        ),
        *OURS,
    ),
    ("intervals",),
    quantiles=(0.05, 0.95),
)

TABLE4 = Experiment(
    "table4",
    "Crossings of estimated deciles",
    (
        Block("as published", tuple(RELEASED[n] for n in ("CQNN", "Multi-CQNN")), repeats=STARTS),
        Block("text's settings", tuple(PRINTED[n] for n in ("CQNN", "Multi-CQNN")), quick=False),
        Block("converged", tuple(CONVERGED[n] for n in ("CQNN", "Multi-CQNN")), quick=False),
        *OURS,
    ),
    ("crossings",),
    quantiles=DECILES,
)

TABLES = {experiment.name: experiment for experiment in (TABLE1, TABLE2, TABLE3, TABLE4)}
