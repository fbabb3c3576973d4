# SPDX-License-Identifier: Apache-2.0
"""Names of addresses in /etc/hosts."""

from __future__ import annotations

import ipaddress
from typing import Annotated, Any

from modules import file, hosts
from runner.api import Check, Column, Done, Name, OneOrMany, Plan, Planned, Trimmed, here
from runner.api.claims import edits
from runner.api.opposite import Opposite


def _no_address(text: str) -> str | None:
    try:
        ipaddress.ip_address(text.strip().partition("%")[0])
    except ValueError:
        return f"expected an IP address, and {text} is none: no program finds the name by it"
    return None


_HINT = "write the address, `- ip: 10.0.0.5`; the name of the host is the ID, or `name`"
Address = Annotated[Column, Check(_no_address, _HINT)]

owns = edits("", "/etc/hosts")

ABOUT_ONE_FILE = {"present": "ip comment clean", "absent": "ip", "only": "hostnames"}
its_file = hosts.PATH
OPPOSITE = {"present": Opposite("absent", by=("ip",))}


def dry_run_check(plan: Plan, name: str, **arguments: object) -> None:
    """Raise StateFailed when the caller may not write the file."""
    file.refuse_rewrite(file.real_path(hosts.PATH))


@file.validated
def present(
    name: Column, ip: OneOrMany[Address], comment: Trimmed = "", clean: bool = False
) -> Planned:
    """Make sure that addresses have a name.

    name: The host name.
    ip: The address, or several.
    comment: A comment behind the lines of the name.
    clean: Take the name away from other addresses.

        db.example.com:
          host.present:
            - ip: 10.0.0.5

    Behaviour: Salt 3008's host.present; other lines of the file stay as they are.
    """
    by_address: dict[str, str] = {}
    for address in ip:
        by_address.setdefault(hosts.address_of(address), address)
    wanted = [*by_address.values()]
    held = {line.address: line.ip for line in hosts.lines_with(name)}
    added = [address for key, address in by_address.items() if key not in held]
    stale = [address for key, address in held.items() if key not in by_address]
    commented = {
        address: comment for address in wanted if comment and not _has_comment(address, comment)
    }
    if stale and not clean:
        _warn(name, stale)
    if not (added or commented or (clean and stale)):
        return "\n".join(_unchanged_comments(name, wanted))
    changes: dict[str, Any] = {"added": {address: [name] for address in added}} if added else {}
    if commented:
        changes["comment_added"] = {address: [comment] for address in commented}
    if clean and stale:
        changes["removed"] = {address: [name] for address in stale}
    unchanged = _unchanged_comments(
        name, [address for address in wanted if address not in added and address not in commented]
    )
    comments = [*unchanged, *(f"Host {name} ({address}) would be added" for address in added)]
    comments += [f"Host {name} ({address}) would be removed" for address in stale if clean]
    comments += [f"Comment for {address} ({comment}) would be added" for address in commented]
    yield Plan(changes, "\n".join(comments), provides=file.unforeseen(hosts.PATH))
    lines = hosts.lines(name, *wanted, *stale)
    for address in added:
        lines = hosts.with_name(lines, address, name)
    for address in stale if clean else ():
        lines = hosts.without(lines, address, name)
    hosts.write(hosts.with_comments(lines, commented))
    done = [*unchanged, *(f"Added host {name} ({address})" for address in added)]
    done += [f"Removed host {name} ({address})" for address in stale if clean]
    return "\n".join(
        [*done, *(f"Set comment for host {address} ({comment})" for address in commented)]
    )


def _unchanged_comments(name: str, addresses: list[str]) -> list[str]:
    return [f"Host {name} ({address}) already present" for address in addresses]


def _has_comment(ip: str, comment: str) -> bool:
    return any(line.comment == comment for line in hosts.lines_of(ip))


def _warn(name: str, addresses: list[str]) -> None:
    for address in addresses:
        here.warn(
            f"Host {name} present for IP address {address}. To get rid of this warning, either run"
            f" this state with 'clean' set to True to remove {name} from {address}, or add"
            f" {address} to the 'ip' argument."
        )


@file.validated
def absent(name: Column, ip: OneOrMany[Column]) -> Planned:
    """Make sure that addresses do not have a name.

    name: The host name.
    ip: The address, or several.

        old.example.com:
          host.absent:
            - ip: 10.0.0.5
    """
    held = {line.address for line in hosts.lines_with(name)}
    mapped = [address for address in ip if hosts.address_of(address) in held]
    absent_comments = [
        f"Host {name} ({address}) already absent" for address in ip if address not in mapped
    ]
    if not mapped:
        return "\n".join(absent_comments)
    pending = [f"Host {name} ({address}) needs to be removed" for address in mapped]
    comment = "\n".join([*absent_comments, *pending])
    yield Plan({"host": name}, comment, provides=file.unforeseen(hosts.PATH))
    lines = hosts.lines(name)
    for address in mapped:
        lines = hosts.without(lines, address, name)
    hosts.write(lines)
    return "\n".join(
        [*absent_comments, *(f"Removed host {name} ({address})" for address in mapped)]
    )


@file.validated
def only(name: Address, hostnames: OneOrMany[Name]) -> Planned:
    """Make sure that an address has these names and no others.

    name: The address.
    hostnames: The name that the address has, or several; an empty list removes the address.

        10.0.0.5:
          host.only:
            - hostnames: [db.example.com, db]
    """
    names = " ".join(hostnames).split()
    new = " ".join(names)
    old = " ".join(hosts.get_alias(name))
    if old == new:
        return f'IP address {name} already set to "{new}"'
    told = f'Would change {name} from "{old}" to "{new}"'
    yield Plan({name: {"old": old, "new": new}}, told, provides=file.unforeseen(hosts.PATH))
    hosts.write(hosts.with_names(hosts.lines(name), name, tuple(names)))
    return Done(f'successfully changed {name} from "{old}" to "{new}"')
