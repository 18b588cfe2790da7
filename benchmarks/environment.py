"""The environment `.bench-venv`, with the package and its rivals, made when first needed."""

from __future__ import annotations

import hashlib
import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
HOME = ROOT / ".bench-venv"
REQUIREMENTS = ROOT / "benchmarks" / "requirements.txt"
CONSTRAINTS = ROOT / "constraints.txt"
READY = HOME / ".ready"


def inside() -> bool:
    """Whether this Python is the one of the benchmarks."""
    return Path(sys.prefix).resolve() == HOME.resolve()


def wanted() -> str:
    """A fingerprint of everything that decides what is installed."""
    parts = [path.read_bytes() for path in (REQUIREMENTS, CONSTRAINTS, ROOT / "pyproject.toml")]
    return hashlib.sha256(b"\0".join(parts)).hexdigest()


def requirements() -> list[str]:
    """The rivals, one requirement per line of the file."""
    lines = (line.split("#")[0].strip() for line in REQUIREMENTS.read_text().splitlines())
    return [line for line in lines if line]


def prepare() -> Path:
    """Make the environment if it is not there or out of date; the path of its Python.

    A rival that cannot be installed is reported and left out: its lines will say that it is missing.
    """
    python = HOME / "bin" / "python"
    if READY.exists() and READY.read_text() == wanted():
        return python
    print(f"preparing {HOME.name} (once; a few minutes) …", flush=True)
    if not python.exists():
        venv.create(HOME, with_pip=True, symlinks=True)
    install = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    install += ["--constraint", str(CONSTRAINTS)]
    subprocess.run([*install, "--editable", str(ROOT)], check=True)
    missing = []
    for requirement in requirements():
        if subprocess.run([*install, requirement]).returncode:
            missing.append(requirement)
    if missing:
        print(f"could not install {', '.join(missing)}; their lines will say so", file=sys.stderr)
    else:
        READY.write_text(wanted())
    return python
