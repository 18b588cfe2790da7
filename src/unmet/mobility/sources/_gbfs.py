"""Read GBFS 1 to 3: station_status, station_information, free_bike_status and vehicle_status."""

from typing import Any

from unmet.mobility.sources._formats import FIELDS
from unmet.mobility.sources._json import (
    BadItem,
    Feed,
    collect,
    degrees,
    identifier,
    localised,
    moment,
    stamp,
    truth,
    whole,
)

STATUS = ["place", "at", "available", "docks", "renting", "returning"]
VEHICLES = ["vehicle_id", "at", "place", "lat", "lng", "state", "event"]
_STATUS_KEYS = (
    "num_bikes_available",
    "num_vehicles_available",
    "is_renting",
    "is_returning",
    "last_reported",
)


def gbfs_feed(document: Any) -> Feed | None:
    """Return the feed in a document; ``None`` if it is not GBFS."""
    if not isinstance(document, dict) or not isinstance(document.get("data"), dict):
        return None
    data = document["data"]
    version = str(document.get("version", "1"))[:8]
    if isinstance(data.get("stations"), list):
        found = [item for item in data["stations"] if isinstance(item, dict)]
        if any(key in item for item in found for key in _STATUS_KEYS):
            return _station_status(document, data["stations"], version)
        return _station_information(data["stations"], version)
    for key in ("bikes", "vehicles"):
        if isinstance(data.get(key), list):
            return _vehicle_status(document, data[key], version)
    known = {
        "feeds",
        "system_id",
        "vehicle_types",
        "plans",
        "alerts",
        "regions",
        "versions",
        "geofencing_zones",
    }
    if "last_updated" in document or known & set(data):
        return Feed(None, "GBFS " + ", ".join(sorted(map(str, data)))[:60])
    return None


def _updated(document: dict[str, Any], feed: Feed) -> Any:
    """Return the time of the snapshot; ``None`` if it is missing or, with a note, if it is not valid."""
    if "last_updated" not in document:
        return None
    try:
        return moment(document["last_updated"], "last_updated")
    except BadItem as error:
        feed.notes.append(f"{error}; using last_reported of each station instead")
        return None


def _reported(item: dict[str, Any]) -> Any:
    return moment(item["last_reported"], "last_reported") if "last_reported" in item else None


def _station_status(document: dict[str, Any], found: list[Any], version: str) -> Feed:
    """Read one row per station. Its time is that of the snapshot, even if the station reported earlier."""
    feed = Feed("status", f"GBFS {version} station_status", STATUS)
    updated = _updated(document, feed)
    seen: set[str] = set()

    def row(item: dict[str, Any]) -> list[Any]:
        place = identifier(item, "station_id")
        if place in seen:
            raise BadItem("station_id occurs twice in one snapshot")
        reported = _reported(item)
        if updated is None and reported is None:
            raise BadItem("no last_reported")
        available = whole(item, "num_bikes_available", "num_vehicles_available")
        if available is None:
            raise BadItem("no num_bikes_available or num_vehicles_available")
        docks = whole(item, "num_docks_available")
        installed = bool(truth(item, "is_installed", True))
        flags = [bool(truth(item, flag, True)) for flag in ("is_renting", "is_returning")]
        at = max(one for one in (updated, reported) if one)
        seen.add(place)
        return [place, stamp(at), available, docks, *(installed and flag for flag in flags)]

    return collect(feed, found, row)


def _vehicle_status(document: dict[str, Any], found: list[Any], version: str) -> Feed:
    feed = Feed("status", f"GBFS {version} vehicle_status", VEHICLES)
    updated = _updated(document, feed)
    seen: set[str] = set()

    def row(item: dict[str, Any]) -> list[Any]:
        vehicle = identifier(item, "bike_id", "vehicle_id")
        if vehicle in seen:
            raise BadItem("bike_id occurs twice in one snapshot")
        reported = _reported(item)
        at = updated or reported
        if at is None:
            raise BadItem("no last_updated")
        place = identifier(item, "station_id") if item.get("station_id") is not None else None
        if place is None and ("lat" not in item or "lon" not in item):
            raise BadItem("no lat and lon")
        lat = degrees(item["lat"], "lat", 90) if item.get("lat") is not None else None
        lng = degrees(item["lon"], "lon", 180) if item.get("lon") is not None else None
        flags = (("is_disabled", "disabled"), ("is_reserved", "reserved"))
        state = next((word for flag, word in flags if truth(item, flag, False)), "available")
        seen.add(vehicle)
        return [vehicle, stamp(at), place, lat, lng, state, None]

    return collect(feed, found, row)


def _capacity(item: dict[str, Any]) -> int | None:
    capacity = whole(item, "capacity")
    if capacity is not None:
        return capacity
    by_type = item.get("vehicle_type_capacity") or item.get("vehicle_docks_capacity")
    if isinstance(by_type, dict) and by_type:
        return sum(whole(by_type, key) or 0 for key in by_type)
    if isinstance(by_type, list) and by_type:
        return sum(whole(entry, "count") or 0 for entry in by_type if isinstance(entry, dict))
    return None


def _station_information(found: list[Any], version: str) -> Feed:
    seen: set[str] = set()

    def row(item: dict[str, Any]) -> list[Any]:
        place = identifier(item, "station_id")
        if place in seen:
            raise BadItem("station_id occurs twice")
        if "lat" not in item or "lon" not in item:
            raise BadItem("no lat and lon")
        lat, lng = degrees(item["lat"], "lat", 90), degrees(item["lon"], "lon", 180)
        others = []
        for key in ("short_name", "legacy_id", "external_id"):
            value = localised(item.get(key))
            others.append(str(item[key]) if value is None and isinstance(item.get(key), int) else value)
        scalars = {str(k): str(v) for k, v in item.items() if isinstance(v, (str, int)) and len(str(v)) < 200}
        attributes = "\x1e".join(f"{key}\x1f{value}" for key, value in scalars.items())
        name, capacity = localised(item.get("name")), _capacity(item)
        seen.add(place)
        return [place, name, lat, lng, capacity, *others, attributes]

    header = [*FIELDS["stations"], "attributes"]
    return collect(Feed("stations", f"GBFS {version} station_information", header), found, row)
