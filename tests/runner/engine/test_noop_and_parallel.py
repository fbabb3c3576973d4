# SPDX-License-Identifier: Apache-2.0
"""No-op by state, and states side by side."""

from __future__ import annotations

import json
from typing import Any

import pytest
from command import Machine
from starting import PATIENCE

FILE = "plan:\n  file.managed:\n    - name: {tmp}/f\n    - contents: x\n"
REACTIONS = (
    "watcher:\n  cmd.wait:\n    - name: 'true'\n    - watch:\n      - file: plan\n"
    "changed:\n  cmd.run:\n    - name: 'true'\n    - onchanges:\n      - file: plan\n"
)


@pytest.mark.parametrize(
    ("by_state", "by_configuration", "planned"),
    [
        (True, None, True),
        (None, True, True),
        (False, True, False),
        (None, None, False),
        ("'yes'", None, True),
        ("'off'", True, False),
    ],
)
def test_noop(
    machine: Machine, by_state: bool | str | None, by_configuration: bool | None, planned: bool
) -> None:
    if by_configuration is not None:
        machine.config["noop"] = by_configuration
    machine.write(a=FILE + (f"    - noop: {by_state}\n" if by_state is not None else ""))
    found = machine.results("sls", "a")["plan"]
    assert (found["result"], found.get("__noop__", False)) == (
        (None, True) if planned else (True, False)
    )
    assert (machine.folder / "f").exists() is not planned
    assert (
        "no-op" in machine("sls", "a", "--detailed-exitcodes", code=2 if planned else 0).stdout
    ) is planned


def test_what_is_neither_true_nor_false_is_a_mistake(machine: Machine) -> None:
    machine.write(a=FILE + "    - noop: perhaps\n")
    error = machine("sls", "a", code=1).stderr
    assert "file.managed: noop: expected true or false, got 'perhaps'" in error
    assert "a.sls:5:7" in error


def test_it_is_a_mistake_before_the_run_beside_a_slot_too(machine: Machine) -> None:
    machine.write(
        a="first:\n  file.touch:\n    - name: {tmp}/first\n"
        "x:\n  test.nop:\n    - text: __slot__:salt:test.echo(x)\n    - noop: perhaps\n"
    )
    error = machine("sls", "a", code=1).stderr
    assert "test.nop: noop: expected true or false, got 'perhaps'" in error and "a.sls:7:7" in error
    assert not (machine.folder / "first").exists()


def test_a_function_may_have_an_argument_of_that_name(machine: Machine) -> None:
    (machine.folder / "states/_states").mkdir()
    (machine.folder / "states/_states/box.py").write_text(
        "def made(name: str, noop: int = 0) -> str:\n    'A box.'\n    return f'made {noop}'\n"
    )
    machine.write(a="x:\n  box.made:\n    - noop: 7\n")
    found = machine.results("sls", "a")["x"]
    assert (found["comment"], found.get("__noop__")) == ("made 7", None)


def test_nobody_reacts_to_what_was_only_planned(machine: Machine) -> None:
    machine.write(a=FILE + "    - noop: True\n" + REACTIONS)
    found = machine.results("sls", "a")
    assert found["watcher"]["changes"] == {}
    assert "__state_ran__" in found["changed"]


CHAIN = (
    "w1:\n  cmd.wait:\n    - name: echo 1 >> {tmp}/log\n    - watch: [{file: plan}]\n"
    "w2:\n  cmd.wait:\n    - name: echo 2 >> {tmp}/log\n    - watch: [{cmd: w1}]\n"
    "changed:\n  cmd.run:\n    - name: echo 3 >> {tmp}/log\n    - onchanges: [{cmd: w2}]\n"
    "heard:\n  cmd.wait:\n    - name: echo 4 >> {tmp}/log\n    - listen: [{file: plan}]\n"
    "plain:\n  file.managed:\n    - name: {tmp}/g\n    - watch: [{file: plan}]\n"
)


