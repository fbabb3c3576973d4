# SPDX-License-Identifier: Apache-2.0
"""Hooks of state modules: pre_run_check and mod_init."""

from __future__ import annotations

import pytest
from command import Machine

PLANNED = (
    "from runner.api import Plan, Planned, StateFailed\ndef made(name: str, size: int = 1) ->"
    " Planned:\n    yield Plan({name: size}, 'p')\n    return 'made'\ndef pre_run_check(name: str,"
    " size: int = 1) -> None:\n    if size > 9:\n        raise StateFailed(f'{name} is too"
    " large')\n"
)
CLASSIC = (
    "import os\ndef made(name):\n    __salt__\n    return {'name': name, 'changes': {}, 'result':"
    " True, 'comment': ''}\ndef mod_init(low):\n    with open(os.path.join(__opts__['cachedir'],"
    " 'log'), 'a') as f:\n        f.write(low['__id__'] + '\\n')\n    return True\n"
)


def module(machine: Machine, text: str) -> None:
    (machine.folder / "states/_states").mkdir()
    (machine.folder / "states/_states/box.py").write_text(text)


@pytest.mark.parametrize("words", [["--test"], []])
def test_what_must_not_run_stops_everything_before_it_starts(
    machine: Machine, words: list[str]
) -> None:
    module(machine, PLANNED)
    machine.write(
        a=(
            "{tmp}/f:\n  file.managed: []\nx:\n  box.made:\n    - size: 10\ny:\n  box.made:\n    -"
            " size: 11\n"
        )
    )
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


TOGETHER = (
    "from runner.api import Done, Plan, Planned, here\n"
    "from modules import cmd\n"
    "def made(name: str, boxes: list[str] | None = None) -> Planned:\n"
    "    shares = here.store('box')\n"
    "    if name in shares:\n"
    "        yield Plan({name: 'made'}, 'p')\n"
    "        return f'{name} was made with {shares[name]}'\n"
    "    names = [name, *(boxes or [])]\n"
    "    yield Plan({name: 'made'}, 'for ' + '+'.join(names))\n"
    "    log = here.opts['cachedir'] + '/log'\n"
    "    cmd.run('echo ' + '+'.join(names) + ' >> ' + log, python_shell=True)\n"
    "    shares.update(dict.fromkeys(names[1:], name))\n"
    "    return f'made {len(names)}'\n"
    "def mod_aggregate(low, chunks, running):\n"
    "    return {**low, 'boxes': [chunk['name'] for chunk in chunks], '__agg__': True}\n"
)
SEVERAL = """
a:
  box.made:
    - aggregate: True
apart:
  box.made: []
b:
  box.made:
    - aggregate: True
guarded:
  box.made:
    - aggregate: True
    - onlyif: 'true'
later:
  box.made:
    - aggregate: True
    - require:
      - test: between
early:
  box.made:
    - aggregate: True
never:
  box.made:
    - aggregate: True
    - onchanges:
      - test: quiet
quiet:
  test.nop: [order: first]
between:
  test.nop: []
seen:
  test.succeed_with_changes:
    - onchanges:
      - box: b
"""


def test_states_of_a_kind_are_done_together_and_each_reports_its_share(machine: Machine) -> None:
    module(machine, TOGETHER)
    machine.write(a=SEVERAL)
    found = machine.results("sls", "a")
    log = (machine.folder / "cache/log").read_text()
    assert log.split() == ["a+b+early", "apart", "guarded", "later"]
    assert found["a"]["comment"] == "made 3"
    assert found["early"]["comment"] == "early was made with a"
    assert found["b"]["comment"] == "b was made with a"
    assert found["b"]["changes"] == {"b": "made"}
    assert found["seen"]["changes"]
    dry = machine.results("sls", "a", "--test")
    assert dry["b"]["changes"] == {"b": "made"}
    assert dry["a"]["comment"] == "for a+b+early", "it is planned together, too"


def test_a_state_is_not_taken_in_before_what_it_comes_after_by_itself(machine: Machine) -> None:
    hook = "def autorequire(name, **_):\n    return [('file', '/proc/nowhere/' + name)]\n"
    module(machine, TOGETHER + hook)
    machine.write(
        a="a: {box.made: [aggregate: true]}\nb: {box.made: [aggregate: true]}\n"
        "/proc/nowhere/b: {file.managed: [contents: x]}\n"
    )
    machine.results("sls", "a", code=2)
    assert (machine.folder / "cache/log").read_text().split() == ["a", "b"]


def test_the_configuration_turns_aggregation_on(machine: Machine) -> None:
    module(machine, TOGETHER)
    machine.write(
        a="a:\n  box.made: []\nb:\n  box.made: []\nc:\n  box.made:\n    - aggregate: False\n"
    )
    machine.config["state_aggregate"] = ["box"]  # type: ignore[assignment]
    machine("sls", "a")
    assert (machine.folder / "cache/log").read_text().split() == ["a+b", "c"]


