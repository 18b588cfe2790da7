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
    given = locals()
    from unmet.cli._panel_summary import Watching
    from unmet.cli._panel_work import PanelInputs
    from unmet.cli._pipeline import do_fit, do_forecast, do_panel, do_plan, do_report, horizon_of
    from unmet.cli._run_summary import tell
    from unmet.runs import Steps

    if by not in ("hour", "day"):
        raise ValueError(f"--by must be hour or day for a run, got {by!r}")
    options.check_plan(fleet, cost_lost, cost_idle, free)
    inputs = PanelInputs.among(given)
    missing = [str(path) for path in inputs.files if not path.exists()]
    if missing:
        raise ValueError(f"{missing[0]} does not exist; check the path")
    source = {"trips": list(trips), "status": list(status or ()), "stations": list(stations or ())}
    networks, workers = options.networks_of(network), options.jobs_of(jobs)
    shown = False if quiet else None
    with Steps(output, source=source, replace=replace) as steps:
        with Watching(shown=shown) as watching:
            done = {"panel": do_panel(steps, inputs, watching)}
        done["fit"] = do_fit(steps, networks=networks, seed=seed, jobs=workers, shown=shown)
        done["forecast"] = do_forecast(steps, horizon=horizon_of(horizon, by))
        done["plan"] = do_plan(steps, fleet=fleet, cost_lost=cost_lost, cost_idle=cost_idle, free=free)
        done["report"] = do_report(steps, title=title)
    tell(output, as_json=as_json, quiet=quiet, kept=[name for name, now in done.items() if not now])
