# SPDX-License-Identifier: Apache-2.0
"""A machine for tests: a copy of this one in which runner applies a tree for real."""

from __future__ import annotations

import base64
import json
import os
import pwd
import sys
from collections.abc import Iterator, Mapping, Sequence
from types import TracebackType
from typing import Any

from runner.api.own_program import MAIN, own_python
from runner.engine.rehearsal.holder import ENVIRONMENT
from runner.engine.rehearsal.sandbox import Sandbox, SandboxUnavailable
from runner.model.records import Record
from runner.output import expectations as shown
from runner.sources.config import load as config_load
from runner.tools.expectations import evaluation, reading

Unavailable = SandboxUnavailable
Paths = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]
SECONDS = 600.0  # that a run or a command may take


class Output(Record):
    """What a command left."""

    exit_status: int
    stdout: str
    stderr: str


class State(Record):
    """The result of one state. result: None if it would change something; ran: a requisite did not
    keep it from being run.
    """

    id: str
    name: str
    function: str
    sls: str | None
    result: bool | None
    changes: Any
    comment: str
    ran: bool
    warnings: tuple[str, ...] = ()

    @property
    def changed(self) -> bool:
        """Return whether it changed something, or in a dry run would."""
        return bool(self.changes) or self.result is None

    def __str__(self) -> str:
        return f"{self.function} {self.id}: {self.comment}"


class Run:
    """A run of runner: its states by their IDs.

    exit_code: runner's; errors: what kept it from being run; stderr: warnings.
    """

    def __init__(self, command: str, done: Output) -> None:
        self.command, self.exit_code, self.stderr = command, done.exit_status, done.stderr
        self.states: tuple[State, ...] = ()
        self.errors: tuple[str, ...] = ()
        try:
            answer = json.loads(done.stdout)["local"]
        except (ValueError, KeyError, TypeError):
            self.errors = (done.stderr.strip() or done.stdout.strip(),)
            return
        if isinstance(answer, list):
            self.errors = tuple(map(str, answer))
        else:
            self.states = tuple(_state(tag, result) for tag, result in answer.items())

    def __getitem__(self, key: str | tuple[str, str]) -> State:
        """The state of an ID; `run[ID, "file.managed"]` or `run[ID, NAME]` where it has several."""
        id_, detail = key if isinstance(key, tuple) else (key, None)
        found = [
            state
            for state in self.states
            if state.id == id_ and detail in (None, state.function, state.name)
        ]
        if len(found) == 1:
            return found[0]
        having = ", ".join(f"{state.id!r}, {state.function!r}" for state in found or self.states)
        what = f"has {len(found)} states" if found else "has no state"
        raise LookupError(f"{key!r} {what} in this run: {having or 'it has none'}")

    def __contains__(self, id_: object) -> bool:
        return any(state.id == id_ for state in self.states)

    def __iter__(self) -> Iterator[State]:
        return iter(self.states)

    def __len__(self) -> int:
        return len(self.states)

    def __repr__(self) -> str:
        return f"<{self.command}: {len(self.changed)} of {len(self)} changed>"

    @property
    def changed(self) -> list[State]:
        """The states that changed something, or in a dry run would."""
        return [state for state in self.states if state.changed]

    @property
    def failed(self) -> list[State]:
        return [state for state in self.states if state.result is False]

    def check(self) -> Run:
        """The run itself. Raises AssertionError when it did not compile or a state failed."""
        __tracebackhide__ = True
        if self.errors:
            raise AssertionError(f"{self.command}: nothing was run\n" + "\n".join(self.errors))
        if self.failed:
            failed = "\n".join(f"  {state}" for state in self.failed)
            raise AssertionError(f"{self.command}: failed:\n{failed}")
        return self


def _state(tag: str, result: Mapping[str, Any]) -> State:
    state, *_, function = tag.split("_|-")
    return State(
        str(result["__id__"]),
        str(result["name"]),
        f"{state}.{function}",
        result["__sls__"],
        result["result"],
        result["changes"],
        str(result["comment"]),
        result.get("__state_ran__", True),
        tuple(result.get("warnings", ())),
    )


