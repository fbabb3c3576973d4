# SPDX-License-Identifier: Apache-2.0
"""The runs of a rehearsal: a dry run, the real run, and a second one if that was asked for."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping, Sequence
from typing import Any

from runner.api.own_program import MAIN, own_python
from runner.engine.rehearsal.comparison import States, outcome
from runner.engine.rehearsal.observation import RESTLESS, Moment, Observed, moment, observed
from runner.engine.rehearsal.sandbox import Sandbox
from runner.model.records import Record

EVENTS = "/run/rehearsal"  # root's, or the user's, in an otherwise empty /run
NO_REPORTS = "RUNNER_NO_REPORTS"  # what a copy does is none of the machine's
SHUTDOWN = 5.0  # seconds that a copy has to end after a run that was ended by that
# sockets and sessions of the machine, which are not in a copy
NOT_HANDED_ON = (
    "DBUS_SESSION_BUS_ADDRESS DBUS_SYSTEM_BUS_ADDRESS DISPLAY GPG_AGENT_INFO LISTEN_FDNAMES"
    " LISTEN_FDS LISTEN_PID NOTIFY_SOCKET SSH_AUTH_SOCK WATCHDOG_PID WATCHDOG_USEC"
    " WAYLAND_DISPLAY XAUTHORITY"
)


class Inner(Record):
    """The command line that is rehearsed, without `runner`. options: those that say what is read
    (configuration, tree, pillar, ...). input: what they read from stdin.
    """

    words: tuple[str, ...]
    options: tuple[str, ...]
    input: str | None
    env: Mapping[str, str]
    cwd: str


class RehearsedRun(Record):
    """One run in a copy. states: their results, by Salt's keys."""

    code: int
    states: States
    out: str
    err: str

    @property
    def changed(self) -> list[str]:
        """The keys of the states that changed something or failed."""
        return [key for key in self.states if outcome(self.states[key]) in ("changed", "failed")]


class Rehearsal(Record):
    """What a rehearsal has shown. traces: what the dry run itself left behind."""

    dry: RehearsedRun
    real: RehearsedRun
    observed: Observed
    traces: Observed
    again: RehearsedRun | None = None
    observed_again: Observed = Observed()


def environment(environ: Mapping[str, str]) -> dict[str, str]:
    """The environment that a run in a copy has."""
    left_out = NOT_HANDED_ON.split()
    handed_on = {name: value for name, value in environ.items() if name not in left_out}
    return {**handed_on, NO_REPORTS: "1"}


def run(box: Sandbox, inner: Inner, name: str, *more: str, live: bool = False) -> RehearsedRun:
    """Run the command in the copy. name: of its events; live: it prints to our streams."""
    path = f"{EVENTS}/{name}"
    argv = [*own_python(MAIN), *inner.words, *inner.options, *more]
    argv += ["--events", path]
    capture = None if live else subprocess.PIPE
    process = box.popen(
        argv,
        inner.env,
        inner.cwd,
        stdin=subprocess.DEVNULL if inner.input is None else subprocess.PIPE,
        stdout=capture,
        stderr=capture,
    )
    out, err = box.finish(process, inner.input)
    states: dict[str, Mapping[str, Any]] = {}
    for line in box.run(["cat", path]).stdout.splitlines() if box.alive else ():
        event = json.loads(line)
        if event["event"] == "state_finished":
            states[event["state"]] = event
    return RehearsedRun(process.returncode, states, out, err)


class Rehearser:
    """Does the runs in a copy, and observes what they change.

    own: runner's own folders, which are not looked into. forms: the options that say what the real
    run prints; live: it prints to our streams. root: the image that is looked into, where it is not
    the machine itself.
    """

    def __init__(
        self,
        box: Sandbox,
        inner: Inner,
        own: Sequence[str],
        forms: Sequence[str],
        live: bool = False,
        root: str = "",
    ) -> None:
        self.box, self.inner, self.root = box, inner, root
        self.own = tuple(own) if root else tuple(os.path.realpath(folder) for folder in own)
        self.forms, self.live = tuple(forms), live

    def dry_run(self) -> tuple[RehearsedRun, Moment, Moment]:
        """The dry run, and the moments before and after it."""
        if not self.root:
            self.box.run(["mkdir", "-p", *(os.path.dirname(folder) for folder in self.own)])
        before = self._moment()
        dry = run(self.box, self.inner, "dry", "--test", *self.forms)
        return dry, before, self._moment()

    def real_runs(self, dry: tuple[RehearsedRun, Moment, Moment], twice: bool) -> Rehearsal:
        """The real run, and a second one."""
        dry_run, start, before = dry
        real = run(self.box, self.inner, "real", *self.forms, live=self.live)
        if real.code not in (0, 2) and self.box.has_ended(SHUTDOWN):
            return Rehearsal(dry_run, real, Observed(), Observed())
        after = self._moment()
        changed = self._masked(observed(self.box, before, after, self.root))
        done = Rehearsal(dry_run, real, changed, observed(self.box, start, before, self.root))
        if not twice:
            return done
        again = run(self.box, self.inner, "again", "--out", "json")
        last = self._moment()
        return done._replace(again=again, observed_again=observed(self.box, after, last, self.root))

    def _masked(self, what: Observed) -> Observed:
        """Return what changed without secrets of the pillar; without any diff if that fails."""
        diffs = [item.diff for item in what.files]
        if not any(diffs):
            return what
        masked = self.masked(diffs) or [""] * len(diffs)
        files = zip(what.files, masked, strict=True)
        return what._replace(files=tuple(item._replace(diff=diff) for item, diff in files))

    def masked(self, items: list[Any]) -> list[Any]:
        """Data without the secrets of the pillar; nothing if that fails.

        The pillar is read in the copy, since its templates run code.
        """
        inner, path = self.inner, "/.rehearsal-shown" if self.root else f"{EVENTS}/shown"
        there = f"{self.root}{path}"
        self.box.run(["sh", "-c", 'umask 077; cat >"$1"', "sh", there], input=json.dumps(items))
        argv = [*own_python(MAIN), "call", "file.read", path, *inner.options]
        done = self.box.run(
            [*argv, "--out", "json"], input=inner.input, env=inner.env, cwd=inner.cwd
        )
        self.box.run(["rm", there])
        try:
            masked = json.loads(json.loads(done.stdout)["local"])
        except (ValueError, KeyError, TypeError):
            return []
        return masked if isinstance(masked, list) and len(masked) == len(items) else []

    def _moment(self) -> Moment:
        return moment(self.box, (*RESTLESS, *self.own), self.root)
