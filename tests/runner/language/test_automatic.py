# SPDX-License-Identifier: Apache-2.0
"""Automatic relationships: they order, and give way to everything explicit."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
import yaml
from command import Machine
from compiling import compile_tree

from runner.language.compiler.auto_requisites import Link, fitted, links
from runner.model.requisite_kinds import COMES_LAST

FOLDER = "folder:\n  file.directory:\n    - name: {tmp}/d\n"
FILE = "file:\n  file.managed:\n    - name: {tmp}/d/f\n    - contents: x\n"


def order(machine: Machine, *words: str) -> list[str]:
    done = machine("sls", "a", "--test", "--out", "json", *words, code=None)
    found: dict[str, Any] = json.loads(done.stdout)["local"]
    return [item["__id__"] for item in sorted(found.values(), key=lambda item: item["__run_num__"])]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (FILE + FOLDER, ["folder", "file"]),
        (FOLDER + "other:\n  test.nop: []\n" + FILE, ["folder", "other", "file"]),
        # the rest stays where it was: only what is needed is pulled forward
        (
            "one:\n  test.nop: []\n" + FILE + "two:\n  test.nop: []\n" + FOLDER,
            ["one", "folder", "file", "two"],
        ),
        # what is explicit wins
        (FILE + FOLDER.rstrip() + "\n    - require:\n      - file: file\n", ["file", "folder"]),
        # what takes away is not ordered
        (FILE + "folder:\n  file.absent:\n    - name: {tmp}/d\n", ["file", "folder"]),
        (
            "link:\n  file.symlink:\n    - name: {tmp}/l\n    - target: {tmp}/d/f\n"
            + FILE
            + FOLDER,
            ["folder", "file", "link"],
        ),
        # a user makes its home, with its owner
        (
            "file:\n  file.managed:\n    - name: /home/zoe-1/a/x\n    - makedirs: true\n"
            "zoe-1:\n  user.present: []\n",
            ["zoe-1", "file"],
        ),
        (
            "file:\n  file.managed:\n    - name: {tmp}/d/f\n    - makedirs: true\n"
            "zoe-1:\n  user.present:\n    - home: {tmp}/d\n    - createhome: false\n",
            ["file", "zoe-1"],
        ),
        # one that the file makes along the way may need what else that makes
        (FILE + "    - makedirs: true\n" + FOLDER, ["file", "folder"]),
        (FILE + "    - makedirs: true\n" + FOLDER + "    - makedirs: true\n", ["folder", "file"]),
        # states of one path keep their order: one may check or take away what the other makes
        (
            "link:\n  file.symlink:\n    - name: {tmp}/l\n    - target: {tmp}/d\n"
            "old:\n  file.absent:\n    - name: {tmp}/d\n" + FOLDER,
            ["old", "folder", "link"],
        ),
        (
            "link:\n  file.symlink:\n    - name: {tmp}/d\n    - target: {tmp}/d\n"
            "touched:\n  file.touch:\n    - name: {tmp}/d\n",
            ["link", "touched"],
        ),
        # what is done to all that is below comes after what was put there
        (FILE + FOLDER + "    - user: nobody\n    - recurse: [user]\n", ["file", "folder"]),
        # a copy, or what is moved away, is what was there before
        *(
            (
                f"kept:\n  file.{function}:\n    - name: {{tmp}}/old\n    - {source}: {{tmp}}/d/f\n"
                + FILE,
                ["kept", "file"],
            )
            for function, source in (
                ("copy", "source"),
                ("rename", "source"),
                ("hardlink", "target"),
            )
        ),
        # order: gives way, as it does to require
        (FILE + "    - order: 1\n" + FOLDER + "    - order: last\n", ["folder", "file"]),
    ],
)
def test_order(machine: Machine, text: str, wanted: list[str]) -> None:
    machine.write(a=text)
    assert order(machine) == wanted


def test_of_links_that_contradict_each_other_the_first_ones_hold() -> None:
    text = "a: {test.nop: []}\nb: {test.nop: []}\nc: {test.nop: []}\n"
    chunks, relations, _ = compile_tree(text)
    fits, against, pulls = (
        Link(first, then, False, "autorequire") for first, then in ((0, 1), (1, 0), (2, 0))
    )
    assert fitted(chunks, relations, (0, 1, 2), [against, fits, pulls]) == (
        (2, 0, 1),
        (fits, pulls),
    )
    assert fitted(chunks, relations, (0, 1, 2), [fits]) == ((0, 1, 2), (fits,))


def test_what_comes_last_is_told_of_no_changes() -> None:
    chunks, _, _ = compile_tree("a: {test.nop: []}\nb: {test.nop: []}\nc: {file.touch: []}\n")
    hooks: list[tuple[str, ...]] = [(COMES_LAST,), (), ()]
    assert links(chunks, hooks, lambda number, kind: ()) == (Link(1, 0, False, COMES_LAST),)


def test_a_file_is_kept_before_it_is_replaced(machine: Machine) -> None:
    for name in ("copied", "moved"):
        (machine.folder / name).write_text("as it came\n")
    machine.write(
        a="copy: {file.copy: [{name: '{tmp}/copied.orig'}, {source: '{tmp}/copied'}]}\n"
        "move: {file.rename: [{name: '{tmp}/moved.orig'}, {source: '{tmp}/moved'}]}\n"
        "ours: {file.managed: [{names: ['{tmp}/copied', '{tmp}/moved']}, {contents: ours}]}\n"
    )
    machine("sls", "a")
    for name in ("copied", "moved"):
        assert (machine.folder / name).read_text() == "ours\n"
        assert (machine.folder / f"{name}.orig").read_text() == "as it came\n"


def test_one_key_turns_them_off(machine: Machine) -> None:
    machine.config["auto_relationships"] = False
    machine.write(a=FILE + FOLDER)
    assert order(machine) == ["file", "folder"]


def test_a_failed_target_fails_nobody(machine: Machine) -> None:
    folder = "{tmp}/d:\n  file.directory:\n    - user: nobody-of-that-name\n"
    machine.write(a=folder + "{tmp}/d/f:\n  file.managed:\n    - makedirs: True\n")
    found = machine.results("sls", "a", code=2)
    assert found[f"{machine.folder}/d"]["result"] is False
    assert found[f"{machine.folder}/d/f"]["result"] is True


def test_a_module_of_the_tree_has_hooks_too(machine: Machine) -> None:
    (machine.folder / "states/_states").mkdir()
    (machine.folder / "states/_states/box.py").write_text(
        "from runner.api import Plan, Planned\n"
        "def made(name: str, after: str | None = None, tells: str | None = None) -> Planned:\n"
        "    '''A box.'''\n"
        "    yield Plan({name: 'made'}, 'set')\n"
        "    return 'made'\n"
        "def mod_watch(name: str, sfun: str) -> Planned:\n"
        "    yield Plan({'told': name}, 'told')\n"
        "    return 'told'\n"
        "def autorequire(name, after=None, **_):\n"
        "    return [('box', after)] if after else []\n"
    )
    machine.write(a="x:\n  box.made:\n    - after: y\ny:\n  box.made: []\n")
    assert order(machine) == ["y", "x"]


def test_an_override_of_packages_comes_after_its_owner(machine: Machine) -> None:
    machine.write(
        a="/usr/bin/x:\n  pkg.statoverride:\n    - user: zoe\n    - group: zoo\n"
        "    - mode: '0755'\nzoe:\n  user.present: []\nzoo:\n  group.present: []\n"
    )
    assert order(machine)[-1] == "/usr/bin/x"


def test_a_function_comes_after_all_others_of_its_module(machine: Machine) -> None:
    (machine.folder / "states/_states").mkdir()
    (machine.folder / "states/_states/box.py").write_text(
        "from runner.api import here\n"
        "COMES_LAST = {'pruned'}\n"
        "def absent(name: str) -> str:\n    'No box.'\n    return 'gone'\n"
        "def pruned(name: str) -> str:\n    'No others.'\n    return str(here.missing_sls())\n"
    )
    prune = "prune:\n  box.pruned: []\n"
    rest = "x:\n  box.absent: []\nother:\n  test.nop: []\n"
    machine.write(
        a=f"include: [b]\n{prune}{rest}", b="y:\n  box.absent: []\n", c="z:\n  box.absent: []\n"
    )
    assert order(machine) == ["y", "x", "prune", "other"]
    machine.write(top="base: {'*': [b, a, '?']}\n")
    # a state sees which SLS files of the highstate its run lacks
    assert machine.results("sls", "a")["prune"]["comment"] == "['c']"
    assert machine.results("highstate")["prune"]["comment"] == "[]"
    # what is explicit wins
    late = "late:\n  box.absent:\n    - require: [{box: prune}]\n"
    machine.write(a=f"{prune}{late}{rest}")
    assert order(machine) == ["x", "prune", "late", "other"]


BOX = (
    "import os\nfrom runner.api import Plan, Planned, StateFailed\ndef made(name: str, hears: str ="
    " '', tells: str = '', fails: bool = False) -> Planned:\n    'A box.'\n    if fails:\n       "
    " raise StateFailed('no box')\n    if name.startswith('calm'):\n        return 'calm'\n   "
    " yield Plan({name: 'made'}, 'set')\n    return 'made'\ndef mod_watch(name: str, sfun: str) ->"
    " Planned:\n    yield Plan({'told': name}, 'told')\n    return 'told'\ndef autosubscribe(name,"
    " hears='', **_):\n    return [('box', hears)] if hears else []\ndef autonotify(name, tells='',"
    " **_):\n    return [('box', tells)] if tells else []\ndef autobefore(name, tells='', **_):\n  "
    "  return [('box', 'nobody')]\n"
)


@pytest.mark.parametrize("on", [True, False])
def test_hooks_that_tell_of_changes(machine: Machine, on: bool) -> None:
    (machine.folder / "states/_states").mkdir()
    (machine.folder / "states/_states/box.py").write_text(BOX)
    machine.config["auto_relationships"] = on
    machine.write(
        a=(
            "calm1:\n  box.made:\n    - hears: c\ncalm2:\n  box.made:\n    - hears: broken\nc:\n "
            " box.made:\n    - tells: calm3\nbroken:\n  box.made:\n    - fails: True\ncalm3:\n "
            " box.made: []\n"
        )
    )
    found = machine.results("sls", "a", code=2)
    assert (found["calm1"]["comment"], found["calm3"]["comment"]) == (
        ("told", "told") if on else ("calm", "calm")
    )
    assert found["calm2"]["comment"] == "calm", "what fails stops nobody"
    assert ("box: c (autosubscribe)" in machine("why", "calm1", "a").stdout) is on


PARTS = {
    "directory": ("d", "d/e", "g"),
    "managed": ("d/f", "d/e/f", "g/f"),
    "append": ("d/f", "g/f"),
    "symlink": ("g/l", "l"),
    "absent": ("d/f", "g/l", "g/f"),
    "missing": ("d/f", "g/f", "l"),
    "exists": ("g/f",),
}


def states(rng: random.Random, top: str) -> dict[str, Any]:
    """Some states in a folder, each path of which is a directory or a file in all of them."""
    group: dict[str, Any] = {}
    names = [f"{top}{number}" for number in range(rng.randint(3, 6))]
    looking = rng.randrange(len(names) - 1) if rng.random() < 0.5 else len(names)
    for number, name in enumerate(names):
        function = rng.choices(list(PARTS), [4, 4, 2, 2, 1, 1, 1])[0]
        path = rng.choice(PARTS[function])
        arguments: list[Any] = [{"name": f"{{tmp}}/{top}/{path}"}]
        if function in ("managed", "append"):
            arguments.append({"contents" if function == "managed" else "text": name})
        if function == "symlink":
            arguments.append({"target": f"{{tmp}}/{top}/{rng.choice(PARTS['managed'])}"})
        if function in ("directory", "managed", "append", "symlink"):
            arguments.append({"makedirs": rng.random() < 0.7})
        needed = [other for other in names[: min(number, looking)] if rng.random() < 0.2]
        if needed:
            kind = rng.choice(["require", "onchanges", "watch", "require_any", "onfail"])
            arguments.append({kind: [{"file": other} for other in needed]})
        if number == looking:
            arguments.append({"prereq": [{"file": names[-1]}]})
        group[name] = {f"file.{function}": arguments}
    order = list(group)
    rng.shuffle(order)
    return {name: group[name] for name in order}


@pytest.mark.parametrize("seed", range(2))
def test_no_run_fails_that_would_go_through_without_them(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    tops = [f"t{number}_" for number in range(120)]
    text = yaml.safe_dump(
        {name: state for top in tops for name, state in states(rng, top).items()}, sort_keys=False
    )
    failed = {}
    for on in (True, False):
        machine = Machine(tmp_path / str(on))
        machine.config["auto_relationships"] = on
        for top in tops:
            (machine.folder / top).mkdir()
        machine.write(a=text)
        results = machine.results("sls", "a", code=2)
        failed[on] = {name.split("_")[0] for name in results if results[name]["result"] is False}
    assert failed[True] - failed[False] == set()
    assert failed[False] - failed[True]
