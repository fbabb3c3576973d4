# SPDX-License-Identifier: Apache-2.0
"""Programs that are started, waited for and ended: the one place that does it for all modules."""

from __future__ import annotations

import math
import os
import selectors
import signal
import subprocess
import time
from _thread import LockType, allocate_lock
from contextlib import suppress

from modules import _paths
from modules._machine import umask as _umask
from modules._planned.overlay import overlay
from runner.api import (
    CommandFailed,
    Record,
    StateFailed,
    command_output,
    ended_with_run,
    for_states,
    here,
    refuse_unforeseen,
    undisturbed,
)
from runner.api.durability import make_names_durable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import IO, Any

    from modules._planned.view import View
    from runner.api import Fact

LOCALE = {"LC_ALL": "C.UTF-8", "LANGUAGE": ""}
MOST = 256 << 20  # bytes that a program may print whose output is read as a whole


class Completed(Record):
    """The result of a program. Streams are text without the last line's end."""

    retcode: int
    stdout: str
    stderr: str
    pid: int = 0
    timed_out: bool = False
    program: str = "the program"

    @property
    def error_text(self) -> str:
        """The words of a program that failed: its errors, or what it printed instead."""
        return without_traceback(self.stderr).strip() or without_traceback(self.stdout).strip()

    def or_fail(self, attempt: str = "", missing: Fact | None = None) -> Completed:
        """The result of a program that ended well. Raises CommandFailed with its words otherwise.

        attempt: what the message begins with. missing: as of StateFailed.
        """
        if self.retcode:
            reason = self.error_text or f"{self.program} failed with exit code {self.retcode}"
            raise CommandFailed(f"{attempt}: {reason}" if attempt else reason, missing=missing)
        return self


@for_states
def without_traceback(text: str) -> str:
    """What a program of Python said, with the reason alone of an exception that it did not catch.

    >>> without_traceback('Traceback (most recent call last):\\n  File "x"\\nKeyError: no key')
    'no key'
    """
    begin = "Traceback (most recent call last):"
    if begin not in text:
        return text
    kept, inside = list[str](), False
    for line in text.split("\n"):
        if line.strip() == begin:
            inside = True
        elif inside and line and not line[0].isspace():
            inside = False
            _, _, reason = line.partition(": ")
            kept.append(reason or "it failed without a word")
        elif not inside:
            kept.append(line)
    return "\n".join(kept)


def attempt(change: Callable[..., object], *values: object) -> bool:
    """Try a change: whether it was made; why not is a warning."""
    try:
        change(*values)
    except StateFailed as problem:
        here.warn(problem.message)
        return False
    return True


def missing(program: str, package: str) -> StateFailed:
    """The failure of what a program is needed for that is not there."""
    return StateFailed(f"{program} is missing: it comes with {package}", missing=("pkg", package))


def needs(program: str, package: str) -> None:
    """Raise StateFailed where a program is not on PATH."""

    if not _paths.which(program):
        raise missing(program, package)


def view() -> View | None:
    """The planned files of a dry run, for a program that is to see them; None where none can."""
    planned = overlay()
    return None if planned is None else planned.view()


def probe(
    argv: Sequence[str],
    *,
    env: Mapping[str, str] | None = None,
    cwd: str | None = None,
    stdin: str | None = None,
    timeout: float | None = None,
    rstrip: bool = True,
) -> Completed:
    """Run a program that only looks, as cmd.probe does."""
    planned = _paths.planned_among([*argv, cwd or ""])
    seen = view() if planned else None
    if planned and seen is None:
        raise unseen(planned)
    return run_to_end(
        list(argv),
        env={**os.environ, **LOCALE, **(env or {})},
        cwd=cwd,
        stdin=stdin,
        timeout=timeout,
        view=seen,
        rstrip=rstrip,
    )


def unseen(planned: str) -> CommandFailed:
    """The failure of a program that is given what it cannot see: it is only planned."""
    return CommandFailed(f"{planned} is only planned", missing=("planned", planned))


