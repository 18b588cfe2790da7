"""A few hand-written rows of every trip layout that is recognised, with what they mean in UTC."""

# ruff: noqa: E501 - rows of data are as long as operators write them

from dataclasses import dataclass


@dataclass(frozen=True)
class Example:
    """Text of a file, how to read it, and (ride, vehicle, start, end, start place, end place) per row."""

    text: str
    format: str
    zone: str | None
    expected: tuple[tuple[str | None, ...], ...]


STATUS = (
    "last_reported,num_bikes_available,is_renting,station_id,is_returning,is_installed,num_docks_available\n"
)
OLD = (
    "tripduration,starttime,stoptime,start station id,start station name,start station latitude,"
    "start station longitude,end station id,end station name,end station latitude,end station longitude,"
    "bikeid,usertype,birth year,gender"
)
OLD_ROWS = """
201,"2019-01-01 03:09:09.7110","2019-01-01 03:12:30.8790",3183,"Exchange Place",40.71,-74.03,3214,"Essex, Rail",40.72,-74.04,29612,"Subscriber",1993,1
505,"2019-07-01 05:18:00.1060","2019-07-01 05:26:25.9050",00042,"Newport",40.73,-74.03,3638,"Washington St",40.72,-74.03,29213,"Customer",1972,2
"""
OLD_MEANS = (
    (None, "29612", "2019-01-01 08:09:09.711", "2019-01-01 08:12:30.879", "3183", "3214"),
    (None, "29213", "2019-07-01 09:18:00.106", "2019-07-01 09:26:25.905", "00042", "3638"),
)
NEW = (
    "ride_id,rideable_type,started_at,ended_at,start_station_name,start_station_id,end_station_name,"
    "end_station_id,start_lat,start_lng,end_lat,end_lng,member_casual"
)
NEW_ROWS = """
121DD7DD23CB1335,docked_bike,2021-02-03 23:11:28,2021-02-03 23:18:28,Hoboken Ave,JC105,Christ Hospital,JC034,40.73,-74.04,40.73,-74.05,member
FD73FB85F008349D,electric_bike,2021-02-27 16:34:05,2021-02-27 16:56:40,,,Marin,JC013,40.72,-74.03,40.71,-74.04,casual
"""
NEW_MEANS = (
    ("121DD7DD23CB1335", None, "2021-02-04 04:11:28", "2021-02-04 04:18:28", "JC105", "JC034"),
    ("FD73FB85F008349D", None, "2021-02-27 21:34:05", "2021-02-27 21:56:40", None, "JC013"),
)
NEW_YORK, CHICAGO = "America/New_York", "America/Chicago"
TITLE = (
    "Trip Duration,Start Time,Stop Time,Start Station ID,Start Station Name,Start Station Latitude,"
    "Start Station Longitude,End Station ID,End Station Name,End Station Latitude,End Station Longitude,"
    "Bike ID,User Type,Birth Year,Gender"
)

