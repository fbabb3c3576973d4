"""/etc/hosts: names of addresses."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from modules import file
from modules._lines import encoded, one_line, split
from runner.api import CommandFailed, Record, cached_look

PATH = "/etc/hosts"


class Line(Record):
    """One line: an address with its names, or something else that is kept as it is."""

    text: str
    ip: str = ""
    names: tuple[str, ...] = ()
    comment: str = ""


@cached_look("hosts", PATH)
def _text() -> str:
    return file.read_bytes(PATH).decode("utf-8", "surrogateescape") if file.is_file(PATH) else ""


def lines() -> list[Line]:
    """The file line by line."""
    return [_parsed(text) for text in split(_text())]


def _parsed(text: str) -> Line:
    said, _, comment = text.partition("#")
    words = said.split()
    return Line(text, words[0], tuple(words[1:]), comment.strip()) if len(words) > 1 else Line(text)


def list_hosts() -> dict[str, dict[str, list[str]]]:
    """Each address with its names.

    {{ salt['hosts.list_hosts']() }}
    """
    found: dict[str, dict[str, list[str]]] = {}
    for line in lines():
        if line.ip:
            found.setdefault(line.ip, {"aliases": []})["aliases"] += line.names
    return found


def get_ip(host: str) -> str:
    """The first address of a name; empty when it has none."""
    return next((line.ip for line in lines() if host in line.names), "")


def get_alias(ip: str) -> list[str]:
    """The names of an address."""
    return list_hosts().get(ip, {}).get("aliases", [])


def has_pair(ip: str, alias: str) -> bool:
    """Whether an address has a name."""
    return alias in get_alias(ip)


def without(found: Iterable[Line], ip: str, name: str) -> list[Line]:
    """The lines without a name of an address; a line that is left without names goes."""
    kept = []
    for line in found:
        if line.ip != ip or name not in line.names:
            kept.append(line)
            continue
        names = tuple(each for each in line.names if each != name)
        if names:
            kept.append(_made(ip, names, line.comment))
    return kept


def with_name(found: Iterable[Line], ip: str, name: str) -> list[Line]:
    """The lines with a name of an address, on its line if it has one."""
    kept = list(found)
    for index, line in enumerate(kept):
        if line.ip == ip:
            if name not in line.names:
                kept[index] = _made(ip, (*line.names, name), line.comment)
            return kept
    return [*kept, _made(ip, (name,), "")]


def with_names(found: Iterable[Line], ip: str, names: tuple[str, ...]) -> list[Line]:
    """The lines with exactly these names of an address."""
    kept = [line for line in found if line.ip != ip]
    return [*kept, _made(ip, names, "")] if names else kept


def with_comments(found: Iterable[Line], comments: Mapping[str, str]) -> list[Line]:
    """The lines with comments behind some addresses."""
    return [
        _made(line.ip, line.names, comments[line.ip]) if line.ip in comments else line
        for line in found
    ]


def _made(ip: str, names: tuple[str, ...], comment: str) -> Line:
    for each in (ip, *names):
        if one_line(each, "an address or a name of it").split() != [each] or "#" in each:
            raise CommandFailed(
                f"{each!r} is neither an address nor the name of a host: a line of {PATH} has them"
                " apart"
            )
    comment = one_line(comment, "the comment of an address")
    text = f"{ip}\t\t{' '.join(names)}" + (f"\t\t# {comment}" if comment else "")
    return Line(text, ip, names, comment)


def write(found: Iterable[Line]) -> None:
    """Write the lines."""
    file.write(PATH, encoded(line.text for line in found))
