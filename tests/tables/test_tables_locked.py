"""Nothing from a file reaches SQL as text, and the database opens nothing but what it was given."""

import tempfile
from pathlib import Path

import duckdb
import pytest

from unmet.tables import (
    connect,
    identifier,
    literal,
    literal_path,
    private_folder,
    read_columns,
    scratch,
    write_columns,
)

HOSTILE = ["a'b", 'a"b', "x'); DROP TABLE t; --", 'x" FROM t; DROP TABLE t; --', "a]b[c", "*", "?", "~", "é"]


@pytest.mark.parametrize("name", HOSTILE)
def test_identifiers_and_literals_come_back_as_they_are(name: str) -> None:
    with scratch() as con:
        con.execute("CREATE TABLE t (a INTEGER)")
        con.execute(f"CREATE TABLE {identifier(name + '2')} AS SELECT {literal(name)} AS {identifier(name)}")
        found = con.execute(f"SELECT {identifier(name)} FROM {identifier(name + '2')}").fetchnumpy()
        assert list(found) == [name]
        assert list(found[name]) == [name]
        assert con.execute("SELECT count(*) FROM t").fetchone() == (0,)


@pytest.mark.parametrize("quoted", [identifier, literal])
def test_nul_is_refused(quoted) -> None:
    with pytest.raises(ValueError, match="NUL"):
        quoted("a\0b")


@pytest.mark.parametrize("name", ["ref[1]", "ref[1-9]", "re*", "ref?", "r[!a]f1", "ref[[]1]", "{a,b}", "'1'"])
def test_a_path_stands_for_that_file_alone(tmp_path: Path, name: str) -> None:
    for other in ("ref1", "ref2", "a", "b"):
        write_columns(tmp_path / f"{other}.parquet", {"a": [0]})
    write_columns(tmp_path / f"{name}.parquet", {"a": [9]})
    assert read_columns(tmp_path / f"{name}.parquet")[0]["a"].tolist() == [9]
    (tmp_path / f"{name}.csv").write_text("a\n9\n")
    (tmp_path / "ref1.csv").write_text("a\n1\n")
    with scratch(tmp_path) as con:
        found = con.execute(f"FROM read_csv({literal_path(tmp_path / f'{name}.csv')})").fetchall()
    assert found == [(9,)]


def test_a_missing_file_with_wildcards_is_missing(tmp_path: Path) -> None:
    write_columns(tmp_path / "ref1.parquet", {"a": [0]})
    with pytest.raises(ValueError, match="does not exist"):
        read_columns(tmp_path / "ref[1].parquet")


@pytest.fixture(params=["connect", "scratch"])
def locked(request, tmp_path: Path):
    given = tmp_path / "given"
    given.mkdir()
    (given / "in.csv").write_text("a\n1\n")
    (tmp_path / "secret.csv").write_text("a\n1\n")
    (given / "link.csv").symlink_to(tmp_path / "secret.csv")
    if request.param == "connect":
        with connect(inputs=[given]) as con:
            yield con
    else:
        with scratch(given) as con:
            yield con


@pytest.mark.parametrize(
    "sql",
    [
        "FROM read_csv('{}/secret.csv')",
        "FROM read_csv('{}/given/link.csv')",
        "FROM read_csv('{}/given/../secret.csv')",
        "FROM read_text('{}/secret.csv')",
        "FROM read_text('/etc/hostname')",
        "FROM glob('{}/*')",
        "COPY (SELECT 1) TO '{}/out.csv'",
        "ATTACH '{}/other.duckdb'",
        "INSTALL httpfs",
        "LOAD httpfs",
        "SET enable_external_access = true",
        "SET memory_limit = '100GB'",
        "SET lock_configuration = false",
    ],
)
def test_a_locked_database_refuses(locked, tmp_path: Path, sql: str) -> None:
    with pytest.raises(duckdb.Error):
        locked.execute(sql.format(tmp_path)).fetchall()
    assert not (tmp_path / "out.csv").exists()


def test_a_locked_database_reads_what_it_was_given(locked, tmp_path: Path) -> None:
    assert locked.execute(f"FROM read_csv({literal_path(tmp_path / 'given/in.csv')})").fetchall() == [(1,)]
    assert locked.cursor().execute("SELECT current_setting('TimeZone')").fetchone() == ("UTC",)
    limit = locked.execute("SELECT current_setting('memory_limit')").fetchone()[0]
    assert limit.endswith(("GiB", "MiB"))
    assert float(limit.split()[0]) < 2.1


def test_a_database_in_memory_spills_into_its_own_folder() -> None:
    with scratch() as con:
        [(spill,)] = con.execute("SELECT current_setting('temp_directory')").fetchall()
        assert Path(spill).parent == private_folder(con)
        assert Path(spill).is_relative_to(Path(tempfile.gettempdir()).resolve())


@pytest.mark.parametrize(
    "setting",
    ["autoinstall_known_extensions", "autoload_known_extensions", "allow_community_extensions"],
)
def test_extensions_are_off(setting: str) -> None:
    with connect() as con:
        [(value,)] = con.execute("SELECT current_setting(?)", [setting]).fetchall()
    assert value is False
