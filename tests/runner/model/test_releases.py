# SPDX-License-Identifier: Apache-2.0
"""The release that a state function, an argument or a setting came with."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from command import ROOT, Machine
from releases import TABLE, kept, names, section

from runner.engine.loader.registry import Registry
from runner.model import releases
from runner.model.releases import NEXT, setting_since, since
from runner.output.manual import pages
from runner.output.manual.text import as_markdown, as_text


def test_the_table_has_nothing_that_is_not_there() -> None:
    assert sorted(kept().keys() - names()) == []


def test_what_no_release_has_is_in_the_changelog_as_not_released() -> None:
    """A release whose table was not written fails here: `python tests/support/releases.py`."""
    changelog = (ROOT / "CHANGELOG.md").read_text()
    newest = next(line for line in changelog.splitlines() if line.startswith("## "))
    assert newest == "## Unreleased" or names() == kept().keys()


def test_what_came_after_the_last_release_says_so(machine: Machine) -> None:
    assert since("service.current") == since("file.managed", "nosuch") == NEXT
    assert since("cron.present") == since("cron.present", "special") == "0.1.0"
    assert setting_since("file_roots") == "0.1.0" and setting_since("nosuch") == NEXT
    library = Registry({})
    new, old = (pages.state_page(library, name) for name in ("service.current", "cron.present"))
    assert f"  Since {NEXT}.\n" in as_text([new]) and as_text([new]).count("Since") == 1
    assert "  Since 0.1.0.\n" in as_text([old])
    for words in (("service.current",), ("config", "image_clean")):
        assert NEXT in machine("doc", *words).stdout, words


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A table of its own, of which `cron.present special` was taken away."""
    path = tmp_path / "releases.txt"
    path.write_text(TABLE.read_text().replace("month name special user\n", "month name user\n"))
    assert path.read_text() != TABLE.read_text()
    monkeypatch.setattr(releases, "TABLE", str(path))
    releases._kept.cache_clear()
    yield path
    releases._kept.cache_clear()


def test_a_later_argument_shows_its_release(table: Path) -> None:
    added = section("0.9.0")
    assert "\n## 0.9.0\n" in added and "\ncron.present special" in added
    table.write_text(table.read_text() + added)
    releases._kept.cache_clear()
    assert names() == kept().keys()
    page = as_markdown([pages.state_page(Registry({}), "cron.present")])
    assert "such as `@daily`. Since 0.9.0. |" in page and NEXT not in page
