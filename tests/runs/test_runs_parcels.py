"""Parcels between processes: what goes in comes out, and nothing stays behind."""

import os
import pickle
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from unmet.runs import Parcel, Parcels, run_shards

LARGE = np.arange(300_000.0).reshape(3, -1)


def folder_of(parcels: Parcels) -> Path:
    return Path(parcels._folder)


def test_small_and_large_items_come_out_equal_and_the_folder_goes() -> None:
    with Parcels() as parcels:
        for items in ([1, "two"], [np.arange(3)], {"x": LARGE, "y": LARGE[:, ::2]}):
            sent = pickle.loads(pickle.dumps(parcels.pack(items)))
            for copy in (True, False):
                np.testing.assert_equal(sent.open(copy=copy), items)
        folder = folder_of(parcels)
        assert len(list(folder.iterdir())) == 1  # only what is large lies there
    assert not folder.exists()


def test_a_dropped_parcel_frees_its_file_and_leaves_what_was_opened() -> None:
    with Parcels() as parcels:
        parcel = parcels.pack([LARGE])
        opened = parcel.open(copy=False)[0]
        parcels.drop(parcel)
        parcels.drop(parcel)
        assert not list(folder_of(parcels).iterdir())
        np.testing.assert_array_equal(opened, LARGE)
    np.testing.assert_array_equal(opened, LARGE)


def test_writing_into_an_opened_parcel_changes_no_other() -> None:
    with Parcels() as parcels:
        parcel = parcels.pack([LARGE])
        parcel.open(copy=False)[0][:] = 0
        np.testing.assert_array_equal(parcel.open()[0], LARGE)


def test_what_plain_pickle_cannot_send_travels_as_it_is() -> None:
    items = [lambda: 0, LARGE]
    with Parcels() as parcels:
        assert parcels.pack(items).open() is items
    assert Parcel.of(items).open() is items


def test_full_memory_sends_through_the_pipe(monkeypatch: pytest.MonkeyPatch) -> None:
    with Parcels() as parcels:

        def full(data: bytearray) -> str:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(parcels, "_write", full)
        np.testing.assert_equal(parcels.pack([LARGE]).open(), [LARGE])
        assert not list(folder_of(parcels).iterdir())


def doubled(task: tuple[Parcel, Parcels]) -> Parcel:
    parcel, parcels = task
    return parcels.pack([2 * array for array in parcel.open(copy=False)])


def test_workers_answer_through_the_folder() -> None:
    with Parcels() as parcels:
        tasks = [(parcels.pack([LARGE + i]), parcels) for i in range(3)]
        found = dict(run_shards(doubled, tasks, jobs=2))
        for i in range(3):
            assert isinstance(found[i].arrays, str)
            np.testing.assert_array_equal(found[i].open()[0], 2 * (LARGE + i))


def test_a_task_is_begun_by_a_worker_or_taken_back_never_both() -> None:
    with Parcels() as parcels:
        for number in (0, 1):
            parcels.offer(number)
        elsewhere = pickle.loads(pickle.dumps(parcels))
        found = [elsewhere.begin(0), parcels.take_back(0)]
        found.append(elsewhere.begin(0))  # a second worker, after the first has died
        assert found == [True, False, True]
        assert [parcels.take_back(1), elsewhere.begin(1), parcels.take_back(1)] == [True, False, False]


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs SIGKILL")
def test_not_even_a_kill_leaves_the_folder() -> None:
    code = (
        "import time, numpy as np; from unmet.runs import Parcels\n"
        "p = Parcels().__enter__(); p.pack([np.zeros(300_000)])\n"
        "print(p._folder, flush=True); time.sleep(60)"
    )
    child = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    folder = child.stdout.readline().strip()
    assert os.listdir(folder)
    child.send_signal(signal.SIGKILL)
    child.wait()
    child.stdout.close()
    for _ in range(1200):
        if not os.path.exists(folder):
            return
        time.sleep(0.1)
    raise AssertionError(f"{folder} is still there")
