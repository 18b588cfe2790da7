"""Answers of the API are those of the run folder; what nobody knows is null and flagged, never a number."""

import json

import pytest

from unmet.serve import make_app


def test_places_and_ranges(service):
    found = service.ask("/api/places").json
    assert [place["unique_id"] for place in found["places"]] == ["-7", "A", "B", "C"]
    assert found["places"][2]["name"] == "</script><script>alert(1)</script>"
    assert found["places"][3] == {
        "unique_id": "C",
        "name": "Ünder the bridge",
        "lat": 40.73,
        "lng": None,
        "capacity": None,
    }
    assert found["panel"] == {"from": "2024-03-04T05:00:00Z", "to": "2024-03-18T04:00:00Z"}
    assert found["forecast"] == {"from": "2024-03-18T05:00:00Z", "to": "2024-03-20T04:00:00Z"}
    assert found["plan"] == {"from": "2024-03-18", "to": "2024-03-18"}
    assert found["fleet"] == 5
    assert (found["zone"], found["by"]) == ("America/New_York", "hour")


def test_a_forecast_of_a_few_hours(service):
    found = service.ask("/api/forecast?place=A&horizon=3").json
    assert found["ds"] == ["2024-03-18T05:00:00Z", "2024-03-18T06:00:00Z", "2024-03-18T07:00:00Z"]
    assert found["mean"] == [1.0, 1.125, 1.25]
    assert found["quantiles"]["q50"] == found["mean"]
    assert found["quantiles"]["q05"] == [0.1, 0.1125, 0.125]
    assert found["identified"] == [True] * 3
    assert list(found["quantiles"]) == ["q05", "q10", "q25", "q50", "q75", "q90", "q95"]


def test_a_date_starts_at_local_midnight_and_a_time_in_its_own_zone(service):
    # 19 March in New York begins at 04:00 UTC: summer time came on the 10th.
    for start in ("2024-03-19", "2024-03-19T04:00:00", "2024-03-19T00:00:00-04:00", "2024-03-19T03:30:00Z"):
        found = service.ask("/api/forecast?place=A&horizon=1&start=" + start.replace("+", "%2B")).json
        assert found["ds"] == ["2024-03-19T04:00:00Z"], start


def test_an_unidentified_quantile_is_null_with_a_flag(service):
    answered = service.ask("/api/forecast?place=B&horizon=2")
    found = answered.json
    assert found["quantiles"]["q95"] == [None, None]
    assert found["quantiles"]["q75"] == [1.5, 1.6875]
    assert found["identified"] == [False, False]
    assert found["identified_up_to"] == [0.75, 0.75]
    assert b"Infinity" not in answered.body
    assert b"NaN" not in answered.body


def test_the_panel_with_the_demand_behind_it(service):
    found = service.ask("/api/panel?place=B&from=2024-03-04&to=2024-03-04T10:00:00Z").json
    columns = found["columns"]
    assert found["rows"] == 5
    # Place B begins at row 672, which is 2 modulo 5.
    assert columns["y"] == [2, 3, 4, 0, 1]
    assert columns["censored"] == [False, False, True, False, False]
    assert columns["demand_mean"] == [2.0, 3.0, 5.5, 0.0, 1.0]
    assert columns["demand_q95"] == [2.0, 3.0, None, 0.0, 1.0]
    assert columns["identified"] == [True, True, False, True, True]
    first = service.ask("/api/panel?place=-7&from=2024-03-04&to=2024-03-04T06:00:00Z").json
    assert first["columns"]["exposure"] == [None]


def test_the_panel_shows_four_weeks_and_may_be_empty(service):
    assert service.ask("/api/panel?place=A").json["rows"] == 336
    assert service.ask("/api/panel?place=A&from=2031-01-01").json["rows"] == 0
    assert service.ask("/api/panel?place=A&to=1999-01-01").json["rows"] == 0


def test_a_plan_by_hand(service):
    # Savings: -7: 1, .5, .25, 0; A: .75, .5, .25, .125; B: .25, .125, .0625, 0; C: .125 each.
    found = service.ask("/api/plan?fleet=4").json
    assert {row["unique_id"]: row["target"] for row in found["places"]} == {"-7": 2, "A": 2, "B": 0, "C": 0}
    assert found["expected_lost"] == pytest.approx(2.5 + 0.75 + 0.5 + 1.0)
    assert found["expected_lost_usual"] == pytest.approx(2.5 + 1.25 + 0.25 + 0.875)
    assert (found["placed"], found["kept_back"]) == (4, 0)
    assert (found["date"], found["start"], found["periods"]) == ("2024-03-18", "2024-03-18T08:00:00Z", 24)
    rows = {row["unique_id"]: row for row in found["places"]}
    assert rows["A"]["value_of_next_vehicle"] == 0.25
    assert rows["-7"]["usual_stock"] == 2
    assert rows["B"]["identified"] is False
    assert rows["B"]["name"].startswith("</script>")


def test_costs_keep_vehicles_back(service):
    # A vehicle must save more than 1 / (2 + 1) rides: four of them do.
    found = service.ask("/api/plan?fleet=50&cost_lost=2&cost_idle=1").json
    assert found["level"] == pytest.approx(2 / 3, abs=1e-4)
    assert (found["placed"], found["kept_back"]) == (4, 46)
    assert {row["unique_id"]: row["target"] for row in found["places"]} == {"-7": 2, "A": 2, "B": 0, "C": 0}


