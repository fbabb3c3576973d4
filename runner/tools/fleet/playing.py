# SPDX-License-Identifier: Apache-2.0
"""Runs ansible-playbook, and collects what its callback says of each host."""

from __future__ import annotations

import json
import os
import re
import selectors
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import IO, Any

from runner.engine.interrupts import ending, number_of
from runner.model.errors import RunnerError
from runner.model.records import Record
from runner.tools.fleet.inventory import Inventory
from runner.tools.fleet.playbook import playbook
from runner.tools.fleet.programs import complaint, environment, program
from runner.tools.fleet.progress import Progress
from runner.tools.fleet.records import (
    FAILED,
    NO_ANSWER,
    NOT_BEGUN,
    OK,
    UNREACHABLE,
    HostOutcome,
    Job,
    Limits,
)

PATIENCE = 10.0  # seconds that an interrupted ansible-playbook has to end its children
CHUNK = 1 << 16
LONGEST = 20_000  # characters of ansible-playbook's complaints


class Interruption(Record):
    """What ended the run early: the signal's number, and why, for people."""

    number: int
    why: str


class Played(Record):
    """What came of all hosts, in their order."""

    outcomes: tuple[HostOutcome, ...]
    interruption: Interruption | None = None


class Play:
    """One job on many hosts. folder: a private one of this run; progress: is told who is at work
    and who is done.
    """

    def __init__(
        self,
        job: Job,
        limits: Limits,
        inventory: Inventory,
        config: str | None,
        environ: Mapping[str, str],
        folder: str,
        progress: Progress,
    ) -> None:
        self._job, self._limits, self._inventory = job, limits, inventory
        self._config, self._environ, self._folder = config, environ, folder
        self._progress = progress
        self._busy: dict[str, None] = {}
        self._done: dict[str, HostOutcome] = {}

    def run(self, hosts: Sequence[str]) -> Played:
        """Play it, again for the rest where Ansible ends a play early because all hosts of a batch
        failed. Raises RunnerError where not one host began.
        """
        interruption = None
        left = list(hosts)
        try:
            with ending(None):
                while left and not self._stopped():
                    code, stderr = self._played(left)
                    began = self._end_of_play(code, stderr)
                    left = [host for host in left if host not in self._done]
                    if not began:
                        self._nothing_began(code, stderr, left)
                        break
        except KeyboardInterrupt as caught:
            interruption = Interruption(*number_of(caught))
            for host in self._busy:
                why = f"{interruption.why}; it may still be at work"
                self._done.setdefault(host, HostOutcome(host, NO_ANSWER, message=why))
        finally:
            self._progress.close()
        return Played(tuple(map(self._outcome, hosts)), interruption)

    def _failures(self) -> int:
        return self._limits.failed + sum(not done.went_well for done in self._done.values())

    def _stopped(self) -> bool:
        return bool(self._limits.max_fail) and self._failures() >= self._limits.max_fail

    def _outcome(self, host: str) -> HostOutcome:
        why = f"{self._failures()} failed before (--max-fail {self._limits.max_fail})"
        return self._done.get(host) or HostOutcome(
            host, NOT_BEGUN, message=why if self._stopped() else "the run ended before"
        )

    def _end_of_play(self, code: int, stderr: str) -> bool:
        """Close the books of one ansible-playbook; whether any host began in it."""
        for host in self._busy:
            why = f"no answer: ansible-playbook ended with {code}: {complaint(stderr)}"
            self._done.setdefault(host, HostOutcome(host, NO_ANSWER, message=why))
        began, self._busy = bool(self._busy), {}
        return began

    def _nothing_began(self, code: int, stderr: str, left: Sequence[str]) -> None:
        why = f"ansible-playbook ended with {code}: {complaint(stderr)}"
        if not self._done:
            hint = "`runner fleet export ansible` prints the playbook, to try it by itself"
            raise RunnerError(f"nothing was run: {why}", hint=hint, code="ansible")
        for host in left:
            self._done[host] = HostOutcome(host, NO_ANSWER, message=why)

    # -------------------------------------------------- one ansible-playbook

    def _played(self, hosts: Sequence[str]) -> tuple[int, str]:
        """Its exit code, and what it said on stderr."""
        limits = self._limits
        most = limits.max_fail and limits.max_fail - self._failures()
        path = os.path.join(self._folder, "playbook.yml")
        text = playbook(self._job, hosts, self._config, limits.batch, most)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        reader, writer = os.pipe()
        with open(reader, "rb", buffering=0) as events:
            try:
                child = self._started(path, writer)
            finally:
                os.close(writer)
            with self._ended(child):
                return self._followed(child, events)

    def _started(self, path: str, writer: int) -> subprocess.Popen[bytes]:
        argv = [
            program("ansible-playbook", self._environ),
            *self._inventory.with_rosters(self._folder).words(),
        ]
        argv += ["--forks", str(self._limits.forks), path]
        variables = {
            "ANSIBLE_STDOUT_CALLBACK": "runner.runner.fleet",
            "RUNNER_FLEET_EVENTS": str(writer),
        }
        return subprocess.Popen(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            env=environment(self._environ, self._folder, variables),
            pass_fds=[writer],
            start_new_session=True,  # what a terminal sends comes from here, once
        )

    @contextmanager
    def _ended(self, child: subprocess.Popen[bytes]) -> Iterator[None]:
        """End a child that is still there, with its workers and what they started."""
        try:
            yield
        finally:
            if child.poll() is None:
                child.send_signal(signal.SIGTERM)  # it hands this on to its workers
                with suppress(subprocess.TimeoutExpired):
                    child.wait(PATIENCE)
            if child.poll() is None:
                with suppress(ProcessLookupError):
                    os.killpg(child.pid, signal.SIGKILL)
                child.wait()
            if child.stderr:
                child.stderr.close()

    def _followed(self, child: subprocess.Popen[bytes], events: IO[bytes]) -> tuple[int, str]:
        """Read its events and complaints until it has ended."""
        assert child.stderr is not None, "it has a pipe"
        rest, complaints = b"", b""
        with selectors.DefaultSelector() as selector:
            for stream in (events, child.stderr):
                os.set_blocking(stream.fileno(), False)
                selector.register(stream, selectors.EVENT_READ)
            ended = False
            while selector.get_map():
                # what outlives it (an ssh that is kept for later) may hold its pipes
                ready = selector.select(0 if ended else 0.5)
                if ended and not ready:
                    break
                ended = child.poll() is not None
                for key, _ in ready:
                    data = os.read(key.fd, CHUNK)
                    if not data:
                        selector.unregister(key.fileobj)
                    elif key.fileobj is events:
                        *lines, rest = (rest + data).split(b"\n")
                        self._note(lines)
                    else:
                        complaints = (complaints + data)[-LONGEST:]
                self._progress(list(self._working()), list(self._done.values()))
        return child.wait(), complaints.decode("utf-8", "replace")

    def _working(self) -> Iterator[str]:
        return (host for host in self._busy if host not in self._done)

    def _note(self, lines: Sequence[bytes]) -> None:
        for line in lines:
            event = json.loads(line)
            host = str(event["host"])
            self._busy[host] = None
            if event["event"] == "end":
                self._done[host] = _outcome(event)


def _outcome(event: Mapping[str, Any]) -> HostOutcome:
    answer = event.get("salt")
    if isinstance(answer, dict) and "local" in answer:
        answer = answer["local"]
    kind = {"ok": OK, "unreachable": UNREACHABLE}.get(event["kind"], FAILED)
    return HostOutcome(
        str(event["host"]),
        kind,
        answer,
        "" if kind == OK else _reason(str(event.get("msg") or "")),
        float(event.get("seconds") or 0),
    )


def _reason(message: str) -> str:
    """Ansible's message without the words that all of them begin with, and without the address,
    which would make equal reasons different.
    """
    message = message.removeprefix("Task failed: ")
    message = re.sub(r"(?s)^.{0,200}?(over|via) ssh: ", "", message)
    message = re.sub(r"connect to (host|address) \S+ port \d+: ", "", message)
    return message.strip() or "it says nothing"


def gather_job() -> Job:
    """Return what asks hosts for their grains."""
    return Job("call", words=("grains.items",))


def grains_of(outcome: HostOutcome) -> Mapping[str, Any] | None:
    """The grains in the answer of such a job."""
    return outcome.answer if outcome.went_well and isinstance(outcome.answer, dict) else None
