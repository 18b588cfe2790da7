"""The default on data seeds that nothing was chosen on: one call, one start, as a user makes it.

    python -m benchmarks.default_seeds --seeds 8300 20 --output out/default_seeds

Fix the seeds before you look, and look once. Printed: the error of the default divided by that of the
published method (geometric mean over the cells of noise and level, and the worst), and by that of its own
oracle, which sees the latent values. What is finished is kept in the output folder.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

from unmet.papers._defaults import summarise
from unmet.papers._experiments import OTHER_NOISES, PAPER_NOISES, Block, Experiment
from unmet.papers._models import DEFAULT, RELEASED
from unmet.papers._runner import run_experiment

PUBLISHED = "Multi-CQNN as published"


def experiment(first: int, count: int) -> Experiment:
    """Return the fits: the published method, the default, and its oracle."""
    models = (DEFAULT, replace(DEFAULT, name="oracle", sees="latent"))
    blocks = (Block(PUBLISHED, (RELEASED["Multi-CQNN"],)), Block("default", models))
    return Experiment(
        f"default-{first}",
        f"Seeds {first}–{first + count - 1}",
        blocks,
        ("mean errors",),
        noises=PAPER_NOISES + OTHER_NOISES,
        seeds=tuple(range(first, first + count)),
        repeats=1,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--seeds", type=int, nargs=2, required=True, metavar=("FIRST", "COUNT"))
    parser.add_argument("--output", type=Path, default=Path("out/default_seeds"))
    parser.add_argument("--jobs", type=int, default=1)
    given = parser.parse_args()
    cells = run_experiment(experiment(*given.seeds), given.output, jobs=given.jobs)
    groups = {"paper's noises": PAPER_NOISES, "other noises": OTHER_NOISES}
    groups |= {"all": PAPER_NOISES + OTHER_NOISES} | {noise: (noise,) for noise in groups["paper's noises"]}
    groups |= {noise: (noise,) for noise in OTHER_NOISES}
    print(f"{'':26}{'/ published':>12}{'worst':>8}{'x oracle':>10}")
    for name, noises in groups.items():
        found = summarise(cells, "default", noises, PUBLISHED)
        print(f"{name:26}{found.ratio:12.3f}{found.worst:8.2f}{found.over_oracle:10.3f}")


if __name__ == "__main__":
    main()
