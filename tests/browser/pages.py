"""What every test of a page does: find, wait, press."""

from collections.abc import Callable
from typing import Any


def one(page: Any, css: str) -> Any:
    return page.find_element("css selector", css)


def many(page: Any, css: str) -> list[Any]:
    return page.find_elements("css selector", css)


def wait(page: Any, true: Callable[[], Any]) -> Any:
    """Ask again until it is true: a page answers some events after the press has returned."""
    from selenium.webdriver.support.ui import WebDriverWait

    return WebDriverWait(page, 120).until(lambda _: true())


def press(page: Any, element: Any) -> None:
    """Click where a person would: scrolled into the middle, at rest."""
    page.execute_script("arguments[0].scrollIntoView({block: 'center', behavior: 'instant'})", element)
    element.click()
