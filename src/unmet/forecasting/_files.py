"""Save and load a demand model: one folder, with the network in a folder inside."""

from __future__ import annotations

import os
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np

from unmet.calendar import check_zone, step_of
from unmet.calibration import LevelMap
from unmet.forecasting._ahead import RecentEffects
from unmet.forecasting._around import Around
from unmet.forecasting._day_spread import DaySpread
from unmet.forecasting._inputs import AHEAD, Scores
from unmet.forecasting._model import DemandModel
from unmet.forecasting._network import Network
from unmet.forecasting._parametric import Parametric
from unmet.forecasting._rates import RateModel
from unmet.forecasting._shocks import Shocks
from unmet.forecasting._spill import Spill
from unmet.forecasting._terms import TimeTerms
from unmet.runs import ModelFileError, check_shape, load_model, save_model

KIND = "demand"
VERSION = 4
_BAND = {
    "low": (None, "number"),
    "high": (None, "number"),
    "identified_up_to": "number",
    "rows": "count",
    "level": [(None, "number")],
    "nominal": ["share"],
    "at_risk": ["count"],
}
_SHOCKS = dict.fromkeys(("variance", "persistence", "groups"), "number")
_LAW = {**dict.fromkeys(("share", "walk", "error", "weight"), "number"), "law": "text", "others": ["any"]}
_TERM = {"lowest": "number", "highest": "number", "knots": ["number"], "usual": ["number"]}
_SHAPE = {
    **dict.fromkeys(("kind", "zone", "by", "last", "network", "ahead"), "text"),
    "version": "count",
    "seed": "count",
    "holidays": (None, "text"),
    "days": {"ordinary": "number", "holiday": "number", "seen": "count"},
    "levels": ["share"],
    "places": ["text"],
    "unused": ["text"],
    "shocks": _SHOCKS,
    "city": _SHOCKS,
    "city_state": ["number"],
    "spill": [_LAW],
    "terms": {"columns": {"*": _TERM}, "last": "number", "seasonal": "flag"},
    "map": [_BAND],
    "daily_map": (None, [_BAND]),
}
_AROUND = ("index", "attributes", "node")
_RATES = ("level", "cell", "week", "loading", "factor", "slope")


