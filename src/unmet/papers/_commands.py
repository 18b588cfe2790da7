"""What `unmet paper` can be asked for, and the files each answer becomes."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from unmet.papers._cells import Cell, from_json, read_published, select, to_csv, to_json
from unmet.papers._checks import CHECKS, Check
from unmet.papers._checks import to_markdown as checks_to_markdown
from unmet.papers._experiments import TABLES, Experiment
from unmet.papers._tables import Table, lay_out, to_markdown

if TYPE_CHECKING:
    from unmet.papers.mobility import Asked

SYNTHETIC = (*TABLES, "figures")
MOBILITY = ("bikes", "fleet")
WHAT = (*TABLES, "figures", "synthetic", "defaults", *MOBILITY, "all")


def steps(what: str) -> tuple[str, ...]:
    """The single steps that `what` stands for."""
    if what not in WHAT:
        raise ValueError(f"there is no {what!r} to reproduce: choose from {', '.join(WHAT)}")
    return {"synthetic": SYNTHETIC, "all": (*SYNTHETIC, "defaults", *MOBILITY)}.get(what, (what,))


def run_experiment(experiment: Experiment, folder: Path, *, jobs: int = 1) -> list[Cell]:
    """All cells, published ones first. A block that the same code has finished before is not run again."""
    from unmet.papers._runner import run_blocks
    from unmet.runs import Run, progress

    config = {"experiment": repr(experiment)}
    cells: list[Cell] = select(read_published(), table=experiment.name)
    keys = {block.name: _key(block.name) for block in experiment.blocks}
    with (
        Run(folder / "runs" / experiment.name, config, changed="recompute") as run,
        progress(len(experiment.blocks), experiment.name, "blocks") as bar,
    ):
        todo = [block for block in experiment.blocks if not run.done(keys[block.name])]
        bar.advance(len(keys) - len(todo))
        # Together, ours come first: their programs take longest to compile, and others compile beside them.
        for group in [todo[::-1]] if experiment.together else [[block] for block in todo]:
            for block, found in zip(group, run_blocks(experiment, group, jobs=jobs)):
                run.write(keys[block.name], to_json(found).encode())
                bar.advance(1)
        for key in keys.values():
            cells += from_json(run.path(key).read_bytes())
        run.finish(keys.values())
    return cells


def _key(name: str) -> str:
    return "".join(letter if letter.isascii() and letter.isalnum() else "-" for letter in name) + ".json"


def write_table(experiment: Experiment, cells: list[Cell], folder: Path) -> tuple[list[Table], list[Check]]:
    """Markdown, CSV and JSON of a table; returns what a terminal should show of it."""
    checks = CHECKS[experiment.name](cells)
    shown = [cell for cell in cells if cell.theta or "theta" not in experiment.lines]
    layout = (experiment.sections, experiment.lines, experiment.columns)
    tables = lay_out(shown, *layout)
    text = f"{experiment.title}.\n\n{to_markdown(tables)}\n{checks_to_markdown(checks)}"
    write(folder / f"{experiment.name}.md", text)
    write(folder / f"{experiment.name}.csv", to_csv(cells))
    write(folder / f"{experiment.name}.json", to_json(cells))
    return lay_out(shown, *layout, spread=False)[:1], checks


def write(path: Path, text: str) -> None:
    from unmet.runs import write_bytes

    path.parent.mkdir(parents=True, exist_ok=True)
    write_bytes(path, text.encode())


def reproduce(
    what: str,
    folder: Path,
    *,
    smoke: bool = False,
    jobs: int = 1,
    mobility: "Asked | None" = None,
    say: Callable[[str, list[Table], list[Check]], None] = lambda title, tables, checks: None,
) -> Iterator[str]:
    """Do what is asked, step by step; yields the name of each finished text, `name.md` in the folder.

    Parameters
    ----------
    what : one of `WHAT`.
    folder : gets the tables and figures, and in `runs/` what is needed to go on after an interruption.
    jobs : worker processes for the comparison of configurations and the grids; −1: one per core.
    mobility : size, data and machines of the experiments on bikes and fleets; None: a part of the grid on
        a simulated city, or a quick pass with `smoke`.
    smoke : a quick pass through everything, with numbers that mean nothing.
    say : called with the title, the tables to show and the findings of each finished step.
    """
    for step in steps(what):
        if step in TABLES:
            experiment = TABLES[step].small() if smoke else TABLES[step]
            # One process: a table takes less time than the programs of a second one take to compile.
            cells = run_experiment(experiment, folder)
            say(experiment.title, *write_table(experiment, cells, folder))
        elif step == "figures":
            from unmet.papers._figures import write_figures

            write_figures(folder / "figures", smoke=smoke)
            say("Figures", [], [])
        elif step in MOBILITY:
            from unmet.papers.mobility import Asked, run_bikes, run_fleet

            asked = mobility or Asked("smoke" if smoke else "medium", jobs=jobs)
            answer = (run_bikes if step == "bikes" else run_fleet)(folder, asked)
            say(answer.title, answer.tables, answer.checks)
            yield from answer.names
            continue
        else:
            from unmet.papers._defaults import compare_defaults

            say("Configurations compared", *compare_defaults(folder, smoke=smoke, jobs=jobs))
        yield step
