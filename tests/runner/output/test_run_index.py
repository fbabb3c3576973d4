# SPDX-License-Identifier: Apache-2.0
"""The page over all runs of a machine, beside their pages. How it looks in a browser:
tests/machine/test_run_page_in_browser.py.
"""

from __future__ import annotations

import json
import os
import re
import sqlite3
from pathlib import Path

import pytest
from command import Machine
from pages import Parsed
from run_pages import attacked_index, index_of

PAGE = re.compile(r"runner-\d{14}-[0-9a-f]{6}\.html")
TREE = "{tmp}/conf:\n  file.managed:\n    - contents: {% raw %}hello{% endraw %}\ncalm: test.nop\n"


@pytest.fixture
def paged(machine: Machine) -> Machine:
    """A machine whose runs write pages and their index."""
    (machine.folder / "pages").mkdir()
    machine.config["html_report"] = "pages"
    machine.write(top="base: {'*': [a]}", a=TREE)
    return machine


def index(machine: Machine, folder: str = "pages") -> str:
    return (machine.folder / folder / "index.html").read_text()


def pages(folder: Path) -> set[str]:
    return {name for name in os.listdir(folder) if PAGE.fullmatch(name)}


def rows(page: str) -> list[str]:
    """What the lines of the index say, the newest run first."""
    items = re.findall(r'<li class="[\w-]+"><div class="line">.*?</li>', page, re.S)
    return [" ".join(re.sub(r"<[^>]+>", " ", item).split()) for item in items]


def test_each_run_adds_its_page_and_renews_the_index(paged: Machine) -> None:
    paged("highstate", "--test")
    paged("highstate")
    (paged.folder / "conf").write_text("by hand\n")
    paged("highstate")
    paged.write(a=TREE + "broken: test.fail_without_changes\n")
    paged("highstate", code=2)
    before = {path.name: path.stat().st_mtime_ns for path in (paged.folder / "pages").iterdir()}
    paged.write(a="x:\n  file.manged: []\n")
    paged("highstate", code=1)
    page = index(paged)
    parsed = Parsed(page)
    assert parsed.wrong == [] and parsed.open == []
    not_compiled, failed, drift, first, dry = rows(page)
    assert not_compiled.startswith("did not compile 5 20")
    assert failed.startswith("failed 4") and "1 failed of 3" in failed
    assert drift.startswith("changed 3") and "1 drift 1 changed of 2" in drift
    assert first.startswith("changed 2") and "drift" not in first
    assert dry.startswith("would change 1") and "dry run 1 would change of 2" in dry
    assert "test.fail_without_changes broken Failure!" in parsed.shown
    links = [link for link in parsed.links if not link.startswith("#")]
    assert len(links) == 5 and {*links} == pages(paged.folder / "pages")
    for name in links:
        own = Parsed((paged.folder / "pages" / name).read_text())
        assert "index.html" in own.links, "each page leads to the index"
    for name, number in before.items():
        same = (paged.folder / "pages" / name).stat().st_mtime_ns == number
        assert same is (name != "index.html"), "no other page is written anew"
    assert "index.html" not in Parsed(paged("history", "show", "2", "--out", "html").stdout).links


def test_a_folder_gets_the_pages_that_it_lacks(machine: Machine) -> None:
    machine.write(top="base: {'*': [a]}", a="x: test.nop")
    for _ in range(3):
        machine("highstate")
    folder = machine.folder / "site"
    folder.mkdir()
    words = ("history", "--html", str(folder))
    assert f"3 pages written, and {folder}/index.html." in machine(*words).stdout
    assert len(pages(folder)) == 3
    machine("highstate")
    answer = machine(*words, "--out", "json").stdout
    assert json.loads(answer) == {"local": {"written": 1}}
    assert "0 pages written" in machine(*words).stdout
    assert len(rows(index(machine, "site"))) == 4
    machine.config["html_report_runs"] = 2
    machine(*words)
    newest = machine.answer("history", "-n", "2")
    assert pages(folder) == {f"runner-{run['run']}.html" for run in newest}
    page = index(machine, "site")
    assert len(rows(page)) == 2
    assert {link for link in Parsed(page).links if link[0] != "#"} == pages(folder)


def test_a_run_without_a_page_has_no_link(paged: Machine) -> None:
    paged.write(a="x: test.nop")
    paged.config.pop("html_report")
    paged("highstate")
    paged.config["html_report"] = "pages"
    paged("highstate")
    assert len(pages(paged.folder / "pages")) == 1, "a run makes no pages of earlier ones"
    assert len(rows(index(paged))) == 2
    assert len([link for link in Parsed(index(paged)).links if link[0] != "#"]) == 1


def test_an_index_of_somebody_else_stays(paged: Machine) -> None:
    paged.write(a="x: test.nop")
    (paged.folder / "pages/index.html").write_text("mine")
    said = paged("highstate").stderr
    assert "warning: the index of the runs is not written" in said
    assert "pages/index.html is not one that runner wrote; move it away" in said
    assert index(paged) == "mine" and len(pages(paged.folder / "pages")) == 1
    said = paged("history", "--html", str(paged.folder / "pages"), code=1).stderr
    assert "index.html is not one that runner wrote" in said and "hint: move it away" in said
    (paged.folder / "pages/index.html").unlink()
    secret = paged.folder / "secret"
    secret.write_text('<meta name="generator" content="runner')
    (paged.folder / "pages/index.html").symlink_to(secret)
    assert "is not one that runner wrote" in paged("highstate").stderr, "a link is not followed"
    (paged.folder / "pages/index.html").unlink()
    os.mkfifo(paged.folder / "pages/index.html")
    assert "is not one that runner wrote" in paged("highstate").stderr


def test_wrong_lines(machine: Machine) -> None:
    for words, message in (
        (("show", "last", "--html", "x"), "--html DIR is for all runs"),
        (("--html", str(machine.folder / "no")), "hint: make it: mkdir -p "),
    ):
        assert message in machine("history", *words, code=1).stderr
    machine.config["html_report_runs"] = "many"
    assert "html_report_runs" in machine("history", "--html", "x", code=1).stderr


def test_a_machine_without_runs_has_an_index(machine: Machine) -> None:
    assert "0 pages written" in machine("history", "--html", str(machine.folder)).stdout
    assert "all runs" in Parsed((machine.folder / "index.html").read_text()).shown


def test_everything_is_escaped() -> None:
    page = attacked_index()
    page.encode()
    parsed = Parsed(page)
    assert parsed.wrong == [] and parsed.open == []
    assert page.count("<script") == 1 and "<img" not in page
    assert not any(name.startswith("on") or name == "style" for name in parsed.attributes)
    for char in "\0\x1b\u202e":
        assert char not in page


def test_5000_runs_are_a_small_page() -> None:
    page = index_of(5000)
    assert len(rows(page)) == 5000
    assert len(page) < 3_000_000
    assert page.count('<label class="failed">') == 1


def test_drift_is_counted_by_an_index_of_its_own(machine: Machine) -> None:
    """The history of 5,000 runs has a million results, which no run reads at its end."""
    machine.write(a="x: test.nop")
    machine("sls", "a")
    with sqlite3.connect(machine.folder / "cache/state/history.sqlite") as history:
        query = "SELECT run, count(*) FROM results WHERE origin = 'drift' GROUP BY run"
        plan = str(history.execute(f"EXPLAIN QUERY PLAN {query}").fetchall())
    assert "results_by_drift" in plan
