"""The report in a real browser: what it says, how it reacts, and that nothing else happens."""

import base64
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pages import many, one, press, wait

from sample_run import LINK_NAME, SCRIPT_NAME, write_sample_run
from unmet.report import write_report


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_report(write_sample_run(tmp_path_factory.mktemp("run"), places=16, days=8))


@pytest.fixture
def page(browser: Any, report: Path, look: Callable[..., None]) -> Any:
    browser.get(report.as_uri())
    return browser


def column(page: Any, table: str, number: int) -> list[str]:
    return page.execute_script(
        "return [...document.querySelectorAll(arguments[0] + ' tbody tr')]"
        ".map(r => r.cells[arguments[1]].textContent)",
        table,
        number,
    )


def background(page: Any) -> list[int]:
    colour = page.execute_script("return getComputedStyle(document.body).backgroundColor")
    return [int(part) for part in re.findall(r"\d+", colour)[:3]]


def test_the_first_screen_says_it_in_a_sentence(page: Any) -> None:
    headline = one(page, "h1")
    said = r"About N people wanted a ride \(90% N–N\): N got one, about N gave up\.".replace("N", r"[\d,]+")
    assert re.fullmatch(said, headline.text.replace("\n", " "))
    assert headline.rect["y"] + headline.rect["height"] < 500
    assert one(page, "#summary svg.wide").is_displayed()
    assert not one(page, "#summary svg.narrow").is_displayed()


def test_the_page_runs_without_errors_and_asks_nobody(page: Any, report: Path, asked: Any) -> None:
    page.get_log("browser")
    page.get(report.as_uri())
    one(page, "#theme").click()
    page.execute_script("localStorage.clear()")
    assert page.get_log("browser") == []
    assert [url for url in asked() if url != report.as_uri() and not url.startswith("data:")] == []


def test_the_policy_refuses_requests_and_strange_scripts(page: Any, asked: Any) -> None:
    asked()
    answer = page.execute_async_script(
        "const done = arguments[0];"
        "fetch('http://127.0.0.1:9/').then(() => done('answered'), () => done('refused'));"
    )
    assert answer == "refused"
    assert asked() == []
    ran = page.execute_script(
        "const s = document.createElement('script');"
        "try { s.textContent = 'window.strange = 1'; document.body.append(s); } catch (e) {}"
        "return window.strange === undefined;"
    )
    assert ran


def test_the_map_shows_every_place_and_opens_it(page: Any) -> None:
    circles = many(page, "#where svg.map circle.place")
    assert len(circles) == 16
    assert re.search(r"\d (km|m)$", one(page, ".scale-text").text)
    smallest = circles[-1]
    page.execute_script("arguments[0].dispatchEvent(new MouseEvent('click', {bubbles: true}))", smallest)
    number = smallest.get_attribute("data-place")
    assert one(page, "#place-choice").get_attribute("value") == number
    assert "chosen" in smallest.get_attribute("class").split()


def test_the_map_is_read_and_opened_by_keys(page: Any) -> None:
    def focused() -> Any:
        return page.switch_to.active_element

    assert one(page, "#where svg.map").get_attribute("role") == "group"
    stops = many(page, "#where circle.place[tabindex='0']")
    assert len(stops) == 1
    page.execute_script("arguments[0].focus()", stops[0])
    assert re.search(r": [\d,.]+ lost \(90%", focused().get_attribute("aria-label"))
    seen = {stops[0].get_attribute("data-place")}
    for key, axis, sign in (
        ("\ue014", "cx", 1),
        ("\ue015", "cy", 1),
        ("\ue012", "cx", -1),
        ("\ue013", "cy", -1),
    ):
        for _ in range(5):  # arrows right, down, left, up: each goes that way, or stays at the edge
            before = focused()
            before.send_keys(key)
            moved = sign * (float(focused().get_attribute(axis)) - float(before.get_attribute(axis)))
            assert moved > 0 or focused() == before
            seen.add(focused().get_attribute("data-place"))
    assert len(seen) > 5
    assert len(many(page, "#where circle.place[tabindex='0']")) == 1
    number = focused().get_attribute("data-place")
    focused().send_keys("\ue007")  # Enter
    assert one(page, "#place-choice").get_attribute("value") == number
    assert focused().get_attribute("id") == "place-name"


def test_the_worst_ten_are_ordered_and_lead_to_a_place(page: Any) -> None:
    lost = [float(text.replace(",", "")) for text in column(page, "#table-worst", 1)]
    assert len(lost) == 10
    assert lost == sorted(lost, reverse=True)
    second = many(page, "#table-worst tbody button")[1]
    name = second.text
    press(page, second)
    assert one(page, "#place-name").text == name
    assert page.switch_to.active_element.get_attribute("id") == "place-name"


