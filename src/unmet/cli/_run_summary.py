"""What a run says at its end: a sentence, what to trust, and where the report is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from unmet.cli._plan_table import plan_sentences
from unmet.cli._run_files import read_json

_WORST = 5


def summary_of(folder: Path) -> dict[str, Any]:
    """The figures of a run folder that its closing words need; a part that is missing is None."""
    total = _read(folder / "lost_total.json") or {}
    measures = _read(folder / "measures.json") or []
    calibration = _read(folder / "calibration.json") or {}
    lost = {place: found["lost"]["mean"] for place, found in total.get("places", {}).items()}
    worst = sorted(lost, key=lambda place: (-lost[place], place))[:_WORST]
    files = ("panel.parquet", "forecast.parquet", "lost.parquet", "plan.csv", "moves.csv", "report.html")
    return {
        "observed": total.get("observed"),
        "demand": total.get("demand"),
        "lost": total.get("lost"),
        "worst": [{"place": place, "lost": lost[place]} for place in worst],
        "model": next((entry["model"] for entry in measures if entry.get("chosen")), None),
        "coverage": calibration.get("coverage"),
        "inferred": _inferred(folder),
        "files": [str(folder / name) for name in files if (folder / name).exists()],
    }


def tell(folder: Path, *, as_json: bool, quiet: bool) -> None:
    """Print the summary of a run; readable from 60 columns on."""
    found = summary_of(folder)
    if as_json:
        print(json.dumps(found, indent=2))
        return
    if quiet:
        return
    from rich.console import Console
    from rich.markup import escape

    console = Console(highlight=False)
    if found["lost"] is not None:
        console.print(sentence(found))
    if found["worst"]:
        names = _names(folder)
        places = [
            f"{escape(names.get(one['place'], one['place']))} ({one['lost']:,.0f})" for one in found["worst"]
        ]
        console.print(f"Most rides lost at: {', '.join(places)}.")
    coverage = found["coverage"] or {}
    if coverage.get("randomised") is not None:
        console.print(
            f"Forecasts of the last weeks, made day by day: 90% intervals held {coverage['randomised']:.1%} "
            f"(whole counts: {coverage['plain']:.1%})."
        )
    if found["inferred"] >= 0.005:
        console.print(
            f"Stock was inferred in {found['inferred']:.0%} of the rows: there was no status feed for them."
        )
    truth = _read(folder / "truth.json")  # of a simulated city
    if truth is not None:
        played = truth["targets"]
        console.print(
            f"In truth {truth['lost']['true']:,.0f} rides were lost. The last {played['days']} days "
            f"played again lose {played['lost_observed']:,.0f} rides with stock targets from usage, "
            f"{played['lost_estimated']:,.0f} from the estimate, {played['lost_true']:,.0f} from the truth."
        )
    for line in plan_sentences(folder):
        console.print(line)
    for path in found["files"]:
        console.print(f"  {escape(path)}", soft_wrap=True)


def sentence(found: dict[str, Any]) -> str:
    """Observed, demand and lost rides in one sentence."""
    demand, lost = found["demand"], found["lost"]
    return (
        f"Observed {found['observed']:,.0f} rides; estimated demand [bold]{demand['mean']:,.0f}[/bold] "
        f"(90% {demand['q05']:,.0f}–{demand['q95']:,.0f}); lost [bold]{lost['mean']:,.0f}[/bold] rides "
        f"(90% {lost['q05']:,.0f}–{lost['q95']:,.0f})."
    )


def _read(path: Path) -> Any:
    return read_json(path) if path.is_file() else None


def _names(folder: Path) -> dict[str, str]:
    path = folder / "stations.parquet"
    if not path.is_file():
        return {}
    from unmet.runs import read_columns

    columns, _ = read_columns(path)
    return {str(place): str(name) for place, name in zip(columns["unique_id"], columns["name"])}


def _inferred(folder: Path) -> float:
    """Share of rows whose stock rests on rides alone."""
    panel = (_read(folder / "panel.json") or {}).get("panel", {})
    return panel.get("rows_inferred", 0) / max(1, panel.get("rows", 1))
