# SPDX-License-Identifier: Apache-2.0
"""pkg.diverted, pkg.statoverride and their opposites: what packages leave of a path.

Salt has nothing like it.
"""

from __future__ import annotations

import os
from functools import partial

from modules import file, pkg
from modules.pkg import Override
from runner.api import (
    ONE_LINE,
    AbsolutePath,
    Annotated,
    Check,
    Mode,
    Name,
    Planned,
    StateFailed,
    line_problem,
    requires_feature,
)
from runner.api.kinds import Kind, Property, Wording

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def _path_problem(path: str) -> str | None:
    if os.path.normpath(path) != path:
        return "packages have no path with `..`, `//` or a slash at its end"
    return line_problem(path)


PackagedPath = Annotated[AbsolutePath, Check(_path_problem, ONE_LINE)]
DIVERSION = Kind(
    "diversion of {name}",
    removed=Wording(
        "{name} is not diverted",
        "{Title} is set to be removed",
        "{Title} was removed",
        changes={"diverted": {"old": "{to}", "new": None}},
    ),
    created=Wording(
        "{name} is diverted to {to}",
        "{name} is set to be diverted to {to}",
        "{name} was diverted to {to}",
        changes={"diverted": {"old": None, "new": "{to}"}},
    ),
)
OVERRIDE = Kind(
    "override of {name}",
    removed=Wording(
        "{Title} is absent already",
        "{Title} is set to be removed",
        "{Title} was removed",
        changes={"override": {"old": "present", "new": "absent"}},
    ),
    created=Wording(
        "{Title} is in the correct state",
        "{Title} is set to be made",
        "{Title} was made",
        changes={"override": {"old": "absent", "new": "present"}},
    ),
)


@requires_feature("path_rules")
def diverted(
    name: PackagedPath, divert_to: PackagedPath | None = None, rename: bool = True
) -> Planned:
    """Make sure that packages put a path elsewhere (dpkg-divert), so that another file can have its
    place and stays when the package is upgraded.

    name: The path.
    divert_to: Where packages put it instead, on the same file system; without it NAME.distrib.
    rename: Move what is there now to that place, too.

        /usr/bin/editor-wrapper:
          pkg.diverted:
            - divert_to: /usr/bin/editor-wrapper.debian
          file.managed:
            - source: salt://editor-wrapper
            - mode: '0755'
    """
    to = divert_to or f"{name}.distrib"
    rules = pkg.provider().path_rules
    now = rules.diversions().get(name)
    if now and (now.to, now.by) != (to, ":"):
        whose = "locally" if now.by == ":" else f"by the package {now.by}"
        raise StateFailed(
            f"{name} is diverted to {now.to} already, {whose}; `pkg.undiverted` removes"
            " a local diversion"
        )
    if not now:
        _refuse(name, to, rename, rules.diversions())
    return DIVERSION.present(now, lambda: rules.divert(name, to, rename), name=name, to=to)


def _refuse(name: str, to: str, rename: bool, known: dict[str, Any]) -> None:
    """Raise StateFailed for what dpkg-divert would refuse."""
    taken = {to: path for path, (to, _) in known.items()}
    if to == name:
        raise StateFailed(f"{name} cannot be diverted to itself")
    if file.is_dir(name) and not file.is_link(name):
        raise StateFailed(f"{name} is a folder, and only files are diverted")
    if to in taken or name in taken or to in known:
        raise StateFailed(f"{to} and {name} cannot be part of another diversion")
    folder = to.rpartition("/")[0] or "/"
    if not file.is_dir(folder):
        raise StateFailed(f"{to}: its folder does not exist", missing=("file", folder))
    if rename:
        _refuse_move(name, to)


def _refuse_move(name: str, to: str) -> None:
    if file.lexists(name) and file.lexists(to):
        raise StateFailed(
            f"{name} cannot be moved to {to}: something is there already; remove one of them"
        )


@requires_feature("path_rules")
def undiverted(name: PackagedPath, rename: bool = True) -> Planned:
    """Make sure that packages put a path where it belongs: that no local diversion moves it.

    name: The path.
    rename: Move what packages put elsewhere back; nothing may be at the path then.

        /usr/bin/editor-wrapper:
          file.absent: []
          pkg.undiverted: []
    """
    rules = pkg.provider().path_rules
    now = rules.diversions().get(name)
    if now and now.by != ":":
        raise StateFailed(f"the diversion of {name} is the package {now.by}'s, and stays")
    if now and rename:
        _refuse_move(now.to, name)
    to = now.to if now else ""
    return DIVERSION.absent(now, lambda: rules.undivert(name, rename), name=name, to=to)


@requires_feature("path_rules")
def statoverride(
    name: PackagedPath, mode: Mode, user: Name = "root", group: Name = "root"
) -> Planned:
    """Make sure that a path has an owner and a mode whatever its package says (dpkg-statoverride),
    after each upgrade of the package, too.

    name: The path.
    mode: Its mode.
    user: Its owner.
    group: Its group.

        /usr/bin/crontab:
          pkg.statoverride:
            - group: crontab
            - mode: '2755'
    """
    wanted = Override(_word(user), _word(group), mode)
    uid, gid = file.uid_of(user), file.gid_of(group)
    for what, which, known in (("user", user, uid), ("group", group, gid)):
        if known is None:
            raise StateFailed(f"{what.title()} {which} is not available", missing=(what, which))
    file.real_path(name)  # through no link of somebody else
    rules = pkg.provider().path_rules
    rule, at = rules.overrides().get(name), file.seen(name)
    now = (rule or wanted)._asdict()
    if at and rule == wanted:  # the path itself may be otherwise
        now |= {"mode": at.mode} | ({} if at.uid == uid else {"user": at.user})
        now |= {} if at.gid == gid else {"group": at.group}
    properties = [Property(key, value) for key, value in wanted._asdict().items()]
    create = partial(rules.override, name, wanted)
    return OVERRIDE.present(rule and now, create, properties, lambda _: create(), name=name)


@requires_feature("path_rules")
def statoverride_absent(name: PackagedPath) -> Planned:
    """Make sure that packages decide on the owner and mode of a path: what it has now stays until
    the next upgrade of its package.

    name: The path.

        /usr/bin/crontab:
          pkg.statoverride_absent: []
    """
    rules = pkg.provider().path_rules
    return OVERRIDE.absent(name in rules.overrides(), lambda: rules.drop_override(name), name=name)


def _word(name: str) -> str:
    """A user or a group in dpkg's words: a number is marked as one."""
    return f"#{name}" if name.isdecimal() else name
