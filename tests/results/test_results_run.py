"""A run as its users see it: frames, figures, words, a notebook."""

import builtins
import json
import time
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

import unmet
from sample_run import BREAK_NAME, write_sample_run
from unmet.results import FILES, Interval, PlaceTotals, open_run, place_sentence, write_file
from unmet.runs import Steps
from unmet.tables import read_columns, write_columns


@pytest.mark.parametrize("backend", ["pandas", "polars", "arrow"])
@pytest.mark.parametrize("table", unmet.Run.TABLES)
def test_every_table_is_a_frame_of_the_backend(folder: Path, backend: str, table: str):
    run = open_run(folder, backend=backend)
    frame, columns = getattr(run, table), run.columns(table)
    assert type(frame).__module__.split(".")[0] == {"arrow": "pyarrow"}.get(backend, backend)
    names = frame.column_names if backend == "arrow" else list(frame.columns)
    assert names == list(columns)
    assert len(frame) == len(columns[names[0]])
    for name in names:
        values = np.array(frame[name].to_pylist() if backend == "arrow" else frame[name].to_numpy())
        if columns[name].dtype.kind in "biuf":
            np.testing.assert_array_equal(values, columns[name])
        elif columns[name].dtype == object:
            assert [None if one != one else one for one in values] == columns[name].tolist()


def test_counts_of_csv_files_are_whole_numbers_and_texts_their_own(folder: Path):
    run = open_run(folder)
    assert run.plan["target"].dtype.kind == "i"
    assert run.plan["identified"].dtype.kind == "b"
    assert any(name.startswith("=HYPERLINK") for name in run.plan["name"])
    assert "'=HYPERLINK" in (folder / "plan.csv").read_text(encoding="utf-8")


def test_opening_reads_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch):
    def no_open(*_: object, **__: object) -> None:
        raise AssertionError("a file was read")

    monkeypatch.setattr(builtins, "open", no_open)
    started = time.process_time()
    open_run(folder)
    assert time.process_time() - started < 1.0


def test_a_missing_package_is_named(folder: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(__import__("sys").modules, "polars", None)
    with pytest.raises(ImportError, match="pip install polars"):
        open_run(folder, backend="polars")
    with pytest.raises(ValueError, match="backend must be"):
        open_run(folder, backend="excel")
    monkeypatch.setattr("unmet.results._frames.find_spec", lambda package: None)
    run = open_run(folder)
    assert run.summary().observed > 0  # figures need no frames
    with pytest.raises(ImportError, match="pip install pandas"):
        run.lost


def test_what_is_no_run_is_refused(tmp_path: Path):
    for folder in (tmp_path / "nowhere", tmp_path):
        with pytest.raises(ValueError, match="unmet run"):
            open_run(folder)


def test_a_table_that_is_absent_names_its_command(copy: Path):
    (copy / "plan.csv").unlink()
    with pytest.raises(ValueError, match=f"plan.csv is missing; make it with `unmet plan {copy}`"):
        open_run(copy).plan
    with pytest.raises(ValueError, match="a run has no file 'weather'"):
        open_run(copy).columns("weather")
    with pytest.raises(ValueError, match="table must be one of"):
        open_run(copy).columns("report.html")


def test_a_file_that_changed_is_read_again_and_shared_columns_cannot_be_changed(copy: Path):
    run = open_run(copy)
    before = run.columns("stations")
    with pytest.raises(ValueError, match="read-only"):
        before["lat"][0] = 1.0
    columns, about = read_columns(copy / "stations.parquet")
    write_columns(copy / "stations.parquet", {**columns, "lat": columns["lat"] + 1}, about=about)
    assert run.columns("stations")["lat"][0] == before["lat"][0] + 1
    frame = run.stations
    frame.loc[0, "lat"] = 7.0  # a frame is the user's own
    assert run.columns("stations")["lat"][0] != 7.0


def test_every_figure_comes_from_the_files(copy: Path):
    run = open_run(copy)
    totals, lost = run.totals, run.columns("lost")
    summary = run.summary()
    assert summary.observed == lost["y"].sum() == totals["observed"]
    known = Interval.read(totals["demand"])
    assert (summary.demand.mean, summary.demand.low) == (known.mean, known.low)
    assert summary.total.unsure > 0.5  # so that the total has no upper bound
    assert not summary.demand.identified
    assert (summary.places, summary.rows, summary.periods) == (5, 5 * 14 * 24, 14 * 24)
    assert (summary.first, summary.last) == ("2024-04-01T00:00:00", "2024-04-14T23:00:00")
    assert [place.lost.mean for place in summary.worst] == sorted(
        (entry["lost"]["mean"] for entry in totals["places"].values()), reverse=True
    )
    plan = run.columns("plan")
    assert summary.plan is not None
    assert summary.plan.vehicles == plan["target"].sum()
    assert summary.plan.lost_target == pytest.approx(plan["expected_lost_target"].sum())
    assert summary.coverage["randomised"] == run.calibration["coverage"]["randomised"]
    assert summary.as_dict()["lost"] == {**totals["lost"], "q95": None}
    assert json.loads(json.dumps(summary.as_dict())) == summary.as_dict()
    assert run.summary(fit_only=True).plan is None
    (copy / "plan.csv").write_text("damaged")  # of an earlier fit: no matter
    assert run.summary(fit_only=True).observed == summary.observed


def test_rows_that_no_figure_holds(copy: Path):
    assert open_run(copy).summary().left_out_rides == 0
    account = json.loads((copy / "panel.json").read_text())
    account["panel"]["pickups"] += 12
    (copy / "panel.json").write_text(json.dumps(account))
    columns, about = read_columns(copy / "lost.parquet")
    columns["exposure"] = np.where(np.arange(len(columns["y"])) < 21, np.nan, columns["exposure"])
    write_columns(copy / "lost.parquet", columns, about=about)
    summary = open_run(copy).summary()
    assert (summary.left_out_share, summary.left_out_rides) == (pytest.approx(21 / 1680), 12)
    assert "leaves out 1.2% of the rows and the 12 rides in them" in str(summary)


def test_places_that_never_had_a_vehicle(copy: Path):
    columns, about = read_columns(copy / "lost.parquet")
    columns["exposure"] = np.where(columns["unique_id"] == "P03", 0.0, columns["exposure"])
    columns["exposure"] = np.where(columns["unique_id"] == "P04", np.nan, columns["exposure"])
    write_columns(copy / "lost.parquet", columns, about=about)
    summary = open_run(copy).summary()
    assert [place.unique_id for place in summary.never_available] == ["P03", "P04"]
    assert "never had a vehicle" in str(summary)


def test_a_summary_prints_well(folder: Path):
    lines = str(open_run(folder).summary()).splitlines()
    assert lines[0].startswith("Grade ")
    assert lines[1].startswith("About ")
    assert lines[1].endswith(" gave up.")
    assert any(line.startswith("Plan for Monday, 15 Apr 2024, from 04:00: ") for line in lines)
    assert lines[-1].startswith("Recent Mondays (from 04:00) lost ")


@pytest.mark.parametrize(
    ("demand", "walked", "words"),
    [
        (5147.0, 430.0, "4,064 left from here, about 790 gave up, about 293 (net) walked to a neighbour."),
        (
            4700.0,
            20.0,
            "4,064 left from here, about 154 of them (net) from a neighbour, and about 790 gave up.",
        ),
        (4854.0, None, "4,064 left from here, about 790 gave up."),
    ],
)
def test_a_place_in_words(demand: float, walked: float | None, words: str):
    place = PlaceTotals(
        *("a", "A", None, None, None, 4064),
        demand=Interval(demand, demand - 100, demand + 100),
        lost=Interval(790, 712, 884),
        censored=0.1,
        empty=0.2,
        next_door=None if walked is None else Interval(walked, walked - 9, walked + 9),
    )
    about, _, parts = place_sentence(place).partition(": ")
    assert about.endswith(" people wanted a ride here")
    assert parts == words


class _Tags(HTMLParser):
    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: object) -> None:
        assert not attrs
        self.tags.add(tag)

    def handle_data(self, data: str) -> None:
        self.text += data


