"""From demand to decisions: stock targets, expected lost rides, fleet size, moves. Arrays in, arrays out."""

from unmet.planning._allocation import allocate, fleet_curve
from unmet.planning._lost import best_stock, expected_lost, value_of_vehicles
from unmet.planning._moves import rank_moves
from unmet.planning._newsvendor import StockTarget, newsvendor_level, stock_target
from unmet.planning._plan import Plan, plan_stock, roomy
from unmet.planning._play import (
    Played,
    compare_targets,
    count_played,
    daily_targets,
    gap_closed,
    play_targets,
)
from unmet.planning._usage import day_windows, hour_of_week, hourly_exposure, hourly_returns, weekly_rates

__all__ = [
    "Plan",
    "Played",
    "StockTarget",
    "allocate",
    "best_stock",
    "compare_targets",
    "count_played",
    "daily_targets",
    "day_windows",
    "expected_lost",
    "fleet_curve",
    "gap_closed",
    "hour_of_week",
    "hourly_exposure",
    "hourly_returns",
    "newsvendor_level",
    "plan_stock",
    "play_targets",
    "rank_moves",
    "roomy",
    "stock_target",
    "value_of_vehicles",
    "weekly_rates",
]
