# SPDX-License-Identifier: Apache-2.0
"""The cost of a run grows in proportion to the work: counted in lines carried out, not in time."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from command import Machine
from needing import needs_root

from runner.engine import shared_commit
from runner.history import journal
from runner.model.errors import CompileError
from runner.pipeline import stages
from runner.sources.config import load as config
from runner.support.drawing import page
from runner.support.files import group_commit
from runner.tools.check import check
from runner.tools.queries import explain, run_page


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """What waits for others waits for their number alone: on a slow machine, too."""
    monkeypatch.setattr(shared_commit, "LONGEST_WAIT", 3600)
    monkeypatch.setattr(journal, "LONGEST_WAIT", 3600)
    monkeypatch.setattr(group_commit, "_is_little_dirty", bool)


def states(count: int, *requisites: str, first: int = 0) -> str:
    return "".join(
        f"s{n}:\n  test.nop:\n    - order: {n}\n"
        + "".join(each.format(n=n, next=n + 1) for each in requisites)
        for n in range(first, count)
    )


def listed(name: str, count: int) -> str:
    return f"c:\n  test.succeed_with_changes:\n    - {name}:\n" + "".join(
        f"      - test: s{n}\n" for n in range(count)
    )


LOADS: dict[str, Callable[[int], str]] = {
    "require": lambda n: states(n, "    - require: [{{test: s{next}}}]\n") + f"s{n}: test.nop\n",
    "require_in": lambda n: (
        states(n, "    - require_in: [{{test: s{next}}}]\n") + f"s{n}: test.nop\n"
    ),
    "one list of require": lambda n: listed("require", n) + states(n),
    "one list of require_in": lambda n: listed("require_in", n) + states(n),
    "one list of listen_in": lambda n: listed("listen_in", n) + states(n),
    "listen": lambda n: (
        "c: test.succeed_with_changes\n" + states(n, "    - listen: [{{test: c}}]\n")
    ),
    "watch": lambda n: "c: test.succeed_with_changes\n" + states(n, "    - watch: [{{test: c}}]\n"),
    "prereq": lambda n: "c: test.nop\n" + states(n, "    - prereq: [{{test: c}}]\n"),
    "globs": lambda n: (
        states(n, "    - require: [{{test: 'g{n}*'}}]\n")
        + "".join(f"g{k}_x: test.nop\n" for k in range(n))
    ),
    "accumulated": lambda n: (
        "f: {file.exists: [name: /]}\n"
        + "".join(
            f"s{k}: {{file.accumulated: [filename: /x, text: {k}, require_in: [file: f]]}}\n"
            for k in range(n)
        )
    ),
    "a chain": lambda n: (
        states(n) + "chain:\n  - '" + " -> ".join(f"test: s{k}" for k in range(n)) + "'\n"
    ),
    "chains": lambda n: (
        states(n)
        + "chain:\n"
        + "".join(f"  - 'test: s{k} -> test: s{k + 1}'\n" for k in range(n - 1))
    ),
    "extend": lambda n: (
        "extend:\n" + "".join(f"  s{k}: {{test: [x: 1]}}\n" for k in range(n)) + states(n)
    ),
    "names": lambda n: (
        "c:\n  test.nop:\n    - names: [" + ", ".join(f"n{k}" for k in range(n)) + "]\n"
    ),
    "a loop": lambda n: f"{{% for k in range({n}) %}}\ns{{{{ k }}}}: test.nop\n{{% endfor %}}\n",
    "unknown arguments": lambda n: states(n, "    - nmae: x\n"),
}


def chain_of_files(count: int) -> dict[str, str]:
    """SLS files each of which includes the next, in an order that does not say so."""
    numbers = [7 * n % count for n in range(count)]  # count is no multiple of 7
    files = {f"s{of}": f"include: [s{to}]\ns{of}: test.nop\n" for of, to in pairwise(numbers)}
    return files | {f"s{numbers[-1]}": "last: test.nop\n"}


TREES: dict[str, Callable[[int], dict[str, str]]] = {
    "a chain of includes": chain_of_files,
    "a circle of includes": lambda n: {
        f"s{k}": f"include: [s{(k + 1) % n}]\ns{k}: test.nop\n" for k in range(n)
    },
    "files that nothing includes": lambda n: {f"s{k}": f"s{k}: test.nop\n" for k in range(n)},
    "states that react": lambda n: {
        "a": "c: test.succeed_with_changes\n" + states(n, "    - watch: [{{test: c}}]\n")
    },
}


def options_for(folder: Path, files: dict[str, str]) -> config.Options:
    folder.mkdir()
    for name, text in files.items():
        (folder / f"{name}.sls").write_text(text)
    (folder / "runner.yaml").write_text(
        json.dumps({"file_roots": {"base": [str(folder)]}, "id": "m"})
    )
    options, _ = config.load(
        str(folder / "runner.yaml"), {"cachedir": str(folder / "cache"), "quiet": True}, {}
    )
    return options


def counted(work: Callable[[], object], *further: str) -> int:
    """The lines of the engine and states that some work carries out, and those of further parts."""
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(stages.__file__))))
    ours = tuple(os.path.join(root, name, "") for name in ("runner", "states", *further))
    lines = 0

    def line(frame: Any, event: str, argument: object) -> Any:
        nonlocal lines
        lines += event == "line"
        return line

    def call(frame: Any, event: str, argument: object) -> Any:
        return line if frame.f_code.co_filename.startswith(ours) else None

    before = sys.gettrace()
    sys.settrace(call)
    try:
        work()
    except CompileError as error:
        raise AssertionError(error) from None
    finally:
        sys.settrace(before)
    return lines


@pytest.mark.parametrize("name", LOADS)
def test_the_cost_is_in_proportion(name: str, tmp_path: Path) -> None:
    def run(count: int) -> int:
        options = options_for(tmp_path / str(count), {"a": LOADS[name](count)})
        return counted(lambda: stages.sls(options, ["a"]))

    run(9)  # what is loaded once
    few, some, many = map(run, (60, 90, 180))
    assert many - some < 3.5 * (some - few), f"60: {few}, 90: {some}, 180: {many} lines"


RIGHTS = {"accounts": (needs_root("to read /etc/shadow"),)}
# a state of a file in which many states have a part; no two sizes have the same lines
ON_ONE_FILE = {
    "ini": "ini.options_present: [name: {file}, sections: {{S{n}: {{o{n}-{of}: v}}}}]",
    "fstab": "mount.fstab_present: [name: /d{n}-{of}, fs_file: /m{n}-{of}, fs_vfstype: ext4,"
    " mount: false, config: {file}]",
    "authorized_keys": "ssh_auth.present: [name: AAAA{n:04}{of}, user: root, config: {file}]",
    "known_hosts": "ssh_known_hosts.present: [name: h{n}-{of}.example, config: {file},"
    " enc: ssh-rsa, hash_known_hosts: false, key: AAAAB3NzaC1yc2EAAAADAQABAAAAgQD{n:05}{of:04}]",
    "mounts": "mount.mounted: [name: /m{n}-{of}, device: /d{n}-{of}, fstype: ext4, mount: false,"
    " config: {file}]",
    "logrotate": "logrotate.set: [name: /var/log/l{n}-{of}, key: rotate, value: 2,"
    " conf_file: {file}]",
    "hosts": "host.present: [name: h{n}-{of}.example, ip: 192.0.2.{n}]",
    "accounts": "user.present: [name: u{n}-{of}, maxdays: 90, groups: [users], subuids:"
    " ['{first}-{first}']]\n  group.present: [name: g{n}-{of}, gid: {first}, members: [root]]",
    "line": "file.line: [name: {file}, mode: insert, location: end, content: l{n}-{of}]",
    "replace": "file.replace: [name: {file}, pattern: ^l{n}-{of}.*, repl: 'l{n}-{of} v',"
    " append_if_not_found: true]",
    "keyvalue": "file.keyvalue: [name: {file}, key: k{n}-{of}, value: v,"
    " append_if_not_found: true]",
    "append": "file.append: [name: {file}, text: l{n}-{of}]",
    "blockreplace": "file.blockreplace: [name: {file}, marker_start: '# s{n:04}-{of}', marker_end:"
    " '# e{n:04}-{of}', content: v, append_if_not_found: true]",
}


PLANNED = ("accounts", "hosts")  # their files are this machine's


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[*RIGHTS.get(name, ())]) for name in ON_ONE_FILE]
)
def test_states_on_one_file_cost_in_proportion(name: str, tmp_path: Path) -> None:
    only_planned = name in PLANNED
    costs = []
    for count in (40, 80, 160):
        file = tmp_path / f"{count}.conf"
        file.write_text("")
        state = ON_ONE_FILE[name]
        text = "".join(
            f"s{n}:\n  {state}\n".format(file=file, n=n, of=count, first=500_000 * count + n)
            for n in range(count)
        )
        options = options_for(tmp_path / str(count), {"a": text})._replace(test=only_planned)

        def run(options: config.Options = options) -> None:
            results = stages.sls(options, ["a"]).results
            assert {result.result for result in results} == {None if only_planned else True}

        first = counted(run, "modules")
        costs.append((first, first if only_planned else counted(run, "modules")))
        assert only_planned or not any(
            result.changes for result in stages.sls(options, ["a"]).results
        )
    for few, some, many in zip(*costs, strict=True):
        assert many - some < 2.6 * (some - few), f"40: {few}, 80: {some}, 160: {many} lines"


IN_FORMS = ("require_in", "watch_in", "onchanges_in", "listen_in")
FORWARD = (*IN_FORMS, "prereq")  # refer to what runs later


@pytest.mark.parametrize(
    "kind", ["require", "watch", "onchanges_any", "listen", "glob", "prereq_in", *FORWARD]
)
def test_requisites_on_many_states_cost_what_is_written(kind: str, tmp_path: Path) -> None:
    """Each state of an SLS refers to all states of those before it (after it, by an `_in` form),
    beside the one above it: that is one line for each SLS, however many states these have.
    """

    is_forward = kind in FORWARD

    def sls(number: int, count: int) -> str:
        others = range(number + 1, 4) if is_forward else range(number)
        targets = [f"{{test: 't{n}_*'}}" if kind == "glob" else f"{{sls: s{n}}}" for n in others]
        asked = f"    - {'require' if kind == 'glob' else kind}: [{', '.join(targets)}]\n"
        return f"include: [{', '.join(f's{n}' for n in others)}]\n" + "".join(
            f"t{number}_{n}:\n  test.nop:\n    - order: {number * count + n}\n{asked}"
            + (f"    - require: [t{number}_{n - 1}]\n" if n and kind in IN_FORMS else "")
            for n in range(count)
        )

    def runs(count: int) -> tuple[int, int]:
        files = {f"s{number}": sls(number, count) for number in range(4)}
        options = options_for(tmp_path / str(count), files)
        first, _, kept = (
            counted(lambda: stages.sls(options, [f"s{0 if is_forward else 3}"])) for _ in range(3)
        )
        return first, kept

    runs(3)  # what is loaded once
    for few, some, many in zip(*map(runs, (20, 40, 80)), strict=True):
        assert many - some < 2.3 * (some - few), f"20: {few}, 40: {some}, 80: {many} lines"


@pytest.mark.parametrize(
    ("kind", "only"),
    [(kind, "") for kind in ("watch", "watch_any", "onchanges", "onfail", "listen", "listen_in")]
    + [("onchanges", "changes"), ("onchanges", "reacts"), ("listen_in", "changes")],
)
def test_reactions_to_many_states_cost_what_is_written(
    kind: str, only: str, tmp_path: Path
) -> None:
    """All states of an SLS alter a file, or fail with changes, and all of another react to them.
    only: the one that runs, empty for both.
    """
    source = "test.fail_with_changes: [" if kind == "onfail" else "file.managed: [contents: x, "
    ends = {"changes": "", "reacts": ""}
    asking, asked = ("changes", "reacts") if kind.endswith("_in") else ("reacts", "changes")
    ends[asking] = f", {kind}: [sls: {asked}]"

    def run(count: int) -> int:
        changing = "".join(
            f"c{n}: {{{source}name: {tmp_path}/{count}/new{n}, order: {n}{ends['changes']}]}}\n"
            for n in range(count)
        )
        reacting = "".join(
            f"r{n}: {{test.succeed_with_changes: [order: {count + n}{ends['reacts']}]}}\n"
            for n in range(count)
        )
        files = {"changes": changing, "reacts": reacting}
        files[asking] = f"include: [{asked}]\n{files[asking]}"
        options = options_for(tmp_path / str(count), files)
        options = options._replace(only=(f"sls:{only}",) if only else ())
        return counted(lambda: stages.sls(options, [asking]), "modules")

    run(3)  # what is loaded once
    few, some, many = map(run, (20, 40, 80))
    assert many - some < 2.3 * (some - few), f"20: {few}, 40: {some}, 80: {many} lines"


@pytest.mark.parametrize("kind", ["require", "prereq"])
@pytest.mark.parametrize("asked", ["page", "why", "run page"])
def test_to_show_requisites_on_many_states_costs_what_is_written(
    kind: str, asked: str, tmp_path: Path
) -> None:
    def show(count: int) -> int:
        first = "".join(f"a{n}: test.nop\n" for n in range(count))
        second = states(count, f"    - {kind}: [{{{{test: 'a*'}}}}]\n")
        options = options_for(tmp_path / str(count), {"a": first + second})
        if asked == "why":
            return counted(lambda: explain.why(options, "a0", ["a"]))
        if asked == "run page":
            stages.sls(options, ["a"])
            return counted(lambda: run_page.html(options, "last"))
        return counted(lambda: page.html(explain.picture(options, ["a"])[0], "x"))

    show(30)  # what is loaded once
    few, some, many = map(show, (60, 120, 240))
    assert many - some < 2.3 * (some - few), f"60: {few}, 120: {some}, 240: {many} lines"


@pytest.mark.parametrize("name", TREES)
def test_a_check_costs_in_proportion(name: str, tmp_path: Path) -> None:
    def checked(count: int) -> int:
        options = options_for(tmp_path / str(count), TREES[name](count))
        return counted(lambda: check(options))

    checked(2)  # what a process does once is no part of it
    few, some, many = map(checked, (20, 40, 80))
    assert many - some < 2.3 * (some - few), f"20: {few}, 40: {some}, 80: {many} lines"


def test_a_chain_of_includes_may_be_deeper_than_pythons_stack(tmp_path: Path) -> None:
    options = options_for(tmp_path / "tree", chain_of_files(1600))
    run = stages.sls(options._replace(test=True), ["s0"])
    assert len(run.results) == 1600


# prints how many functions of Python were called
COUNTED = """
import atexit, sys
from runner.cli import main
from runner.engine import shared_commit
from runner.history import journal
from runner.support.files import group_commit
shared_commit.LONGEST_WAIT = journal.LONGEST_WAIT = 3600
group_commit._is_little_dirty = bool  # the same whatever else this machine writes
calls = []
atexit.register(lambda: print(len(calls), file=sys.stderr))
sys.setprofile(lambda frame, event, argument: calls.append(1) if event == "call" else None)
main()
"""
MOST_CALLS = 570  # some 555 now, 830 once; each takes some 2,500 instructions


def test_a_new_file_passes_through_few_functions(machine: Machine) -> None:
    def calls(count: int) -> int:
        machine.write(
            **{
                f"s{count}": "".join(
                    f"{{tmp}}/{count}/{n}:\n  file.managed:\n    - contents: hello {n}\n"
                    "    - makedirs: True\n"
                    for n in range(count)
                )
            }
        )
        argv = machine.argv("sls", f"s{count}")
        argv[2] = COUNTED
        done = subprocess.run(
            argv, capture_output=True, text=True, env=machine.environment, cwd=machine.folder
        )
        assert done.returncode == 0, done.stderr
        return int(done.stderr.split()[-1])

    calls(2)  # the history is made
    few, many = calls(10), calls(50)
    each = (many - few) / 40
    assert each <= MOST_CALLS, each


# prints how often each file was opened by its path, and how many transactions asked the history
OPENED = """
import atexit, sys
from collections import Counter
from runner.cli import main
from runner.engine import shared_commit
from runner.history import journal, store
shared_commit.LONGEST_WAIT = journal.LONGEST_WAIT = 3600
opened, begun = Counter(), []
def hear(event, arguments):
    if event == "open":
        opened[arguments[0]] += 1
