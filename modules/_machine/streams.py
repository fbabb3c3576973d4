# SPDX-License-Identifier: Apache-2.0
"""The output of a program, read to its end with bounded memory."""

from __future__ import annotations

import os
import time
from typing import IO, TYPE_CHECKING

from runner.api import command_output

if TYPE_CHECKING:
    import selectors
    import subprocess

CHUNK = 65536


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
    import selectors

    outputs = StreamOutput(most), StreamOutput(most)
    follow = command_output.begun()
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
            for key, _ in selector.select(_seconds_left(process, until)):
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
    process.wait(_seconds_left(process, until))
    return outputs


def _seconds_left(process: subprocess.Popen[bytes], until: float | None) -> float | None:
    if until is None:
        return None
    seconds = until - time.monotonic()
    if seconds <= 0:
        import subprocess

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
