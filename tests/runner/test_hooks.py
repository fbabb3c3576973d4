"""Hooks of state modules: pre_run_check and mod_init."""

from __future__ import annotations

import pytest
from command import Machine

PLANNED = (
    "from runner.api import Plan, Planned, StateFailed\n"
    "def made(name: str, size: int = 1) -> Planned:\n    yield Plan({name: size}, 'p')\n    return 'made'\n"
    "def pre_run_check(name: str, size: int = 1) -> None:\n"
    "    if size > 9:\n        raise StateFailed(f'{name} is too large')\n"
)
CLASSIC = (
    "import os\n"
    "def made(name):\n    __salt__\n    return {'name': name, 'changes': {}, 'result': True, 'comment': ''}\n"
    "def mod_init(low):\n    with open(os.path.join(__opts__['cachedir'], 'log'), 'a') as f:\n"
    "        f.write(low['__id__'] + '\\n')\n    return True\n"
)


def module(machine: Machine, text: str) -> None:
    (machine.folder / "states/_states").mkdir()
    (machine.folder / "states/_states/box.py").write_text(text)


@pytest.mark.parametrize("words", [["--test"], []])
def test_what_must_not_run_stops_everything_before_it_starts(machine: Machine, words: list[str]) -> None:
    module(machine, PLANNED)
    machine.write(a="{tmp}/f:\n  file.managed: []\nx:\n  box.made:\n    - size: 10\ny:\n  box.made:\n    - size: 11\n")
    error = machine("sls", "a", *words, code=1).stderr
    assert "x is too large" in error
    assert "y is too large" in error
    assert "a.sls:4" in error
    assert not (machine.folder / "f").exists()
    machine.write(a="x:\n  box.made: []\n")
    machine("sls", "a", *words)


def test_mod_init_is_called_once_before_the_first_state_of_a_module(machine: Machine) -> None:
    module(machine, CLASSIC)
    machine.write(a="t:\n  test.nop: []\nx:\n  box.made: []\ny:\n  box.made: []\n")
    machine("sls", "a")
    assert (machine.folder / "cache/log").read_text() == "x\n"
