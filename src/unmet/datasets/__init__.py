"""Data with a known truth: the paper's synthetic data and a simulated city. Loaded on first use."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

_HOMES = {
    "City": "unmet.datasets.city",
    "SyntheticData": "unmet.datasets._synthetic",
    "make_city": "unmet.datasets.city",
    "make_synthetic": "unmet.datasets._synthetic",
}

__all__ = ["City", "SyntheticData", "make_city", "make_synthetic"]

if TYPE_CHECKING:
    from unmet.datasets._synthetic import SyntheticData, make_synthetic
    from unmet.datasets.city import City, make_city


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'unmet.datasets' has no attribute {name!r}")
    from unmet.runs import naming_extras

    with naming_extras():
        value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
