"""The page as text: what it says, what it may do, what a run may lack."""

import base64
import hashlib
import json
import re
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

from sample_run import BREAK_NAME, FORMULA_NAME, SCRIPT_NAME, write_sample_run
from unmet.report import Live, read_run, render_page, write_report
from unmet.report import _page as page_module
from unmet.report import _tables as tables
from unmet.results import Interval
from unmet.results.numbers import about, between
from unmet.tables import read_columns, write_columns


class Elements(HTMLParser):
    """Names, attributes and text of everything in a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.inside: list[tuple[str, str]] = []
        self.open = ""
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        self.open = tag

    def handle_data(self, data):
        self.inside.append((self.open, data))


def test_the_same_run_gives_the_same_bytes(folder: Path, copy: Path, page: str):
    assert write_report(copy).read_text(encoding="utf-8") == page


def test_the_sentence_holds_the_totals(folder: Path, page: str):
    totals = json.loads((folder / "lost_total.json").read_text())
    headline = re.sub(r"<[^>]+>", "", re.search(r"<h1.*?</h1>", page, re.S)[0])
    demand, lost = Interval.read(totals["demand"]), Interval.read(totals["lost"])
    assert headline == (
        f"About {about(demand)} people wanted a ride (90% {between(demand)}): "
        f"{totals['observed']:,} got one, about {about(lost)} gave up."
    )


def test_no_name_becomes_markup(page: str):
    found = Elements(page)
    assert sum(tag == "script" for tag, _ in found.elements) == 3
    assert all(tag != "b" for tag, _ in found.elements)
    texts = {text for _, text in found.inside}
    assert {SCRIPT_NAME, FORMULA_NAME, BREAK_NAME} <= texts
    for _, attributes in found.elements:
        assert not any(name.startswith("on") for name in attributes)
        assert "style" not in attributes
        for name in ("href", "src"):
            value = attributes.get(name)
            assert value is None or value.startswith(("#", "data:"))


def test_the_policy_names_exactly_the_scripts_and_styles_of_the_page(page: str):
    policy = re.search(r'Content-Security-Policy" content="([^"]+)"', page)[1].replace("&#39;", "'")
    rules = dict(rule.split(" ", 1) for rule in policy.split("; "))
    assert rules["default-src"] == rules["connect-src"] == rules["base-uri"] == "'none'"

    def hashes(pattern: str) -> str:
        texts = re.findall(pattern, page, re.S)
        return " ".join(
            f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'" for text in texts
        )

    assert rules["script-src"] == hashes(r"<script>(.*?)</script>")
    assert rules["style-src"] == hashes(r"<style>(.*?)</style>")
    assert "unsafe" not in policy


def test_every_figure_has_a_table_and_every_table_a_caption(page: str):
    for section in re.findall(r"<figure>.*?</figure>", page, re.S):
        nearby = page[page.index(section) : page.index("</section>", page.index(section))]
        assert "<details" in nearby
    assert page.count("<table") == page.count("<caption")


def test_bytes_stay_small(page: str):
    assert len(page.encode()) < 1_000_000


def test_unidentified_bounds_are_said(folder: Path, page: str):
    data = read_run(folder)
    assert data.summary.unidentified == 2
    assert "2 places have too little data for an upper bound" in page
    assert 'class="over"' in page


def test_sums_of_the_coarse_curves_are_those_of_the_rows(folder: Path):
    data = read_run(folder)
    assert data.curves is not None
    from test_report_numbers import unpack

    seen = unpack(data.curves.coarse[3]["y"], data.curves.coarse_steps[3])
    assert sum(seen) == pytest.approx(data.places[3].observed, abs=0.5)
    assert len(seen) == 14
    assert data.curves.history == 14 * 24
    assert len(data.curves.clock) == 14 * 24 + 72


def test_weekday_sums_follow_the_local_clock(folder: Path):
    columns, _ = read_columns(folder / "lost.parquet")
    data = read_run(folder)
    assert data.week is not None
    # two weeks: each weekday occurs twice
    assert 2 * sum(map(sum, data.week.lost)) == pytest.approx(columns["lost_mean"].sum())


def test_a_panel_joins_the_page_and_only_then_it_may_connect(folder: Path, page: str):
    data = read_run(folder)
    live = render_page(data, live=Live("<p>What if there were more?</p>", script="1;", style="p{margin:0}"))
    assert 'id="what-if"' in live
    assert "<p>What if there were more?</p>" in live
    assert "connect-src &#39;self&#39;" in live
    assert 'id="what-if"' not in page
    with pytest.raises(ValueError, match="may not contain"):
        render_page(data, live=Live("", script="'</script>'"))


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("forecast.parquet", "unmet forecast"),
        ("plan.csv", "unmet plan"),
        ("calibration.json", "no calibration"),
        ("stations.parquet", "there is no map"),
        ("backtest.parquet", "Forecast"),
        ("measures.json", "How sure"),
        ("panel.json", "Method"),
        ("moves.csv", "Stock"),
        ("fleet.csv", "Stock"),
    ],
)
def test_a_part_that_is_absent_is_said(copy: Path, name: str, words: str):
    (copy / name).unlink()
    assert words in write_report(copy).read_text(encoding="utf-8")


@pytest.mark.parametrize(("name", "step"), [("lost.parquet", "fit"), ("lost_total.json", "fit")])
def test_what_cannot_be_missing_names_the_step_that_makes_it(copy: Path, name: str, step: str):
    (copy / name).unlink()
    with pytest.raises(ValueError, match=f"{name} is missing; make it with `unmet {step} "):
        write_report(copy)
    with pytest.raises(ValueError, match="does not exist"):
        write_report(copy / "nowhere")


def test_files_of_another_kind_are_refused(copy: Path):
    totals = json.loads((copy / "lost_total.json").read_text())
    (copy / "lost_total.json").write_text("{")
    with pytest.raises(ValueError, match="is not valid JSON"):
        write_report(copy)
    (copy / "lost_total.json").write_text(json.dumps(totals | {"places": {}}))
    with pytest.raises(ValueError, match="has no place"):
        write_report(copy)
    columns, about = read_columns(copy / "lost.parquet")
    write_columns(copy / "lost.parquet", {k: columns[k] for k in ("unique_id", "ds")}, about=about)
    with pytest.raises(ValueError, match="has no column y, censored"):
        write_report(copy)


def test_an_inferred_stock_is_said(copy: Path):
    account = {"panel": {"rows": 100, "rows_inferred": 100, "feed": None, "inferred_from": "the first ride"}}
    (copy / "panel.json").write_text(json.dumps(account))
    assert "Stock was inferred." in write_report(copy).read_text(encoding="utf-8")


def test_rides_that_no_figure_holds_are_said(copy: Path):
    account = json.loads((copy / "panel.json").read_text())
    assert "Every figure leaves out" not in write_report(copy).read_text(encoding="utf-8")
    account["panel"] |= {"pickups": account["panel"]["pickups"] + 668, "kind": "hub"}
    account["trips"]["not_counted"] = 4
    columns, about = read_columns(copy / "lost.parquet")
    rows = len(columns["y"])
    columns["exposure"] = np.where(np.arange(rows) < round(rows / 200), np.nan, columns["exposure"])
    write_columns(copy / "lost.parquet", columns, about=about)
    (copy / "panel.json").write_text(json.dumps(account))
    page = write_report(copy).read_text(encoding="utf-8")
    assert "Every figure leaves out 0.5% of place-hours and the 668 rides in them: the place" in page
    assert "4 set aside, 668 in hours left out" in page
    assert "counting by hubs, as here, removes much of this" in page
    assert "status feed of changes" in page


def test_the_demo_says_what_is_true(copy: Path):
    targets = {"lost_observed": 1000, "lost_estimated": 700, "lost_true": 600, "days": 28, "gap_closed": 0.75}
    truth = {"targets": targets, "lost": {"true": 678, "requests": 12345}}
    (copy / "truth.json").write_text(json.dumps(truth))
    page = write_report(copy).read_text(encoding="utf-8")
    assert "loses 1,000 rides with targets from observed usage, 700 with targets from this run" in page
    assert "closes 75% of the gap" in page
    (copy / "truth.json").write_text(json.dumps(truth | {"targets": targets | {"gap_closed": -0.2}}))
    assert "closes nothing of the gap" in write_report(copy).read_text(encoding="utf-8")
    assert "wanted 12,345 rides" in page


def test_a_run_by_day(copy: Path):
    """Days at local midnight: no hours, no week map, and the curves say days."""
    for name in ("lost", "backtest", "forecast"):
        columns, about = read_columns(copy / f"{name}.parquet")
        days = (columns["ds"].astype("datetime64[h]").astype(np.int64) - 4) % 24 == 0
        columns = {key: values[days] for key, values in columns.items()}
        write_columns(copy / f"{name}.parquet", columns, about=about | {"by": "day"})
        if name == "lost":
            totals = json.loads((copy / "lost_total.json").read_text())
            (copy / "lost_total.json").write_text(json.dumps(totals | {"observed": int(columns["y"].sum())}))
    page = write_report(copy).read_text(encoding="utf-8")
    assert "There is no chart of hours: the panel counts by day." in page
    assert "Over the next 3 days" in page


def test_neutralised_cells_are_shown_as_they_were(folder: Path):
    names = [row["name"] for row in read_run(folder).plan]
    assert FORMULA_NAME in names
    assert ("'" + FORMULA_NAME) in (folder / "plan.csv").read_text(encoding="utf-8").replace('""', '"')


@pytest.mark.slow
def test_a_year_of_hours_of_a_large_city_stays_under_five_megabytes(tmp_path: Path):
    report = write_report(write_sample_run(tmp_path, places=330, days=365, horizon=168))
    assert report.stat().st_size < 5_000_000


def test_a_place_whose_losses_are_mostly_unidentified_has_no_upper_bound(copy: Path):
    columns, about = read_columns(copy / "lost.parquet")
    gone = columns["lost_mean"] > 0
    columns["identified"] = columns["identified"] & ~((columns["unique_id"] == "P03") & gone)
    write_columns(copy / "lost.parquet", columns, about=about)
    before = json.loads((copy / "lost_total.json").read_text())["places"]["P03"]
    place = next(place for place in read_run(copy).places if place.unique_id == "P03")
    assert place.unsure == pytest.approx(1.0)
    assert before["lost"]["q95"] is not None
    assert not place.lost.identified
    assert place.lost.low == before["lost"]["q05"]


def test_riders_served_next_door_are_told_apart(copy: Path):
    totals = json.loads((copy / "lost_total.json").read_text())
    (copy / "lost_total.json").write_text(
        json.dumps(
            totals
            | {"next_door": {"mean": 77, "q05": 60, "q95": 90}}
            | {"unserved": {"mean": 310, "q05": 300, "q95": 330}}
        )
    )
    page = write_report(copy).read_text(encoding="utf-8")
    assert "About <strong>310</strong> requests (90% interval 300–330) found no vehicle" in page
    assert "about <strong>77</strong> (60–90) rode from a neighbouring place" in page


def test_a_run_that_nobody_can_trust_shows_no_total(copy: Path):
    account = json.loads((copy / "panel.json").read_text())
    account["panel"] |= {"rows_inferred": account["panel"]["rows"], "inferred_from": "ride counts"}
    (copy / "panel.json").write_text(json.dumps(account))
    page = write_report(copy).read_text(encoding="utf-8")
    first = page[page.index("<title>") : page.index("</title>")]
    first += page[page.index('<section id="summary"') : page.index('id="where"')]
    lost = Interval.read(json.loads((copy / "lost_total.json").read_text())["lost"])
    assert "Grade D, no total: stock was guessed from ride counts in 100% of the rows." in first
    assert about(lost) not in first
    assert "gave up" not in first
    plan = page[page.index('<section id="plan"') :]
    assert "These data cannot tell how many rides it saves" in plan
    assert "would be lost" not in plan
    assert 'id="table-fleet"' not in plan


def test_nothing_lost_in_two_days_is_a_report_too(tmp_path: Path):
    folder = write_sample_run(tmp_path, places=2, days=2, horizon=1)
    columns, about = read_columns(folder / "lost.parquet")
    for name in ("lost_mean", "lost_q05", "lost_q95"):
        columns[name][:] = 0.0
    columns["censored"][:] = False
    write_columns(folder / "lost.parquet", columns, about=about)
    totals = json.loads((folder / "lost_total.json").read_text())
    nothing = {"mean": 0.0, "q05": 0.0, "q95": 0.0}
    for entry in (totals, *totals["places"].values()):
        seen = entry["observed"]
        entry.update(lost=nothing, demand={"mean": seen, "q05": seen, "q95": seen})
    totals["places"]["P01"]["lost"] = {"mean": None, "q05": None, "q95": None}  # a place never available
    (folder / "lost_total.json").write_text(json.dumps(totals))
    page = write_report(folder).read_text(encoding="utf-8")
    assert '<strong class="c-lost">nobody</strong> gave up' in page
    assert "0 or more" in page


def test_many_places_get_fewer_days_and_a_shorter_horizon():
    from unmet.calendar import lay_out
    from unmet.report._curves import FINE_BUDGET, _room

    when = np.datetime64("2024-04-01", "us") + np.arange(28 * 24) * np.timedelta64(3600, "s")
    past = lay_out({"unique_id": np.array(["a"] * len(when), dtype=object), "ds": when}, "UTC")
    assert _room(past, 60, 168) == (28 * 24, 168)
    assert _room(past, 330, 168) == (14 * 24, 168)
    kept, ahead = _room(past, 2000, 168)
    assert (kept, ahead % 24) == (24, 0)
    assert 2000 * (kept * 6.5 + ahead * 5) <= FINE_BUDGET
    assert _room(None, 60, 168) == (0, 168)


def test_models_are_said_to_be_chosen_among_networks(folder: Path, copy: Path, page: str):
    assert "Only the censored quantile networks were candidates" in page
    rows = [
        {"model": "censored quantile network (linear)", "pinball": 0.2, "coverage": 0.9, "chosen": True},
        {"model": "negative binomial", "pinball": 0.19, "coverage": 0.8, "chosen": False},
        {"model": "seasonal naive", "pinball": 0.3, "coverage": 0.9, "chosen": False},
    ]
    (copy / "measures.json").write_text(json.dumps(rows))
    assert "negative binomial (by 5.0% against the one used)" in write_report(copy).read_text("utf-8")
    rows[1]["pinball"] = 0.19999
    (copy / "measures.json").write_text(json.dumps(rows))
    assert "negative binomial (by less than 0.1% against the one used)" in write_report(copy).read_text(
        "utf-8"
    )


def test_tables_show_the_digits_that_intervals_support(copy: Path):
    totals = json.loads((copy / "lost_total.json").read_text())
    totals["places"]["P03"]["lost"] = {"mean": 795.3, "q05": 731.0, "q95": 862.0}
    (copy / "lost_total.json").write_text(json.dumps(totals))
    table = tables.places_table(read_run(copy))
    cells = next(row for row in table.rows if row[1].sort == 795.3)
    assert [cell.text for cell in cells[1:3]] == ["800", "730–860"]


def test_walkers_explain_why_a_place_does_not_add_up(copy: Path, page: str):
    words = "people who walked to a neighbour wanted their ride here and are observed there"
    assert words not in page
    totals = json.loads((copy / "lost_total.json").read_text())
    totals["next_door"] = {"mean": 77, "q05": 60, "q95": 90}
    (copy / "lost_total.json").write_text(json.dumps(totals))
    assert words in write_report(copy).read_text(encoding="utf-8")


def test_of_many_places_the_worst_have_their_forecasts_on_the_page(folder: Path, monkeypatch):
    monkeypatch.setattr("unmet.report._curves.DETAILED", 3)
    data = read_run(folder)
    detailed = [n for n, entry in enumerate(data.curves.fine) if entry is not None]
    assert sorted(data.worst[:3]) == detailed
    assert all(data.curves.coarse)  # every place has its whole period
    payload = page_module._payload(data)
    assert sum(entry is not None for entry in payload["curves"]["fine"]) == 3
    assert len(payload["places"]) == len(data.places)  # and can be found