def pack_parametric(model: Parametric) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Return JSON values and arrays of a negative-binomial model."""
    config = {
        "shocks": asdict(model.shocks),
        "city": asdict(model.city),
        "spill": [asdict(law) | {"others": []} for law in model.spill.laws],
        "terms": {"columns": model.terms.columns, "last": model.terms.last, "seasonal": model.terms.seasonal},
    }
    arrays = {f"rates.{name}": getattr(model.rates, name) for name in _RATES}
    arrays |= {"terms.centre": model.terms.centre, "terms.scale": model.terms.scale}
    return config, {name: np.ascontiguousarray(values) for name, values in arrays.items()}


def unpack_parametric(config: dict[str, Any], arrays: dict[str, np.ndarray]) -> Parametric:
    """Return the model that `pack_parametric` packed."""
    terms = TimeTerms(
        config["terms"]["columns"],
        arrays["terms.centre"],
        arrays["terms.scale"],
        float(config["terms"]["last"]),
        bool(config["terms"]["seasonal"]),
    )
    return Parametric(
        RateModel(*(arrays[f"rates.{name}"] for name in _RATES)),
        Shocks(**config["shocks"]),
        Shocks(**config["city"]),
        _spill(config["spill"]),
        terms,
    )


def save_demand(model: DemandModel, folder: str | os.PathLike[str]) -> None:
    """Write all that `forecast`, `rates` and `forecast_days` need."""
    of_rates, arrays = pack_parametric(model.parametric)
    config: dict[str, Any] = {
        "kind": KIND,
        "version": VERSION,
        "levels": list(model.levels),
        "places": [str(place) for place in model.places],
        "zone": model.zone,
        "by": model.by,
        "last": str(model.last),
        "seed": model.seed,
        "holidays": model.holidays,
        "days": asdict(model.days),
        "network": model.network_name,
        "ahead": model.ahead,
        **of_rates,
        "city_state": list(model.city_state),
        "map": model.map.as_dicts(),
        "daily_map": None if model.daily_map is None else model.daily_map.as_dicts(),
        "unused": list(model.unused),
    }
    arrays |= {"shock_mean": model.shock_mean, "shock_variance": model.shock_variance, "short": model.short}
    arrays |= {"recent.hour": model.recent.hour, "recent.effect": model.recent.effect}
    arrays |= {"scores": model.scores.score, "scores_censored": model.scores.censored}
    if model.network is not None:
        model.network.model.save(Path(folder) / "network")
        arrays |= {"inputs.low": model.network.low, "inputs.high": model.network.high}
        around = model.network.around
        if around is not None and model.scores.signal is not None:
            arrays |= {f"around.{name}": getattr(around, name) for name in _AROUND}
            arrays["signal"] = model.scores.signal
    save_model(folder, config, {name: np.ascontiguousarray(values) for name, values in arrays.items()})


def _spill(saved: list[dict[str, Any]]) -> Spill:
    best, *others = (Spill(**{**law, "others": ()}) for law in saved)
    return replace(best, others=tuple(others))


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
        check_shape(config, _SHAPE, "model")
        _check_arrays(config, arrays)
        daily = config["daily_map"]
        return DemandModel(
            levels=tuple(config["levels"]),
            places=np.array(config["places"], object),
            zone=config["zone"],
            by=config["by"],
            last=np.datetime64(config["last"], "us"),
            parametric=unpack_parametric(config, arrays),
            network=None
            if config["network"] == "none"
            else Network(
                load(Path(folder) / "network"),
                arrays["inputs.low"],
                arrays["inputs.high"],
                Around(*(arrays[f"around.{name}"] for name in _AROUND)) if "signal" in arrays else None,
            ),
            ahead=config["ahead"],
            network_name=config["network"],
            shock_mean=arrays["shock_mean"],
            shock_variance=arrays["shock_variance"],
            city_state=(float(config["city_state"][0]), float(config["city_state"][1])),
            scores=Scores(arrays["scores"], arrays["scores_censored"], arrays.get("signal")),
            short=arrays["short"],
            map=LevelMap.from_dicts(config["map"]),
            daily_map=None if daily is None else LevelMap.from_dicts(daily),
            recent=RecentEffects(arrays["recent.hour"], arrays["recent.effect"]),
            days=DaySpread(**config["days"]),
            holidays=config["holidays"],
            seed=int(config["seed"]),
            unused=tuple(config["unused"]),
        )
    except ModelFileError as error:  # of the network
        raise ModelFileError(f"{error}; fit again with `unmet fit`") from None
    except (KeyError, TypeError, IndexError, ValueError, OverflowError) as error:
        raise ModelFileError(
            f"{folder} holds an incomplete demand model ({error}); fit again with `unmet fit`"
        ) from None


def _check_arrays(config: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
    """Raise ValueError unless the parts of a model fit each other."""
    places = len(config["places"])
    if step_of(config["by"]).by != config["by"] or not places or len(set(config["places"])) != places:
        raise ValueError("its places or periods make no sense")
    levels = np.array(config["levels"])
    if not len(levels) or (np.diff(levels) <= 0).any() or len(config["city_state"]) != 2:
        raise ValueError("its levels make no sense")
    for bands in (config["map"], config["daily_map"]):
        if bands is not None and not (
            bands
            and all(band["nominal"] == config["levels"] for band in bands)
            and all(len(band["level"]) == len(levels) for band in bands)
        ):
            raise ValueError("its levels are not those of its calibration")
    check_zone(config["zone"])
    if config["ahead"] not in AHEAD:
        raise ValueError("it does not say how far ahead it forecasts")
    for known in config["terms"]["columns"].values():
        if len(known["usual"]) != 24:
            raise ValueError("its usual weather is not by hour")
    shapes = {name: array.shape for name, array in arrays.items()}
    cells, rank = shapes["rates.factor"]
    terms, past = shapes["rates.slope"], shapes["scores"]
    wanted = {
        **dict.fromkeys(("rates.level", "shock_mean", "shock_variance", "short"), (places,)),
        "rates.loading": (places, rank),
        "rates.cell": (cells,),
        "terms.centre": terms,
        "terms.scale": terms,
        "scores": (places, *past[1:]),
        "scores_censored": past,
    }
    if "signal" in arrays:
        index, attributes = shapes["around.index"], shapes["around.attributes"]
        wanted |= {
            "signal": (places + 1, *past[1:]),
            "around.node": (places,),
            "around.index": (places, *index[1:]),
        }
        wanted |= {"around.attributes": (*index, *attributes[2:])}
        if (len(index), len(attributes)) != (2, 3):
            raise ValueError("the nodes around its places make no sense")
        node, around = arrays["around.node"], arrays["around.index"]
        if min(node.min(), around.min()) < -1 or not around.max() <= node.max() < places:
            raise ValueError("its places have neighbours that do not exist")
    wrong = [name for name, shape in wanted.items() if shapes[name] != shape]
    if wrong or len(past) != 2 or len(terms) != 1:
        raise ValueError(
            f"array {(wrong or ['scores'])[0]} has another shape than the places and periods ask for"
        )
    odd = [name for name, array in arrays.items() if (array.dtype == bool) != (name == "scores_censored")]
    if odd:
        raise ValueError(f"array {odd[0]} is of another type")
