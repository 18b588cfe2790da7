"""The table of guards fits the code; `make guards` takes them out one by one."""

from pathlib import Path

import pytest
from table import GUARDS

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("guard", GUARDS, ids=lambda guard: guard.name)
def test_a_guard_is_where_the_table_says(guard) -> None:
    assert (ROOT / "src" / "unmet" / guard.file).read_text().count(guard.old) == 1
    assert guard.new != guard.old
    for test in guard.tests:
        path, _, name = test.partition("::")
        assert f"def {name.partition('[')[0]}" in (ROOT / "tests" / path).read_text()


def test_names_are_unique() -> None:
    assert len({guard.name for guard in GUARDS}) == len(GUARDS)
