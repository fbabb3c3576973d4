# SPDX-License-Identifier: Apache-2.0
"""Sets of addresses for rules of the packet filter."""

from __future__ import annotations

from typing import Literal

from modules.firewalls import ipset
from runner.api import Duration, Line, Name, OneOrMany, Plan, Planned, StateFailed
from runner.api.kinds import comes_after
from runner.api.opposite import Opposite
from states._tools import explained
from states.firewalls._iptables import Option

Family = Literal["ipv4", "ipv6"]
FLAGS = ("comment", "counters", "skbinfo", "forceadd")


def set_present(name: Name, set_type: Name, family: Family = "ipv4", **options: Option) -> Planned:
    """Make sure that there is a set.

    Any other argument is an option of ipset: range (a bitmap needs it), timeout, hashsize, maxelem,
    netmask, size; comment, counters, skbinfo and forceadd as true.

    name: The set.
    set_type: The type, such as `hash:ip`, `hash:net`, `bitmap:port` or `list:set`.
    family: The addresses in it, `ipv4` or `ipv6`.

        blocked:
          ipset.set_present:
            - set_type: hash:net
            - comment: True

    Behaviour: Salt 3008's ipset.set_present; a set of another type or family is a failure.
    """
    failed = f"Failed to create set {name} for {family}: "
    present = ipset.saved(name)
    if present is not None:
        if present.type != set_type or (set_type.startswith("hash") and present.family != family):
            raise StateFailed(
                f"{failed}there is one of the type {present.type} for {present.family}, which"
                " ipset cannot change: have ipset.set_absent remove it first"
            )
        return f"ipset set {name} already exists for {family}"
    words = ["create", name, set_type]
    if set_type.startswith("hash"):
        words += ["family", "inet6" if family == "ipv6" else "inet"]
    for key, value in options.items():
        if key in FLAGS:
            words += [key] if value not in (False, None) else []
        else:
            words += [key, str(value)]
    if any(word.split() != [word] for word in words):
        raise StateFailed(f"{failed}an option is not one word")
    header = " ".join(words)
    _attempt(failed, header, [])
    yield Plan(
        {"locale": name},
        f"ipset set {name} would be added for {family}",
        provides=[("ipset", name)],
    )
    _change(failed, header)
    return f"ipset set {name} created successfully for {family}"


def set_absent(name: Name, family: Family = "ipv4") -> Planned:
    """Make sure that there is no such set; its entries go with it.

    name: The set.
    family: as of ipset.present.

        blocked:
          ipset.set_absent: []
    """
    listed = next((entry for entry in ipset.list_sets() if entry["Name"] == name), None)
    if listed is None:
        return f"ipset set {name} for {family} is already absent"
    failed = f"Failed to delete set {name} for {family}: "
    if listed.get("References", "0") != "0":
        raise StateFailed(f"{failed}a rule or another set uses it")
    yield Plan({"locale": name}, f"ipset set {name} for {family} would be removed")
    _change(failed, f"destroy {name}")
    return f"ipset set {name} deleted successfully for family {family}"


def present(
    name: Name,
    entry: OneOrMany[Line] | None = None,
    family: Family = "ipv4",
    set_name: Name | None = None,
    comment: Line | None = None,
    timeout: Duration[int] | None = None,
) -> Planned:
    """Make sure that a set has entries.

    name: Names the state, and the set unless set_name does.
    entry: One entry or several.
    family: Ignored; it stands in the comment of the result only.
    set_name: The set; without it `name`.
    comment: A comment that is kept with each entry, unless it has its own.
    timeout: Seconds until a new entry goes by itself, unless it has its own.

        offices:
          ipset.present:
            - set_name: allowed
            - entry: [192.0.2.0/24, 198.51.100.7]
            - comment: ours
    """
    where = set_name or name
    failed = f"Failed to add to set {where} for family {family}.\nError: "
    extra = f' comment "{_comment(comment)}"' if comment else ""
    last = f" timeout {timeout}" if timeout is not None else ""
    there = _set(where, failed)
    comments, missing = [], []
    for element in _entries(entry):
        commented = element + extra * (" comment " not in element)
        wanted = _wanted(failed, there, commented)
        if all(there.entries.get(key) == text for key, text in wanted.items()):
            comments.append(f"entry for {element} already in set {where} for {family}")
        else:
            missing.append(commented + last * (" timeout " not in element))
            comments.append(f"entry {element} would be added to set {where} for family {family}")
    if not missing:
        return "\n".join(comments)
    yield Plan({"locale": name}, "\n".join(comments))
    _change(failed, *(f"add {where} {element}" for element in missing))
    return "\n".join(comments).replace(" would be added ", " added ")


