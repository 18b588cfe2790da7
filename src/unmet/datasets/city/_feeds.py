"""The operator's feeds: GBFS documents, snapshots and status events."""

import numpy as np

from unmet.datasets.city._city import City

HEARTBEAT = 3600  # a station reports at least once an hour, even without a change


def station_information(city: City) -> dict[str, object]:
    """Return GBFS 2.3 ``station_information``."""
    stations = [
        {
            "station_id": city.map.ids[i],
            "name": city.map.names[i],
            "short_name": city.map.ids[i],
            "lat": float(city.map.lat[i]),
            "lon": float(city.map.lng[i]),
            "capacity": int(city.capacity[i]),
        }
        for i in range(len(city.map))
    ]
    return _document(city.hours.first, 86_400, stations)


def station_status(city: City, second: int) -> dict[str, object]:
    """Return GBFS 2.3 ``station_status`` at a given second after the first hour."""
    places = np.arange(len(city.map))
    available = stock_at(city, places, np.full(len(places), second))
    at = city.hours.first + second
    stations = [
        {
            "station_id": city.map.ids[i],
            "num_bikes_available": int(available[i]),
            "num_docks_available": int(city.capacity[i] - available[i]),
            "is_installed": True,
            "is_renting": True,
            "is_returning": True,
            "last_reported": at,
        }
        for i in places.tolist()
    ]
    return _document(at, 300, stations)


def _document(at: int, ttl: int, stations: list[dict[str, object]]) -> dict[str, object]:
    return {"last_updated": at, "ttl": ttl, "version": "2.3", "data": {"stations": stations}}


def stock_at(city: City, place: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Return the vehicles available at given places and seconds, changes in that second included."""
    span = city.hours.seconds + 1
    known = city.stock.place * span + city.stock.second
    found = np.searchsorted(known, place.astype(np.int64) * span + second, side="right") - 1
    return city.stock.available[found]


def snapshots(city: City, every: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return place, second and vehicles of all stations at a fixed interval, both ends included."""
    times = np.arange(0, city.hours.seconds + 1, every, dtype=np.int64)
    place = np.repeat(np.arange(len(city.map), dtype=np.int64), len(times))
    second = np.tile(times, len(city.map))
    return place, second, stock_at(city, place, second)


def status_events(city: City) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return place, second and available vehicles of every change and heartbeat, ordered by place.

    A heartbeat repeats the stock once an hour, at a fixed minute per station, and at the end. It tells a
    station without rides from one whose feed is down. A change in the same second replaces it.
    """
    count, seconds = len(city.map), city.hours.seconds
    minutes = (np.arange(count, dtype=np.int64) * 37 % 60) * 60 + 30
    beats = minutes[:, None] + np.arange(0, seconds, HEARTBEAT, dtype=np.int64)[None, :]
    beats = np.concatenate([beats, np.full((count, 1), seconds)], axis=1)
    place = np.repeat(np.arange(count, dtype=np.int64), beats.shape[1])
    span = seconds + 1
    changes = city.stock.place * span + city.stock.second
    key = np.union1d(changes, place * span + beats.ravel())
    place, second = key // span, key % span
    return place, second, stock_at(city, place, second)