def test_what_no_op_spares_is_told_down_the_chain(machine: Machine) -> None:
    machine.write(a=FILE + "    - noop: True\n" + CHAIN)
    found = machine.results("sls", "a")
    for name, source in (("w1", "file: plan"), ("w2", "cmd: w1"), ("changed", "cmd: w2")):
        assert found[name]["comment"].endswith(
            f"It would have reacted to a change of {source} (no-op)"
        )
        assert (found[name]["result"], found[name]["changes"]) == (True, {})
    assert "no-op" not in found["plain"]["comment"], "file.managed cannot react"
    assert not (machine.folder / "log").exists()
    (machine.folder / "g").write_text("")
    told = machine("sls", "a", "--detailed-exitcodes", code=2).stdout
    assert told.count("It would have reacted to a change of") == 4
    assert "5 no-op, 1 unchanged" in told
    machine.write(a=FILE + CHAIN)
    machine("sls", "a")
    machine.write(a=FILE + "    - noop: True\n" + CHAIN)
    assert "no-op" not in machine.results("sls", "a")["w1"]["comment"], "nothing is planned"


def test_what_is_only_planned_is_a_reason_for_what_is_only_planned(machine: Machine) -> None:
    watcher = "{}:\n  cmd.wait: [name: echo {}, noop: {}, watch: [sls: f]]\n"
    machine.write(
        f=FILE + "    - noop: True\nc:\n  test.succeed_with_changes: []\n",
        a="include: [f]\n" + watcher.format("w1", 1, False) + watcher.format("w2", 2, True),
    )
    told = machine("sls", "a").stdout
    assert "because test: c changed" in told
    assert "because file: plan, test: c would change" in told


@pytest.mark.parametrize("words", [["--test"], []])
def test_a_dry_run_and_no_op_everywhere_tell_the_whole_chain(
    machine: Machine, words: list[str]
) -> None:
    machine.config["noop"] = not words
    machine.write(a=FILE + CHAIN)
    found = machine.results("sls", "a", *words)
    for number, name in enumerate(("w1", "w2", "changed", "listener_heard"), 1):
        assert found[name]["result"] is None
        assert found[name]["changes"] == {"cmd": f"echo {number} >> {machine.folder}/log"}
    assert not (machine.folder / "log").exists()


def test_a_skipped_state_names_the_root_cause_beside_salts_comment(machine: Machine) -> None:
    machine.write(
        a=(
            "a:\n  test.fail_without_changes: []\nb:\n  test.nop:\n    - require: [{test: a}]\nc:\n"
            "  cmd.wait:\n    - name: echo 1 > {tmp}/log\n    - require: [{test: b}]\n    - watch:"
            " [{test: d}]\nd:\n  test.succeed_with_changes: []\n"
        )
    )
    found = machine.results("sls", "a", code=2)
    assert found["b"]["comment"] == "One or more requisite failed: a.a"
    assert found["c"]["comment"] == "One or more requisite failed: a.b"
    assert found["c"]["__cause__"] == "test_|-a_|-a_|-fail_without_changes"
    assert "because of test: a" in machine("sls", "a", code=2).stdout
    assert not (machine.folder / "log").exists(), "what is skipped is not refreshed either"


def only_beside_others(machine: Machine) -> None:
    """Have `onlyif: [{fun: box.beside}]` skip a state that would wait for others in vain."""
    (machine.folder / "states/_modules").mkdir()
    (machine.folder / "states/_modules/box.py").write_text(
        "import threading\n\n\ndef beside():\n"
        "    return threading.current_thread() is not threading.main_thread()\n"
    )


def test_parallel_states_run_side_by_side_and_are_waited_for(machine: Machine) -> None:
    """Each waits for all others."""
    only_beside_others(machine)
    meet = "until test -e {tmp}/0 -a -e {tmp}/1 -a -e {tmp}/2 -a -e {tmp}/3; do sleep 0.05; done"
    text = "".join(
        f"p{n}:\n  cmd.run:\n    - name: touch {{tmp}}/{n}; {meet}; echo {n}\n"
        f"    - parallel: True\n    - onlyif: [{{fun: box.beside}}]\n"
        f"    - timeout: {PATIENCE / 2}\n"
        for n in range(4)
    )
    machine.write(
        a=text + "after:\n  cmd.run:\n    - name: date +%s.%N\n    - require:\n      - cmd: p3\n"
        "reacts:\n  cmd.wait:\n    - name: 'true'\n    - watch:\n      - cmd: p0\n"
    )
    found = machine.results("sls", "a")
    assert [found[f"p{n}"]["changes"]["stdout"] for n in range(4)] == list("0123")
    assert [found[f"p{n}"]["__run_num__"] for n in range(4)] == [0, 1, 2, 3]
    assert found["reacts"]["changes"]
    assert found["after"]["start_time"] > found["p3"]["start_time"]


