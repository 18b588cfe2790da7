"""The live page in a real browser: the what-if panel answers, and no other host is asked."""

import re
from collections.abc import Callable, Iterator
from threading import Thread
from typing import Any

import pytest
from pages import one, wait

from sample_run import LINK_NAME, SCRIPT_NAME, write_sample_run

PICTURES: Any = None  # set a folder (a Path) to keep pictures of what the tests see


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A service on a free port, in a thread of its own."""
    from unmet.serve._server import prepare

    ready = prepare(write_sample_run(tmp_path_factory.mktemp("run"), places=24, days=14), port=0)
    thread = Thread(target=ready.run)
    thread.start()
    yield ready.address
    ready.server.should_exit = True
    thread.join(10)


def keep(page: Any, name: str) -> None:
    if PICTURES is not None:
        one(page, "#what-if").screenshot(str(PICTURES / f"{name}.png"))


@pytest.fixture
def page(browser: Any, address: str, look: Callable[..., None]) -> Any:
    browser.get(address)
    wait(browser, lambda: one(browser, "#wi-panel").get_attribute("data-fleet"))
    return browser


def enter(page: Any, css: str, value: Any) -> None:
    """Type a value over the old one and wait until the panel has answered."""
    before = int(page.execute_script("return Number(document.querySelector('#wi-panel').dataset.answers)"))
    page.execute_script(
        "const input = document.querySelector(arguments[0]); input.value = arguments[1];"
        "input.dispatchEvent(new Event('input', {bubbles: true}))",
        css,
        str(value),
    )
    script = "return Number(document.querySelector('#wi-panel').dataset.answers)"
    wait(page, lambda: page.execute_script(script) > before)


def lost(page: Any) -> float:
    found = re.search(r"about ([\d,.]+) rides? lost", one(page, "#wi-answer").text)
    assert found is not None
    return float(found[1].replace(",", ""))


def test_the_panel_stands_in_the_report(page: Any) -> None:
    assert re.match(r"About [\d,]+ people wanted a ride", one(page, "h1").text)
    assert one(page, "nav a[href='#what-if']").text == "What if"
    for label in ("fleet", "lost", "idle", "place", "day"):
        assert one(page, f"label[for=wi-{label}]").text
    assert len(page.find_elements("css selector", "#wi-places tbody tr")) == 10
    assert one(page, "#wi-chart svg").get_attribute("aria-label").startswith("Forecast for ")


def test_answers_follow_the_fleet(page: Any) -> None:
    enter(page, "#wi-fleet", 20)
    few = lost(page)
    enter(page, "#wi-fleet", 60)
    more = lost(page)
    enter(page, "#wi-fleet", 0)
    none = lost(page)
    assert more < few < none
    assert one(page, "#wi-answer").text.startswith("0 vehicles")
    keep(page, "no-fleet")


def test_answers_follow_the_costs(page: Any) -> None:
    enter(page, "#wi-fleet", 150)
    enter(page, "#wi-idle", 0)
    cheap = lost(page)
    enter(page, "#wi-idle", 5)
    assert lost(page) > cheap
    assert re.search(r"Keep [\d,]+ vehicles back", one(page, "#wi-note").text)
    keep(page, "costs")


def test_answers_follow_the_place(page: Any) -> None:
    names = page.execute_script(
        "return [...document.querySelector('#wi-place').options].map(o => o.textContent)"
    )
    assert {SCRIPT_NAME, LINK_NAME} <= set(names)
    values = page.execute_script("return [...document.querySelector('#wi-place').options].map(o => o.value)")
    for name in (SCRIPT_NAME, LINK_NAME):
        enter(page, "#wi-place", values[names.index(name)])
        assert one(page, "#wi-place-answer").text.startswith(f"{name}: ")
        assert name in one(page, "#wi-chart svg").get_attribute("aria-label")
    assert page.execute_script("return document.querySelectorAll('#wi-panel script').length") == 0


def test_what_is_not_identified_is_hatched(page: Any, address: str) -> None:
    script = """
      const places = (await (await fetch('/api/places')).json()).places;
      for (const place of places) {
        const path = '/api/forecast?place=' + encodeURIComponent(place.unique_id);
        const found = await (await fetch(path)).json();
        if (found.identified.includes(false)) return place.unique_id;
      }"""
    place = page.execute_script(f"return (async () => {{{script}}})()")
    enter(page, "#wi-place", place)
    assert page.find_elements("css selector", "#wi-chart rect[fill='url(#wi-hatch)']")
    table = page.execute_script("return document.querySelector('#wi-forecast').textContent")
    assert "not identified" in table
    keep(page, "not-identified")


@pytest.mark.parametrize(
    ("css", "value", "told"),
    [("#wi-fleet", "-5", "whole number"), ("#wi-day", "1999-01-01", "choose one from 20")],
)
def test_a_wrong_value_is_told_and_no_old_answer_stays(page: Any, css: str, value: str, told: str) -> None:
    assert one(page, "#wi-results").is_displayed()
    page.execute_script(
        "const input = document.querySelector(arguments[0]); input.value = arguments[1];"
        "input.dispatchEvent(new Event('input', {bubbles: true}))",
        css,
        value,
    )
    wait(page, lambda: told in one(page, "#wi-answer").text)
    assert not one(page, "#wi-results").is_displayed()


def test_one_vehicle_is_one_vehicle(page: Any) -> None:
    enter(page, "#wi-fleet", 1)
    assert one(page, "#wi-answer").text.startswith("1 vehicle, ")


def test_quantiles_are_shown_as_counts(page: Any) -> None:
    cells = page.execute_script(
        "const rows = document.querySelectorAll('#wi-forecast tbody tr');"
        "return [...rows].map(row => [...row.cells].map(cell => cell.textContent))"
    )
    shown = {cell for row in cells for cell in row[2:]} - {"not identified"}
    assert len(cells) >= 24
    assert all(cell.isdigit() for cell in shown)


def test_nothing_is_asked_of_anybody_else(page: Any, address: str, asked: Any) -> None:
    page.get_log("browser")
    page.get(address)
    wait(page, lambda: one(page, "#wi-panel").get_attribute("data-fleet"))
    enter(page, "#wi-fleet", 33)
    page.get(address + "docs")
    wait(page, lambda: len(page.find_elements("css selector", ".op")) == 5)
    found = asked()
    assert any("/api/plan" in url for url in found)
    assert [url for url in found if not url.startswith((address, "data:"))] == []
    assert [entry["message"] for entry in page.get_log("browser")] == []


def test_the_page_of_the_api_works(browser: Any, address: str, look: Callable[..., None]) -> None:
    browser.get(address + "docs")
    wait(browser, lambda: len(browser.find_elements("css selector", ".op")) == 5)
    field = one(browser, "#plan-fleet")
    field.send_keys("7")
    field.submit()
    result = one(browser, "#plan-fleet").find_element("xpath", "ancestor::section//pre")
    wait(browser, lambda: result.text.startswith("200"))
    assert '"fleet": 7' in result.text


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_a_phone(browser: Any, address: str, look: Callable[..., None], scheme: str) -> None:
    look(width=360, height=800, scheme=scheme)
    for path in ("", "docs"):
        browser.get(address + path)
        css = "#wi-chart svg" if not path else ".op"
        wait(browser, lambda css=css: browser.find_elements("css selector", css))
        assert browser.execute_script("return document.documentElement.scrollWidth") <= 360
        if not path:
            keep(browser, f"phone-{scheme}")
    look()
