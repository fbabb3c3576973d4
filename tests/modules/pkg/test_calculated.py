# SPDX-License-Identifier: Apache-2.0
"""What programs make of words and a text is asked once, and kept as long as it can be believed."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from harness import HarnessHere

from modules.pkg._contents import FOLDER
from modules.pkg._scripts import calculated
from modules.pkg._scripts.calculated import said
from modules.pkg._scripts.run import Outcome
from runner.api import running
from runner.support.files.trusted_folder import TrustedFolder

# counts its starts in a file beside it
PROGRAM = """#!/bin/sh
echo started >>"$0.starts"
read -r text
echo "$1 $text $SECRET"
"""


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A program called sed, before the one of this machine."""
    path = tmp_path / "bin/sed"
    path.parent.mkdir()
    path.write_text(PROGRAM)
    path.chmod(0o755)
    monkeypatch.setenv("PATH", f"{path.parent}:{os.environ['PATH']}")
    monkeypatch.setenv("SECRET", "variable")
    yield path


def run(tmp_path: Path, *words: str, name: str = "sed", text: str = "text\n") -> Outcome:
    """What one run is told, which keeps it."""
    current = HarnessHere(dry=True)
    current.cache_dir = str(tmp_path)
    with running(current):
        answers = [said([name, *words], text) for _ in range(2)]
        calculated.keep()
    assert answers[0] == answers[1]
    return answers[0]


def starts(program: Path) -> int:
    return len(Path(f"{program}.starts").read_text().splitlines())


def test_an_answer_is_kept_for_the_same_question_to_the_same_program(
    tmp_path: Path, program: Path
) -> None:
    for words, count in (("a", 1), ("a", 1), ("b", 2), ("a", 2)):
        assert run(tmp_path, words) == Outcome(0, f"{words} text \n")  # and no variable
        assert starts(program) == count
    assert run(tmp_path, "a", text="b\n") == Outcome(0, "a b \n")
    program.write_text(PROGRAM.replace("$1", "another"))
    assert run(tmp_path, "a") == Outcome(0, "another text \n")


def test_what_may_be_another_answer_next_time_is_not_kept(tmp_path: Path, program: Path) -> None:
    own = program.rename(program.with_name("tool"))  # nobody knows what it goes by
    for count in (1, 2):
        assert run(tmp_path, "a", name="tool").status == 0
        assert starts(own) == count
    own.rename(program).write_text(f"{PROGRAM}kill -9 $$\n")
    for count in (2, 4):  # nor within a run
        run(tmp_path, "a")
        assert starts(program) == count


def test_a_long_answer_is_not_kept(tmp_path: Path, program: Path) -> None:
    long = "x" * calculated.MOST_TEXT
    for count in (1, 2):
        assert run(tmp_path, "a", text=f"{long}\n") == Outcome(0, f"a {long} \n")
        assert starts(program) == count


def spoilt(text: str) -> Callable[[Path], object]:
    return lambda path: path.write_text(text)


def altered(path: Path) -> None:
    kept = json.loads(path.read_text())
    path.write_text(json.dumps({key: [0, 7] for key in kept}))


@pytest.mark.parametrize(
    "spoil",
    [
        lambda path: path.write_bytes(path.read_bytes()[:-9]),
        spoilt("[]"),
        spoilt("[" * 100_000),
        spoilt("\udcff".encode("utf-8", "surrogateescape").decode("latin-1")),
        altered,
        lambda path: path.chmod(0o666),
        lambda path: os.link(path, f"{path}.second"),
    ],
)
def test_what_cannot_be_believed_is_asked_again_and_replaced(
    tmp_path: Path, program: Path, spoil: Callable[[Path], object]
) -> None:
    told = run(tmp_path, "a")
    kept = tmp_path / FOLDER / calculated.FILE
    spoil(kept)
    for _ in range(2):
        assert run(tmp_path, "a") == told
        assert starts(program) == 2
    assert kept.stat().st_mode & 0o777 == 0o600


def test_a_full_disk_keeps_nothing(
    tmp_path: Path, program: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patched:
        patched.setattr(TrustedFolder, "write", full)
        told = run(tmp_path, "a")
    assert run(tmp_path, "a") == told
    assert starts(program) == 2


def test_the_newest_answers_are_kept(
    tmp_path: Path, program: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(calculated, "MOST", 2 * (64 + len("a text \n")))  # with their keys
    for word in "abcd":
        run(tmp_path, word)
    assert len(json.loads((tmp_path / FOLDER / calculated.FILE).read_text())) == 2
    for word, count in (("d", 4), ("c", 4), ("a", 5)):
        run(tmp_path, word)
        assert starts(program) == count
