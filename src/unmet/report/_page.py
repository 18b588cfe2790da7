"""From the report's data to one HTML page that loads nothing and runs only its own scripts."""

from __future__ import annotations

import base64
import hashlib
from dataclasses import dataclass
from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from unmet.calendar import step_of
from unmet.report._data import ReportData
from unmet.report._script_json import script_json
from unmet.report._sections import section_values
from unmet.results import numbers, place_sentence

# One script in the page; each part adds to window.unmet what those after it use.
SCRIPTS = ("numbers.js", "tables.js", "series.js", "place.js", "map.js", "page.js")


@dataclass(frozen=True)
class Live:
    """What a service adds to the page.

    Attributes
    ----------
    panel : str
        HTML of the what-if section, trusted: escape every text of others before it comes here. It is put
        inside ``<section id="what-if">`` after the plan, and the navigation gets a link to it.
    script, style : str
        Its JavaScript, run after the page's own, and its CSS. The page's script offers ``window.unmet``:
        ``data``, ``select(n)``, ``drawSeries(host, series)``, ``makeTable(host, columns, rows)``.
    connect : str
        Sources that it may ask, in the words of a content security policy.
    """

    panel: str
    script: str = ""
    style: str = ""
    connect: str = "'self'"


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("unmet.report", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters.update(
        number=numbers.number,
        counted=numbers.counted,
        percent=numbers.percent,
        between=numbers.between,
        day=numbers.day,
        about=numbers.about,
    )
    return environment


def _source(name: str) -> str:
    loader = _environment().loader
    assert loader is not None
    return loader.get_source(_environment(), name)[0]


def render_page(data: ReportData, *, live: Live | None = None) -> str:
    """The page as text; the same data give the same text.

    Parameters
    ----------
    live : the panel of a service; without it the page cannot reach any network at all.
    """
    dark = _source("dark.css")
    style = _source("report.css") + (
        f"@media screen and (prefers-color-scheme: dark) {{ :root:not([data-theme='light']) {{ {dark} }} }}\n"
        f"@media screen {{ :root[data-theme='dark'] {{ {dark} }} }}\n"
    )
    head, script = _source("theme.js"), "".join(map(_source, SCRIPTS))
    styles, scripts = [style], [head, script]
    if live is not None:
        styles += [live.style] if live.style else []
        scripts += [live.script] if live.script else []
    for text in scripts + styles:
        if "</script" in text.lower() or "</style" in text.lower() or "<!--" in text:
            raise ValueError("scripts and styles of the page may not contain </script, </style or <!--")
    return (
        _environment()
        .get_template("page.html")
        .render(
            data=data,
            live=live,
            panel=Markup(live.panel) if live is not None else "",
            policy=_policy(scripts, styles, live.connect if live is not None else None),
            styles=[Markup(text) for text in styles],
            head_script=Markup(head),
            scripts=[Markup(text) for text in scripts[1:]],
            payload=Markup(script_json(_payload(data))),
            **section_values(data),
        )
    )


def _policy(scripts: list[str], styles: list[str], connect: str | None) -> str:
    """A content security policy: nothing is loaded, only scripts and styles with these hashes count."""
    rules = [
        "default-src 'none'",
        f"script-src {' '.join(_hash(text) for text in scripts)}",
        f"style-src {' '.join(_hash(text) for text in styles)}",
        "img-src data:",
        "connect-src " + (connect or "'none'"),
        "base-uri 'none'",
        "form-action 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types 'none'",
    ]
    return "; ".join(rules)


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _payload(data: ReportData) -> dict[str, Any]:
    """What the page's script needs: names, and the series of each place."""
    curves, words = data.curves, data.summary.words
    return {
        "hours": step_of(data.summary.by).seconds < 86_400,
        "words": {
            "noun": words.noun,
            "places": words.places,
            "block": words.block,
            "fine": f"{words.noun} {words.each_period}",
            "coarse": f"{words.noun} a {words.block}",
            "without": f"It was {words.without}" if words.own else "There was no vehicle",
        },
        "places": [
            {
                "id": place.unique_id,
                "name": place.name,
                "facts": place_sentence(place, words),
                "lost": numbers.about(place.lost) if place.lost.point else None,
                "interval": numbers.between(place.lost),
                "observed": place.observed,
                "demand": round(place.demand.mean, 2),
                "empty": round(place.empty, 4),
            }
            for place in data.places
        ],
        "worst": data.worst,
        "curves": None
        if curves is None
        else {
            "clock": curves.clock,
            "history": curves.history,
            "coarseClock": curves.coarse_clock,
            "coarseDays": curves.coarse_days,
            "fine": [
                entry if entry is None else {"step": step, **entry}
                for step, entry in zip(curves.fine_steps, curves.fine)
            ],
            "coarse": [{"step": step, **entry} for step, entry in zip(curves.coarse_steps, curves.coarse)],
        },
    }
