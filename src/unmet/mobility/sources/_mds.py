"""Read MDS 1.2 and 2.0: trips, and status changes or events of vehicles."""

from typing import Any

from unmet.mobility.sources._gbfs import VEHICLES
from unmet.mobility.sources._json import BadItem, Feed, collect, degrees, finite, identifier, moment, stamp

TRIPS = [
    "ride",
    "vehicle",
    "start",
    "end",
    "start_place",
    "end_place",
    "start_lat",
    "start_lng",
    "end_lat",
    "end_lng",
    "trip_type",
]


def mds_feed(document: Any) -> Feed | None:
    """Return the feed in a document; ``None`` if it is not MDS."""
    if not isinstance(document, dict) or "version" not in document:  # required by the specification
        return None
    data = document["data"] if isinstance(document.get("data"), dict) else document
    version = str(document["version"])[:8]
    if isinstance(data.get("trips"), list):
        return _trips(data["trips"], version)
    for key in ("status_changes", "events"):
        if isinstance(data.get(key), list):
            return _changes(data[key], version)
    return None


def _point(value: Any) -> tuple[float | None, float | None, str | None]:
    """Return latitude, longitude and stop of a location: a GeoJSON point (1.2) or ``lat``/``lng`` (2.0)."""
    if not isinstance(value, dict):
        return None, None, None
    properties = value["properties"] if isinstance(value.get("properties"), dict) else value
    stop = properties.get("stop_id")
    geometry = value.get("geometry")
    if isinstance(geometry, dict):
        pair = geometry.get("coordinates")
        if not isinstance(pair, list) or len(pair) < 2:
            raise BadItem("a point has no coordinates")
        lat, lng = pair[1], pair[0]
    elif "lat" in value and ("lng" in value or "lon" in value):
        lat, lng = value["lat"], value.get("lng", value.get("lon"))
    else:
        return None, None, stop if isinstance(stop, str) else None
    return (
        degrees(lat, "latitude", 90),
        degrees(lng, "longitude", 180),
        stop if isinstance(stop, str) else None,
    )


def _ends(item: dict[str, Any]) -> tuple[Any, Any]:
    if "start_location" in item or "end_location" in item:
        return item.get("start_location"), item.get("end_location")
    route = item.get("route")
    points = route.get("features") if isinstance(route, dict) else None
    return (points[0], points[-1]) if isinstance(points, list) and points else (None, None)


def _trips(found: list[Any], version: str) -> Feed:
    """Read trips of every type. Trips of the operator keep their type and are flagged later."""

    def row(item: dict[str, Any]) -> list[Any]:
        ride, vehicle = identifier(item, "trip_id"), identifier(item, "device_id", "vehicle_id")
        if "start_time" not in item:
            raise BadItem("no start_time")
        start = moment(item["start_time"], "start_time", "ms")
        over = item.get("end_time")
        end = stamp(moment(over, "end_time", "ms")) if over is not None else None
        first, last = _ends(item)
        a_lat, a_lng, a_stop = _point(first)
        b_lat, b_lng, b_stop = _point(last)
        kind = item.get("trip_type") if isinstance(item.get("trip_type"), str) else None
        return [ride, vehicle, stamp(start), end, a_stop, b_stop, a_lat, a_lng, b_lat, b_lng, kind]

    return collect(Feed("trips", f"MDS {version} trips", TRIPS), found, row)


def _changes(found: list[Any], version: str) -> Feed:
    def row(item: dict[str, Any]) -> list[Any]:
        vehicle = identifier(item, "device_id", "vehicle_id")
        when = item.get("event_time", item.get("timestamp"))
        if when is None:
            raise BadItem("no event_time")
        finite(when, "event_time")
        at = moment(when, "event_time", "ms")
        state = item.get("vehicle_state")
        if not isinstance(state, str) or not state:
            raise BadItem("no vehicle_state")
        events = item.get("event_types")
        event = ",".join(str(word) for word in events) if isinstance(events, list) else None
        lat, lng, stop = _point(item.get("event_location", item.get("location")))
        return [vehicle, stamp(at), stop, lat, lng, state, event]

    return collect(Feed("status", f"MDS {version} status changes", VEHICLES), found, row)
