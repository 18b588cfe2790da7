"""What `unmet paper` can be asked for."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unmet.papers._answers import Answer, Check, write_answer
from unmet.papers._checks import CHECKS
from unmet.papers._experiments import TABLES, Experiment
from unmet.papers._runner import run_experiment
from unmet.papers._tables import Table, lay_out

if TYPE_CHECKING:
    from unmet.papers.mobility import Asked

SYNTHETIC = (*TABLES, "figures")
MOBILITY = ("bikes", "fleet")
WHAT = (*TABLES, "figures", "synthetic", "defaults", "methods", *MOBILITY, "all")


def parts(what: str) -> tuple[str, ...]:
    """Return the single steps that `what` stands for."""
    if what not in WHAT:
        raise ValueError(f"there is no {what!r} to reproduce: choose from {', '.join(WHAT)}")
    return {"synthetic": SYNTHETIC, "all": (*SYNTHETIC, "defaults", "methods", *MOBILITY)}.get(what, (what,))


def reproduce(
    what: str,
    folder: Path,
    *,
    smoke: bool = False,
    full: bool = False,
    jobs: int = 1,
    only: Sequence[str] = (),
    mobility: "Asked | None" = None,
    say: Callable[[str, list[Table], list[Check]], None] = lambda title, tables, checks: None,
) -> Iterator[str]:
    """Do what is asked, step by step; yield the name of each finished text, `name.md` in the folder.

    Parameters
    ----------
    what : one of `WHAT`.
    folder : gets the tables and figures, and in `runs/` what is needed to go on after an interruption.
    jobs : worker processes for the comparison of configurations and the grids; −1: one per core.
    mobility : size, data and machines of the experiments on bikes and fleets; None: a part of the grid on
        a simulated city, or a quick pass with `smoke`.
    full : all seeds and sizes of the comparison of methods.
    only : the methods of that comparison to run; the others are shown as far as the folder holds them.
    smoke : a quick pass through everything, with numbers that mean nothing.
    say : called with the title, the tables to show and the findings of each finished step.
    """
    for step in parts(what):
        answer = _do(step, folder, smoke, full, jobs, only, mobility)
        say(answer.title, list(answer.tables), list(answer.checks))
        yield from answer.names


def _do(
    step: str, folder: Path, smoke: bool, full: bool, jobs: int, only: Sequence[str], mobility: Any
) -> Answer:
    if step in TABLES:
        return _table(TABLES[step].small() if smoke else TABLES[step], folder)
    if step == "figures":
        from unmet.papers._figures import write_figures

        write_figures(folder / "figures", smoke=smoke)
        return Answer("Figures", (step,))
    if step == "defaults":
        from unmet.papers._defaults import compare_defaults

        return compare_defaults(folder, smoke=smoke, jobs=jobs)
    if step == "methods":
        from unmet.papers._methods import compare_methods

        size = "smoke" if smoke else "full" if full else "medium"
        return compare_methods(folder, size=size, jobs=jobs, only=only)
    from unmet.papers.mobility import Asked, run_bikes, run_fleet

    asked = mobility or Asked("smoke" if smoke else "medium", jobs=jobs)
    return (run_bikes if step == "bikes" else run_fleet)(folder, asked)


def _table(experiment: Experiment, folder: Path) -> Answer:
    """Run the experiment of one table, in one process: compiling for a second would take longer."""
    cells = run_experiment(experiment, folder)
    checks = CHECKS[experiment.name](cells)
    shown = [cell for cell in cells if cell.theta or "theta" not in experiment.lines]
    layout = (experiment.sections, experiment.lines, experiment.columns)
    write_answer(
        folder,
        experiment.name,
        lay_out(shown, *layout),
        checks,
        before=f"{experiment.title}.",
        cells=cells,
    )
    plain = lay_out(shown, *layout, spread=False)[:1]
    return Answer(experiment.title, (experiment.name,), plain, checks)