EXAMPLES: dict[str, Example] = {
    "citi_bike_old": Example(OLD + OLD_ROWS, "Citi Bike old", NEW_YORK, OLD_MEANS),
    "citi_bike_title_case": Example(TITLE + OLD_ROWS, "Citi Bike old", NEW_YORK, OLD_MEANS),
    "citi_bike_quoted": Example(
        ",".join(f'"{name}"' for name in OLD.split(",")) + OLD_ROWS, "Citi Bike old", NEW_YORK, OLD_MEANS
    ),
    "citi_bike_saved_again": Example(
        OLD
        + "\n201,1/1/2019 3:09,1/1/2019 3:12,3183,Exchange Place,40.71,-74.03,3214,Rail,40.72,-74.04,7,S,1993,1\n",
        "Citi Bike old",
        NEW_YORK,
        ((None, "7", "2019-01-01 08:09:00", "2019-01-01 08:12:00", "3183", "3214"),),
    ),
    "lyft_new": Example(NEW + NEW_ROWS, "Lyft new", NEW_YORK, NEW_MEANS),
    "bay_area_2014": Example(
        "trip_id,duration,start_date,start_station,start_terminal,end_date,end_station,end_terminal,bike_id,"
        "subscription_type,zip_code\n"
        "139545,435,2014-01-01 08:14:00,City Hall,58,2014-01-01 08:21:00,Townsend at 7th,65,473,Subscriber,94612\n",
        "Bay Area",
        None,
        (("139545", "473", "2014-01-01 08:14:00", "2014-01-01 08:21:00", "58", "65"),),
    ),
    "bay_area_original": Example(
        "Trip ID,Duration,Start Date,Start Station,Start Terminal,End Date,End Station,End Terminal,Bike #,"
        "Subscription Type,Zip Code\n4576,63,8/29/2013 14:13,Van Ness,66,8/29/2013 14:14,Van Ness,66,520,Subscriber,94127\n",
        "Bay Area",
        "America/Los_Angeles",
        (("4576", "520", "2013-08-29 21:13:00", "2013-08-29 21:14:00", "66", "66"),),
    ),
    "jump": Example(
        "bike_id,time_utc,battery_level,lon,lat,set,time_local\n"
        "bike_18076,2018-09-17 07:04:00,99,-122.417,37.776,train,2018-09-17 00:04:00\n",
        "JUMP pickups",
        "America/Los_Angeles",
        ((None, "bike_18076", "2018-09-17 07:04:00", None, None, None),),
    ),
    "divvy": Example(
        "trip_id,start_time,end_time,bikeid,tripduration,from_station_id,from_station_name,to_station_id,"
        "to_station_name,usertype,gender,birthyear\n"
        '17536702,2018-01-01 00:12:00,2018-01-01 00:17:23,3304,"1,323.0",69,Damen,159,Claremont,Subscriber,Male,1988\n',
        "Divvy or Healthy Ride",
        CHICAGO,
        (("17536702", "3304", "2018-01-01 06:12:00", "2018-01-01 06:17:23", "69", "159"),),
    ),
    "divvy_older": Example(
        "trip_id,starttime,stoptime,bikeid,tripduration,from_station_id,from_station_name,to_station_id,"
        "to_station_name,usertype,gender,birthyear\n"
        "4118,6/27/2013 12:11,6/27/2013 12:16,480,316,85,Michigan,28,Larrabee,Customer,,\n",
        "Divvy or Healthy Ride",
        CHICAGO,
        (("4118", "480", "2013-06-27 17:11:00", "2013-06-27 17:16:00", "85", "28"),),
    ),
    "divvy_details": Example(
        "01 - Rental Details Rental ID,01 - Rental Details Local Start Time,01 - Rental Details Local End Time,"
        "01 - Rental Details Bike ID,01 - Rental Details Duration In Seconds Uncapped,03 - Rental Start Station ID,"
        "03 - Rental Start Station Name,02 - Rental End Station ID,02 - Rental End Station Name,User Type,"
        "Member Gender,05 - Member Details Member Birthday Year\n"
        '22178529,2019-04-01 00:02:22,2019-04-01 00:09:48,6251,446.0,81,Daley,56,"Desplaines, N",Subscriber,Male,1975\n',
        "Divvy rental details",
        CHICAGO,
        (("22178529", "6251", "2019-04-01 05:02:22", "2019-04-01 05:09:48", "81", "56"),),
    ),
    "capital": Example(
        "Duration,Start date,End date,Start station number,Start station,End station number,End station,Bike number,"
        "Member type\n679,2019-01-01 00:04:48,2019-01-01 00:16:07,31203,14th & Rhode,31200,Mass Ave,E00141,Member\n",
        "Capital Bikeshare old",
        NEW_YORK,
        ((None, "E00141", "2019-01-01 05:04:48", "2019-01-01 05:16:07", "31203", "31200"),),
    ),
    "ford": Example(
        "duration_sec,start_time,end_time,start_station_id,start_station_name,start_station_latitude,"
        "start_station_longitude,end_station_id,end_station_name,end_station_latitude,end_station_longitude,bike_id,"
        "user_type\n52185,2019-02-28 17:32:10.1450,2019-03-01 08:01:55.9750,21.0,Mont,37.78,-122.40,13.0,Comm,37.79,"
        "-122.40,4902,Customer\n",
        "Ford GoBike",
        "America/Los_Angeles",
        ((None, "4902", "2019-03-01 01:32:10.145", "2019-03-01 16:01:55.975", "21.0", "13.0"),),
    ),
    "metro": Example(
        "trip_id,duration,start_time,end_time,start_station,start_lat,start_lon,end_station,end_lat,end_lon,bike_id,"
        "plan_duration,trip_route_category,passholder_type\n"
        "112536773,35,1/1/2019 0:07,1/1/2019 0:14,3046,34.05,-118.23,3051,34.04,-118.25,6468,30,One Way,Monthly Pass\n",
        "Metro or Indego",
        "America/Los_Angeles",
        (("112536773", "6468", "2019-01-01 08:07:00", "2019-01-01 08:14:00", "3046", "3051"),),
    ),
    "indego": Example(
        "trip_id,duration,start_time,end_time,start_station_id,start_lat,start_lon,end_station_id,end_lat,end_lon,"
        "bike_id,plan_duration,trip_route_category,passholder_type\n"
        "2383646,12,2016-07-01 00:04:00,2016-07-01 00:16:00,3063,39.94,-75.16,3068,39.93,-75.16,03580,30,One Way,I30\n",
        "Metro or Indego",
        NEW_YORK,
        (("2383646", "03580", "2016-07-01 04:04:00", "2016-07-01 04:16:00", "3063", "3068"),),
    ),
    "healthy_ride": Example(
        "TripId,StartTime,StopTime,BikeId,TripDuration,FromStationId,FromStationName,ToStationId,ToStationName,"
        "UserType\n10000001,7/1/2016 0:16,7/1/2016 0:20,70435,225,1026,Penn,1010,Ninth,Customer\n",
        "Divvy or Healthy Ride",
        NEW_YORK,
        (("10000001", "70435", "2016-07-01 04:16:00", "2016-07-01 04:20:00", "1026", "1010"),),
    ),
    "austin": Example(
        "ID,Device ID,Vehicle Type,Trip Duration,Trip Distance,Start Time,End Time,Month,Hour,Council District (Start),"
        "Census Tract Start,Census Tract End\n"
        "00001d3c,a1-b2,scooter,306,1216,01/13/2019 03:15:00 PM,01/13/2019 03:30:00 PM,1,15,9,48453001100,48453000700\n",
        "Austin dockless",
        CHICAGO,
        (("00001d3c", "a1-b2", "2019-01-13 21:15:00", "2019-01-13 21:30:00", "48453001100", "48453000700"),),
    ),
    "louisville": Example(
        "TripID,StartDate,StartTime,EndDate,EndTime,TripDuration,TripDistance,StartLatitude,StartLongitude,"
        "EndLatitude,EndLongitude,DayOfWeek,HourNum\n"
        "0000045c,2019-08-12,17:00,2019-08-12,17:15,12,1.2,38.25,-85.75,38.26,-85.74,2,17\n",
        "Louisville dockless",
        "America/Kentucky/Louisville",
        (("0000045c", None, "2019-08-12 21:00:00", "2019-08-12 21:15:00", None, None),),
    ),
    "munich": Example(
        "License,StartLatitude,StartLongitude,StartTime,DestinationLatitude,DestinationLongitude,DestinationTime\n"
        "1,48.120915,11.554322,2019-07-01 00:03:04,48.100451,11.545499,2019-07-01 00:08:04\n",
        "Munich car-sharing",
        "Europe/Berlin",
        ((None, "1", "2019-06-30 22:03:04", "2019-06-30 22:08:04", None, None),),
    ),
}
