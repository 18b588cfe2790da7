"""`unmet demo`: the whole way on a simulated city, whose truth is known; or six models on synthetic data."""

from pathlib import Path
from typing import Annotated

import typer

from unmet.cli import _options as options

EXAMPLE = "Example: unmet demo -o out/demo"
CHOICES = {
    "noise": (
        *("gaussian", "heteroskedastic", "mixture", "skewed-right", "skewed-left", "student"),
        *("skewed-heteroskedastic", "varying-shape"),
    ),
}


def demo(
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="DIR", help="Folder for all files.")
    ] = Path("out/demo"),
    size: Annotated[str, typer.Option(metavar="village|town|city", help="Size of the city.")] = "town",
    days: Annotated[int, typer.Option(min=42, metavar="N", help="Days of trips.")] = 90,
    shocks: Annotated[
        str, typer.Option(metavar="independent|persistent", help="Whether shocks of demand last over hours.")
    ] = "independent",
    models: Annotated[
        bool, typer.Option("--models", help="Compare six models on synthetic data, no city.")
    ] = False,
    noise: Annotated[
        str, typer.Option(metavar="NOISE", help="--models: heteroskedastic, gaussian, mixture, student, …")
    ] = "heteroskedastic",
    seed: Annotated[
        int | None,
        typer.Option(
            min=0, metavar="N", help="Seed of the data. [default: 1; 42, the paper's, with --models]"
        ),
    ] = None,
    jobs: options.Jobs = -1,
    replace: options.Replace = False,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
) -> None:
    """Simulate a city, recover its demand from its files alone, and hold that against the truth.

    Trips, feeds and weather of the city are written and read back as an operator's would be; then panel, fit,
    forecast, plan, report. Last, the final four weeks are played again with stock targets from usage, from
    the estimated demand and from the true one.
    """
    of_city = {"--size": size != "town", "--days": days != 90, "--shocks": shocks != "independent"}
    of_city |= {"--jobs": jobs != -1, "--replace": replace, "--json": as_json}
    lost = [name for name, given in of_city.items() if given and models]
    if lost:
        raise ValueError(f"{lost[0]} is about the city, and --models shows none: leave one of them out")
    if noise != "heteroskedastic" and not models:
        raise ValueError("--noise is about synthetic data: give --models too")
    if models:
        from unmet.cli._demo_models import show_models

        show_models(output, noise, 42 if seed is None else seed, quiet)
        return
    from unmet import pipeline
    from unmet.cli._run_summary import tell

    made = pipeline.run_demo(
        output,
        size=size,
        days=days,
        shocks=shocks,
        seed=1 if seed is None else seed,
        jobs=jobs,
        replace=replace,
        progress=False if quiet else None,
    )
    tell(made, as_json=as_json, quiet=quiet)
