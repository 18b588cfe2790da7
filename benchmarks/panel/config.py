"""How large the benchmark is: the full run and the small one for CI."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Config:
    """A base city, and how many copies of it (districts) make the large and the small input."""

    size: str
    days: int
    districts: int
    fewer: int
    memory_limit: str = "800MB"  # for DuckDB; the process as a whole must stay under 2 GB
    zone: str = "America/New_York"
    floors: bool = True  # whether missing a floor counts as failure


# One district is a simulated city of about a million rides.
FULL = Config(size="city", days=93, districts=20, fewer=2)
MEDIUM = Config(size="city", days=93, districts=4, fewer=2, floors=False)
SMALL = Config(size="town", days=30, districts=4, fewer=1, floors=False)

# What the full run must reach.
FASTER, PEAK, GROWTH = 5.0, 2e9, 1.2
