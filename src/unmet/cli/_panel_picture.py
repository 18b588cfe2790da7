"""The picture of `unmet panel --describe`: a few days of one place."""

from __future__ import annotations

import io
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import duckdb

_LOCAL = "timezone($zone, {}::TIMESTAMPTZ)"


def draw(
    con: duckdb.DuckDBPyConnection, place: str, zone: str, by: str, since: str | None, days: int
) -> bytes:
    """Draw stock, availability and pickups of one place as PNG; the same data give the same bytes.

    Without `since`, draw the days in which the place ran out most often.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    from unmet.plotting import plot_availability

    rows = con.execute(
        f"SELECT {_LOCAL.format('ds')}, y, censored FROM panel WHERE unique_id = $place ORDER BY ds",
        {"zone": zone, "place": place},
    ).fetchall()
    first = _first_day([(row[0].date(), row[2]) for row in rows], since, days)
    begin = datetime.combine(first, datetime.min.time())
    end = begin + timedelta(days=days)
    shown = [row for row in rows if begin <= row[0] < end]
    if not shown:
        raise ValueError(
            f"--since {first} has no data; choose a day from {rows[0][0].date()} to {rows[-1][0].date()}"
        )
    segments = con.execute(
        f"""SELECT greatest(a, $begin), least(b, $end), state, available FROM (
                SELECT {_LOCAL.format("from_")} AS a, {_LOCAL.format("until_")} AS b, state, available
                FROM timeline WHERE place = $place)
            WHERE b > $begin AND a < $end ORDER BY a""",
        {"zone": zone, "place": place, "begin": begin, "end": end},
    ).fetchall()
    named = con.execute("SELECT name FROM stations WHERE place = ?", [place]).fetchone()
    title = f"{named[0]} ({place})" if named and named[0] else place
    figure = Figure(figsize=(10, 4.6), dpi=120, layout="constrained")
    FigureCanvasAgg(figure)
    plot_availability(
        figure.add_subplot(),
        segments=segments,
        starts=[row[0] for row in shown],
        pickups=[row[1] for row in shown],
        censored=[row[2] for row in shown],
        every=by,
        title=f"{title}: {first:%d %B %Y}, {days} {'day' if days == 1 else 'days'}, {zone}",
    )
    held = io.BytesIO()
    figure.savefig(held, format="png", metadata={"Software": None})
    return held.getvalue()


def _first_day(rows: list[tuple[date, bool]], since: str | None, days: int) -> date:
    if since is not None:
        try:
            return date.fromisoformat(since)
        except ValueError:
            raise ValueError(f"--since takes a date such as 2021-01-31, got {since!r}") from None
    ran_out: dict[date, int] = {}
    for day, censored in rows:
        ran_out[day] = ran_out.get(day, 0) + censored
    known = sorted(ran_out)
    totals = {
        day: sum(ran_out.get(day + timedelta(days=n), 0) for n in range(days))
        for day in known
        if day + timedelta(days=days - 1) <= known[-1]
    }
    if not totals:
        return known[0]
    return max(totals, key=lambda day: (totals[day], -day.toordinal()))
