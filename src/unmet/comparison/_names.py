"""Names as people type them: any case, any dash, with or without commas."""

import difflib
import re
from collections.abc import Callable, Iterable, Sequence

from unmet.comparison._methods import METHODS

_BETWEEN_WORDS = re.compile(r"[\s,‐‑‒–—−-]+")


def plain_name(name: str) -> str:
    """Return a name by its words alone.

    >>> plain_name("Kaplan–Meier") == plain_name("kaplan-meier")
    True
    """
    return _BETWEEN_WORDS.sub(" ", name).strip().casefold()


def split_names(text: str, known: Iterable[str], plain: Callable[[str], str] = str.strip) -> list[str]:
    """Split a list at its commas, but not inside a known name; the longest such name counts.

    >>> split_names("Tobit, tobit,skewed", ["Tobit", "Tobit, skewed"], plain_name)
    ['Tobit', 'Tobit, skewed']
    """
    names = {plain(name): name for name in known}
    parts, found = text.split(","), []
    while parts:
        for end in range(len(parts), 0, -1):
            name = names.get(plain(",".join(parts[:end])))
            if name is not None or end == 1:
                found.append(parts[0].strip() if name is None else name)
                parts = parts[end:]
                break
    return [name for name in found if name]


def no_column(name: str, columns: Iterable[str]) -> str:
    """Return the rest of the sentence about a column that there is not.

    >>> no_column("sodl", ["stock", "sold"])
    "is no column; did you mean 'sold'? There are stock, sold"
    """
    columns = list(columns)
    known = {column.casefold(): column for column in columns}
    close = difflib.get_close_matches(name.casefold(), known, n=1)
    there = f"did you mean {known[close[0]]!r}? There" if close else "there"
    return f"is no column; {there} are {', '.join(columns)}"


def method_names(asked: str | Sequence[str]) -> list[str]:
    """Return the names of methods as `METHODS` has them, or say which one there is not."""
    known = [method.name for method in METHODS]
    if isinstance(asked, str):
        asked = [name for part in asked.split(";") for name in split_names(part, known, plain_name)]
    names = {plain_name(name): name for name in known}
    for name in asked:
        if plain_name(name) not in names:
            raise ValueError(f"methods: there is no {name!r}; choose from {'; '.join(known)}")
    return [names[plain_name(name)] for name in asked]


def words_of(name: str) -> list[str]:
    """Return the words of a column's name in small letters.

    >>> words_of("deathEvent_2"), words_of("non-detect")
    (['death', 'event', ''], ['non', 'detect'])
    """
    return re.split(r"[\W\d_]+", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).casefold())
