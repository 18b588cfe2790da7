"""What a run says at its end: a sentence, what to trust, and where the report is."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from unmet.cli._plan_table import plan_sentences
from unmet.cli._run_files import read_json

_WORST = 5
_ENDS = ("q05", "q95")  # of a 90% interval


FILES = ("panel.parquet", "forecast.parquet", "lost.parquet", "plan.csv", "moves.csv", "report.html")
FITTED = ("panel.parquet", "lost.parquet")


def summary_of(folder: Path, files: Sequence[str] = FILES) -> dict[str, Any]:
    """The figures of a run folder that its closing words need; a part that is missing is None."""
    total = _read(folder / "lost_total.json") or {}
    measures = _read(folder / "measures.json") or []
    calibration = _read(folder / "calibration.json") or {}
    lost = {place: found["lost"] for place, found in total.get("places", {}).items()}
    worst = sorted(lost, key=lambda place: (-lost[place]["mean"], place))[:_WORST]
    return {
        "observed": total.get("observed"),
        "demand": total.get("demand"),
        "lost": total.get("lost"),
        "worst": [
            {"place": place, "lost": lost[place]["mean"], **{end: lost[place].get(end) for end in _ENDS}}
            for place in worst
        ],
        "left_out": _left_out(folder, total.get("observed")),
        "model": next((entry["model"] for entry in measures if entry.get("chosen")), None),
        "coverage": calibration.get("coverage"),
        "inferred": _inferred(folder),
        "never_available": _never_available(folder),
        "files": [str(folder / name) for name in files if (folder / name).exists()],
    }


def tell(
    folder: Path, *, as_json: bool, quiet: bool, files: Sequence[str] = FILES, kept: Sequence[str] = ()
) -> None:
    """Print the summary of a run, or of those steps that wrote `files`; readable from 40 columns on.

    `kept` names the steps that had been done before.
    """
    found = summary_of(folder, files)
    if as_json:
        print(json.dumps(found, indent=2))
        return
    if quiet:
        return
    from rich.console import Console
    from rich.markup import escape

    console = Console(highlight=False)
    if kept:
        console.print(f"Kept from before, since nothing changed for them: {', '.join(kept)}.")
    if found["lost"] is not None:
        console.print(sentence(found))
    left_out = found["left_out"]
    if left_out["periods"] or left_out["rides"]:
        console.print(
            f"Left out: {left_out['periods']:.1%} of the rows, with {left_out['rides']:,} rides, since the "
            "place was closed or its feed silent for a part of the time."
        )
    names = _names(folder) if found["worst"] else {}

    def name(place: str) -> str:
        return escape(names.get(place, place))

    if found["worst"]:
        places = [f"{name(one['place'])} ({_rounded(one)})" for one in found["worst"]]
        console.print(f"Most rides lost at: {', '.join(places)}.")
    empty = found["never_available"]
    if empty:
        shown = ", ".join(name(place) for place in empty[:_WORST])
        more = f" and {len(empty) - _WORST:,} more places" if len(empty) > _WORST else ""
        console.print(f"Never a vehicle at {shown}{more}: what was lost there is guessed from other places.")
    coverage = found["coverage"] or {}
    if coverage.get("randomised") is not None:
        console.print(
            f"Forecasts of the last weeks, made day by day: 90% intervals held {coverage['randomised']:.1%} "
            f"(whole counts: {coverage['plain']:.1%})."
        )
    elif coverage:
        console.print("Too few data to test the 90% intervals: their upper ends are not identified.")
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
    if "plan.csv" in files:
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


def _rounded(one: dict[str, Any]) -> str:
    """Lost rides of a place with the digits that the report shows."""
    from unmet.report._numbers import rounded

    low, high = (one[end] for end in _ENDS)
    width = high - low if low is not None and high is not None else 0.0
    return rounded(round(one["lost"]) if width < 10 else one["lost"], width)


def _read(path: Path) -> Any:
    return read_json(path) if path.is_file() else None


def _names(folder: Path) -> dict[str, str]:
    path = folder / "stations.parquet"
    if not path.is_file():
        return {}
    from unmet.tables import read_columns

    columns, _ = read_columns(path)
    return {str(place): str(name) for place, name in zip(columns["unique_id"], columns["name"])}


def _never_available(folder: Path) -> list[str]:
    """Places where no vehicle could ever be had: nothing was learned there."""
    path = folder / "lost.parquet"
    if not path.is_file():
        return []
    from unmet.tables import literal_path, scratch

    best = "max(CASE WHEN isnan(exposure) THEN 0 ELSE exposure END)"
    with scratch(path) as con:
        found = con.execute(
            f"SELECT unique_id FROM read_parquet({literal_path(path)}) GROUP BY unique_id "
            f"HAVING coalesce({best}, 0) <= 0 ORDER BY unique_id"
        ).fetchall()
    return [str(row[0]) for row in found]


def measures_of(folder: Path) -> dict[str, Any]:
    """What `run.json` says of the results."""
    found = summary_of(folder)
    kept = ("observed", "left_out", "demand", "lost", "model", "coverage", "inferred", "never_available")
    return {name: found[name] for name in kept}


def versions() -> dict[str, str]:
    """Of Python and what decides the numbers."""
    import platform
    from importlib.metadata import version

    packages = ("unmet", "numpy", "scipy", "scikit-learn", "jax", "equinox", "optax", "duckdb")
    return {"python": platform.python_version(), **{name: version(name) for name in packages}}


def _left_out(folder: Path, observed: float | None) -> dict[str, float]:
    """Rows that were not known and open throughout, and their pickups: no estimate holds them."""
    panel, lost = folder / "panel.parquet", folder / "lost.parquet"
    if observed is None or not (panel.is_file() and lost.is_file()):
        return {"periods": 0.0, "rides": 0}
    from unmet.tables import literal_path, scratch

    unknown = "avg(CASE WHEN exposure IS NULL OR isnan(exposure) THEN 1.0 ELSE 0.0 END)"
    with scratch(panel, lost) as con:

        def value(what: str, path: Path) -> float:
            row = con.execute(f"SELECT {what} FROM read_parquet({literal_path(path)})").fetchone()
            return float(row[0] or 0.0) if row else 0.0

        rides, share = value("sum(y)", panel), value(unknown, lost)
    return {"periods": share, "rides": max(0, round(rides - observed))}


def _inferred(folder: Path) -> float:
    """Share of rows whose stock rests on rides alone."""
    panel = (_read(folder / "panel.json") or {}).get("panel", {})
    return panel.get("rows_inferred", 0) / max(1, panel.get("rows", 1))
