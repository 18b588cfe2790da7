"""The fields of trips, status and stations, their types, and words that stand for something else."""

from typing import Literal

Kind = Literal["trips", "status", "stations"]

TRIP_FIELDS = [
    "ride",
    "vehicle",
    "start",
    "end",
    "seconds",
    "start_place",
    "start_name",
    "end_place",
    "end_name",
    "start_lat",
    "start_lng",
    "end_lat",
    "end_lng",
    "trip_type",
    "minutes",
]
STATUS_FIELDS = ["place", "at", "available", "docks", "renting", "returning", "installed"]
STATION_FIELDS = ["place", "name", "lat", "lng", "capacity", "short_name", "legacy_id", "external_id"]
FIELDS: dict[Kind, list[str]] = {"trips": TRIP_FIELDS, "status": STATUS_FIELDS, "stations": STATION_FIELDS}

# Types of the fields that are not text. If a cell does not have its type, the file is read again as text.
# Times in CSV files are always read as text, because DuckDB's parser accepts more than one form.
FIELD_TYPES: dict[Kind, dict[str, str]] = {
    "trips": {
        "start": "TIMESTAMP",
        "end": "TIMESTAMP",
        "start_lat": "DOUBLE",
        "start_lng": "DOUBLE",
        "end_lat": "DOUBLE",
        "end_lng": "DOUBLE",
    },
    "status": {
        "at": "BIGINT",
        "available": "DOUBLE",  # DuckDB would silently round to an integer
        "docks": "DOUBLE",
        "renting": "BOOLEAN",
        "returning": "BOOLEAN",
        "installed": "BOOLEAN",
    },
    "stations": {},
}

# Other names for fields that `columns=` and `status_columns=` accept.
ALIASES: dict[Kind, dict[str, str]] = {
    "trips": {
        "station": "start_place",
        "start_station": "start_place",
        "end_station": "end_place",
        "place": "start_place",
        "lat": "start_lat",
        "lng": "start_lng",
        "lon": "start_lng",
        "bike": "vehicle",
        "ride_id": "ride",
        "vehicle_id": "vehicle",
        "duration": "seconds",
    },
    "status": {"station": "place", "time": "at", "bikes": "available", "vehicles": "available"},
    "stations": {},
}
# Fields without which a file says nothing.
NEEDED: dict[Kind, tuple[str, ...]] = {
    "trips": ("start",),
    "status": ("place", "at", "available"),
    "stations": ("place", "lat", "lng"),
}

# Stations for the operator, not for riders. Compared with the name, or the id if there is none, in any case.
TEST_STATIONS = (
    r"\btest(ing)?\b",
    r"_test",
    r"-test\b",
    r"\b8d\b",
    r"^(\w*bs )?depot\b",
    r"\bwarehouse\)?$",
    r"\bworkshop\b",
    r"\bbike checking\b",
    r"\brepair mobile\b",
    r"^kiosk in a box",
)

# MDS trip types that are demand. All other types are trips of the operator.
RIDER_TRIPS = ("rider", "private", "shared", "reservation")

# Cells that stand for a missing value.
NULLS = ("", "NULL", "null", "\\N", "nan", "NaN", "None", "NA", "N/A")
