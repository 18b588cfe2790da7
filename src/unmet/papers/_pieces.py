"""Long work in pieces of one file each, taken up again after any interruption."""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

Log = Callable[..., None]
FOLDER = "shards"


def finish_pieces(
    folder: Path,
    source: dict[str, Any],
    names: Sequence[str],
    compute: Callable[[list[str], Log], Iterable[tuple[str, bytes]]],
) -> list[Path]:
    """Return the files of all pieces, after computing those that the same code has not finished before.

    Parameters
    ----------
    folder : holds the files and their record; see `unmet.runs.Steps`. Work on another source is replaced.
    source : all that the results depend on, as JSON.
    names : names of the files.
    compute : takes the names of missing pieces and a function that logs; yields each name with its bytes.
    """
    from unmet.runs import Steps, write_bytes

    with Steps(folder, source=source, replace=True) as steps:
        (steps.folder / FOLDER).mkdir(exist_ok=True)
        missing = [name for name in names if not steps.done(name, outputs=[f"{FOLDER}/{name}"])]
        for name, data in compute(missing, steps.log):
            write = partial(write_bytes, steps.folder / FOLDER / name, data, tidy=False)
            steps.run(name, write, outputs=[f"{FOLDER}/{name}"])
    return [folder / FOLDER / name for name in names]


def file_name(text: str) -> str:
    """Return the text with a hyphen for every character that a file name had better not hold."""
    return "".join(letter if letter.isascii() and letter.isalnum() else "-" for letter in text)
