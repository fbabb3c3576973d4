# SPDX-License-Identifier: Apache-2.0
"""What update-alternatives would do, Debian's or Red Hat's: a dry run plans its files and links
instead of running it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence

from modules import _paths, cmd, file
from modules._texts.lines import encoded, split
from runner.api import CommandFailed
from runner.api.planning import only_files

LINKS = "/etc/alternatives"
PRIORITY = re.compile(r"(?:@([^@]+)@)?(-?\d+) *(.*)")  # Red Hat: @family@priority initscript


def is_red_hats() -> bool:
    """Return whether the program is Red Hat's, which has another list of commands."""
    return cmd.which("alternatives") is not None


def records() -> str:
    """The folder with a record of each name."""
    debians, others = "/var/lib/dpkg/alternatives", "/var/lib/alternatives"
    return others if is_red_hats() or not _paths.isdir(debians) else debians


class Alternatives:
    """A name as its record has it. slaves: further names that go with it, with their links.
    choices: path -> priority and the paths of the slaves. families: of Red Hat's choices, path ->
    what stands around the priority.
    """

    def __init__(self, name: str) -> None:
        self.name, self.link, self.auto = name, "", True
        self.slaves: list[tuple[str, str]] = []
        self.choices: dict[str, tuple[int, list[str]]] = {}
        self.families: dict[str, tuple[str, str]] = {}

    @property
    def current(self) -> str:
        """The path that the name means; empty where that is none of its alternatives."""
        path = f"{LINKS}/{self.name}"
        target = _paths.readlink(path) if _paths.islink(path) else ""
        return target if target in self.choices else ""

    @property
    def best(self) -> str:
        paths = self.choices if is_red_hats() else sorted(self.choices)
        return max(paths, key=lambda path: self.choices[path][0])

    @property
    def family(self) -> str:
        """The family of what the name means; only Red Hat's have one."""
        return self.families.get(self.current, ("", ""))[0]


def recorded(name: str) -> Alternatives | None:
    """A name's alternatives as they are planned; None where there is no such name."""
    path = f"{records()}/{name}"
    if not file.is_file(path):
        return None
    lines = split(file.read_bytes(path).decode("utf-8", "surrogateescape"))
    found = Alternatives(name)
    found.auto, found.link = lines[0] == "auto", lines[1]
    head = lines.index("", 2)
    found.slaves = list(zip(lines[2:head:2], lines[3:head:2], strict=True))
    size = 2 + len(found.slaves)
    for at in range(head + 1, len(lines) - size + 1, size):
        if not lines[at]:
            break
        priority = PRIORITY.fullmatch(lines[at + 1])
        if priority and (is_red_hats() or _paths.exists(lines[at])):  # it passes over the others
            found.choices[lines[at]] = int(priority[2]), lines[at + 2 : at + size]
            found.families[lines[at]] = priority[1] or "", priority[3]
    if is_red_hats() and found.choices:  # a link that leads elsewhere was set by hand
        found.auto = found.auto and found.current == found.best
    return found


def install(
    link: str, name: str, path: str, priority: int, slaves: Sequence[tuple[str, str, str]]
) -> None:
    """Plan that a path is an alternative. slaves: names with their links and paths that go with
    it. Raises CommandFailed as it would fail.
    """
    group = recorded(name) or Alternatives(name)
    _install(group, link, path, priority)
    targets = {slave: target for slave, _, target in slaves}
    known = [slave for slave, _ in group.slaves]
    group.slaves += [(slave, place) for slave, place, _ in slaves if slave not in known]
    for choice, (weight, before) in group.choices.items():
        ended = [*before, *[""] * (len(group.slaves) - len(before))]
        if choice == path:
            ended = [targets.get(slave, "") for slave, _ in group.slaves]
        group.choices[choice] = weight, ended
    if group.auto or not group.current:
        group.auto = True
        _point(group, group.best)
    _record(group)


