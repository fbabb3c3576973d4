# SPDX-License-Identifier: Apache-2.0
"""What a throw-away machine has that this computer lacks: made once with apt in a copy of this
computer, and kept.

A layer holds an init, cron and ssh, and an archive of packages, so that apt works in a machine
that has no network. It is one tar file in the cache folder, made anew when this computer's packages
change. There are layers for other package managers, init systems and servers: LAYERS.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

import pytest
from needing import is_root

INSTALLED = tuple(
    """
    systemd-sysv libpam-systemd dbus cron iproute2 procps openssh-server sudo age
    """.split()
)
# what the tests install
ARCHIVE = ("hello", "nginx-light", "iptables", "ifupdown", "firewalld", "acl", "apache2")


@dataclass(frozen=True)
class Contents:
    """A kind of machine.

    installed: Debian packages that it has beside INSTALLED. archive: packages that apt can install
    in it without a network. furnish: a shell script that ends its making, with network.
    """

    installed: tuple[str, ...] = ()
    archive: tuple[str, ...] = ()
    furnish: str = ""


# what rpm's package managers install from: /usr/local/rpms, a repository without signatures, with a
# group (talking), an advisory (TEST-2024:1) and a module (dialect); rpm's own database lies where
# other systems have it
RPMS = r"""
mkdir -p /etc/rpm /usr/local/rpms /var/lib/rpm
echo '%_dbpath /var/lib/rpm' >/etc/rpm/macros
rpm --initdb
make_rpm() { # name, version-release, a further line of the header, a further section
    n=$1 v=${2%-*} r=${2#*-}
    cat >/tmp/$n.spec <<X
Name: $n
Version: $v
Release: $r
Summary: Says hello
License: MIT
BuildArch: noarch
URL: https://example.org
$3
%description
A test.
%install
mkdir -p %{buildroot}/etc %{buildroot}/usr/share/$n
echo $v >%{buildroot}/usr/share/$n/version
echo plain >%{buildroot}/etc/$n.conf
$4
%files
%config(noreplace) /etc/$n.conf
/usr/share/$n
X
    rpmbuild -bb -D '_rpmdir /usr/local/rpms' -D '_topdir /tmp/rpmbuild' \
-D '_build_name_fmt %%{NAME}-%%{VERSION}-%%{RELEASE}.noarch.rpm' /tmp/$n.spec >/dev/null
}
make_rpm greeting 1.0-1
make_rpm greeting 2.0-1
make_rpm words 1.0-1 'Provides: vocabulary = 1.0'
make_rpm phrase 1.0-1 'Requires: words >= 1.0'
make_rpm rude 1.0-1 'Conflicts: greeting'
make_rpm lonely 1.0-1 'Requires: nosuchthing'
make_rpm old 1.0-1 'Epoch: 1'
make_rpm failing 1.0-1 '' "%pre
exit 1"
rm -rf /tmp/rpmbuild /tmp/*.spec
cat >/tmp/comps.xml <<X
<comps><group><id>talking</id><name>Talking Tools</name><description/>
<uservisible>true</uservisible><packagelist>
<packagereq type="mandatory">words</packagereq>
<packagereq type="default">greeting</packagereq>
<packagereq type="optional">phrase</packagereq>
</packagelist></group></comps>
X
make_rpm idiom 1.0-1
make_rpm idiom 2.0-1
createrepo_c -q -g /tmp/comps.xml /usr/local/rpms
cat >/tmp/updateinfo.xml <<X
<updates><update from="me" status="final" type="security" version="1"><id>TEST-2024:1</id>
<title>greeting</title><issued date="2024-01-01 00:00:00"/><severity>Moderate</severity>
<pkglist><collection short="c"><name>c</name>
<package name="greeting" version="2.0" release="1" epoch="0" arch="noarch"
src="greeting-2.0-1.src.rpm"><filename>greeting-2.0-1.noarch.rpm</filename></package>
</collection></pkglist></update></updates>
X
for stream in 1 2; do cat <<X
---
document: modulemd
version: 2
data:
  name: dialect
  stream: "$stream"
  version: 1
  context: abcdef
  arch: noarch
  summary: Ways of speaking
  description: A test.
  license:
    module: [MIT]
  artifacts:
    rpms: ["idiom-0:$stream.0-1.noarch"]
...
X
done >/tmp/modules.yaml
modifyrepo_c /tmp/updateinfo.xml /usr/local/rpms/repodata
modifyrepo_c --mdtype=modules /tmp/modules.yaml /usr/local/rpms/repodata
"""
DNF = r"""
mkdir -p /etc/yum.repos.d
printf '[local]\nname=Local\nbaseurl=file:///usr/local/rpms\ngpgcheck=0\n' \
>/etc/yum.repos.d/local.repo
sed -i 's/enabled.*/enabled = 0/' /etc/dnf/plugins/local.conf
dnf -q makecache
"""
# zypper cannot read an empty database of rpm, which no real machine has: it has `base`
ZYPPER = r"""
make_rpm base 1.0-1 'Provides: /bin/sh'
rpm -i /usr/local/rpms/base-1.0-1.noarch.rpm
createrepo_c -q -g /tmp/comps.xml /usr/local/rpms
cat >/tmp/updateinfo.xml <<X
<updates><update from="x" status="stable" type="security" version="1"><id>TEST-2026-1</id>
<title>A newer greeting</title><issued date="2026-01-01 00:00:00"/><description>none</description>
<pkglist><collection short="x"><name>x</name>
<package name="greeting" version="2.0" release="1" epoch="0" arch="noarch" src="x">
<filename>greeting-2.0-1.noarch.rpm</filename></package></collection></pkglist></update></updates>
X
modifyrepo_c /tmp/updateinfo.xml /usr/local/rpms/repodata
zypper -q addrepo --no-gpgcheck file:///usr/local/rpms local
zypper -q -n refresh
mkdir -p /etc/runner
echo 'providers: {pkg: zypper}' >/etc/runner/runner.yaml
"""
# what pacman installs from: the repository `testing` in /usr/local/pacman, without signatures;
# older versions lie beside it in /usr/local/older
PACMAN = r"""
mkdir -p /tmp/build /usr/local/pacman /usr/local/older /etc/pacman.d /etc/runner
make_packages() { # where to, the version, the names, further lines of the PKGBUILD
    cat >/tmp/build/PKGBUILD <<X
pkgbase=tests pkgname=($3) pkgver=$2 pkgrel=1 arch=(any) license=(MIT) url=https://example.org
pkgdesc='Says hello'
files() {
    install -d "\$pkgdir/usr/share/\$pkgname" "\$pkgdir/etc"
    echo $2 >"\$pkgdir/usr/share/\$pkgname/version"
    echo plain >"\$pkgdir/etc/\$pkgname.conf"
    backup=(etc/\$pkgname.conf)
}
$4
X
    chown -R nobody /tmp/build $1
    (cd /tmp/build; runuser -u nobody -- env HOME=/tmp/build PKGDEST=$1 PKGEXT=.pkg.tar.zst \
makepkg -f -d >/dev/null)
}
cat >/tmp/build/slow.install <<'X'
post_install() { test -e /run/calm || { touch /run/reached; sleep 100; }; }
X
make_packages /usr/local/older 1.0 greeting 'package() { files; }'
make_packages /usr/local/pacman 2.0 'greeting words phrase rude lonely polite slow' "
package_greeting() { files; }
package_words() { files; provides=(vocabulary); groups=(talking); }
package_phrase() { files; depends=('words>=1.0'); groups=(talking); }
package_rude() { files; conflicts=(greeting); }
package_lonely() { files; depends=(nosuchthing); }
package_polite() { files; replaces=(manners); conflicts=(manners); provides=(manners=2.0); }
package_slow() { files; install=slow.install; }
"
make_packages /usr/local/older 1.0 manners 'package() { files; }'
repo-add -q /usr/local/pacman/testing.db.tar.gz /usr/local/pacman/*.zst
rm -rf /tmp/build
printf '\n[testing]\nSigLevel = Optional TrustAll\nServer = file:///usr/local/pacman\n' \
>>/etc/pacman.conf
pacman -Sy
echo 'providers: {pkg: pacman}' >/etc/runner/runner.yaml
"""
# a small server that starts in 0.3 s instead of the one whose log alone has 96 MB
MARIADB = r"""
printf '[mysqld]\n%s\n%s\n' innodb_log_file_size=4M performance_schema=OFF \
>/etc/mysql/mariadb.conf.d/zz.cnf
rm -rf /var/lib/mysql; mkdir /var/lib/mysql; chown mysql:mysql /var/lib/mysql
mariadb-install-db --user=mysql --auth-root-authentication-method=socket --skip-test-db >/dev/null
"""

# Podman where the kernel lets nobody limit devices and processes: the image box:1 (busybox), also
# as an archive, and a folder to build another one of; of the Debian after this one the generator of
# quadlets and docker-compose, which this one does not have yet
PODMAN = r"""
mkdir -p /etc/containers /usr/local/images/build /tmp/box/bin /tmp/box/tmp
printf '[storage]\ndriver="vfs"\nrunroot="/run/containers/storage"\n%s\n' \
'graphroot="/var/lib/containers/storage"' >/etc/containers/storage.conf
cat >/etc/containers/containers.conf <<'X'
[engine]
events_logger = "file"
runtime = "crun"
[engine.runtimes]
crun = ["/usr/local/bin/crun-without-devices"]
[containers]
pids_limit = 0
log_driver = "k8s-file"
X
cat >/usr/local/bin/crun-without-devices <<'X'
#!/bin/sh
for word; do
    test -n "$bundle" && sed -i 's/"allow":false/"allow":true/' "$word/config.json" && bundle=
    test "$word" = --bundle -o "$word" = -b && bundle=1
done
exec /usr/bin/crun "$@"
X
chmod 755 /usr/local/bin/crun-without-devices
cp /bin/busybox /tmp/box/bin
for name in sh sleep cat echo env ls true false kill ps test; do ln -s busybox /tmp/box/bin/$name
done
tar -C /tmp/box -cf /tmp/box.tar .
podman import -c 'CMD ["/bin/sleep", "1000"]' -c 'ENV FROM=image' -c 'LABEL by=test' \
/tmp/box.tar box:1
podman save -o /usr/local/images/box.tar box:1
printf 'FROM box:1\nARG word=none\nENV WORD=$word\n' >/usr/local/images/build/Dockerfile
rm -rf /tmp/box /tmp/box.tar
apt-get indextargets --format 'deb $(REPO_URI) trixie main' 'Created-By: Packages' \
'Label: Debian' | head -n1 >/etc/apt/sources.list.d/next.list
apt-get -q update
mkdir /tmp/next; cd /tmp/next
apt-get -q download podman/trixie docker-compose/trixie
for name in *.deb; do dpkg-deb -x $name .; done
cp usr/libexec/docker/cli-plugins/docker-compose /usr/local/bin
mkdir -p /usr/libexec/podman /usr/lib/systemd/user-generators
cp usr/libexec/podman/quadlet /usr/libexec/podman
cp -P usr/lib/systemd/system-generators/* /usr/lib/systemd/system-generators
cp -P usr/lib/systemd/user-generators/* /usr/lib/systemd/user-generators
rm -rf /tmp/next
"""

# the first stage does what a machine without hardware needs, and nobody but the tests has services
RUNIT = r"""
printf '#!/bin/sh\nmkdir -p /run/runit/supervise\ntouch /run/runit.stopit\n' >/etc/runit/1
printf '#!/bin/sh\nexec runsvdir -P /etc/service\n' >/etc/runit/2
rm -f /etc/runit/runsvdir/default/*
"""

# PuppetDB with its database, and Puppetboard, which Debian does not have; with one compiler of Java
# a start takes half the processor time, and may last as long as it likes
PUPPET = r"""
sed -i 's/^JAVA_ARGS=.*/JAVA_ARGS="-Xmx192m -XX:TieredStopAtLevel=1 -XX:+UseSerialGC"/' \
/etc/default/puppetdb
mkdir /etc/systemd/system/puppetdb.service.d
printf '[Service]\nTimeoutStartSec=infinity\n' >/etc/systemd/system/puppetdb.service.d/slow.conf
python3 -m venv /opt/puppetboard
/opt/puppetboard/bin/pip -q install 'puppetboard>=7,<8'
pg_ctlcluster 15 main start
runuser -u postgres -- psql -q -c "CREATE ROLE puppetdb LOGIN PASSWORD 'secret'" \
-c 'CREATE DATABASE puppetdb OWNER puppetdb'
runuser -u postgres -- psql -q -c 'CREATE EXTENSION pg_trgm' puppetdb
pg_ctlcluster 15 main stop
"""

LAYERS = {
    "base": Contents(archive=ARCHIVE),
    # and debhelper, for the packages of runner itself
    "dnf": Contents(
        ("dnf", "dnf-plugins-core", "createrepo-c", "rpm", "file", "gpg", "debhelper"),
        furnish=RPMS + DNF,
    ),
    "zypper": Contents(("zypper", "createrepo-c", "rpm", "file", "gpg"), furnish=RPMS + ZYPPER),
    "pacman": Contents(
        ("pacman-package-manager", "makepkg", "libarchive-tools", "zstd", "gpg", "gpg-agent"),
        furnish=PACMAN,
    ),
    "openrc": Contents(("openrc", "busybox"), furnish="rm -f /etc/runlevels/*/postgresql"),
    "runit": Contents(("runit", "s6"), furnish=RUNIT),
    "firewalls": Contents(("nftables", "ufw", "ipset", "firewalld", "iptables")),
    "networks": Contents(("network-manager", "netplan.io", "iproute2")),
    # and ruby, whose gems need no layer of their own; packet filters, for `runner resource` of all
    "databases": Contents(
        ("mariadb-server", "redis-server", "ruby", "nftables", "ufw", "iptables", "locales"),
        furnish=MARIADB,
    ),
    "containers": Contents(
        ("podman", "containernetworking-plugins", "busybox-static"), furnish=PODMAN
    ),
    "volumes": Contents(
        ("lvm2", "mdadm", "btrfs-progs", "xfsprogs", "dosfstools", "parted", "augeas-tools")
        + ("cryptsetup-bin", "supervisor", "logrotate", "chrony", "apparmor"),
        furnish="systemctl disable supervisor chrony apparmor",
    ),
    "desktop": Contents(
        ("dconf-cli", "dconf-service", "dbus-daemon", "pipx", "fontconfig", "at", "flatpak")
    ),
    "cloud": Contents(("cloud-init",)),
    "editors": Contents(("neovim", "emacs-nox", "elpa-eglot")),
    "puppet": Contents(
        ("puppetdb", "postgresql", "dbconfig-no-thanks", "python3-venv"), furnish=PUPPET
    ),
    # what shows the pages that runner writes, and what judges the alerts
    "browser": Contents(
        ("chromium-headless-shell", "prometheus"), furnish="rm /usr/lib/chromium/libVkLayer*"
    ),
}
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

PATIENCE = 1800  # seconds for all of it, on a busy machine

ENTER = """
set -e
mount -t tmpfs none "$0"; mkdir "$0/upper" "$0/work" "$0/root"
mount -t overlay overlay -o "lowerdir=/,upperdir=$0/upper,workdir=$0/work" "$0/root"
for d in proc sys dev; do mount --rbind /$d "$0/root/$d"; done
mount -t tmpfs none "$0/root/run"
chroot "$0/root" sh -ec "$2"
tar --xattrs --xattrs-include='*' -C "$0/upper" --exclude=./run --exclude=./tmp \
--exclude=./var/log -cf "$1" .
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
for name in {archive}; do apt-get -q -d -o Dir::Cache::archives=$PWD -o Debug::NoLocking=1 \
install $name; done
rm -rf partial lock
for v in 1.0 2.0; do
    mkdir -p /tmp/own/DEBIAN
    printf '%s\\n' 'Package: {own}' "Version: $v" 'Architecture: all' 'Maintainer: me' \
'Description: hello' \\
        >/tmp/own/DEBIAN/control
    dpkg-deb -b /tmp/own . >/dev/null
done
for f in *.deb; do
    dpkg-deb -f $f
    printf 'Filename: ./%s\\nSize: %s\\nSHA256: %s\\n\\n' $f $(stat -c %s $f) \
$(sha256sum <$f | cut -d' ' -f1)
done | gzip >Packages.gz
apt-get clean
{furnish}
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


def script(contents: Contents) -> str:
    """The shell that furnishes a copy of this computer."""
    return MAKE.format(
        installed=" ".join(INSTALLED + contents.installed),
        archive=" ".join(contents.archive),
        furnish=contents.furnish,
        own=OWN,
        masked=MASKED,
    )


def layer(name: str = "base") -> Path:
    """The tar file of one of LAYERS; NoLayer where it cannot be made."""
    if not is_root():
        raise NoLayer("needs root")
    status = Path("/var/lib/dpkg/status")
    if not status.exists():
        raise NoLayer("this is not a Debian")
    folder = Path(os.environ.get("XDG_CACHE_HOME") or "/var/cache", "runner-machine")
    folder.mkdir(parents=True, exist_ok=True)
    furnish = script(LAYERS[name])
    key = hashlib.sha256(status.read_bytes() + (ENTER + furnish).encode()).hexdigest()[:12]
    with open(folder / f"{name}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        tar = folder / f"{name}-{key}.tar"
        if not tar.exists():
            _make(tar, furnish)
            _remove_others(tar, name)
    return tar


def lacking(reason: object) -> None:
    """Skip, and say why; RUNNER_MACHINE=required makes that a failure."""
    if os.environ.get("RUNNER_MACHINE") == "required":
        pytest.fail(f"RUNNER_MACHINE=required, but: {reason}", pytrace=False)
    pytest.skip(f"no throw-away machine: {reason}")


def layer_or_skip(name: str) -> Path:
    """The tar file of one of LAYERS; skips the test where it cannot be made."""
    try:
        return layer(name)
    except NoLayer as reason:
        lacking(reason)
        raise


def _make(tar: Path, furnish: str) -> None:
    unfinished = tar.with_suffix(".unfinished")
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
    unfinished.rename(tar)


def _remove_others(tar: Path, name: str) -> None:
    """Keep this one and the one before."""
    old = sorted(tar.parent.glob(f"{name}-*.tar"), key=lambda path: path.stat().st_mtime)
    for path in old[:-2]:
        path.unlink()
