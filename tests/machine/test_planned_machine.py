# SPDX-License-Identifier: Apache-2.0
"""What a dry run says of states that follow each other on services, mounts and packages, compared
with the real run.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from both_runs import assert_foreseen, foreseen
from debian import Debian

UNIT = """[Service]
Type={kind}
ExecStart={start}
[Install]
WantedBy=multi-user.target
"""
RUNS = UNIT.format(kind="exec", start="/bin/sleep infinity")
ENDS = UNIT.format(kind="oneshot", start="/bin/true")
TIMER = "[Timer]\nOnCalendar=daily\nUnit=cron.service\n[Install]\nWantedBy=timers.target\n"
FILE = "/etc/systemd/system/{0}.service"
TIMERS = "/etc/systemd/system/{0}.timer"
LINK = "/etc/systemd/system/multi-user.target.wants/{0}.service"

State = tuple[str, dict[str, Any]]


def service(function: str, **arguments: Any) -> State:
    return f"service.{function}", {"name": "{0}", **arguments}


def unit(contents: str = RUNS) -> State:
    return "file.managed", {"name": FILE, "contents": contents}


# what is done with systemctl before (and whether there is a unit before), and what follows
SERVICES: list[tuple[str | None, list[State]]] = [
    ("", [service("running"), service("running"), service("dead"), service("dead")]),
    ("start", [service("dead"), service("running", enable=True), service("enabled")]),
    ("", [service("enabled"), service("enabled"), service("disabled"), service("disabled")]),
    ("enable", [service("disabled"), service("running", enable=True), service("dead")]),
    ("enable", [("file.missing", {"name": LINK}), service("disabled"),
                ("file.missing", {"name": LINK}), service("enabled"),
                ("file.exists", {"name": LINK})]),
    ("", [service("masked"), service("running"), service("enabled"), service("masked"),
          service("unmasked"), service("running"), service("enabled")]),
    ("mask", [service("unmasked"), service("enabled"), service("running")]),
    ("enable", [service("masked", runtime=True), service("enabled"), service("running"),
                service("running", unmask_runtime=True, unmask=True)]),
    ("start", [service("masked"), service("running"), service("dead"), service("dead")]),
    (None, [unit(), service("running", enable=True), service("running"), service("enabled"),
            service("masked"), service("dead", enable=False), service("dead")]),
    (None, [unit(ENDS), service("enabled"), service("running"), service("enabled")]),
    (None, [("file.managed", {"name": TIMERS, "contents": TIMER}),
            ("service.running", {"name": "{0}.timer", "enable": True}),
            ("service.dead", {"name": "{0}.timer"})]),
    ("start", [("file.absent", {"name": FILE}), service("running"), service("dead"),
               service("dead")]),
    (None, [("systemd.unit", {"name": "{0}", "contents": RUNS, "running": True, "enable": True}),
            service("running"), service("dead", enable=False),
            ("systemd.unit", {"name": "{0}", "contents": RUNS, "running": True}),
            ("systemd.unit", {"name": "{0}", "drop_ins": {"more": "[Service]\nNice=5"}}),
            service("disabled")]),
    (None, [("systemd.unit", {"name": "{0}", "timer": TIMER, "contents": ENDS, "enable": True,
                              "running": True}),
            service("running"), ("service.dead", {"name": "{0}.timer"})]),
]  # fmt: skip


def mounted(name: str, **arguments: Any) -> State:
    plain = {"device": "none", "fstype": "tmpfs", "persist": False}
    return "mount.mounted", {"name": f"/mnt/{name}", **plain, **arguments}


MOUNTS: list[State] = [
    ("file.directory", {"name": "/mnt/a"}),
    mounted("a", opts="size=1m"),
    mounted("a", opts="size=1m"),
    ("file.managed", {"name": "/mnt/a/file", "contents": "here"}),
    mounted("a", opts=["size=1m", "noexec"]),
    mounted("a", opts=["size=1m", "noexec"]),
    ("file.exists", {"name": "/mnt/a/file"}),
    mounted("b", device="/mnt/a", fstype="none", opts="bind", mkmnt=True, persist=True),
    mounted("b", device="/mnt/a", fstype="none", opts="bind", persist=True),
    ("file.append", {"name": "/mnt/b/file", "text": "there"}),
    ("file.append", {"name": "/mnt/a/file", "text": "there"}),
    ("mount.unmounted", {"name": "/mnt/b", "persist": True}),
    ("mount.unmounted", {"name": "/mnt/b", "persist": True}),
    ("file.missing", {"name": "/mnt/b/file"}),
    ("mount.unmounted", {"name": "/mnt/a"}),
    ("mount.unmounted", {"name": "/mnt/a"}),
    ("file.missing", {"name": "/mnt/a/file"}),
    mounted("none"),
    ("mount.fstab_present", {"name": "x", "fs_file": "/mnt/a", "fs_vfstype": "tmpfs"}),
    ("mount.fstab_present", {"name": "x", "fs_file": "/mnt/a", "fs_vfstype": "tmpfs"}),
    ("mount.unmounted", {"name": "/mnt/a", "persist": True}),
    ("mount.fstab_absent", {"name": "x", "fs_file": "/mnt/a"}),
    ("sysctl.present", {"name": "net.ipv4.ip_forward", "value": 1, "persist": False}),
    ("sysctl.present", {"name": "net.ipv4.ip_forward", "value": 1, "persist": False}),
    ("sysctl.present", {"name": "net.ipv4.ip_forward", "value": 0}),
    ("sysctl.present", {"name": "net.ipv4.ip_forward", "value": 0}),
]


def tree(chains: Iterable[tuple[str, list[State]]]) -> str:
    """States in their order, each with a name that says which chain it is of."""
    states: dict[str, Any] = {}
    for subject, chain in chains:
        for position, (function, arguments) in enumerate(chain):
            listed = [
                {key: value.replace("{0}", subject) if isinstance(value, str) else value}
                for key, value in arguments.items()
            ]
            states[f"{subject} {position} {function}"] = {function: listed}
    return json.dumps({**states, "order": {"test.nop": []}})


def assert_chains_foreseen(machine: Debian, sls: str) -> None:
    machine.tree(chain=sls)
    foreseen(machine, "chain", code=None)


def test_mounts_and_settings_of_the_kernel(debian: Debian) -> None:
    assert_chains_foreseen(debian, tree([("mounts", MOUNTS)]))


def test_services(debian: Debian) -> None:
    commands = []
    for number, (before, _) in enumerate(SERVICES):
        if before is not None:
            folder = "/usr/local/lib" if "mask" in before or number in (5, 7, 8) else "/etc"
            debian.write(f"{folder}/systemd/system/tick{number}.service", RUNS)
            commands += [f"systemctl {before} tick{number}"] if before else []
    debian.run(f"(systemctl daemon-reload; {'; '.join(commands)}) 2>&1")
    assert_chains_foreseen(
        debian, tree((f"tick{number}", chain) for number, (_, chain) in enumerate(SERVICES))
    )


ALIASED = RUNS + "Alias=other.service\n"
ALIAS: list[State] = [
    ("service.dead", {"name": "other", "enable": False}),
    ("service.disabled", {"name": "{0}"}),
    ("service.dead", {"name": "other", "enable": False}),
    ("service.running", {"name": "{0}", "enable": True}),
    ("service.running", {"name": "other", "enable": True}),
]


def test_a_service_is_stopped_by_an_alias_that_goes_with_it(debian: Debian) -> None:
    debian.write("/etc/systemd/system/tick.service", ALIASED)
    debian.run("systemctl enable --now tick 2>&1")
    assert_chains_foreseen(debian, tree([("tick", ALIAS)]))
    debian.tree(off="other: {service.dead: [enable: false]}")
    assert debian.results("sls", "off")["other"]["changes"] == {"other": True}
    assert debian.read("systemctl is-active tick || true") == "inactive"


FOLDERS = """[Service]
User=nobody
RuntimeDirectory=tick
StateDirectory=tick/inner
StateDirectoryMode=0750
CacheDirectory=old
ConfigurationDirectory=tick
ExecStart=/bin/sleep infinity
"""
MOUNT = "[Mount]\nWhat=none\nWhere=/mnt/tick\nType=tmpfs\n"
STARTED: dict[str, Any] = {
    FILE.format("tick"): {"file.managed": [{"contents": FOLDERS}]},
    "tick": {"service.running": []},
    "/run/tick/f": {"file.managed": [{"contents": "x"}]},
    "/etc/tick/f": {"file.managed": [{"contents": "x"}]},
    "/var/lib/tick": {"file.directory": [{"user": "root"}, {"mode": "0755"}]},
    "/var/lib/tick/inner": {"file.directory": [{"user": "nobody"}, {"mode": "0700"}]},
    "/var/cache/old": {"file.directory": [{"user": "nobody"}, {"mode": "0755"}]},
    "stopped": {"service.dead": [{"name": "tick"}]},
    "gone": {"file.missing": [{"name": "/run/tick"}]},
}


def test_folders_that_systemd_makes_for_a_service(debian: Debian) -> None:
    debian.run("mkdir -m 0700 /var/cache/old")
    assert_foreseen(debian, STARTED)


def test_what_starts_may_make_what_a_state_needs_that_requires_it(debian: Debian) -> None:
    debian.write("/etc/systemd/system/mnt-tick.mount", MOUNT)
    debian.write(FILE.format("tick"), RUNS)
    debian.run("systemctl daemon-reload")
    needing: dict[str, Any] = {"file.managed": [{"contents": "x"}]}
    required = [*needing["file.managed"], {"require": [{"service": "tick"}]}]
    states = {
        "mnt-tick.mount": {"service.running": []},
        "tick": {"service.running": []},
        "/mnt/tick/f": needing,
        "/srv/tick/f": {"file.managed": required},
        "/srv/tock/f": needing,
    }
    debian.tree(all=json.dumps(states))
    dry = debian.results("sls", "all", "--test", code=2)
    assert {name: each.get("__decided_by__", each["result"]) for name, each in dry.items()} == {
        "mnt-tick.mount": None,
        "tick": None,
        "/mnt/tick/f": "service: mnt-tick.mount",
        "/srv/tick/f": "service: tick",
        "/srv/tock/f": False,
    }


def test_a_removed_package_takes_its_commands_and_services_along(debian: Debian) -> None:
    debian.run("systemctl start cron")
    chain = [
        ("pkg.removed", {"name": "cron"}),
        ("file.missing", {"name": "/usr/sbin/cron"}),
        ("service.dead", {"name": "cron"}),
        ("service.running", {"name": "cron"}),
    ]
    listener = "cron:\n  service.running: [listen: [file: /root/heard], require: [pkg: gone]]\n"
    debian.tree(
        removed=tree([("cron", chain)]),
        heard="gone:\n  pkg.removed: [name: cron]\n/root/heard:\n  file.managed: [contents: x]\n"
        + listener,
    )
    heard = debian.results("sls", "heard", "--test", code=2)
    assert {name: result["result"] for name, result in heard.items()} == {
        **dict.fromkeys(["gone", "/root/heard"]),
        **dict.fromkeys(["cron", "listener_cron"], False),
    }
    dry = debian.results("sls", "removed", "--test", code=None)
    real = debian.results("sls", "removed", code=None)
    done = [(result["result"], result["changes"]) for result in real.values()]
    assert [each for each, _ in done] == [True, True, True, False, True], real
    assert [each for _, each in done] == [result["changes"] for result in dry.values()]
    assert [result["result"] for result in dry.values()] == [None, True, True, False, True]
    running = "cron 3 service.running"
    assert dry[running]["comment"] == real[running]["comment"]


def test_commands_see_names_that_are_planned_in_the_topmost_folder(debian: Debian) -> None:
    debian.run("mkdir /old")
    states: dict[str, Any] = {
        "/data/x": {"file.managed": [{"contents": "here"}, {"makedirs": True}]},
        "/programs": {"file.symlink": [{"target": "/bin"}]},
        "/old": {"file.absent": []},
        "/srv": {"file.directory": [{"mode": "0700"}]},
    }
    for command in (
        "su nobody -s /bin/sh -c 'grep here /data/x'",
        "/programs/ls /srv",
        "! ls -d /old",
        "stat -c %a /srv | grep 700",
        "mountpoint / && stat -c %a / | grep 755",
        "grep root /etc/passwd && ls /proc/self/fd",
    ):
        states[command] = {"test.nop": [{"onlyif": command}]}
    assert_foreseen(debian, states)
    debian.run("rm -rf /data /programs; chmod 755 /srv")


def test_commands_of_another_user_run_where_only_root_may_go(debian: Debian) -> None:
    debian.run("mkdir -m 0700 /srv/closed")
    where = [{"cwd": "/srv/closed"}, {"runas": "nobody"}]
    states: dict[str, Any] = {
        "/srv/closed/f": {"file.managed": [{"contents": "here"}]},
        "not read": {"test.nop": [{"unless": "grep here f"}, *where]},
        "there": {"test.nop": [{"onlyif": "test $(pwd) = /srv/closed"}, *where]},
    }
    dry = assert_foreseen(debian, states)
    assert (dry["not read"]["comment"], dry["there"]["comment"]) == ("Success!", "Success!")
    debian.run("rm -r /srv/closed")


ASKING = [
    "systemctl is-active {0}.service",
    "systemctl is-enabled -q {0}",
    "test $(sysctl -n net.ipv4.ip_forward) = 1",
    "grep 1 /proc/sys/net/ipv4/ip_forward",
    "grep /mnt/a /proc/mounts",
    "hostname | grep other",
]
DECIDED = ["grep tick /etc/hostname", "systemctl is-active cron", "grep other /etc/hostname"]
DECIDED += ["systemctl is-active tock"]  # which runs, and does after its restart


def test_what_a_command_asks_that_is_in_no_file_is_undecided(debian: Debian) -> None:
    for name in ("tick", "tock"):
        debian.write(FILE.format(name), RUNS)
    debian.run("mkdir /mnt/a; systemctl daemon-reload; systemctl start tock")
    states: dict[str, Any] = {
        "changed": {"file.managed": [{"name": "/etc/tock.conf"}, {"contents": "x"}]},
        "tock": {"service.running": [{"watch": [{"file": "changed"}]}]},
        "tick": {"service.running": [{"enable": True}]},
        "net.ipv4.ip_forward": {"sysctl.present": [{"value": 1}]},
        "mount": {mounted("a")[0]: [mounted("a")[1]]},
        "name": {"network.system": [{"hostname": "other"}, {"apply_hostname": True}]},
    }
    asking = [command.format("tick") for command in ASKING]
    for command in (*asking, *DECIDED):
        states[command] = {"test.nop": [{"onlyif": command}]}
    debian.tree(all=json.dumps(states))
    dry = debian.results("sls", "all", "--test")
    pending = ["service: tick"] * 2 + ["sysctl: net.ipv4.ip_forward"] * 2
    pending += ["mount: mount", "network: name"]
    decided = {name: dry[name].get("__decided_by__") for name in (*asking, *DECIDED)}
    assert decided == {**dict(zip(asking, pending, strict=True)), **dict.fromkeys(DECIDED)}
    real = debian.results("sls", "all")
    assert {real[name]["comment"] for name in asking} == {"Success!"}
    assert {name: real[name]["comment"] for name in DECIDED} == {
        name: dry[name]["comment"] for name in DECIDED
    }
