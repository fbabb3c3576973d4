# SPDX-License-Identifier: Apache-2.0
"""What earlier highstates made and no state declares any more: listed, pruned, restored."""

from __future__ import annotations

import importlib
import json
import shutil
import sqlite3
from typing import Any

import pytest
import yaml
from command import Machine
from trying import REGISTRY

from modules import _accounts
from runner.api.opposite import Opposite, Removal
from runner.engine.loader import opposites
from runner.engine.loader.builtin import library
from runner.engine.loader.registry import Registry
from runner.language.arguments import bind
from runner.language.arguments.schema import MISSING
from runner.model.chunk import Chunk
from runner.model.places import Place, Untyped
from runner.support.own_modules import known_as

TOP = "base: {'*': [a]}"
EMPTY = "x: {test.nop: []}"
NOTHING: dict[str, Any] = {"orphans": [], "left": [], "not_removable": []}
FILES = """
{tmp}/made/sub/f: {file.managed: [contents: f, makedirs: true]}
{tmp}/made/link: {file.symlink: [target: f]}
{tmp}/there: {file.managed: [contents: new]}
"""


def orphans(machine: Machine) -> dict[str, Any]:
    answer: dict[str, Any] = machine.answer("orphans")
    return answer


def things(machine: Machine, kind: str = "orphans") -> list[str]:
    base = f"{machine.folder}/"
    return [orphan["thing"].removeprefix(base) for orphan in orphans(machine)[kind]]


def reasons(machine: Machine) -> dict[str, str]:
    base = f"{machine.folder}/"
    left = orphans(machine)["left"]
    return {each["thing"].removeprefix(base): each["reason"].replace(base, "") for each in left}


def highstate(machine: Machine, sls: str, *words: str) -> str:
    machine.write(top=TOP, a=sls)
    return machine("highstate", *words).stderr


def test_names_are_no_templates_and_no_states(machine: Machine) -> None:
    """A server, or who made an archive, may have chosen them."""
    names = ["{{ 6 * 7 }}", "new\nline:\n  test.succeed_with_changes: []"]
    paths = [f"{machine.folder}/made/{name}" for name in names]
    states = {path: {"file.touch": [{"makedirs": True}]} for path in paths}
    highstate(machine, f"#!yaml\n{json.dumps(states)}")
    (machine.folder / "made" / names[1]).write_text("changed since")
    highstate(machine, EMPTY)
    machine.write(removal=machine("orphans").stdout)
    assert list(machine.results("sls", "removal", "--test")) == [f"prune {paths[0]}"]


def test_what_states_made_side_by_side_is_pruned(machine: Machine) -> None:
    """Each of them is looked at when it is done, whatever ended while it ran."""
    made = "{}: {{file.managed: [contents: x, makedirs: true, parallel: true]}}\n"
    paths = [f"{machine.folder}/made/{number}" for number in range(12)]
    highstate(machine, "".join(map(made.format, paths)))
    highstate(machine, EMPTY)
    assert orphans(machine)["left"] == []
    machine("prune")
    assert not (machine.folder / "made").exists()


def test_what_no_state_declares_is_listed_pruned_and_restored(machine: Machine) -> None:
    (machine.folder / "there").write_text("old")
    assert "orphans" not in highstate(machine, FILES)
    assert orphans(machine) == NOTHING
    assert "declares 4 things of earlier highstates any more" in highstate(machine, EMPTY)
    assert highstate(machine, EMPTY, "-q") == ""
    found = orphans(machine)
    assert found["orphans"][1]["made_by"] == {
        "state": "file.managed",
        "id": f"{machine.folder}/made/sub/f",
        "sls": "a",
        "place": f"{machine.folder}/states/a.sls:2:{len(str(machine.folder)) + 15}",
    }
    assert [orphan["run"] for orphan in found["orphans"]] == [1] * 4
    assert "was there before run 1" in found["not_removable"][0]["reason"]
    text = machine("orphans", "--out", "sls").stdout
    assert machine("orphans").stdout == text
    assert list(yaml.safe_load(text).values()) == [
        {"file.absent": [{"name": f"{machine.folder}/made/link"}]},
        {"file.absent": [{"name": f"{machine.folder}/made/sub/f"}]},
        {"file.pruned": [{"name": f"{machine.folder}/made/sub"}]},
        {"file.pruned": [{"name": f"{machine.folder}/made"}]},
    ]
    assert "is set for removal" in machine("prune", "--test").stdout
    assert (machine.folder / "made/sub/f").exists()
    machine("prune")
    assert not (machine.folder / "made").exists()
    assert (machine.folder / "there").read_text() == "new\n"
    assert orphans(machine)["orphans"] == []
    machine("undo")
    assert (machine.folder / "made/sub/f").read_text() == "f\n"
    assert things(machine) == ["made/link", "made/sub/f", "made/sub", "made"]
    machine("prune", "--only", f"prune {machine.folder}/made/link")
    assert things(machine) == ["made/sub/f", "made/sub", "made"]


