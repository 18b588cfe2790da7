"""The experiments of Section V: censored bike demand and reduced fleets, on real and simulated cities."""

from unmet.papers.mobility._demand import CityDemand, Trips
from unmet.papers.mobility._section5 import Asked, run_bikes, run_fleet

__all__ = ["Asked", "CityDemand", "Trips", "run_bikes", "run_fleet"]
