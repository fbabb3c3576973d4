# SPDX-License-Identifier: Apache-2.0
"""How states are tried behind those that make what they need: users, groups, files, packages,
mounts, what the same tool has made.
"""

from __future__ import annotations

from typing import Any

from laws import Scenario

State = tuple[str, dict[str, Any]]


def state(of: str, name: str = "zoe", /, **args: Any) -> State:
    return of, {"name": name, **args}


USER = state("user.present", uid=7001)
GROUP = state("group.present", "zoo", gid=7002)
KEY = {"name": "AAAAC3NzaC1lZDI1NTE5AAAAIJtVE3mJYXPjhnMkXvYyPuVFgXVhGxZ9RzGZ5hZbJ8Kq"}
KNOWN = {"name": "example.org", "key": KEY["name"], "enc": "ed25519", "hash_known_hosts": False}
HOST = state("host.present", "db.example", ip="10.0.0.5")
TMPFS = {"device": "none", "fstype": "tmpfs", "persist": False}
FOLDER = state("file.directory", "/mnt/a")
LINE = {"fs_file": "/mnt/a", "fs_vfstype": "ext4"}
MINUTE = {"user": "zoe", "minute": 5}
PAGER = {"link": "/usr/bin/own", "path": "/usr/local/bin/own", "priority": 5}
OWN = state("file.managed", "/usr/local/bin/own", contents="exit 0", mode="0755")
MADE = [OWN, state("alternatives.install", "own", **PAGER)]
KEPT = {"daemon": "sleep", "settings": {"AllowSuspend": False}}
LESS = {"daemon": "sleep", "settings": {"AllowHibernation": False}}
MAY = state("sudo.rule", "deploy", users="zoe", commands="/bin/true")
ACL = {"name": "/mnt/a", "acl_type": "user", "acl_name": "zoe"}
ACLS = {"name": "/mnt/a", "acl_type": "user", "acl_names": ["zoe", "daemon"]}
TOOLS = "apt-get install -y -q acl"
JOB = state("schedule.present", "night", function="state.highstate", hours=6)
ENTRY = "deb http://deb.example.org/debian bookworm main"
EXAMPLE = state("pkgrepo.managed", ENTRY, file="/etc/apt/sources.list.d/ex.list", refresh=False)


def on(made: State | list[State], function: str, prepare: str = "", **args: Any) -> Scenario:
    """made: what is made before it."""
    after = made if isinstance(made, list) else [made]
    return Scenario(
        function,
        args,
        machine=True,
        layer="volumes" if function.startswith("augeas.change") else "base",
        prepare=prepare,
        after=after,
        converges=not function.startswith("cmd.run"),
    )


def apache(kind: str, tool: str, folder: str, suffix: str) -> Scenario:
    """What is enabled behind its file."""
    top = "/etc/apache2"
    tools = (
        f"mkdir -p {top}/{folder}-available {top}/{folder}-enabled; touch {top}/apache2.conf;"
        f" cd /usr/local/sbin; printf '#!/bin/sh\\nln -s ../{folder}-available/$1.{suffix}"
        f" {top}/{folder}-enabled/' >a2en{tool}; chmod 755 a2en{tool}"
    )
    made = state("file.managed", f"{top}/{folder}-available/x.{suffix}", contents="x")
    return on(made, f"apache_{kind}.enabled", tools, name="x")


