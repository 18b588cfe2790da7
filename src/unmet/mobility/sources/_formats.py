"""The layouts that are recognised, one entry each. Add new layouts here and in `_trip_formats`."""

from unmet.mobility.sources._format import Format
from unmet.mobility.sources._trip_formats import TRIP_FORMATS

FORMATS: tuple[Format, ...] = (
    *TRIP_FORMATS,
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
        header=(
            "last_reported,num_docks_disabled,num_bikes_available,is_renting,station_id,is_returning,"
            "is_installed,num_bikes_disabled,num_ebikes_available,num_docks_available"
        ),
    ),
    Format(
        "Bay Area status",
        "status",
        {
            "place": "stationid",
            "at": "time",
            "available": "bikesavailable",
            "docks": "docksavailable",
        },
        needs=("place", "at", "available"),
        header="station_id,bikes_available,docks_available,time",
    ),
    Format(
        "YouBike status",
        "status",
        {
            "place": "sno",
            "at": "infotime",
            "available": "availablerentbikes|sbi",
            "docks": "availablereturnbikes|bemp",
        },
        needs=("place", "at", "available"),
        header="sno,total,available_rent_bikes,available_return_bikes,infoTime",
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
        header="station_id,name,lat,lon,capacity",
    ),
)

# JSON feeds, with the key that tells each of them.
FEEDS: tuple[tuple[str, str, str], ...] = (
    ("GBFS 1 to 3 station_status", "status", "data.stations[] with num_bikes_available"),
    ("GBFS 1 to 3 free_bike_status, vehicle_status", "status", "data.bikes[] or data.vehicles[]"),
    ("GBFS 1 to 3 station_information", "stations", "data.stations[] with lat and lon"),
    ("MDS 1.2 and 2.0 trips", "trips", "version and trips[]"),
    ("MDS 1.2 and 2.0 status_changes, events", "status", "version and status_changes[] or events[]"),
)
