# SPDX-License-Identifier: Apache-2.0
"""How states of the system itself are tried: names, keys, time zone, kernel, mounts. On a
throw-away copy of it.
"""

from __future__ import annotations

from laws import on_machine
from starting import starts

USER = "useradd -m zoe; "
RSA = "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAAAgQC7 zoe@home"
ED = "AAAAC3NzaC1lZDI1NTE5AAAAIJtVE3mJYXPjhnMkXvYyPuVFgXVhGxZ9RzGZ5hZbJ8Kq"
HAS = f"{USER} mkdir -p /home/zoe/.ssh; echo '{RSA}' > /home/zoe/.ssh/authorized_keys; "
LINE = "echo '/dev/vdx /mnt/a ext4 defaults 0 0' > /etc/fstab; "
MNT = "mkdir -p /mnt/a; "
TMPFS = {"device": "tmpfs", "fstype": "tmpfs"}
LOADED = "mkdir -p /etc/modules-load.d; echo nosuch > /etc/modules-load.d/salt_managed.conf"
NO_MODULES = "printf '#!/bin/sh\\nexit 1\\n' > /usr/bin/modprobe; chmod +x /usr/bin/modprobe"
COPIED = "cp --remove-destination /usr/share/zoneinfo/{} /etc/localtime"
TOKYO = "ln -sf /usr/share/zoneinfo/Asia/Tokyo /etc/localtime; echo Asia/Tokyo >/etc/timezone"


on = on_machine()
# a machine that is to be restarted, and what restarts it
OWED = """mkdir -p /run/systemd/shutdown; touch /run/reboot-required
printf '%s\\n' '#!/bin/sh' 'touch /run/systemd/shutdown/scheduled' >/usr/local/sbin/shutdown
chmod 755 /usr/local/sbin/shutdown
"""
DNF = """rm /run/reboot-required
printf '%s\\n' '#!/bin/sh' 'echo {}; exit 1' >/usr/local/bin/needs-restarting
chmod 755 /usr/local/bin/needs-restarting
"""


