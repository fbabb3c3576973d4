# SPDX-License-Identifier: Apache-2.0
"""Tries machine scenarios by the three laws, each on a fresh throw-away copy of this computer.

Runs beside the tests: reads numbers of scenarios, a line each (`NUMBER undone`: whether undo brings
back what was there), and prints what came of each as a line of JSON. The imports are done once;
every copy is a process that forked off here.
"""

from __future__ import annotations

import ctypes
import json
import os
import re
import select
import signal
import subprocess
import sys
import traceback
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import laws
import yaml
from carried_out import Trial, snapshot
from harness import HarnessHere, apply, foresee, look
from hostile import with_hostile_values
from law_table import is_good
from laws import Scenario
from sharing import apply_as_engine
from trying import REGISTRY, Answer, Current, answer, bound, tried
from validation import is_excepted, refused, wrote

from runner.api import Plan, StateFailed
from runner.engine.rehearsal.holder import Spec, hold, unpack
from runner.engine.rehearsal.namespaces import die_with_parent
from runner.model.errors import RunnerError

PATIENCE = 600  # seconds for a scenario, on a busy machine
WATCHED = tuple(
    """
    /etc/passwd /etc/group /etc/shadow /var/lib/dpkg/status /run/tick
    /var/spool/cron/crontabs/root /etc/apt/sources.list /etc/hosts /etc/fstab /etc/aliases
    /etc/timezone /etc/localtime /etc/sysctl.conf /etc/default/locale /proc/self/mounts
    /home/zoe/.ssh/authorized_keys /etc/apt/sources.list.d/ex.list /etc/hostname
    /etc/network/interfaces /etc/network/if-up.d/route-eth7 /var/lib/rpm/rpmdb.sqlite
    /etc/yum.repos.d/local.repo /etc/yum.repos.d/old.repo /etc/dnf/plugins/versionlock.list
    /etc/zypp/locks /etc/zypp/repos.d/local.repo /usr/share/greeting/version /etc/pacman.conf
    /etc/pacman.d/more.conf
    """.split()
)
BESIDE = re.compile(
    r".*(-|\.pwd\.lock)|/etc/rc[0-6]\.d/K.*|/etc/systemd/.*\.wants|.*/atjobs/.*|/etc/zypp/locks"
)
ACCOUNTS = {f"/etc/{name}" for name in "passwd shadow group gshadow subuid subgid".split()}
FOLDERS = ("/boot", "/etc", "/home", "/srv", "/var/spool")
CONFIGURATION = Path("/etc/runner/runner.yaml")  # a layer that has it says its providers there


def state() -> dict[str, Any]:
    """Return what dry runs must not touch."""
    found = {
        path: Path(path).read_bytes().hex() if Path(path).exists() else None for path in WATCHED
    }
    return found | {"links": sorted(str(path) for path in Path("/etc").glob("rc*.d/*"))}


def providers(scenario: Scenario) -> dict[str, str]:
    """Return which package manager, ... is tried: the layer says, or the scenario."""
    text = CONFIGURATION.read_text() if CONFIGURATION.exists() else "{}"
    named = {scenario.function.partition(".")[0]: scenario.args.get("provider")}
    return {**yaml.safe_load(text).get("providers", {}), **{k: v for k, v in named.items() if v}}


def attempt(scenario: Scenario, others: Sequence[Scenario] = ()) -> dict[str, Any]:
    """Look, change and look again, on the machine that this is; a user without rights has tried it
    before. others: scenarios to try then.
    """
    prepared = prepare(scenario)

    def here(dry: bool) -> HarnessHere:
        return HarnessHere(dry=dry, providers=providers(scenario), offline=scenario.offline)

    told: dict[str, Any] = {"fails": None, "prepared": prepared, "sure": False}
    if others:
        told["somebody"] = as_somebody(lambda: tried(scenario, None, here))
    told |= behind(scenario, here) if scenario.after else {}
    told |= as_root(scenario, here)
    told["others"] = [tried(other, None, here) for other in others]
    return told


def prepare(scenario: Scenario) -> str:
    """Prepare the machine for a scenario; what that said in error."""
    argv = ["sh", "-c", scenario.prepare]
    done = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    return done.stderr


def undone(scenario: Scenario) -> dict[str, Any]:
    """Run a state by the command line, and undo the run: what is left of it, and what undo says."""
    prepare(scenario)
    here = HarnessHere(providers=providers(scenario), offline=scenario.offline)
    for function, args in scenario.after:
        maker = Scenario(function, args)
        apply(REGISTRY.state(function).function, **bound(maker), current=here)
    before = files()
    trial = Trial(scenario, Path("/tmp"))
    trial.config |= {"providers": providers(scenario), "offline": scenario.offline}
    result = trial.run()
    foreseen = trial.undo("--test")
    done = trial.undo()
    after = files()
    return {
        "result": result,
        "foretold": foreseen == done,
        "unsaid": foreseen[1],
        "left": sorted(path for path in {*before, *after} if before.get(path) != after.get(path)),
    }


def files() -> dict[str, Any]:
    """What states could change, without what useradd keeps beside its files and the order of the
    lines there, update-rc.d and systemctl of what does not start, and without at's jobs, which it
    numbers anew.
    """
    found = {path: at for folder in FOLDERS for path, at in snapshot(Path(folder)).items()}
    for path in Path("/var/spool/cron/crontabs").glob("*"):  # crontab(1) notes when it wrote it
        lines = [line for line in path.read_bytes().split(b"\n") if not line.startswith(b"# (")]
        found[str(path)] = (*found[str(path)][:-1], lines)
    for path in ACCOUNTS & found.keys():  # useradd and groupadd append
        found[path] = (*found[path][:-1], sorted(found[path][-1].split(b"\n")))
    return {path: at for path, at in found.items() if not BESIDE.fullmatch(path)}


