"""Weather is read with a schema: rows and values that cannot be read are counted and told."""

from pathlib import Path

import pytest

from unmet.mobility.sources import read_weather
from unmet.tables import connect


@pytest.fixture
def con():
    with connect(threads=1) as con:
        yield con


def written(folder: Path, *lines: str, days: int = 200) -> Path:
    """A file of daily temperature and rain, with some lines instead of the first ones."""
    path = folder / "weather.csv"
    usual = [f"2021-{1 + n // 28:02d}-{1 + n % 28:02d},{n % 30}.5,0" for n in range(len(lines), days)]
    path.write_text("\n".join(["date,temperature,rain", *lines, *usual]) + "\n")
    return path


def test_missing_values_and_traces_are_told(con, tmp_path):
    path = written(tmp_path, "2021-01-01,,T", "2021-01-02,NULL,0.2")
    report = read_weather(con, path, keep={})
    assert report.columns == ("temperature", "rain")
    assert dict(report.missing) == {"temperature": 2}
    assert (report.lines, report.headers, report.accepted, report.rejected) == (201, 1, 200, 0)
    told = " ".join(report.notes)
    assert "2 of 200 values in column 'temperature' are missing" in told
    assert "1 values 'T' (a trace) in column 'rain' are taken as 0" in told
    rows = con.execute("SELECT temperature, rain FROM _weather ORDER BY moment LIMIT 3").fetchall()
    assert rows == [(None, 0.0), (None, 0.2), (2.5, 0.0)]


def test_one_unreadable_value_does_not_lose_the_column(con, tmp_path):
    report = read_weather(con, written(tmp_path, "2021-01-01,mild,0"), keep={})
    assert report.columns == ("temperature", "rain")
    assert dict(report.unreadable) == {"temperature": 1}
    assert any("such as 'mild'" in note for note in report.notes)


@pytest.mark.parametrize("value", ["mild", "inf", "1e400", "-9e99", "99999999999999999999"])
def test_too_many_unreadable_values_stop(con, tmp_path, value):
    path = written(tmp_path, *(f"2021-01-0{day},{value},0" for day in range(1, 5)))
    with pytest.raises(ValueError, match=r"4 of 200 values in column 'temperature'.*max_reject_share=0\.01"):
        read_weather(con, path, keep={})
    assert dict(read_weather(con, path, keep={}, max_reject_share=0.02).unreadable) == {"temperature": 4}


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("2021-02-30,1,0", "time not understood"),
        (",1,0", "no time"),
        ("1821-01-01,1,0", "time not understood"),
        ("2021-01-01,1", "too few cells"),
        ("2021-01-01,1,0,0", "too many cells"),
        ('2021-01-01,"1,0', "a quote is left open"),
    ],
)
def test_rows_that_cannot_be_read(con, tmp_path, line, reason):
    report = read_weather(con, written(tmp_path, line), keep={})
    assert report.reasons == {reason: 1}
    assert con.execute("SELECT line, reason FROM rejects WHERE kind = 'weather'").fetchall() == [(2, reason)]
    with pytest.raises(ValueError, match=f"3 of 200 rows were rejected.*{reason}"):
        read_weather(con, written(tmp_path, line, line, line), keep={})


def test_columns_without_numbers_are_named(con, tmp_path):
    path = tmp_path / "weather.csv"
    path.write_text("date,rain,events,,empty\n2021-01-01,1,Fog,3,\n2021-01-02,2,,4,\n")
    report = read_weather(con, path, keep={})
    assert report.columns == ("rain",)
    assert "events, number 4, which has no name, empty" in report.notes[-1]


def test_names_that_are_taken_whatever_their_case(con, tmp_path):
    path = tmp_path / "weather.csv"
    path.write_text("date,Y,weather_y,hour\n2021-01-01,1,2,3\n")
    report = read_weather(con, path, keep={}, taken=["y", "hour"])
    assert report.columns == ("weather_Y", "weather_weather_y", "weather_hour")
    path.write_text("date,rain,RAIN\n2021-01-01,1,2\n")
    with pytest.raises(ValueError, match="two columns named 'rain'"):
        read_weather(con, path, keep={})


@pytest.mark.parametrize("stamp", ["2021-01-05", "01/05/2021", "2021/01/05", "2021-01-05 00:00:00"])
def test_forms_of_a_date(con, tmp_path, stamp):
    path = tmp_path / "weather.csv"
    path.write_text(f"date;rain\n{stamp};1\n")
    read_weather(con, path, keep={})
    assert con.execute("SELECT moment::DATE::VARCHAR FROM _weather").fetchall() == [("2021-01-05",)]


def test_parquet_and_gzip(con, tmp_path):
    import gzip

    from unmet.tables import write_columns

    columns = {"date": ["2021-01-01", "2021-01-02"], "rain": [1.5, float("nan")], "words": ["a", "b"]}
    report = read_weather(con, write_columns(tmp_path / "weather.parquet", columns), keep={})
    assert (report.columns, dict(report.missing)) == (("rain",), {"rain": 1})
    packed = tmp_path / "weather.csv.gz"
    packed.write_bytes(gzip.compress(written(tmp_path).read_bytes()))
    assert read_weather(con, packed, keep={}).accepted == 200
