"""Turn demand into decisions: stock targets, lost rides, fleet size, moves. Arrays in, arrays out."""

from unmet.planning._allocation import allocate, fleet_curve
from unmet.planning._distances import distances_km
from unmet.planning._moves import rank_moves
from unmet.planning._newsvendor import StockTarget, newsvendor_level, stock_target
from unmet.planning._plan import Plan, plan_stock, roomy
from unmet.planning._planned_day import KNOWN_DAY, planned_day, such_days
from unmet.planning._play import Played, count_played, gap_closed, play_targets, play_three, visit_targets
from unmet.planning._stock_value import balanced_returns, best_stock, expected_lost, value_of_vehicles
from unmet.planning._usage import (
    hour_class,
    hourly_exposure,
    hourly_returns,
    rates_by_class,
    usual_rates,
    visit_windows,
)
from unmet.planning._usual_day import lost_share, usual_day

__all__ = [
    "KNOWN_DAY",
    "Plan",
    "Played",
    "StockTarget",
    "allocate",
    "balanced_returns",
    "best_stock",
    "count_played",
    "distances_km",
    "expected_lost",
    "fleet_curve",
    "gap_closed",
    "hour_class",
    "hourly_exposure",
    "hourly_returns",
    "lost_share",
    "newsvendor_level",
    "plan_stock",
    "planned_day",
    "play_targets",
    "play_three",
    "rank_moves",
    "rates_by_class",
    "roomy",
    "stock_target",
    "such_days",
    "usual_day",
    "usual_rates",
    "value_of_vehicles",
    "visit_targets",
    "visit_windows",
]
