"""Results of the stages of a fit as JSON values and arrays, so that a fit that was killed goes on."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np

from unmet.forecasting._backtest import Backtest
from unmet.forecasting._files import pack_parametric, unpack_parametric
from unmet.forecasting._parametric import Parametric
from unmet.forecasting._self_check import SelfCheck

Parts = tuple[dict[str, Any], dict[str, np.ndarray]]


def pack_backtest(result: tuple[Backtest, Parametric]) -> Parts:
    """Return the parts of a backtest and of its last model."""
    test, model = result
    config, arrays = pack_parametric(model)
    arrays |= {f"test.{field.name}": getattr(test, field.name) for field in _matrices()}
    arrays |= {f"curves.{name}": values for name, values in test.curves.items()}
    config |= {"first": test.first, "networks": list(test.curves)}
    return config, {name: np.ascontiguousarray(values) for name, values in arrays.items()}


def unpack_backtest(config: dict[str, Any], arrays: dict[str, np.ndarray]) -> tuple[Backtest, Parametric]:
    """Return what `pack_backtest` packed."""
    test = Backtest(
        first=config["first"],
        curves={name: arrays[f"curves.{name}"] for name in config["networks"]},
        **{field.name: arrays[f"test.{field.name}"] for field in _matrices()},
    )
    return test, unpack_parametric(config, arrays)


def _matrices() -> list[Any]:
    return [field for field in fields(Backtest) if field.name not in ("first", "curves")]


def pack_self_check(check: SelfCheck) -> Parts:
    """Return the parts of a self-check."""
    config = {
        "reserve": check.reserve,
        "places": [str(place) for place in check.places],
        "total": list(check.total),
    }
    names = ("hidden", "estimate", "low", "high")
    return config, {name: np.ascontiguousarray(getattr(check, name)) for name in names}


def unpack_self_check(config: dict[str, Any], arrays: dict[str, np.ndarray]) -> SelfCheck:
    """Return what `pack_self_check` packed."""
    mean, low, high = config["total"]
    return SelfCheck(config["reserve"], np.array(config["places"], object), total=(mean, low, high), **arrays)