def test_a_plan_for_some_places_is_the_same_by_post(service):
    by_get = service.ask("/api/plan?fleet=3&places=A&places=C").json
    body = json.dumps({"fleet": 3, "places": ["A", "C"]})
    by_post = service.ask("/api/plan", "POST", {"content-type": "application/json"}, body).json
    assert by_get == by_post
    assert {row["unique_id"]: row["target"] for row in by_get["places"]} == {"A": 3, "C": 0}


def test_no_fleet_means_the_usual_one(service):
    assert service.ask("/api/plan").json["fleet"] == 5
    assert service.ask("/api/plan?fleet=0").json["expected_lost"] == pytest.approx(7.5)


def test_the_document_states_types_and_limits(service):
    found = service.ask("/openapi.json").json
    assert sorted(found["paths"]) == ["/api/forecast", "/api/panel", "/api/places", "/api/plan"]
    forecast = found["paths"]["/api/forecast"]["get"]
    place, horizon, start = (entry["schema"] for entry in forecast["parameters"])
    assert (place["type"], place["maxLength"]) == ("string", 200)
    assert horizon["anyOf"][0] == {"type": "integer", "minimum": 1, "maximum": 744}
    assert [one.get("format") for one in start["anyOf"]] == ["date", "date-time", None]
    assert forecast["responses"]["200"]["content"]["application/json"]["schema"]["$ref"].endswith("/Forecast")
    assert "application/problem+json" in forecast["responses"]["default"]["content"]
    body = found["components"]["schemas"]["PlanQuestion"]
    assert body["additionalProperties"] is False
    assert body["properties"]["cost_lost"]["minimum"] == 0.000001


@pytest.mark.parametrize(
    ("path", "status", "told"),
    [
        ("/api/forecast", 400, "place is missing"),
        ("/api/forecast?place=nowhere", 404, "nowhere"),
        ("/api/forecast?place=A&horizon=0", 400, "horizon should be greater than or equal to 1"),
        ("/api/forecast?place=A&horizon=1e1", 400, "horizon"),
        ("/api/forecast?place=A&horizon=49", 404, "the forecast ends at"),
        ("/api/forecast?place=A&start=2024-13-01", 400, "start must be a date"),
        ("/api/forecast?place=A&start=2023-01-01", 404, "the forecast begins at"),
        ("/api/forecast?place=A&start=0001-01-02", 404, "the forecast begins at"),
        ("/api/forecast?place=A&start=9999-12-30", 404, "the forecast ends at"),
        ("/api/forecast?place=A&start=9999-12-31T23:59:59-14:00", 400, "start must be a date"),
        ("/api/forecast?place=A&place=B", 400, "'place' is given twice"),
        ("/api/forecast?place=A&colour=red", 400, "'colour' is not a parameter here"),
        ("/api/forecast?place=%ff", 400, "not UTF-8"),
        ("/api/panel?place=A&from=2024-03-10&to=2024-03-05", 400, "from must not be later than to"),
        ("/api/plan?fleet=-1", 400, "fleet should be greater"),
        ("/api/plan?fleet=nan", 400, "fleet"),
        ("/api/plan?cost_lost=0", 400, "cost_lost"),
        ("/api/plan?cost_lost=inf", 400, "cost_lost"),
        ("/api/plan?cost_lost=1e999", 400, "cost_lost"),
        ("/api/plan?places=A&places=Z", 404, "there is no place 'Z'"),
        ("/api/plan?date=2024-03-04", 404, "from 2024-03-18 to 2024-03-18"),
        ("/api/nothing", 404, "there is nothing here"),
    ],
)
def test_what_cannot_be_answered_is_a_problem_document(service, path, status, told):
    answered = service.ask(path)
    assert answered.status == status
    assert answered.headers["content-type"] == "application/problem+json"
    assert answered.json["status"] == status
    assert told in answered.json["detail"]


@pytest.mark.parametrize(
    ("body", "kind", "status"),
    [
        (b"{", "application/json", 400),
        (b"[1]", "application/json", 400),
        (b'{"fleet": NaN}', "application/json", 400),
        (b'{"fleet": true}', "application/json", 400),
        (b'{"fleet": 1e400}', "application/json", 400),
        (b'{"fleet": 1' + b"0" * 5000 + b"}", "application/json", 400),
        (b'{"places": []}', "application/json", 400),
        (b"[" * 60000, "application/json", 400),
        (b'{"fleet": 2.0}', "application/json", 200),
        (b"{}", "application/json; charset=utf-8", 200),
        (b"fleet=1", "application/x-www-form-urlencoded", 415),
    ],
)
def test_bodies(service, body, kind, status):
    assert service.ask("/api/plan", "POST", {"content-type": kind}, body).status == status


def test_a_folder_without_a_run_is_refused(tmp_path):
    with pytest.raises(ValueError, match="unmet run"):
        make_app(tmp_path)
    with pytest.raises(ValueError, match="nothing does not exist"):
        make_app(tmp_path / "nothing")


def test_curves_that_are_none_are_refused(run_folder, tmp_path):
    for name in ("forecast.parquet", "stations.parquet"):
        (tmp_path / name).write_bytes((run_folder / name).read_bytes())
    (tmp_path / "curves.json").write_text('{"places": {"A": "text"}}', encoding="utf-8")
    with pytest.raises(ValueError, match=r"curves.json .*'A'"):
        make_app(tmp_path)
