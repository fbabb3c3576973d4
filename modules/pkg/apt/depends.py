# SPDX-License-Identifier: Apache-2.0
"""The dependencies that `apt-cache depends` prints, with versions.

    nginx
      Depends: libc6 (>= 2.34)
     |Recommends: <default-mta>
        exim4-daemon-light
      Recommends: postfix
      Breaks: nginx-core (<< 1.22.1-6~)

A bar: the next line is an alternative to this one. Brackets: there is no package of this name;
those further in provide it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from modules.pkg.package_manager import Need

# whether a package is installed, in a version that stands so to another one ("" is any)
Stands = Callable[[str, str, str], bool]


def parse(
    lines: Iterable[str], normal: Callable[[str], str], stands: Stands
) -> Iterator[tuple[str, list[Need]]]:
    """Each package with what it needs; a package that it breaks as that is installed is needed in
    another version.
    """
    name, needs = "", _Needs(stands)
    for line in lines:
        if line and not line.startswith(" "):
            if name:
                yield name, needs.done()
            name, needs = line.strip(), _Needs(stands)
        elif line.startswith("    "):
            needs.provider(normal(line.strip()))
        elif ": " in line:
            kind, target = line[2:].split(": ", 1)
            target, _, version = target.partition(" (")
            relation, _, version = version.removesuffix(")").partition(" ")
            named = "" if target.startswith("<") else normal(target)
            needs.target(kind, named, (relation, version), line.startswith(" |"))
    if name:
        yield name, needs.done()


class _Needs:
    def __init__(self, stands: Stands) -> None:
        self._stands = stands
        self._found: list[Need] = []
        self._alternatives: list[list[str]] = []
        self._enough: list[str] = []
        self._constraint = ("", "")
        self._kind = ""
        self._more = False

    def target(self, kind: str, name: str, constraint: tuple[str, str], more: bool) -> None:
        if not self._more:
            self._close()
        self._kind, self._constraint, self._more = kind, constraint, more
        if kind in ("Breaks", "Conflicts"):
            if name and constraint[0] and self._stands(name, *constraint):
                self._alternatives.append([name])
            return
        self._alternatives.append([name] if name else [])
        if name and self._stands(name, *constraint):
            self._enough.append(name)

    def provider(self, name: str) -> None:
        if self._kind in ("Breaks", "Conflicts"):
            return
        self._alternatives[-1].append(name)
        if not self._constraint[0] and self._stands(name, "", ""):
            self._enough.append(name)

    def _close(self) -> None:
        if self._alternatives:
            alternatives = tuple(tuple(packages) for packages in self._alternatives if packages)
            weak = self._kind in ("Recommends", "Suggests")
            self._found.append(Need(alternatives, weak, tuple(self._enough)))
        self._alternatives, self._enough = [], []

    def done(self) -> list[Need]:
        self._close()
        return self._found
