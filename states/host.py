"""Names of addresses in /etc/hosts."""

from __future__ import annotations

from typing import Any

from modules import file, hosts
from runner.api import Done, Line, Name, OneOrMany, Plan, Planned, StateFailed, here


def dry_run_check(plan: Plan, name: str, **arguments: object) -> None:
    """Raises StateFailed when the caller may not write the file."""
    file.refuse_rewrite(file.real_path(hosts.PATH))


def present(name: Name, ip: OneOrMany[Name], comment: Line = "", clean: bool = False) -> Planned:
    """Make sure that addresses have a name.

    name: the host name. ip: one address or several. comment: behind their lines. clean: other
    addresses lose the name.

        db.example.com:
          host.present:
            - ip: 10.0.0.5

    Behaviour: Salt 3008's host.present; other lines of the file stay as they are.
    """
    found = hosts.lines()
    wanted = list(dict.fromkeys(ip))
    has = {line.ip for line in found if name in line.names}
    added = [each for each in wanted if each not in has]
    stale = [
        each
        for each in dict.fromkeys(line.ip for line in found if name in line.names)
        if each not in wanted
    ]
    commented = {
        each: comment for each in wanted if comment and not _commented(found, each, comment)
    }
    if stale and not clean:
        _warn(name, stale)
    if not (added or commented or (clean and stale)):
        return "\n".join(_kept(name, wanted))
    changes: dict[str, Any] = {"added": {each: [name] for each in added}} if added else {}
    if commented:
        changes["comment_added"] = {each: [comment] for each in commented}
    if clean and stale:
        changes["removed"] = {each: [name] for each in stale}
    kept = _kept(name, [each for each in wanted if each in has and each not in commented])
    told = [*kept, *(f"Host {name} ({each}) would be added" for each in added)]
    told += [f"Host {name} ({each}) would be removed" for each in stale if clean]
    told += [f"Comment for {each} ({comment}) would be added" for each in commented]
    yield Plan(changes, "\n".join(told))
    for each in added:
        found = hosts.with_name(found, each, name)
    for each in stale if clean else ():
        found = hosts.without(found, each, name)
    hosts.write(hosts.with_comments(found, commented))
    done = [*kept, *(f"Added host {name} ({each})" for each in added)]
    done += [f"Removed host {name} ({each})" for each in stale if clean]
    return "\n".join([*done, *(f"Set comment for host {each} ({comment})" for each in commented)])


def _kept(name: str, addresses: list[str]) -> list[str]:
    return [f"Host {name} ({each}) already present" for each in addresses]


def _commented(found: list[hosts.Line], ip: str, comment: str) -> bool:
    return any(line.ip == ip and line.comment == comment for line in found)


def _warn(name: str, addresses: list[str]) -> None:
    for each in addresses:
        here.warn(
            f"Host {name} present for IP address {each}. To get rid of this warning, either run"
            f" this state with 'clean' set to True to remove {name} from {each}, or add {each} to"
            " the 'ip' argument."
        )


def absent(name: Name, ip: OneOrMany[Name]) -> Planned:
    """Make sure that addresses do not have a name.

    name: the host name. ip: one address or several.

        old.example.com:
          host.absent:
            - ip: 10.0.0.5

    Behaviour: Salt 3008's host.absent.
    """
    found = hosts.lines()
    there = [each for each in ip if any(line.ip == each and name in line.names for line in found)]
    gone = [f"Host {name} ({each}) already absent" for each in ip if each not in there]
    if not there:
        return "\n".join(gone)
    told = [f"Host {name} ({each}) needs to be removed" for each in there]
    yield Plan({"host": name}, "\n".join([*gone, *told]))
    for each in there:
        found = hosts.without(found, each, name)
    hosts.write(found)
    return "\n".join([*gone, *(f"Removed host {name} ({each})" for each in there)])


def only(name: Name, hostnames: OneOrMany[Name]) -> Planned:
    """Make sure that an address has these names and no others.

    name: the address. hostnames: one or several; an empty list removes the address.

        10.0.0.5:
          host.only:
            - hostnames: [db.example.com, db]

    Behaviour: Salt 3008's host.only.
    """
    if any(not each.strip() for each in hostnames):
        raise StateFailed("a host name is empty")
    new = " ".join(each.strip() for each in hostnames)
    old = " ".join(hosts.get_alias(name))
    if old == new:
        return f'IP address {name} already set to "{new}"'
    yield Plan({name: {"old": old, "new": new}}, f'Would change {name} from "{old}" to "{new}"')
    hosts.write(hosts.with_names(hosts.lines(), name, tuple(new.split())))
    return Done(f'successfully changed {name} from "{old}" to "{new}"')
