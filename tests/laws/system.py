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
    on("system.reboot name=now message='we are back soon' timeout=3", OWED),
    on("system.reboot name=now", f"{OWED}rm /run/reboot-required", plans=False),
    on("system.reboot name=now", OWED, **{"continue": True}, fails="systemd does not run"),
    on("system.reboot name=now message=-c", OWED, fails="the message: "),
    on("system.reboot name=now timeout=-1", OWED, fails="a duration from 0 to"),
    on("system.reboot name=now", f"{OWED}{DNF.format('Reboot is required to')}"),
    on("system.reboot name=now", f"{OWED}{DNF.format('Cannot read')}", plans=False),
    on("system.reboot name=now only_on_pending_reboot=false", f"{OWED}rm /run/reboot-required"),
    on("host.present name=db.example ip=[10.0.0.5,10.0.0.6] comment=note"),
    on(
        "host.present name=db.example ip=10.0.0.5 clean=true",
        "echo 10.0.0.9 db.example >> /etc/hosts",
    ),
    on(
        "host.present name=db.example ip=10.0.0.5",
        "echo 10.0.0.5 x db.example >> /etc/hosts",
        plans=False,
    ),
    on("host.absent name=db.example ip=10.0.0.5", "echo 10.0.0.5 x db.example >> /etc/hosts"),
    on("host.present name=' db.example ' ip=' 10.0.0.5 ' comment=' a  b '"),
    on("host.only name=' 10.0.0.5 '", hostnames=["a  b", " c "]),
    on("host.absent name=db.example ip=10.0.0.5", plans=False),
    on("host.only name=10.0.0.5 hostnames=[one,two]", "echo 10.0.0.5 x >> /etc/hosts"),
    on("ssh_auth.present user=zoe", USER, name=RSA),
    on("ssh_auth.present user=zoe", HAS, plans=False, name=RSA),
    on("ssh_auth.present user=zoe", HAS, plans=False, name=RSA.split()[1]),
    on("ssh_auth.present user=zoe comment=other", HAS, name=RSA.split()[1]),
    on("ssh_auth.present user=zoe", HAS, name=RSA, options=[" no-pty", "no-X11-forwarding "]),
    on("ssh_auth.present user=zoe enc=ed25519 comment=me options=[no-pty]", HAS, name=ED),
    on(
        "ssh_auth.present user=zoe config=%h/.ssh/keys2 fingerprint_hash_type=sha256",
        USER,
        name=RSA,
    ),
    on("ssh_auth.present name=all user=zoe source=/keys", USER + f"echo '{RSA}' > /keys"),
    on(
        "ssh_auth.present name=all user=zoe source=/keys options=[no-X11-forwarding]",
        USER + f"echo 'no-pty {RSA}' > /keys",
    ),
    on("ssh_auth.present name=garbage user=zoe", USER, fails="Invalid public ssh key"),
    on("ssh_auth.present user=nobody-here", name=RSA, fails="home directory"),
    on(
        "ssh_auth.present user=zoe enc=ssh-x",
        USER,
        name=ED,
        fails="Incorrect encryption key type 'ssh-x'.",
    ),
    on("ssh_auth.manage name=all user=zoe source=/k", USER + f"echo '{RSA}' > /k", ssh_keys=[RSA]),
    on("ssh_auth.absent user=zoe", HAS, name=RSA),
    on(
        "ssh_auth.absent name=all user=zoe source=/keys enc=x comment=y",
        HAS + f"echo '{RSA}' > /keys",
    ),
    on("ssh_auth.absent user=zoe config=.ssh/other options=[no-pty]", USER, plans=False, name=RSA),
    on("ssh_auth.manage name=keys user=zoe", HAS, ssh_keys=[f"ssh-ed25519 {ED} x"]),
    on(
        "ssh_auth.manage name=keys user=zoe enc=ssh-rsa comment=x", HAS, plans=False, ssh_keys=[RSA]
    ),
    on("timezone.system name=Europe/Berlin"),
    on("timezone.system name=Asia/Tokyo", TOKYO + "; rm /etc/localtime"),
    on("timezone.system name=Asia/Tokyo", TOKYO + "; echo Etc/UTC >/etc/timezone"),
    on("timezone.system name=Asia/Tokyo", f"{TOKYO}; {COPIED.format('Asia/Tokyo')}", plans=False),
    on("timezone.system name=Asia/Tokyo", f"{TOKYO}; {COPIED.format('Etc/UTC')}"),
    on("timezone.system name=Asia/Tokyo utc=true", TOKYO, plans=False),
    on("timezone.system name=Mars/Base", fails="Can't find a local timezone"),
    on("alias.present name=zoe target=root"),
    on("alias.present name=zoe target=root", "echo 'zoe: root' > /etc/aliases", plans=False),
    on("alias.absent name=zoe", "echo 'zoe: root' > /etc/aliases"),
    on("alias.absent name=nobody-here", plans=False),
    on("sysctl.present name=net.ipv4.conf.lo.forwarding value=0 config=/etc/sysctl.d/x.conf"),
    on(
        "sysctl.present name=net.ipv4.conf.lo.forwarding value=1 persist=false",
        "sysctl -w net.ipv4.conf.lo.forwarding=0",
    ),
    on(
        "sysctl.present name=net.ipv4.conf.lo.forwarding value=false config=/etc/sysctl.conf",
        "echo 'net.ipv4.conf.lo.forwarding = 0' > /etc/sysctl.conf",
        plans=False,
    ),
    on(
        "sysctl.present name=net.no.such.key value=1", fails="sysctl net.no.such.key does not exist"
    ),
    on("kmod.absent name=no_such_module comment=true", plans=False),
    on("kmod.absent name=x mods=[nosuch] persist=true", LOADED),
    on("kmod.absent name=nosuch persist=true comment=false", LOADED),
    on("kmod.absent name=x mods=[nosuch] persist=true", plans=False),
    on("process.absent name=/usr/local/bin/slumber user=root signal=KILL", SLUMBER),
    on("process.absent name=/usr/local/bin/slumber user=nobody", SLUMBER, plans=False),
    on("process.absent name=/usr/local/bin/slumber timeout=30", SLUMBER),
    on("process.absent name=no-such-program", plans=False),
    on("process.absent name=x signal=NONE", fails="there is no signal 'NONE'"),
    on("locale.system name=C.UTF-8"),
    on("locale.system name=C.UTF-8", "echo LANG=C.UTF-8 > /etc/default/locale", plans=False),
    on("locale.present name=C.UTF-8", plans=False),
    on("mount.mounted name=/mnt/a opts=[size=1M] pass_num=2 dump=1", MNT, **TMPFS),
    on(
        "mount.mounted name=/mnt/b mkmnt=true persist=false hidden_opts=[x] match_on=[name]",
        **TMPFS,
    ),
    on("mount.mounted name=/mnt/c", **TMPFS, fails="/mnt/c; `mkmnt: true` makes it"),
    on(
        "mount.mounted name=/mnt/a opts=size=2M",
        MNT + "mount -t tmpfs -o size=1M tmpfs /mnt/a",
        **TMPFS,
    ),
    on(
        "mount.mounted name=/mnt/a persist=false",
        MNT + "mount -t tmpfs tmpfs /mnt/a",
        plans=False,
        **TMPFS,
    ),
    on(
        "mount.mounted name=/mnt/a opts=[nosuid]",
        MNT + "mount -t tmpfs -o nosuid,nodev,noexec,noatime tmpfs /mnt/a",
        **TMPFS,
    ),
    on(
        "mount.mounted name=/mnt/a opts=[user] persist=false",
        MNT + "mount -t tmpfs -o user tmpfs /mnt/a",
        plans=False,
        **TMPFS,
    ),
    on("mount.mounted name=/mnt/a mount=false config=/etc/fstab2 user=root", MNT, **TMPFS),
    on(
        "mount.mounted name=/mnt/a device=/mnt/src fstype=none opts=bind",
        "mkdir -p /mnt/a /mnt/src",
    ),
    on("mount.unmounted name=/mnt/a device=tmpfs", MNT + "mount -t tmpfs tmpfs /mnt/a"),
    on("mount.unmounted name=/mnt/a persist=true config=/etc/fstab user=root", LINE),
    on("mount.unmounted name=/mnt/a", plans=False),
    on("mount.mounted name=/mnt/x device=/dev/vdx fstype=ext4 mount=false"),
    on("mount.swap name=UUID=0-0 persist=false", fails="Swap UUID=0-0 failed to activate"),
    on(
        "mount.fstab_present name=/dev/vdx fs_file=/mnt/a fs_vfstype=ext3 mount=false"
        " fs_freq=1 fs_passno=2"
    ),
    on("mount.fstab_present name=/dev/vdx fs_file=/mnt/a fs_vfstype=xfs fs_mntops=noatime", LINE),
    on(
        "mount.fstab_present name=/dev/vdx fs_file=/mnt/a fs_vfstype=xfs not_change=true",
        LINE,
        plans=False,
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
        "mount.fstab_present name=x fs_file=/m fs_vfstype=ext4 mount_by=label fs_mount=false"
        " config=/f"
    ),
    on("mount.fstab_absent name=/dev/vdx fs_file=/mnt/a config=/etc/fstab", LINE),
    on("mount.fstab_absent name=vdx fs_file=/mnt/a mount_by=uuid", plans=False),
    on("mount.swap name=/swapfile-that-is-not-there", fails="does not exist"),
    on("mount.swap name=/no/swap persist=false config=/etc/fstab", fails="does not exist"),
    on(
        "kmod.present name=no_such persist=true",
        NO_MODULES,
        fails="Kernel module no_such is unavailable",
    ),
    on(
        "kmod.present name=x",
        NO_MODULES,
        mods=["no", "nor"],
        fails="Kernel modules no, nor are unavailable",
    ),
]
