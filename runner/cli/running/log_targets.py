# SPDX-License-Identifier: Apache-2.0
"""Where the log goes beside stderr: a file, the journal, or syslog; the names are Salt's."""

from __future__ import annotations

import logging
import logging.handlers
import os
import socket
from typing import Any
from urllib.parse import urlsplit

from runner.model.paths import lies_in
from runner.support.files.links import open_output

JOURNAL = "/run/systemd/journal/socket"
SYSLOG = "/dev/log"
LARGEST = 60_000  # bytes of a message that fit into a datagram
# of the journal and of syslog, by levels of the library
PRIORITIES = ((50, 2), (40, 3), (30, 4), (20, 6), (0, 7))


def handler(target: str, folder: str) -> logging.Handler:
    """The handler for a value of `log_file`: `journald`, `syslog`, Salt's `file:///dev/log` and
    `udp://HOST:PORT`, each with `/FACILITY` where that is not `user`, or the path of a file.

    folder: what a relative path is relative to. Raises OSError, and ValueError for what no target
    is.
    """
    if target == "journald":
        return _Journal()
    if target == "syslog":
        return _syslog(SYSLOG, "")
    scheme = target.partition("://")[0] if "://" in target else ""
    if not scheme:
        return _LogFile(os.path.join(folder, target), encoding="utf-8", delay=False)
    parts = urlsplit(target)
    if scheme == "file":
        device = lies_in(parts.path, SYSLOG)
        facility = parts.path[len(SYSLOG) + 1 :] if device else ""
        return _syslog(SYSLOG, facility) if device else handler(parts.path, folder)
    if scheme == "udp" and parts.hostname:
        return _syslog((parts.hostname, parts.port or 514), parts.path.lstrip("/"))
    raise ValueError(f"{scheme}:// is no target for the log")


def is_file(target: str) -> bool:
    """Return whether lines go to a file, which needs the time of each."""
    scheme, _, rest = target.partition("://")
    if rest:
        return scheme == "file" and not lies_in(rest, SYSLOG)
    return target not in ("journald", "syslog")


class _LogFile(logging.FileHandler):
    """A file that only its owner may read when it is made."""

    def _open(self) -> Any:
        return open(self.baseFilename, self.mode, encoding=self.encoding, opener=open_output)


class _Journal(logging.Handler):
    """The journal of systemd, by its own protocol: a message of several lines is one entry."""

    def __init__(self) -> None:
        super().__init__()
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.setblocking(False)  # a journal that hangs holds up no run
        self._socket.connect(JOURNAL)

    def emit(self, record: logging.LogRecord) -> None:
        try:
            fields = {
                "MESSAGE": _cut(self.format(record)),
                "PRIORITY": str(_priority(record.levelno)),
                "SYSLOG_IDENTIFIER": "runner",
                "SYSLOG_PID": str(record.process),
                "LOGGER": record.name,
            }
            self._socket.send(b"".join(_field(*item) for item in fields.items()))
        except Exception:
            self.handleError(record)

    def close(self) -> None:
        self._socket.close()
        super().close()


def _field(name: str, value: str) -> bytes:
    data = value.encode("utf-8", "backslashreplace")
    return b"%s\n%s%s\n" % (name.encode(), len(data).to_bytes(8, "little"), data)


def _priority(level: int) -> int:
    return next(priority for least, priority in PRIORITIES if level >= least)


def _cut(line: str) -> str:
    data = line.encode("utf-8", "backslashreplace")
    return line if len(data) <= LARGEST else data[:LARGEST].decode("utf-8", "ignore") + " ..."


def _syslog(address: str | tuple[str, int], facility: str) -> logging.Handler:
    """A handler for syslog. Raises OSError, and ValueError for an unknown facility."""

    class Syslog(logging.handlers.SysLogHandler):
        ident = f"runner[{os.getpid()}]: "

        def format(self, record: logging.LogRecord) -> str:
            return _cut(super().format(record))

        def mapPriority(self, levelName: str) -> str:
            level = logging.getLevelNamesMapping().get(levelName, 0)
            return ("crit", "err", "warning", "info", "debug")[
                [priority for _, priority in PRIORITIES].index(_priority(level))
            ]

    name = facility.lower().removeprefix("log_") or "user"
    if name not in logging.handlers.SysLogHandler.facility_names:
        raise ValueError(f"syslog has no facility {facility}")
    return Syslog(address, logging.handlers.SysLogHandler.facility_names[name])
