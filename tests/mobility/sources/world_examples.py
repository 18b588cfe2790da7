"""Files in the layouts of other systems, made from the same few rides, and with their headers in Korean."""

# ruff: noqa: E501 - headers are as long as operators write them

import random
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from unmet.mobility.sources import format_rows

HEADERS = {row.name: row.header for row in format_rows()}
STATIONS = {
    f"{7000 + 13 * n}": (f"{name} St", round(43.6 + 0.004 * n, 6), round(-79.4 + 0.0031 * n, 6))
    for n, name in enumerate(
        ["Ash", "Birch", "Cedar", "Dogwood", "Elm", "Fir", "Gum", "Hazel", "Ivy", "Juniper", "Karri", "Larch"]
    )
}


@dataclass(frozen=True)
class Ride:
    """A ride in local time."""

    number: int
    bike: str
    start: datetime
    end: datetime
    origin: str
    destination: str

    @property
    def seconds(self) -> int:
        return int((self.end - self.start).total_seconds())

    def utc(self, zone: str) -> tuple[datetime, datetime]:
        ends = (self.start, self.end)
        both = [end.replace(tzinfo=ZoneInfo(zone)).astimezone(UTC).replace(tzinfo=None) for end in ends]
        return both[0], both[1]


def make_rides(count: int = 300, seed: int = 7) -> list[Ride]:
    """Bikes that ride from where they stand, from the tenth to the fifteenth of a month."""
    draw = random.Random(seed)
    places = list(STATIONS)
    stands = {f"B{n:04d}": places[n % len(places)] for n in range(24)}
    free = dict.fromkeys(stands, datetime(2022, 1, 10, 5))
    rides = []
    now = datetime(2022, 1, 10, 5)
    for number in range(count):
        now += timedelta(minutes=draw.randrange(5, 40))
        bike = draw.choice([name for name, since in free.items() if since <= now])
        end = now + timedelta(minutes=draw.randrange(4, 45), seconds=0)
        target = draw.choice([place for place in places if place != stands[bike]])
        rides.append(Ride(number, bike, now, end, stands[bike], target))
        stands[bike], free[bike] = target, end
    return rides


def _iso(when: datetime) -> str:
    return f"{when:%Y-%m-%d %H:%M:%S}"


def _uk(when: datetime) -> str:
    return f"{when:%d/%m/%Y %H:%M}"


def _both(ride: Ride) -> list[tuple[str, float, float]]:
    return [STATIONS[ride.origin], STATIONS[ride.destination]]


def _oslo(ride: Ride, zone: str) -> list[object]:
    (a, a_lat, a_lng), (b, b_lat, b_lng) = _both(ride)
    start, end = (f"{when:%Y-%m-%d %H:%M:%S}.345000+00:00" for when in ride.utc(zone))
    return [start, end, ride.seconds, ride.origin, a, "by the park", a_lat, a_lng, ride.destination, b, "", b_lat, b_lng]  # fmt: skip


def _tfl(ride: Ride, zone: str) -> list[object]:
    (a, *_), (b, *_) = _both(ride)
    ends = [_uk(ride.end), ride.destination, b, _uk(ride.start), ride.origin, a]
    return [40_000_000 + ride.number, ride.seconds, ride.bike, *ends]


def _bixi(ride: Ride, zone: str) -> list[object]:
    (a, a_lat, a_lng), (b, b_lat, b_lng) = _both(ride)
    stamps = [int(when.replace(tzinfo=UTC).timestamp() * 1000) for when in ride.utc(zone)]
    return [a, "Plateau", a_lat, a_lng, b, "Rosemont", b_lat, b_lng, *stamps]


def _bixi_old(ride: Ride, zone: str) -> list[object]:
    return [_iso(ride.start), ride.origin, _iso(ride.end), ride.destination, ride.seconds, ride.number % 2]


def _toronto(ride: Ride, zone: str) -> list[object]:
    (a, *_), (b, *_) = _both(ride)
    times = [f"{when:%m/%d/%Y %H:%M}" for when in (ride.start, ride.end)]
    return [9_000_000 + ride.number, ride.seconds, ride.origin, times[0], a, ride.destination, times[1], b,
            ride.bike, "Annual Member"]  # fmt: skip


def _ecobici(ride: Ride, zone: str) -> list[object]:
    halves = [[f"{when:%d/%m/%Y}", f"{when:%H:%M:%S}"] for when in (ride.start, ride.end)]
    return ["MF"[ride.number % 2], 20 + ride.number % 40, ride.bike, ride.origin, *halves[0], ride.destination, *halves[1]]  # fmt: skip


