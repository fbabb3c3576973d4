# SPDX-License-Identifier: Apache-2.0
"""The reference of the language: its examples are run, and every word has a page."""

from __future__ import annotations

import itertools
import os
import re
from pathlib import Path

import pytest
import yaml
from command import Machine
from guides import Session, blocks, run_page

from runner.language.render import RENDERERS
from runner.language.render.jinja import Jinja
from runner.language.targeting.match import mistake
from runner.model.requisite_kinds import ALIASES, CARRIED, REQUISITE_KEYS, RESOLVED
from runner.output.manual import language
from runner.output.manual.markdown import as_text

FOLDER = Path(language.__file__).parent
SHORT = [name for name in language.names() if name not in language.pages()]


RUN = [name for name in language.pages() if "```console" in (FOLDER / f"{name}.md").read_text()]


@pytest.mark.parametrize("name", RUN)
def test_the_examples_of_a_page(name: str) -> None:
    """RUNNER_GUIDES=write puts what is printed into the page."""
    path = FOLDER / f"{name}.md"
    with Session() as session:
        wrong, corrected = run_page(path.read_text(), session)
    if os.environ.get("RUNNER_GUIDES") == "write":
        path.write_text(corrected)
    assert not wrong, "\n" + "\n".join(wrong)


def test_the_examples_of_pages_without_commands() -> None:
    examples = [
        (block.file or f"states/of_{name}.sls", block)
        for name in language.pages()
        if name not in RUN
        for block in blocks(language.page(name))
        if not block.not_run
    ]
    assert {block.language for _, block in examples} == {"sls"}
    assert len(dict(examples)) == len(examples), "one of a name"
    with Session() as session:
        for path, block in examples:
            session.write(path, block.text)
        assert "No mistakes found." in session.run("runner check")


def test_the_examples_of_short_pages() -> None:
    examples = [block.text for name in SHORT for block in blocks(language.page(name))]
    assert len(examples) == 2 * len(CARRIED | RESOLVED)
    named = (
        re.sub(r"\b([ab])(?=:$|\])", rf"\g<1>{number}", text, flags=re.M)
        for number, text in enumerate(examples)
    )
    with Session() as session:
        assert session.checked("".join(named)) == ""


def test_every_word_has_a_page() -> None:
    assert {*language.names()} >= {*REQUISITE_KEYS, *ALIASES}
    assert {f"{name}.md" for name in language.pages()} == {
        path.name for path in FOLDER.glob("*.md")
    }
    assert "runner doc templates" in language.page("jinja"), "not the execution module alone"
    renderers = re.findall(r"^\| `(\w+)` \|", language.page("renderers"), re.M)
    assert set(renderers) == set(RENDERERS)


def test_targets_of_top_files() -> None:
    page = language.page("top")
    block = next(block for block in blocks(page) if block.file == "states/top.sls")
    targets = yaml.safe_load(block.text)["base"]
    kinds = dict.fromkeys(re.findall(r"^\| `([^`]+)` \|", page, re.M), "compound")
    for target, entries in targets.items():
        kinds[target] = next((item["match"] for item in entries if "match" in item), "compound")
    assert len(kinds) == 10
    for target, kind in kinds.items():
        assert mistake(target, kind, {"front": "*"}) is None, target


def test_links_lead_to_pages() -> None:
    files = language.files()
    for text in files.values():
        for link in re.findall(r"\]\((\w+\.md)\)", text):
            assert link in files
    assert "## watch_in\n" in files["watch.md"] and "## notify\n" in files["watch.md"]


def test_filters_are_described() -> None:
    page = language.page("filters")
    rows = dict(re.findall(r"^\| `(\w+)` \| (.*) \|$", page, re.M))
    assert all(rows.values())
    environment = Jinja(lambda path, env: None, {}).environment("base", sls=True)
    assert all(f"`{name}`" in page for name in environment.filters)


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("watch", "changed something runs and reacts runs and reacts done had nothing to runs"),
        ("watch_in", "watch_in: [test: b]"),
        ("subscribe", "Another name of `watch`"),
        ("onlyif", "onlyif (a command or a list)"),
        ("pillar", "`runner doc pillar.` shows the functions of the module pillar."),
        ("grains.", "grains.get (execution function)"),
    ],
)
def test_doc_shows_it(machine: Machine, word: str, expected: str) -> None:
    assert expected in " ".join(machine("doc", word).stdout.split())


def test_doc_in_other_forms(machine: Machine) -> None:
    (page,) = machine.answer("doc", "require")
    assert (page["name"], page["kind"]) == ("require", "language")
    assert machine("doc", "require", "--markdown").stdout == page["text"]
    assert "\n  onchanges " in machine("doc", "onchange").stdout


def test_a_page_says_everything_once() -> None:
    page = "# sls\n\nFiles:\n\n```yaml\na: 1\n```\n\n```yaml\nb: 2\n```\n"
    assert as_text(page, "word") == "sls  (word)\n\n  Files:\n\n      a: 1\n\n      b: 2\n"


def test_pages_fit_a_terminal() -> None:
    for name, width in itertools.product(language.names(), (60, 80, 100)):
        page = language.page(name)
        code = {line.strip() for block in blocks(page) for line in block.text.split("\n")}
        text = as_text(page, "language", width)
        assert text.startswith(f"{name}  (language)\n\n")
        lines = (line for line in text.split("\n") if line.strip() not in code)
        assert [line for line in lines if len(line) > width] == [], (name, width)
