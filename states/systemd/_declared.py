# SPDX-License-Identifier: Apache-2.0
"""systemd.tmpfiles, systemd.sysusers and their opposites: what systemd makes at each start.

Salt has nothing like it.
"""

from __future__ import annotations

from modules import file
from modules.service import declared
from runner.api import NonEmptyLine, OneOrMany, Plan, Planned
from states.file._diff import diff
from states.systemd._setting import DropIn, present


def rules_path(fun: str, name: str) -> str:
    """The file of rules of a state."""
    rules = declared.TMPFILES if fun.startswith("tmpfiles") else declared.SYSUSERS
    return f"{rules.folder}/{name.removesuffix('.conf')}.conf"


@file.validated
def tmpfiles(name: DropIn, rules: OneOrMany[NonEmptyLine]) -> Planned:
    """Make sure that systemd makes files and directories at each start (systemd-tmpfiles), and that
    they are there now.

    The rules, as man tmpfiles.d says, are in a file below /etc/tmpfiles.d.
    systemd-tmpfiles reads them before they are written, in a dry run, too: what it refuses
    never takes its place. Undo removes the rules, not what they made.

    name: The name of the file, without .conf.
    rules: The lines of the file.

        app:
          systemd.tmpfiles:
            - rules:
              - d /run/app 0750 app app -
              - d /var/cache/app 0755 app app 30d
    """
    return (yield from _present("tmpfiles", declared.TMPFILES, name, rules))


@file.validated
def tmpfiles_absent(name: DropIn) -> Planned:
    """Make sure that there is no such file of rules; what they made stays.

    name: The name of the file, without .conf.

        app:
          systemd.tmpfiles_absent: []
    """
    return (yield from _absent("tmpfiles", name))


@file.validated
def sysusers(name: DropIn, rules: OneOrMany[NonEmptyLine]) -> Planned:
    """Make sure that systemd makes users and groups of the system (systemd-sysusers), and that they
    are there now. user.present makes them without a file of rules.

    The rules, as man sysusers.d says, are in a file below /etc/sysusers.d.
    systemd-sysusers reads them before they are written, in a dry run, too. Undo removes the
    rules, not the accounts.

    name: The name of the file, without .conf.
    rules: The lines of the file.

        app:
          systemd.sysusers:
            - rules: u app - "The application" /var/lib/app
    """
    return (yield from _present("sysusers", declared.SYSUSERS, name, rules))


@file.validated
def sysusers_absent(name: DropIn) -> Planned:
    """Make sure that there is no such file of rules; the accounts stay.

    name: The name of the file, without .conf.

        app:
          systemd.sysusers_absent: []
    """
    return (yield from _absent("sysusers", name))


def _present(fun: str, kind: declared.Rules, name: str, lines: list[str]) -> Planned:
    path = rules_path(fun, name)
    old, text = present(path), "".join(f"{line.strip()}\n" for line in lines)
    new = text.encode("utf-8", "surrogateescape")
    if old == new:
        return f"The rules {name} of {kind.program} are in the correct state"
    short = name.removesuffix(".conf")
    tried = declared.verify(kind, short, text)
    file.refuse_put(path)
    yield Plan(
        {path: diff(old, new)},
        f"The rules {name} of {kind.program} are set to be written",
        provides=[("file", path), *declared.made(kind, lines)],
    )
    declared.carry_out(kind, tried)  # first: a run that is killed here does it again
    file.makedirs(kind.folder, mode="0755", user=0, group=0)
    file.write(path, new, mode=None if old is not None else "0644")
    return f"The rules {name} of {kind.program} were written"


def _absent(fun: str, name: str) -> Planned:
    path = rules_path(fun, name)
    old = present(path)
    if old is None:
        return f"There are no rules {path} already"
    file.refuse_put(path)
    yield Plan({path: diff(old, b"")}, f"The rules {path} are set to be removed")
    file.remove(path)
    return f"The rules {path} were removed"
