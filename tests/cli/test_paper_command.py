"""`unmet paper` writes every table and figure, goes on where it stopped, and refuses nonsense in one line."""

import json

import pytest

from unmet.cli import main


def run(*arguments: str) -> int:
    with pytest.raises(SystemExit) as stop:
        main(["paper", *arguments])
    return int(stop.value.code or 0)


def test_a_quick_pass_writes_all_tables_and_figures(tmp_path, capsys):
    assert run("synthetic", "--smoke", "-o", str(tmp_path)) == 0
    folder = tmp_path / "smoke"
    for name in ("table1", "table2", "table3", "table4"):
        cells = json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
        blocks = {cell["block"] for cell in cells}
        assert {"published", "as published"} <= blocks
        assert (folder / f"{name}.csv").read_text(encoding="utf-8").count("\n") == len(cells) + 1
        assert (folder / f"{name}.md").read_text(encoding="utf-8").count("| ---") >= 1
    figures = sorted(path.name for path in (folder / "figures").iterdir())
    assert len(figures) == 10
    assert (folder / "figures" / "quantile-curves.png").stat().st_size > 20_000
    printed = capsys.readouterr().out
    assert "62.7" in printed
    assert "All nine cells equal the paper's: 9 of 9" in printed


def test_table1_again_is_the_same_and_goes_into_a_document(tmp_path, capsys):
    page = tmp_path / "page.md"
    page.write_text("# Title\n<!-- table1 --><!-- /table1 -->\n", encoding="utf-8")
    assert run("table1", "-o", str(tmp_path), "--into", str(page), "--quiet") == 0
    first = (tmp_path / "table1.csv").read_bytes()
    assert run("table1", "-o", str(tmp_path), "--quiet") == 0
    assert (tmp_path / "table1.csv").read_bytes() == first
    assert "| Standard Gaussian | published | 62.7 | 23.9 | 2.0 |" in page.read_text(encoding="utf-8")
    assert "┃" not in capsys.readouterr().out


def test_an_unknown_table_is_one_line(tmp_path, capsys):
    assert run("table9", "-o", str(tmp_path / "x")) == 2
    told = capsys.readouterr().err
    assert told.startswith("unmet paper: invalid value for 'WHAT': 'table9' is not one of 'table1'")
    assert told.count("\n") == 1
    assert not (tmp_path / "x").exists()


def test_smoke_never_goes_into_a_document(tmp_path, capsys):
    page = tmp_path / "page.md"
    page.write_text("<!-- table1 --><!-- /table1 -->", encoding="utf-8")
    assert run("table1", "--smoke", "-o", str(tmp_path), "--into", str(page)) == 1
    assert "--into with --smoke" in capsys.readouterr().err


def test_only_names_methods_of_the_leaderboard(tmp_path, capsys):
    assert run("table1", "--only", "Tobit", "-o", str(tmp_path)) == 1
    assert "--only belongs to `unmet paper methods`" in capsys.readouterr().err
    assert run("methods", "--smoke", "--only", "trees", "-o", str(tmp_path)) == 1
    assert "there is no method 'trees': --only takes Kaplan–Meier, Tobit" in capsys.readouterr().err
    assert run("methods", "--smoke", "--only", "none", "-o", str(tmp_path), "--quiet") == 0
