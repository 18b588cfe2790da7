"""A real Chromium without a window, and helpers; tests are skipped where there is no browser."""

import json
import shutil
from collections.abc import Callable, Iterator
from typing import Any

import pytest

_ARGUMENTS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-default-apps",
    "--no-first-run",
    "--disable-features=OptimizationHints,MediaRouter,Translate",
    "--window-size=1280,900",
)


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """One Chromium for all tests, with a log of everything it asks the network for."""
    selenium = pytest.importorskip("selenium", reason="selenium is not installed")
    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    driver = shutil.which("chromedriver")
    if program is None or driver is None:
        pytest.skip("no Chromium with chromedriver here; scripts/install-browser installs it")
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    assert selenium
    options = webdriver.ChromeOptions()
    options.binary_location = program
    for argument in _ARGUMENTS:
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"performance": "ALL", "browser": "ALL"})
    chrome = webdriver.Chrome(service=Service(driver), options=options)
    chrome.set_script_timeout(10)
    chrome.set_page_load_timeout(30)
    yield chrome
    chrome.quit()


@pytest.fixture
def asked(browser: Any) -> Callable[[], list[str]]:
    """Addresses asked for since the last call; empties the log."""

    def addresses() -> list[str]:
        found = []
        for entry in browser.get_log("performance"):
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                found.append(message["params"]["request"]["url"])
        return found

    addresses()
    return addresses


@pytest.fixture
def look(browser: Any) -> Callable[..., None]:
    """Set the size of the view and the colour scheme of the system, or take both back."""

    def change(width: int | None = None, height: int = 900, scheme: str | None = None) -> None:
        if width is None:
            browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
        else:
            metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
            browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        features = [{"name": "prefers-color-scheme", "value": scheme or "light"}]
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})

    change()
    return change