def connected(*arguments, **options):
    connection = connect(*arguments, **options)
    connection.set_trace_callback(lambda text: begun.append(1) if text == "BEGIN" else None)
    return connection
connect, store.connect = store.connect, connected
sys.addaudithook(hear)
out = sys.argv.pop()
def report():
    print(sum(opened[f"{out}/{n}"] for n in range(20)), len(begun), file=sys.stderr)
atexit.register(report)
main()
"""


def test_a_file_that_drifted_is_read_once(machine: Machine) -> None:
    """And what the history knows of all that wait for their names is asked together."""
    out = machine.folder / "out"
    machine.write(
        a="".join(
            f"{{tmp}}/out/{n}: {{file.managed: [contents: hello {n}, makedirs: true]}}\n"
            for n in range(20)
        )
    )
    machine("sls", "a")
    machine("sls", "a")
    for path in out.iterdir():
        path.write_text(f"drift {path.name}\n")
    argv = [*machine.argv("sls", "a"), str(out)]
    argv[2] = OPENED
    done = subprocess.run(
        argv, capture_output=True, text=True, env=machine.environment, cwd=machine.folder
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr.split() == ["21", "2"]  # the first is read before the run is kept
    assert (out / "7").read_text() == "hello 7\n"
    assert "drift" in machine("history", "show", "last").stdout
    machine("undo")
    assert (out / "7").read_text() == "drift 7\n"


@pytest.mark.parametrize(
    ("function", "requisite"),
    [("fail_without_changes", "require"), ("succeed_with_changes", "onchanges")],
)
def test_many_that_require_many_cost_in_proportion(
    function: str, requisite: str, tmp_path: Path
) -> None:
    costs = []
    for count in (40, 80, 160):
        needed = "".join(f"u{n}: {{test.{function}: []}}\n" for n in range(count))
        needing = "".join(f"r{n}: {{test.nop: [{requisite}: [sls: a]]}}\n" for n in range(count))
        options = options_for(tmp_path / str(count), {"a": needed, "b": f"include: [a]\n{needing}"})

        costs.append(counted(partial(stages.sls, options, ["b"])))
    few, some, many = costs
    assert many - some < 2.6 * (some - few), f"40: {few}, 80: {some}, 160: {many} lines"
