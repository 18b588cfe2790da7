"""Turn a panel into latent demand: forecasts, lost rides, and what the data identify."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from unmet.forecasting._files import load_demand
    from unmet.forecasting._fit import fit_demand
    from unmet.forecasting._memory import MemoryWarning
    from unmet.forecasting._model import LEVELS, DemandModel
    from unmet.forecasting._own_panel import as_panel
    from unmet.forecasting._self_check import SelfCheck

# Loaded on first use: fitting imports SciPy and scikit-learn.
_HOMES = {
    "fit_demand": "_fit",
    "load_demand": "_files",
    "DemandModel": "_model",
    "LEVELS": "_model",
    "MemoryWarning": "_memory",
    "SelfCheck": "_self_check",
    "as_panel": "_own_panel",
}

__all__ = ["LEVELS", "DemandModel", "MemoryWarning", "SelfCheck", "as_panel", "fit_demand", "load_demand"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'unmet.forecasting' has no attribute {name!r}")
    return getattr(import_module(f"unmet.forecasting.{_HOMES[name]}"), name)
