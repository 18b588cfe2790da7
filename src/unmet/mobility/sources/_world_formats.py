"""Layouts of trip files outside the United States."""

from unmet.mobility.sources._format import Format

WORLD_FORMATS: tuple[Format, ...] = (
    Format(
        "Oslo, Bergen, Trondheim",
        "trips",
        {
            "start": "startedat",
            "end": "endedat",
            "seconds": "duration",
            "start_place": "startstationid",
            "start_name": "startstationname",
            "end_place": "endstationid",
            "end_name": "endstationname",
            "start_lat": "startstationlatitude",
            "start_lng": "startstationlongitude",
            "end_lat": "endstationlatitude",
            "end_lng": "endstationlongitude",
        },
        needs=("start", "end", "seconds", "start_place"),
        header=(
            "started_at,ended_at,duration,start_station_id,start_station_name,"
            "start_station_description,start_station_latitude,start_station_longitude,end_station_id,"
            "end_station_name,end_station_description,end_station_latitude,end_station_longitude"
        ),
    ),
    Format(
        "Transport for London to 2022",
        "trips",
        {
            "ride": "rentalid",
            "vehicle": "bikeid",
            "start": "startdate",
            "end": "enddate",
            "seconds": "duration",
            "start_place": "startstationid",
            "start_name": "startstationname",
            "end_place": "endstationid",
            "end_name": "endstationname",
        },
        needs=("ride", "start", "end", "start_place"),
        day_first=True,
        header=(
            "Rental Id,Duration,Bike Id,End Date,EndStation Id,EndStation Name,Start Date,"
            "StartStation Id,StartStation Name"
        ),
    ),
    Format(
        "BIXI from 2022",
        "trips",
        {
            "start": "starttimems",
            "end": "endtimems",
            "start_name": "startstationname",
            "end_name": "endstationname",
            "start_lat": "startstationlatitude",
            "start_lng": "startstationlongitude",
            "end_lat": "endstationlatitude",
            "end_lng": "endstationlongitude",
        },
        needs=("start", "end", "start_name"),
        header=(
            "STARTSTATIONNAME,STARTSTATIONARRONDISSEMENT,STARTSTATIONLATITUDE,STARTSTATIONLONGITUDE,"
            "ENDSTATIONNAME,ENDSTATIONARRONDISSEMENT,ENDSTATIONLATITUDE,ENDSTATIONLONGITUDE,"
            "STARTTIMEMS,ENDTIMEMS"
        ),
    ),
    Format(
        "BIXI to 2020",
        "trips",
        {
            "start": "startdate",
            "end": "enddate",
            "seconds": "durationsec",
            "start_place": "startstationcode",
            "end_place": "endstationcode",
        },
        needs=("start", "end", "start_place"),
        header="start_date,start_station_code,end_date,end_station_code,duration_sec,is_member",
    ),
    Format(
        "Toronto",
        "trips",
        {
            "ride": "tripid",
            "vehicle": "bikeid",
            "start": "starttime",
            "end": "endtime",
            "seconds": "tripduration",
            "start_place": "startstationid",
            "start_name": "startstationname",
            "end_place": "endstationid",
            "end_name": "endstationname",
        },
        needs=("ride", "start", "end", "seconds", "start_place"),
        header=(
            "Trip Id,Trip  Duration,Start Station Id,Start Time,Start Station Name,End Station Id,"
            "End Time,End Station Name,Bike Id,User Type"
        ),
    ),
    Format(
        "EcoBici",
        "trips",
        {
            "vehicle": "bici",
            "start": "fecharetiro+horaretiro",
            "end": "fechaarribo+horaarribo",
            "start_place": "cicloestacionretiro",
            "end_place": "cicloestacionarribo",
        },
        needs=("start", "end", "start_place"),
        day_first=True,
        header=(
            "Genero_Usuario,Edad_Usuario,Bici,Ciclo_Estacion_Retiro,Fecha_Retiro,Hora_Retiro,"
            "Ciclo_EstacionArribo,Fecha_Arribo,Hora_Arribo"
        ),
    ),
    Format(
        "MiBici",
        "trips",
        {
            "ride": "viajeid",
            "start": "iniciodelviaje",
            "end": "findelviaje",
            "start_place": "origenid",
            "end_place": "destinoid",
        },
        needs=("start", "end", "start_place"),
        header=(
            "Viaje_Id,Usuario_Id,Genero,Año_de_nacimiento,Inicio_del_viaje,Fin_del_viaje,Origen_Id,Destino_Id"
        ),
    ),
    Format(
        "Mobi or Helsinki",
        "trips",
        {
            "vehicle": "bike",
            "start": "departure",
            "end": "return",
            "seconds": "durationsec",
            "start_place": "departurestationid|departurestation",
            "start_name": "departurestationname",
            "end_place": "returnstationid|returnstation",
            "end_name": "returnstationname",
        },
        needs=("start", "end", "start_place"),
        header=(
            "Departure,Return,Bike,Electric bike,Departure station,Return station,Membership type,"
            "Covered distance (m),Duration (sec.)"
        ),
    ),
    Format(
        "Seoul",
        "trips",
        {
            "vehicle": "자전거번호",
            "start": "대여일시",
            "end": "반납일시",
            "minutes": "이용시간|이용시간분",
            "start_place": "대여대여소번호",
            "start_name": "대여대여소명",
            "end_place": "반납대여소번호",
            "end_name": "반납대여소명",
        },
        needs=("start", "end", "start_place"),
        header=(
            "자전거번호,대여일시,대여 대여소번호,대여 대여소명,대여거치대,반납일시,"
            "반납대여소번호,반납대여소명,반납거치대,이용시간,이용거리"
        ),
    ),
)