def absent(
    name: Name,
    entry: OneOrMany[Line] | None = None,
    entries: OneOrMany[Line] | None = None,
    family: Family = "ipv4",
    set_name: Name | None = None,
) -> Planned:
    """Make sure that a set does not have entries.

    name: Names the state, and the set unless set_name does.
    entry: One entry or several.
    entries: Further entries.
    family: as of ipset.present.
    set_name: The set; without it `name`.

        not ours any more:
          ipset.absent:
            - set_name: allowed
            - entry: 198.51.100.7

    Behaviour: Salt 3008's ipset.absent; `entries` is of effect, too.
    """
    where = set_name or name
    wanted = _entries([*(entry or []), *(entries or [])])
    there = ipset.saved(where)
    comments, keys = [], []
    for element in wanted:
        failed = f"Failed to delete from set {where} for family {family}.\nError: "
        meant = list(_wanted(failed, there, element)) if there else []
        removable = [key for key in meant if there and key in there.entries]
        keys += removable
        verdict = "would be removed from" if removable else "not present in"
        subject = element if removable else f"for {element}"
        comments.append(f"ipset entry {subject} {verdict} set {where} for {family}")
    if not keys:
        return "\n".join(comments)
    yield Plan({"locale": name}, "\n".join(comments))
    _change("", *(f"del {where} {key}" for key in keys))
    return "\n".join(comments).replace(" would be removed ", " removed ")


def flush(name: Name, family: Family = "ipv4") -> Planned:
    """Make sure that a set has no entries.

    name: The set.
    family: as of ipset.present.

        blocked:
          ipset.flush: []

    Behaviour: Salt 3008's ipset.flush; an empty set stays as it is.
    """
    there = ipset.saved(name)
    if there is None:
        raise StateFailed(f"ipset set {name} does not exist for {family}", missing=("ipset", name))
    if not there.entries:
        return f"ipset set {name} for {family} has no entries"
    yield Plan({"locale": name}, f"ipset entries in set {name} for {family} would be flushed")
    _change("", f"flush {name}")
    return f"Flushed ipset entries from set {name} for {family}"


def _entries(entry: OneOrMany[Line] | None) -> list[str]:
    elements = [str(element) for element in entry or []]
    if not elements:
        raise StateFailed("ipset entry must be specified")
    return elements


def _comment(text: str) -> str:
    if '"' in text:
        raise StateFailed("comment: ipset cannot keep one with a quotation mark")
    return text


def _set(name: str, failed: str) -> ipset.Set:
    there = ipset.saved(name)
    if there is None:
        raise StateFailed(f"{failed}Set {name} does not exist", missing=("ipset", name))
    return there


def _wanted(failed: str, there: ipset.Set, element: str) -> dict[str, str]:
    """Return what an entry becomes in a set: the names of sets stay, addresses are written the
    kernel's way, a range may be several.
    """
    if there.type == "list:set":
        _set(element.split()[0], failed)
        return {element.split()[0]: element}
    return _attempt(f"{failed}{element}: ", there.header, [element]).entries


def _attempt(failed: str, header: str, entries: list[str]) -> ipset.Set:
    with explained(failed):
        return ipset.attempt(header, entries)


def _change(failed: str, *commands: str) -> None:
    with explained(failed, changes={}):
        ipset.change(*commands)


autorequire = comes_after("Sets come after the program that makes them.", ("pkg", "ipset"))

DECIDES = {"set_present": "set_type"}
TOLD_APART_BY = "family"
OPPOSITE = {"set_present": "set_absent", "present": Opposite("absent", by=("set_name", "entry"))}
