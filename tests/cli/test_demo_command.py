"""`unmet demo`: the numbers are the right ones, the words fit the numbers, the figure is there."""

import re

import numpy as np
import pytest

from unmet.cli import main
from unmet.cli._demo_figure import draw, write_figure
from unmet.cli._demo_models import LEVELS, compare, show_models
from unmet.cli._demo_table import tell
from unmet.datasets import make_synthetic

NAMES = ["QNN", "CQNN", "Multi-CQNN", "Tobit", "unmet", "oracle"]


@pytest.fixture(scope="module")
def data():
    return make_synthetic("heteroskedastic")


@pytest.fixture(scope="module")
def compared(data):
    return compare(data, shown=False)


def test_the_models_are_measured_against_the_exact_truth(data, compared):
    results, preparing = compared
    assert [one.name for one in results] == NAMES
    assert preparing >= 0
    test = data.split().test
    assert len(test) == 330
    for one in results:
        estimated = one.model.predict_quantiles(data.X[test])
        x1, x2 = data.X[test, 1], data.X[test, 2]
        for k, z in enumerate((-1.6448536, 0.0, 1.6448536)):
            truth = 1 + x1 + x2 + np.abs(1 + x2) * z
            assert one.errors[k] == pytest.approx(np.abs(estimated[:, k] - truth).mean(), abs=1e-6)
        inside = (estimated[:, 0] <= data.latent[test]) & (data.latent[test] <= estimated[:, 2])
        assert one.covered == pytest.approx(inside.mean())
        assert one.length == pytest.approx(np.abs(estimated[:, 2] - estimated[:, 0]).mean())
        assert one.crossings == (np.diff(estimated) <= 0).sum()


def test_what_the_demo_is_meant_to_show_is_true(compared):
    found = {one.name: one for one in compared[0]}
    # The paper prints 1.223 and 0.383 for QNN, 1.214 and 0.139 for Multi-CQNN.
    assert found["QNN"].errors[:2] == pytest.approx((1.223, 0.383), abs=0.02)
    assert found["Multi-CQNN"].errors[:2] == pytest.approx((1.214, 0.139), abs=0.04)
    assert found["unmet"].error < 0.35 * found["Multi-CQNN"].error
    assert found["unmet"].error < 2.2 * found["oracle"].error
    assert found["unmet"].crossings == found["oracle"].crossings == found["Tobit"].crossings == 0
    assert abs(found["unmet"].covered - 0.9) < 0.1


def test_the_figure_has_a_panel_for_every_model(data, compared):
    figure = draw(data, compared[0])
    assert [ax.get_title("left") for ax in figure.axes] == NAMES
    for ax, one in zip(figure.axes, compared[0]):
        assert f"{one.error:.2f}" in ax.get_title("right")
        assert sum(str(line.get_label()).startswith("estimated") for line in ax.lines) == len(LEVELS)


def test_the_files_are_the_same_twice_and_quiet_prints_nothing(data, compared, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("unmet.cli._demo_models.compare", lambda *_, **__: compared)
    show_models(tmp_path / "a", "heteroskedastic", 42, quiet=True)
    assert capsys.readouterr() == ("", "")
    (tmp_path / "b").mkdir()
    files = write_figure(data, compared[0], tmp_path / "b")
    assert [path.name for path in files] == ["quantiles.png", "quantiles.svg"]
    for kind, first in (("png", b"\x89PNG"), ("svg", b"<?xml")):
        held = (tmp_path / "a" / f"quantiles.{kind}").read_bytes()
        assert held.startswith(first)
        assert held == (tmp_path / "b" / f"quantiles.{kind}").read_bytes()
        assert b"Matplotlib v" not in held
    assert b"<dc:date>" not in held


@pytest.mark.parametrize("width", [60, 100])
def test_the_table_fits_and_says_what_was_found(data, compared, width, tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(width))
    tell(data, compared[0], 12.0, [tmp_path / "quantiles.png", tmp_path / "quantiles.svg"])
    printed = capsys.readouterr().out
    lines = printed.splitlines()
    assert max(len(line) for line in lines if "Figure" not in line) <= width
    for one in compared[0]:
        (row,) = [line.split() for line in lines if line.startswith(f"{one.name} ") and "%" in line]
        assert row[1:7] == [
            *(f"{error:.3f}" for error in one.errors),
            f"{one.covered:.1%}",
            f"{one.length:.2f}",
            str(one.crossings),
        ]
    words = re.sub(r"\s+", " ", printed)
    assert "the 31% below 0 were seen as 0" in words
    assert f"the default of unmet by {compared[0][4].error:.2f}" in words
    assert f"Figure: {tmp_path / 'quantiles.png'} (and .svg)" in words
    assert "took 12 s" in words


@pytest.mark.parametrize(("arguments", "code"), [(["--noise", "loud"], 2), (["-o", "file/x"], 1)])
def test_bad_options_are_one_line(tmp_path, capsys, monkeypatch, arguments, code):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(SystemExit) as stop:
        main(["demo", "--models", "--quiet", *arguments])
    assert stop.value.code == code
    assert len(capsys.readouterr().err.strip().splitlines()) == 1


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--models", "--json"], "--json"),
        (["--models", "--days", "60"], "--days"),
        (["--models", "--replace"], "--replace"),
        (["--noise", "student"], "add --models"),
    ],
)
def test_no_option_is_ignored(tmp_path, capsys, arguments, words):
    with pytest.raises(SystemExit) as stop:
        main(["demo", "-o", str(tmp_path / "out"), *arguments])
    assert stop.value.code == 1
    assert words in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_the_command(tmp_path, capsys):
    with pytest.raises(SystemExit) as stop:
        main(["demo", "--models", "-o", str(tmp_path / "new" / "demo")])
    assert not stop.value.code
    assert (tmp_path / "new" / "demo" / "quantiles.svg").stat().st_size > 10_000
    assert "Multi-CQNN" in capsys.readouterr().out
