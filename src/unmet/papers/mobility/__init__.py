"""The experiments of Section V: censored bike demand and reduced fleets, on real and simulated cities."""

from unmet.papers.mobility._commands import Answer, Asked, run_bikes, run_fleet
from unmet.papers.mobility._demand import CityDemand, Trips

__all__ = ["Answer", "Asked", "CityDemand", "Trips", "run_bikes", "run_fleet"]
