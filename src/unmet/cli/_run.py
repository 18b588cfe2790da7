"""`unmet run`: one command from trips to decisions."""

from unmet.cli import _options as options

EXAMPLE = (
    "Example: unmet run trips/*.zip --status events.csv.gz --stations station_information.json "
    "--zone America/New_York -o out"
)
# Options that take every path up to the next option, as a shell writes them for a pattern.
MANY = ("--status", "--stations")


def run(
    trips: options.Trips,
    output: options.Folder,
    status: options.Status = None,
    stations: options.Stations = None,
    by: options.ByHourOrDay = "hour",
    zone: options.Zone = None,
    times: options.Times = "local",
    hubs: options.Hubs = None,
    cells: options.Cells = None,
    keep: options.Keep = None,
    columns: options.ColumnsOption = None,
    holidays: options.Holidays = None,
    weather: options.Weather = None,
    weather_keep: options.WeatherKeep = None,
    max_gap: options.MaxGap = None,
    max_reject_share: options.MaxRejectShare = 0.01,
    memory: options.Memory = "1GB",
    horizon: options.Horizon = None,
    network: options.Network = None,
    fleet: options.Fleet = None,
    cost_lost: options.CostLost = options.COST_LOST,
    cost_idle: options.CostIdle = options.COST_IDLE,
    free: options.Free = False,
    title: options.Title = None,
    seed: options.Seed = 0,
    jobs: options.Jobs = -1,
    replace: options.Replace = False,
    config: options.Config = None,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
) -> None:
    """From trips and feeds to latent demand, lost rides, a forecast, a plan and one report.

    Steps: panel, fit, forecast, plan, report. Asked again, steps whose inputs have not changed are kept.
    """
    given = {name: value for name, value in locals().items() if name not in ("config", "as_json", "quiet")}
    from unmet import pipeline
    from unmet.cli._run_summary import tell

    made = pipeline.run(**given, progress=False if quiet else None)
    tell(made, as_json=as_json, quiet=quiet)
