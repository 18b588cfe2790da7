"""Reference pages of the public names, one for each package, filled from docstrings by autodoc."""

from __future__ import annotations

import inspect
import pkgutil
from importlib import import_module
from types import ModuleType

import unmet

# What most people call, in the order of the work; the rest holds up the house.
FIRST = (
    "unmet",
    "unmet.estimators",
    "unmet.comparison",
    "unmet.metrics",
    "unmet.losses",
    "unmet.censoring",
    "unmet.datasets",
    "unmet.adapters",
)
SECOND = ("unmet.mobility", "unmet.forecasting", "unmet.calibration", "unmet.planning", "unmet.results")
THIRD = ("unmet.pipeline", "unmet.report", "unmet.serve", "unmet.plotting", "unmet.papers")


def public_packages() -> dict[str, ModuleType]:
    """Return every package that declares public names."""
    found = {"unmet": unmet}
    for one in pkgutil.walk_packages(unmet.__path__, "unmet."):
        if one.ispkg and not any(part.startswith("_") for part in one.name.split(".")):
            package = import_module(one.name)
            if getattr(package, "__all__", None):
                found[one.name] = package
    return found


def name_pages() -> dict[str, str]:
    """Return a reStructuredText page for every public package, and one that lists them."""
    packages = public_packages()
    groups = {
        "Models and measures": FIRST,
        "From trips to decisions": SECOND,
        "Steps, pages and figures": THIRD,
    }
    known = {name for group in groups.values() for name in group}
    groups["Machinery"] = tuple(name for name in packages if name not in known)
    text = [
        _title("Python names", "="),
        "Names of ``unmet`` itself are meant to stay. Other names may move.\n",
    ]
    for title, names in groups.items():
        text += [_title(title, "-"), ".. toctree::", "   :maxdepth: 1", ""]
        text += [f"   {name}" for name in names if name in packages] + [""]
    pages = {"index": "\n".join(text)}
    indexed: set[int] = set()  # a name that several packages offer is in the index once, as the shortest path
    pages |= {name: _page(name, packages, indexed) for name in packages}
    return pages


def _page(name: str, packages: dict[str, ModuleType], indexed: set[int]) -> str:
    package = packages[name]
    text = [_title(name, "="), inspect.getdoc(package) or "", "", f".. py:module:: {name}", ""]
    for one in sorted(package.__all__, key=str.lower):
        value = getattr(package, one)
        if inspect.ismodule(value):
            link = f":doc:`{value.__name__}`" if value.__name__ in packages else f"``{value.__name__}``"
            entry = [f"The module {link}."]
        else:
            entry = _entry(name, one, value, id(value) in indexed)
            indexed.add(id(value))
        text += [_title(one, "-"), *entry, ""]
    return "\n".join(text)


def _entry(package: str, name: str, value: object, known: bool) -> list[str]:
    path = f"{package}.{name}"
    option = ["   :no-index:"] if known else []
    if inspect.isclass(value):
        return [f".. autoclass:: {path}", *option]
    if inspect.isroutine(value):
        return [f".. autofunction:: {path}", *option]
    return [f".. py:data:: {path}", *option, "", f"   A constant: {_shown(value)}."]


def _shown(value: object) -> str:
    text = repr(value).replace("`", "'")
    if len(text) > 300:
        kind = type(value).__name__
        return f"``{kind}`` of {len(value)} entries" if hasattr(value, "__len__") else f"``{kind}``"
    return f"``{text}``"


def _title(text: str, sign: str) -> str:
    return f"{text}\n{sign * len(text)}\n"
