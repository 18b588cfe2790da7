"""Freed memory is used again, also where the process was started to give it back at once."""

import os
import platform
import subprocess
import sys

import pytest

from unmet.runs._allocator import keep_freed_memory

PROGRAM = """
import resource, sys
import numpy as np
from unmet.runs._allocator import keep_freed_memory
if sys.argv[1] == "kept":
    keep_freed_memory()
np.ones(100_000)
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(50):
    np.ones(100_000)
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


def page_faults(how: str) -> int:
    environment = os.environ | {"MALLOC_TRIM_THRESHOLD_": "65536"}  # what Dask gives its workers
    command = [sys.executable, "-c", PROGRAM, how]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return int(done.stdout)


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="needs glibc")
def test_arrays_take_the_memory_of_those_before_them() -> None:
    assert page_faults("given back") > 50 * 100
    assert page_faults("kept") < 500


def test_without_glibc_nothing_happens(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ctypes.CDLL", lambda name: object())
    keep_freed_memory()