def test_tables_sort_by_click_and_by_key(page: Any) -> None:
    def numbers(n: int) -> list[float]:
        found = page.execute_script(
            "return [...document.querySelectorAll('#table-plan tbody tr')]"
            ".map(r => r.cells[arguments[0]].dataset.v).filter(v => v !== undefined)",
            n,
        )
        return [float(value) for value in found]

    heads = many(page, "#table-plan thead th")
    assert heads[7].get_attribute("aria-sort") == "descending"
    button = heads[3].find_element("css selector", "button")
    press(page, button)
    assert numbers(3) == sorted(numbers(3), reverse=True)
    assert heads[3].get_attribute("aria-sort") == "descending"
    assert heads[7].get_attribute("aria-sort") is None
    button.send_keys("\ue007")  # Enter
    assert numbers(3) == sorted(numbers(3))
    assert heads[3].get_attribute("aria-sort") == "ascending"
    press(page, heads[0].find_element("css selector", "button"))
    names = column(page, "#table-plan", 0)
    assert heads[0].get_attribute("aria-sort") == "ascending"
    ordered = page.execute_script(
        "return [...arguments[0]].sort(new Intl.Collator('en', {numeric: true}).compare)", names
    )
    assert names == ordered


def test_a_place_is_found_by_search_and_its_curves_change(page: Any) -> None:
    before = one(page, "#fine-chart").get_attribute("innerHTML")
    search = one(page, "#place-search")
    search.send_keys("p07")
    options = many(page, "#place-choice option")
    assert len(options) == 1
    assert one(page, "#place-found").text == "1 of 16 places match"
    assert "Id P07." in one(page, "#place-facts").text
    assert one(page, "#fine-chart").get_attribute("innerHTML") != before
    for kind in ("fine", "coarse"):
        for part in ("path.band-90", "path.demand-line", "path.dots"):
            assert many(page, f"#{kind}-chart {part}"), (kind, part)
    press(page, one(page, "#fine-details summary"))
    wait(page, lambda: many(page, "#fine-table tbody tr"))  # the table is made when the page hears of it
    rows = page.execute_script("return document.querySelectorAll('#fine-table tbody tr').length")
    assert rows == 7 * 24 + 72


def test_bounds_are_carets_and_the_unidentified_is_hatched(page: Any) -> None:
    number = page.execute_script("return unmet.data.places.findIndex(place => place.high === null)")
    page.execute_script("unmet.select(arguments[0])", number)
    assert many(page, "#fine-chart path.carets")
    assert many(page, "#fine-chart path.unidentified")
    assert many(page, "#coarse-chart path.unidentified")
    assert "or more" in one(page, "#place-facts").text
    known = page.execute_script("return unmet.data.places.findIndex(place => place.high !== null)")
    page.execute_script("unmet.select(arguments[0])", known)
    assert not many(page, "#fine-chart path.unidentified")


def test_arrow_keys_read_a_chart(page: Any) -> None:
    chart = one(page, "#coarse-chart svg")
    chart.send_keys("\ue014")  # arrow right
    first = one(page, "#coarse-read").text
    assert re.match(r"Mon 1 Apr: (observed|at least) ", first)
    chart.send_keys("\ue014")
    assert one(page, "#coarse-read").text.startswith("Tue 2 Apr: ")


def test_dark_and_light(page: Any, look: Callable[..., None], report: Path) -> None:
    assert min(background(page)) > 240
    look(scheme="dark")
    assert max(background(page)) < 50
    button = one(page, "#theme")
    button.click()
    assert button.text == "Theme: light"
    assert min(background(page)) > 240
    button.click()
    look(scheme="light")
    assert button.text == "Theme: dark"
    assert max(background(page)) < 50
    page.get(report.as_uri())
    assert max(background(page)) < 50  # remembered
    one(page, "#theme").click()
    assert one(page, "#theme").text == "Theme: system"
    assert min(background(page)) > 240


@pytest.mark.parametrize("width", [360, 768, 1280])
def test_nothing_scrolls_sideways(page: Any, look: Callable[..., None], report: Path, width: int) -> None:
    look(width, 740)
    page.get(report.as_uri())
    page.execute_script("document.querySelectorAll('details').forEach(one => { one.open = true; })")
    root = "document.documentElement"
    wide, seen = page.execute_script(f"return [{root}.scrollWidth, {root}.clientWidth]")
    assert wide == seen <= page.execute_script("return innerWidth") == width
    assert one(page, "#summary svg.narrow").is_displayed() == (width < 640)
    assert one(page, "#summary svg.wide").is_displayed() == (width >= 640)