def test_what_others_changed_is_left_and_reported(machine: Machine) -> None:
    names = ("edited", "linked", "mode", "gone", "filled/f", "kept/f", "moved/f")
    sls = "".join(
        f"{{tmp}}/{name}: {{file.managed: [contents: x, makedirs: 1]}}\n" for name in names
    )
    highstate(machine, sls)
    folder = machine.folder
    (folder / "edited").write_text("mine")
    (folder / "linked").unlink()
    (folder / "linked").symlink_to("edited")
    (folder / "mode").chmod(0o600)
    (folder / "gone").unlink()
    (folder / "filled/mine").write_text("mine")
    (folder / "moved").rename(folder / "elsewhere")
    (folder / "moved").symlink_to("elsewhere")
    highstate(machine, "{tmp}/kept/other: {file.managed: [contents: x]}\n")
    assert things(machine) == ["kept/f", "filled/f"]
    assert reasons(machine) == {
        "mode": "changed since: mode 0600 instead of 0644",
        "linked": "changed since: a link to edited instead of a file",
        "edited": "changed since: other contents",
        "moved": "changed since: a link to elsewhere instead of a folder",
        "moved/f": "changed since: moved is no longer the folder that was made",
        "filled": "it holds filled/mine, which stays",
    }
    done = machine("prune")
    assert "linked is left: changed since" in done.stderr and "2 states: 2 changed" in done.stdout
    assert {path.name for path in folder.iterdir()} >= {"edited", "linked", "mode", "filled"}
    assert (folder / "elsewhere/f").exists()
    assert not (folder / "filled/f").exists() and (folder / "kept/other").exists()


def test_a_highstate_that_changes_nothing_tells_their_number_without_the_database(
    machine: Machine,
) -> None:
    (machine.folder / "there").write_text("old")
    highstate(machine, FILES)
    told = "declares 4 things of earlier highstates any more"
    assert told in highstate(machine, EMPTY) and told in highstate(machine, EMPTY)
    state = machine.folder / "cache/state"
    waiting = (state / "history.unchanged").stat().st_size
    assert waiting, "it was not written into the database"
    machine.write(b="{tmp}/made/sub/f: {file.absent: []}\n")
    machine("sls", "b")  # what changes something has the next one count
    assert not (state / "history.orphans").exists()
    assert "declares 3 things" in highstate(machine, EMPTY)
    assert "declares 3 things" in highstate(machine, EMPTY)
    (state / "history.orphans").write_text("damaged")
    assert "declares 3 things" in highstate(machine, EMPTY)
    shutil.rmtree(machine.folder / "made")
    machine("prune")  # forgets what is gone
    assert "declares" not in highstate(machine, EMPTY)


def test_their_number_is_that_of_a_tree_and_of_all_it_declares(machine: Machine) -> None:
    sls = "{tmp}/f: {file.managed: [contents: f]}\n{tmp}/g: {file.managed: [contents: g]}\n"
    highstate(machine, f"{EMPTY}\n{sls}")
    told = "declares 2 things of earlier highstates any more"
    assert told in highstate(machine, EMPTY)
    shutil.copytree(machine.folder / "states", machine.folder / "tree")
    for _ in range(2):
        assert (
            "declares" not in machine("highstate", "--state-tree", f"{machine.folder}/tree").stderr
        )
        assert told in highstate(machine, EMPTY), "it is that of the run before"
    part = ("--only", "x")
    assert "declares" not in highstate(machine, f"{EMPTY}\n{sls}", *part)
    assert told in highstate(machine, EMPTY, *part)
    assert "declares" not in highstate(machine, f"{EMPTY}\n{sls}", *part)
    assert told in highstate(machine, EMPTY)


def test_moves_and_what_no_highstate_declared_are_no_orphans(machine: Machine) -> None:
    machine.write(b="by hand: {file.managed: [name: {tmp}/b, contents: b]}\n")
    machine("sls", "b")
    highstate(machine, "old: {file.managed: [name: {tmp}/f, contents: f]}\n")
    machine.write(other="new: {file.symlink: [name: {tmp}/f, target: b, force: true]}\n")
    highstate(machine, "include: [other]\n")
    assert orphans(machine) == NOTHING
    # once a highstate has declared it, it is one
    highstate(machine, "include: [b]\n")
    assert things(machine) == ["f"]
    highstate(machine, EMPTY)
    assert things(machine) == ["f", "b"]
    # another tree of this machine has nothing to do with that, while this one is there
    (machine.folder / "tree").mkdir()
    (machine.folder / "tree/top.sls").write_text("base: {'*': [a]}")
    (machine.folder / "tree/a.sls").write_text(EMPTY)
    machine.config["file_roots"] = {"base": ["tree"]}
    assert things(machine) == []
    (machine.folder / "states").rename(machine.folder / "before")
    assert things(machine) == ["f", "b"]


