"""Generated tables go between their markers and nowhere else."""

import pytest

from unmet.papers import insert_tables


def test_what_stands_between_markers_is_replaced(tmp_path):
    document = tmp_path / "page.md"
    document.write_text("before\n<!-- table1 -->\nold\n<!-- /table1 -->\nafter\n", encoding="utf-8")
    (tmp_path / "table1.md").write_text("| new |\n", encoding="utf-8")
    assert insert_tables(document, tmp_path, ["table1", "table2"]) == ["table1"]
    wanted = "before\n<!-- table1 -->\n\n| new |\n\n<!-- /table1 -->\nafter\n"
    assert document.read_text(encoding="utf-8") == wanted
    insert_tables(document, tmp_path, ["table1"])
    assert document.read_text(encoding="utf-8") == wanted  # again: nothing changes


def test_an_open_marker_is_refused_and_nothing_written(tmp_path):
    document = tmp_path / "page.md"
    document.write_text("<!-- table1 -->\nmine", encoding="utf-8")
    (tmp_path / "table1.md").write_text("x", encoding="utf-8")
    with pytest.raises(ValueError, match="each once"):
        insert_tables(document, tmp_path, ["table1"])
    assert document.read_text(encoding="utf-8") == "<!-- table1 -->\nmine"


def test_a_folder_of_pages_gets_each_table_where_its_marker_stands(tmp_path):
    pages, tables = tmp_path / "pages", tmp_path / "tables"
    (pages / "inner").mkdir(parents=True)
    tables.mkdir()
    (pages / "one.md").write_text("<!-- table1 -->\n<!-- /table1 -->\n", encoding="utf-8")
    (pages / "inner" / "two.md").write_text("<!-- table2 -->\n<!-- /table2 -->\n", encoding="utf-8")
    for name in ("table1", "table2"):
        (tables / f"{name}.md").write_text(f"of {name}", encoding="utf-8")
    assert sorted(insert_tables(pages, tables, ["table1", "table2", "table3"])) == ["table1", "table2"]
    assert "of table1" in (pages / "one.md").read_text(encoding="utf-8")
    assert "of table2" in (pages / "inner" / "two.md").read_text(encoding="utf-8")
