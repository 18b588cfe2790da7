"""Addresses of object stores are not taken for folders here."""

from pathlib import Path

import pytest

from unmet.runs import Steps


@pytest.mark.parametrize("given", ["s3://bucket/out", Path("s3://bucket/out"), "file:///tmp/out"])
def test_an_address_is_not_taken_for_a_folder(given, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with (
        pytest.raises(ValueError, match=r"(s3://bucket|file:///?tmp)/out is an address"),
        Steps(given, source={}),
    ):
        pass
    assert not list(tmp_path.iterdir())
