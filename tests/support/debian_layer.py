"""What a throw-away machine has that this computer lacks: made once with apt in a copy of this
computer, and kept.

The layer holds an init, cron and ssh, and an archive of packages, so that apt works in a machine
that has no network. It is one tar file in the cache folder, made anew when this computer's packages
change.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

INSTALLED = (
    "systemd-sysv",
    "libpam-systemd",
    "dbus",
    "cron",
    "iproute2",
    "procps",
    "openssh-server",
    "sudo",
)
# what the tests install
ARCHIVE = ("hello", "nginx-light", "iptables", "ifupdown", "firewalld", "acl", "apache2")
# what only slows a machine without hardware down, or would reach for this computer's
MASKED = (
    "systemd-modules-load.service systemd-sysctl.service systemd-udevd.service"
    " systemd-udev-trigger.service systemd-remount-fs.service systemd-journal-flush.service"
    " systemd-update-utmp.service systemd-pstore.service dev-hugepages.mount sys-kernel-debug.mount"
    " sys-kernel-tracing.mount sys-kernel-config.mount sys-fs-fuse-connections.mount"
    " console-getty.service getty@.service"
)
# a package of our own in two versions: what can be upgraded, without a download
OWN = "greeting"

PATIENCE = 300  # seconds for all of it

ENTER = """
set -e
mount -t tmpfs none "$0"; mkdir "$0/upper" "$0/work" "$0/root"
mount -t overlay overlay -o "lowerdir=/,upperdir=$0/upper,workdir=$0/work" "$0/root"
for d in proc sys dev; do mount --rbind /$d "$0/root/$d"; done
mount -t tmpfs none "$0/root/run"
chroot "$0/root" sh -ec "$2"
tar --xattrs --xattrs-include='*' -C "$0/upper" --exclude=./run --exclude=./tmp --exclude=./var/log -cf "$1" .
"""
MAKE = """
exec </dev/null >&2
export DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8
printf '#!/bin/sh\\nexit 101\\n' >/usr/sbin/policy-rc.d; chmod 755 /usr/sbin/policy-rc.d
cat >/etc/apt/apt.conf.d/00machine <<X
APT::Install-Recommends "false";
APT::Get::Assume-Yes "true";
Dpkg::Use-Pty "0";
Acquire::Languages "none";
X
echo force-unsafe-io >/etc/dpkg/dpkg.cfg.d/machine
rm -f /etc/systemd/system/*.wants/* /var/lib/man-db/auto-update
apt-get -q update
apt-get -q --no-upgrade install {installed}
mkdir -p /usr/local/archive /var/cache/apt/archives/partial; cd /usr/local/archive
for name in {archive}; do apt-get -q -d -o Dir::Cache::archives=$PWD -o Debug::NoLocking=1 install $name; done
rm -rf partial lock
for v in 1.0 2.0; do
    mkdir -p /tmp/own/DEBIAN
    printf '%s\\n' 'Package: {own}' "Version: $v" 'Architecture: all' 'Maintainer: me' 'Description: hello' \\
        >/tmp/own/DEBIAN/control
    dpkg-deb -b /tmp/own . >/dev/null
done
for f in *.deb; do
    dpkg-deb -f $f
    printf 'Filename: ./%s\\nSize: %s\\nSHA256: %s\\n\\n' $f $(stat -c %s $f) $(sha256sum <$f | cut -d' ' -f1)
done | gzip >Packages.gz
apt-get clean
rm -rf /etc/apt/sources.list.d/* /var/lib/apt/lists/* /usr/sbin/policy-rc.d /var/cache/man
echo 'deb [trusted=yes] file:/usr/local/archive ./' >/etc/apt/sources.list
apt-get -q update
cd /etc/systemd/system
for unit in {masked}; do ln -sf /dev/null $unit; done
ln -sf /lib/systemd/system/multi-user.target default.target
mkdir -p ../journald.conf.d
printf '[Journal]\\nStorage=volatile\\nRuntimeMaxUse=16M\\n' >../journald.conf.d/machine.conf
: >/etc/machine-id
echo machine >/etc/hostname
printf '127.0.0.1 localhost\\n127.0.1.1 machine\\n' >/etc/hosts
"""


class NoLayer(Exception):
    """Why there is none."""


def script(archive: Sequence[str]) -> str:
    """The shell that furnishes a copy of this computer."""
    return MAKE.format(
        installed=" ".join(INSTALLED), archive=" ".join(archive), own=OWN, masked=MASKED
    )


def layer(archive: Sequence[str] = ARCHIVE) -> Path:
    """The tar file; NoLayer where it cannot be made. archive: packages that apt will find."""
    if os.geteuid() != 0:
        raise NoLayer("needs root")
    status = Path("/var/lib/dpkg/status")
    if not status.exists():
        raise NoLayer("this is no Debian")
    folder = Path(os.environ.get("XDG_CACHE_HOME") or "/var/cache", "runner-machine")
    folder.mkdir(parents=True, exist_ok=True)
    key = hashlib.sha256(status.read_bytes() + (ENTER + script(archive)).encode()).hexdigest()[:12]
    with open(folder / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        kept = folder / f"{key}.tar"
        if not kept.exists():
            _make(kept, script(archive))
            _remove_others(kept)
    return kept


def _make(kept: Path, furnish: str) -> None:
    unfinished = kept.with_suffix(".unfinished")
    with tempfile.TemporaryDirectory() as folder:
        command = ["unshare", "-m", "sh", "-c", ENTER, folder, str(unfinished), furnish]
        try:
            done = subprocess.run(
                command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE
            )
        except subprocess.TimeoutExpired:
            raise NoLayer(f"apt is not done after {PATIENCE} seconds") from None
    if done.returncode:
        raise NoLayer("; ".join(done.stderr.strip().split("\n")[-3:]))
    unfinished.rename(kept)


def _remove_others(kept: Path) -> None:
    """All but the last few."""
    old = sorted(kept.parent.glob("*.tar"), key=lambda path: path.stat().st_mtime)
    for path in old[:-3]:
        path.unlink()
