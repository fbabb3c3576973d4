# SPDX-License-Identifier: Apache-2.0
"""Rules of sudo: who may run what as whom, each rule in a file of its own below /etc/sudoers.d."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from typing import Annotated

from modules import file, sudo
from runner.api import Check, Line, Name, NonEmptyLine, OneOrMany, Plan, Planned, StateFailed
from runner.api.claims import WHOLE, Claim
from runner.api.kinds import Kind, Property, Wording, comes_after

OPPOSITE = {"rule": "absent"}


def _name_problem(name: str) -> str | None:
    if re.fullmatch(r"[\w-]+", name):
        return None
    return "sudo passes over files with such a name: take letters, digits, - and _ alone"


RuleName = Annotated[Name, Check(_name_problem)]
RULE = Kind(
    "sudo rule {name}",
    Wording(
        "{Title} is in the correct state",
        "{Title} is set to be written",
        "{Title} was written",
        changes={"rule": {"old": None, "new": "{rule}"}},
        provides={"file": "{path}"},
    ),
    Wording("", "{Title} is set to be changed", "{Title} was changed"),
    Wording(
        "{Title} is absent already",
        "{Title} is set to be removed",
        "{Title} was removed",
        changes={"rule": {"old": "{rule}", "new": None}},
    ),
)
HEAD = "# Written by runner (sudo.rule)\n"
MODE = "0440"


def dry_run_check(plan: Plan, name: str, **_: object) -> None:
    """Raise StateFailed when the caller may not change the rules."""
    file.refuse_put(_path(name))


def _path(name: str) -> str:
    return f"{sudo.FOLDER}/{name}"


def _present(path: str) -> str | None:
    """The text of a file of rules; None where there is none."""
    if not file.lexists(path):
        return None
    if not file.is_file(path) or file.is_link(path):
        raise StateFailed(f"{path} is no plain file: remove it first")
    return file.read_bytes(path).decode("utf-8", "surrogateescape").removeprefix(HEAD).rstrip("\n")


def rule(
    name: RuleName,
    users: OneOrMany[NonEmptyLine] | None = None,
    groups: OneOrMany[NonEmptyLine] | None = None,
    commands: OneOrMany[Line] | None = None,
    runas: OneOrMany[NonEmptyLine] | None = None,
    runas_groups: OneOrMany[NonEmptyLine] | None = None,
    hosts: OneOrMany[NonEmptyLine] | None = None,
    nopasswd: bool = False,
    setenv: bool = False,
    noexec: bool = False,
) -> Planned:
    """Make sure that users, or the members of groups, may run commands by sudo.

    The rule is the whole of a file below /etc/sudoers.d (root's, mode 0440). visudo reads it before
    anything is written, in a dry run too: what it refuses never takes its place.

    name: The name of the file: letters, digits, `-` and `_`, as sudo passes over others.
    users: Who may; ALL for everybody. Here and below, `!NAME` behind ALL is all but that one.
    groups: Groups whose members may.
    commands: Absolute paths with their arguments, with wildcards, ALL, `sudoedit /path`, or one
      with `!` before it. Commas, colons and the like need no backslashes.
    runas: As whom; root by default, ALL for anyone.
    runas_groups: As which group.
    hosts: On which machines; by default on all.
    nopasswd: Ask for no password.
    setenv: Let them keep variables of their environment.
    noexec: Keep the commands from starting others.

        deploy:
          sudo.rule:
            - users: deploy
            - commands:
              - /usr/bin/systemctl restart web
              - /usr/bin/systemctl reload web
            - nopasswd: True

    Salt has nothing like it.
    """
    whose = [*(users or ()), *map(sudo.group_name, groups or ())]
    if not whose or not commands:
        raise StateFailed("A rule needs `users` or `groups`, and `commands` (ALL for any command)")
    given = (("NOPASSWD", nopasswd), ("SETENV", setenv), ("NOEXEC", noexec))
    tags = [tag for tag, is_given in given if is_given]
    line = sudo.rule_text(
        whose, hosts or ["ALL"], runas or ["root"], runas_groups or (), tags, commands
    )
    path, text = _path(name), f"{HEAD}{line}\n"
    present = _present(path)
    if present != line:
        sudo.verify(name, text)
    at = file.seen(path)
    write = partial(
        file.write, path, text.encode("utf-8", "surrogateescape"), mode=MODE, user=0, group=0
    )
    properties = [
        Property("rule", line, lambda: present),
        Property("mode", MODE, lambda: at.mode if at else MODE),
        Property("owner", "0:0", lambda: f"{at.uid}:{at.gid}" if at else "0:0"),
    ]
    about = {"name": name, "rule": line, "path": path}
    return RULE.present(present is not None, write, properties, lambda _: write(), **about)


def absent(name: RuleName) -> Planned:
    """Make sure that there is no such file of rules below /etc/sudoers.d.

    name: The name of the file.

        deploy:
          sudo.absent: []

    Salt has nothing like it.
    """
    path = _path(name)
    present = _present(path)
    return RULE.absent(present is not None, lambda: file.remove(path), name=name, rule=present)


def owns(fun: str, name: str, **_: object) -> Iterator[Claim]:
    """The file of a rule."""
    if fun == "rule":
        yield Claim(WHOLE, _path(name))


autorequire = comes_after(
    "A rule comes after sudo, and after who may.",
    ("pkg", "sudo"),
    users="user",
    groups="group",
    runas="user",
)
