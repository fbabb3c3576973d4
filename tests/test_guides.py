# SPDX-License-Identifier: Apache-2.0
"""Every page of docs/ is run: see support/guides.py for how a page says what is run."""

from __future__ import annotations

import inspect
import itertools
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
import typer
from command import ROOT
from guides import FENCE, Session, matches, pictures, run_page

from runner.cli.parsing.app import build
from runner.cli.parsing.option_spec import CliArgument, command_named

# whose examples are run by a test of their own
OTHERS = {
    "scheduling.md": "tests/machine/test_schedule.py",
    "testing-a-tree.md": "tests/machine/test_testing.py",
    "writing-a-state.md": "tests/test_docs.py",
}
PAGES = ["README.md", *sorted(f"docs/{path.name}" for path in (ROOT / "docs").glob("*.md"))]
GROUP: Any = typer.main.get_command(build())  # type: ignore[arg-type]


@pytest.mark.parametrize("name", [name for name in PAGES if name[5:] not in OTHERS])
def test_what_a_page_says_is_what_happens(name: str) -> None:
    path = ROOT / name
    page = path.read_text()
    with Session() as session:
        wrong, corrected = run_page(page, session)
        drawn = {path.parent / picture: session.read(picture) for picture in pictures(page)}
    if os.environ.get("RUNNER_GUIDES") == "write":
        for file, text in {path: corrected, **drawn}.items():
            file.write_text(text)
    wrong += [f"{file} is outdated" for file, text in drawn.items() if file.read_text() != text]
    assert not wrong, "\n" + "\n".join([name, *wrong])


def test_the_recording_is_that_of_its_page() -> None:
    done = subprocess.run(
        [sys.executable, ROOT / "docs/recording.py"], capture_output=True, text=True, check=True
    )
    drawn = (ROOT / "docs/recording.svg").read_text()
    assert done.stdout == drawn, "python docs/recording.py > docs/recording.svg"
    assert "prefers-reduced-motion" in drawn and drawn.count("@keyframes") == drawn.count("<g ")


PIPE = """$ runner sls $SLS --config ../runner.yaml |
> grep unchanged
1 state: 1 unchanged  (1 ms)
"""
GOOD = f"""
```yaml
# states/hello.sls
/tmp/learn/hello:
  file.managed:
    - contents: hello
```
```console
$ runner sls hello
     changed  file.managed  /tmp/learn/hello
              diff: New file
...
1 state: 1 changed  (4711 ms)
$ cd states && export SLS=hello
{PIPE}$ false
$ echo $?
1
```
```yaml
state_dir: /var/lib/runner
```
<!-- not run: a reason -->
```sls
not: a.state
```
"""


@pytest.mark.parametrize(
    ("expected", "printed", "answer"),
    [
        ("a\n...\nb\n", "a\nb\n", True),
        ("a\n...\nb\n", "a\nx\ny\nb\n", True),
        ("a\n...\nb\n", "a\nx\nc\n", False),
        ("key ....\n", "key 0815.\n", True),
        ("2 states  (1.1 s)\n", "2 states  (71 ms)\nSlowest: pkg a (3 s),\n  pkg b.\n", True),
        ("1 state  (1.1 s)\n", "2 states  (1.1 s)\n", False),
        ("next: Mon 2026-11-23 06:05:32 UTC\n", "next: Thu 2027-01-03 16:05:30 UTC\n", True),
    ],
)
def test_what_differs_from_run_to_run_does_not_matter(
    expected: str, printed: str, answer: bool
) -> None:
    assert matches(expected, printed) is answer


def test_a_page_without_mistakes() -> None:
    with Session() as session:
        assert run_page(GOOD, session) == ([], GOOD)


