"""Apt's lists of sources: one-line entries and deb822 stanzas, read and written without touching what is not ours."""

from __future__ import annotations

import glob
import re
from collections.abc import Iterator
from typing import NamedTuple

from modules import file
from runner.api import StateFailed

MAIN = "/etc/apt/sources.list"
PARTS = "/etc/apt/sources.list.d"


class Source(NamedTuple):
    """One source of packages. options: as in the brackets of an entry, by lower-case names."""

    type: str
    uri: str
    dist: str
    comps: tuple[str, ...] = ()
    options: tuple[tuple[str, str], ...] = ()
    disabled: bool = False
    comment: str = ""

    @property
    def line(self) -> str:
        """The entry on one line."""
        told = " ".join(f"{key}={value}" for key, value in self.options)
        parts = ["#" if self.disabled else "", self.type, f"[{told}]" if told else "", self.uri, self.dist, *self.comps]
        return " ".join(part for part in parts if part) + (f" #{self.comment}" if self.comment else "")

    @property
    def stanza(self) -> str:
        """The entry as a deb822 stanza."""
        lines = [("Enabled", "no")] if self.disabled else []
        lines += [("Types", self.type), ("URIs", self.uri), ("Suites", self.dist), ("Components", " ".join(self.comps))]
        lines += [(_FIELDS.get(key, key.capitalize()), value.replace(",", " ")) for key, value in self.options]
        note = f"# {self.comment}\n" if self.comment else ""
        return note + "".join(f"{key}: {value}\n" for key, value in lines if value)

    def means(self, other: Source) -> bool:
        """Whether two entries are about the same archive."""
        return (self.type, self.uri.rstrip("/"), self.dist) == (other.type, other.uri.rstrip("/"), other.dist)


_FIELDS = {"arch": "Architectures", "signed-by": "Signed-By", "trusted": "Trusted", "lang": "Languages"}
_OPTIONS = {field.lower(): option for option, field in _FIELDS.items()}
_ENTRY = re.compile(
    r"(?P<off>#\s*)?(?P<type>deb(?:-src)?)\s+(?:\[(?P<options>[^\]]*)\]\s+)?(?P<uri>\S+)\s*(?P<rest>.*)"
)


def parsed(text: str) -> Source | None:
    """The source that a line says, a disabled one too; None for other comments and empty lines."""
    match = _ENTRY.fullmatch(text.strip())
    if match is None or (
        "://" not in match["uri"] and not match["uri"].startswith(("cdrom:", "file:", "copy:", "mirror"))
    ):
        return None
    rest, _, comment = match["rest"].partition("#")
    words = rest.split()
    options = [option.partition("=") for option in (match["options"] or "").split()]
    return Source(
        match["type"],
        match["uri"],
        words[0] if words else "",
        tuple(words[1:]),
        tuple((key.lower(), value) for key, _, value in options),
        bool(match["off"]),
        comment.strip(),
    )


def files() -> list[str]:
    """The files that apt reads."""
    return [
        path
        for path in [MAIN, *sorted(glob.glob(f"{PARTS}/*.list") + glob.glob(f"{PARTS}/*.sources"))]
        if file.is_file(path)
    ]


def read(path: str) -> str:
    """The text of a list; empty when there is none."""
    return file.read_bytes(path).decode("utf-8", "replace") if file.is_file(path) else ""


def sources(path: str) -> Iterator[Source]:
    """All sources of one file."""
    for part in _parts(path, read(path)):
        yield from _of(path, part)


def _parts(path: str, text: str) -> list[str]:
    """Lines, or stanzas with the lines between them."""
    if not path.endswith(".sources"):
        return text.splitlines(keepends=True)
    return re.split(r"(?<=\n)(?=[ \t]*\n)", text)


def _of(path: str, part: str) -> list[Source]:
    if not path.endswith(".sources"):
        found = parsed(part)
        return [found] if found else []
    fields = _fields(part)
    if "types" not in fields or "uris" not in fields:
        return []
    options = tuple((_OPTIONS.get(key, key), value) for key, value in fields.items() if key not in _OWN)
    comps = tuple(fields.get("components", "").split())
    off = fields.get("enabled", "yes").lower() in ("no", "false", "0")
    return [
        Source(kind, uri, suite, comps, options, off)
        for kind in fields["types"].split()
        for uri in fields["uris"].split()
        for suite in fields.get("suites", "").split()
    ]


_OWN = ("types", "uris", "suites", "components", "enabled")


def _fields(stanza: str) -> dict[str, str]:
    found: dict[str, str] = {}
    key = ""
    for line in stanza.splitlines():
        if line.startswith("#"):
            continue
        if line[:1] in (" ", "\t") and key:
            found[key] += f"\n{line.rstrip()}"
        elif ":" in line:
            key, _, value = line.partition(":")
            key = key.strip().lower()
            found[key] = value.strip()
    return found


def where(wanted: Source, preferred: str | None = None) -> tuple[str, Source] | None:
    """The file that has an archive (the preferred one if it does), and how; an enabled entry before a disabled one."""
    found = [(path, source) for path in files() for source in sources(path) if source.means(wanted)]
    return min(found, key=lambda pair: (pair[0] != preferred, pair[1].disabled)) if found else None


def with_source(path: str, wanted: Source) -> str:
    """The text of a file with this source in it, instead of what it said of the archive."""
    deb822 = path.endswith(".sources")
    new = wanted.stanza if deb822 else wanted.line + "\n"
    kept, placed = [], False
    for part in _parts(path, read(path)):
        if not any(source.means(wanted) for source in _of(path, part)):
            kept.append(part)
        elif not placed:
            kept.append("\n" + new if part.startswith("\n") else new)
            placed = True
    text = "".join(kept)
    if placed:
        return text
    if text and not text.endswith("\n"):
        text += "\n"
    return text + ("\n" if deb822 and text else "") + new


def without_source(path: str, unwanted: Source) -> str:
    """The text of a file without an archive. Raises StateFailed for a stanza that says several, which stay together."""
    kept = []
    for part in _parts(path, read(path)):
        found = _of(path, part)
        if not any(source.means(unwanted) for source in found):
            kept.append(part)
        elif len(found) > 1:
            raise StateFailed(f"the stanza in {path} names several archives; take {unwanted.dist} out of it by hand")
    return "".join(kept)
