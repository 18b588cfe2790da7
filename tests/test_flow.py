"""Imports go one way through the tree: a package may import only from packages to its left."""

import ast
from pathlib import Path

import pytest

import unmet

FLOW = [
    *("runs", "tables", "calendar"),
    *("censoring", "losses", "metrics", "networks", "training", "estimators", "adapters", "calibration"),
    *("mobility", "datasets", "forecasting", "planning"),
    *("plotting", "results", "comparison", "report", "pipeline", "papers", "serve", "cli"),
]
ROOT = Path(unmet.__file__).parent


def imported_packages(source: str) -> set[str]:
    """Names of the `unmet` sub-packages that a module imports, at any depth and however late."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "write absolute imports"
            modules = [node.module or ""]
            if node.module == "unmet":
                modules = [f"unmet.{alias.name}" for alias in node.names]
        else:
            continue
        found |= {module.split(".")[1] for module in modules if module.startswith("unmet.")}
    return found


def files() -> list[Path]:
    return sorted(path for path in ROOT.rglob("*.py") if path.parent != ROOT)


@pytest.mark.parametrize("path", files(), ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_point_left(path: Path) -> None:
    package = path.relative_to(ROOT).parts[0]
    assert package in FLOW, f"{package} is not part of the flow in docs/design.md"
    allowed = set(FLOW[: FLOW.index(package) + 1]) | {"__version__"}
    wrong = imported_packages(path.read_text()) - allowed
    assert not wrong, f"{package} may not import {sorted(wrong)}"


def private_imports(source: str, package: str) -> set[str]:
    """Private modules of other packages that a module imports."""
    modules = {node.module or "" for node in ast.walk(ast.parse(source)) if isinstance(node, ast.ImportFrom)}
    parts = {module: module.split(".") for module in modules if module.startswith("unmet.")}
    return {
        module
        for module, names in parts.items()
        if names[1] != package and any(name.startswith("_") for name in names[2:])
    }


def test_nobody_imports_private_modules_of_another_package() -> None:
    found = {
        f"{path.relative_to(ROOT)}: {module}"
        for path in files()
        for module in private_imports(path.read_text(), path.relative_to(ROOT).parts[0])
    }
    assert not found


def test_the_check_sees_a_wrong_import() -> None:
    assert imported_packages("def f():\n    from unmet.cli import main") == {"cli"}
    wrong = "from unmet.report._page import render"
    assert private_imports(wrong, "cli") == {"unmet.report._page"}
    assert not private_imports(wrong, "report")
