"""`unmet forecast`: quantiles of demand for the periods to come."""

from unmet.cli import _options as options

EXAMPLE = "Example: unmet forecast out --horizon 168"


def forecast(
    folder: options.RunFolder,
    horizon: options.Horizon = None,
    config: options.Config = None,
    quiet: options.Quiet = False,
) -> None:
    """Forecast demand with the model of a run.

    Writes forecast.parquet with one column per quantile.
    """
    from unmet.cli._pipeline import do_forecast, horizon_of
    from unmet.cli._run_files import need
    from unmet.forecasting import load_demand
    from unmet.runs import Steps, read_record
    from unmet.tables import read_columns

    source = read_record(folder)["source"]
    by = load_demand(*need(folder, "model")).by
    with Steps(folder, source=source) as steps:
        do_forecast(steps, horizon=horizon_of(horizon, by))
    if not quiet:
        from rich.console import Console

        found, _ = read_columns(folder / "forecast.parquet")
        places = len(set(found["unique_id"]))
        Console(highlight=False).print(
            f"Expected demand of the next {len(found['ds']) // places:,} {by}s: {found['mean'].sum():,.0f} "
            f"rides at {places:,} {'place' if places == 1 else 'places'}."
        )
        print(f"Written: {folder / 'forecast.parquet'}")
