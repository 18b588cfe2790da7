"""`unmet plan`: from demand to stock targets, moves and fleet size."""

from unmet.cli import _options as options

EXAMPLE = "Example: unmet plan out --fleet 500"


def plan(
    folder: options.RunFolder,
    fleet: options.Fleet = None,
    free: options.Free = False,
    cost_lost: options.CostLost = options.COST_LOST,
    cost_idle: options.CostIdle = options.COST_IDLE,
    max_move: options.MaxMove = options.MAX_MOVE,
    config: options.Config = None,
    quiet: options.Quiet = False,
) -> None:
    """Plan the stock of every place for the first whole day of the forecast.

    Writes plan.csv, moves.csv and fleet.csv.
    """
    from unmet import pipeline
    from unmet.cli._plan_table import show_plan

    made = pipeline.plan(
        folder, fleet=fleet, cost_lost=cost_lost, cost_idle=cost_idle, free=free, max_move=max_move
    )
    if not quiet:
        show_plan(made)
