"""A simulated city with known latent demand: places, rides, feeds and the truth behind them."""

from unmet.datasets.city._city import City, Rides, make_city
from unmet.datasets.city._demand import make_events, make_rate, make_requests, make_shocks
from unmet.datasets.city._export import copy_status, copy_trips
from unmet.datasets.city._feeds import station_information, status_events
from unmet.datasets.city._replay import even_targets, morning_targets, replay, replay_each
from unmet.datasets.city._settings import SIZES, CitySettings
from unmet.datasets.city._truth import Stock, Truth
from unmet.datasets.city._weather import make_weather
from unmet.datasets.city._write import write_city

__all__ = [
    "SIZES",
    "City",
    "CitySettings",
    "Rides",
    "Stock",
    "Truth",
    "copy_status",
    "copy_trips",
    "even_targets",
    "make_city",
    "make_events",
    "make_rate",
    "make_requests",
    "make_shocks",
    "make_weather",
    "morning_targets",
    "replay",
    "replay_each",
    "station_information",
    "status_events",
    "write_city",
]
