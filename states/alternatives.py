# SPDX-License-Identifier: Apache-2.0
"""Alternatives, Debian's and Red Hat's: which of several programs a name means."""

from __future__ import annotations

from modules import alternatives, file
from runner.api import AbsolutePath, Done, Name, Plan, Planned, StateFailed, here
from runner.api.kinds import comes_after
from runner.api.opposite import Opposite
from states._rights import writing
from states._tools import explained

dry_run_check = writing("/etc/alternatives")

DECIDES = {"set": "path"}
OPPOSITE = {"install": Opposite("remove", by=("path",))}


def install(name: Name, link: AbsolutePath, path: AbsolutePath, priority: int) -> Planned:
    """Make sure that a path is an alternative of a name.

    name: The name, such as editor.
    link: The link that programs use.
    path: The program that the name may mean; it has to be there.
    priority: The highest one decides in automatic mode.

        editor:
          alternatives.install:
            - link: /usr/bin/editor
            - path: /usr/bin/vim
            - priority: 50

    Behaviour: Salt's alternatives.install; a priority or a link that differs is changed.
    """
    if file.lexists(link) and not file.is_link(link):
        here.warn(
            f"{link} is no link, and what is no link is not replaced by one: until it is moved"
            f" away, {link} does not mean what {name} means"
        )
    group = alternatives.group(name)
    if group and group.choices.get(path) == priority and group.link == link:
        return f"Alternative {path} for {name} is already registered"
    if not file.exists(path):
        raise StateFailed(
            f"Alternative for {name} not installed: {path} does not exist", missing=("file", path)
        )
    changes = {"name": name, "link": link, "path": path, "priority": priority}
    comment = f"Alternative will be set for {name} to {path} with priority {priority}"
    yield Plan(changes, comment, provides=[("file", link), ("alternative", name)])
    with explained(f"Alternative for {name} not installed", changes={}):
        alternatives.install(name, link, path, priority)
    if alternatives.show_current(name) != path:
        return (
            f"Alternative {path} for {name} registered with priority {priority} and not set to"
            " default"
        )
    return f"Alternative for {name} set to path {path} with priority {priority}"


def remove(name: Name, path: AbsolutePath) -> Planned:
    """Make sure that a path is not an alternative of a name.

    name: The name.
    path: The program that the name must not mean.

        editor:
          alternatives.remove:
            - path: /usr/bin/nano

    Behaviour: Salt's alternatives.remove; a name that is not there is fine.
    """
    group = alternatives.group(name)
    if group is None:
        return f"Alternative for {name} doesn't exist"
    if path not in group.choices:
        return f"Alternative for {name} is set to it's default path {group.current}"
    yield Plan({"path": ""}, f"Alternative for {name} will be removed")
    alternatives.remove(name, path)
    current = alternatives.show_current(name)
    if not current:
        return f"Alternative for {name} removed"
    return Done(
        f"Alternative for {name} removed. Falling back to path {current}", {"path": current}
    )


def auto(name: Name) -> Planned:
    """Make sure that the priorities decide what a name means.

    name: The name.

        editor:
          alternatives.auto: []
    """
    group = alternatives.group(name)
    if group is None:
        raise StateFailed(f"Alternative for {name} doesn't exist", missing=("alternative", name))
    if group.auto:
        return f"{name} already in auto mode"
    yield Plan({"result": ""}, f"{name} will be put in auto mode")
    return Done("", {"result": alternatives.auto(name)})


def set_(name: Name, path: AbsolutePath) -> Planned:
    """Make sure that a name means a path.

    name: The name.
    path: One of its alternatives; if the name means another one now, whatever the priorities say.

        editor:
          alternatives.set:
            - path: /usr/bin/vim.tiny
    """
    group = alternatives.group(name)
    if group and group.current == path:
        return f"Alternative for {name} already set to {path}"
    if group is None or path not in group.choices:
        raise StateFailed(
            f"Alternative {path} for {name} doesn't exist", missing=("alternative", name)
        )
    yield Plan({"path": path}, f"Alternative for {name} will be set to path {path}")
    alternatives.set_(name, path)
    return f"Alternative for {name} set to path {path}"


autorequire = comes_after(
    "An alternative comes after the file that the name is to mean.", path="file"
)

__func_alias__ = {"set_": "set"}
