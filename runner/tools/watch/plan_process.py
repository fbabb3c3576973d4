# SPDX-License-Identifier: Apache-2.0
"""The process that holds a compiled tree, and forks one for each look and each run.

It talks with the one that watches in lines of JSON. Whatever a tree does to the memory of a process
ends with that run's.
"""

from __future__ import annotations

import gc
import json
import os
import signal
import socket
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, Protocol

from runner.model.records import Record
from runner.support import preloaded

Answer = dict[str, Any]


class Plan(Protocol):
    """A compiled tree."""

    def facts(self) -> Answer:
        """Return what there is to watch, and where its metrics are written."""
        ...

    def sources(self) -> Answer:
        """Return what the tree is compiled from."""
        ...

    def shown(self, event: str) -> str:
        """Return what was seen, without secrets."""
        ...

    def look(self, tags: Sequence[str] | None) -> Answer:
        """Look at states (None: all)."""
        ...

    def find(self, tags: Sequence[str] | None, event: str) -> Answer:
        """Look at states, and report those that are not as they should be. With `only_looked` it
        did not report them.
        """
        ...

    def act(self, tags: Sequence[str] | None, event: str) -> Answer:
        """Run states, or report them."""
        ...


# compiles the tree; where it told what is wrong, the sources of the tree, if it knows them
Make = Callable[[], Plan | Answer | None]


class PlanProcess:
    """That process, as its parent sees it. pid: the leader of a group, its children included."""

    def __init__(self, make: Make, leave: Callable[[], None]) -> None:
        """leave: gives up what is the parent's."""
        self.channel, other = socket.socketpair()
        self._received = b""
        self.pid = os.fork()
        if self.pid == 0:
            code = 1
            try:
                self.channel.close()
                leave()
                os.setpgid(0, 0)
                code = _hold(make, other)
            finally:
                os._exit(code)
        other.close()
        self.channel.setblocking(False)

    def ask(self, what: str, tags: Sequence[str] | None, event: str) -> None:
        """Have it look, or act. Raises OSError where it has ended."""
        line = json.dumps([what, tags, event]).encode() + b"\n"
        self.channel.setblocking(True)
        self.channel.sendall(line)
        self.channel.setblocking(False)

    def answers(self) -> list[Answer]:
        """What it has answered by now. Raises EOFError when it has ended, with its children."""
        while True:
            try:
                data = self.channel.recv(1 << 20)
            except BlockingIOError:
                break
            except OSError:
                data = b""
            if not data:
                if b"\n" in self._received:
                    break  # the next call raises it
                raise EOFError
            self._received += data
        *lines, self._received = self._received.split(b"\n")
        return [json.loads(line) for line in lines]

    def end(self) -> None:
        """Have it and its children end, and wait until they have."""
        with suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGTERM)  # a run that is under way ends with its report
        self.channel.setblocking(True)
        with suppress(OSError):
            while self.channel.recv(1 << 20):
                pass
        self.close()
        self.collect()

    def kill(self) -> None:
        """End it and its children at once, whatever they wait for."""
        with suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)

    def close(self) -> None:
        """Forget it: it ends when it has nothing more to do."""
        self.channel.close()

    def collect(self, wait: bool = True) -> bool:
        """Wait for its end, or return whether it has ended by now."""
        try:
            return os.waitpid(self.pid, 0 if wait else os.WNOHANG)[0] != 0
        except ChildProcessError:
            return True


class _Question(Record):
    what: str
    tags: list[str] | None
    event: str


def _hold(make: Make, channel: socket.socket) -> int:
    plan = make()
    if plan is None or isinstance(plan, dict):
        _send(channel, {"sources": plan})
        return 1
    _send(channel, {"sources": plan.sources(), "facts": plan.facts()})
    used = preloaded.Used()
    _share()
    with channel.makefile("rb") as lines:
        for line in lines:
            question = _Question(*json.loads(line))
            pid = os.fork()
            if pid == 0:
                code = 1
                try:
                    lines.close()
                    _send(channel, _answer(plan, question))
                    used.note()
                    code = 0
                finally:
                    os._exit(code)
            _, status = os.waitpid(pid, 0)
            if used.execute():
                _share()
            if status:
                how = os.waitstatus_to_exitcode(status)
                _send(channel, {"ended": how})
    return 0


def _share() -> None:
    """Have what is there now stay shared with children."""
    gc.collect()
    gc.freeze()


def _answer(plan: Plan, question: _Question) -> Answer:
    event = plan.shown(question.event)
    if question.what == "look":
        return {**plan.look(question.tags), "event": event}
    do = plan.find if question.what == "find" else plan.act
    return {**do(question.tags, event), "event": event}


def _send(channel: socket.socket, answer: Answer) -> None:
    channel.sendall(json.dumps(answer).encode() + b"\n")
