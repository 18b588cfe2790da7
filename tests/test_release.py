"""What a release is made of: every package pinned by hash, and the build backend too."""

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
LOCK = (ROOT / "requirements.lock").read_text()
LOCKED = dict(re.findall(r"^([a-z0-9._-]+)==([^ ;]+)", LOCK, re.M | re.I))


def name_of(requirement: str) -> str:
    return re.split(r"[<>=!~\[; ]", requirement)[0].lower().replace(".", "-")


def test_every_dependency_is_locked() -> None:
    extras = PROJECT["project"]["optional-dependencies"]
    parts = [name for name in extras if name not in ("dev", "docs")]
    wanted = [*PROJECT["project"]["dependencies"], *(one for part in parts for one in extras[part])]
    assert {name_of(one) for one in wanted} - {"unmet"} <= set(LOCKED)


def test_every_locked_package_has_hashes() -> None:
    entries = re.split(r"\n(?=\S)", LOCK.strip())
    assert len(entries) >= len(LOCKED) > 30
    bare = [entry.split()[0] for entry in entries if not re.search(r"--hash=sha256:[0-9a-f]{64}", entry)]
    assert not bare


def test_the_lock_holds_the_tested_versions() -> None:
    tested = dict(re.findall(r"^([A-Za-z0-9._-]+)==(\S+)", (ROOT / "constraints.txt").read_text(), re.M))
    tested = {name.lower().replace("_", "-"): version for name, version in tested.items()}
    differ = {name: LOCKED[name] for name in LOCKED if tested.get(name, LOCKED[name]) != LOCKED[name]}
    assert not differ


@pytest.mark.parametrize("requirement", PROJECT["build-system"]["requires"])
def test_the_build_backend_is_pinned(requirement: str) -> None:
    assert re.fullmatch(r"[a-z-]+==\d[\w.]*", requirement)
