"""From a table of your own to the page, in the lines that the how-to page shows."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import unmet
from unmet.pipeline import fit, plan, report

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "your-panel.md"
BLOCKS = re.findall(r"^```(python|sh)\n(.*?)^```$", PAGE.read_text(), re.M | re.S)


def block(words: str) -> tuple[str, str]:
    return next((language, code) for language, code in BLOCKS if words in code)


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """The example of the page, with fewer stores."""
    path = tmp_path_factory.mktemp("own")
    language, code = block("to_csv")
    assert language == "python"
    code = (
        code.replace("(40, 1)", "(8, 1)")
        .replace("range(1, 41)", "range(1, 9)")
        .replace("weeks, 40", "weeks, 8")
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return path


@pytest.fixture(scope="module")
def page(folder) -> str:
    """The page made by the lines of the how-to page."""
    _, code = block("unmet.run(")
    assert len([line for line in code.splitlines() if line]) < 10
    code = code.replace("output=", 'network="linear", output=')
    done = subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "sales were lost" in done.stdout or "were lost" in done.stdout
    assert "rides" not in done.stdout
    return (folder / "sales-run" / "report.html").read_text()


def shown(page: str) -> str:
    """The words of a page: without styles, scripts and data."""
    words = re.sub(r"<(script|style).*?</\1>", " ", page, flags=re.S)
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", words))


def test_a_weekly_table_in_pandas_becomes_a_page_about_sales(page):
    words = shown(page)
    assert re.search(
        r"Demand was about [\d,]+ sales \(90% [^)]+\) : [\d,]+ were seen, about [\d,]+ were lost", words
    )
    for foreign in ("ride", "vehicle", "station", "neighbour", "dock", "people", "pickup"):
        assert not re.search(foreign, words, re.I), foreign
    assert "Week by week" in words
    assert "8 series" in words
    assert "UTC" not in words.split("Which series lose sales")[0]


def test_what_cannot_be_known_is_left_out_and_said(page):
    words = shown(page)
    assert 'id="plan"' not in page
    assert 'id="when"' not in page
    assert 'class="place' not in page  # no circle, no map
    assert "There is no map: no coordinates are known." in words
    assert "There is no plan: the panel does not say what was in stock and what came back." in words
    assert "There is no chart of hours: the panel counts by week." in words
    assert "Each series" in words


def test_the_run_is_kept_and_a_plan_is_refused(folder, page, tmp_path):
    run = unmet.open_run(shutil.copytree(folder / "sales-run", tmp_path / "out"))
    assert run.by == "week"
    assert run.noun == "sales"
    assert "sales lost" in repr(run)
    assert report(run).kept == ()
    with pytest.raises(ValueError, match="cannot have a plan: the panel does not say what was in stock"):
        plan(run)
    with pytest.raises(ValueError, match="noun= goes with a panel file"):
        fit(run.folder, noun="visits")


@pytest.mark.slow
def test_the_same_on_the_command_line(folder):
    _, code = block("unmet run --panel sales.csv")
    assert len(code.splitlines()) < 10
    code = code.replace("-o sales-out", "--network linear --jobs 1 -o sales-out", 1)
    path = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    script = f'unmet() {{ "{sys.executable}" -m unmet "$@"; }}\n{code}'
    done = subprocess.run(["bash", "-euc", script], cwd=folder, env=path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert re.search(r"Demand was about [\d,]+ sales", " ".join(done.stdout.split()))
    assert "There is no plan: the panel does not say" in " ".join(done.stdout.split())
    assert len(unmet.open_run(folder / "sales-out").forecast) == 8 * 8
    assert "rides" not in done.stdout
    assert "Weekly sales" in (folder / "sales-out" / "report.html").read_text()


@pytest.mark.slow
def test_a_daily_csv_of_unmet_panel_becomes_a_page(city, tmp_path):
    for name in ("trips.csv.gz", "station_status_events.csv.gz", "station_information.json"):
        shutil.copy(city / name, tmp_path / name)
    _, code = block("-o panel.csv")
    lines = code.replace("\\\n", " ").splitlines()
    assert len(lines) < 10
    code = code.replace("-o from-csv", "--network linear --jobs 1 -o from-csv", 1)
    script = f'unmet() {{ "{sys.executable}" -m unmet "$@"; }}\n{code}'
    done = subprocess.run(["bash", "-euc", script], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    words = shown((tmp_path / "from-csv" / "report.html").read_text())
    assert "people" in words
    assert 'id="plan"' in (tmp_path / "from-csv" / "report.html").read_text()


def test_a_csv_of_unmet_panel_is_the_same_panel(city, given, tmp_path):
    from unmet.forecasting import as_panel
    from unmet.mobility import read_panel
    from unmet.pipeline import panel

    for name in ("panel.csv", "panel.parquet"):
        panel(**given, by="day", output=tmp_path / name, progress=False)
    found = as_panel(tmp_path / "panel.csv", zone="America/New_York")
    wanted = read_panel(tmp_path / "panel.parquet")
    assert found.about == {"zone": "America/New_York", "by": "day", "kind": "station"}
    for column in ("unique_id", "ds", "y", "censored", "returns", "stock_start"):
        assert (found[column] == wanted[column]).all(), column


def test_options_of_trips_are_refused(tmp_path):
    with pytest.raises(ValueError, match="status= goes with trips=, not with panel="):
        unmet.run(panel="sales.csv", status="status.csv", output=tmp_path / "out")
    with pytest.raises(ValueError, match="noun= goes with panel="):
        unmet.run(trips="trips.csv", noun="sales", output=tmp_path / "out")
    with pytest.raises(ValueError, match="noun must be a word in the plural such as sales, got '<b>'"):
        fit({"unique_id": ["a"] * 20, "ds": [f"2024-01-{n:02d}" for n in range(1, 21)], "y": [1] * 20,
             "censored": [False] * 20}, noun="<b>", output=tmp_path / "out")  # fmt: skip
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(("memory", "taken"), [("100MB", 100_000_000), (None, None)])
def test_memory_goes_to_the_fit(tmp_path, monkeypatch, memory, taken):
    from unmet import forecasting

    given = []

    def fit_demand(*_, memory, **__):
        given.append(memory)
        raise ValueError("enough is known")

    monkeypatch.setattr(forecasting, "fit_demand", fit_demand, raising=False)
    days = [f"2024-01-{n:02d}" for n in range(1, 21)]
    table = {"unique_id": ["a"] * 20, "ds": days, "y": [1] * 20, "censored": [False] * 20}
    for call in (unmet.run, fit):
        with pytest.raises(ValueError, match="enough is known"):
            call(panel=table, memory=memory, output=tmp_path / "out", progress=False)
    assert given == [taken, taken]
