"""Checksums: of content and names, of every file of the package, and of regular files only."""

import hashlib
import os
import shutil
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path

import pytest

import unmet
from unmet.runs import checksum, code_version, open_regular


def test_of_a_file_and_of_a_folder(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"one")
    assert checksum(tmp_path / "a") == hashlib.sha256(b"one").hexdigest()
    before = checksum(tmp_path)
    (tmp_path / "sub").mkdir()
    assert checksum(tmp_path) == before
    (tmp_path / "sub" / "b").write_bytes(b"")
    assert checksum(tmp_path) != before
    (tmp_path / "sub" / "b").unlink()
    (tmp_path / "a").rename(tmp_path / "b")
    assert checksum(tmp_path) != before


@pytest.mark.parametrize("kind", ["pipe", "link to a pipe", "device"])
def test_only_regular_files_are_read(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "given"
    if kind == "device":
        path.symlink_to("/dev/zero")
    else:
        os.mkfifo(tmp_path / "pipe")
        path.symlink_to(tmp_path / "pipe") if kind.startswith("link") else (tmp_path / "pipe").rename(path)
    for read in (open_regular, checksum):
        with ThreadPoolExecutor(1) as pool:
            answer = pool.submit(read, path)
            waits = not wait([answer], timeout=20).done
            if waits:  # for somebody who writes into the pipe: be that, so that the thread ends
                os.close(os.open(path, os.O_WRONLY))
            with pytest.raises(ValueError, match=r"given is a pipe or a device, not a regular file"):
                answer.result()
        assert not waits


def test_a_folder_is_not_opened(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="is a folder"):
        open_regular(tmp_path)
    with pytest.raises(FileNotFoundError):
        checksum(tmp_path / "missing")


def test_every_file_of_the_package_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not every file that results depend on ends in .py; bytecode does not count."""
    package, here = tmp_path / "unmet", code_version()
    shutil.copytree(Path(unmet.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(unmet, "__file__", str(package / "__init__.py"))

    def version() -> str:
        code_version.cache_clear()
        return code_version()

    assert version() == here
    (package / "__pycache__").mkdir()
    (package / "__pycache__" / "a.pyc").write_bytes(b"x")
    assert version() == here
    seen = {here}
    for kind in ("*.py", "*.html", "*.css", "*.js", "*.csv"):
        path = sorted(package.rglob(kind))[-1]
        path.write_bytes(path.read_bytes() + b"\n")
        seen.add(version())
    assert len(seen) == 6
    code_version.cache_clear()