SLUMBER = f"cp /bin/sleep /usr/local/bin/slumber; {starts('/usr/local/bin/slumber', '1000')}"
SCENARIOS = [
    on("system.reboot", OWED, name="now", message="we are back soon", timeout=3),
    on("system.reboot", f"{OWED}rm /run/reboot-required", name="now", plans=False),
    on("system.reboot", OWED, name="now", **{"continue": True}, fails="systemd does not run"),
    on("system.reboot", OWED, name="now", message="-c", fails="the message: "),
    on("system.reboot", OWED, name="now", timeout=-1, fails="a duration from 0 to"),
    on("system.reboot", f"{OWED}{DNF.format('Reboot is required to')}", name="now"),
    on("system.reboot", f"{OWED}{DNF.format('Cannot read')}", name="now", plans=False),
    on(
        "system.reboot",
        f"{OWED}rm /run/reboot-required",
        name="now",
        only_on_pending_reboot=False,
    ),
    on("host.present", name="db.example", ip=["10.0.0.5", "10.0.0.6"], comment="note"),
    on(
        "host.present",
        "echo 10.0.0.9 db.example >> /etc/hosts",
        name="db.example",
        ip="10.0.0.5",
        clean=True,
    ),
    on(
        "host.present",
        "echo 10.0.0.5 x db.example >> /etc/hosts",
        plans=False,
        name="db.example",
        ip="10.0.0.5",
    ),
    on("host.absent", "echo 10.0.0.5 x db.example >> /etc/hosts", name="db.example", ip="10.0.0.5"),
    on("host.present", name=" db.example ", ip=" 10.0.0.5 ", comment=" a  b "),
    on("host.only", name=" 10.0.0.5 ", hostnames=["a  b", " c "]),
    on("host.absent", plans=False, name="db.example", ip="10.0.0.5"),
    on("host.only", "echo 10.0.0.5 x >> /etc/hosts", name="10.0.0.5", hostnames=["one", "two"]),
    on("ssh_auth.present", USER, name=RSA, user="zoe"),
    on("ssh_auth.present", HAS, plans=False, name=RSA, user="zoe"),
    on("ssh_auth.present", HAS, name=RSA, user="zoe", options=[" no-pty", "no-X11-forwarding "]),
    on(
        "ssh_auth.present",
        HAS,
        name=ED,
        user="zoe",
        enc="ed25519",
        comment="me",
        options=["no-pty"],
    ),
    on(
        "ssh_auth.present",
        USER,
        name=RSA,
        user="zoe",
        config="%h/.ssh/keys2",
        fingerprint_hash_type="sha256",
    ),
    on("ssh_auth.present", USER + f"echo '{RSA}' > /keys", name="all", user="zoe", source="/keys"),
    on(
        "ssh_auth.present",
        USER + f"echo 'no-pty {RSA}' > /keys",
        name="all",
        user="zoe",
        source="/keys",
        options=["no-X11-forwarding"],
    ),
    on(
        "ssh_auth.present",
        USER,
        plans=False,
        name="garbage",
        user="zoe",
        fails="Invalid public ssh key",
    ),
    on("ssh_auth.present", plans=False, name=RSA, user="nobody-here", fails="home directory"),
    on(
        "ssh_auth.present",
        USER,
        name=ED,
        user="zoe",
        enc="ssh-x",
        fails="Incorrect encryption key type 'ssh-x'.",
    ),
    on(
        "ssh_auth.manage",
        USER + f"echo '{RSA}' > /k",
        name="all",
        user="zoe",
        source="/k",
        ssh_keys=[RSA],
    ),
    on("ssh_auth.absent", HAS, name=RSA, user="zoe"),
    on(
        "ssh_auth.absent",
        HAS + f"echo '{RSA}' > /keys",
        name="all",
        user="zoe",
        source="/keys",
        enc="x",
        comment="y",
    ),
    on(
        "ssh_auth.absent",
        USER,
        plans=False,
        name=RSA,
        user="zoe",
        config=".ssh/other",
        options=["no-pty"],
    ),
    on("ssh_auth.manage", HAS, name="keys", user="zoe", ssh_keys=[f"ssh-ed25519 {ED} x"]),
    on(
        "ssh_auth.manage",
        HAS,
        plans=False,
        name="keys",
        user="zoe",
        ssh_keys=[RSA],
        enc="ssh-rsa",
        comment="x",
    ),
    on("timezone.system", name="Europe/Berlin"),
    on("timezone.system", TOKYO + "; rm /etc/localtime", name="Asia/Tokyo"),
    on("timezone.system", TOKYO + "; echo Etc/UTC >/etc/timezone", name="Asia/Tokyo"),
    on(
        "timezone.system", f"{TOKYO}; {COPIED.format('Asia/Tokyo')}", plans=False, name="Asia/Tokyo"
    ),
    on("timezone.system", f"{TOKYO}; {COPIED.format('Etc/UTC')}", name="Asia/Tokyo"),
    on("timezone.system", TOKYO, plans=False, name="Asia/Tokyo", utc=True),
    on("timezone.system", plans=False, name="Mars/Base", fails="Can't find a local timezone"),
    on("alias.present", name="zoe", target="root"),
    on("alias.present", "echo 'zoe: root' > /etc/aliases", plans=False, name="zoe", target="root"),
    on("alias.absent", "echo 'zoe: root' > /etc/aliases", name="zoe"),
    on("alias.absent", plans=False, name="nobody-here"),
    on(
        "sysctl.present", name="net.ipv4.conf.lo.forwarding", value=0, config="/etc/sysctl.d/x.conf"
    ),
    on(
        "sysctl.present",
        "sysctl -w net.ipv4.conf.lo.forwarding=0",
        name="net.ipv4.conf.lo.forwarding",
        value=1,
        persist=False,
    ),
    on(
        "sysctl.present",
        "echo 'net.ipv4.conf.lo.forwarding = 0' > /etc/sysctl.conf",
        plans=False,
        name="net.ipv4.conf.lo.forwarding",
        value=False,
        config="/etc/sysctl.conf",
    ),
    on(
        "sysctl.present",
        plans=False,
        name="net.no.such.key",
        value=1,
        fails="sysctl net.no.such.key does not exist",
    ),
    on("kmod.absent", plans=False, name="no_such_module", comment=True),
    on("kmod.absent", LOADED, name="x", mods=["nosuch"], persist=True),
    on("kmod.absent", LOADED, name="nosuch", persist=True, comment=False),
    on("kmod.absent", plans=False, name="x", mods=["nosuch"], persist=True),
    on("process.absent", SLUMBER, name="/usr/local/bin/slumber", user="root", signal="KILL"),
    on("process.absent", SLUMBER, plans=False, name="/usr/local/bin/slumber", user="nobody"),
    on("process.absent", SLUMBER, name="/usr/local/bin/slumber", timeout=30),
    on("process.absent", plans=False, name="no-such-program"),
    on("process.absent", fails="there is no signal 'NONE'", name="x", signal="NONE"),
    on("locale.system", name="C.UTF-8"),
    on("locale.system", "echo LANG=C.UTF-8 > /etc/default/locale", plans=False, name="C.UTF-8"),
    on("locale.present", plans=False, name="C.UTF-8"),
    on("mount.mounted", MNT, name="/mnt/a", **TMPFS, opts=["size=1M"], pass_num=2, dump=1),
    on(
        "mount.mounted",
        name="/mnt/b",
        **TMPFS,
        mkmnt=True,
        persist=False,
        hidden_opts=["x"],
        match_on=["name"],
    ),
    on(
        "mount.mounted", plans=False, name="/mnt/c", **TMPFS, fails="Mount directory is not present"
    ),
    on(
        "mount.mounted",
        MNT + "mount -t tmpfs -o size=1M tmpfs /mnt/a",
        name="/mnt/a",
        **TMPFS,
        opts="size=2M",
    ),
    on(
        "mount.mounted",
        MNT + "mount -t tmpfs tmpfs /mnt/a",
        plans=False,
        name="/mnt/a",
        **TMPFS,
        persist=False,
    ),
    on(
        "mount.mounted",
        MNT + "mount -t tmpfs -o nosuid,nodev,noexec,noatime tmpfs /mnt/a",
        name="/mnt/a",
        **TMPFS,
        opts=["nosuid"],
    ),
    on(
        "mount.mounted",
        MNT + "mount -t tmpfs -o user tmpfs /mnt/a",
        plans=False,
        name="/mnt/a",
        **TMPFS,
        opts=["user"],
        persist=False,
    ),
    on(
        "mount.mounted", MNT, name="/mnt/a", **TMPFS, mount=False, config="/etc/fstab2", user="root"
    ),
    on(
        "mount.mounted",
        "mkdir -p /mnt/a /mnt/src",
        name="/mnt/a",
        device="/mnt/src",
        fstype="none",
        opts="bind",
    ),
    on("mount.unmounted", MNT + "mount -t tmpfs tmpfs /mnt/a", name="/mnt/a", device="tmpfs"),
    on("mount.unmounted", LINE, name="/mnt/a", persist=True, config="/etc/fstab", user="root"),
    on("mount.unmounted", plans=False, name="/mnt/a"),
    on(
        "mount.mounted",
        MNT,
        name="/mnt/a",
        device="LABEL=no",
        fstype="ext4",
        fails="find device with label no.",
    ),
    on("mount.mounted", name="/mnt/x", device="/dev/vdx", fstype="ext4", mount=False),
    on("mount.swap", name="UUID=0-0", persist=False, fails="Swap UUID=0-0 failed to activate"),
    on(
        "mount.fstab_present",
        name="/dev/vdx",
        fs_file="/mnt/a",
        fs_vfstype="ext3",
        mount=False,
        fs_freq=1,
        fs_passno=2,
    ),
    on(
        "mount.fstab_present",
        LINE,
        name="/dev/vdx",
        fs_file="/mnt/a",
        fs_vfstype="xfs",
        fs_mntops="noatime",
    ),
    on(
        "mount.fstab_present",
        LINE,
        plans=False,
        name="/dev/vdx",
        fs_file="/mnt/a",
        fs_vfstype="xfs",
        not_change=True,
    ),
    on(  # a space is written as fstab has it, and read again
        "mount.fstab_present",
        name="/dev/vdx",
        fs_file="/mnt/a\xa0b",
        fs_vfstype="ext4",
        mount=False,
        fs_mntops=["x-gvfs-name=My Disk", "x-gvfs-icon=a\\040b"],
    ),
    on(
        "mount.fstab_present",
        name="x",
        fs_file="/m",
        fs_vfstype="ext4",
        mount_by="label",
        fs_mount=False,
        config="/f",
    ),
    on("mount.fstab_absent", LINE, name="/dev/vdx", fs_file="/mnt/a", config="/etc/fstab"),
    on("mount.fstab_absent", plans=False, name="vdx", fs_file="/mnt/a", mount_by="uuid"),
    on("mount.swap", plans=False, name="/swapfile-that-is-not-there", fails="does not exist"),
    on(
        "mount.swap",
        plans=False,
        name="/no/swap",
        persist=False,
        config="/etc/fstab",
        fails="does not exist",
    ),
    on(
        "kmod.present",
        NO_MODULES,
        name="no_such",
        persist=True,
        fails="Kernel module no_such is unavailable",
    ),
    on(
        "kmod.present",
        NO_MODULES,
        name="x",
        mods=["no", "nor"],
        fails="Kernel modules no, nor are unavailable",
    ),
]
