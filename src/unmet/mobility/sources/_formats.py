"""The layouts that are recognised, one entry each. Add new layouts here."""

from dataclasses import dataclass, field
from typing import Literal

Kind = Literal["trips", "status", "stations"]


@dataclass(frozen=True)
class Format:
    """Which columns of a file hold which canonical field.

    Case, spaces and punctuation in headers are ignored (``Start Station ID`` = ``start_station_id``).
    In ``columns``, ``a|b`` means "the first of these that exists" and ``a+b`` "both, joined by a space".

    Attributes
    ----------
    needs : fields that every file of this layout has.
    marks : further required headers, which tell this layout from others with the same columns.
    times : ``"utc"`` if the header says that times are UTC; ``None`` if the caller decides.
    """

    name: str
    kind: Kind
    columns: dict[str, str]
    needs: tuple[str, ...]
    marks: tuple[str, ...] = field(default=())
    times: Literal["utc", None] = None


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

FORMATS: tuple[Format, ...] = (
    Format(
        "Citi Bike old",
        "trips",
        {
            "vehicle": "bikeid",
            "start": "starttime",
            "end": "stoptime",
            "seconds": "tripduration",
            "start_place": "startstationid",
            "start_name": "startstationname",
            "end_place": "endstationid",
            "end_name": "endstationname",
            "start_lat": "startstationlatitude",
            "start_lng": "startstationlongitude",
            "end_lat": "endstationlatitude",
            "end_lng": "endstationlongitude",
        },
        needs=("start", "end", "start_place", "vehicle"),
    ),
    Format(
        "Lyft new",
        "trips",
        {
            "ride": "rideid",
            "start": "startedat",
            "end": "endedat",
            "start_place": "startstationid",
            "start_name": "startstationname",
            "end_place": "endstationid",
            "end_name": "endstationname",
            "start_lat": "startlat",
            "start_lng": "startlng",
            "end_lat": "endlat",
            "end_lng": "endlng",
        },
        needs=("ride", "start", "end"),
    ),
    Format(
        "Divvy or Healthy Ride",
        "trips",
        {
            "ride": "tripid",
            "vehicle": "bikeid",
            "start": "starttime",
            "end": "endtime|stoptime",
            "seconds": "tripduration",
            "start_place": "fromstationid",
            "start_name": "fromstationname",
            "end_place": "tostationid",
            "end_name": "tostationname",
        },
        needs=("ride", "start", "end", "start_place"),
    ),
    Format(
        "Divvy rental details",
        "trips",
        {
            "ride": "01rentaldetailsrentalid",
            "vehicle": "01rentaldetailsbikeid",
            "start": "01rentaldetailslocalstarttime",
            "end": "01rentaldetailslocalendtime",
            "seconds": "01rentaldetailsdurationinsecondsuncapped",
            "start_place": "03rentalstartstationid",
            "start_name": "03rentalstartstationname",
            "end_place": "02rentalendstationid",
            "end_name": "02rentalendstationname",
        },
        needs=("ride", "start", "end"),
    ),
    Format(
        "Capital Bikeshare old",
        "trips",
        {
            "vehicle": "bikenumber",
            "start": "startdate",
            "end": "enddate",
            "start_place": "startstationnumber",
            "start_name": "startstation",
            "end_place": "endstationnumber",
            "end_name": "endstation",
        },
        needs=("start", "end", "start_place", "vehicle"),
    ),
    Format(
        "Bay Area",
        "trips",
        {
            "ride": "tripid|id",
            "vehicle": "bikeid|bike",
            "start": "startdate",
            "end": "enddate",
            "seconds": "duration",
            "start_place": "startterminal|startstationid",
            "start_name": "startstation|startstationname",
            "end_place": "endterminal|endstationid",
            "end_name": "endstation|endstationname",
        },
        needs=("ride", "start", "end", "start_place", "vehicle"),
    ),
    Format(
        "Ford GoBike",
        "trips",
        {
            "vehicle": "bikeid",
            "start": "starttime",
            "end": "endtime",
            "seconds": "durationsec",
            "start_place": "startstationid",
            "start_name": "startstationname",
            "end_place": "endstationid",
            "end_name": "endstationname",
            "start_lat": "startstationlatitude",
            "start_lng": "startstationlongitude",
            "end_lat": "endstationlatitude",
            "end_lng": "endstationlongitude",
        },
        needs=("start", "end", "vehicle"),
        marks=("durationsec",),
    ),
    Format(
        "Metro or Indego",
        "trips",
        {
            "ride": "tripid",
            "vehicle": "bikeid",
            "start": "starttime",
            "end": "endtime",
            "start_place": "startstationid|startstation",
            "end_place": "endstationid|endstation",
            "start_lat": "startlat",
            "start_lng": "startlon",
            "end_lat": "endlat",
            "end_lng": "endlon",
        },
        needs=("ride", "start", "end", "start_place", "start_lat"),
    ),
    Format(
        "Austin dockless",
        "trips",
        {
            "ride": "id",
            "vehicle": "deviceid",
            "start": "starttime",
            "end": "endtime",
            "seconds": "tripduration",
            "start_place": "censustractstart",
            "end_place": "censustractend",
        },
        needs=("ride", "vehicle", "start", "end"),
    ),
    Format(
        "Louisville dockless",
        "trips",
        {
            "ride": "tripid",
            "start": "startdate+starttime",
            "end": "enddate+endtime",
            "start_lat": "startlatitude",
            "start_lng": "startlongitude",
            "end_lat": "endlatitude",
            "end_lng": "endlongitude",
        },
        needs=("ride", "start", "end", "start_lat"),
    ),
    Format(
        "Munich car-sharing",
        "trips",
        {
            "vehicle": "license",
            "start": "starttime",
            "end": "destinationtime",
            "start_lat": "startlatitude",
            "start_lng": "startlongitude",
            "end_lat": "destinationlatitude",
            "end_lng": "destinationlongitude",
        },
        needs=("vehicle", "start", "end"),
    ),
    Format(
        "JUMP pickups",
        "trips",
        {"vehicle": "bikeid", "start": "timeutc", "start_lat": "lat", "start_lng": "lon"},
        needs=("vehicle", "start", "start_lat", "start_lng"),
        times="utc",
    ),
    Format(
        "GBFS status events",
        "status",
        {
            "place": "stationid",
            "at": "lastreported",
            "available": "numbikesavailable|numvehiclesavailable",
            "docks": "numdocksavailable",
            "renting": "isrenting",
            "returning": "isreturning",
            "installed": "isinstalled",
        },
        needs=("place", "at", "available"),
    ),
    Format(
        "Bay Area status",
        "status",
        {"place": "stationid", "at": "time", "available": "bikesavailable", "docks": "docksavailable"},
        needs=("place", "at", "available"),
    ),
    Format(
        "station table",
        "stations",
        {
            "place": "stationid|id|terminal|number",
            "name": "name|stationname",
            "lat": "lat|latitude",
            "lng": "long|lon|lng|longitude",
            "capacity": "capacity|dockcount|docks|totaldocks|dpcapacity",
            "short_name": "shortname",
            "legacy_id": "legacyid",
            "external_id": "externalid",
        },
        needs=("place", "lat", "lng"),
    ),
)

# Other names for fields that `columns=` accepts.
ALIASES = {
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
