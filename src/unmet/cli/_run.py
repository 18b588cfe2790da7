"""`unmet run`: one command from trips to decisions."""

import typer

from unmet.cli import _options as options

EXAMPLE = (
    "Example: unmet run trips/*.zip --status events.csv.gz --stations station_information.json "
    "--zone America/New_York -o out"
)

_OF_THE_COMMAND = ("context", "config", "as_json", "quiet")


def run(
    context: typer.Context,
    output: options.Folder,
    trips: options.MaybeTrips = None,
    panel: options.OwnPanel = None,
    noun: options.Noun = None,
    status: options.Status = None,
    stations: options.Stations = None,
    weather: options.Weather = None,
    zone: options.Zone = None,
    times: options.OwnTimes = None,
    by: options.ByHourOrDay = "hour",
    hubs: options.Hubs = None,
    cells: options.Cells = None,
    area: options.Area = None,
    holidays: options.Holidays = None,
    network: options.Network = None,
    horizon: options.Horizon = None,
    covariates: options.Covariates = None,
    self_check: options.SelfCheck = True,
    seed: options.Seed = 0,
    fleet: options.Fleet = None,
    free: options.Free = False,
    cost_lost: options.CostLost = options.COST_LOST,
    cost_idle: options.CostIdle = options.COST_IDLE,
    max_move: options.MaxMove = options.MAX_MOVE,
    columns: options.ColumnsOption = None,
    status_columns: options.StatusColumns = None,
    encoding: options.Encoding = None,
    day_first: options.DayFirst = None,
    min_duration: options.MinDuration = "60",
    keep: options.Keep = None,
    weather_keep: options.WeatherKeep = None,
    max_gap: options.MaxGap = None,
    max_reject_share: options.MaxRejectShare = 0.01,
    memory: options.Memory = None,
    cache: options.Cache = True,
    title: options.Title = None,
    jobs: options.Jobs = -1,
    cluster: options.Cluster = None,
    replace: options.Replace = False,
    config: options.Config = None,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
) -> None:
    """Go from trips and feeds to latent demand, lost rides, a forecast, a plan and a report.

    With --panel it starts from a table of your own, such as sales with the share of time in stock.

    Runs panel, fit, forecast, plan and report in one folder. Run it again and it repeats only the steps whose
    inputs or options changed. Add trip or status files to the same command and it reads only those.
    """
    given = {name: value for name, value in locals().items() if name not in _OF_THE_COMMAND}
    if not trips and panel is None:
        raise typer.BadParameter("missing argument 'TRIPS…', or --panel FILE", ctx=context)
    from unmet import pipeline
    from unmet.cli._run_summary import tell

    made = pipeline.run(**given, progress=False if quiet else None)
    tell(made, as_json=as_json, quiet=quiet)
