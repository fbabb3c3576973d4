# SPDX-License-Identifier: Apache-2.0
"""The documents as a site, built by zensical, in a real browser without a network: Chromium in a
throw-away machine.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from axe import axe_or_skip, violations
from chromium import Browser, Chromium, chromium
from debian import Debian
from starting import starts, wait_until

LAYER = "browser"
INIT = "none"
ROOT = Path(__file__).parent.parent.parent
ADDRESS = "http://127.0.0.1:8080"
# what is wider than its box, and cannot be scrolled to
CUT = """[...document.querySelectorAll(".md-typeset :is(p, td, th, li, code, h1, h2, h3)")]
  .filter((element) => element.checkVisibility() && element.scrollWidth > element.clientWidth + 1
    && getComputedStyle(element).display != "inline")
  .map((element) => element.outerHTML.slice(0, 200))"""
PAGES = ("", "coming-from-ansible/", "differences-from-salt/", "reference/states/file/")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site. The pages of files stand for those of all modules: one program makes them alike."""
    pytest.importorskip("zensical")
    tree = tmp_path_factory.mktemp("site")
    shutil.copy(ROOT / "mkdocs.yml", tree)
    shutil.copytree(ROOT / "docs", tree / "docs")
    for folder in ("states", "modules"):
        for page in (tree / "docs/reference" / folder).glob("*.md"):
            if page.name != "file.md":
                page.write_text("")
    argv = [sys.executable, "-m", "zensical", "build", "--strict"]
    built = subprocess.run(argv, cwd=tree, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stdout + built.stderr
    return tree / "site"


def test_every_page_is_there_and_loads_nothing_from_elsewhere(site: Path) -> None:
    pages = list(site.rglob("index.html"))
    assert len(pages) > 200
    texts = {str(page.relative_to(site)): page.read_text() for page in pages}
    assert [name for name, text in texts.items() if "```" in text] == [], "an unknown language"
    assert "<summary>Ignored or refused</summary>" in texts["reference/states/file/index.html"]
    for name, text in texts.items():
        assert ' src="http' not in text and 'stylesheet" href="http' not in text, name


@pytest.fixture(scope="module")
def process(workshop: Debian, site: Path) -> Iterator[Chromium]:
    """A browser in a machine that serves the site to itself."""
    shutil.copytree(site, workshop.path("/root/site"))
    server = ("python3", "-m", "http.server", "--bind", "127.0.0.1", "8080")
    answers = "python3 -c 'import urllib.request as r; r.urlopen(\"http://127.0.0.1:8080/\")'"
    workshop.run(starts(*server, cwd="/root/site", ready=answers))
    with chromium(workshop) as process:
        yield process


def test_nothing_is_cut_on_a_phone_or_a_desk_by_day_or_night(browser: Browser) -> None:
    for width in (390, 820, 1280):
        for dark in (False, True):
            browser.size(width, 800, phone=width == 390)
            browser.dark(dark)
            for page in PAGES:
                browser.open(f"{ADDRESS}/{page}")
                fits = "document.documentElement.scrollWidth <= innerWidth"
                assert browser.value(fits), (page, width, dark)
                shown = browser.value("getComputedStyle(document.body).backgroundColor")
                assert (shown == "rgb(255, 255, 255)") is not dark, (page, width, shown)
                assert browser.value(CUT) == [], (page, width)
    assert browser.problems == []
    asked = [each for each in browser.requests if not each.startswith("data:")]
    assert [each for each in asked if not each.startswith(ADDRESS)] == []


def test_axe_finds_nothing(browser: Browser, tmp_path: Path) -> None:
    axe = axe_or_skip(tmp_path)
    for width, dark in ((390, True), (1280, False)):
        browser.size(width, 800, phone=width == 390)
        browser.dark(dark)
        for page in PAGES:
            browser.open(f"{ADDRESS}/{page}")
            assert violations(browser, axe) == [], (page, width)


def test_words_find_their_page_while_they_are_typed(browser: Browser) -> None:
    """The theme's search lies in a tree of its own, which its script makes."""
    browser.size(1280, 800)
    browser.open(f"{ADDRESS}/")
    root = "[...document.querySelectorAll('*')].map((e) => e.shadowRoot).find((each) => each)"
    typing = f"({root})?.activeElement?.tagName == 'INPUT'"
    click = "document.querySelector('.md-search__button').click()"
    wait_until(lambda: browser.value(typing) or browser.value(click), "the field")
    for letter in "rehearsal":
        browser.key(letter, f"Key{letter.upper()}")
    found = f"[...{root}.querySelectorAll('a')].map((each) => each.href)"
    page = f"{ADDRESS}/rehearsal/"
    wait_until(lambda: [each for each in browser.value(found) if each.startswith(page)], "a link")
    browser.key("Enter", "Enter")
    wait_until(lambda: "/rehearsal/" in browser.value("location.href"), "it is shown")


def test_the_keyboard_reaches_every_page(browser: Browser) -> None:
    browser.size(1280, 800)
    browser.open(f"{ADDRESS}/")
    links = browser.value("[...document.querySelectorAll('nav a.md-nav__link')].length")
    reached = set()
    for _ in range(3 * links):
        browser.key("Tab", "Tab")
        reached.add(browser.value("document.activeElement.getAttribute('href') || ''"))
    pages = re.findall(r"^ +- .+: (\S+)\.md$", (ROOT / "mkdocs.yml").read_text(), re.M)
    names = {each.removesuffix("README").rstrip("/") for each in pages} - {"index"}
    assert {name for name in names if f"{name}/" not in reached} == set()
