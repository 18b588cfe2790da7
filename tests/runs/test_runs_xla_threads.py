"""Threads of XLA: they change the last bits, so workers must have as many as their parent."""

import os
import subprocess
import sys
from typing import Any

import pytest

from unmet.runs import limit_xla_threads
from unmet.runs._workers import worker_environment
from unmet.runs._xla_threads import allowed_cores, xla_threads

BITS = """
import os, sys
from unmet.runs import limit_xla_threads, run_shards

def bits(shard):
    import hashlib
    import jax.numpy as jnp
    import jax
    import numpy as np
    rng = np.random.default_rng(0)
    rows = jnp.asarray(rng.normal(size=(4096, 64)).astype("f4"))
    weights = jnp.asarray(rng.normal(size=(64, 64)).astype("f4"))
    step = jax.jit(lambda a, b: (a.T @ jnp.tanh(a @ b)).mean(0))
    return hashlib.sha256(np.asarray(step(rows, weights)).tobytes()).hexdigest()

if "limit" in sys.argv:
    assert limit_xla_threads()
here = bits(0)
print(here, *{result for _, result in run_shards(bits, range(3), jobs=2)})
"""


def run(*arguments: str, **environment: str) -> list[str]:
    keep = {
        key: value for key, value in os.environ.items() if key not in {"PJRT_NPROC", "NPROC", "XLA_FLAGS"}
    }
    done = subprocess.run(
        [sys.executable, "-c", BITS, *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
        env={**keep, **environment},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_workers_agree_with_their_parent_to_the_bit() -> None:
    found = run()
    assert len(found) == 2
    assert len(set(found)) == 1


@pytest.mark.slow
def test_one_thread_agrees_whatever_the_machine() -> None:
    limited = run("limit")
    assert len(set(limited)) == 1
    assert set(limited) == set(run(PJRT_NPROC="1"))
    assert set(limited) == set(run("limit", XLA_FLAGS="--xla_force_host_platform_device_count=1"))
    assert len(set(run(PJRT_NPROC="4"))) == 1


def clean(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("PJRT_NPROC", "NPROC", "XLA_FLAGS"):
        monkeypatch.delenv(name, raising=False)


def test_the_number_comes_from_the_user_then_the_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    clean(monkeypatch)
    assert xla_threads() == len(allowed_cores())
    monkeypatch.setenv("NPROC", "7")
    assert xla_threads() == 7
    monkeypatch.setenv("PJRT_NPROC", "3")
    assert xla_threads() == 3
    assert worker_environment()["PJRT_NPROC"] == "3"
    assert limit_xla_threads() is False
    assert os.environ["PJRT_NPROC"] == "3"


def test_the_limit_is_set_only_before_jax_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    clean(monkeypatch)
    running: list[Any] = [False]
    monkeypatch.setattr("unmet.runs._xla_threads._jax_is_running", lambda: running[0])
    assert limit_xla_threads() is True
    assert os.environ["PJRT_NPROC"] == "1"
    clean(monkeypatch)
    running[0] = True
    limit_xla_threads()
    assert "PJRT_NPROC" not in os.environ
