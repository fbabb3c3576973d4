# SPDX-License-Identifier: Apache-2.0
"""A dry run sees the accounts that the states before would have made: users, groups, passwords,
homes, crontabs and keys, in pairs of states that are planned and then carried out.
"""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Callable
from typing import Any

import yaml
from both_runs import unlike
from debian import Debian

PAIRS = 90  # of all
HASH = "$6$salt$" + "x" * 86
KEY = "AAAAC3NzaC1lZDI1NTE5AAAAIMkV4nX2nZ0yN0Xw6m1b8N2v3mJkq5o4s7c9d1e2f3g4"
DATABASES = ("passwd", "group", "shadow", "gshadow", "subuid", "subgid")

State = tuple[str, dict[str, Any]]


def _user(**arguments: Any) -> Callable[[str, str, int], State]:
    return lambda user, group, number: (
        "user.present",
        {
            "name": user,
            **{
                key: value.format(user=user, group=group, number=number)
                if isinstance(value, str)
                else [group if item == "group" else item for item in value]
                if isinstance(value, list)
                else value
                for key, value in arguments.items()
            },
        },
    )


def _state(function: str, name: str, **arguments: Any) -> Callable[[str, str, int], State]:
    made = _user(**arguments)

    def state(user: str, group: str, number: int) -> State:
        return function, made(user, group, number)[1] | {
            "name": name.format(user=user, group=group)
        }

    return state


# each on a user, a group and a number of a pair's own
FORMS: dict[str, Callable[[str, str, int], State]] = {
    "user": _user(),
    "user, all": _user(uid="{number}", shell="/bin/bash", fullname="Some One", groups=["group"]),
    "user, other number": _user(uid="{number}", allow_uid_change=True, groups=[]),
    "user, password": _user(password=HASH, mindays=3, expire="2031-01-01", roomnumber="4"),
    "user, locked": _user(password=HASH, password_lock=True, optional_groups=["group"]),
    "user, empty password": _user(empty_password=True, remove_groups=False, groups=["group"]),
    "user, primary group": _user(gid="{group}", allow_gid_change=True),
    "user, system": _user(system=True, createhome=False, usergroup=False),
    "user, home": _user(home="/srv/homes/{user}"),
    "user, moved home": _user(home="/home/new-{user}", persist_home=True),
    "user, ranges": _user(subuids=["900000-900009"]),
    "no user": _state("user.absent", "{user}"),
    "no user, no home": _state("user.absent", "{user}", purge=True),
    "group": _state("group.present", "{group}"),
    "group, system": _state("group.present", "{group}", system=True),
    "group, added": _state("group.present", "{group}", gid="{number}", addusers=["{user}"]),
    "group, members": _state("group.present", "{group}", members=["{user}"]),
    "group, deleted": _state("group.present", "{group}", delusers=["{user}"]),
    "no group": _state("group.absent", "{group}"),
    "no own group": _state("group.absent", "{user}"),
    "own group": _state("group.present", "{user}"),
    "file": _state(
        "file.managed", "/srv/{user}", contents="a", user="{user}", group="{group}", mode="0640"
    ),
    "directory": _state(
        "file.directory", "/home/{user}", user="{user}", group="{group}", recurse=["user", "group"]
    ),
    "file at home": _state("file.append", "/home/{user}/.profile", text="umask 077"),
    "home is there": _state("file.exists", "/home/{user}/.profile"),
    "no home": _state("file.absent", "/home/{user}"),
    "link": _state("file.symlink", "/srv/link-{user}", target="/srv", user="{user}"),
    "cron": _state("cron.present", "true", user="{user}", minute=5, identifier="job"),
    "no cron": _state("cron.absent", "job", user="{user}", identifier="job"),
    "cron variable": _state("cron.env_present", "MAILTO", user="{user}", value="{user}"),
    "key": _state("ssh_auth.present", KEY, user="{user}", enc="ed25519"),
    "known host": _state(
        "ssh_known_hosts.present",
        "example.com",
        user="{user}",
        key=KEY,
        enc="ed25519",
        hash_known_hosts=False,
    ),
    "command": _state("cmd.run", "true", runas="{user}"),
}


def _listed(arguments: dict[str, Any], user: str) -> dict[str, Any]:
    return {
        key: [user if item == "{user}" else item for item in value]
        if isinstance(value, list)
        else value
        for key, value in arguments.items()
    }