SCENARIOS = [
    on([GROUP, USER], "file.managed name=/srv/f contents=a user=zoe group=zoo"),
    on([FOLDER, USER], "file.directory name=/mnt/a user=zoe recurse=[user]"),
    on([USER, OWN], "cmd.run name=/usr/local/bin/own runas=zoe cwd=/home/zoe"),
    on(GROUP, "user.present name=zoe groups=[zoo]"),
    on(USER, "user.absent name=zoe purge=true"),
    on(USER, "group.present name=zoo addusers=[zoe]"),
    on(GROUP, "group.absent name=zoo"),
    on(USER, "ssh_auth.present user=zoe enc=ed25519", **KEY),
    on(USER, "ssh_auth.manage name=keys user=zoe", ssh_keys=[f"ssh-ed25519 {KEY['name']}"]),
    on(
        [USER, ("ssh_auth.present", {"user": "zoe", "enc": "ed25519", **KEY})],
        "ssh_auth.absent user=zoe",
        **KEY,
    ),
    on(USER, "ssh_known_hosts.present user=zoe", **KNOWN),
    on(
        [USER, ("ssh_known_hosts.present", {"user": "zoe", **KNOWN})],
        "ssh_known_hosts.absent name=example.org user=zoe",
    ),
    on(USER, "cron.present", name="true", **MINUTE),
    on([USER, state("cron.present", "true", **MINUTE)], "cron.absent user=zoe", name="true"),
    on(USER, "cron.env_present name=MAILTO value=zoe user=zoe"),
    on(
        [USER, state("cron.env_present", "MAILTO", value="zoe", user="zoe")],
        "cron.env_absent name=MAILTO user=zoe",
    ),
    on(state("file.managed", "/tab", contents="1 1 * * * true"), "cron.file name=/tab"),
    on(HOST, "host.present name=other.example ip=10.0.0.5"),
    on(HOST, "host.absent name=db.example ip=10.0.0.5"),
    on(HOST, "host.only name=10.0.0.5 hostnames=[one]"),
    on(state("alias.present", target="root"), "alias.present name=zoe target=admin"),
    on(state("alias.present", target="root"), "alias.absent name=zoe"),
    on(FOLDER, "mount.mounted name=/mnt/a", **TMPFS),
    on([FOLDER, state("mount.mounted", "/mnt/a", **TMPFS)], "mount.unmounted name=/mnt/a"),
    on(
        state("mount.fstab_present", "/dev/vdx", mount=False, **LINE),
        "mount.fstab_present name=/dev/vdx fs_file=/mnt/a fs_vfstype=xfs mount=false",
    ),
    on(
        state("mount.fstab_present", "/dev/vdx", mount=False, **LINE),
        "mount.fstab_absent name=/dev/vdx fs_file=/mnt/a",
    ),
    on(
        state("file.managed", "/etc/fstab", contents="/s none swap sw 0 0\n"), "swap.absent name=/s"
    ),
    on(state("systemd.setting", "limits", **KEPT), "systemd.setting name=limits", **LESS),
    on(
        state("systemd.setting", "limits", **KEPT),
        "systemd.setting_absent name=limits daemon=sleep",
    ),
    on(MAY, "sudo.rule name=deploy users=zoe commands=ALL"),
    on(MAY, "sudo.absent name=deploy"),
    on(OWN, "alternatives.install name=own", **PAGER),
    on(MADE, "alternatives.remove name=own", path=PAGER["path"]),
    on([FOLDER, USER], "acl.present perms=rwx", TOOLS, **ACL),
    on([FOLDER, USER], "acl.list_present perms=r", TOOLS, **ACLS),
    on(JOB, "schedule.disabled name=night"),
    on(JOB, "schedule.absent name=night"),
    on([JOB, state("schedule.disabled", "night")], "schedule.enabled name=night"),
    on(
        state("sysctl.present", "net.ipv4.ip_forward", value=1),
        "sysctl.present name=net.ipv4.ip_forward value=0",
    ),
    on(state("locale.system", "C.UTF-8"), "locale.system name=POSIX"),
    on(state("timezone.system", "Asia/Tokyo"), "timezone.system name=Europe/Berlin"),
    on(state("network.system", "m", hostname="kilo"), "network.system name=m hostname=lima"),
    apache("site", "site", "sites", "conf"),
    apache("conf", "conf", "conf", "conf"),
    apache("module", "mod", "mods", "load"),
    on(EXAMPLE, "pkgrepo.absent refresh=false", name=ENTRY),
    on(EXAMPLE, "pkgrepo.managed refresh=false", name=f"{ENTRY} contrib"),
    on(
        state("file.managed", "/etc/hosts", contents="1.2.3.4 a\n"),
        "augeas.change name=x context=/files/etc/hosts lens=Hosts.lns changes='[set 1/alias b]'",
    ),
    on(
        state("file.managed", "/etc/fstab", contents=""),
        "mount.fstab_present name=/dev/vdx mount=false",
        **LINE,
    ),
    on(state("file.managed", "/etc/aliases", contents="zoe: root\n"), "alias.absent name=zoe"),
    on(
        state("file.managed", "/etc/sysctl.d/x.conf", contents="net.ipv4.ip_forward = 0\n"),
        "sysctl.present name=net.ipv4.ip_forward value=1 config=/etc/sysctl.d/x.conf",
    ),
    on(
        state("file.managed", "/x", contents="a a/b boolean true\n"),
        "debconf.set_file name=x source=/x",
    ),
]
