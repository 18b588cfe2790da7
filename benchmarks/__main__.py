"""`python -m benchmarks`: prepare the environment, run the lines in it, show and write the result."""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

from benchmarks.environment import ROOT, inside, prepare


def arguments() -> argparse.Namespace:
    from benchmarks.engine.config import CONFIGS, FULL

    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--config", choices=sorted(CONFIGS), default="full", help="small: quick, no floors")
    keys = [line.key for line in FULL]
    parser.add_argument("--only", nargs="+", choices=keys, default=keys, metavar="LINE", help=", ".join(keys))
    parser.add_argument("--output", type=Path, default=ROOT / "out" / "bench" / "engine.json")
    return parser.parse_args()


def run(options: argparse.Namespace) -> int:
    """Run the lines; 1 if a floor was missed, losses disagree, or ours failed."""
    from rich.console import Console

    from benchmarks.engine.config import CONFIGS
    from benchmarks.engine.lines import run_line
    from benchmarks.engine.table import machine, show, write

    console = Console(width=None if sys.stdout.isatty() else 160)
    where, finished, verdicts = machine(), [], []
    for line in CONFIGS[options.config]:
        if line.key not in options.only:
            continue
        rows, outcomes = run_line(line, lambda text, key=line.key: text and console.log(f"{key}: {text}"))
        finished.append((line, rows, outcomes))
        verdicts += rows
        write(options.output, options.config, where, finished)
    show(verdicts, console)
    console.print(f"written to {options.output}")
    broken = any(
        outcome.problem for _, _, outcomes in finished for k, outcome in outcomes.items() if k == "ours"
    )
    missed = any(v.reached is False or v.losses_agree is False for v in verdicts)
    return int(broken or missed)


def main() -> int:
    options = arguments()
    if inside():
        return run(options)
    command = [str(prepare()), "-m", "benchmarks", *sys.argv[1:]]
    return subprocess.run(command, cwd=ROOT).returncode


if __name__ == "__main__":
    raise SystemExit(main())