def tree(pairs: list[tuple[str, str]]) -> str:
    """An SLS file with all pairs, each with accounts of its own, and what is then in /etc."""
    states: dict[str, Any] = {}
    for number, pair in enumerate(pairs):
        user, group = f"u{number}", f"g{number}"
        for position, form in enumerate(pair):
            function, arguments = FORMS[form](user, group, 5000 + 2 * number + position)
            arguments = _listed(arguments, user)
            if form == "command":
                arguments["order"] = "last"  # anything may be there after it
            states[f"{number} {position} {form} ({' - '.join(pair)})"] = {
                function: [{key: value} for key, value in arguments.items()]
            }
    for database in DATABASES:
        states[database] = {
            "file.managed": [{"name": f"/srv/copies/{database}"}, {"source": f"/etc/{database}"}]
        }
    return yaml.safe_dump(states, sort_keys=False, width=1000)


def prepare(machine: Debian, count: int) -> None:
    """Let a third of the users be there before, and a third of the groups."""
    lines: dict[str, list[str]] = {name: [] for name in DATABASES}
    for number in range(count):
        user, group, own = f"u{number}", f"g{number}", 20000 + number
        if number % 3 == 0:
            lines["passwd"].append(f"{user}:x:{own}:{own}::/home/{user}:/bin/sh")
            lines["shadow"].append(f"{user}:!:20000:0:99999:7:::")
            lines["group"].append(f"{user}:x:{own}:")
            lines["gshadow"].append(f"{user}:!::")
        if number % 3 == 1 or number % 6 == 0:
            members = user if number % 6 == 0 else ""
            lines["group"].append(f"{group}:x:{30000 + number}:{members}")
            lines["gshadow"].append(f"{group}:!::{members}")
    for name, added in lines.items():
        machine.run(f"cat >> /etc/{name}", stdin="".join(f"{line}\n" for line in added))
        machine.write(f"/srv/copies/{name}", "")
    users = [line.split(":")[0] for line in lines["passwd"]]
    script = "cd /home; for u in $0 $@; do cp -a /etc/skel $u; chown -R $u:$u $u; done"
    machine.run("sh", "-c", script, *users)


def contents(machine: Debian) -> str:
    """All that accounts are made of, byte for byte."""
    return machine.read(
        "cd /; find etc home srv var/spool/cron var/mail var/lib/systemd -xdev -type f -exec"
        " sha256sum {} + | sort -k2; find home srv -printf '%p %m %U %G\n' | sort"
    )


def differing(machine: Debian, pairs: list[tuple[str, str]]) -> dict[str, Any]:
    """Return what the dry run of pairs and their real run report otherwise than each other."""
    prepare(machine, len(pairs))
    machine.tree(pairs=tree(pairs))
    before = contents(machine)
    dry = machine.results("sls", "pairs", "--test", code=None)
    assert contents(machine) == before
    real = machine.results("sls", "pairs", code=None)
    assert len(real) == 2 * len(pairs) + len(DATABASES)
    return {
        name: both
        for name, both in unlike(dry, real).items()
        if "(depends on cmd: " not in dry[name]["comment"]  # another command might add the user
        and not (name.split()[2:3] == ["command"] and dry[name]["result"] is None)
    }


def all_pairs() -> list[tuple[str, str]]:
    return list(itertools.product(FORMS, repeat=2))


def test_accounts_are_planned_as_they_are_then_made(debian: Debian) -> None:
    pairs = random.Random(1).sample(all_pairs(), PAIRS)
    different = differing(debian, pairs)
    assert not different, json.dumps(different, indent=1)


GUARDED = """
made:
  user.present:
    - name: worker
    - uid: 7100
    - groups: [sudo]
crew:
  group.present:
    - addusers: [worker]
seen:
  cmd.run:
    - name: exit 1
    - unless: test "$(id -u worker)" = 7100 && id -nG worker | grep -q crew
    - require: [user: made, group: crew]
as:
  cmd.run:
    - name: exit 1
    - unless: test "$(id -un)" = worker -a "$PWD" = /home/worker -a -O .profile
    - runas: worker
    - require: [user: made]
gone:
  user.absent:
    - name: worker
    - purge: True
    - require: [cmd: as, cmd: seen]
unseen:
  cmd.run:
    - name: exit 1
    - unless: "! id worker"
    - require: [user: gone]
"""


def test_commands_of_guards_see_planned_accounts(debian: Debian) -> None:
    debian.tree(guarded=GUARDED)
    dry = debian.results("sls", "guarded", "--test")
    real = debian.results("sls", "guarded")
    assert [real[name]["comment"] for name in ("seen", "as", "unseen")] == [
        "unless condition is true"
    ] * 3
    assert {name: dry[name]["comment"] for name in ("seen", "as", "unseen")} == dict.fromkeys(
        ("seen", "as", "unseen"), "unless condition is true"
    )


