"""Find ids that are one station by name and position, where no stations file says so."""

import math
import re
import unicodedata
from collections import defaultdict
from dataclasses import dataclass

from duckdb import DuckDBPyConnection as Connection

from unmet.mobility.sources._recognition import normalised, readable

_SAME = 150.0  # metres between two positions of one station
_NEAR = 25.0  # metres within which two names leave a doubt
# Short forms of words in names of stations.
_SHORT = {
    "street": "st", "avenue": "ave", "av": "ave", "square": "sq", "road": "rd", "boulevard": "blvd",
    "drive": "dr", "place": "pl", "lane": "ln", "and": "", "at": "", "north": "n", "south": "s",
    "east": "e", "west": "w", "saint": "st", "station": "",
}  # fmt: skip


@dataclass
class _Place:
    place: str
    rides: int = 0
    name: str | None = None
    lat: float | None = None
    lng: float | None = None

    @property
    def called(self) -> str:
        """The name without case, accents, punctuation and short forms; the id itself if it is a name."""
        return spelling(self.name or (self.place if re.search(r"[^\W\d_]{3}", self.place) else ""))


def spelling(name: str) -> str:
    """Return a name in the one form that all its spellings share."""
    plain = unicodedata.normalize("NFKD", name).casefold()
    plain = "".join(letter for letter in plain if not unicodedata.combining(letter))
    return "".join(_SHORT.get(word, word) for word in re.findall(r"\w+", plain.replace("_", " ")))


def join_same_stations(con: Connection) -> list[str]:
    """Fill ``station_ids`` with ids of ``new_trips`` that belong to another one, and ``trip_names``.

    Two ids are one station if their names are spellings of each other and their positions lie within 150 m.
    Without positions the ids must be spellings of each other too. Returns notes on what was joined, and on
    what may be one station.
    """
    places = _places(con)
    joined: dict[str, str] = {}
    doubts: list[str] = []
    groups: dict[str, list[_Place]] = defaultdict(list)
    for place in places:
        if place.called:
            groups[place.called].append(place)
    for group in groups.values():
        first, *others = sorted(group, key=lambda one: (-one.rides, one.place))
        for other in others:
            far = _metres(first, other)
            if (far is None and _same_id(first, other)) or (far is not None and far <= _SAME):
                joined[other.place] = first.place
            elif far is None:
                doubts.append(f"{_told(first)} and {_told(other)} have the same name")
            else:
                doubts.append(
                    f"{_told(first)} and {_told(other)} have the same name, {far / 1000:.1f} km apart"
                )
    doubts += _neighbours([place for place in places if place.place not in joined])
    con.execute("DELETE FROM station_ids")
    con.execute("DELETE FROM trip_names")
    if joined:
        con.executemany("INSERT INTO station_ids VALUES (?, ?)", sorted(joined.items()))
    named = [[one.place, one.name] for one in places if one.name is not None and one.place not in joined]
    if named:
        con.executemany("INSERT INTO trip_names VALUES (?, ?)", named)
    return _notes(joined, doubts)


def _places(con: Connection) -> list[_Place]:
    def mean(name: str) -> str:  # of whole micro-degrees, because sums of floats depend on the threads
        return f"avg(({name} * 1000000)::BIGINT) / 1e6"

    found = con.execute(f"""
        SELECT place, name, sum(rides)::BIGINT, min(lat), min(lng) FROM (
            SELECT start_place AS place, start_name AS name, count(*) AS rides, {mean("start_lat")} AS lat,
                {mean("start_lng")} AS lng FROM new_trips WHERE start_place IS NOT NULL GROUP BY 1, 2
            UNION ALL
            SELECT end_place, NULL, 0, {mean("end_lat")}, {mean("end_lng")}
            FROM new_trips WHERE end_place IS NOT NULL GROUP BY 1)
        GROUP BY 1, 2 ORDER BY 1, 3 DESC, 2
    """).fetchall()
    places: dict[str, _Place] = {}
    for place, name, rides, lat, lng in found:  # the commonest name of a place comes first
        one = places.setdefault(place, _Place(place))
        one.rides += rides
        one.name = one.name or name
        if one.lat is None and lat is not None and lng is not None:
            one.lat, one.lng = lat, lng
    return list(places.values())


def _same_id(one: _Place, other: _Place) -> bool:
    """Return whether two ids are spellings of each other: ``42``, ``042`` and ``42.0``, or two names."""

    def plain(place: str) -> str:
        return re.sub(r"\.0+$", "", place.strip()).casefold().lstrip("0")

    if plain(one.place) == plain(other.place):
        return True
    return one.name is None and other.name is None and spelling(one.place) == spelling(other.place)


def _metres(one: _Place, other: _Place) -> float | None:
    if one.lat is None or one.lng is None or other.lat is None or other.lng is None:
        return None
    north = math.radians(one.lat - other.lat)
    east = math.radians(one.lng - other.lng) * math.cos(math.radians((one.lat + other.lat) / 2))
    return 6_371_000 * math.hypot(north, east)


def _neighbours(places: list[_Place]) -> list[str]:
    """Return doubts about ids of different names that stand at the same spot."""
    cells: dict[tuple[int, int], list[_Place]] = defaultdict(list)
    doubts = []
    for place in places:
        if place.lat is None or place.lng is None or not place.rides:
            continue
        row, column = (math.floor(value / 0.001) for value in (place.lat, place.lng))
        for near in (one for a in (-1, 0, 1) for b in (-1, 0, 1) for one in cells[row + a, column + b]):
            far = _metres(near, place)
            if far is not None and far <= _NEAR and near.called != place.called:
                doubts.append(f"{_told(near)} and {_told(place)} stand at the same spot")
        cells[row, column].append(place)
    return doubts


def _told(place: _Place) -> str:
    name = (
        f" ({readable(place.name)})"
        if place.name and normalised(place.name) != normalised(place.place)
        else ""
    )
    return f"{readable(place.place)}{name}"


def _notes(joined: dict[str, str], doubts: list[str]) -> list[str]:
    notes = []
    if joined:
        other, place = next(iter(sorted(joined.items())))
        example = f"{readable(other)} is {readable(place)}"
        notes.append(
            f"{len(joined):,} ids joined with another that is the same station by name and position, "
            f"for example {example}"
        )
    if doubts:
        notes.append(
            f"{len(doubts):,} pairs of ids may be one station each: {'; '.join(doubts[:2])}; "
            "a stations file settles it"
        )
    return notes
