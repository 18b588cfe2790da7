"""--max-reject-share holds for every input of a command."""

import gzip
import json

import pytest
from cli_tools import call, given


def spoil(text: str, kind: str) -> str:
    """A tenth of the rows made unreadable."""
    if kind == "stations":
        feed = json.loads(text)
        for station in feed["data"]["stations"][:1]:
            station["lat"] = 1000
        return json.dumps(feed)
    header, *rows = text.splitlines()
    return "\n".join([header, *("?" + row if not n % 10 else row for n, row in enumerate(rows))]) + "\n"


FILES = {
    "stations": ("--stations", "station_information.json"),
    "status": ("--status", "station_status_events.csv.gz"),
    "weather": ("--weather", "weather_daily.csv"),
}


@pytest.mark.parametrize("kind", FILES)
def test_too_many_rows_that_cannot_be_read(city, tmp_path, capsys, kind):
    option, name = FILES[kind]
    data = (city[0] / name).read_bytes()
    text = (gzip.decompress(data) if name.endswith(".gz") else data).decode()
    path = tmp_path / name.removesuffix(".gz")
    path.write_text(spoil(text, kind))
    arguments = ["panel", *given(city[0]), option, path, "-q", "-o", tmp_path / "panel.parquet"]
    assert call(*arguments) == 1
    told = capsys.readouterr().err
    assert "more than --max-reject-share 0.01 allows" in told
    assert told.count("\n") == 1
    assert not (tmp_path / "panel.parquet").exists()
    assert call(*arguments, "--max-reject-share", 0.5) == 0
