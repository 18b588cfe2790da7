"""How large the benchmark is, and which forms of trip files it reads."""

from dataclasses import dataclass

# Form of the trips → file ending. `modern` has ride ids (since 2020), `quoted` is the older quoted layout.
FORMS = {
    "modern": "csv",
    "modern-zip": "zip",
    "modern-gzip": "csv.gz",
    "modern-parquet": "parquet",
    "quoted-zip": "zip",
}


@dataclass(frozen=True)
class Config:
    """A base city, and how many copies of it (districts) make the large and the small input."""

    size: str
    days: int
    districts: int  # in the plain modern form
    fewer: int  # in every form
    memory_limit: str = "800MB"  # for DuckDB; the whole process must stay under 2 GB
    zone: str = "America/New_York"
    floors: bool = True  # whether a missed floor counts as failure


# One district is a simulated city of about a million rides.
FULL = Config(size="city", days=93, districts=20, fewer=2)
SMALL = Config(size="town", days=30, districts=4, fewer=1, floors=False)

FASTER, PEAK = 1.0, 2e9  # times the speed of pandas with checks on every form, and bytes
