# SPDX-License-Identifier: Apache-2.0
"""Child processes for checks: what a template does to a process ends with it, and a check whose
text is outdated is killed.

A process that is forked before the server has threads forks one child for each check. All have
imported what a check needs, and what earlier ones have imported of the library: that is nine tenths
of the time of a first check. They neither read nor write the editor's pipes.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
from collections.abc import Iterable
from contextlib import suppress

from runner.engine.interrupts import ending
from runner.model.diagnostics import bug
from runner.support import preloaded
from runner.tools.lsp.analysis import Analysis, Job, analyse

SECONDS = 120.0  # for one check
GRACE = 3.0  # seconds in which a child ends the commands that it has started
AT_ONCE = 200  # names of modules in one message
LONGEST = 64 * 1024  # bytes of a message
LARGEST = 256 * 1024 * 1024  # bytes of an answer


class WorkerPool:
    """The process that forks the children; made before the server starts any thread."""

    def __init__(self) -> None:
        self._control, far = socket.socketpair(type=socket.SOCK_SEQPACKET)
        self._loaded: set[str] = set()
        if os.fork():
            far.close()
            return
        try:
            self._control.close()
            _leave_editor_alone()
            _serve(far)
        finally:
            os._exit(0)

    def close(self) -> None:
        """End it; children that still work end with their sockets."""
        self._control.close()

    async def analyse(self, job: Job) -> Analysis:
        """The answer of a child. Cancelled, it kills the child with all that it has started."""
        near, far = socket.socketpair()
        reader, writer = await asyncio.open_unix_connection(sock=near, limit=LARGEST)
        socket.send_fds(self._control, [b"check"], [far.fileno()])
        far.close()
        child = 0
        try:
            async with asyncio.timeout(SECONDS):
                child = int(await reader.readline() or b"0")
                writer.write(json.dumps(job._asdict()).encode())
                writer.write_eof()
                answer = await reader.read()
            child = 0  # it has ended by itself
            analysis = Analysis.of_data(json.loads(answer))
            self._import(analysis.loaded)
            return analysis
        finally:
            writer.close()
            if child:
                _signal(child, signal.SIGTERM)
                loop = asyncio.get_running_loop()
                loop.call_later(GRACE, _signal, child, signal.SIGKILL)

    def _import(self, modules: Iterable[str]) -> None:
        """Have modules imported for all children to come."""
        new = [name for name in modules if name not in self._loaded]
        for start in range(0, len(new), AT_ONCE):
            names = " ".join(new[start : start + AT_ONCE])
            self._control.send(names.encode())
        self._loaded.update(new)


def _signal(child: int, number: int) -> None:
    with suppress(ProcessLookupError):
        os.killpg(child, number)


def _leave_editor_alone() -> None:
    """Give this process no part of the pipes of the protocol, and no signals of the terminal."""
    os.setsid()
    empty = os.open(os.devnull, os.O_RDWR)
    os.dup2(empty, 0)
    os.dup2(empty, 1)
    os.close(empty)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)


def _serve(control: socket.socket) -> None:
    """Fork a child for each socket that is handed over, until the server is gone."""
    while True:
        names, handed_over, _, _ = socket.recv_fds(control, LONGEST, 1)
        if not handed_over:
            if not names:
                return
            preloaded.execute(names.decode("ascii", "ignore").split())
        elif os.fork() == 0:
            control.close()
            _answer(handed_over[0])
            os._exit(0)
        for descriptor in handed_over:
            os.close(descriptor)
        with suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass


def _answer(descriptor: int) -> None:
    """Do one job: read it from a socket, and write the answer there."""
    os.setsid()
    with socket.socket(fileno=descriptor) as connection, connection.makefile("rwb") as stream:
        stream.write(b"%d\n" % os.getpid())
        stream.flush()
        text = stream.read()
        if not text:  # outdated before it began
            return
        try:
            with ending(SECONDS):
                answer = analyse(Job(**json.loads(text)))
            answer = answer._replace(loaded=sorted(preloaded.executed_names()))
        except KeyboardInterrupt:  # outdated
            return
        except Exception as error:  # the editor shows it, and goes on
            answer = Analysis([bug(error)])
        with suppress(OSError):
            stream.write(json.dumps(answer.as_data(), default=str).encode())
            stream.flush()
