# SPDX-License-Identifier: Apache-2.0
"""Apt's lists of sources: one-line entries and deb822 stanzas, read and written without touching
what is not ours.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from modules import _paths, file
from runner.api import Record

MAIN = "/etc/apt/sources.list"
PARTS = "/etc/apt/sources.list.d"
FORMS = ("*.list", "*.sources")
_READ = re.compile(r"[A-Za-z0-9_.-]+\.(list|sources)")


class AptSource(Record):
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
        options = " ".join(f"{key}={value}" for key, value in self.options)
        parts = [
            "#" if self.disabled else "",
            self.type,
            f"[{options}]" if options else "",
            self.uri,
            self.dist,
            *self.comps,
        ]
        return " ".join(part for part in parts if part) + (
            f" #{self.comment}" if self.comment else ""
        )

    @property
    def stanza(self) -> str:
        """The entry as a deb822 stanza."""
        lines = [("Enabled", "no")] if self.disabled else []
        lines += [
            ("Types", self.type),
            ("URIs", self.uri),
            ("Suites", self.dist),
            ("Components", " ".join(self.comps)),
        ]
        lines += [
            (_FIELDS.get(key, key.capitalize()), value.replace(",", " "))
            for key, value in self.options
        ]
        note = f"# {self.comment}\n" if self.comment else ""
        return note + "".join(f"{key}: {value}\n" for key, value in lines if value)

    def says(self, other: AptSource, stanza: bool) -> bool:
        """Return whether two entries say the same but for comments. stanza: this one may say more
        than an entry could.
        """
        compared = {"arch", "signed-by", "trusted", *dict(other.options)}
        own = {key: value for key, value in self.options if not stanza or key in compared}
        plain = [source._replace(comment="", options=()) for source in (self, other)]
        return plain[0] == plain[1] and own == dict(other.options)

    def means(self, other: AptSource) -> bool:
        """Return whether two entries are about the same archive."""
        return (self.type, self.uri.rstrip("/"), self.dist) == (
            other.type,
            other.uri.rstrip("/"),
            other.dist,
        )


_FIELDS = {
    "arch": "Architectures",
    "signed-by": "Signed-By",
    "trusted": "Trusted",
    "lang": "Languages",
}
_OPTIONS = {field.lower(): option for option, field in _FIELDS.items()}
_ENTRY = re.compile(
    r"(?P<off>#\s*)?(?P<type>deb(?:-src)?)\s+(?:\[(?P<options>[^\]]*)\]\s+)?(?P<uri>\S+)\s*(?P<rest>.*)"
)


def parsed(text: str) -> AptSource | None:
    """The source that a line says, a disabled one too; None for other comments and empty lines."""
    match = _ENTRY.fullmatch(text.strip())
    if match is None or (
        "://" not in match["uri"]
        and not match["uri"].startswith(("cdrom:", "file:", "copy:", "mirror"))
    ):
        return None
    rest, _, comment = match["rest"].partition("#")
    words = rest.split()
    options = [option.partition("=") for option in (match["options"] or "").split()]
    return AptSource(
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
        for path in (
            MAIN,
            *sorted(found for form in FORMS for found in _paths.glob(f"{PARTS}/{form}")),
        )
        if file.is_file(path)
    ]


def read(path: str) -> str:
    """The text of a list; empty when there is none."""
    return file.read_table(path).decode("utf-8", "replace") if file.is_file(path) else ""


def sources(path: str) -> Iterator[AptSource]:
    """All sources of one file."""
    for group in grouped(path):
        yield from group


def grouped(path: str) -> Iterator[list[AptSource]]:
    """All sources of one file, those of one line or stanza together."""
    for part in _parts(path, read(path)):
        if group := _of(path, part):
            yield group


def _parts(path: str, text: str) -> list[str]:
    """Lines, or stanzas with the lines between them."""
    if not path.endswith(".sources"):
        return text.splitlines(keepends=True)
    return re.split(r"(?<=\n)(?=[ \t]*\n)", text)


def _of(path: str, part: str) -> list[AptSource]:
    if not path.endswith(".sources"):
        source = parsed(part)
        return [source] if source else []
    fields = _fields(part)
    if "types" not in fields or "uris" not in fields:
        return []
    options = tuple(
        (_OPTIONS.get(key, key), ",".join(value.split()) if key == "architectures" else value)
        for key, value in fields.items()
        if key not in _OWN
    )
    comps = tuple(fields.get("components", "").split())
    off = fields.get("enabled", "yes").lower() in ("no", "false", "0")
    return [
        AptSource(kind, uri, suite, comps, options, off)
        for kind in fields["types"].split()
        for uri in fields["uris"].split()
        for suite in fields.get("suites", "").split()
    ]


_OWN = ("types", "uris", "suites", "components", "enabled")


def _fields(stanza: str) -> dict[str, str]:
    fields: dict[str, str] = {}
    key = ""
    for line in stanza.splitlines():
        if line.startswith("#"):
            continue
        if line[:1] in (" ", "\t") and key:
            fields[key] += f"\n{line.rstrip()}"
        elif ":" in line:
            key, _, value = line.partition(":")
            key = key.strip().lower()
            fields[key] = value.strip()
    return fields


def is_passed_over(path: str) -> bool:
    """Return whether apt reads the folder of a file, and not the file."""
    folder, _, name = path.rpartition("/")
    return folder == PARTS and not _READ.fullmatch(name)


def where(wanted: AptSource, preferred: str | None = None) -> tuple[str, AptSource] | None:
    """The file that has an archive (the preferred one if it does), and how; an enabled entry before
    a disabled one.
    """
    places = [
        (path, source) for path in files() for source in sources(path) if source.means(wanted)
    ]
    return (
        min(places, key=lambda pair: (pair[0] != preferred, pair[1].disabled)) if places else None
    )


def with_source(path: str, wanted: AptSource) -> str:
    """The text of a file with this source in it, instead of what it said of the archive; nothing
    else is lost.
    """
    deb822 = path.endswith(".sources")
    parts, placed = [], False
    for part in _parts(path, read(path)):
        if not any(source.means(wanted) for source in _of(path, part)):
            parts.append(part)
            continue
        if not placed:
            parts.append(_renewed(part, wanted) if deb822 else wanted.line + "\n")
        parts += [_apart(other) for other in _others(path, part, wanted)]
        placed = True
    text = "".join(parts)
    if placed:
        return text
    if text and not text.endswith("\n"):
        text += "\n"
    return (
        text + ("\n" if deb822 and text else "") + (wanted.stanza if deb822 else f"{wanted.line}\n")
    )


def without_source(path: str, unwanted: AptSource) -> str:
    """The text of a file without an archive; the others of its stanza stay."""
    parts = []
    for part in _parts(path, read(path)):
        if any(source.means(unwanted) for source in _of(path, part)):
            first, *others = _others(path, part, unwanted) or [""]
            parts += [first, *map(_apart, others)]
        else:
            parts.append(part)
    return "".join(parts)


def _renewed(stanza: str, wanted: AptSource) -> str:
    """The wanted stanza in the place of one, with the comments and the fields of it that an entry
    cannot say.
    """
    replaced = set(_fields(wanted.stanza)) | {*_OWN, *_OPTIONS} - {"languages"}
    remaining = []
    for line in re.findall(
        r"[^\n]*\n(?:[ \t]+\S[^\n]*\n)*", stanza if stanza.endswith("\n") else f"{stanza}\n"
    ):
        key = line.partition(":")[0].strip().lower()
        if line.strip() and key not in replaced and line.strip() != f"# {wanted.comment}":
            remaining.append(line)
    notes = "".join(line for line in remaining if line.startswith("#"))
    fields = "".join(line for line in remaining if not line.startswith("#"))
    return ("\n" if stanza.startswith("\n") else "") + notes + wanted.stanza + fields


def _others(path: str, part: str, source: AptSource) -> list[str]:
    """Return what a stanza says beside one archive, as stanzas: other types, other addresses, other
    suites.
    """
    if not path.endswith(".sources"):
        return []
    fields = _fields(part)
    types, uris, suites = (fields.get(key, "").split() for key in ("types", "uris", "suites"))
    own_uri = [uri for uri in uris if uri.rstrip("/") == source.uri.rstrip("/")]
    rests = (
        ([kind for kind in types if kind != source.type], uris, suites),
        ([source.type], [uri for uri in uris if uri not in own_uri], suites),
        ([source.type], own_uri, [suite for suite in suites if suite != source.dist]),
    )
    return [_narrowed(part, *rest) for rest in rests if all(rest)]


def _narrowed(stanza: str, types: list[str], uris: list[str], suites: list[str]) -> str:
    for name, values in (("Types", types), ("URIs", uris), ("Suites", suites)):
        now = f"{name}: {' '.join(values)}".replace("\\", r"\\")
        stanza = re.sub(rf"(?im)^{name}:.*(?:\n[ \t]+\S.*)*", now, stanza)
    return stanza if stanza.endswith("\n") else f"{stanza}\n"


def _apart(stanza: str) -> str:
    return stanza if stanza.startswith("\n") else f"\n{stanza}"
