# SPDX-License-Identifier: Apache-2.0
"""The machines that an inventory lists: Ansible's own kinds, and Salt's roster."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from runner.model.errors import RunnerError
from runner.model.records import Record
from runner.tools.fleet.programs import complaint, environment, program
from runner.tools.fleet.records import Host

ANSIBLES = (".yml", ".yaml", ".json", ".ini", ".toml", ".cfg")  # of inventories of Ansible's own
ROSTER, ANSIBLE_HOSTS = "/etc/salt/roster", "/etc/ansible/hosts"
# Ansible reads commas, colons and `!&@~*[` in a list of hosts as its own patterns
PLAIN_NAME = r"[A-Za-z0-9_][A-Za-z0-9_.+@%-]*|[0-9A-Fa-f:]+"


class Listed(Record):
    """What an inventory says. variables: of each host, as Ansible calls them; warnings: what
    Ansible finds odd in it.
    """

    hosts: tuple[Host, ...]
    variables: Mapping[str, Mapping[str, Any]]
    warnings: tuple[str, ...] = ()


class Inventory(Record):
    """Where the hosts are listed. sources: for `-i`; none: Ansible's configuration says where."""

    sources: tuple[str, ...]
    limit: str = ""

    @property
    def shown(self) -> str:
        """What a message calls it."""
        shown = ", ".join(self.sources) or "the inventory of Ansible's configuration"
        return f"{shown} (--limit {self.limit})" if self.limit else shown

    def words(self) -> list[str]:
        """The options for Ansible's programs."""
        sources = [word for source in self.sources for word in ("-i", source)]
        return [*sources, *(("--limit", self.limit) if self.limit else ())]

    def with_rosters(self, folder: str) -> Inventory:
        """The same for Ansible's programs: each roster is named by a file below a folder, which
        leaves Ansible no other way to read it.
        """
        return self._replace(
            sources=tuple(
                _roster_file(folder, number, source) if _is_roster(source) else source
                for number, source in enumerate(self.sources)
            )
        )


def _roster_file(folder: str, number: int, roster: str) -> str:
    path = os.path.join(folder, f"roster-{number}.yml")
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"plugin": "runner.runner.salt_roster", "roster": roster}, file)
    return path


def inventory_of(
    named: Sequence[str], settings: Mapping[str, Any], base: str, environ: Mapping[str, str]
) -> Inventory:
    """The inventory of a command. named: by the command line; settings: the key `fleet` of the
    configuration, whose paths are relative to base. Raises RunnerError where there is none.
    """
    configured = settings.get("inventory") or ()
    if isinstance(configured, str):
        configured = (configured,)
    sources = [os.path.abspath(source) if _is_path(source) else source for source in named] or [
        os.path.join(base, source) if _is_path(source) else source for source in configured
    ]
    for source in sources:
        if _is_path(source) and not os.path.exists(source):
            raise RunnerError(
                f"there is no inventory {source}",
                hint="`-i` or `fleet: {inventory: ...}` names a file, a folder or a program",
            )
    if sources or environ.get("ANSIBLE_INVENTORY"):
        return Inventory(tuple(sources))
    for usual in (ROSTER, ANSIBLE_HOSTS):
        if os.path.exists(usual):
            return Inventory((usual,))
    raise RunnerError(
        "no inventory says which machines there are",
        hint="name one: `-i hosts.ini`, or `fleet: {inventory: hosts.ini}` in runner.yaml",
    )


def _is_path(source: str) -> bool:
    """A source that is a list of hosts has a comma, as with Ansible."""
    return "," not in source


def _is_roster(source: str) -> bool:
    if not _is_path(source) or not os.path.isfile(source) or os.access(source, os.X_OK):
        return False
    name = os.path.basename(source)
    return name == "roster" or (name.startswith("roster.") and not name.endswith(ANSIBLES))


def listed_in(where: Inventory, environ: Mapping[str, str], folder: str) -> Listed:
    """The hosts in their order, and their variables. folder: a private one. Raises RunnerError for
    what cannot be read.
    """
    words = where.with_rosters(folder).words()
    argv = [program("ansible-inventory", environ), "--list", *words]
    done = subprocess.run(
        argv,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        env=environment(environ, folder, {}),
        check=False,
    )
    try:
        listed = json.loads(done.stdout, object_hook=_plain) if done.returncode == 0 else None
    except ValueError:
        listed = None
    if not isinstance(listed, dict):
        raise RunnerError(
            f"{where.shown} cannot be read: {complaint(done.stderr)}",
            hint="`ansible-inventory --list` says more",
            code="inventory",
        )
    variables = listed.get("_meta", {}).get("hostvars", {})
    hosts = tuple(_hosts(listed, variables))
    warnings = re.findall(r"^\[WARNING\]: (.+)", done.stderr, re.MULTILINE)
    by_name = {host.name: variables.get(host.name, {}) for host in hosts}
    return Listed(hosts, by_name, tuple(warnings))


def _plain(value: dict[str, Any]) -> Any:
    """A text that Ansible marks as no template, without the mark."""
    return value["__ansible_unsafe"] if value.keys() == {"__ansible_unsafe"} else value


def _hosts(listed: Mapping[str, Any], variables: Mapping[str, Any]) -> Iterator[Host]:
    groups: dict[str, list[str]] = {name: [] for name in variables}
    order: dict[str, None] = {}
    for group in listed:
        if group == "_meta":
            continue
        for name in _members(group, listed, set()):
            order[name] = None
            if group not in ("all", "ungrouped"):
                groups.setdefault(name, []).append(group)
    for name in order:
        grains = variables.get(name, {}).get("grains")
        yield Host(name, grains if isinstance(grains, dict) else {}, tuple(groups.get(name, ())))


def _members(group: str, listed: Mapping[str, Any], inside: set[str]) -> Iterator[str]:
    """The hosts of a group and of those in it."""
    content = listed.get(group)
    if group in inside or not isinstance(content, dict):
        return
    yield from content.get("hosts", ())
    for child in content.get("children", ()):
        yield from _members(child, listed, inside | {group})


def check_names(names: Sequence[str]) -> None:
    """Raises RunnerError for IDs that a playbook cannot name."""
    odd = [name for name in names if not re.fullmatch(PLAIN_NAME, name)]
    if odd:
        raise RunnerError(
            f"{odd[0]!r} cannot be the ID of a host: Ansible reads some of its characters as a"
            " pattern",
            hint="letters, digits and . _ - + @ % are fine; `ansible_host` has the address",
            code="inventory",
        )