SELF = (
    "import os\nfrom runner.api import Plan, Planned, changer\nfrom modules import"
    " file\nSELF_REFRESH = True\ndef made(name: str, dies: bool = False) -> Planned:\n    '''A"
    " box.'''\n    if os.path.exists(name):\n        return 'there'\n    yield Plan({'made': name},"
    " 'to be made')\n    file.write(name, b'x')\n    if dies:\n        os.kill(os.getpid(), 9)\n   "
    " return 'made'\ndef mod_watch(name: str, sfun: str) -> Planned:\n    yield Plan({'refreshed':"
    " name}, 'to be refreshed')\n    with open(name + '.log', 'a') as log:\n       "
    " log.write('refreshed\\n')\n    return 'refreshed'\n"
)


def test_a_module_can_react_to_its_own_changes(machine: Machine) -> None:
    module(machine, SELF)
    machine.write(
        a="{tmp}/f:\n  box.made:\n    - watch: [{test: t}]\nt:\n  test.succeed_with_changes: []\n"
    )
    name, log = str(machine.folder / "f"), machine.folder / "f.log"
    dry = machine.results("sls", "a", "--test")[name]
    assert (dry["changes"], dry["comment"]) == (
        {"made": name, "refreshed": name},
        "to be made\nto be refreshed",
    )
    real = machine.results("sls", "a")[name]
    assert (real["changes"], real["comment"]) == (
        {"made": name, "refreshed": name},
        "made\nrefreshed",
    )
    assert log.read_text() == "refreshed\n", "once, however many events"
    machine.write(a="{tmp}/f:\n  box.made: []\n")
    assert machine.results("sls", "a")[name]["changes"] == {}


def test_the_reaction_to_an_own_change_survives_a_kill(machine: Machine) -> None:
    module(machine, SELF)
    machine.write(a="{tmp}/f:\n  box.made:\n    - dies: True\n")
    machine("sls", "a", code=-9)
    assert not (machine.folder / "f.log").exists()
    machine("sls", "a")
    machine("sls", "a")
    assert (machine.folder / "f.log").read_text() == "refreshed\n"


PARTLY = (
    "import os\nfrom runner.api import Plan, Planned, changer\nfrom modules import file\ndef"
    " made(name: str, starts: bool = False, dies: bool = False) -> Planned:\n    '''A box.'''\n   "
    " if os.path.exists(name):\n        return 'there'\n    keys = {'enabled': True} | ({'started':"
    " True} if starts else {})\n    yield Plan(keys, 'to be made', reacted_by=['started'])\n   "
    " file.write(name, b'x')\n    if dies:\n        os.kill(os.getpid(), 9)\n    return 'made'\ndef"
    " mod_watch(name: str, sfun: str) -> Planned:\n    yield Plan({'restarted': True}, 'to be"
    " restarted')\n    with open(name + '.log', 'a') as log:\n        log.write('restarted\\n')\n  "
    "  return 'restarted'\n"
)
WATCHING = """
{tmp}/conf:
  file.managed:
    - contents: VERSION
{tmp}/box:
  box.made:
    - MORE
    - watch: [{file: {tmp}/conf}]
"""


@pytest.mark.parametrize(("more", "reacts"), [("starts: False", True), ("starts: True", False)])
def test_a_change_that_is_no_reaction_leaves_the_reaction_due(
    machine: Machine, more: str, reacts: bool
) -> None:
    module(machine, PARTLY)
    machine.write(a=WATCHING.replace("MORE", more))
    name, log = str(machine.folder / "box"), machine.folder / "box.log"
    keys = ["enabled", "restarted"] if reacts else ["enabled", "started"]
    dry = machine.results("sls", "a", "--test")[name]
    assert (list(dry["changes"]), dry["comment"]) == (
        keys,
        "to be made" + "\nto be restarted" * reacts,
    )
    report = machine("sls", "a").stdout
    said = f"made\n{' ':14}restarted, because file: {machine.folder}/conf changed"
    assert (said in report) is reacts, report
    assert log.exists() is reacts
    assert machine.results("sls", "a")[name]["changes"] == {}, "nothing is owed"


def test_a_mount_that_only_gets_its_fstab_line_is_remounted_too(machine: Machine) -> None:
    machine.write(
        a=(
            f"conf: {{file.managed: [name: {machine.folder}/conf, contents: a]}}\n/proc:"
            " {mount.mounted: [device: proc, fstype: proc, opts: rw, config:"
            f" {machine.folder}/fstab, watch: [file: conf]]}}\n"
        )
    )
    (machine.folder / "fstab").touch()
    mounted = machine.results("sls", "a", "--test")["/proc"]
    assert mounted["changes"] == {"persist": "new", "mount": True}
    assert "/proc would be remounted" in machine("sls", "a", "--test").stdout