# a function, its name and its arguments: each on what those above it would have made
SETTINGS = """
- [file.managed, /srv/tool, {contents: x, mode: '0755'}]
- [alternatives.install, foo, {link: /usr/bin/foo, path: /srv/tool, priority: 10}]
- [alternatives.install, foo, {link: /usr/bin/foo, path: /srv/tool, priority: 10}]
- [alternatives.install, foo, {link: /usr/bin/foo, path: /bin/true, priority: 20}]
- [alternatives.set, foo, {path: /srv/tool}]
- [alternatives.set, foo, {path: /nope}]
- [alternatives.auto, foo, {}]
- [alternatives.auto, foo, {}]
- [file.exists, /usr/bin/foo, {}]
- [file.symlink, /etc/alternatives/foo, {target: /bin/true}]
- [alternatives.set, foo, {path: /srv/tool}]
- [alternatives.remove, foo, {path: /srv/tool}]
- [alternatives.remove, foo, {path: /srv/tool}]
- [alternatives.remove, foo, {path: /bin/true}]
- [alternatives.remove, foo, {path: /bin/true}]
- [file.missing, /usr/bin/foo, {}]
- [alternatives.install, low, {link: /usr/bin/low, path: /srv/tool, priority: -5}]
- [alternatives.install, low, {link: /usr/bin/low, path: /srv/tool, priority: -5}]
- [alternatives.install, low, {link: /usr/bin/low, path: /bin/true, priority: -9}]
- [alternatives.install, a b, {link: /usr/bin/low, path: /srv/tool, priority: 1}]
- [alternatives.set, a/b, {path: /srv/tool}]
- [alternatives.set, awk, {path: /usr/bin/mawk}]
- [alternatives.auto, awk, {}]
- [alternatives.install, editor, {link: /usr/bin/editor, path: /srv/tool, priority: 1000}]
- [file.missing, /etc/alternatives/editor.1.gz, {}]
- [alternatives.set, editor, {path: /bin/ed}]
- [file.exists, /etc/alternatives/editor.1.gz, {}]
- [environ.setenv, FOO, {value: bar}]
- [environ.setenv, FOO, {value: 'no'}]
- [test.nop, envg, {onlyif: test "$FOO" = no}]
- [environ.setenv, FOO, {value: false, false_unsets: true}]
- [test.nop, envh, {onlyif: 'test -z "${FOO-}"'}]
- [alias.present, root, {target: zoe}]
- [alias.present, root, {target: zoe}]
- [alias.present, root, {target: amy}]
- [alias.absent, root, {}]
- [alias.absent, root, {}]
- [sysctl.present, net.ipv4.ip_forward, {value: 1, config: /etc/sysctl.d/x.conf}]
- [sysctl.present, net.ipv4.ip_forward, {value: 1, config: /etc/sysctl.d/x.conf}]
- [sysctl.present, net.ipv4.ip_forward, {value: 0, config: /etc/sysctl.d/x.conf}]
- [host.present, a.example, {ip: 10.0.0.1}]
- [host.present, b.example, {ip: 10.0.0.1}]
- [host.absent, a.example, {ip: 10.0.0.1}]
- [timezone.system, Europe/Berlin, {utc: true}]
- [timezone.system, Europe/Berlin, {utc: true}]
- [locale.system, C.UTF-8, {}]
- [locale.system, C.UTF-8, {}]
- [locale.present, C.UTF-8, {}]
"""


def test_settings_are_planned_as_they_are_then_made(debian: Debian) -> None:
    debian.write("/etc/aliases", "# none\n")
    states = {
        f"{number:02}": {function: [{"name": name}, *({key: value} for key, value in more.items())]}
        for number, (function, name, more) in enumerate(yaml.safe_load(SETTINGS))
    }
    debian.tree(settings=yaml.safe_dump(states))
    before = contents(debian)
    dry = debian.results("sls", "settings", "--test", code=None)
    assert contents(debian) == before
    real = debian.results("sls", "settings", code=None)
    assert unlike(dry, real) == {}


def test_a_home_that_is_there_and_somebody_elses_is_named(debian: Debian) -> None:
    debian.run("mkdir /home/gina")
    debian.tree(gina="gina: {user.present: []}\nhugo: {user.present: []}")
    for options in (["--test"], []):
        found = debian.results("sls", "gina", *options)
        (told,) = found["gina"]["warnings"]
        assert told == "/home/gina is there and stays root's: it is made no home for gina"
        assert "warnings" not in found["hugo"]
