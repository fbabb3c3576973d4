# SPDX-License-Identifier: Apache-2.0
"""The page of a run as a file: where it is written, what bounds it, and what it may hold. How it
looks in a browser: tests/machine/test_run_page_in_browser.py.
"""

from __future__ import annotations

import os
import re
import sqlite3
from typing import Any

import pytest
from command import Machine
from pages import Parsed
from run_pages import attacked, html, result

TREE = """
{tmp}/conf:
  file.managed:
    - contents: |
        first
        {{ word }}
reload:
  test.succeed_with_changes:
    - onchanges:
      - file: {tmp}/conf
broken:
  test.fail_without_changes:
    - require:
      - test: reload
after it:
  test.nop:
    - require:
      - test: broken
"""


def pages(machine: Machine) -> list[str]:
    """The pages in the order of their runs."""
    texts = [path.read_text() for path in (machine.folder / "pages").glob("runner-*")]
    return sorted(texts, key=lambda page: page.partition("<title>")[2])


@pytest.fixture
def paged(machine: Machine) -> Machine:
    """A machine whose runs write pages."""
    (machine.folder / "pages").mkdir()
    machine.config["html_report"] = "pages"
    machine.write(top="base: {'*': [a]}", a="{% set word = 'old' %}" + TREE)
    return machine


def test_each_run_writes_its_page(paged: Machine) -> None:
    paged("highstate", "--test", code=2)
    paged("highstate", code=2)
    paged.write(a="{% set word = 'new' %}" + TREE)
    paged("highstate", code=2)
    (paged.folder / "conf").write_text("by hand\n")
    paged("highstate", code=2)
    paged.write(a="x:\n  file.manged: []\n")
    paged("highstate", code=1)
    dry, first, second, drift, not_compiled = map(Parsed, pages(paged))
    assert "dry run" in dry.shown and "would change" in dry.shown
    assert "(before)" in second.shown and "-old" in second.shown and "+new" in second.shown
    assert "drift" not in second.ids
    assert ": run 3 of 20" in drift.shown and "drift" in drift.ids
    assert "file.manged" in not_compiled.shown and "did not compile" in not_compiled.shown
    assert "states" not in not_compiled.ids
    for page in (dry, first, second, drift, not_compiled):
        assert page.wrong == [] and page.open == []
        assert len(page.ids) == len(set(page.ids))
        assert {link[1:] for link in page.links if link[0] == "#"} - {"states"} <= set(page.ids)
    assert {"timeline", "graph", "s4"} <= set(first.ids)
    assert "After: test.succeed_with_changes reload (require)" in first.shown
    again = paged("history", "show", "2", "--out", "html").stdout
    without = re.compile(
        r"(<footer>.*?</footer>|<nav .*?</nav>|<section id=\"pending\".*?</section>)", re.S
    )
    assert without.sub("", again) == without.sub("", pages(paged)[1])
    assert "run 5 did not compile" in paged("history", "show", "last", "--out", "html").stdout
    for words in ((), ("diff", "1", "2"), ("show", "99")):
        assert "error" in paged("history", *words, "--out", "html", code=1).stderr


def test_only_whole_pages_of_our_own_are_written_and_dropped(paged: Machine) -> None:
    folder = paged.folder / "pages"
    old = [f"runner-20200101000{number:03}-abcdef.html" for number in range(120)]
    others = ["other.html", "runner-1.html", ".runner-20200101000000-abcdef.html.swp"]
    for name in (*old, *others, ".runner-20200101000000-abcdef.html.0123456789ab"):
        (folder / name).touch()
    paged.write(a="x: test.nop")
    paged("highstate")
    left = set(os.listdir(folder))
    assert set(others) <= left
    ours = sorted(left - {*others, "index.html"})
    assert ours[:-1] == old[-99:], "the newest 100 stay"
    page = folder / ours[-1]
    assert page.stat().st_mode & 0o777 == 0o640
    assert page.read_text().endswith("</html>\n")


def broken_history(machine: Machine) -> str:
    machine("highstate", "-q")
    database = machine.folder / "cache/state/history.sqlite"
    with sqlite3.connect(database) as history:
        history.execute("PRAGMA user_version=999")
    return "newer runner"


