"""`unmet city`: write a simulated city, its feeds and the demand nobody saw."""

from pathlib import Path
from typing import Annotated

import typer

from unmet.cli import _options as options

EXAMPLE = "Example: unmet city -o my-city --size town --days 90 --seed 1"


def city(
    output: Annotated[Path, typer.Option("--output", "-o", metavar="DIR", help="Folder to write into.")],
    size: Annotated[str, typer.Option(metavar="village|town|city|metropolis", help="How large.")] = "town",
    days: Annotated[int, typer.Option(metavar="N", help="Local days to simulate.")] = 90,
    seed: Annotated[int, typer.Option(metavar="N", help="Same seed, same files, byte for byte.")] = 1,
    places: Annotated[
        int | None, typer.Option(metavar="N", help="Number of stations, instead of the size's own.")
    ] = None,
    vehicles: Annotated[
        int | None, typer.Option(metavar="N", help="Size of the fleet; fewer run short more often.")
    ] = None,
    demand: Annotated[
        float | None, typer.Option(metavar="NUMBER", help="Mean requests per station and hour.")
    ] = None,
    start: Annotated[str, typer.Option(metavar="DATE", help="First local day.")] = "2024-03-04",
    zone: Annotated[str, typer.Option(metavar="ZONE", help="Time zone of the city.")] = "America/New_York",
    spill: Annotated[
        bool, typer.Option("--spill/--no-spill", help="People at an empty station try a neighbour.")
    ] = True,
    rival: Annotated[
        bool, typer.Option("--rival/--no-rival", help="A second operator serves a fifth of the demand.")
    ] = False,
    rebalancing: Annotated[
        bool, typer.Option("--rebalancing/--no-rebalancing", help="Vans move vehicles at night.")
    ] = True,
    weather: Annotated[bool, typer.Option("--weather/--no-weather", help="Weather changes demand.")] = True,
    shocks: Annotated[
        str, typer.Option(metavar="independent|persistent", help="Whether shocks last over hours.")
    ] = "independent",
    months: Annotated[bool, typer.Option("--months", help="One trips file for each month.")] = False,
    snapshots: Annotated[
        bool, typer.Option("--snapshots/--no-snapshots", help="Write five-minute status snapshots.")
    ] = True,
    quiet: options.Quiet = False,
) -> None:
    """Write a simulated city: trips in an operator's format, feeds, weather, and the truth beside them.

    The truth (truth.parquet) holds for every station and hour what people wanted, what was served and lost.
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


def _summarise(made, files: list[Path], output: Path) -> None:  # type: ignore[no-untyped-def]
    """Print what a person wants to know about the city just written."""
    from rich.console import Console
    from rich.table import Table

    truth, settings = made.truth, made.settings
    requests, lost, rival = (int(x.sum()) for x in (truth.latent, truth.lost, truth.rival))
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    table.add_column()
    table.add_column(justify="right")
    table.add_column()

    def row(label: str, value: str, note: str = "") -> None:
        table.add_row(label, value, note)

    def share(part: int) -> str:
        return f"{part / max(requests, 1):.1%} of requests"

    row(
        "places",
        f"{settings.places:,}",
        f"{settings.vehicles:,} vehicles, {int(made.capacity.sum()):,} docks",
    )
    row("days", f"{settings.days:,}", f"from {settings.start}, {settings.zone}")
    row("requests", f"{requests:,}", "latent demand")
    row("rides", f"{len(made.rides):,}", share(len(made.rides)))
    row("lost", f"{lost - rival:,}", f"{share(lost - rival)}, at empty places")
    if settings.rival:
        row("rival's", f"{rival:,}", f"{share(rival)}, counted as lost in the truth")
    if settings.spill:
        row("spilled", f"{int(truth.spilled_in.sum()):,}", "rides that left from a neighbour instead")
    row("moved", f"{len(made.moves):,}", "vehicles, by vans at night")
    row("time empty", f"{made.share_empty:.1%}", "of station time")
    console = Console(highlight=False)
    console.print(table)
    console.print(f"{len(files)} files in {output}:", soft_wrap=True)
    own = [path for path in files if path.parent == Path(output)]
    for path in own:
        console.print(f"  {path.name}  ({path.stat().st_size / 1e3:,.0f} kB)", soft_wrap=True)
    console.print(f"  snapshots/  ({len(files) - len(own)} GBFS station_status documents)", soft_wrap=True)
