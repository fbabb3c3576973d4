# SPDX-License-Identifier: Apache-2.0
"""A stand-in of Red Hat's `alternatives`, which Debian has not: it keeps the same records and links
(and names no family). A program of its own: python3 FILE --install LINK NAME PATH PRIORITY ...
"""

from __future__ import annotations

import sys
from pathlib import Path

RECORDS, LINKS = Path("/var/lib/alternatives"), Path("/etc/alternatives")
USAGE = "usage: alternatives --install <link> <name> <path> <priority>"


class Group:
    """A name, as its record and links have it. choices: path, priority with what stands around it,
    the paths of its followers.
    """

    def __init__(self, name: str) -> None:
        self.record, self.name = RECORDS / name, name
        self.mode, self.link, self.followers = "auto", "", list[tuple[str, str]]()
        self.choices: list[tuple[str, str, list[str]]] = []
        if not self.record.exists():
            return
        head, _, tail = self.record.read_text().partition("\n\n")
        self.mode, self.link, *rest = head.splitlines()
        self.followers = list(zip(rest[::2], rest[1::2], strict=True))
        lines, size = tail.splitlines(), 2 + len(self.followers)
        for at in range(0, len(lines) - size + 1, size):
            self.choices.append((lines[at], lines[at + 1], lines[at + 2 : at + size]))
        if self.current != self.best:
            self.mode = "manual"

    @property
    def paths(self) -> list[str]:
        return [path for path, _, _ in self.choices]

    @property
    def current(self) -> int:
        target = str((LINKS / self.name).readlink())
        return self.paths.index(target) if target in self.paths else -1

    @property
    def best(self) -> int:
        return max(range(len(self.choices)), key=self.priority)

    def priority(self, number: int) -> int:
        return int(self.choices[number][1].rpartition("@")[2].split()[0])

    def point(self, number: int) -> None:
        path, _, targets = self.choices[number]
        for (name, link), target in zip(
            [(self.name, self.link), *self.followers], [path, *targets], strict=True
        ):
            for at, to in ((link, LINKS / name), (LINKS / name, target)):
                Path(at).unlink(missing_ok=True)
                if target:
                    Path(at).symlink_to(to)

    def write(self) -> None:
        lines = [self.mode, self.link, *(word for pair in self.followers for word in pair), ""]
        for path, priority, targets in self.choices:
            lines += [path, priority, *targets]
        self.record.write_text("\n".join([*lines, ""]))


def install(link: str, name: str, path: str, priority: str, *more: str) -> None:
    group = Group(name)
    if group.choices and link != group.link:
        sys.exit(f"the primary link for {name} must be {group.link}")
    group.link = link
    meant = group.best if path in group.paths else None
    given = {more[at + 2]: (more[at + 1], more[at + 3]) for at in range(0, len(more), 4)}
    known = dict(group.followers)
    added = [(name, place) for name, (place, _) in given.items() if name not in known]
    group.followers += added
    group.choices = [(*each[:2], each[2] + [""] * len(added)) for each in group.choices]
    own = (path, priority, [given.get(each, ("", ""))[1] for each, _ in group.followers])
    if meant is None:
        group.choices.append(own)
    else:
        group.choices[group.paths.index(path)] = own
    group.write()
    if group.mode == "auto":
        group.point(group.best if meant is None else meant)
    elif meant is not None:
        group.point(group.current)


def remove(name: str, path: str) -> None:
    group = Group(name)
    if len(group.choices) == 1:
        for each, link in [(name, group.link), *group.followers]:
            Path(link).unlink(missing_ok=True)
            (LINKS / each).unlink(missing_ok=True)
        group.record.unlink()
        return
    at, current = group.paths.index(path), group.current
    family = group.choices[current][1].rpartition("@")[0].strip("@")
    group.choices[at] = group.choices[-1]
    group.choices.pop()
    numbers = range(len(group.choices))
    alike = [n for n in numbers if family and group.choices[n][1].startswith(f"@{family}@")]
    best = max(alike or numbers, key=group.priority)
    if at == current and not alike:
        group.mode = "auto"
    group.write()
    if at == current or group.mode == "auto":
        group.point(best)


def main(action: str, *words: str) -> None:
    if action in ("--install", "--remove"):
        (install if action == "--install" else remove)(*words)
        return
    if action not in ("--set", "--auto"):
        print(USAGE)
        sys.exit(2)
    group = Group(words[0])
    if not group.choices or (action == "--set" and words[1] not in group.paths):
        sys.exit(f"{words[-1]} has not been configured as an alternative for {words[0]}")
    group.mode = "auto" if action == "--auto" else "manual"
    group.write()
    group.point(group.best if action == "--auto" else group.paths.index(words[1]))


main(*sys.argv[1:])
