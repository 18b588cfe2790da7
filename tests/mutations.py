"""Damage of many kinds, by a seed: to the bytes of a file, to a JSON value, to the columns of a table."""

import gzip
import io
import random
import zipfile
from typing import Any

import numpy as np

ODD = (
    None,
    True,
    -1,
    0,
    0.5,
    1e15,
    -1e300,
    10**18,
    "",
    "x",
    "2024-03-04",
    [],
    {},
    [1, "a"],
    {"a": 1},
    "y" * 5000,
)


def mutate(data: bytes, random_: random.Random) -> bytes:
    """One of many kinds of damage to a text."""
    kind = random_.randrange(12)
    where = random_.randrange(len(data))
    lines = data.split(b"\n")
    line = random_.randrange(len(lines))
    if kind == 0:
        return data[:where] + bytes([random_.randrange(256)]) + data[where + 1 :]
    if kind == 1:
        return data[:where]
    if kind == 2:
        return (
            data[:where]
            + random_.choice([b'"', b",", b"\r", b"\n", b"\0", b"\xff", b"\\", b"\x1a"])
            + data[where:]
        )
    if kind == 3:
        del lines[line]
    elif kind == 4:
        lines.insert(line, lines[random_.randrange(len(lines))])
    elif kind == 5:
        cells = lines[line].split(b",")
        random_.shuffle(cells)
        lines[line] = b",".join(cells)
    elif kind == 6:
        cells = lines[line].split(b",")
        del cells[random_.randrange(len(cells))]
        lines[line] = b",".join(cells)
    elif kind == 7:
        return data.replace(b"\n", random_.choice([b"\r\n", b"\r", b"\n\n"]))
    elif kind == 8:
        return b"".join(bytes([random_.randrange(256)]) for _ in range(random_.randrange(1, 300))) + data
    elif kind == 9:
        cells = lines[line].split(b",")
        cells[random_.randrange(len(cells))] = random_.choice(
            [
                b"NaN",
                b"1e400",
                b"-1",
                b"inf",
                b"99999999999999999999",
                b'"',
                b"' OR 1=1",
                b"2019-02-30 00:00:00",
                b"[" * 99,
            ]
        )
        lines[line] = b",".join(cells)
    elif kind == 10:
        return data[where:] + data[:where]
    else:
        # A feed is one line: repeated again and again it would be gigabytes.
        lines[line] = lines[line] * min(random_.randrange(2, 500), 1 + 2_000_000 // (1 + len(lines[line])))
    return b"\n".join(lines)


def pack(data: bytes, random_: random.Random, beside: str) -> bytes:
    """The text as it is or in an archive, at times with another file, which may be damaged too."""
    kind = random_.randrange(6)
    if kind < 3:
        return data
    if kind == 3:
        packed = gzip.compress(data, 1)
    else:
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("a.csv", data)
            if kind == 5:
                archive.writestr("sub/b.json", beside)
        packed = buffer.getvalue()
    return damaged(packed, random_)


def damaged(packed: bytes, random_: random.Random) -> bytes:
    """Every other archive with a few bytes changed or lost."""
    if random_.random() < 0.5:
        where = random_.randrange(len(packed))
        packed = packed[:where] + bytes([random_.randrange(256)]) + packed[where + 1 + random_.randrange(3) :]
    return packed


def mutate_json(value: Any, chance: random.Random) -> Any:
    """A copy of a JSON value in which one part is another, absent or repeated."""
    if isinstance(value, (dict, list)) and value and chance.random() < 0.85:
        copy: Any = dict(value) if isinstance(value, dict) else list(value)
        key = chance.choice(list(value)) if isinstance(value, dict) else chance.randrange(len(value))
        act = chance.randrange(8)
        if act == 0:
            del copy[key]
        elif act == 1 and isinstance(copy, list):
            copy.append(copy[key])
        elif act == 1:
            copy[f"{key}!"] = copy[key]
        else:
            copy[key] = mutate_json(value[key], chance)
        return copy
    return chance.choice(ODD)


def mutate_columns(columns: dict[str, np.ndarray], chance: random.Random) -> dict[str, np.ndarray]:
    """Columns with other values, another type, other rows, or one column less."""
    found = {name: values.copy() for name, values in columns.items()}
    name = chance.choice(list(found))
    values, rows = found[name], len(found[name])
    act = chance.randrange(9)
    if act == 0:
        del found[name]
    elif act == 1:
        found[name] = values.astype(str).astype(object)
    elif act == 2:
        found[name] = np.full(rows, chance.choice([np.nan, np.inf, -1.0, 1e15, 0.0, 0.5]))
    elif act == 3 and values.dtype.kind in "fiub":
        found[name] = values.astype(float)
        odd = [np.nan, np.inf, -np.inf, -1.0, 1e15, 1e-300, 999_999.0]
        for _ in range(chance.randrange(1, 20)):
            found[name][chance.randrange(rows)] = chance.choice(odd)
    elif act == 4:
        kept = np.sort(np.array(chance.sample(range(rows), chance.randrange(0, rows))), kind="stable")
        found = {key: column[kept.astype(int)] for key, column in found.items()}
    elif act == 5:
        order = np.array(chance.choices(range(rows), k=rows))
        found = {key: column[order] for key, column in found.items()}
    elif act == 6:
        found[name] = np.array([None] * rows, object)
    elif act == 7 and values.dtype.kind == "M":
        shift = chance.choice([-(10**6), -1, 1, 10**4, 10**6])
        found[name] = values + np.timedelta64(3600 * shift, "s")
    else:
        found[name] = np.array([chance.choice(["", "a", "x" * 2000, "\x1b[2J", "-1"])] * rows, object)
    return found