def _mibici(ride: Ride, zone: str) -> list[object]:
    who = [100 + ride.number % 50, "M", 1980 + ride.number % 20]
    return [8_000_000 + ride.number, *who, _iso(ride.start), _iso(ride.end), ride.origin, ride.destination]


def _mobi(ride: Ride, zone: str) -> list[object]:
    hours = [f"{when:%Y-%m-%d %H}:00" for when in (ride.start, ride.end)]
    stations = [f"{place} {STATIONS[place][0]}" for place in (ride.origin, ride.destination)]
    return [*hours, ride.bike, "FALSE", *stations, "365 Standard", 1500 + ride.number % 700, ride.seconds]


def _seoul(ride: Ride, zone: str) -> list[object]:
    (a, *_), (b, *_) = _both(ride)
    return [ride.bike, _iso(ride.start), ride.origin, a, ride.number % 9, _iso(ride.end), ride.destination, b,
            ride.number % 7, ride.seconds // 60, 1500 + ride.number % 700]  # fmt: skip


# Layout → zone, cells of a ride, and its header in Korean, which no layout knows.
LAYOUTS = {
    "Oslo, Bergen, Trondheim": ("Europe/Oslo", _oslo,
        "출발시각,도착시각,걸린시간,출발대여소번호,출발대여소이름,출발설명,출발위도,출발경도,"
        "도착대여소번호,도착대여소이름,도착설명,도착위도,도착경도"),
    "Transport for London to 2022": ("Europe/London", _tfl,
        "이용번호,이용시간(초),자전거,반납시각,반납대여소번호,반납대여소이름,대여시각,대여소번호(대여),대여소이름(대여)"),
    "BIXI from 2022": ("America/Toronto", _bixi,
        "출발역이름,출발구역,출발위도,출발경도,도착역이름,도착구역,도착위도,도착경도,출발시각,도착시각"),
    "BIXI to 2020": ("America/Toronto", _bixi_old,
        "출발일시,출발대여소,도착일시,도착대여소,소요시간,회원여부"),
    "Toronto": ("America/Toronto", _toronto,
        "이용번호,이용시간 (초),출발대여소 번호,출발시각,출발대여소 이름,도착대여소 번호,도착시각,도착대여소 이름,자전거,회원유형"),
    "EcoBici": ("America/Mexico_City", _ecobici,
        "성별,나이(회원),자전거,대여한대여소,대여한날짜,대여한시각,반납한대여소,반납한날짜,반납한시각"),
    "MiBici": ("America/Mexico_City", _mibici,
        "이용번호,사용자,성별,생년,시작일시,종료일시,출발대여소,도착대여소"),
    "Mobi or Helsinki": ("America/Vancouver", _mobi,
        "출발시각,도착시각,자전거,전기자전거,출발대여소,도착대여소,회원유형,이동거리(m),이용시간(초)"),
    "Seoul": ("Asia/Seoul", _seoul,
        "자전거,빌린 때,빌린 대여소(대여),빌린 대여소 이름(대여),빌린 거치대,돌려준 때(반납),돌려준 대여소(반납),"
        "돌려준 대여소 이름(반납),돌려준 거치대,이용한 시간(분),이용한 거리"),
}  # fmt: skip
STATUS_KOREAN = "대여소,전체거치대,대여가능대수,반납가능대수,기준시각"


def written(name: str, header: str | None = None, rides: list[Ride] | None = None) -> str:
    """A file in one of the layouts, with its own header or another one."""
    zone, cells, _ = LAYOUTS[name]
    rows = [",".join(map(str, cells(ride, zone))) for ride in rides or make_rides()]
    return "\n".join([header or HEADERS[name], *rows]) + "\n"


def youbike(header: str | None = None, zone: str = "America/Toronto") -> str:
    """Status of all stations after every ride of :func:`make_rides`, in local time; docks add up to twelve."""
    stock = dict.fromkeys(STATIONS, 6)
    events = [(ride.start, ride.origin, -1) for ride in make_rides()]
    events += [(ride.end, ride.destination, 1) for ride in make_rides()]
    first = datetime(2022, 1, 10, 4)
    rows = [f"{place},12,6,6,{_iso(first)}" for place in STATIONS]
    for when, place, change in sorted(events):
        stock[place] = min(12, max(0, stock[place] + change))
        rows.append(f"{place},12,{stock[place]},{12 - stock[place]},{_iso(when)}")
    return "\n".join([header or HEADERS["YouBike status"], *rows]) + "\n"