# why a program whose end has come is waited for
HELD = " since what it started holds its output open: `bg: True`, or `>FILE 2>&1 &` for that alone"


def run_to_end(
    argv: list[str],
    *,
    env: Mapping[str, str],
    cwd: str | None,
    stdin: str | None,
    timeout: float | None,
    bg: bool = False,
    most: int | None = None,
    view: View | None = None,
    encoding: str | None = None,
    rstrip: bool = True,
    **identity: Any,
) -> Completed:
    """Start a program, and wait for its end unless it is to stay in the background. view: the
    planned files that it sees. encoding: of its streams, instead of UTF-8. rstrip: without the end
    of the last line. identity: as of Popen.

    most: the bytes of each stream that are kept, the first and the last, to show them; None where
    nothing may be missing, and bytes that are no text stay what they are. Raises CommandFailed when
    it cannot be started, or nothing may be missing and it prints far too much; StateFailed when
    what states have written before cannot be made durable. It has a session of its own, without a
    terminal: one that would ask for a password fails, instead of waiting.
    """
    refuse_unforeseen(argv[0])
    make_names_durable(for_program=True)
    quiet = subprocess.DEVNULL
    output = quiet if bg else subprocess.PIPE
    umask = _umask.of_state()
    if umask is not None:
        identity.setdefault("umask", umask)
    identity |= {
        "stdout": output,
        "stderr": output,
        "stdin": subprocess.PIPE if stdin is not None else quiet,
    }
    user = identity.get("user")
    if view is not None:
        who = (identity.pop(key, None) for key in ("user", "group", "extra_groups"))
        identity["preexec_fn"] = view.entering(cwd, *who)
        env = {**env, **view.variables}
        cwd = None
    process: subprocess.Popen[bytes] | None = None
    starting = _taken_lock()

    def end_it() -> None:
        with starting:  # when it is started
            if process is not None and not bg:
                _kill(process)

    try:
        data = None if stdin is None else stdin.encode("utf-8", "surrogateescape")
        with ended_with_run(end_it):  # before the start: what ends the run waits for it
            try:
                # an interrupt between the start and its note would leave the program behind
                with undisturbed():
                    process = subprocess.Popen(
                        argv, env=dict(env), cwd=cwd, start_new_session=True, **identity
                    )
            finally:
                starting.release()
            if bg:
                process.returncode = 0  # nobody waits for it
                return Completed(0, "", "", process.pid)
            out, err = communicate(process, data, timeout, most or MOST)
    except BaseException as error:
        if process is None:
            raise _not_started(argv, error, user) from None
        held = HELD if _has_ended(process) else ""
        _end(process)
        if isinstance(error, subprocess.TimeoutExpired) and timeout is not None:
            why = f"timed out after {timeout:g} seconds{held}"
            return Completed(1, why, "", process.pid, timed_out=True)
        raise
    if most is None and (out.left_out or err.left_out):
        raise CommandFailed(f"{argv[0]!r} printed more than {MOST >> 20} MB")
    told = [_text(each, encoding, rstrip, exact=most is None) for each in (out.data(), err.data())]
    return Completed(process.returncode, told[0], told[1], process.pid, program=argv[0])


def _taken_lock() -> LockType:
    lock = allocate_lock()
    lock.acquire()
    return lock


# of Debian, by their programs
PACKAGES = {
    program: package
    for package, programs in {
        "acl": "getfacl setfacl",
        "augeas-tools": "augtool",
        "btrfs-progs": "btrfs",
        "cron": "crontab",
        "iproute2": "ip ss",
        "ipset": "ipset",
        "kmod": "modprobe",
        "libcap2-bin": "getcap setcap",
        "locales": "locale-gen",
        "lvm2": "lvm pvs",
        "mdadm": "mdadm",
        "nftables": "nft",
        "openssh-client": "ssh-keygen ssh-keyscan",
        "procps": "pgrep ps sysctl",
        "psmisc": "fuser",
        "sudo": "visudo",
    }.items()
    for program in programs.split()
}


