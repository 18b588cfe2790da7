"""`unmet city`: write a simulated city, its feeds and the demand nobody saw."""

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from unmet.cli import _options as options

EXAMPLE = "Example: unmet city -o my-city --size town --days 90 --seed 1"
in_city, in_people = options.group("City"), options.group("People and vans")


def city(
    output: options.Folder,
    snapshots: Annotated[
        bool,
        options.in_files("--snapshots/--no-snapshots", help="Write a status snapshot every five minutes."),
    ] = True,
    months: Annotated[bool, options.in_files("--months", help="Write one trip file per month.")] = False,
    size: Annotated[
        Literal["village", "town", "city", "metropolis"],
        in_city(metavar="village|town|city|metropolis", help="Size of the city."),
    ] = "town",
    days: Annotated[int, in_city(metavar="N", help="Number of days to simulate.")] = 90,
    start: Annotated[str, in_city(metavar="DATE", help="First local day.")] = "2024-03-04",
    zone: Annotated[str, in_city(metavar="ZONE", help="Time zone.")] = "America/New_York",
    places: Annotated[
        int | None, in_city(metavar="N", show_default="as --size says", help="Number of stations.")
    ] = None,
    vehicles: Annotated[
        int | None,
        in_city(
            metavar="N",
            show_default="as --size says",
            help="Number of vehicles. With fewer, stations are empty more often.",
        ),
    ] = None,
    demand: Annotated[
        float | None,
        in_people(
            metavar="NUMBER", show_default="as --size says", help="Mean requests per station and hour."
        ),
    ] = None,
    shocks: Annotated[
        Literal["independent", "persistent"],
        in_people(
            metavar="independent|persistent", help="Whether a shock to demand lasts one hour or several."
        ),
    ] = "independent",
    spill: Annotated[
        bool, in_people("--spill/--no-spill", help="Let people at an empty station try a neighbour.")
    ] = True,
    rival: Annotated[
        bool, in_people("--rival/--no-rival", help="Let a second operator serve a fifth of the demand.")
    ] = False,
    rebalancing: Annotated[
        bool, in_people("--rebalancing/--no-rebalancing", help="Let vans move vehicles at night.")
    ] = True,
    weather: Annotated[bool, in_people("--weather/--no-weather", help="Let weather change demand.")] = True,
    seed: Annotated[int, typer.Option(metavar="N", help="Seed; the same seed gives the same bytes.")] = 1,
    quiet: options.Quiet = False,
) -> None:
    """Simulate a city and write its trips in an operator's format, its feeds, weather and the truth.

    truth.parquet holds what people wanted, what was served and what was lost, for every station and hour.
    """
    from unmet.datasets.city import make_city
    from unmet.runs import progress

    shown = False if quiet else None
    with progress(100, "City", "percent", shown=shown) as bar:
        made = make_city(
            size,
            places=places,
            days=days,
            seed=seed,
            vehicles=vehicles,
            demand=demand,
            start=start,
            zone=zone,
            spill=spill,
            rival=rival,
            rebalancing=rebalancing,
            weather=weather,
            shocks=shocks,
            progress=lambda share: bar.advance(int(100 * share) - bar.done),
        )
    with progress(None, "Writing", "files", shown=shown) as bar:
        files = made.write(
            output,
            parts="month" if months else "one",
            snapshots=300 if snapshots else None,
            progress=lambda name: bar.advance(),
        )
    if not quiet:
        _summarise(made, files, output)


def _summarise(made: Any, files: list[Path], output: Path) -> None:
    """Print what the city is like and which files hold it."""
    from rich.console import Console
    from rich.table import Table

    from unmet.cli._terminal import shown

    truth, settings = made.truth, made.settings
    requests, lost, rival = (int(x.sum()) for x in (truth.latent, truth.lost, truth.rival))

    def share(part: int) -> str:
        return f"{part / max(requests, 1):.1%} of requests"

    docks = int(made.capacity.sum())
    rows = [
        ("stations", f"{settings.places:,}", f"{settings.vehicles:,} vehicles, {docks:,} docks"),
        ("days", f"{settings.days:,}", f"from {settings.start}, {settings.zone}"),
        ("requests", f"{requests:,}", "latent demand"),
        ("rides", f"{len(made.rides):,}", share(len(made.rides))),
        ("lost", f"{lost - rival:,}", f"{share(lost - rival)}, at empty stations"),
    ]
    if settings.rival:
        rows.append(("rival", f"{rival:,}", f"{share(rival)}, counted as lost in the truth"))
    if settings.spill:
        rows.append(("spilled", f"{int(truth.spilled_in.sum()):,}", "rides that left from a neighbour"))
    rows.append(("moved", f"{len(made.moves):,}", "vehicles, by vans at night"))
    rows.append(("time empty", f"{made.share_empty:.1%}", "of station time"))
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    for justify in ("left", "right", "left"):
        table.add_column(justify=justify)  # type: ignore[arg-type]
    for row in rows:
        table.add_row(*row)
    console = Console(highlight=False)
    console.print(table)
    console.print(f"{len(files)} files in {shown(output)}:", soft_wrap=True)
    own = [path for path in files if path.parent == output]
    for path in own:
        console.print(f"  {path.name}  ({path.stat().st_size / 1e3:,.0f} kB)", soft_wrap=True)
    if len(files) > len(own):
        console.print(f"  snapshots/  ({len(files) - len(own)} GBFS station_status files)", soft_wrap=True)