def test_what_is_not_parallel_runs_in_the_main_thread(machine: Machine) -> None:
    (machine.folder / "states/_states").mkdir()
    (machine.folder / "states/_states/box.py").write_text(
        "import threading\ndef made(name):\n    'A box.'\n"
        "    where = threading.current_thread().name\n"
        "    return {'name': name, 'result': True, 'comment': where, 'changes': {}}\n"
    )
    machine.write(a="beside: {box.made: [parallel: true]}\nalone: {box.made: []}\n")
    for words, beside in (["--test"], True), ([], False):
        results = machine.results("sls", "a", *words)
        assert results["alone"]["comment"] == "MainThread"
        assert (results["beside"]["comment"] == "MainThread") is beside


def test_a_failed_parallel_state_stops_who_requires_it(machine: Machine) -> None:
    machine.write(
        a=(
            "p:\n  cmd.run:\n    - name: sleep 0.2; false\n    - parallel: True\n"
            "after:\n  test.nop:\n    - require:\n      - cmd: p\n"
        )
    )
    found = machine.results("sls", "a", code=2)
    assert found["after"]["result"] is False
    assert found["after"]["comment"] == "One or more requisite failed: a.p"


def test_a_parallel_state_that_waits_for_another_holds_up_none_after_it(machine: Machine) -> None:
    only_beside_others(machine)
    states = {
        "a": ["true"],
        "long": ["until test -s {tmp}/log; do sleep 0.05; done; echo long >> {tmp}/log", "a"],
        "waits": ["echo waits >> {tmp}/log", "long"],
        "beside": ["echo beside >> {tmp}/log", "a"],
        "after": ["echo after >> {tmp}/log", "waits"],
    }
    tree: dict[str, Any] = {
        name: {
            "cmd.run": [
                {"name": line},
                {"require": [{"cmd": one} for one in needs]},
                {"parallel": name != "after"},
                {"timeout": PATIENCE / 4},
                {"onlyif": [{"fun": "box.beside"}] if name != "after" else []},
            ]
        }
        for name, (line, *needs) in states.items()
    }
    machine.write(a=json.dumps(tree))
    found = machine.results("sls", "a")
    assert (machine.folder / "log").read_text().split() == ["beside", "long", "waits", "after"]
    assert sorted(found, key=lambda name: found[name]["__run_num__"]) == [
        "a",
        "long",
        "beside",
        "waits",
        "after",
    ]


@pytest.mark.parametrize("last", ["true", "false"])
def test_all_that_wait_for_a_failed_parallel_state_are_skipped(machine: Machine, last: str) -> None:
    """One after another: nothing runs any more that could be waited for."""
    names = ["p", "one", "two", "three", "last"]
    text = "".join(
        f"{name}:\n  cmd.run:\n    - name: 'false'\n"
        f"    - parallel: {last if name == 'last' else 'true'}\n"
        f"    - require: [{before and 'cmd: ' + before}]\n"
        for before, name in zip(["", *names], names, strict=False)
    )
    machine.write(a=text)
    found = machine.results("sls", "a", code=2)
    assert found.keys() == {*names}
    assert found["last"]["comment"] == "One or more requisite failed: a.three"


def test_a_failure_that_ends_the_run_starts_nothing_that_was_put_off(machine: Machine) -> None:
    machine.write(
        a=(
            "long:\n  cmd.run:\n    - name: sleep 0.5\n    - parallel: True\nwaits:\n  cmd.run:\n  "
            "  - name: echo waits >> {tmp}/log\n    - parallel: True\n    - require: [cmd:"
            " long]\nfails:\n  test.fail_without_changes:\n    - failhard: True\n"
        )
    )
    assert set(machine.results("sls", "a", code=2)) == {"long", "fails"}
    assert not (machine.folder / "log").exists()


