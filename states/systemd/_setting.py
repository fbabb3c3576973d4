# SPDX-License-Identifier: Apache-2.0
"""systemd.setting and its opposite: what systemd's own daemons are told in files of settings."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

from modules import file, service
from modules.service import systemd
from runner.api import Check, CommandFailed, Line, Name, Plan, Planned, StateFailed
from runner.api.claims import Trap
from states.file._diff import diff
from states.systemd import _known_settings

FOLDER = "/etc/systemd"
Daemon = Literal[
    "journald", "logind", "resolved", "timesyncd", "networkd", "system", "user", "sleep", "coredump"
]
RESTARTED = ("journald", "resolved", "timesyncd", "networkd")


def _key_problem(key: str) -> str | None:
    return None if re.fullmatch(r"[A-Z]\w*", key) else "expected a key such as SystemMaxUse"


def _name_problem(name: str) -> str | None:
    return None if re.fullmatch(r"\w[\w.@-]*", name) else "expected the name of a file"


DropIn = Annotated[Name, Check(_name_problem)]
Key = Annotated[Name, Check(_key_problem)]
Value = bool | int | Line
Settings = dict[Key, Value | list[Value] | dict[Key, Value | list[Value]]]


@file.validated
def setting(name: DropIn, daemon: Daemon, settings: Settings) -> Planned:
    """Make sure that a daemon of systemd has settings, in a file of their own
    (/etc/systemd/DAEMON.conf.d/NAME.conf), and that it knows them.

    journald, resolved, timesyncd and networkd are restarted where they run, logind and the manager
    of the system read their files anew; the managers of users have the settings from their next
    start on. A setting that a daemon does not know, which it would pass over, fails.

    name: The name of the file, without .conf; of files that say the same key, the last one counts.
    daemon: journald, logind, resolved, timesyncd, networkd, sleep or coredump; system and user are
      the managers themselves.
    settings: Keys of its file (man journald.conf) with their values; of a list, each is a line. Of
      other sections than the main one below their names: `DHCPv4: {DUIDType: vendor}`.

        limits:
          systemd.setting:
            - daemon: journald
            - settings:
                SystemMaxUse: 200M
                ForwardToSyslog: False

    Salt has nothing like it.
    """
    sections = by_section(daemon, settings)
    if unknown := _known_settings.unknown_here(daemon, sections):
        raise StateFailed("; ".join(unknown))
    lines: list[str] = []
    for section, values in sections.items():
        lines += [*([""] if lines else []), f"[{section}]"]
        for key, value in values.items():
            several = value if isinstance(value, list) else [value]
            lines += [f"{key}={_text(key, each)}" for each in several]
    path, new = (
        setting_path(daemon, name),
        "\n".join([*lines, ""]).encode("utf-8", "surrogateescape"),
    )
    old = present(path)
    if old == new:
        return f"The settings {name} of {daemon} are in the correct state"
    file.refuse_put(path)
    changes = {path: diff(old, new)}
    yield Plan(
        changes, f"The settings {name} of {daemon} are set to be written", provides=[("file", path)]
    )
    file.makedirs(path.rpartition("/")[0], mode="0755", user=0, group=0)
    file.write(path, new, mode=None if old is not None else "0644")
    _tell(daemon)
    return f"The settings {name} of {daemon} were written"


@file.validated
def setting_absent(name: DropIn, daemon: Daemon) -> Planned:
    """Make sure that there is no such file of settings, and that the daemon knows.

    name: The name of the file, without .conf.
    daemon: As of systemd.setting.

        limits:
          systemd.setting_absent:
            - daemon: journald

    Salt has nothing like it.
    """
    path = setting_path(daemon, name)
    old = present(path)
    if old is None:
        return f"The settings {name} of {daemon} are absent already"
    file.refuse_put(path)
    yield Plan({path: diff(old, b"")}, f"The settings {name} of {daemon} are set to be removed")
    file.remove(path)
    _tell(daemon)
    return f"The settings {name} of {daemon} were removed"


def by_section(daemon: str, settings: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Settings by their sections."""
    main = _known_settings.main_section(daemon)
    found: dict[str, dict[str, Any]] = {}
    for key, value in settings.items():
        section, own = (key, value) if isinstance(value, Mapping) else (main, {key: value})
        found.setdefault(section, {}).update(own)
    return found


def misspelt(daemon: object, settings: object) -> Iterator[Trap]:
    """Settings that no version of a daemon is known to have."""
    if daemon in _known_settings.SETTINGS and isinstance(settings, Mapping):
        for problem in _known_settings.problems(str(daemon), by_section(str(daemon), settings)):
            hint = f"`man {daemon}.conf` has those that there are"
            yield Trap("settings", problem, hint)


def setting_path(daemon: str, name: str) -> str:
    """The file of settings of a daemon."""
    return f"{FOLDER}/{daemon}.conf.d/{name.removesuffix('.conf')}.conf"


def _text(key: str, value: Any) -> str:
    text = ("no", "yes")[value] if isinstance(value, bool) else str(value).strip()
    if text.endswith("\\"):
        raise StateFailed(f"settings: {key}: a backslash at the end would join the next line to it")
    return text


def present(path: str) -> bytes | None:
    """The contents of a file; None where there is none. Raises StateFailed for something else."""
    if not file.lexists(path):
        return None
    if not file.is_file(path):
        raise StateFailed(f"{path} is no file: remove it first")
    return file.read_bytes(path)


def _tell(daemon: str) -> None:
    """Have a daemon that runs read its files anew."""
    if not systemd.suits():
        return
    if daemon == "system":
        service.systemctl_reload()
    elif daemon == "logind" or daemon in RESTARTED:
        unit = f"systemd-{daemon}.service"
        if systemd.status(unit, ""):
            try:
                if daemon == "logind":  # a restart may end sessions
                    systemd.act(unit, "kill", ["--signal=HUP"])
                else:
                    systemd.act(unit, "restart")
            except CommandFailed as failure:
                raise StateFailed(failure.message) from None