FLAG = """
import os
from runner.api import Plan, Planned, Secret, changer
from runner.api.opposite import Opposite

OPPOSITE = {"raised": Opposite("lowered", by=("place",))}

@changer
def write(path, text):
    with open(path, "w") as file:
        file.write(text)

@changer
def remove(path):
    os.unlink(path)

def raised(name: str, place: str, word: Secret[str] | None = None, shown: str = "-") -> Planned:
    path = f"{place}/{name}.flag"
    if os.path.exists(path) and open(path).read() == f"{word} {shown}":
        return "raised already"
    instead = f" instead of {open(path).read()}" if os.path.exists(path) else ""
    yield Plan({name: "raised"}, "is to be raised" + instead)
    write(path, f"{word} {shown}")
    return "raised"

def lowered(name: str, place: str) -> Planned:
    if not os.path.exists(f"{place}/{name}.flag"):
        return "not raised"
    yield Plan({name: "lowered"}, "is to be lowered")
    remove(f"{place}/{name}.flag")
    return "lowered"

def waved(name: str) -> Planned:
    yield Plan({name: "waved"}, "is to be waved")
    return "waved"
"""


def test_a_state_says_what_removes_what_it_makes(machine: Machine) -> None:
    states = machine.folder / "states/_states"
    states.mkdir()
    (states / "flag.py").write_text(FLAG)
    for name in ("before", "lowered"):
        (machine.folder / f"{name}.flag").write_text("-")
    highstate(machine, "lowered: {flag.lowered: [place: {tmp}]}\n")
    raised = "{0}: {{flag.raised: [place: {{tmp}}, shown: red{1}]}}\n"
    sls = "".join(raised.format(name, "") for name in ("one", "before", "lowered", "repainted"))
    sls += "secret: {flag.raised: [place: {tmp}, word: h1dden-w0rd]}\nhand: {flag.waved: []}\n"
    highstate(machine, sls)
    (machine.folder / "repainted.flag").write_text("None blue")
    highstate(machine, EMPTY)
    place = f"place {machine.folder}"
    assert things(machine) == [f"flag one, {place}"]
    assert reasons(machine) == {
        f"flag secret, {place}".replace(f"{machine.folder}/", ""): "changed since, or its arguments"
        " word, which are not kept, say so: is to be raised instead of ********** -",
        f"flag repainted, {place}": "changed since: is to be raised instead of None blue",
    }
    assert things(machine, "not_removable") == ["flag hand"]
    kept = (machine.folder / "cache").rglob("history.sqlite*")
    assert not any(b"h1dden-w0rd" in path.read_bytes() for path in kept)
    assert "1 state: 1 changed" in machine("prune").stdout
    assert sorted(path.stem for path in machine.folder.glob("*.flag")) == [
        "before",
        "lowered",
        "repainted",
        "secret",
    ]
    # who makes it again by hand keeps it
    (machine.folder / "one.flag").write_text("None red")
    assert things(machine) == []


def test_what_says_its_default_and_what_does_not_are_one_thing(machine: Machine) -> None:
    states = machine.folder / "states/_states"
    states.mkdir()
    text = FLAG.replace("place: str", "place: str = HERE")
    (states / "flag.py").write_text(f"HERE = {str(machine.folder)!r}\n{text}")
    written, left_out = "{0}: {{flag.raised: [place: {{tmp}}]}}\n", "{0}: {{flag.raised: []}}\n"
    highstate(machine, written.format("one") + left_out.format("two"))
    highstate(machine, left_out.format("one") + written.format("two"))
    assert orphans(machine) == NOTHING
    with sqlite3.connect(next((machine.folder / "cache").rglob("history.sqlite"))) as history:
        older = f"flag one, place {machine.folder}"  # as names were, by what was written
        history.execute("UPDATE made SET thing = ? WHERE thing = 'flag one'", (older,))
    assert orphans(machine) == NOTHING
    highstate(machine, EMPTY)
    assert things(machine) == ["flag two", older]


def declared_by(function: str, name: str, **arguments: object) -> list[str]:
    module, _, fun = function.partition(".")
    place = Place(Untyped("a"), 1, 1)
    chunk = Chunk(module, fun, name, name, 1, "a", "base", arguments, {}, (), place)
    state = REGISTRY.state(function)
    if fun in state.hook("OPPOSITE"):
        return list(opposites.names(state, chunk))
    return [thing.name for thing in opposites.things(REGISTRY, state, chunk)]