def behind(scenario: Scenario, here: Current) -> dict[str, Any]:
    """What a look says behind the plans of the states that make what it needs, and what it says
    behind their changes, which are there then.
    """
    planned = here(True)
    makers = [Scenario(function, args) for function, args in scenario.after]
    functions = [REGISTRY.state(maker.function).function for maker in makers]
    foreseen = [
        foresee(function, **bound(maker), current=planned)
        for function, maker in zip(functions, makers, strict=True)
    ]
    said = answer(dry_look, scenario, planned)
    for function, maker in zip(functions, makers, strict=True):
        apply(function, **bound(maker), current=here(False))
    return {"foreseen": foreseen, "said": said, "there": answer(dry_look, scenario, here(True))}


def dry_look(scenario: Scenario, current: HarnessHere) -> Answer:
    outcome = look(REGISTRY.state(scenario.function).function, **bound(scenario), current=current)
    kind = "plans" if isinstance(outcome, Plan) else "done"
    return kind, f"{outcome.comment}\n{json.dumps(outcome.changes, default=str)}"


def as_root(scenario: Scenario, here: Current) -> dict[str, Any]:
    """What the laws want to know of a scenario."""
    function = REGISTRY.state(scenario.function).function
    before = state()
    try:
        arguments = bound(scenario)
        plan = look(function, **arguments, current=here(True))
    except (StateFailed, RunnerError) as failure:
        return {"fails": failure.message, "untouched": state() == before}
    answer = {"untouched": state() == before, "plans": isinstance(plan, Plan)}
    answer |= {"sure": isinstance(plan, Plan) and plan.exact, "keys": sorted(plan.changes or {})}
    planned = here(True)
    if foresee(function, **arguments, current=planned) and scenario.converges:
        ahead = look(function, **arguments, current=planned)
        answer["ahead"] = ahead.comment if isinstance(ahead, Plan) else None
    refusal = refused(function, arguments, here, state)
    current = here(False)
    done = apply_as_engine(scenario, None, arguments, current)
    again = look(function, **arguments, current=here(True))
    return answer | {
        "made": sorted(done.changes or {}),
        "again": isinstance(again, Plan),
        "comment": done.comment,
        "unvalidated": wrote(current) and not refusal and not is_excepted(scenario.function),
    }


def as_somebody(task: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """What a task answers as a user without rights, who may read everything as the tests do."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(reading)
        libc = ctypes.CDLL(None)
        libc.prctl(8, 1, 0, 0, 0)  # PR_SET_KEEPCAPS
        os.setgroups([])
        os.setresgid(65534, 65534, 65534)
        os.setresuid(65534, 65534, 65534)
        header, data = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)(*[1 << 2] * 3)
        libc.capset(header, data)  # CAP_DAC_READ_SEARCH
        libc.prctl(47, 2, 2, 0, 0)  # PR_CAP_AMBIENT_RAISE: what it starts has it, too
        libc.prctl(4, 1, 0, 0, 0)  # PR_SET_DUMPABLE: its own /proc/PID/fd
        os.environ["HOME"] = "/nonexistent"
        _report(task, writing)
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as told:
        text = told.read()
    os.waitpid(pid, 0)
    return json.loads(text)  # type: ignore[no-any-return]


def on_a_copy(spec: Spec, task: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """Return what a task answers on a fresh copy of a machine; or {"error": the traceback}."""
    reading, writing = os.pipe()
    asker = os.getpid()
    pid = os.fork()
    if pid == 0:
        os.close(reading)
        os._exit(hold(spec, lambda: _report(task, writing), asker))
    os.close(writing)
    if not select.select([reading], [], [], PATIENCE)[0]:
        os.kill(pid, signal.SIGTERM)
    with os.fdopen(reading) as told:
        text = told.read()
    os.waitpid(pid, 0)
    answer = (
        json.loads(text)
        if text
        else {"error": f"no answer after {PATIENCE} s, or no machine: see stderr"}
    )
    assert isinstance(answer, dict)
    return answer


def _report(task: Callable[[], dict[str, Any]], writing: int) -> None:
    try:
        answer = task()
    except BaseException:
        answer = {"error": traceback.format_exc()}
    with os.fdopen(writing, "w") as told:
        told.write(json.dumps(answer))


def main() -> None:
    die_with_parent(signal.SIGKILL)
    spec = Spec.load(sys.argv[1])
    unpack(spec.layer)
    scenarios = laws.machine_scenarios()
    others = {id(scenario): more for scenario, more in with_hostile_values(scenarios)}
    for line in sys.stdin:
        number, _, law = line.partition(" ")
        scenario = scenarios[int(number)]
        if law:
            print(json.dumps(on_a_copy(spec, partial(undone, scenario))), flush=True)
            continue
        more = others.get(id(scenario), ()) if is_good(scenario) else ()
        answer = on_a_copy(spec, partial(attempt, scenario, more))
        if answer.get("somebody", {}).get("real", [""])[0] == "done":  # root had nothing to do
            answer |= on_a_copy(spec, partial(attempt, scenario)) | {"others": answer["others"]}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
