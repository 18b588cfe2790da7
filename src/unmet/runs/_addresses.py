"""Addresses of object stores and web pages, which are not paths on this machine."""

import os
import re

# A path that went through pathlib has one slash left of two.
_ADDRESS = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):/+(.*)", re.DOTALL)


def refuse_address(path: str | os.PathLike[str]) -> None:
    """Raise ValueError for an address such as s3://bucket/out, which would be taken for a folder "s3:" here.

    >>> refuse_address("out/trips.csv")
    >>> refuse_address("s3://bucket/out")
    Traceback (most recent call last):
    ValueError: s3://bucket/out is an address: give a path on this machine, where it may be mounted
    """
    if found := _ADDRESS.fullmatch(os.fspath(path)):
        scheme, rest = found.groups()
        raise ValueError(
            f"{scheme}://{rest} is an address: give a path on this machine, where it may be mounted"
        )
