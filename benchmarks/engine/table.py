"""What comes out: a table for people, a JSON file for machines, both from the same verdicts."""

from __future__ import annotations

import json
import os
import platform
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks.engine.config import Line
from benchmarks.engine.lines import Verdict
from benchmarks.engine.race import Outcome

METHOD = (
    "Each contender runs in a fresh process pinned to one core with one thread (both cores where the line "
    "says so), contenders take turns, medians over the turns. All train the same problems, standardised "
    "beforehand, from random starts of the same distribution, with the same rule; compilation, tracing and "
    "set-up are excluded for all by an untimed first fit. Losses are mean censored pinball losses on the "
    "validation rows, computed by one function for everyone from the predictions, over the problems both "
    "sides trained; they agree when they differ by at most the tolerance, as a share of the rival's."
)


def machine() -> dict[str, Any]:
    """What it ran on."""
    model = platform.processor()
    try:
        names = [
            line for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")
        ]
        model = names[0].split(":", 1)[1].strip()
    except (OSError, IndexError):
        pass
    return {
        "processor": model,
        "cores": len(os.sched_getaffinity(0)),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "load_at_start": os.getloadavg()[0],
    }


def show(verdicts: list[Verdict], console: Console) -> None:
    """The table."""
    table = Table(title="Engine benchmarks", show_lines=True)
    for name in ("line", "against", "rival", "ours"):
        table.add_column(name)
    for name in ("ratio", "floor", "loss, rival → ours"):
        table.add_column(name, justify="right")
    table.add_column("remarks", ratio=1)
    for v in verdicts:
        colour = {True: "green", False: "bold red", None: ""}[v.reached]
        ratio = "–" if v.ratio is None else f"{v.ratio:,.3g}×"
        floor = "" if v.floor is None else f"{'≤' if v.at_most else '≥'} {v.floor:g}"
        losses = ""
        if v.rival_loss is not None and v.our_loss is not None:
            losses = f"{v.rival_loss:.4f} → {v.our_loss:.4f}"
            losses += " [bold red]DISAGREE[/]" if v.losses_agree is False else ""
        shown = f"[{colour}]{ratio}[/]" if colour else ratio
        table.add_row(
            v.title, v.rival, v.rival_figure, v.our_figure, shown, floor, losses, "; ".join(v.remarks)
        )
    console.print(table)


def write(
    path: Path,
    config: str,
    where: dict[str, Any],
    lines: list[tuple[Line, list[Verdict], dict[str, Outcome]]],
) -> None:
    """The JSON file, replaced as a whole, so that a run cut short leaves the lines that were finished."""
    versions: dict[str, str] = {}
    for _, _, outcomes in lines:
        for outcome in outcomes.values():
            for answer in outcome.answers:
                versions |= answer["versions"]
    content = {
        "config": config,
        "when": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": where,
        "versions": dict(sorted(versions.items())),
        "method": METHOD,
        "lines": [
            {
                "what": line.to_json(),
                "rows": [verdict.to_json() for verdict in verdicts],
                "contenders": {name: outcome.to_json() for name, outcome in outcomes.items()},
            }
            for line, verdicts, outcomes in lines
        ],
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".json.tmp")
    part.write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    part.replace(path)
