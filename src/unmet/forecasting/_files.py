"""Save and load a demand model: one folder, with the network in a folder inside."""

from __future__ import annotations

import os
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from unmet.calibration import LevelMap
from unmet.forecasting._inputs import Scores
from unmet.forecasting._model import DemandModel
from unmet.forecasting._network import Network
from unmet.forecasting._parametric import Parametric
from unmet.forecasting._rates import RateModel
from unmet.forecasting._shocks import Shocks
from unmet.forecasting._spill import Spill
from unmet.forecasting._terms import TimeTerms
from unmet.runs import ModelFileError, load_model, save_model

KIND = "demand"
VERSION = 2
_RATES = ("level", "cell", "week", "loading", "factor", "slope")


def save_demand(model: DemandModel, folder: str | os.PathLike[str]) -> None:
    """Write all that `forecast`, `rates` and `forecast_days` need."""
    parametric = model.parametric
    config: dict[str, Any] = {
        "kind": KIND,
        "version": VERSION,
        "levels": list(model.levels),
        "places": [str(place) for place in model.places],
        "zone": model.zone,
        "by": model.by,
        "last": str(model.last),
        "seed": model.seed,
        "network": model.network_name,
        "shocks": asdict(parametric.shocks),
        "city": asdict(parametric.city),
        "city_state": list(model.city_state),
        "spill": asdict(parametric.spill),
        "terms": {
            "columns": parametric.terms.columns,
            "last": parametric.terms.last,
            "seasonal": parametric.terms.seasonal,
        },
        "map": model.map.as_dicts(),
        "daily_map": None if model.daily_map is None else model.daily_map.as_dicts(),
        "unused": list(model.unused),
    }
    arrays = {f"rates.{name}": getattr(parametric.rates, name) for name in _RATES}
    arrays |= {"terms.centre": parametric.terms.centre, "terms.scale": parametric.terms.scale}
    arrays |= {"shock_mean": model.shock_mean, "shock_variance": model.shock_variance, "short": model.short}
    arrays["weather_gap"] = model.weather_gap
    arrays |= {"scores": model.scores.score, "scores_censored": model.scores.censored}
    if model.network is not None:
        model.network.model.save(Path(folder) / "network")
        arrays |= {"inputs.low": model.network.low, "inputs.high": model.network.high}
    save_model(folder, config, {name: np.ascontiguousarray(values) for name, values in arrays.items()})


def load_demand(folder: str | os.PathLike[str]) -> DemandModel:
    """Return a saved demand model. It makes forecasts and rates; the past stays in the files of the run.

    Raises
    ------
    ModelFileError
        If `folder` has no demand model, or the model is damaged or from another version.
    """
    from unmet.estimators import load

    try:
        config, arrays = load_model(folder)
    except ModelFileError as error:
        raise ModelFileError(f"{error}; fit again with `unmet fit`") from None
    if config.get("kind") != KIND:
        raise ModelFileError(f"{folder} holds no demand model; fit one with `unmet fit`")
    if config.get("version") != VERSION:
        raise ModelFileError(
            f"{folder} holds a demand model of version {config.get('version')}, but this unmet reads version "
            f"{VERSION}; fit again with `unmet fit`"
        )
    try:
        terms = TimeTerms(
            config["terms"]["columns"],
            arrays["terms.centre"],
            arrays["terms.scale"],
            float(config["terms"]["last"]),
            bool(config["terms"]["seasonal"]),
        )
        parametric = Parametric(
            RateModel(*(arrays[f"rates.{name}"] for name in _RATES)),
            Shocks(**config["shocks"]),
            Shocks(**config["city"]),
            Spill(**config["spill"]),
            terms,
        )
        daily = config["daily_map"]
        return DemandModel(
            levels=tuple(config["levels"]),
            places=np.array(config["places"], object),
            zone=config["zone"],
            by=config["by"],
            last=np.datetime64(config["last"], "us"),
            parametric=parametric,
            network=None
            if config["network"] == "none"
            else Network(load(Path(folder) / "network"), arrays["inputs.low"], arrays["inputs.high"]),
            network_name=config["network"],
            shock_mean=arrays["shock_mean"],
            shock_variance=arrays["shock_variance"],
            city_state=(float(config["city_state"][0]), float(config["city_state"][1])),
            scores=Scores(arrays["scores"], arrays["scores_censored"]),
            short=arrays["short"],
            map=LevelMap.from_dicts(config["map"]),
            daily_map=None if daily is None else LevelMap.from_dicts(daily),
            weather_gap=arrays["weather_gap"],
            seed=int(config["seed"]),
            unused=tuple(config["unused"]),
        )
    except ModelFileError as error:  # of the network
        raise ModelFileError(f"{error}; fit again with `unmet fit`") from None
    except (KeyError, TypeError, IndexError, ValueError) as error:
        raise ModelFileError(
            f"{folder} holds an incomplete demand model ({error}); fit again with `unmet fit`"
        ) from None