class File:
    """A path of the machine, as it was when it was looked at; links are followed.

    kind: file, directory, symlink (one that leads nowhere), socket, pipe or device; "" where there
    is nothing. target: what a symlink has; mode: four octal digits.
    """

    def __init__(self, path: str, found: Mapping[str, Any]) -> None:
        self.path = path
        self.kind: str = found.get("kind", "")
        self.exists = bool(self.kind)
        self.mode: str = found.get("mode", "")
        self.owner: str = found.get("owner", "")
        self.group: str = found.get("group", "")
        self.size: int = found.get("size", 0)
        self.target: str | None = found.get("target")
        self._data: str | None = found.get("data")

    def __repr__(self) -> str:
        return f"<{self.path}: {self.kind or 'not there'}>"

    @property
    def is_dir(self) -> bool:
        return self.kind == "directory"

    @property
    def is_link(self) -> bool:
        return self.target is not None

    @property
    def bytes(self) -> bytes:
        """Its contents. Raises AssertionError for what is no file."""
        if self._data is None:
            raise AssertionError(f"{self.path} is {self.kind or 'not there'}")
        return base64.b64decode(self._data)

    @property
    def text(self) -> str:
        """Its contents, as UTF-8. Raises AssertionError for what is no file."""
        return self.bytes.decode()


LOOK = """
import base64, grp, json, os, pwd, stat, sys
path, found = sys.argv[1], {}
kinds = {stat.S_IFREG: "file", stat.S_IFDIR: "directory", stat.S_IFLNK: "symlink",
         stat.S_IFSOCK: "socket", stat.S_IFIFO: "pipe"}
def name(get, number):
    try:
        return get(number)[0]
    except KeyError:
        return str(number)
if os.path.lexists(path):
    status = os.stat(path) if os.path.exists(path) else os.lstat(path)
    kind = kinds.get(stat.S_IFMT(status.st_mode), "device")
    found = {"kind": kind, "mode": f"{stat.S_IMODE(status.st_mode):04o}", "size": status.st_size,
             "owner": name(pwd.getpwuid, status.st_uid), "group": name(grp.getgrgid, status.st_gid),
             "target": os.readlink(path) if os.path.islink(path) else None}
    if kind == "file":
        with open(path, "rb") as file:
            found["data"] = base64.b64encode(file.read()).decode()
print(json.dumps(found))
"""
WRITE = 'mkdir -p -- "$(dirname -- "$1")" && cat >"$1" && chmod "$2" -- "$1"'


