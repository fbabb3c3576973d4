# SPDX-License-Identifier: Apache-2.0
"""What `runner check` says of mistakes, word for word; tests/mistakes has what each has to say.

words_of_mistakes.txt has an SLS, its messages with their places (=>), kinds and hints (--).
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from command import Machine
from mistakes import Mistake

from runner.engine.loader.builtin import library
from runner.engine.loader.registry import Registry
from runner.language.arguments.hints import cure
from runner.language.arguments.scalars import Mismatch
from runner.language.arguments.schema import schema_of
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


WRONG: tuple[Any, ...] = ("@wrong: 'x", 3.5, True, ["@a: b"], {"@a": "b: c"}, {"a": {"b": 1}}, [[]])


def test_what_a_hint_says_to_write_is_yaml() -> None:
    registry = Registry({})
    told = 0
    for module in library("states"):
        for function in registry.state_functions(module):
            found = schema_of(registry.state(f"{module}.{function}").function).parameters
            for name, parameter in found.items():
                for wrong in WRONG:
                    title = parameter.shape.title
                    try:
                        parameter.shape.convert(wrong)
                    except Mismatch as problem:
                        title = problem.expected or title
                    hint = cure(title, name, wrong, parameter.shape.schema.get("enum", ())) or ""
                    for text in re.findall(r"`(- [^`]+|'[^`]+')`", hint):
                        yaml.safe_load(text)
                        told += 1
    assert told > 5000
