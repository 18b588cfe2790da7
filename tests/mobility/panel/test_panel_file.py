"""Panel files: same bytes, their own meaning inside, never half-written."""

import hashlib
from datetime import datetime, timedelta

import duckdb
import numpy as np
import pytest
from small_world import connection, fill

from unmet.mobility import build_panel, connect, read_panel, write_panel

DAY = datetime(2021, 5, 3)


def made(con, order=1):
    rng = np.random.default_rng(0)
    rides = []
    for n in range(400):
        start = DAY + timedelta(seconds=int(rng.integers(0, 3 * 86_400)))
        a, b = rng.choice(list("ABCDE"), 2)
        rides.append(
            (f"v{n % 20}", start, start + timedelta(seconds=int(rng.integers(60, 4000))), str(a), str(b))
        )
    fill(con, rides[::order], stations=[(place, place, 0.0, 0.0, 7) for place in "ABCD"])
    return build_panel(con, by="hour", zone="Europe/Copenhagen", covariates=["hour"])


@pytest.mark.parametrize("suffix", ["parquet", "csv"])
def test_same_input_same_bytes(tmp_path, suffix):
    sums = set()
    for threads, order in ((1, 1), (2, 1), (2, -1)):
        with connect(threads=threads) as con:
            made(con, order)
            path = write_panel(con, tmp_path / f"panel-{threads}.{suffix}")
            sums.add(hashlib.sha256(path.read_bytes()).hexdigest())
    assert len(sums) == 1


def test_a_panel_comes_back_with_its_meaning(tmp_path):
    with connection() as con:
        report = made(con)
        path = write_panel(con, tmp_path / "panel.parquet")
        expected = con.execute("SELECT unique_id, y, capacity FROM panel ORDER BY unique_id, ds").fetchnumpy()
    panel = read_panel(path)
    assert len(panel) == report.rows
    assert panel.about["zone"] == "Europe/Copenhagen"
    assert panel.about["by"] == "hour"
    assert "pickups" in panel.about["column.y"]
    assert panel["unique_id"].tolist() == expected["unique_id"].tolist()
    assert panel["y"].tolist() == expected["y"].tolist()
    assert panel["ds"].dtype.kind == "M"
    assert np.isnan(panel["capacity"][panel["unique_id"] == "E"]).all()
    frame = panel.frame()
    assert frame["y"].sum() == 400
    assert panel.frame("polars").shape == frame.shape
    with pytest.raises(ValueError, match="library"):
        panel.frame("excel")


def test_rows_out_of_order_are_put_in_order(tmp_path):
    with connection() as con:
        made(con)
        path = write_panel(con, tmp_path / "panel.parquet")
        con.execute("CREATE OR REPLACE TABLE panel AS FROM panel ORDER BY hash(unique_id, ds)")
        shuffled = write_panel(con, tmp_path / "shuffled.parquet")
    assert shuffled.read_bytes() == path.read_bytes()


def test_nothing_is_left_behind(tmp_path, monkeypatch):
    with connection() as con:
        with pytest.raises(ValueError, match="build_panel"):
            write_panel(con, tmp_path / "panel.parquet")
        made(con)
        for name, words in (("panel.xlsx", "parquet"), ("none/panel.parquet", "does not exist")):
            with pytest.raises(ValueError, match=words):
                write_panel(con, tmp_path / name)
        (tmp_path / "folder.parquet").mkdir()
        with pytest.raises(ValueError, match="folder"):
            write_panel(con, tmp_path / "folder.parquet")
        old = tmp_path / "panel.parquet"
        old.write_bytes(b"old")

        def fails(*_):
            raise OSError("disk full")

        monkeypatch.setattr("shutil.copyfileobj", fails)
        with pytest.raises(OSError, match="disk full"):
            write_panel(con, old)
    assert old.read_bytes() == b"old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["folder.parquet", "panel.parquet"]


def test_other_files_are_refused(tmp_path):
    with pytest.raises(ValueError, match="does not exist"):
        read_panel(tmp_path / "none.parquet")
    (tmp_path / "text.parquet").write_text("no panel")
    with pytest.raises(ValueError, match="not a panel file"):
        read_panel(tmp_path / "text.parquet")
    duckdb.connect().execute(
        f"COPY (SELECT 'A' AS unique_id, now()::TIMESTAMP AS ds) TO '{tmp_path / 'bare.parquet'}'"
    )
    with pytest.raises(ValueError, match="zone"):
        read_panel(tmp_path / "bare.parquet")
