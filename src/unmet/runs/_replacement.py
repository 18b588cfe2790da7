"""A run that replaces another is built beside it, inside its folder, and takes its place in the end.

    out/.unmet-next/    the new run while it is built; the old run in out/ stays whole and readable
    out/.unmet-ready/   the new run, finished: from here on it is the one that counts

Renaming the first to the second is the moment of change. Moving the files takes an instant; whoever opens the
folder after a kill in that instant moves the rest first.
"""

import os
import shutil
from collections.abc import Iterable
from pathlib import Path

from unmet.runs._atomic import sync_folder
from unmet.runs._lock import FolderLock
from unmet.runs._record import JOURNAL, RECORD, RunError, load

NEXT = ".unmet-next"
READY = ".unmet-ready"


def put_in_place(folder: Path) -> None:
    """Replace the run in `folder` by the finished one that was built beside it."""
    for place, _, _ in os.walk(folder / NEXT):
        sync_folder(place)
    os.rename(folder / NEXT, folder / READY)
    sync_folder(folder)
    complete(folder)


def complete(folder: Path) -> None:
    """Move what is still in the finished replacement to its place; the caller holds the folder's lock."""
    ready = folder / READY
    if not os.path.lexists(ready):
        return
    if os.path.lexists(ready / RECORD):  # else all was moved but the folder itself
        new = _written_by(ready)  # some of it may have been moved before a kill
        remove(folder / name for name in _written_by(folder) if name not in new or name == JOURNAL)
        # The old record goes last: until then it says what else to remove.
        for name in sorted(os.listdir(ready), key=lambda name: (name == RECORD, name)):
            if (folder / name).is_dir():
                remove([folder / name])
            os.replace(ready / name, folder / name)
        sync_folder(folder)
    remove([ready])


def complete_alone(folder: Path) -> None:
    """Do the same as a reader, who holds no lock."""
    if os.path.lexists(folder / READY):
        with FolderLock(folder):
            complete(folder)


def remove(paths: Iterable[Path]) -> None:
    """Remove files, links and whole folders."""
    for path in paths:
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)


def _written_by(folder: Path) -> list[str]:
    """Return the names of the files and folders that the run in `folder` wrote."""
    try:
        steps = load(folder).steps.values()
    except RunError:  # damaged or moved already: nobody can say
        return [JOURNAL]
    # The journal comes last, because it may list some of the others.
    return [*sorted({name.split("/")[0] for step in steps for name in step["outputs"]}), JOURNAL]