def test_a_reaction_that_is_still_due_survives_a_kill(machine: Machine) -> None:
    module(machine, PARTLY)
    machine.write(a=WATCHING.replace("MORE", "dies: True"))
    machine("sls", "a", code=-9)
    log = machine.folder / "box.log"
    assert not log.exists()
    (machine.folder / "box").unlink()
    machine.write(a=WATCHING.replace("MORE", "dies: False"))
    machine("sls", "a")
    assert log.read_text() == "restarted\n", "though its own change was made again"
    machine("sls", "a")
    assert log.read_text() == "restarted\n"


@pytest.mark.parametrize(
    ("hook", "message", "line"),
    [
        (
            "def pre_run_check(name):\n    return 1 / 0\n",
            "box.pre_run_check failed for x: ZeroDivisionError",
            4,
        ),
        ("def pre_run_check():\n    pass\n", "box.pre_run_check failed for x: TypeError", 3),
        (
            "def autorequire(name):\n    yield 'file', name\n    nothing()\n",
            "box.autorequire failed for x: NameErr",
            5,
        ),
        (
            "def autorequire(name):\n    return ['/etc/x']\n",
            "box.autorequire for x gives ['/etc/x']",
            3,
        ),
        ("def autonotify(name):\n    return 5\n", "box.autonotify for x gives 5", 3),
    ],
)
def test_a_hook_that_fails_is_told_by_its_line(
    machine: Machine, hook: str, message: str, line: int
) -> None:
    module(machine, "def made(name: str) -> str:\n    return 'made'\n" + hook)
    machine.write(a="x:\n  box.made: []\n")
    error = machine("sls", "a", code=1).stderr
    assert message in error
    assert f"{machine.folder}/states/_states/box.py:{line}" in error


def test_what_a_hook_pairs_is_taken_for_text(machine: Machine) -> None:
    made = "def made(name: str) -> str:\n    return 'made'\n"
    module(
        machine,
        made
        + "def autorequire(name, **_):\n    return [('test', 5), ['test', 6], ('test', [7])]\n",
    )
    machine.write(a="x:\n  box.made: []\n'5':\n  test.nop: []\n'6':\n  test.nop: []\n")
    assert [*machine.results("sls", "a")] == ["5", "6", "x"]


RESTLESS = (
    "from runner.api import Plan, Planned\n"
    "def made(name: str) -> Planned:\n    yield Plan({name: 'made'}, 'p')\n    return 'made'\n"
)


def test_verify_looks_again_after_each_change(machine: Machine) -> None:
    module(machine, RESTLESS)
    machine.write(
        a=(
            "x:\n  box.made: []\n{tmp}/f:\n  file.managed:\n    - contents: a\nc:\n  cmd.run:\n   "
            " - name: 'true'\n"
        )
    )
    assert machine.results("sls", "a")["x"]["result"] is True
    (machine.folder / "f").unlink()
    found = machine.results("sls", "a", "--verify", code=2)
    assert found["x"]["result"] is False
    assert found["x"]["comment"] == "made\nThis did not converge: it would change x again"
    assert found[str(machine.folder / "f")]["result"] is True
    assert found["c"]["result"] is True


def test_a_classic_mod_watch_sees_what_it_is_called_for(machine: Machine) -> None:
    answer = "{'name': name, 'changes': {}, 'result': True, 'comment': "
    module(
        machine,
        f"def made(name, **kwargs):\n    return {answer}__low__['fun']}}\n"
        "def mod_watch(name, **kwargs):\n    low = dict(__low__)\n"
        "    told = [low['__id__'], low['fun'], low['sfun']]\n"
        "    told += [each['__id__'] for each in low.get('__reqs__', {}).get('watch', ())]\n"
        f"    return {answer}' '.join(told)}}\n",
    )
    machine.write(
        a=(
            "source:\n  test.succeed_with_changes: []\nother: test.nop\nx:\n  box.made:\n    -"
            " watch: [test: source, test: other]\ny:\n  box.made:\n    - listen: [test: source]\n"
        )
    )
    found = machine.results("sls", "a")
    comments = {name: found[name]["comment"] for name in ("x", "y", "listener_y")}
    assert comments == {
        "x": "x mod_watch made source other",
        "y": "made",
        "listener_y": "listener_y mod_watch made",
    }


def test_hooks_are_what_a_module_declares_not_what_its_getattr_makes_up(machine: Machine) -> None:
    module(
        machine,
        "def made(name):\n"
        "    return {'name': name, 'changes': {}, 'result': True, 'comment': 'made'}\n"
        "def __getattr__(name):\n"
        "    if name.startswith('__'):\n"
        "        raise AttributeError(name)\n"
        "    return lambda *args, **kwargs: 1 / 0\n",
    )
    machine.write(
        a="t:\n  test.succeed_with_changes: []\n"
        "x:\n  box.made:\n    - aggregate: True\n    - watch:\n      - test: t\n"
    )
    assert machine.results("sls", "a")["x"]["comment"] == "made"