def test_no_more_states_side_by_side_than_the_configuration_allows(machine: Machine) -> None:
    machine.config |= {"state_max_parallel": 1}
    line = "echo {0} >> {{tmp}}/log; sleep 0.2; echo {0} >> {{tmp}}/log"
    states = (
        f"s{n}:\n  cmd.run:\n    - name: {line.format(n)}\n    - parallel: True\n" for n in range(3)
    )
    machine.write(a="".join(states))
    machine("sls", "a")
    assert (machine.folder / "log").read_text().split() == ["0", "0", "1", "1", "2", "2"]


def test_a_parallel_state_reacts_to_what_it_watches(machine: Machine) -> None:
    machine.write(
        t=(
            "a: {test.succeed_with_changes: [{parallel: true}]}\n"
            "b: {cmd.wait: [{name: echo reacted}, {parallel: true}, {watch: [{test: a}]}]}\n"
        )
    )
    assert machine.results("sls", "t")["b"]["changes"]["stdout"] == "reacted"


MEETING = """
import time
from pathlib import Path
from modules import file
from runner.api import AbsolutePath, Plan, Planned

met = []


def now(path: str) -> bytes:
    return Path(path).read_bytes() if Path(path).exists() else b""


def line(name: str, of: AbsolutePath) -> Planned:
    old = file.read_bytes(of) if file.is_file(of) else b""
    yield Plan({of: name}, "It will be there.")
    met.append(name)
    while len(met) < 2:  # both have looked
        time.sleep(0.01)
    while len(met) == 2 and met[0] != name and now(of) == old:  # the first one has written
        time.sleep(0.01)
    with file.backed_up(of, bool(old)):
        file.write(of, old + name.encode())
    return "It is there now."
"""


@pytest.mark.parametrize(("there", "other"), [("one\n", "link"), ("one\n", "f"), (None, "f")])
def test_edits_of_one_file_side_by_side_lose_none(
    machine: Machine, there: str | None, other: str
) -> None:
    """Both look before one of them writes, with a copy beside it; and many without a meeting."""
    (machine.folder / "states/_states").mkdir()
    (machine.folder / "states/_states/box.py").write_text(MEETING)
    if there:
        (machine.folder / "f").write_text(there)
        (machine.folder / "link").symlink_to("f")
    text = "".join(
        f"{text}:\n  box.line: [of: '{{tmp}}/{of}', parallel: true]\n"
        for text, of in (("two", "f"), ("three", other))
    ) + "".join(
        f"s{n}:\n  file.append: [name: '{{tmp}}/g', text: l{n}, parallel: true]\n"
        for n in range(12)
    )
    machine.write(a=text)
    found = machine.results("sls", "a")
    assert all(result["result"] and result["changes"] for result in found.values()), found
    assert "two" in (whole := (machine.folder / "f").read_text()) and "three" in whole
    assert sorted((machine.folder / "g").read_text().split()) == sorted(f"l{n}" for n in range(12))


OVERTAKEN = """
from pathlib import Path
from modules import file
from runner.api import AbsolutePath, Plan, Planned

def both(name: str, of: AbsolutePath, other: str) -> Planned:
    paths = [of, of + "2"]
    old = {path: file.read_bytes(path) if file.is_file(path) else b"" for path in paths}
    left = {path: "x" for path in paths if b"x" not in old[path]}
    if not left:
        return "Both are there."
    yield Plan(left, "They will be there.")
    for path in left:
        if path == paths[1] and not file.exists(path):
            Path(path).write_text(other)  # by somebody else
        file.write(path, old[path] + b"x")
    return "They are there now."

def classic(name):
    file.write(name, b"ran")
    if not file.exists(name + "2"):
        Path(name + "2").write_text("by somebody else")
        file.write(name + "2", b"ran")
    return {"name": name, "result": True, "changes": {"file": "written"}, "comment": ""}
"""


