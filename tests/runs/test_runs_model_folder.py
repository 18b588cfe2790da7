"""Saved models: exact round trips, savers and readers at once, nothing left behind."""

import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from model_tools import ARRAYS, CONFIG, ENTRY, TWO, assert_same, rewrite, weights_of

from unmet.runs import _model_folder, load_model, save_model


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    save_model(tmp_path / "model", CONFIG, ARRAYS)
    return tmp_path / "model"


def test_round_trip(folder: Path) -> None:
    config, arrays = load_model(str(folder))
    assert config == CONFIG
    assert_same(arrays, ARRAYS)
    arrays["bias"][...] = 2.0  # writable
    assert sorted(path.name for path in folder.iterdir()) == ["model.json", weights_of(folder).name]


def test_saving_again_replaces_and_leaves_nothing_behind(folder: Path) -> None:
    (folder / "weights-notes.txt").write_text("a user's file")
    save_model(folder, {"other": 1}, {"w": np.zeros(3)})
    config, arrays = load_model(folder)
    assert config == {"other": 1}
    assert_same(arrays, {"w": np.zeros(3)})
    assert len(list(folder.iterdir())) == 3


def test_equal_models_are_equal_bytes(folder: Path, tmp_path: Path) -> None:
    save_model(tmp_path / "twin", dict(reversed(CONFIG.items())), dict(reversed(ARRAYS.items())))
    for path in folder.iterdir():
        assert (tmp_path / "twin" / path.name).read_bytes() == path.read_bytes()


def test_big_endian_fortran_and_strided_arrays(tmp_path: Path) -> None:
    values = np.arange(12.0).reshape(3, 4)
    save_model(
        tmp_path,
        {},
        {"big": values.astype(">f8"), "fortran": np.asfortranarray(values), "cut": values[:, ::2]},
    )
    _, arrays = load_model(tmp_path)
    assert_same(arrays, {"big": values, "cut": values[:, ::2].copy(), "fortran": values})


DTYPES = st.sampled_from([np.float32, np.float64, np.int32, np.int64, np.uint32, np.bool_])
NAMES = st.text("abcXYZ019_.:/[]-", min_size=1, max_size=200).filter(lambda name: name[:2] != "__")


@st.composite
def finite_arrays(draw: st.DrawFn) -> np.ndarray:
    dtype = np.dtype(draw(DTYPES))
    elements = {"allow_nan": False, "allow_infinity": False} if dtype.kind == "f" else None
    return draw(
        hnp.arrays(dtype, hnp.array_shapes(min_dims=0, max_dims=8, min_side=0, max_side=3), elements=elements)
    )


@settings(deadline=None, max_examples=60)
@given(
    config=st.dictionaries(
        st.text(),
        st.none()
        | st.booleans()
        | st.integers()
        | st.floats(allow_nan=False, allow_infinity=False)
        | st.text(),
    ),
    arrays=st.dictionaries(NAMES, finite_arrays(), max_size=5),
)
def test_any_model_comes_back_exactly(
    tmp_path_factory: pytest.TempPathFactory, config: dict[str, Any], arrays: dict[str, np.ndarray]
) -> None:
    folder = tmp_path_factory.mktemp("any")
    save_model(folder, config, arrays)
    found_config, found_arrays = load_model(folder)
    assert found_config == config
    assert_same(found_arrays, arrays)


def test_hand_made_weights_load(folder: Path) -> None:
    rewrite(folder, {"w": ENTRY}, TWO)
    assert load_model(folder)[1]["w"].tolist() == [1.0, 2.0]


def test_a_damaged_model_can_be_replaced(folder: Path) -> None:
    (folder / "model.json").write_bytes(b"\0\0")
    save_model(folder, CONFIG, ARRAYS)
    assert load_model(folder)[0] == CONFIG


def test_a_reader_gets_the_new_model_when_the_old_weights_vanish(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = _model_folder._read_weights

    def replaced_meanwhile(path: Path, expected: dict[str, Any]) -> dict[str, np.ndarray]:
        monkeypatch.undo()
        save_model(folder, {"new": True}, {"w": np.ones(2)})
        return read(path, expected)

    monkeypatch.setattr(_model_folder, "_read_weights", replaced_meanwhile)
    config, arrays = load_model(folder)
    assert config == {"new": True}
    assert arrays["w"].tolist() == [1.0, 1.0]


def test_two_savers_and_a_reader_at_once(tmp_path: Path) -> None:
    """Without the lock between savers, one removes the weights that the other is about to name."""
    models = {name: np.full(2000, value) for name, value in (("a", 1.0), ("b", 2.0), ("c", 3.0))}
    save_model(tmp_path, {"name": "c"}, {"w": models["c"]})
    failures: list[BaseException] = []

    def save(name: str) -> None:
        try:
            for _ in range(25):
                save_model(tmp_path, {"name": name}, {"w": models[name]})
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=save, args=(name,)) for name in "ab"]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        config, arrays = load_model(tmp_path)
        assert_same(arrays, {"w": models[config["name"]]})
    assert not failures
    config, arrays = load_model(tmp_path)
    assert_same(arrays, {"w": models[config["name"]]})
    assert len(list(tmp_path.iterdir())) == 2


def test_saving_and_loading_import_nothing_heavy(folder: Path) -> None:
    program = """
import sys
import numpy as np
from unmet.runs import load_model, save_model
config, arrays = load_model(sys.argv[1])
save_model(sys.argv[1], config, arrays)
heavy = {"jax", "jaxlib", "sklearn", "scipy", "torch", "tensorflow", "rich", "loky", "equinox", "pandas"}
heavy |= {"joblib", "cloudpickle"}
print(sorted(heavy & {name.partition(".")[0] for name in sys.modules}))
"""
    done = subprocess.run(
        [sys.executable, "-c", program, str(folder)], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
