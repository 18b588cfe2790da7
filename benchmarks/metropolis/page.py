"""The page of a run in a real browser: how long it takes to open, and whether every place is found there."""

import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_TURNS = 3
_AT_ONCE = 100  # places looked for in one call, well within the time that a script is given
_OPTIONS = ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run")
_DRAWN = "const done = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(() => done(true)));"
_FIND = """
const [wanted] = arguments, box = document.getElementById("place-search");
const choice = document.getElementById("place-choice"), missing = [];
for (const id of wanted) {
  box.value = id;
  box.dispatchEvent(new Event("input"));
  const found = [...choice.options].find((one) => window.unmet.data.places[one.value].id === id);
  if (!found) { missing.push(id); continue; }
  choice.value = found.value;
  choice.dispatchEvent(new Event("change"));
  if (!document.getElementById("place-facts").textContent.endsWith(`Id ${id}.`)) missing.push(id);
}
return missing;
"""


@dataclass(frozen=True)
class Opened:
    """Seconds until the page was loaded and drawn, slowest of a few times; places in it and those not found.

    `slow` are the seconds with a processor that is slowed down four times, about that of a phone.
    """

    seconds: float
    slow: float
    places: int
    missing: list[str]
    find: float  # seconds to find one place and draw it


def open_page(page: Path) -> Opened | None:
    """Open the page in Chromium and look for each of its places; None where there is no browser."""
    with _browser() as browser:
        if browser is None:
            return None
        seconds = max(_seconds(browser, page) for _ in range(_TURNS))
        ids = browser.execute_script("return window.unmet.data.places.map((place) => place.id)")
        missing, began = [], time.perf_counter()
        for first in range(0, len(ids), _AT_ONCE):
            missing += browser.execute_script(_FIND, ids[first : first + _AT_ONCE])
        find = (time.perf_counter() - began) / len(ids)
        browser.execute_cdp_cmd("Emulation.setCPUThrottlingRate", {"rate": 4})
        slow = max(_seconds(browser, page) for _ in range(_TURNS))
    return Opened(seconds, slow, len(ids), missing, find)


def _seconds(browser: Any, page: Path) -> float:
    browser.get("about:blank")
    began = time.perf_counter()
    browser.get(page.resolve().as_uri())
    browser.execute_async_script(_DRAWN)
    return time.perf_counter() - began


@contextmanager
def _browser() -> Iterator[Any]:
    """Give a Chromium without a window, or None."""
    program, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if program is None or driver is None:
        yield None
        return
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = program
    for option in _OPTIONS:
        options.add_argument(option)
    chrome = webdriver.Chrome(service=Service(driver), options=options)
    chrome.set_script_timeout(60)
    try:
        yield chrome
    finally:
        chrome.quit()
