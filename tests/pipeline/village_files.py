"""A small simulated city on disk, for tests that change its files."""

from pathlib import Path

from unmet.datasets import make_city

ZONE = "America/New_York"


def make_village(folder: Path, days: int, seed: int = 11) -> Path:
    """Write the files of a village; return their folder."""
    make_city("village", days=days, seed=seed).write(folder)
    return folder