def no_folder(machine: Machine) -> str:
    (machine.folder / "pages").rmdir()
    return "No such file or directory"


def a_file(machine: Machine) -> str:
    no_folder(machine)
    (machine.folder / "pages").touch()
    return "Not a directory"


def no_room(machine: Machine) -> str:
    machine.config["html_report"] = "/proc"
    return "/proc"


@pytest.mark.parametrize("hinder", [broken_history, no_folder, a_file, no_room])
def test_a_page_that_cannot_be_written_is_a_warning(paged: Machine, hinder: Any) -> None:
    paged.write(a="x: test.nop")
    why = hinder(paged)
    done = paged("highstate")
    assert "warning: this run has no page" in done.stderr
    assert why in done.stderr.partition("this run has no page")[2]


def test_names_in_the_folder_that_others_have_made_are_not_followed(paged: Machine) -> None:
    """A run's name cannot be known before; a link of that name is replaced, not written through."""
    from runner.support.files.shared_folder import SharedFolder

    target = paged.folder / "target"
    target.write_text("mine")
    (paged.folder / "pages/a.html").symlink_to(target)
    folder = SharedFolder(str(paged.folder / "pages"))
    folder.write("a.html", b"page")
    folder.close()
    assert target.read_text() == "mine"
    assert not (paged.folder / "pages/a.html").is_symlink()
    assert os.listdir(paged.folder / "pages") == ["a.html"]


def test_failures_come_first_and_states_stand_by_sls() -> None:
    failed = result(2, outcome="failed", result=False, comment="no\nroom", sls="db")
    drifted = result(3, outcome="changed", origin="drift", changes={"mode": "0644"}, sls="db")
    page = html([result(1), failed, drifted])
    assert '<span class="outcome failed"><a href="#failed">failed</a></span>' in page
    assert page.index('id="failed"') < page.index('id="drift"') < page.index('id="states"')
    assert '<li><a href="#s2">file.managed <b>s2</b></a> no <span class="soft">' in page
    assert page.count('<h3>db</h3>\n<ol class="states" start="2">') == 1
    assert "<details><summary>1 state</summary>" in page, "drift is folded"
    calm = html([result(1)])
    assert 'href="#failed"' not in calm and "<h3>" not in calm


def test_the_heads_of_a_diff_are_no_lines_of_it() -> None:
    diff = "--- a\n+++ b\n@@ -1,2 +1,2 @@\n--- old\n+++ new\n"
    page = html([result(1, outcome="changed", changes={"diff": diff})])
    assert "<del>  --- old\n</del><ins>  +++ new\n</ins>" in page and "<del>  --- a" not in page


# ---------------------------------------------------------------- what a page may hold


def test_everything_is_escaped() -> None:
    page = attacked()
    page.encode()
    parsed, harmless = Parsed(page), Parsed(html([result(1), result(2, sls="db")]))
    assert parsed.wrong == [] and parsed.open == []
    assert page.count("<script") == 1 and "<img" not in page
    assert not any(name.startswith("on") or name == "style" for name in parsed.attributes)
    further = "marker defs path g text ins del pre title"
    assert parsed.tags - harmless.tags <= {*further.split()}
    for char in "\0\x1b\u202e":
        assert char not in page
    assert r"\x1b[31m" in parsed.shown


def test_huge_changes_are_bounded() -> None:
    line, lines = "x" * 200_000, "y\n" * 100_000
    huge = {"diff": f"--- \n+++ \n+{line}\n{lines}"}
    many = "\n".join(["b" * 900] * 70)
    changed = (
        result(number, outcome="changed", changes=huge if number < 3 else {"a": many})
        for number in range(300)
    )
    page = html([*changed, result(301, outcome="failed", comment="the very reason")])
    assert len(page) < 6_000_000
    assert "`runner history show 7` has all" in Parsed(page).shown
    assert "the very reason" in page, "what failed does not share its room"
    huge_names = html([result(1, id=line, name=line, sls=line, comment=line, function=line)])
    assert len(huge_names) < 100_000
