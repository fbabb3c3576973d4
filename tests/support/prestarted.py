# SPDX-License-Identifier: Apache-2.0
"""Processes of runner that start fast: forked from one that has imported runner already.

A start of Python with all imports costs more than most runs of the tests. A fork has the modules,
and nothing of an earlier run; it gets its own arguments, environment, folder and streams, and ends
as any Python program. What a start itself does is tested by real ones: `Machine.argv`.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import selectors
import socket
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from runner.support.preloaded import Used

PROGRAM = """
import sys
sys.path.insert(0, {support!r})
from prestarted import serve
ending = serve(int(sys.argv[1]))
from runner.cli import main
with ending:
    main()
"""
# what decides how Python itself starts
STARTS = ("PYTHON", "LC_", "LANG")


class Server:
    """A process that forks one for each request.

    environment: the variables that it is started with.
    """

    def __init__(self, environment: dict[str, str]) -> None:
        self.decides = _decides(environment)
        self._channel, theirs = socket.socketpair()
        program = PROGRAM.format(support=os.path.dirname(__file__))
        self._process = subprocess.Popen(
            [sys.executable, "-c", program, str(theirs.fileno())],
            env=environment,
            stdin=subprocess.DEVNULL,
            pass_fds=[theirs.fileno()],
        )
        theirs.close()
        atexit.register(self._end)

    def _end(self) -> None:
        with contextlib.suppress(OSError):  # a failed test may still hold the channel
            self._channel.shutdown(socket.SHUT_RDWR)
        self._channel.close()
        self._process.wait()

    def suits(self, environment: dict[str, str]) -> bool:
        """Return whether a real start with this environment would be such a Python."""
        return self._process.poll() is None and _decides(environment) == self.decides

    def run(
        self,
        words: list[str],
        environment: dict[str, str],
        timeout: float,
        folder: str | None = None,
        terminal: bool = False,
        code: str = "",
    ) -> subprocess.CompletedProcess[str]:
        """Run runner as subprocess.run does, with its output. Raises TimeoutExpired.

        terminal: both streams are a terminal, and the output is what it shows. code: Python that is
        carried out before runner itself.
        """
        out, out_end = open_terminal() if terminal else os.pipe()
        err, err_end = os.pipe()
        umask = os.umask(0)
        os.umask(umask)
        where = {"env": environment, "cwd": folder or os.getcwd(), "umask": umask}
        request = {"words": words, "code": code, **where}
        message = json.dumps(request).encode()
        streams = [0, out_end, out_end if terminal else err_end]
        socket.send_fds(self._channel, [b"%d\n" % len(message)], streams)
        self._channel.sendall(message)
        os.close(out_end)
        os.close(err_end)
        answers = self._channel.makefile("rb")
        pid = int(answers.readline())
        texts = _read({out: b"", err: b""}, time.monotonic() + timeout)
        if texts is None:
            os.kill(pid, 9)
        code = os.waitstatus_to_exitcode(int(answers.readline()))
        if texts is None:
            raise subprocess.TimeoutExpired(words, timeout)
        return subprocess.CompletedProcess(words, code, texts[out].decode(), texts[err].decode())


def open_terminal() -> tuple[int, int]:
    """Return both ends of a terminal of 80 columns that leaves lines as they are written."""
    ours, theirs = os.openpty()
    termios.tcsetwinsize(theirs, (24, 80))
    settings = termios.tcgetattr(theirs)
    settings[1] &= ~termios.OPOST
    termios.tcsetattr(theirs, termios.TCSANOW, settings)
    return ours, theirs


def read_terminal(ours: int, timeout: float) -> str:
    """Return all that is written to a terminal until nobody has it open."""
    texts = _read({ours: b""}, time.monotonic() + timeout)
    return texts[ours].decode() if texts else ""


def _decides(environment: dict[str, str]) -> dict[str, str]:
    return {key: value for key, value in environment.items() if key.startswith(STARTS)}


def _read(texts: dict[int, bytes], until: float) -> dict[int, bytes] | None:
    """Return all that comes from pipes until they are closed; None when it takes too long."""
    with selectors.DefaultSelector() as waiting:
        for pipe in texts:
            waiting.register(pipe, selectors.EVENT_READ)
        while waiting.get_map() and time.monotonic() < until:
            for key, _ in waiting.select(until - time.monotonic()):
                try:
                    data = os.read(key.fd, 65536)
                except OSError:  # of a terminal that nobody has open
                    data = b""
                texts[key.fd] += data
                if not data:
                    waiting.unregister(key.fd)
        late = bool(waiting.get_map())
    for pipe in texts:
        os.close(pipe)
    return None if late else texts


def serve(number: int) -> contextlib.AbstractContextManager[None]:
    """Fork for each request; returns in the child, which is to be runner then, in what ends it.

    What a child has executed of runner and Python is executed here, for those that come later.
    """
    import gc
    import importlib

    from runner.support import preloaded

    for name in ("jinja2", "sqlite3", "threading", "typer", "yaml", "runner.cli"):
        importlib.import_module(name)
    used = preloaded.Used()
    # Python itself sets it where the environment names no locale
    coerced = {"LC_CTYPE": os.environ["LC_CTYPE"]} if "LC_CTYPE" in os.environ else {}
    gc.freeze()
    channel = socket.socket(fileno=number)
    while True:
        head, streams, _, _ = socket.recv_fds(channel, 32, 3)
        if not head:
            os._exit(0)
        size, _, body = head.partition(b"\n")
        while len(body) < int(size):
            body += channel.recv(65536)
        pid = os.fork()
        if not pid:
            channel.close()
            _become(json.loads(body), streams, coerced)
            return _ending(used)
        for stream in streams:
            os.close(stream)
        channel.sendall(b"%d\n" % pid)
        channel.sendall(b"%d\n" % os.waitpid(pid, 0)[1])
        if used.execute():
            gc.freeze()


@contextlib.contextmanager
def _ending(used: Used) -> Iterator[None]:
    """End as Python does, but for taking apart all that was imported, which takes as long as a run.
    What executes code of a tree, which may have left files open, ends as Python does.
    """
    import threading

    from runner.support.own_modules import executed

    end = os._exit  # runner has another one
    try:
        yield
    except SystemExit as done:
        if executed("runner.engine.loader.tree_imports"):
            raise
        used.note()
        threading._shutdown()  # type: ignore[attr-defined]
        atexit._run_exitfuncs()
        with contextlib.suppress(OSError, ValueError):
            sys.stdout.flush()
            sys.stderr.flush()
            end(done.code)  # type: ignore[arg-type]
        raise


def _become(request: dict[str, Any], streams: list[int], coerced: dict[str, str]) -> None:
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        old = getattr(sys, name)
        text = {"encoding": old.encoding, "errors": old.errors}
        new = open(old.fileno(), mode, closefd=False, **text)  # noqa: SIM115
        setattr(sys, name, new)
        setattr(sys, f"__{name}__", new)
    sys.stderr.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    sys.stdout.reconfigure(line_buffering=sys.stdout.isatty())  # type: ignore[union-attr]
    os.environ.clear()
    os.environ.update({**coerced, **request["env"]})
    os.umask(request["umask"])
    os.chdir(request["cwd"])
    sys.argv = ["-c", *request["words"]]
    exec(request["code"], {})
