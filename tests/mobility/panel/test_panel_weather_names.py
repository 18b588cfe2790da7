"""Column names of a weather file are names, whatever they contain."""

from pathlib import Path

import pytest

from unmet.cli import main

TRIPS = """ride_id,rideable_type,started_at,ended_at,start_station_name,start_station_id,end_station_name,\
end_station_id,start_lat,start_lng,end_lat,end_lng,member_casual
1,bike,2021-02-03 10:11:28,2021-02-03 10:21:28,A,a,B,b,40.1,-74.1,40.2,-74.1,member
2,bike,2021-02-03 12:11:28,2021-02-03 12:21:28,B,b,A,a,40.2,-74.1,40.1,-74.1,member
"""


def run(arguments: list[str]) -> int:
    try:
        main(arguments)
    except SystemExit as end:
        return int(end.code or 0)
    return 0


def weather(folder: Path, column: str) -> Path:
    path = folder / "weather.csv"
    quoted = '"' + column.replace('"', '""') + '"'
    path.write_text(f"date,{quoted}\n2021-02-03,1.5\n")
    return path


@pytest.mark.parametrize(
    "column",
    [
        "x\"; COPY (SELECT 1) TO '{folder}/stolen.csv'; SELECT \"a",
        "1::DOUBLE AS a FROM read_csv('{folder}/trips.csv')); COPY (SELECT 1) TO '{folder}/stolen.csv' --",
        "a\" , (SELECT content FROM read_text('/etc/hostname')) AS \"b",
        'a"b',
        "a'b",
        "a;b",
    ],
)
def test_a_column_name_never_runs(tmp_path: Path, column: str, capsys) -> None:
    from unmet.tables import read_columns

    (tmp_path / "trips.csv").write_text(TRIPS)
    name = column.replace("{folder}", str(tmp_path))
    panel = tmp_path / "panel.parquet"
    code = run(
        ["panel", str(tmp_path / "trips.csv"), "--zone", "America/New_York", "-q", "-o", str(panel)]
        + ["--weather", str(weather(tmp_path, name))]
    )
    assert not (tmp_path / "stolen.csv").exists()
    assert code == 0, capsys.readouterr().err
    columns, _ = read_columns(panel)
    assert columns[name].tolist().count(1.5) == len(columns["y"])


def test_a_weather_path_is_no_pattern(tmp_path: Path) -> None:
    from unmet.tables import read_columns

    (tmp_path / "trips.csv").write_text(TRIPS)
    weather(tmp_path, "rain").rename(tmp_path / "w[1].csv")
    weather(tmp_path, "snow").rename(tmp_path / "w1.csv")
    panel = tmp_path / "panel.parquet"
    code = run(
        ["panel", str(tmp_path / "trips.csv"), "--zone", "America/New_York", "-q", "-o", str(panel)]
        + ["--weather", str(tmp_path / "w[1].csv")]
    )
    assert code == 0
    columns, _ = read_columns(panel)
    assert "rain" in columns
    assert "snow" not in columns


def test_a_panel_in_csv_holds_nothing_that_a_spreadsheet_runs(tmp_path: Path) -> None:
    import csv

    (tmp_path / "trips.csv").write_text(TRIPS.replace(",a,", ",=1+1,").replace(",b,", ",@SUM(A1),"))
    panel = tmp_path / "panel.csv"
    code = run(
        ["panel", str(tmp_path / "trips.csv"), "--zone", "America/New_York", "-q", "-o", str(panel)]
        + ["--weather", str(weather(tmp_path, "=cmd()"))]
    )
    assert code == 0
    with open(panel, newline="") as file:
        header, *rows = csv.reader(file)
    assert "'=cmd()" in header
    assert {row[header.index("unique_id")] for row in rows} == {"'=1+1", "'@SUM(A1)"}
    assert not [cell for row in [header, *rows] for cell in row if cell.startswith(("=", "+", "@", "\t"))]