@only_files
def change(action: str, *values: str) -> str:
    """Plan what an action would do, and answer with what it prints. Raises CommandFailed as it
    would fail.
    """
    name = values[1] if action == "--install" else values[0]
    if "/" in name or " " in name:
        raise _failure(f"alternative name ({name}) must not contain '/' and spaces")
    group = recorded(name) or Alternatives(name)
    if is_red_hats():
        return _red_hats(group, action, values)
    before = group.current
    if action == "--install":
        _install(group, values[0], values[2], int(values[3]))
    elif not group.choices:
        raise _failure(f"no alternatives for {name}")
    elif action == "--remove":
        group.auto = group.auto or group.current == values[1]
        group.choices.pop(values[1], None)
        if not group.choices:
            return _remove(group)
    elif action == "--set":
        if values[1] not in group.choices:
            raise _failure(f"alternative {values[1]} for {name} not registered; not setting")
        group.auto = False
        _point(group, values[1])
    else:
        group.auto = True
    if group.auto or not group.current:
        group.auto = True
        _point(group, group.best)
    _record(group)
    if group.current == before:
        return ""
    mode = "auto" if group.auto else "manual"
    using = f"using {group.current} to provide {group.link} ({name}) in {mode} mode"
    return f"update-alternatives: {using}"


def _red_hats(group: Alternatives, action: str, values: Sequence[str]) -> str:
    """Plan what an action of Red Hat's program would do."""
    name, path = group.name, values[1] if action in ("--remove", "--set") else ""
    if action == "--install":
        if group.choices and values[0] != group.link:
            raise CommandFailed(f"the primary link for {name} must be {group.link}")
        # what was the best one stays so for now
        meant = group.best if values[2] in group.choices else ""
        _install(group, values[0], values[2], int(values[3]))
        group.choices[values[2]] = int(values[3]), [""] * len(group.slaves)
        group.families[values[2]] = "", ""
        if group.auto or meant:
            _point(group, (meant if group.auto else group.current) or group.best)
    elif path and path not in group.choices:
        raise CommandFailed(f"{path} has not been configured as an alternative for {name}")
    elif action == "--remove" and len(group.choices) == 1:
        return _remove(group)
    elif action == "--remove":
        family = group.family
        goes = group.current == path
        # the last one takes its place
        last = list(group.choices)[-1]
        order = [last if each == path else each for each in list(group.choices)[:-1]]
        group.choices = {each: group.choices[each] for each in order}
        best = max(order, key=lambda each: _rank(group, each, family))
        if goes and group.families[best][0] != family:
            group.auto = True
        if goes or group.auto:
            _point(group, best)
    else:
        group.auto = action == "--auto"
        _point(group, group.best if group.auto else path)
    _record(group)
    return ""


def _rank(group: Alternatives, path: str, family: str) -> tuple[bool, int]:
    return bool(family) and group.families[path][0] == family, group.choices[path][0]


def _install(group: Alternatives, link: str, path: str, priority: int) -> None:
    if not _paths.exists(path):
        raise _failure(f"alternative path {path} doesn't exist")
    if group.link not in ("", link) and _paths.islink(group.link):
        file.rename(group.link, link)
    group.link = link
    group.choices[path] = priority, group.choices.get(path, (0, [""] * len(group.slaves)))[1]


def _point(group: Alternatives, path: str) -> None:
    """Let the links of a name, and of those that go with it, lead to an alternative."""
    _link(f"{LINKS}/{group.name}", path)
    _link(group.link, f"{LINKS}/{group.name}")
    for (name, link), target in zip(group.slaves, group.choices[path][1], strict=True):
        if target and _paths.exists(target) and _paths.isdir(os.path.dirname(link)):
            _link(f"{LINKS}/{name}", target)
            _link(link, f"{LINKS}/{name}")
        else:
            _unlink(link)
            _unlink(f"{LINKS}/{name}")


def _link(path: str, target: str) -> None:
    if not _paths.lexists(path) or (_paths.islink(path) and _paths.readlink(path) != target):
        file.put_symlink(target, path)


def _unlink(path: str) -> None:
    if _paths.islink(path):
        file.remove(path)


def _record(group: Alternatives) -> None:
    lines = ["auto" if group.auto else "manual", group.link]
    lines += [word for slave in group.slaves for word in slave]
    lines.append("")
    for path in group.choices if is_red_hats() else sorted(group.choices):
        priority, slaves = group.choices[path]
        family, script = group.families.get(path, ("", ""))
        lines += [path, (f"@{family}@" if family else "") + f"{priority} {script}".rstrip()]
        lines += slaves
    file.write(f"{records()}/{group.name}", encoded([*lines, ""]), mode="0644")


def _remove(group: Alternatives) -> str:
    for name, link in [(group.name, group.link), *group.slaves]:
        _unlink(link)
        _unlink(f"{LINKS}/{name}")
    file.remove(f"{records()}/{group.name}")
    return ""


def _failure(why: str) -> CommandFailed:
    return CommandFailed(f"update-alternatives: error: {why}")