def _usual(function: str, argument: str) -> object:
    """What an argument is where a state does not say."""
    state = REGISTRY.state(function)
    default = bind.schema_of(state.function).parameters[argument].default
    return None if default is MISSING else opposites.meaning(state, argument, default)


TOLD_APART = [
    (f"{module}.{name}", f"{module}.{opposite.function}", argument)
    for module in REGISTRY.state_modules()
    for name in REGISTRY.state_functions(module)
    for opposite in [(REGISTRY.state(f"{module}.{name}").hook("OPPOSITE") or {}).get(name)]
    for argument in (opposite.by if isinstance(opposite, Opposite) else ())
    if _usual(f"{module}.{name}", argument)
]


@pytest.mark.parametrize(("making", "removing", "argument"), TOLD_APART)
def test_a_default_is_in_no_name(making: str, removing: str, argument: str) -> None:
    usual = _usual(making, argument)
    for function in (making, removing):
        left_out = declared_by(function, "x")
        written = declared_by(function, "x", **{argument: usual})
        assert written[0] == left_out[0] == f"{making.partition('.')[0]} x"
        older = f"{left_out[0]}, {argument} {usual}"
        assert older in left_out and older in written, "what older versions called it"
        assert declared_by(function, "x", **{argument: "other"})[0] != left_out[0]


@pytest.mark.parametrize(
    ("function", "one", "other"),
    [
        ("locale.present", {"name": "de_DE.utf8"}, {"name": "de_DE.UTF-8"}),
        ("locale.absent", {"name": "de_DE.utf8"}, {"name": "de_DE.UTF-8 UTF-8"}),
        ("acl.present", {"acl_type": "d:u"}, {"acl_type": "default:user"}),
        ("at.present", {"user": _accounts.caller()}, {}),
    ],
)
def test_one_meaning_has_one_name(
    function: str, one: dict[str, str], other: dict[str, str]
) -> None:
    first, second = (declared_by(function, **{"name": "x", **each}) for each in (one, other))
    assert first[0] in second and second[0] in first


def test_each_opposite_is_a_function_that_gets_what_it_needs() -> None:
    registry = Registry({})
    modules = [importlib.import_module(path) for path in library("states").values()]
    pairs = [
        (known_as(module.__name__), fun, opposite)
        for module in modules
        for fun, opposite in getattr(module, "OPPOSITE", {}).items()
    ]
    assert len(pairs) > 30
    for module, fun, declared in pairs:
        opposite = Opposite(declared) if isinstance(declared, str) else declared
        making = bind.schema_of(registry.state(f"{module}.{fun}").function).parameters
        samples = {"ip": "192.0.2.1", "user": "u"} | dict.fromkeys(opposite.by, "x")
        chosen = opposite.things(name="x", **samples) if opposite.things else [Removal("x")]
        for removal in chosen:
            name = f"{module}.{removal.function or opposite.function}"
            removing = bind.schema_of(registry.state(name).function).parameters
            needed = {key for key, parameter in removing.items() if parameter.default is MISSING}
            given = making.keys() if opposite.things is None else removal.arguments.keys()
            assert needed - {"name"} <= given, (module, fun, name)
            assert {*removal.arguments} <= {*removing}, (module, fun, name)


def test_what_prune_removed_comes_back_without_drift(machine: Machine) -> None:
    for sls in (FILES, EMPTY):
        highstate(machine, sls)
    machine("prune")
    highstate(machine, FILES)
    shown = machine.answer("history", "show", "last")
    assert {result["origin"] for result in shown["results"]} == {"intent"}


def test_nothing_is_pruned_by_a_tree_that_does_not_compile(machine: Machine) -> None:
    highstate(machine, FILES)
    machine.write(a="x: [")
    assert "is not closed" in machine("prune", code=1).stderr
    assert "is not closed" in machine("orphans", code=1).stderr
    assert (machine.folder / "made/sub/f").exists()


def test_a_history_of_an_older_runner_is_read(machine: Machine) -> None:
    from runner.history.store import MIGRATIONS

    highstate(machine, EMPTY)
    path = next((machine.folder / "cache").rglob("history.sqlite"))
    path.unlink()
    with sqlite3.connect(path) as old:
        old.executescript(f"{';'.join(MIGRATIONS[:4])}; PRAGMA user_version=4;")
        old.execute(
            "INSERT INTO runs (run, command, user, started, compiled, total, outcome, changed,"
            " failed) VALUES ('r', 'runner highstate', '0', 0, '', 2, 'done', 1, 0)"
        )
    old.close()
    assert orphans(machine) == NOTHING
    highstate(machine, EMPTY)
    assert "2 states, 1 changed, 0 failed" in machine("history").stdout