def test_who_is_overtaken_tells_what_it_had_changed_and_links_are_replaced(
    machine: Machine,
) -> None:
    """One state goes on, one finds all done; one that plans nothing does nothing twice."""
    (machine.folder / "states/_states").mkdir()
    (machine.folder / "states/_states/box.py").write_text(OVERTAKEN)
    for name, target in (("link", "g"), ("dangling", "nowhere")):
        (machine.folder / name).symlink_to(target)
    (machine.folder / "g").write_text("g")
    machine.write(
        a="".join(f"{n}: {{box.both: [of: '{{tmp}}/{n}', other: {n}]}}\n" for n in ("z", "x"))
        + "c: {box.classic: [name: '{tmp}/c']}\n"
        + "".join(
            f"{n}: {{file.managed: [name: '{{tmp}}/{n}', contents: n, follow_symlinks: false]}}\n"
            for n in ("link", "dangling")
        )
    )
    found = machine.results("sls", "a", code=2)
    at = {name: str(machine.folder / name) for name in ("z", "z2", "x", "x2", "c2")}
    assert found["z"]["changes"] == {at["z"]: "x", at["z2"]: "x"}
    assert found["x"]["result"] and at["x"] in found["x"]["changes"]
    assert not found["c"]["result"] and found["c"]["comment"].startswith(f"{at['c2']} was changed")
    assert (machine.folder / "z2").read_text() == "zx"
    assert (machine.folder / "c2").read_text() == "by somebody else"
    for name in ("link", "dangling"):
        assert found[name]["result"] and not (machine.folder / name).is_symlink(), found[name]
    assert (machine.folder / "g").read_text() == "g"


@pytest.mark.parametrize("between", ["", "prereq: [cmd: c]"])
@pytest.mark.parametrize("end", ["false", "touch {tmp}/made"])
def test_a_look_waits_for_what_the_state_it_looks_at_requires(
    machine: Machine, end: str, between: str
) -> None:
    last = "require: [cmd: p], creates: '{tmp}/made'"
    machine.write(
        a=f"p: {{cmd.run: [name: 'sleep 0.5; {end}', parallel: true]}}\n"
        "h: {test.succeed_with_changes: [prereq: [cmd: b]]}\n"
        f"b: {{cmd.run: [name: 'true', {between or last}]}}\n"
        + (f"c: {{cmd.run: [name: 'true', {last}]}}\n" if between else "")
    )
    found = machine.results("sls", "a", code=2 if end == "false" else 0)
    assert not found["h"]["changes"], "nothing is to be prepared"
    assert found["h"]["result"] is (end != "false")


def test_a_look_goes_no_further_than_failhard(machine: Machine) -> None:
    machine.write(
        a="p: {cmd.run: [name: 'sleep 0.5; false', parallel: true, failhard: true]}\n"
        "h: {test.succeed_with_changes: [prereq: [cmd: b]]}\n"
        "b: {cmd.run: [name: 'true', require: [cmd: p]]}\n"
    )
    assert machine.results("sls", "a", code=2).keys() == {"p"}


@pytest.mark.parametrize("beside", ["", ", parallel: true"])
@pytest.mark.parametrize("end", ["", "; false"])
def test_a_change_waits_for_the_parallel_state_that_prepares_it(
    machine: Machine, end: str, beside: str
) -> None:
    machine.write(
        a="p: {cmd.run: [name: sleep 0.2, parallel: true]}\n"
        f"h: {{cmd.run: [name: 'sleep 0.5; touch {{tmp}}/h{end}', parallel: true, prereq: [cmd: b],"
        " require: [cmd: p]]}\n"
        f"b: {{cmd.run: [name: 'test -e {{tmp}}/h'{beside}]}}\n"
    )
    found = machine.results("sls", "a", code=2 if end else 0)
    assert found["b"]["result"] is (None if end else True)


@pytest.mark.parametrize("look", ["", "h: {test.nop: [prereq: [file: f]]}\n"])
def test_a_state_waits_for_the_parallel_one_that_it_comes_after_by_itself(
    machine: Machine, look: str
) -> None:
    machine.write(
        a="d: {file.directory: [name: '{tmp}/d', parallel: true, onlyif: sleep 0.5]}\n"
        f"{look}f: {{file.managed: [name: '{{tmp}}/d/f', contents: x]}}\n"
    )
    assert all(found["result"] for found in machine.results("sls", "a").values())
