"""Take out one guard after another, in a copy of the package, and see whether its tests notice.

python -m tests.guards            all guards
python -m tests.guards lock       those whose name contains a word
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.guards.table import GUARDS, Guard

ROOT = Path(__file__).parents[2]


def notices(guard: Guard, folder: Path) -> bool:
    """Whether the tests of a guard fail without it."""
    path = folder / "unmet" / guard.file
    text = path.read_text()
    if text.count(guard.old) != 1:
        raise SystemExit(f"{guard.name}: {guard.file} has its text {text.count(guard.old)} times, not once")
    path.write_text(text.replace(guard.old, guard.new))
    try:
        command = [sys.executable, "-m", "pytest", "-q", "-x", "-m", "not slow", "--timeout", "300"]
        done = subprocess.run(
            [*command, *(str(ROOT / "tests" / test) for test in guard.tests)],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"},
            capture_output=True,
            text=True,
        )
    finally:
        path.write_text(text)
    # A test that ran out of time says nothing.
    return done.returncode == 1 and "from pytest-timeout" not in done.stdout


def main(words: list[str]) -> int:
    """Print each guard with yes or NO; return the number of those that nobody would miss."""
    wanted = [one for one in GUARDS if all(word in one.name for word in words)]
    survived = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        unwanted = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / "src" / "unmet", folder / "unmet", ignore=unwanted)
        for guard in wanted:
            began = time.monotonic()
            noticed = notices(guard, folder)
            survived += [] if noticed else [guard.name]
            told = f"{guard.name} ({time.monotonic() - began:.0f} s)"
            print(f"{'yes' if noticed else 'NO':4}{told}", flush=True)
    print(f"{len(wanted) - len(survived)} of {len(wanted)} guards have a test that notices their absence")
    return len(survived)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]) > 0)
