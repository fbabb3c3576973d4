# SPDX-License-Identifier: Apache-2.0
"""Sets of addresses for rules of the packet filter, with ipset."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from typing import Any

from modules import cmd, file
from modules._machine.processes import Completed, needs
from modules._planned.overlay import planned_machine, tell_otherwise
from modules._texts.call_options import options_of
from modules._texts.lines import one_line, plain_name
from modules.firewalls import _own_network as own_network
from runner.api import CommandFailed, Record, StateFailed, Unforeseen, changer, for_states
from runner.api.offline import is_offline

NEEDS_PROGRAM = "ipset"  # without it templates find no function of this module
# reads commands in a network namespace that ends with this shell, and prints what came of them
_TRIAL = "ipset restore && exec ipset save"
SAVED_AT = "/etc/iptables/ipsets"  # where ipset-persistent reads them at the start
RESTORE = "ipset restore"
LOAD = own_network.loading(SAVED_AT, RESTORE)
_SEED = re.compile(r" initval \w+")  # by chance
_COUNTED = re.compile(r" (timeout|packets|bytes) \d+")


class Set(Record):
    """A set. header: the command that makes it. entries: by their element, each with what ipset
    saves of it, without what it counts.
    """

    header: str
    entries: dict[str, str]

    @property
    def type(self) -> str:
        return self.header.split()[2]

    @property
    def family(self) -> str:
        """ipv4 or ipv6; of a set that has none, ipv4."""
        return "ipv6" if " family inet6" in self.header else "ipv4"


def version() -> str:
    """The version of ipset.

    {{ salt['ipset.version']() }}
    """
    return _checked(_ipset("version")).stdout.split()[1].rstrip(",").removeprefix("v")


def list_sets() -> list[dict[str, str]]:
    """The sets as ipset lists them, without their entries.

    {{ salt['ipset.list_sets']() | json }}
    """
    blocks = _checked(_ipset("list", "-terse")).stdout.split("\n\n")
    return [
        {key: value.strip() for key, _, value in (line.partition(":") for line in lines)}
        for lines in (block.splitlines() for block in blocks)
        if lines
    ]


def check_set(name: str) -> bool:
    """Return whether there is a set.

    {{ salt['ipset.check_set']('blocked') }}
    """
    return saved(name) is not None


def check(name: str, entry: str) -> bool:
    """Return whether a set has an entry, however it is written.

    {{ salt['ipset.check']('blocked', '192.0.2.0/24') }}
    """
    present = saved(name)
    if present is None:
        return False
    return set(attempt(present.header, [entry]).entries) <= set(present.entries)


def saved(name: str) -> Set | None:
    """A set with its entries; None where there is none."""
    done = _ipset("save", plain_name(name, "the name of a set"))
    if done.retcode and "does not exist" in done.stderr:
        return None
    return _read(_checked(done).stdout)


def attempt(header: str, entries: Sequence[str]) -> Set:
    """Return a set with its entries as the kernel would make it, tried in a network namespace of
    its own. Raises StateFailed for what it refuses.
    """
    name = plain_name(" ".join(header.split()[1:2]), "the name of a set")
    lines = [header, *(f"add {name} {entry}" for entry in entries)]
    text = "\n".join([*(one_line(line, "an entry") for line in lines), ""])
    needs("ipset", "ipset")
    return _read(_checked(own_network.probe(_TRIAL, stdin=text)).stdout)


@for_states
def in_force() -> str:
    """Return what makes all sets, as `ipset save` has it."""
    if (planned := planned_machine().rules.get("ipset")) is not None:
        return planned
    return cmd.probe(["ipset", "save"]).stdout if cmd.which("ipset") else ""


def _plan(*commands: str) -> None:
    if is_offline():
        raise Unforeseen(commands[0])
    argv, text = _restoring(commands)
    done = own_network.with_planned({RESTORE: in_force()}, argv, "ipset save", text)
    if done.retcode:
        raise CommandFailed(_reason(done))
    planned_machine().rules["ipset"] = done.stdout
    tell_otherwise("ipset")


def _restoring(commands: Sequence[str]) -> tuple[list[str], str]:
    """The command line that carries out commands of ipset, and what it reads."""
    lines = [one_line(command, "a command of ipset") for command in commands]
    return ["ipset", "-exist", "restore"], "\n".join([*lines, ""])


@changer(touches=[], planned=_plan, planned_touches=[])
def change(*commands: str) -> None:
    """Carry out commands of ipset; what is so already is no failure. On a system that does not run
    they change the file of sets. Raises CommandFailed with what ipset says.
    """
    argv, text = _restoring(commands)
    done = _ipset(*argv[1:], stdin=text, keep="ipset save")
    if done.retcode:
        raise CommandFailed(_reason(done))
    if is_offline():
        file.makedirs(os.path.dirname(SAVED_AT))
        file.write(SAVED_AT, f"{_SEED.sub('', done.stdout)}\n".encode())


# ---------------------------------------------------------------- Salt's functions


def new_set(
    name: str, set_type: str, family: str = "ipv4", comment: bool = False, **kwargs: Any
) -> bool:
    """Make a set; True, also where it is there.

    set_type: hash:ip, hash:net, ... comment: entries may have one. kwargs: other options of ipset
    (timeout, range, maxelem, ...).

        {% do salt['ipset.new_set']('blocked', 'hash:net', comment=True) %}
    """
    words = ["create", plain_name(name, "the name of a set"), plain_name(set_type, "set_type")]
    if set_type.startswith("hash"):
        words += ["family", "inet6" if family == "ipv6" else "inet"]
    options = options_of(kwargs)
    words += [plain_name(part, "an option") for pair in options.items() for part in pair]
    change(" ".join([*words, *(["comment"] if comment else [])]))
    return True


def delete_set(name: str, family: str = "ipv4") -> bool:
    """Delete a set that nothing refers to; True.

    {% do salt['ipset.delete_set']('blocked') %}
    """
    change(f"destroy {_existing(name)}")
    return True


def rename_set(name: str, new_set: str, family: str = "ipv4") -> bool:
    """Give a set another name; True. Raises StateFailed where that is taken.

    {% do salt['ipset.rename_set']('blocked', 'refused') %}
    """
    if check_set(new_set):
        raise StateFailed("Error: New Set already exists")
    change(f"rename {_existing(name)} {plain_name(new_set, 'the new name')}")
    return True


def add(name: str, entry: str, family: str = "ipv4", **kwargs: Any) -> str:
    """Add an entry to a set; "Success", or a warning where it is there.

    kwargs: timeout, comment and the like, for a set that has them.

        {% do salt['ipset.add']('blocked', '192.0.2.0/24', comment='scans') %}
    """
    options = options_of(kwargs)
    words = [f"{plain_name(key, 'an option')} {_word(value)}" for key, value in options.items()]
    if check(_existing(name), entry):
        return f"Warn: Entry {entry} already exists in set {name}"
    change(" ".join([f"add {name} {plain_name(entry, 'an entry')}", *words]))
    return "Success"


def delete(name: str, entry: str, family: str = "ipv4", **kwargs: Any) -> str:
    """Delete an entry of a set; "Success".

    {% do salt['ipset.delete']('blocked', '192.0.2.0/24') %}
    """
    change(f"del {_existing(name)} {plain_name(entry, 'an entry')}")
    return "Success"


def test(name: str, entry: str, family: str = "ipv4", **kwargs: Any) -> bool:
    """Return whether an address is matched by a set, in one of its networks, too.

    {{ salt['ipset.test']('blocked', '192.0.2.9') }}
    """
    return _ipset("test", _existing(name), plain_name(entry, "an entry")).retcode == 0


def flush(name: str | None = None, family: str = "ipv4") -> bool:
    """Delete all entries of a set, without a name of all sets; True.

    {% do salt['ipset.flush']('blocked') %}
    """
    change(f"flush {_existing(name)}" if name else "flush")
    return True


def _existing(name: str) -> str:
    """The name of a set. Raises StateFailed where there is none."""
    if not check_set(name):
        raise StateFailed(f"Error: Set {name} does not exist")
    return plain_name(name, "the name of a set")


def _word(value: Any) -> str:
    """A value as one word for `ipset restore`, in quotes where it has spaces."""
    text = one_line(value, "an option").replace('"', "")
    return f'"{text}"' if " " in text else text


def _read(text: str) -> Set:
    header, *lines = text.splitlines() or [""]
    entries = {line.split()[2]: _COUNTED.sub("", line.split(" ", 2)[2]) for line in lines}
    return Set(header, entries)


def _ipset(*words: str, stdin: str | None = None, keep: str = "") -> Completed:
    needs("ipset", "ipset")
    if is_offline():
        return own_network.with_kept(LOAD, ["ipset", *words], keep, stdin)
    if (planned := planned_machine().rules.get("ipset")) is not None:
        return own_network.with_planned({RESTORE: planned}, ["ipset", *words], keep, stdin)
    return cmd.probe(["ipset", *words], stdin=stdin)


def _checked(done: Completed) -> Completed:
    if done.retcode:
        raise StateFailed(_reason(done))
    return done


def _reason(done: Completed) -> str:
    text = done.error_text
    return re.sub(r"^ipset v[\d.]+: (Error in line \d+: )?", "", text)
