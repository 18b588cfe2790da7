"""The cache of compiled programs: it saves time, never changes a result, and bows to the user's settings."""

import os
import subprocess
import sys
import time
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from unmet.runs import _compile_cache, enable_compile_cache

PROGRAM = """
import warnings
warnings.simplefilter("error")
import jax
import jax.numpy as jnp
from unmet.runs import enable_compile_cache
hits = []
jax.monitoring.register_event_listener(lambda name, **_: hits.append(name.rpartition("/")[2]))
folder = enable_compile_cache()
assert enable_compile_cache() == folder
print(folder)
print(jax.config.jax_compilation_cache_dir)
print(float(jax.jit(lambda x: jnp.tanh(x @ x).sum())(jnp.full((4, 4), 0.1))))
print(hits.count("cache_hits"), hits.count("cache_misses"))
"""


def run(cache: Path) -> list[str]:
    names = ("JAX_COMPILATION_CACHE_DIR", "UNMET_COMPILE_CACHE", "JAX_ENABLE_COMPILATION_CACHE")
    keep = {key: value for key, value in os.environ.items() if key not in names}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
        env={**keep, "XDG_CACHE_HOME": str(cache)},
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout.splitlines()


def test_programs_are_kept_and_damage_only_costs_time(tmp_path: Path) -> None:
    folder, setting, result, counts = run(tmp_path)
    assert Path(folder).parent == tmp_path / "unmet"
    assert setting == folder
    hits, misses = map(int, counts.split())
    assert hits == 0
    assert misses >= 1
    assert Path(folder).stat().st_mode & 0o777 == 0o700

    *_, again, counts = run(tmp_path)
    assert again == result
    assert counts.split()[0] != "0"

    entries = sorted(Path(folder).glob("*-cache"))
    for number, entry in enumerate(entries):
        data = bytearray(entry.read_bytes())
        if number % 3 == 0:
            data = data[: len(data) // 2]
        elif number % 3 == 1:
            data[len(data) // 2] ^= 0xFF
        else:
            data = bytearray()
        entry.write_bytes(data)
    *_, again, counts = run(tmp_path)
    assert again == result
    assert counts.split()[0] == "0"

    settled = time.time() - 60
    for entry in entries:
        os.utime(entry, (settled, settled))
    os.utime(Path(folder) / ".checked", (settled - 60, settled - 60))
    _compile_cache._remove_damaged(Path(folder))
    assert not list(Path(folder).glob("*-cache"))


@pytest.fixture
def config(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Any]:
    """JAX's configuration as a user finds it, with a cache folder of our own; restored afterwards."""
    import jax

    for name in ("JAX_COMPILATION_CACHE_DIR", "UNMET_COMPILE_CACHE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    names = ("jax_compilation_cache_dir", *(name for name, _, _ in _compile_cache._LIMITS))
    before = {name: getattr(jax.config, name) for name in names}
    jax.config.update("jax_compilation_cache_dir", None)
    yield jax.config
    for name, value in before.items():
        jax.config.update(name, value)


def test_the_user_has_the_last_word(config: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (
        ("JAX_COMPILATION_CACHE_DIR", str(tmp_path / "mine")),
        ("UNMET_COMPILE_CACHE", "off"),
    ):
        monkeypatch.setenv(name, value)
        assert enable_compile_cache() is None
        monkeypatch.delenv(name)
    assert config.jax_compilation_cache_dir is None
    config.update("jax_compilation_cache_dir", str(tmp_path / "theirs"))
    assert enable_compile_cache() is None
    assert config.jax_compilation_cache_dir == str(tmp_path / "theirs")
    assert not (tmp_path / "unmet").exists()


def test_a_folder_that_cannot_be_made(config: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert enable_compile_cache() is None
    assert config.jax_compilation_cache_dir is None
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))  # the guard, not the fixture, made the difference
    assert enable_compile_cache() == Path(config.jax_compilation_cache_dir)


def test_a_folder_that_others_can_write_is_not_trusted(tmp_path: Path) -> None:
    assert _compile_cache._is_ours(tmp_path / "a" / "b")
    (tmp_path / "a" / "b").chmod(0o777)
    assert not _compile_cache._is_ours(tmp_path / "a" / "b")


def test_the_oldest_programs_go_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for age in range(6):
        folder = tmp_path / f"xla-{age % 2}"
        folder.mkdir(exist_ok=True)
        (folder / f"{age}-cache").write_bytes(b"x" * 100)
        os.utime(folder / f"{age}-cache", (1000 - age, 1000 - age))
    (tmp_path / "xla-0" / "notes").write_bytes(b"x" * 10_000)
    monkeypatch.setattr(_compile_cache, "_MAX_BYTES", 600)
    _compile_cache._prune(tmp_path)
    assert len(list(tmp_path.glob("xla-*/*-cache"))) == 6
    monkeypatch.setattr(_compile_cache, "_MAX_BYTES", 599)
    _compile_cache._prune(tmp_path)
    assert sorted(path.name for path in tmp_path.glob("xla-*/*-cache")) == ["0-cache", "1-cache"]
    assert (tmp_path / "xla-0" / "notes").exists()


def test_only_settled_entries_are_checked_and_only_once(tmp_path: Path) -> None:
    good, bad, growing = (tmp_path / f"{name}-cache" for name in ("good", "bad", "growing"))
    good.write_bytes(zlib.compress(b"program"))
    bad.write_bytes(zlib.compress(b"program")[:-3])
    growing.write_bytes(zlib.compress(b"program")[:-3])
    old = time.time() - 100
    os.utime(good, (old, old))
    os.utime(bad, (old, old))
    _compile_cache._remove_damaged(tmp_path)
    assert good.exists()
    assert not bad.exists()
    assert growing.exists()
    os.utime(growing, (old, old))  # older than the mark: taken as checked
    _compile_cache._remove_damaged(tmp_path)
    assert growing.exists()


def test_the_folder_depends_on_the_processor(monkeypatch: pytest.MonkeyPatch) -> None:
    here = _compile_cache._folder_name()
    assert here == _compile_cache._folder_name()
    monkeypatch.setattr(_compile_cache, "_processor", lambda: "another")
    assert _compile_cache._folder_name() != here
