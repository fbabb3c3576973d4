# SPDX-License-Identifier: Apache-2.0
"""The pages of runs in a real browser, without a network: Chromium in a throw-away machine."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from axe import axe_or_skip, violations
from chromium import Browser, Chromium, chromium
from command import Machine
from debian import Debian
from run_pages import attacked, attacked_index, fleet_of, index_of, large

LAYER = "browser"
INIT = "none"
TREE = """
{tmp}/conf:
  file.managed:
    - contents: |
        first line
        second line, {{ grains['id'] }}
a very long name of a state without any space in it {{ 'x' * 200 }}:
  test.succeed_with_changes:
    - onchanges:
      - file: {tmp}/conf
broken:
  test.fail_without_changes:
    - require:
      - file: {tmp}/conf
calm:
  test.nop: []
"""
ADDRESS = "file:///root/{}.html"
SHOWN = "[...document.querySelectorAll('.states > li')].filter(li => li.checkVisibility()).length"
# the least contrast of the text that is shown, as WCAG computes it
CONTRAST = """(() => {
  const numbers = (colour) => colour.match(/[0-9.]+/g).map(Number);
  const light = (colour) => numbers(colour).slice(0, 3).map((part) => part / 255)
    .map((part) => part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)
    .reduce((sum, part, index) => sum + part * [0.2126, 0.7152, 0.0722][index], 0);
  const ground = (element) => {
    while (element && numbers(getComputedStyle(element).backgroundColor)[3] === 0)
      element = element.parentElement;
    return getComputedStyle(element || document.body).backgroundColor;
  };
  let least = 99;
  for (const element of document.querySelectorAll("body *:not(svg, svg *, script)")) {
    if (!element.checkVisibility() || ![...element.childNodes].some((node) => node.nodeType === 3
      && node.data.trim())) continue;
    const both = [light(getComputedStyle(element).color), light(ground(element))].sort();
    least = Math.min(least, (both[1] + 0.05) / (both[0] + 0.05));
  }
  return least;
})()"""
# what a screen reader or a keyboard could make nothing of
NAMELESS = """[...document.querySelectorAll(
    "input, button, a, section, [role=region], svg:not([aria-hidden])")]
  .filter((element) => !(element.textContent.trim() || element.labels?.length || element.ariaLabel))
  .map((element) => element.outerHTML)"""


@pytest.fixture(scope="module")
def process(workshop: Debian) -> Iterator[Chromium]:
    """The one browser of this file, in a machine that has its pages."""
    workshop.write("/root/attacked.html", attacked())
    workshop.write("/root/large.html", large(5000))
    workshop.write("/root/attacked_index.html", attacked_index())
    workshop.write("/root/large_index.html", index_of(5000))
    workshop.write("/root/runs.html", index_of(100))
    workshop.write("/root/fleet.html", fleet_of(100))
    with chromium(workshop) as process:
        yield process


@pytest.fixture
def page(browser: Browser, workshop: Debian, machine: Machine) -> Browser:
    """The browser with the page of a run in which a file was changed and a state failed."""
    (machine.folder / "conf").write_text("first line\nold line\n")
    machine.write(a=TREE)
    machine("sls", "a", code=2)
    shown = machine("history", "show", "last", "--out", "html").stdout
    workshop.write("/root/run.html", shown)
    browser.open(ADDRESS.format("run"))
    return browser


def fits(browser: Browser) -> bool:
    """Return whether nothing but what scrolls by itself is wider than the window."""
    return bool(browser.value("document.documentElement.scrollWidth <= innerWidth"))


def test_a_page_is_read_with_and_without_scripts(page: Browser) -> None:
    assert page.value(SHOWN) == 3, "what is in order is not shown"
    assert "3 of 4" in page.value("document.getElementById('shown').textContent")
    deleted, inserted = (
        "getComputedStyle(document.querySelector('del'))",
        "document.querySelector('ins')",
    )
    assert page.value(f"{deleted}.backgroundColor != getComputedStyle({inserted}).backgroundColor")
    assert "+second line, m1" in page.value(
        "[...document.querySelectorAll('ins')].at(-1).textContent"
    )
    for expression in ("second line, m1", "SECOND m1", "nothing has this"):
        page.value(f"words.value = '{expression}'; words.dispatchEvent(new Event('input'))")
        assert page.value(SHOWN) == (0 if "nothing" in expression else 1), expression
    page.value("location.hash = 's4'")  # a state that is not chosen and has none of the words
    page.value("new Promise((done) => setTimeout(done, 50))")
    assert page.value("document.querySelector('#s4 details').open")
    assert page.value(SHOWN) == 4
    page.value("all.click()")
    assert page.value("document.querySelectorAll('details[open]').length") == 4
    page.scripts(False)
    try:
        page.open(ADDRESS.format("run"))
        assert page.value(SHOWN) == 3
        assert page.value("document.getElementById('words').checkVisibility()") is False
        page.value("document.getElementById('show-failed').click()")
        assert page.value(SHOWN) == 2, "the style sheet alone chooses by outcome"
        assert page.value("document.querySelector('.changed details').open")
    finally:
        page.scripts(True)
    assert page.problems == []
    assert set(page.requests) == {ADDRESS.format("run")}, "nothing else is asked for"


def test_a_page_fits_and_can_be_read(page: Browser) -> None:
    for width, phone in ((1200, False), (360, True)):
        for dark in (False, True):
            page.size(width, 800, phone)
            page.dark(dark)
            assert fits(page), (width, dark)
            assert page.value(CONTRAST) >= 4.5, (width, dark)
    grounds = "getComputedStyle(document.body).backgroundColor"
    assert page.value(grounds) != "rgb(255, 255, 255)", "it is dark where that is wanted"
    page.dark(False)
    assert page.value(grounds) == "rgb(255, 255, 255)"
    assert page.value(NAMELESS) == []
    tall = "[...document.querySelectorAll('summary, nav a, .tools label, button')]"
    tall += ".filter((e) => e.checkVisibility())"
    assert page.value(f"Math.min(...{tall}.map((e) => e.getBoundingClientRect().height))") >= 24
    headings = "[...document.querySelectorAll('h1, h2, h3')].map((e) => e.tagName).join(' ')"
    assert page.value(headings).startswith("H1 H2"), "one heading of the page, then its parts"
    assert page.value("document.documentElement.lang") == "en"


@pytest.mark.parametrize("name", ["attacked", "attacked_index"])
def test_nothing_breaks_out(browser: Browser, name: str) -> None:
    browser.open(ADDRESS.format(name))
    assert browser.value("document.querySelectorAll('img, script').length") == 1
    assert browser.problems == [] and fits(browser)
    # and if something were not escaped: the policy of the page lets it neither run nor load
    browser.value(
        "document.body.insertAdjacentHTML('beforeend', '<img src=https://example.org/x"
        " onerror=alert(1) style=color:red><iframe srcdoc=x></iframe>')"
    )
    browser.value(
        "document.body.append(Object.assign(document.createElement('script'),"
        " {textContent: 'window.broken = 1'}))"
    )
    assert browser.value("window.broken") is None
    assert len(browser.problems) >= 3, browser.problems
    assert set(browser.requests) == {ADDRESS.format(name)}


@pytest.mark.parametrize(
    ("name", "lines", "word"), [("large", 100, "s4907"), ("large_index", 5000, "run4907")]
)
def test_a_large_page_is_usable(browser: Browser, name: str, lines: int, word: str) -> None:
    for width in (390, 1200):
        browser.size(width, 800, phone=width == 390)
        browser.open(ADDRESS.format(name))
        assert browser.value(SHOWN) == lines
        assert fits(browser), width
    browser.value(f"words.value = '{word}'; words.dispatchEvent(new Event('input'));")
    assert browser.value(SHOWN) == 1
    assert fits(browser)


@pytest.mark.parametrize(("name", "lines", "failed"), [("runs", 100, 2), ("fleet", 100, 2)])
def test_an_index_is_read_on_each_screen(
    browser: Browser, name: str, lines: int, failed: int
) -> None:
    browser.open(ADDRESS.format(name))
    for width in (390, 820, 1280):
        for dark in (False, True):
            browser.size(width, 800, phone=width == 390)
            browser.dark(dark)
            assert fits(browser), (width, dark)
    assert browser.value(CONTRAST) >= 4.5, "in the dark"
    browser.dark(False)
    assert browser.value(CONTRAST) >= 4.5
    assert browser.value(NAMELESS) == []
    assert browser.value(SHOWN) == lines
    browser.value("words.value = 'drift'; words.dispatchEvent(new Event('input'))")
    assert 0 < browser.value(SHOWN) < lines
    said = browser.value("document.getElementById('shown').textContent")
    assert f"of {lines} {'runs' if name == 'runs' else 'machines'}" in said
    browser.scripts(False)
    try:
        browser.open(ADDRESS.format(name))
        for box in ("changed", "unchanged"):
            browser.value(f"document.getElementById('show-{box}')?.click()")
        assert browser.value(SHOWN) == failed, "the style sheet alone chooses by outcome"
    finally:
        browser.scripts(True)
    assert browser.problems == []
    assert set(browser.requests) == {ADDRESS.format(name)}, "nothing else is asked for"


def test_axe_finds_nothing(page: Browser, tmp_path: Path) -> None:
    axe = axe_or_skip(tmp_path)
    for name in ("run", "runs", "fleet"):
        for width, dark in ((390, True), (1280, False)):
            page.size(width, 800, phone=width == 390)
            page.dark(dark)
            page.open(ADDRESS.format(name))
            assert violations(page, axe) == [], (name, width)
