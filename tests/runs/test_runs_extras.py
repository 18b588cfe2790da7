"""A part whose packages are not installed says which extra brings them; the core works without them all."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from unmet.runs import MissingExtraError, naming_extras
from unmet.runs._extras import EXTRAS

ROOT = Path(__file__).parents[2]
# Stands in for an environment without the extras: every import of their packages fails.
BLOCKER = """
import sys

class Blocker:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {blocked!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Blocker())
"""


def run_without(extras, code):
    """Run code in a process in which the packages of these extras cannot be imported."""
    blocked = sorted(package for extra in extras for package in EXTRAS[extra])
    command = [sys.executable, "-c", BLOCKER.format(blocked=blocked) + code]
    return subprocess.run(command, capture_output=True, text=True, timeout=300)


def last_line(done):
    return done.stderr.strip().splitlines()[-1]


@pytest.mark.parametrize(
    ("extra", "code"),
    [
        ("mobility", "import unmet.mobility; unmet.mobility.read_trips"),
        ("mobility", "from unmet.datasets import make_city"),
        ("mobility", "import unmet; unmet.open_run('.').lost"),
        ("mobility", "from unmet.calendar import holiday_dates; holiday_dates('DK', [2026])"),
        ("report", "from unmet.report import write_report"),
        ("serve", "from unmet.serve import serve"),
        ("cluster", "from unmet.runs import run_shards; list(run_shards(len, ['a'], cluster='x'))"),
        ("plots", "from unmet.plotting import new_figure; new_figure(1, 1)"),
    ],
)
def test_a_missing_extra_is_named(extra, code, tmp_path):
    if "open_run" in code:
        from sample_run import write_sample_run

        code = code.replace("'.'", repr(str(write_sample_run(tmp_path, places=3, days=2, horizon=2))))
    done = run_without([extra], code)
    assert done.returncode == 1
    assert last_line(done).endswith(f"this needs the extra '{extra}': pip install 'unmet[{extra}]'"), (
        done.stderr
    )


def test_the_command_line_starts_without_any_extra_and_names_what_is_missing(tmp_path):
    helped = run_without(EXTRAS, "from unmet.cli import main; main(['run', '--help'])")
    assert helped.returncode == 0, helped.stderr
    assert "Usage: unmet run" in helped.stdout
    trips = tmp_path / "trips.csv"
    trips.write_text("a,b\n1,2\n")
    call = ["panel", str(trips), "--zone", "Europe/Paris", "-o", str(tmp_path / "p.parquet")]
    done = run_without(EXTRAS, f"from unmet.cli import main; main({call!r})")
    assert done.returncode == 1
    assert len(done.stderr.strip().splitlines()) == 1
    assert last_line(done).startswith("unmet panel: ")
    assert last_line(done).endswith("pip install 'unmet[mobility]'")


def test_the_estimators_need_no_extra():
    code = (ROOT / "examples" / "ten_lines.py").read_text(encoding="utf-8").replace("2000", "200")
    done = run_without(EXTRAS, code)
    assert done.returncode == 0, done.stderr
    assert "recovered" in done.stdout


def test_the_table_of_extras_is_that_of_the_project():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    declared = project["optional-dependencies"]
    for extra, packages in EXTRAS.items():
        brought = {re.split(r"[<>=.\[]", line)[0] for line in declared[extra]} - {"unmet"}
        assert brought <= set(packages), extra
        assert extra in declared["all"][0]
    core = {re.split(r"[<>=\[]", line)[0] for line in project["dependencies"]}
    assert not core & {package for packages in EXTRAS.values() for package in packages}


def test_other_missing_packages_are_told_as_they_are():
    with pytest.raises(ModuleNotFoundError, match="nonsense") as found, naming_extras():
        raise ModuleNotFoundError("No module named 'nonsense'", name="nonsense")
    assert not isinstance(found.value, MissingExtraError)
