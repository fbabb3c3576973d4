# SPDX-License-Identifier: Apache-2.0
"""Files in folders whose readers pass over some of them: by their names, modes or owners."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from fnmatch import fnmatchcase

from runner.model.chunk import Chunk
from runner.model.diagnostics import Diagnostic
from runner.model.records import Record

Expects = Callable[[Chunk, str], object]  # what an argument takes, if there is such an argument


class Reader(Record):
    """Who reads the files of a folder. names: what those have in common that it reads, as a pattern
    and in words; on_debian: only there; ending: what makes one of most names. forbidden: bits of a
    mode with which it passes over a file; needed: those without which it does; mode: a good one.
    is_roots: it passes over files of others than root. said_in: the file that says which names are
    read: a tree that writes it may say others.
    """

    program: str
    names: str = ".*"
    words: str = ""
    ending: str = ""
    on_debian: bool = False
    forbidden: int = 0
    needed: int = 0
    mode: str = "0644"
    is_roots: bool = False
    said_in: str = ""


def _ending(program: str, *endings: str, said_in: str = "") -> Reader:
    words = "end in " + " or ".join(f"`.{ending}`" for ending in endings)
    return Reader(program, rf".*\.({'|'.join(endings)})", words, f".{endings[0]}", said_in=said_in)


_WORDS = "have letters, digits, `_` and `-` alone"
_PLAIN = (r"[A-Za-z0-9_-]+", _WORDS)
# by the patterns of folders
READERS = {
    "/etc/cron.d": Reader("cron", *_PLAIN, on_debian=True, forbidden=0o022, is_roots=True),
    "/etc/cron.[hdwm]*ly": Reader("run-parts", *_PLAIN, on_debian=True, needed=0o100, mode="0755"),
    "/etc/sudoers.d": Reader(
        "sudo",
        r"[^.]*[^.~]",
        "have no `.`, and no `~` at their end",
        forbidden=0o002,
        mode="0440",
        is_roots=True,
    ),
    "/etc/logrotate.d": Reader("logrotate", forbidden=0o022, is_roots=True),
    "/etc/apt/sources.list.d": _ending("apt", "list", "sources"),
    "/etc/apt/trusted.gpg.d": _ending("apt", "gpg", "asc"),
    "/etc/apt/preferences.d": Reader(
        "apt", r"[\w-]+|[\w.-]+\.pref", f"{_WORDS}, or end in `.pref`"
    ),
    "/etc/apt/apt.conf.d": Reader("apt", r"[\w-]+|[\w.-]+\.conf", f"{_WORDS}, or end in `.conf`"),
    "/etc/yum.repos.d": _ending("dnf", "repo"),
    "/etc/profile.d": _ending("the shell", "sh", "csh", "local", said_in="/etc/profile"),
    "/etc/udev/rules.d": _ending("udev", "rules"),
    "/etc/polkit-1/rules.d": _ending("polkit", "rules"),
    "/etc/security/limits.d": _ending("pam_limits", "conf"),
    "/etc/ld.so.conf.d": _ending("ldconfig", "conf", said_in="/etc/ld.so.conf"),
    "/etc/modprobe.d": _ending("modprobe", "conf"),
    "/etc/ssh/sshd_config.d": _ending("sshd", "conf", said_in="/etc/ssh/sshd_config"),
    "/etc/ssh/ssh_config.d": _ending("ssh", "conf", said_in="/etc/ssh/ssh_config"),
    "/etc/rsyslog.d": _ending("rsyslogd", "conf", said_in="/etc/rsyslog.conf"),
    "/etc/mysql/*conf.d": _ending("the server", "cnf"),
    "/etc/NetworkManager/conf.d": _ending("NetworkManager", "conf"),
    "/etc/supervisor/conf.d": _ending(
        "supervisord", "conf", said_in="/etc/supervisor/supervisord.conf"
    ),
    **dict.fromkeys(
        [
            *(f"/etc/{name}.d" for name in "sysctl modules-load tmpfiles sysusers binfmt".split()),
            "/etc/systemd/*.conf.d",
            "/etc/systemd/system/*.d",
            "/etc/systemd/user/*.d",
        ],
        _ending("systemd", "conf"),
    ),
}
# what nobody expects to be read
_SET_ASIDE = re.compile(r"\..*|README.*|.*(~|\.(disabled|bak|orig|old|save|dpkg-\w+|rpm\w+))")


def warnings(
    chunks: Sequence[Chunk], expects: Expects, is_debian: Callable[[], bool]
) -> Iterator[Diagnostic]:
    """A warning for each reason why a file that a state writes is passed over."""
    written = {chunk.name for chunk in chunks if chunk.state == "file"}
    for chunk in chunks:
        folder, _, name = chunk.name.rpartition("/")
        writes = chunk.function == "file.symlink" or (
            chunk.function != "file.recurse" and expects(chunk, "validate")
        )
        if not writes or not folder or _SET_ASIDE.fullmatch(name):
            continue
        for pattern, reader in READERS.items():
            if (
                fnmatchcase(folder, pattern)
                and pattern.count("/") == folder.count("/")
                and reader.said_in not in written
            ):
                for argument, why, hint in _reasons(chunk, name, reader, is_debian):
                    place = chunk.arg_places.get(argument, chunk.place)
                    message = f"{reader.program} passes over {chunk.name}: {why}"
                    yield Diagnostic(message, place.source, hint, "trap", "warning")


def _reasons(
    chunk: Chunk, name: str, reader: Reader, is_debian: Callable[[], bool]
) -> Iterator[tuple[str, str, str]]:
    """The argument, the reason, and what to do."""
    fits = re.fullmatch(reader.names, name, re.ASCII)
    if not fits and (not reader.on_debian or is_debian()):
        yield "name", f"the names that it reads {reader.words}", _better(chunk.name, reader)
    if chunk.function == "file.symlink":
        return
    mode = _bits(chunk.args.get("mode"))
    if mode is not None and mode & reader.forbidden:
        others = "its group or others" if reader.forbidden & 0o020 else "others"
        yield "mode", f"{others} may write it", f"`- mode: '{reader.mode}'`"
    lacks = reader.needed and not (mode or 0) & reader.needed
    if lacks and (mode is not None or (_is_made(chunk) and not os.access(chunk.name, os.X_OK))):
        yield "mode", "it may not be executed", f"`- mode: '{reader.mode}'`"
    if reader.is_roots and str(chunk.args.get("user") or "root") not in ("root", "0"):
        yield "user", "it is not root's", "leave `user` away"


def _better(path: str, reader: Reader) -> str:
    """A name that is read."""
    folder, _, name = path.rpartition("/")
    if reader.ending:
        typed = re.search(r"(?<=\w)\.(conf|cfg|config|ini|txt|list|rule|repos?)$", name)
        return f"call it {path.removesuffix(typed[0]) if typed else path}{reader.ending}"
    return f"call it {folder}/" + re.sub(r"[^A-Za-z0-9_]+", "-", name).strip("-")


def _is_made(chunk: Chunk) -> bool:
    """Return whether a state that says no mode makes the file: what is there keeps its own."""
    return chunk.function == "file.managed" and "mode" not in chunk.args


def _bits(mode: object) -> int | None:
    """A mode as a number; None for none, and for `keep`."""
    digits = str(mode).removeprefix("0o")
    return int(digits, 8) if re.fullmatch("[0-7]{1,5}", digits) else None
