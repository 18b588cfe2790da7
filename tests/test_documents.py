"""The documents say what is so: examples run, links lead somewhere, names exist."""

import re
import runpy
import tomllib
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
DOCUMENTS = [ROOT / name for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md")]
DOCUMENTS += [ROOT / "SECURITY.md", ROOT / "CODE_OF_CONDUCT.md"]


def text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def test_the_readme_shows_the_example_word_for_word():
    assert f"```python\n{text('examples/ten_lines.py')}```\n" in text("README.md")
    lines = [line for line in text("examples/ten_lines.py").splitlines() if line]
    assert len(lines) <= 10


def test_the_example_does_what_the_readme_says(capsys):
    found = runpy.run_path(str(ROOT / "examples" / "ten_lines.py"))
    seen, recovered, wanted = map(float, re.findall(r"\d+\.\d+", capsys.readouterr().out)[:3])
    told = re.search(r"seen ([\d.]+), recovered ([\d.]+), wanted ([\d.]+)\n", text("README.md"))
    assert told is not None
    assert (seen, wanted) == (float(told[1]), float(told[3]))
    assert recovered == pytest.approx(float(told[2]), abs=0.1)
    assert abs(recovered - wanted) < 0.2 * abs(seen - wanted)
    for x, row in zip((-1, 0, 1), found["model"].predict_quantiles([[-1.0], [0.0], [1.0]])):
        truth = [12 + 3 * x + 4 * z for z in (-1.645, 0, 1.645)]
        assert row == pytest.approx(truth, abs=0.6)


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_links_lead_somewhere(path):
    for target in re.findall(r"\]\(([^)#]+)\)", path.read_text(encoding="utf-8")):
        if not target.startswith("https://"):
            assert (path.parent / target).exists(), target


def test_the_design_names_every_package_and_dependency():
    design = text("docs/design.md")
    for folder in (ROOT / "src" / "unmet").iterdir():
        if (folder / "__init__.py").exists():
            assert f"      {folder.name}/" in design, folder.name
    project = tomllib.loads(text("pyproject.toml"))["project"]
    table = design[design.index("## Dependencies") :]
    for group in (project["dependencies"], *project["optional-dependencies"].values()):
        for line in group:
            name = re.split(r"[<>=\[]", line)[0]
            assert re.search(rf"\b{re.escape(name)}\b", table), name


def test_names_in_the_notation_exist():
    names = set(
        re.findall(
            r"`(censoring|losses|metrics|networks|mobility)\.(\w+)", text("docs/explanation/notation.md")
        )
    )
    assert len(names) > 15
    for package, name in names:
        assert hasattr(import_module(f"unmet.{package}"), name), f"{package}.{name}"


def test_parameters_in_the_notation_exist():
    from unmet import CensoredQuantileRegressor, TobitRegressor

    known = {*CensoredQuantileRegressor().get_params(), *TobitRegressor().get_params()}
    known |= {"validation", "noise", "truth", "reduce", "strict", "rows"}
    used = set(re.findall(r"`(\w+)=", text("docs/explanation/notation.md")))
    assert used <= known, used - known


def test_the_readme_names_every_command():
    from unmet.cli._app import COMMANDS

    readme = text("README.md")
    for name in COMMANDS:
        assert re.search(rf"`?unmet {name}\b|make {name}\b", readme), name
