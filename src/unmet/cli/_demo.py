"""`unmet demo`: the whole way on a simulated city, whose truth is known; or six models on synthetic data."""

from pathlib import Path
from typing import Annotated, Literal, get_args

import typer

from unmet.cli import _options as options

EXAMPLE = "Example: unmet demo -o out/demo"
in_city, in_models = options.group("City"), options.group("Models")
Noise = Literal[
    "gaussian",
    "heteroskedastic",
    "mixture",
    "skewed-right",
    "skewed-left",
    "student",
    "laplace",
    "skewed-heteroskedastic",
    "varying-shape",
]


def demo(
    output: options.Folder = Path("out/demo"),
    size: Annotated[
        Literal["village", "town", "city"], in_city(metavar="village|town|city", help="Size of the city.")
    ] = "town",
    days: Annotated[int, in_city(min=42, metavar="N", help="Number of days to simulate.")] = 90,
    shocks: Annotated[
        Literal["independent", "persistent"],
        in_city(
            metavar="independent|persistent", help="Whether a shock to demand lasts one hour or several."
        ),
    ] = "independent",
    models: Annotated[
        bool, in_models("--models", help="Compare six models on synthetic data instead of a city.")
    ] = False,
    noise: Annotated[
        Noise,
        in_models(
            metavar="NOISE", help=f"With --models: noise of the data, one of {', '.join(get_args(Noise))}."
        ),
    ] = "heteroskedastic",
    seed: Annotated[
        int | None,
        typer.Option(
            min=0, metavar="N", show_default="1; with --models 42, as in the paper", help="Seed of the data."
        ),
    ] = None,
    jobs: options.Jobs = -1,
    replace: options.Replace = False,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
) -> None:
    """Simulate a city, recover its demand from its files alone, and compare the result with the truth.

    Writes trips, feeds and weather as an operator would, then runs panel, fit, forecast, plan and report on
    them. Finally it replays the last four weeks with stock targets from usage, from estimated demand and from
    true demand, and counts the lost rides of each.
    """
    about_city = {"--size": size != "town", "--days": days != 90, "--shocks": shocks != "independent"}
    about_city |= {"--jobs": jobs != -1, "--replace": replace, "--json": as_json}
    unused = [name for name, given in about_city.items() if given]
    if models and unused:
        raise ValueError(f"{unused[0]} is about the city, which --models leaves out: choose one")
    if noise != "heteroskedastic" and not models:
        raise ValueError("--noise is about synthetic data: add --models")
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