def _not_started(argv: list[str], error: BaseException, user: object) -> BaseException:
    """The error for a program that could not be started."""
    if not isinstance(error, OSError | ValueError | subprocess.SubprocessError):
        return error
    if isinstance(error, subprocess.SubprocessError):  # it could not enter its view
        problem = f"{argv[0]!r} cannot be shown the planned files"
        return CommandFailed(problem, missing=("planned", argv[0]))
    if isinstance(error, FileNotFoundError) and overlay() is not None:
        if found := _paths.which(argv[0]):  # a package of the plan brings it
            return unseen(found)
    reason = getattr(error, "strerror", None) or str(error)
    if isinstance(error, ValueError) and "null" in reason:
        reason = "there is a NUL character in its arguments or its variables"
    if isinstance(error, UnicodeEncodeError):
        reason = (
            f"there is half a character (\\u{ord(error.object[error.start]):04x}) in its arguments"
            " or its input"
        )
    if isinstance(error, FileNotFoundError) and argv[0] in PACKAGES:
        reason += f"; it comes with the package {PACKAGES[argv[0]]}"
    if isinstance(error, PermissionError) and user not in (None, os.geteuid()):
        reason += " (only root may run it as somebody else)"
    return CommandFailed(
        f"Unable to run command {argv[0]!r}: {reason}", missing=("command", argv[0])
    )