def test_a_notebook_shows_a_run_and_names_stay_text(folder: Path, copy: Path):
    found = _Tags(open_run(folder)._repr_html_())
    assert found.tags == {"div", "p", "b", "code", "ul", "li"}
    assert BREAK_NAME in found.text
    assert ".lost" in found.text
    (copy / "lost_total.json").write_text("{")
    assert "lost_total.json is not valid JSON" in _Tags(open_run(copy)._repr_html_()).text
    assert repr(open_run(copy)).startswith(f"<Run '{copy}'")


def test_steps_settings_and_versions_are_those_of_the_record(tmp_path: Path):
    folder = tmp_path / "run"
    with Steps(folder, source={"trips": ["a.csv"]}) as steps:
        for name in ("report", "panel"):
            steps.run(name, lambda: None, settings={"by": name}, outputs=[])
        steps.note(versions={"numpy": "2"})
    run = open_run(folder)
    assert run.steps == ("panel", "report")
    assert run.settings["panel"] == {"by": "panel"}
    assert run.versions == {"numpy": "2"}
    assert run.page is None
    assert "panel, report" in repr(run)
    with pytest.raises(ValueError, match="parquet is missing"):
        run.zone


def test_csv_cells_that_a_spreadsheet_would_run_are_neutralised(tmp_path: Path):
    evil = ["=1+1", "+1", "-1", "@x", "\tx", "fine"]
    moves = {"rank": [1] * 6, "from": evil, "to": evil, "vehicles": [2] * 6, "rides_saved": [-1.5] * 6}
    write_file(tmp_path, FILES["moves.csv"], moves)
    lines = (tmp_path / "moves.csv").read_text(encoding="utf-8").splitlines()[1:]
    assert [line.split(",")[1][0] for line in lines] == ["'"] * 5 + ["f"]
    assert all(line.endswith(",-1.5") for line in lines)  # numbers stay numbers
    assert open_run(tmp_path).columns("moves")["from"].tolist() == evil


def test_a_wide_run_is_read_in_time(tmp_path: Path):
    run = open_run(write_sample_run(tmp_path, places=60, days=28))
    started = time.process_time()
    run.check()
    run.summary()
    assert time.process_time() - started < 20
