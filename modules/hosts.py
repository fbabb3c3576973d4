# SPDX-License-Identifier: Apache-2.0
"""/etc/hosts: names of addresses."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from operator import attrgetter

from modules import file
from modules._texts.lines import join_lines, once_a_line, once_a_version, one_line, split
from runner.api import CommandFailed, Record, cached_look, for_states

PATH = "/etc/hosts"


class HostsLine(Record):
    """One line: an address with its names, or something else that is kept as it is. address: the ip
    in the form that all ways to write it have in common; known: the names in lower case.
    """

    text: str
    ip: str = ""
    names: tuple[str, ...] = ()
    comment: str = ""
    address: str = ""
    known: tuple[str, ...] = ()


@for_states
def address_of(ip: str) -> str:
    """An address in the form that all ways to write it have in common.

    >>> address_of("2001:DB8:0::1")
    '2001:db8::1'
    """
    with suppress(ValueError):
        return str(ipaddress.ip_address(ip)) if ":" in ip else ip
    return ip


@cached_look("hosts", PATH)
def _held() -> str | None:
    return None if file.is_large(PATH) else file.text_to_edit(PATH)


def _text(*about: str) -> str:
    """The text of the file; of a large one, at least the lines with some addresses and names, in
    the forms that they are compared in, too.
    """
    if (held := _held()) is not None:
        return held
    forms = (form for each in about for form in (each, each.lower(), address_of(each)))
    return file.text_to_edit(PATH, tuple(dict.fromkeys(forms)) or None)


def lines(*about: str) -> list[HostsLine]:
    """The file line by line; of a large one, at least the lines with some addresses and names."""
    return [*_lines(_text(*about))]


@once_a_version
def _lines(text: str) -> Sequence[HostsLine]:
    return tuple(map(_parsed, split(text)))


@for_states
def lines_with(name: str) -> Sequence[HostsLine]:
    """The lines that have a name."""
    text, name = _text(name), name.lower()
    return _by_name(text).get(name, ()) if name in _lowered(text) else ()


_lowered = once_a_version(str.lower)


@once_a_version
def _by_name(text: str) -> Mapping[str, Sequence[HostsLine]]:
    found: dict[str, list[HostsLine]] = {}
    for line in _lines(text):
        for name in dict.fromkeys(line.known):
            found.setdefault(name, []).append(line)
    return found


@once_a_line
def _parsed(text: str) -> HostsLine:
    content, _, comment = text.partition("#")
    words = content.split()
    if len(words) < 2:
        return HostsLine(text)
    ip, *names = words
    known = tuple(map(str.lower, names))
    return HostsLine(text, ip, tuple(names), comment.strip(), address_of(ip), known)


def list_hosts() -> dict[str, dict[str, list[str]]]:
    """Each address with its names.

    {{ salt['hosts.list_hosts']() }}
    """
    names_by_address: dict[str, dict[str, list[str]]] = {}
    for line in lines():
        if line.ip:
            names_by_address.setdefault(line.ip, {"aliases": []})["aliases"] += line.names
    return names_by_address


def get_ip(host: str) -> str:
    """The first address of a name; empty when it has none."""
    return next((line.ip for line in lines_with(host)), "")


def get_alias(ip: str) -> list[str]:
    """The names of an address."""
    return [name for line in lines_of(ip) for name in line.names]


@for_states
def lines_of(ip: str) -> list[HostsLine]:
    """The lines of an address."""
    address = address_of(ip)
    return [line for line in lines(ip) if line.address == address]


def has_pair(ip: str, alias: str) -> bool:
    """Return whether an address has a name."""
    return any(alias.lower() in line.known for line in lines_of(ip))


def without(known: Iterable[HostsLine], ip: str, name: str) -> list[HostsLine]:
    """The lines without a name of an address; a line that is left without names goes."""
    result, address = [], address_of(ip)
    for line in known:
        if line.address != address or name.lower() not in line.known:
            result.append(line)
            continue
        names = tuple(host for host in line.names if host.lower() != name.lower())
        if names:
            result.append(_line_of(line.ip, names, line.comment))
    return result


def with_name(known: Iterable[HostsLine], ip: str, name: str) -> list[HostsLine]:
    """The lines with a name of an address, on its line if it has one."""
    result = list(known)
    addresses, address = [*map(attrgetter("address"), result)], address_of(ip)
    if address not in addresses:
        return [*result, _line_of(ip, (name,), "")]
    index = addresses.index(address)
    line = result[index]
    if name.lower() not in line.known:
        result[index] = _line_of(line.ip, (*line.names, name), line.comment)
    return result


def with_names(known: Iterable[HostsLine], ip: str, names: tuple[str, ...]) -> list[HostsLine]:
    """The lines with exactly these names of an address: on its first line, or at the end."""
    result: list[HostsLine] = []
    wanted, address = [_line_of(ip, names, "")] if names else [], address_of(ip)
    for line in known:
        if line.address != address:
            result.append(line)
        else:
            result += wanted
            wanted = []
    return [*result, *wanted]


def with_comments(known: Iterable[HostsLine], comments: Mapping[str, str]) -> list[HostsLine]:
    """The lines with comments behind some addresses."""
    if not comments:
        return list(known)
    behind = {address_of(ip): comment for ip, comment in comments.items()}
    return [
        _line_of(line.ip, line.names, behind[line.address]) if line.address in behind else line
        for line in known
    ]


def _line_of(ip: str, names: tuple[str, ...], comment: str) -> HostsLine:
    for word in (ip, *names):
        if one_line(word, "an address or a name of it").split() != [word] or "#" in word:
            raise CommandFailed(
                f"{word!r} is neither an address nor the name of a host: a line of {PATH} has them"
                " apart"
            )
    comment = one_line(comment, "the comment of an address")
    text = f"{ip}\t\t{' '.join(names)}" + (f"\t\t# {comment}" if comment else "")
    return HostsLine(text, ip, names, comment, address_of(ip), tuple(map(str.lower, names)))


def write(wanted: Iterable[HostsLine]) -> None:
    """Write the lines."""
    file.write(PATH, file.contents_of(PATH, join_lines(map(attrgetter("text"), wanted))))


# ---------------------------------------------------------------- Salt's functions that change it


def add_host(ip: str, alias: str) -> bool:
    """Have an address with a name, beside those that it has.

    runner call hosts.add_host 10.0.0.5 db.example.com
    """
    if not has_pair(ip, alias):
        write(with_name(lines(ip), ip, alias))
    return True


def rm_host(ip: str, alias: str) -> bool:
    """Take a name from an address; an address without names goes."""
    if has_pair(ip, alias):
        write(without(lines(ip), ip, alias))
    return True


def set_host(ip: str, alias: str | list[str], comment: str | None = None) -> bool:
    """Have an address with exactly these names (a list, or a text with spaces); without names it
    goes. comment: behind its line.
    """
    names = tuple(alias.split() if isinstance(alias, str) else alias)
    if tuple(get_alias(ip)) != names or comment is not None:
        wanted = with_names(lines(ip), ip, names)
        write(with_comments(wanted, {ip: comment}) if comment is not None else wanted)
    return True


def set_comment(ip: str, comment: str) -> bool:
    """Set the comment behind an address; false when the file does not have it."""
    known = lines_of(ip)
    if any(line.comment != comment for line in known):
        write(with_comments(lines(ip), {ip: comment}))
    return bool(known)