def _has_ended(process: subprocess.Popen[bytes]) -> bool:
    """Return whether a program has ended; it keeps its number."""
    how = os.WEXITED | os.WNOHANG | os.WNOWAIT
    return process.returncode is not None or bool(os.waitid(os.P_PID, process.pid, how))


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a program with all that it started, and close what led to it."""
    _kill(process)
    for stream in (process.stdout, process.stderr, process.stdin):
        if stream:
            with suppress(BrokenPipeError):  # what was not written yet
                stream.close()


def _kill(process: subprocess.Popen[bytes]) -> None:
    """End a program with all that it started; what does not heed SIGTERM is killed."""
    family = _family(process.pid)
    for number in (signal.SIGTERM, signal.SIGKILL):
        family = {**_family(process.pid), **family}
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, number)
        for pid, began in family.items():
            if _lives(pid, began):
                # somebody else's: what sudo started
                with suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, number)
        until = time.monotonic() + 2
        while time.monotonic() < until and (
            process.poll() is None or any(_lives(*member) for member in family.items())
        ):
            time.sleep(0.02)


def _family(first: int) -> dict[int, str]:
    """A process, those of its group and session, and all that descend from it, each with when it
    began.
    """
    try:
        seen = {int(name): _stat(int(name)) for name in os.listdir("/proc") if name.isdigit()}
    except OSError:  # not mounted
        return {}
    family = {first: _began(first)}
    for _ in seen:
        more = {
            pid: stat[19]
            for pid, stat in seen.items()
            if stat
            and pid not in family
            and (int(stat[1]) in family or first in (int(stat[2]), int(stat[3])))
        }
        if not more:
            break
        family |= more
    return family


def _lives(pid: int, began: str) -> bool:
    return began != "" and _began(pid) == began


def _began(pid: int) -> str:
    """The time when a process began, so that another one with its number is not taken for it; ""
    when it has ended.
    """
    stat = _stat(pid)
    return stat[19] if stat and stat[0] not in "ZX" else ""


def _stat(pid: int) -> list[str]:
    """The fields of /proc/PID/stat from the state on: state, parent, group, session, ..."""
    return _paths.of_kernel(f"/proc/{pid}/stat").rpartition(")")[2].split()


def _text(data: bytes, encoding: str | None, rstrip: bool, exact: bool) -> str:
    text = data.decode(encoding or "utf-8", errors="surrogateescape" if exact else "replace")
    return text[:-1] if rstrip and text.endswith("\n") else text


CHUNK = 65536
SLICE = 1.0  # seconds of one sleep: a signal that comes just before it does not end it


class StreamOutput:
    """The output of one stream: all of it, or its first and its last half where it is more than
    `most` bytes.
    """

    def __init__(self, most: int) -> None:
        self._half = most // 2
        self._first = bytearray()
        self._last = bytearray()
        self.left_out = 0

    def add(self, data: bytes) -> None:
        """Take the next bytes."""
        room = self._half - len(self._first)
        if room > 0:
            self._first += data[:room]
            data = data[room:]
        self._last += data
        if len(self._last) > 2 * self._half:  # seldom, since it moves what stays
            self._cut()

    def __bool__(self) -> bool:
        return bool(self._first or self._last)

    def _cut(self) -> None:
        surplus = len(self._last) - self._half
        if surplus > 0:
            del self._last[:surplus]
            self.left_out += surplus

    def data(self) -> bytes:
        """The kept bytes, and between the halves how many are left out."""
        if len(self._first) + len(self._last) > 2 * self._half:
            self._cut()
        note = f"\n[... {self.left_out} bytes left out ...]\n".encode() if self.left_out else b""
        return b"".join((self._first, note, self._last))


def communicate(
    process: subprocess.Popen[bytes], stdin: bytes | None, timeout: float | None, most: int
) -> tuple[StreamOutput, StreamOutput]:
    """Write to a program and read what it prints until all that have its streams are done with
    them; wait for its end.

    most: bytes of each stream that are kept. Raises TimeoutExpired after `timeout` seconds.
    """
    outputs = StreamOutput(most), StreamOutput(most)
    follow = command_output.begun(lambda: _told(process, any(outputs)))
    until = None if timeout is None else time.monotonic() + timeout
    with selectors.DefaultSelector() as selector:
        for stream, output in zip((process.stdout, process.stderr), outputs, strict=True):
            if stream:
                selector.register(stream, selectors.EVENT_READ, output)
        rest = memoryview(stdin or b"")
        if process.stdin and stdin:
            os.set_blocking(process.stdin.fileno(), False)
            selector.register(process.stdin, selectors.EVENT_WRITE)
        elif process.stdin:
            process.stdin.close()
        while selector.get_map():
            for key, _ in selector.select(min(SLICE, _seconds_left(process, until))):
                if isinstance(key.data, StreamOutput):
                    data = os.read(key.fd, CHUNK)
                    key.data.add(data)
                    follow(data)
                    ended = not data
                else:
                    rest = rest[_write(key.fd, rest) :]
                    ended = not rest
                if ended:
                    _close(selector, key.fileobj)  # type: ignore[arg-type]  # a stream was registered
    process.wait(None if until is None else _seconds_left(process, until))
    return outputs


def _told(process: subprocess.Popen[bytes], has_printed: bool) -> str:
    """What a program does that is waited for, where it does not say so itself."""
    name = os.path.basename(str(process.args[0]))  # type: ignore[index]  # a list of words
    if process.returncode is not None:
        return ""
    with suppress(ChildProcessError):
        if _has_ended(process):
            return f"{name} has ended; what it has started holds its output open"
    return "" if has_printed else f"{name} runs, and has printed nothing"


def _seconds_left(process: subprocess.Popen[bytes], until: float | None) -> float:
    if until is None:
        return math.inf
    seconds = until - time.monotonic()
    if seconds <= 0:
        raise subprocess.TimeoutExpired(process.args, 0)
    return seconds


def _write(descriptor: int, data: memoryview) -> int:
    try:
        return os.write(descriptor, data[:CHUNK])
    except BlockingIOError:
        return 0
    except BrokenPipeError:  # it does not want to know
        return len(data)


def _close(selector: selectors.BaseSelector, stream: IO[bytes]) -> None:
    selector.unregister(stream)
    stream.close()
