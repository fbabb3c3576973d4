# SPDX-License-Identifier: Apache-2.0
"""The laws that state functions keep, in one table: what each says, which scenarios are a trial of
it, and which functions need not keep it, with the reason.

tests/test_laws.py asks of every function in the registry, law by law, that a scenario tries it, or
that the table says why none does. The arguments of Salt's functions have a table of their own:
runner/language/arguments/lacking.txt.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from laws import EVERYTHING, Scenario

SLOW = ("pip.", "virtualenv.")  # whose preparations take seconds

STAND_IN = "a stand-in of its program, which takes what the program would refuse"
SERVER = "what its server has and refuses, the server knows"
UNKNOWN = "what it runs says so when it has run"
PROGRAM = "a program of its own makes it, and knows alone what"
REPEATS = "what it is given may be found again in what it wrote"
PASSING = "it holds for the run, or in the cache of runner"
NATURE = "it is there to change something in each run"
ONLY_LOOKS = "it looks, or waits for another state"
FACTS = "what its program or server makes is not planned: behind that it is undecided"
NEEDS_NOTHING = "no state makes what it looks at"
ON_MACHINES = (
    "machines try examples of its kind: tests/machine/test_killed.py, test_planned_machine.py"
)


@dataclass(frozen=True)
class Law:
    """says: what is kept. held_by: the test. tries: whether a scenario is a trial of it. without:
    functions, or globs of them, that need not keep it, with the reason.
    """

    says: str
    held_by: str
    tries: Callable[[Scenario], bool]
    without: Mapping[str, str] = field(default_factory=dict)

    def holds(self, function: str) -> bool:
        """Whether a function has to keep it."""
        return not any(fnmatchcase(function, name) for name in self.without)


def is_good(scenario: Scenario) -> bool:
    """Whether it changes something, and to its end."""
    return scenario.plans and scenario.fails is None and scenario.breaks is None


def plainest(scenarios: Sequence[Scenario]) -> list[int]:
    """The numbers of the plainest good one of each function."""
    good = [number for number, each in enumerate(scenarios) if is_good(each)]
    good.sort(key=lambda number: -len(scenarios[number].args))
    return sorted({scenarios[number].function: number for number in good}.values())


def sampled(scenarios: Sequence[Scenario]) -> list[int]:
    """The numbers of the plainest of each function, and of every fifth one of its others; of all
    with `RUNNER_LAWS=all`.
    """
    count: Counter[str] = Counter()
    found, of_each = [], frozenset(plainest(scenarios))
    for number, scenario in enumerate(scenarios):
        count[scenario.function] += 1
        if EVERYTHING or number in of_each or count[scenario.function] % 5 == 1:
            found.append(number)
    return found


def is_idle(scenario: Scenario) -> bool:
    """Whether it has nothing to do."""
    return not scenario.plans and scenario.fails is None and scenario.breaks is None


def is_slow(scenario: Scenario) -> bool:
    """Whether its preparations take seconds."""
    return scenario.function.startswith(SLOW)


def changes_here(scenario: Scenario) -> bool:
    """Whether it does so without a machine of its own, and soon."""
    return is_good(scenario) and not scenario.machine and not is_slow(scenario)


def every(names: str, why: str) -> dict[str, str]:
    return dict.fromkeys(names.split(), why)


KEPT = "what it changes is kept, so that it does there what it does anywhere"
RUNS = "what it asks has to run: there it says that it does not"
ASKS_NONE = "what runs is nothing to it"
OFFLINE = {
    **every("acl.* acme.* alias.* alternatives.* apache_* archive.* augeas.* cargo.* pipx.*", KEPT),
    **every("uv_tool.*", KEPT),
    **every("chrony.* composer.* cron.* dconf.* debconf.* file.* flatpak.* gem.* git.*", KEPT),
    **every("grains.* group.* host.* ini.* locale.* logrotate.* npm.* ntp.* pip.*", KEPT),
    **every("pkg.* pkgrepo.* saltutil.* schedule.* snap.* ssh_* sudo.* virtualenv.*", KEPT),
    **every("systemd.sysusers* systemd.tmpfiles*", KEPT),
    **every("font.* gpg.* user.absent x509.* xml.* environ.*", KEPT),
    **every("blockdev.* btrfs.* crypttab.* luks.* lvm.* raid.*", KEPT),
    **every("cmd.* event.* http.* module.* stateconf.* test.*", ASKS_NONE),
    **every("docker_* mysql_* postgres_* rabbitmq_* redis.* supervisord.*", RUNS),
}
NOTHING_HERE = {
    **every("*.wait *.wait_call *.wait_script *.watch *.nop file.exists file.missing", ONLY_LOOKS),
    **every("file.accumulated file.not_cached file.shortcut grains.exists saltutil.*", ONLY_LOOKS),
    **every("stateconf.* test.*", ONLY_LOOKS),
    "system.reboot": "what a restart has ended is not begun again by undo",
    "process.absent": "a process that was ended does not come back, and no file tells of it",
}
NEEDS_MACHINES = {
    **every("acl.* acme.* alias.* alternatives.* apache_* apparmor.* augeas.*", ON_MACHINES),
    **every("file.capability", ON_MACHINES),
    **every("blockdev.* btrfs.* cron.* debconf.* firewalld.* group.* host.* ipset.*", ON_MACHINES),
    **every("at.* dconf.* font.* luks.*", ON_MACHINES),
    **every("iptables.* kmod.* locale.* lvm.* mount.* mysql_* network.* nftables.*", ON_MACHINES),
    **every("pkg.* pkgrepo.* postgres_cluster.* postgres_initdb.* raid.* schedule.*", ON_MACHINES),
    **every(
        "selinux.* service.* ssh_* sudo.* swap.* sysctl.* systemd.* timezone.* ufw.* user.*",
        ON_MACHINES,
    ),
}
NEVER_SETTLED = {
    **every("cmd.call cmd.run cmd.script", UNKNOWN),
    **every("environ.setenv event.send event.fire_master http.*", PASSING),
    **every("test.fail_with_changes test.succeed_with_changes", NATURE),
}
WRITTEN_BY_PROGRAMS = {
    **every("cmd.* module.*", UNKNOWN),
    **every("event.* http.* environ.* file.cached", PASSING),
    **every("docker_* postgres_* rabbitmq_* redis.* supervisord.*", SERVER),
    **every(
        "cargo.* composer.* gem.* git.* npm.* pip.* snap.* virtualenv.*",
        PROGRAM,
    ),
}
TOOLS_KNOW = {  # of which undo says that it does not restore it
    **every("acme.* alias.* apache_* apparmor.* firewalld.* iptables.* network.managed", PROGRAM),
    **every("augeas.* blockdev.* btrfs.* ipset.* luks.* lvm.* nftables.* raid.* ufw.*", PROGRAM),
    **every("network.routes selinux.boolean selinux.module* selinux.port_policy_*", PROGRAM),
    **every("systemd.sysusers systemd.tmpfiles pkg.downloaded pkg.module_*", PROGRAM),
    **every("mysql_* postgres_cluster.* postgres_initdb.*", SERVER),
}

LAWS = {
    "still": Law(
        "a dry run changes nothing; of a state that plans nothing the real run neither",
        "test_laws.py, machine/test_machine.py",
        lambda scenario: True,
    ),
    "foretold": Law(
        "the keys of a sure Plan are those of the real run, and a failure is foreseen",
        "test_laws.py, machine/test_machine.py",
        lambda scenario: True,
    ),
    "settled": Law(
        "a second run has nothing to do",
        "test_laws.py, machine/test_machine.py",
        lambda scenario: scenario.converges,
        NEVER_SETTLED,
    ),
    "ahead": Law(
        "a dry run sees what earlier states would make as what is there, and itself as done",
        "test_laws.py, machine/test_machine.py, test_foresight.py",
        lambda scenario: not scenario.machine or is_good(scenario),
        every(
            "kmod.present pkg.declared service.masked service.unmasked systemd.unit", ON_MACHINES
        ),
    ),
    "chained": Law(
        "behind the plans of states that make what it needs it says what it says behind these",
        "test_laws.py, machine/test_machine.py: laws/chains.py",
        lambda scenario: not scenario.machine or bool(scenario.after),
        {
            **every("mount.swap pkg.* service.* systemd.unit", ON_MACHINES),
            **every("acl.absent acl.list_absent apache_*.disabled at.absent", FACTS),
            **every("file.capability luks.* ssh_key.present swap.file", FACTS),
            **every("systemd.sysusers* systemd.tmpfiles*", FACTS),
            **every("apparmor.* blockdev.* btrfs.* firewalld.* ipset.* iptables.* lvm.*", FACTS),
            **every("mysql_* nftables.* postgres_cluster.* raid.* selinux.* ufw.*", FACTS),
            **every("acme.cert alternatives.auto alternatives.set debconf.set", NEEDS_NOTHING),
            **every("kmod.* locale.[ap]* network.managed network.routes", NEEDS_NOTHING),
            **every("postgres_initdb.present process.absent schedule.present", NEEDS_NOTHING),
            "system.reboot": NEEDS_NOTHING,
        },
    ),
    "undone": Law(
        "undo brings back what was there, and its dry run says so",
        "test_laws.py, machine/test_machine.py",
        lambda scenario: is_good(scenario) and not scenario.function.startswith(SLOW),
        {
            **NOTHING_HERE,
            **WRITTEN_BY_PROGRAMS,
            **TOOLS_KNOW,
            "pkg.declared": "it removes as pkg.removed does: machine/test_declared.py",
            "x509.private_key_managed": "a private key is kept nowhere else",
        },
    ),
    "killed": Law(
        "killed at a call that writes, files are the old or the new ones, and the next run goes on",
        "test_faults.py, bench/faults/laws.py",
        changes_here,
        {
            **NOTHING_HERE,
            **NEEDS_MACHINES,
            **WRITTEN_BY_PROGRAMS,
            **every("flatpak.* pipx.* uv_tool.*", PROGRAM),
        },
    ),
    "offline": Law(
        "of a system that does not run it changes what is kept, and nothing else",
        "machine/test_machine.py: laws/offline.py; machine/test_offline.py",
        lambda scenario: scenario.offline,
        OFFLINE,
    ),
    "alike": Law(
        "with values that nobody means, and for a user without rights, a dry run fails where the"
        " real run does, and no text of Python's is a comment",
        "test_laws_of_somebody.py, machine/test_machine.py",
        lambda scenario: True,
        {
            **every("cmd.* service.dead service.running", UNKNOWN),
            **every("http.* mysql_* postgres_*", SERVER),
            **every("acme.cert flatpak.* selinux.boolean", STAND_IN),
            "mount.mounted": "which options a file system has, mount knows",
            "alternatives.install": "which links others have, update-alternatives knows",
            **every(
                "pkg.downloaded pkg.installed", "which versions there are the lists say, renewed"
            ),
            "supervisord.running": "what the configuration adds is known when it has been read",
            "test.fail_with_changes": "as with Salt its dry run does not fail",
            "user.present": "how long a line of passwd may be, usermod knows",
        },
    ),
    "repeated": Law(
        "with such values a second run has nothing to do, either",
        "test_laws_of_somebody.py, machine/test_machine.py",
        lambda scenario: scenario.converges,
        {
            **every(
                "cargo.* docker_* firewalld.* flatpak.* gem.* npm.* pipx.* snap.* uv_tool.*",
                STAND_IN,
            ),
            **every("file.blockreplace file.comment file.line file.replace", REPEATS),
            **NEVER_SETTLED,
            "selinux.boolean": STAND_IN,
        },
    ),
}
