# SPDX-License-Identifier: Apache-2.0
"""What update-alternatives would do: a dry run plans its files and links instead of running it."""

from __future__ import annotations

import os
from collections.abc import Sequence

from modules import _paths, file
from modules._texts.lines import encoded, split
from runner.api import CommandFailed
from runner.api.planning import only_files

RECORDS = "/var/lib/dpkg/alternatives"
LINKS = "/etc/alternatives"


class Alternatives:
    """A name as its record in RECORDS has it. slaves: further names that go with it, with their
    links. choices: path -> priority and the paths of the slaves.
    """

    def __init__(self, name: str) -> None:
        self.name, self.link, self.auto = name, "", True
        self.slaves: list[tuple[str, str]] = []
        self.choices: dict[str, tuple[int, list[str]]] = {}

    @property
    def current(self) -> str:
        """The path that the name means; empty where that is none of its alternatives."""
        path = f"{LINKS}/{self.name}"
        target = _paths.readlink(path) if _paths.islink(path) else ""
        return target if target in self.choices else ""

    @property
    def best(self) -> str:
        return max(sorted(self.choices), key=lambda path: self.choices[path][0])


def recorded(name: str) -> Alternatives | None:
    """A name's alternatives as they are planned; None where there is no such name."""
    path = f"{RECORDS}/{name}"
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
        if _paths.exists(lines[at]):  # it passes over the others
            found.choices[lines[at]] = int(lines[at + 1]), lines[at + 2 : at + size]
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
    for path in sorted(group.choices):
        priority, slaves = group.choices[path]
        lines += [path, str(priority), *slaves]
    file.write(f"{RECORDS}/{group.name}", encoded([*lines, ""]), mode="0644")


def _remove(group: Alternatives) -> str:
    for name, link in [(group.name, group.link), *group.slaves]:
        _unlink(link)
        _unlink(f"{LINKS}/{name}")
    file.remove(f"{RECORDS}/{group.name}")
    return ""


def _failure(why: str) -> CommandFailed:
    return CommandFailed(f"update-alternatives: error: {why}")
