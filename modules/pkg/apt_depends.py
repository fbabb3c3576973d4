"""The dependencies that `apt-cache depends` prints.

    nginx
      Depends: libc6
     |Recommends: <default-mta>
        exim4-daemon-light
      Recommends: postfix

A bar: the next line is an alternative to this one. Brackets: there is no package of this name;
those further in provide it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from modules.pkg.package_manager import Need


def parse(lines: Iterable[str], normal: Callable[[str], str]) -> Iterator[tuple[str, list[Need]]]:
    """Each package with what it needs."""
    name, needs = "", _Needs()
    for line in lines:
        if line and not line.startswith(" "):
            if name:
                yield name, needs.done()
            name, needs = line.strip(), _Needs()
        elif line.startswith("    "):
            needs.provider(normal(line.strip()))
        elif ": " in line:
            kind, target = line[2:].split(": ", 1)
            needs.target(
                kind, "" if target.startswith("<") else normal(target), line.startswith(" |")
            )
    if name:
        yield name, needs.done()


class _Needs:
    def __init__(self) -> None:
        self._found: list[Need] = []
        self._alternatives: list[list[str]] = []
        self._kind = ""
        self._more = False

    def target(self, kind: str, name: str, more: bool) -> None:
        if not self._more:
            self._close()
        self._alternatives.append([name] if name else [])
        self._kind, self._more = kind, more

    def provider(self, name: str) -> None:
        self._alternatives[-1].append(name)

    def _close(self) -> None:
        if self._alternatives:
            alternatives = tuple(tuple(packages) for packages in self._alternatives if packages)
            self._found.append(Need(alternatives, self._kind in ("Recommends", "Suggests")))
        self._alternatives = []

    def done(self) -> list[Need]:
        self._close()
        return self._found
