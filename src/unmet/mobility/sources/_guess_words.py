"""Words in headers that tell what a column holds, in the languages of operators, in lower case."""

START = (
    "start", "from", "origin", "depart", "pickup", "retiro", "salida", "inicio", "begin", "abfahrt",
    "beginn", "partenza", "debut", "saida", "출발", "대여", "시작", "借", "貸", "起", "начал", "откуда",
    "avgang",
)  # fmt: skip
END = (
    "end", "stop", "to", "dest", "return", "arriv", "dropoff", "arribo", "llegada", "fin", "ende",
    "ankunft", "rueckgabe", "rückgabe", "arrivo", "chegada", "도착", "반납", "종료", "還", "返", "止",
    "конец", "куда", "ankomst",
)  # fmt: skip
STATION = (
    "station", "estacion", "terminal", "dock", "kiosk", "stop", "place", "origen", "origin", "destin",
    "hub", "tract", "대여소", "정류소", "정거장", "站", "駅", "ポート", "стоянк", "станци", "stasjon",
    "zone", "sno",
)  # fmt: skip
NAME = (
    "name", "nombre", "nom", "navn", "이름", "소명", "역명", "명칭", "站名", "名", "назван",
    "bezeichnung", "description",
)  # fmt: skip
VEHICLE = (
    "bike", "bici", "vehicle", "velo", "fahrrad", "rad", "device", "scooter", "license", "car", "자전거",
    "차량", "기기", "車", "车", "велосипед", "sykkel",
)  # fmt: skip
RIDE = (
    "trip", "ride", "rental", "viaje", "rentalid", "journey", "fahrt", "여정", "대여번호", "이용번호",
    "운행", "поездк", "tur",
)  # fmt: skip
PERSON = (
    "user", "usuario", "member", "customer", "gender", "genero", "birth", "nacimiento", "edad", "age",
    "회원", "사용자", "성별", "생년", "type", "유형",
)  # fmt: skip
DURATION = (
    "duration", "seconds", "minutes", "elapsed", "duracion", "dauer", "duree", "이용시간", "소요",
    "시간", "초", "分", "秒", "時間", "длительн", "varighet",
)  # fmt: skip
MINUTES = (
    "min", "분", "分",
)  # fmt: skip
DISTANCE = (
    "distance", "km", "miles", "meter", "metre", "거리", "distancia", "距離", "距离", "rack", "거치대",
)  # fmt: skip
LAT = (
    "lat", "위도", "緯度", "纬度", "широт", "breite",
)  # fmt: skip
LNG = (
    "lon", "lng", "경도", "経度", "经度", "долгот", "laenge", "länge",
)  # fmt: skip
TIME = (
    "time", "date", "at", "hora", "fecha", "zeit", "일시", "시각", "時", "时", "время",
)  # fmt: skip
AVAILABLE = (
    "bikesavailable", "availablebikes", "rentbikes", "bikes", "vehicles", "available", "bicis",
    "대여가능", "잔여", "자전거", "可借", "velos", "räder", "sbi",
)  # fmt: skip
DOCKS = (
    "dock", "returnbikes", "return", "empty", "free", "slots", "spaces", "anclajes", "반납가능", "빈",
    "거치", "可還", "可还", "bemp",
)  # fmt: skip
TOTAL = (
    "total", "capacity", "capacidad", "전체", "총", "總", "총거치", "all",
)  # fmt: skip


def says(name: str, words: tuple[str, ...]) -> bool:
    """Return whether a normalised header contains one of these words; very short ones begin or end it."""
    return any(
        name.startswith(word) or name.endswith(word) if len(word) <= 2 and word.isascii() else word in name
        for word in words
    )
