# SPDX-License-Identifier: Apache-2.0
"""What `runner check` says of mistakes, word for word; tests/mistakes has what each has to say.

words_of_mistakes.txt has an SLS, its messages with their places (=>) and their hints (--).
"""

from __future__ import annotations

from pathlib import Path

import pytest
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
        said.append(f"=> {problem.source} {problem.message}")
        said += [f"-- {problem.hint}"] if problem.hint else []
    told = "\n".join(said).replace(f"{tmp_path}/states/web.sls:", "")
    assert told.replace(f"{tmp_path}/states", "STATES") == block
