# SPDX-License-Identifier: Apache-2.0
"""What `runner check` says of mistakes, word for word; tests/mistakes has what each has to say.

words_of_mistakes.txt has an SLS, its messages with their places (=>), kinds and hints (--).
"""

from __future__ import annotations

from pathlib import Path

import pytest
from command import Machine
from mistakes import Mistake

from runner.sources.config import load
from runner.tools import check

BLOCKS = Path(__file__).with_name("words_of_mistakes.txt").read_text().strip().split("\n\n")


@pytest.mark.parametrize("block", BLOCKS)
def test_what_is_said_of_a_mistake(block: str, tmp_path: Path) -> None:
    text = block.partition("\n=> ")[0]
    mistake = Mistake("words", text + "\n", "", "")
    (tmp_path / "states").mkdir()
    mistake.written(tmp_path)
    more = {"cachedir": str(tmp_path / "cache")}
    options, _ = load.load(str(mistake.configuration(tmp_path)), more, {})
    said = [text]
    for problem in check.check(options, ["web"]):
        said.append(f"=> {problem.source} {problem.severity} {problem.code}: {problem.message}")
        said += [f"-- {problem.hint}"] if problem.hint else []
    told = "\n".join(said).replace(f"{tmp_path}/states/web.sls:", "")
    assert told.replace(f"{tmp_path}/states", "STATES") == block


def test_an_argument_of_every_state_may_be_one_of_its_own(machine: Machine) -> None:
    (machine.folder / "states/_states").mkdir()
    (machine.folder / "states/_states/own.py").write_text(
        "def made(name, retry=None, parallel=None):\n    'Its own.'\n"
        "def plain(name):\n    'Has none.'\n"
    )
    machine.write(a="a: {own.made: [retry: often, parallel: 7]}\n")
    machine("check", "a")
    machine.write(a="a: {own.plain: [retry: often, parallel: 7]}\n")
    told = machine("check", "a", code=None).stdout
    assert "own.plain: retry is neither True nor a mapping" in told
    assert "own.plain: parallel: expected true or false, got 7" in told
