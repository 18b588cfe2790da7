"""Hourly weather of a city and its effect on demand."""

from dataclasses import dataclass

import numpy as np

from unmet.datasets.city._hours import Hours
from unmet.datasets.city._seeds import generator
from unmet.datasets.city._settings import CitySettings


@dataclass(frozen=True)
class Weather:
    """Hourly temperature (°C), rain (mm) and wind (m/s), rounded as the files show them."""

    temperature: np.ndarray
    rain: np.ndarray
    wind: np.ndarray

    def factor(self) -> np.ndarray:
        """Return a factor on demand.

        It is exp(0.025 (min(T, 24) − 15) − 0.9 min(rain, 2) − 0.04 max(wind − 5, 0)).
        """
        return np.exp(
            0.025 * (np.minimum(self.temperature, 24.0) - 15.0)
            - 0.9 * np.minimum(self.rain, 2.0)
            - 0.04 * np.maximum(self.wind - 5.0, 0.0)
        )


def make_weather(settings: CitySettings, hours: Hours) -> Weather:
    """Draw weather: a yearly and a daily wave, slow noise, and rain in spells."""
    random = generator(settings.seed, "weather")
    count = len(hours)
    year = np.cos(2 * np.pi * (hours.day_of_year - 200) / 365.25)
    daily = np.cos(2 * np.pi * (hours.hour - 15) / 24)
    temperature = 12.0 + 11.0 * year + 4.0 * daily + _slow_noise(random, count, 0.98, 3.5)
    # Rain falls while a slow process is high: in spells of some hours, about a tenth of the time.
    wetness = _slow_noise(random, count, 0.9, 1.0)
    rain = np.maximum(wetness - 1.25, 0.0) * 2.0
    wind = np.abs(4.0 + _slow_noise(random, count, 0.95, 2.0))
    return Weather(np.round(temperature, 1), np.round(rain, 1), np.round(wind, 1))


def _slow_noise(random: np.random.Generator, count: int, carry: float, deviation: float) -> np.ndarray:
    """Return a stationary AR(1) with the given standard deviation and correlation from hour to hour."""
    return deviation * autoregression(random.standard_normal(count), carry)


def autoregression(normal: np.ndarray, carry: float) -> np.ndarray:
    """Return z₀ = ε₀, z_h = carry · z_{h−1} + √(1 − carry²) · ε_h along the last axis, with unit variance."""
    slow = np.array(normal, dtype=float)
    fresh = np.sqrt(1.0 - carry**2)
    for hour in range(1, slow.shape[-1]):
        slow[..., hour] = carry * slow[..., hour - 1] + fresh * slow[..., hour]
    return slow