@pytest.mark.parametrize(
    ("right", "mistake", "message"),
    [
        ("diff: New file", "diff: Old file", "line 9: $ runner sls hello\nprinted"),
        ("state_dir:", "state_dri:", "line 20: unknown configuration key 'state_dri'"),
        ("<!-- not run: a reason -->\n", "", "State 'a.state' was not found"),
        ("$ echo $?\n1\n", "", "`$ echo $?` has to follow"),
    ],
)
def test_a_mistake_in_a_page(right: str, mistake: str, message: str) -> None:
    good = GOOD.replace(PIPE, "")
    page = good.replace(right, mistake)
    assert page != good
    with Session() as session:
        wrong, corrected = run_page(page, session)
    assert len(wrong) == 1 and message in wrong[0], wrong
    assert ("diff: New file\n\n1 state: 1 changed" in corrected) == ("diff" in right)


def test_the_site_and_its_front_page_have_every_page() -> None:
    listed = re.findall(r"^ +- .+: (\S+\.md)$", (ROOT / "mkdocs.yml").read_text(), re.M)
    front = re.findall(r"\]\(([\w-]+\.md)\)", (ROOT / "docs/index.md").read_text())
    pages = sorted(path.name for path in (ROOT / "docs").glob("*.md"))
    assert sorted(listed) == sorted([*pages, "reference/README.md"])
    assert sorted({*front, "index.md"}) == pages
    outside = [name for name in PAGES[1:] if "](../" in (ROOT / name).read_text()]
    assert not outside, "the site has only what lies in docs/: name other files in backquotes"


def test_other_pages_have_a_test_of_their_own() -> None:
    for page, test in OTHERS.items():
        assert f"docs/{page}" in (ROOT / test).read_text()


def command_lines(page: str) -> Iterator[str]:
    """Return what begins with `runner ` in indented blocks, in blocks of `sh`, in backquotes."""
    for language, block in re.findall(r"^```(\w*)\n(.*?)^```$", page, re.M | re.S):
        if language == "sh":
            yield from re.findall(r"^(?:sudo )?(runner .*)", block, re.M)
    text = FENCE.sub("", page)
    yield from re.findall(r"^    (?:sudo )?(?:[\w./-]*/)?(runner .*)", text, re.M)
    for line in re.findall(r"`(runner [^`]+)`", text):
        yield line.replace("\n", " ")


def spelled_out(line: str) -> list[list[str]]:
    """Return the command lines that one with `[--test]`, `a|b`, `NAME` and `...` stands for."""
    line = re.split(r" {2,}| # | [|>] |[;&]", re.sub(r" *\\|\.\.\.", "", line))[0]
    words = [
        [word] if re.search(r"['\"{=]", word) else word.strip("[],").split("|")
        for word in re.findall(r"""(?:'[^']*'|"[^"]*"|\S)+""", line)
    ]
    return [shlex.split(" ".join(choice)) for choice in itertools.product(*words)]


def what_follows(command: str, word: str) -> tuple[str, ...]:
    """Return the words that a command begins with, where there is a choice; else the word."""
    for parameter in inspect.signature(command_named(command), eval_str=True).parameters.values():
        _, declared = parameter.annotation
        if isinstance(declared, CliArgument):
            choice = declared.complete[0] if declared.complete else ""
            if isinstance(choice, tuple) and word.islower():
                return choice
            break
    return (word,)


@pytest.mark.parametrize("name", PAGES)
def test_command_lines_are_understood(name: str) -> None:
    wrong = []
    for line in command_lines((ROOT / name).read_text()):
        for _, command, *words in spelled_out(line):
            if command == "COMMAND" or command.startswith("-"):
                continue
            try:
                GROUP.commands[command].make_context(command, words)
            except Exception as error:  # of click, which typer has or brings
                if type(error).__name__ != "MissingParameter":  # only the command is meant
                    wrong.append(f"{line}: {getattr(error, 'message', error)}")
            if words and words[0] not in what_follows(command, words[0]):
                wrong.append(f"{line}: {words[0]}")
    assert not wrong, "\n".join(wrong)