class Machine:
    """A copy of this machine to try a tree on; the tree lies where it lies here."""

    def __init__(
        self, box: Sandbox, folder: str = "", options: Sequence[str] = (), config: str | None = None
    ) -> None:
        """folder: what relative paths are relative to. options: runner's, for all runs. config:
        runner's configuration file.
        """
        self.box, self._config = box, config
        self._environment = {**ENVIRONMENT, "HOME": pwd.getpwuid(os.geteuid()).pw_dir}
        self._folder = folder or os.getcwd()
        self._pillar: str | None = None  # on stdin: everybody can read a command line
        self._options = [*options, "--config", config] if config else [*options]

    @classmethod
    def start(
        cls,
        *,
        folder: str = "",
        tree: Paths = (),
        pillar_tree: Paths = (),
        pillar: Mapping[str, Any] | None = None,
        config: str | None = None,
        id: str | None = None,
        network: str = "none",
    ) -> Machine:
        """A machine that runs; `with` ends it. Raises Unavailable where there can be none.

        tree, pillar_tree: directories. pillar: more of it. id: the machine's. network: none or
        host.
        """
        options = []
        for option, paths in (("--state-tree", tree), ("--pillar-tree", pillar_tree)):
            for path in [paths] if isinstance(paths, str | os.PathLike) else paths or ():
                options += [option, os.path.join(folder, path)]
        if pillar:
            options += ["--pillar", "-"]
        if id:
            options += ["--id", id]
        config = os.path.join(folder, config) if config else None
        made = cls(Sandbox(network=network), folder, options, config)
        made._pillar = json.dumps(pillar) if pillar else None
        made.box.start()
        return made

    def __enter__(self) -> Machine:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.box.close()

    @property
    def own_folders(self) -> tuple[str, ...]:
        """The directories that runner itself writes to. Raises RunnerError for a configuration
        that cannot be read.
        """
        options, _ = config_load.load(self._config, {}, self._environment)
        return options.state_dir, options.cachedir

    # ------------------------------------------------------------ runner

    def runner(self, *words: str, input: str | None = None) -> Output:
        """Run runner with the words of a command line."""
        argv = [*own_python(MAIN), *words]
        return self._output(argv, input)

    def highstate(self, *, test: bool = False, check: bool = True) -> Run:
        """Apply everything that the top file gives this machine. Raises AssertionError when a state
        fails, unless check is false. test: a dry run.
        """
        __tracebackhide__ = True
        return self._run(["highstate"], test, check)

    def sls(self, *names: str, test: bool = False, check: bool = True) -> Run:
        """Apply SLS files. Arguments as those of `highstate`."""
        __tracebackhide__ = True
        return self._run(["sls", *names], test, check)

    def single(
        self,
        function: str,
        name: str | None = None,
        /,
        *,
        test: bool = False,
        check: bool = True,
        **arguments: Any,
    ) -> Run:
        """Run one state. Raises as `highstate`."""
        __tracebackhide__ = True
        given = arguments if name is None else {"name": name, **arguments}
        words = [f"{key}={json.dumps(value)}" for key, value in given.items()]
        return self._run(["single", function, *words], test, check)

    def dry(self, *names: str, check: bool = True) -> Run:
        """Return what SLS files would change, or without a name the highstate."""
        __tracebackhide__ = True
        words = ["sls", *names] if names else ["highstate"]
        return self._run(words, True, check)

    def _run(self, words: Sequence[str], test: bool, check: bool) -> Run:
        __tracebackhide__ = True
        words = [*words, "--test"] if test else [*words]
        done = self.runner(*words, "--out", "json", *self._options, input=self._pillar)
        made = Run(" ".join(["runner", *words]), done)
        return made.check() if check else made

    # ------------------------------------------------------------ the machine

    def command(self, command: str | Sequence[str], *, input: str | None = None) -> Output:
        """Run a command: a line of shell, or a program with its arguments."""
        argv = ["sh", "-c", command] if isinstance(command, str) else [*command]
        return self._output(argv, input)

    def _output(self, argv: Sequence[str], input: str | None = None) -> Output:
        done = self.box.run(argv, input=input, timeout=SECONDS, env=self._environment)
        return Output(done.returncode, done.stdout, done.stderr)

    def file(self, path: str) -> File:
        """Return what is at a path now."""
        done = self._output([sys.executable, "-I", "-S", "-c", LOOK, path])
        if done.exit_status:
            raise AssertionError(f"{path}: {done.stderr.strip().rpartition(chr(10))[2]}")
        return File(path, json.loads(done.stdout))

    def write(self, path: str, text: str, mode: str = "0644") -> None:
        """Put a file there, with its directories. Raises AssertionError where that fails."""
        done = self._output(["sh", "-c", WRITE, "sh", path, mode], text)
        if done.exit_status:
            raise AssertionError(f"{path}: {done.stderr.strip()}")

    def expect(
        self,
        expectations: Mapping[str, Any] | str | os.PathLike[str],
        *,
        patience: float = evaluation.PATIENCE,
    ) -> None:
        """Hold the machine against expectations: a file of them, or a mapping as one has it.

        Raises AssertionError with all that does not hold, RunnerError for mistakes in them.
        patience: seconds to wait for what does not answer yet.
        """
        __tracebackhide__ = True
        if isinstance(expectations, Mapping):
            wanted = reading.of_data(expectations)
        else:
            wanted = reading.load(os.path.join(self._folder, expectations))
        outcomes = evaluation.evaluate(wanted, self.box.run, self._config, patience)
        if any(outcome.ok is False for outcome in outcomes):
            report = (line for line, _ in shown.lines(outcomes))
            raise AssertionError("\n".join(["expectations do not hold:", *report]))
