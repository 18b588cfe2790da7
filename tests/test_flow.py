"""Imports go one way through the tree: a package may import only from packages to its left."""

import ast
from pathlib import Path

import pytest

import unmet

FLOW = [
    *("runs", "tables"),
    *("censoring", "losses", "metrics", "networks", "training", "estimators", "calibration"),
    *("mobility", "datasets", "forecasting", "planning"),
    *("plotting", "results", "report", "pipeline", "papers", "serve", "cli"),
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


def test_the_check_sees_a_wrong_import() -> None:
    assert imported_packages("def f():\n    from unmet.cli import main") == {"cli"}
