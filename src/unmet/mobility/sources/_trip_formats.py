"""The layouts of trip files that are recognised, one entry each."""

from unmet.mobility.sources._format import Format
from unmet.mobility.sources._world_formats import WORLD_FORMATS

TRIP_FORMATS: tuple[Format, ...] = (
    *WORLD_FORMATS,
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
        header=(
            "tripduration,starttime,stoptime,start station id,start station name,"
            "start station latitude,start station longitude,end station id,end station name,"
            "end station latitude,end station longitude,bikeid,usertype,birth year,gender"
        ),
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
        header=(
            "ride_id,rideable_type,started_at,ended_at,start_station_name,start_station_id,"
            "end_station_name,end_station_id,start_lat,start_lng,end_lat,end_lng,member_casual"
        ),
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
        header=(
            "trip_id,start_time,end_time,bikeid,tripduration,from_station_id,from_station_name,"
            "to_station_id,to_station_name,usertype,gender,birthyear"
        ),
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
        header=(
            "01 - Rental Details Rental ID,01 - Rental Details Local Start Time,"
            "01 - Rental Details Local End Time,01 - Rental Details Bike ID,"
            "01 - Rental Details Duration In Seconds Uncapped,03 - Rental Start Station ID,"
            "03 - Rental Start Station Name,02 - Rental End Station ID,02 - Rental End Station Name,"
            "User Type,Member Gender,05 - Member Details Member Birthday Year"
        ),
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
        header=(
            "Duration,Start date,End date,Start station number,Start station,End station number,"
            "End station,Bike number,Member type"
        ),
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
        header=(
            "Trip ID,Duration,Start Date,Start Station,Start Terminal,End Date,End Station,"
            "End Terminal,Bike #,Subscription Type,Zip Code"
        ),
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
        header=(
            "duration_sec,start_time,end_time,start_station_id,start_station_name,"
            "start_station_latitude,start_station_longitude,end_station_id,end_station_name,"
            "end_station_latitude,end_station_longitude,bike_id,user_type"
        ),
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
        header=(
            "trip_id,duration,start_time,end_time,start_station_id,start_lat,start_lon,"
            "end_station_id,end_lat,end_lon,bike_id,plan_duration,trip_route_category,passholder_type"
        ),
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
        header=(
            "ID,Device ID,Vehicle Type,Trip Duration,Trip Distance,Start Time,End Time,Month,Hour,"
            "Census Tract Start,Census Tract End"
        ),
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
        header=(
            "TripID,StartDate,StartTime,EndDate,EndTime,TripDuration,TripDistance,StartLatitude,"
            "StartLongitude,EndLatitude,EndLongitude,DayOfWeek,HourNum"
        ),
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
        header=(
            "License,StartLatitude,StartLongitude,StartTime,DestinationLatitude,DestinationLongitude,"
            "DestinationTime"
        ),
    ),
    Format(
        "JUMP pickups",
        "trips",
        {
            "vehicle": "bikeid",
            "start": "timeutc",
            "start_lat": "lat",
            "start_lng": "lon",
        },
        needs=("vehicle", "start", "start_lat", "start_lng"),
        times="utc",
        header="bike_id,time_utc,battery_level,lon,lat,set,time_local",
    ),
)