def test_hostile_names_are_shown_as_text(page: Any) -> None:
    names = column(page, "#table-worst", 0)
    assert SCRIPT_NAME in names
    assert LINK_NAME in names
    for name in (SCRIPT_NAME, LINK_NAME):
        number = page.execute_script(
            "return unmet.data.places.findIndex(place => place.name === arguments[0])", name
        )
        page.execute_script("unmet.select(arguments[0])", number)
        assert one(page, "#place-name").text == name
    assert not many(page, "a[href^='javascript']")
    scripts = page.execute_script("return document.scripts.length")
    assert scripts == 3  # theme, data, the page's own
    assert page.execute_script("return document.querySelectorAll('main b, main script').length") == 0


def test_landmarks_headings_and_labels(page: Any) -> None:
    assert len(many(page, "main")) == len(many(page, "h1")) == len(many(page, "nav[aria-label]")) == 1
    unlabelled = page.execute_script(
        "return [...document.querySelectorAll('input, select')].filter(one => !one.labels.length).length"
        " + [...document.querySelectorAll('table')].filter(one => !one.caption).length"
        " + [...document.querySelectorAll('svg:not([aria-hidden])')]"
        ".filter(one => !one.getAttribute('aria-label')).length"
    )
    assert unlabelled == 0
    page.execute_script("document.activeElement.blur(); scrollTo(0, 0)")
    one(page, "body").send_keys("\ue004")  # Tab
    assert page.switch_to.active_element.text == "Skip to the content"
    width = page.execute_script("return getComputedStyle(document.activeElement).outlineWidth")
    assert float(width.removesuffix("px")) >= 2


def test_it_prints(page: Any) -> None:
    sheet = page.print_page()
    assert len(sheet) > 20_000


def whole_page(page: Any) -> bytes:
    """A picture of everything, from the top to the end."""
    size = page.execute_cdp_cmd("Page.getLayoutMetrics", {})["cssContentSize"]
    clip = {"x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1}
    taken = page.execute_cdp_cmd("Page.captureScreenshot", {"captureBeyondViewport": True, "clip": clip})
    return base64.b64decode(taken["data"])


@pytest.fixture(scope="module")
def demo_report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of `unmet demo`: made here, or given as UNMET_DEMO, the folder of a finished demo."""
    from unmet.cli import main

    if given := os.environ.get("UNMET_DEMO"):
        return Path(given).resolve() / "report.html"
    folder = tmp_path_factory.mktemp("demo")
    with pytest.raises(SystemExit) as end:
        main(["demo", "-o", str(folder), "--quiet"])
    assert not end.value.code
    return folder / "report.html"


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (1280, "dark"), (360, "light")])
def test_the_report_of_the_demo(
    browser: Any,
    look: Callable[..., None],
    demo_report: Path,
    asked: Any,
    tmp_path: Path,
    width: int,
    scheme: str,
) -> None:
    assert demo_report.stat().st_size < 5e6
    browser.get(demo_report.as_uri())  # a view keeps its size only within one site
    look(width, 800, scheme)
    browser.get_log("browser")
    browser.get(demo_report.as_uri())
    assert one(browser, "h1").text.startswith("About ")
    assert len(many(browser, "#where svg.map circle.place")) == 60
    assert len(column(browser, "#table-worst", 0)) == 10
    assert (max(background(browser)) < 50) == (scheme == "dark")
    root = "document.documentElement"
    wide, seen = browser.execute_script(f"return [{root}.scrollWidth, {root}.clientWidth]")
    assert wide == seen <= width
    words = one(browser, "main").text
    for said in ("truth", "gap", "lost"):  # the three plays and what only a simulation knows
        assert said in words.lower()
    heads = many(browser, "#table-plan thead th button")
    press(browser, heads[3])
    many(browser, "#table-worst tbody button")[0].send_keys("\ue007")
    assert many(browser, "#fine-chart path.band-90")
    picture = Path(os.environ.get("UNMET_PICTURES", tmp_path)) / f"demo-{width}-{scheme}.png"
    picture.write_bytes(whole_page(browser))
    assert picture.stat().st_size > 50_000
    assert browser.get_log("browser") == []
    assert [url for url in asked() if url != demo_report.as_uri() and not url.startswith("data:")] == []
