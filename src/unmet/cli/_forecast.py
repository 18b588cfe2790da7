"""`unmet forecast`: quantiles of demand for the periods to come."""

from unmet.cli import _options as options
from unmet.cli._terminal import printable

EXAMPLE = "Example: unmet forecast out --horizon 168"


def forecast(
    folder: options.RunFolder,
    horizon: options.Horizon = None,
    covariates: options.Covariates = None,
    config: options.Config = None,
    quiet: options.Quiet = False,
) -> None:
    """Forecast demand with the model of a run.

    Writes forecast.parquet with one column per quantile. Public holidays are known if the panel has them.
    """
    from unmet import pipeline

    made = pipeline.forecast(folder, horizon=horizon, covariates=covariates)
    if not quiet:
        from rich.console import Console

        found = made.columns("forecast")
        places = len(set(found["unique_id"]))
        periods, expected = len(found["ds"]) // places, found["mean"].sum()
        words = made.words
        where = f"at {places:,} {words.place if places == 1 else words.places}"
        Console(highlight=False).print(
            f"Expected demand in the next {periods:,} {words.period}s: {expected:,.0f} {words.noun} "
            f"{where.replace('at', 'of') if words.own else where}."
        )
        print(f"Written: {printable(folder / 'forecast.parquet')}")
