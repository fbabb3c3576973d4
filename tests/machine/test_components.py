# SPDX-License-Identifier: Apache-2.0
"""One tree on the real thing: useradd, cron, sshd, mount, sysctl, systemd's settings and git say
what came of it.
"""

from __future__ import annotations

import time

from debian import Debian
from starting import wait_until

TREE = """
zoo:
  group.present:
    - gid: 4800
zoe:
  user.present:
    - uid: 4801
    - gid: zoo
    - shell: /bin/sh
    - fullname: Zoe Z
    - password: {{ salt['file.read']('/srv/hash').strip() | json }}
    - groups: [users]
    - optional_groups: [no-such-group]
/home/zoe/.profile:
  file.managed:
    - contents: export GREETING=hi
    - user: zoe
    - group: zoo
every minute:
  cron.present:
    - name: id -un >/home/zoe/ran; date +\\%Y >>/home/zoe/ran
    - user: zoe
    - identifier: mark
MAILTO:
  cron.env_present:
    - value: ''
    - user: zoe
{{ salt['file.read']('/srv/key.pub').strip() }}:
  ssh_auth.present:
    - user: zoe
localhost:
  ssh_known_hosts.present:
    - enc: ed25519
    - hash_known_hosts: False
    - user: root
/srv/ram:
  mount.mounted:
    - device: tmpfs
    - fstype: tmpfs
    - opts: [nosuid, size=4m]
    - mkmnt: True
/srv/bound:
  mount.mounted:
    - device: /srv/ram
    - fstype: none
    - opts: bind
    - mkmnt: True
    - persist: False
    - require:
      - mount: /srv/ram
net.ipv4.ip_forward:
  sysctl.present:
    - value: 1
    - config: /etc/sysctl.d/90-router.conf
Europe/Paris:
  timezone.system: []
C.UTF-8:
  locale.system: []
10.1.2.3:
  host.only:
    - hostnames: [printer, printer.example.org]
git clone:
  git.latest:
    - name: file:///srv/origin.git
    - target: /home/zoe/clone
    - user: zoe
"""
COMMIT = (
    "git -C /srv/work -c user.name=me -c user.email=me@x commit -q --allow-empty -m {0}; git -C"
    " /srv/work push -q"
)
PREPARE = f"""
openssl passwd -6 secret >/srv/hash
ssh-keygen -q -t ed25519 -N '' -f /srv/key -C me
git init -q --bare -b main /srv/origin.git
git clone -q /srv/origin.git /srv/work 2>/dev/null
{COMMIT.format("one")}
git config --system --add safe.directory '*'
"""
WATCHED = (
    "cat /etc/passwd /etc/group /etc/shadow /etc/fstab /etc/hosts /proc/mounts"
    " /proc/sys/net/ipv4/ip_forward; date +%Z"
)
FOLDERS = "/home /srv /etc/cron* /var/spool/cron /etc/sysctl.d /etc/default /etc/locale.conf /root"
FOUND = f"ls -lR --full-time {FOLDERS} 2>&1 || true"


def test_everything_changes_once_and_the_dry_run_knew(debian: Debian) -> None:
    """And what the run made is of use: a step after the other."""
    debian.run(PREPARE)
    debian.tree(all=TREE)
    before = debian.read(f"{WATCHED}; {FOUND}")
    dry = debian.results("sls", "all", "--test")
    assert debian.read(f"{WATCHED}; {FOUND}") == before, "a dry run touches nothing"
    assert not {id_: each["comment"] for id_, each in dry.items() if each["result"] is not None}
    real = debian.results("sls", "all")
    assert all(each["result"] is True and each["changes"] for each in real.values()), real
    again = debian.results("sls", "all")
    assert all(each["result"] is True and not each["changes"] for each in again.values()), again
    the_user_is_one(debian)
    sshd_lets_the_key_in(debian)
    git_goes_on(debian)
    it_is_mounted(debian)
    the_system_is_set(debian)
    cron_runs_the_entry_within_its_minute(debian)


test_everything_changes_once_and_the_dry_run_knew.waits = True  # type: ignore[attr-defined]


def the_user_is_one(debian: Debian) -> None:
    assert debian.read("id zoe") == "uid=4801(zoe) gid=4800(zoo) groups=4800(zoo),100(users)"
    assert (
        debian.read("su -l zoe -c 'echo $GREETING; pwd; stat -c %U:%G .'")
        == "hi\n/home/zoe\nzoe:zoo"
    )
    check = (
        "import crypt,spwd; h = spwd.getspnam('zoe').sp_pwdp; print(crypt.crypt('secret', h) == h)"
    )
    assert debian.read("/usr/bin/python3", "-W", "ignore", "-c", check) == "True"


def sshd_lets_the_key_in(debian: Debian) -> None:
    answer = debian.read(
        "ssh -i /srv/key -o BatchMode=yes -o StrictHostKeyChecking=yes zoe@localhost 'id -un; pwd'"
    )
    assert answer == "zoe\n/home/zoe"
    # a report goes the same way
    debian.write("/srv/report.yaml", "report: {to: 'ssh://zoe@localhost/~/in', key_file: key}\n")
    debian.run("su -l zoe -c 'mkdir -m 2770 in'")
    words = ("single", "test.nop", "name=x", "--config", "/srv/report.yaml")
    assert "waits" not in debian.runner(*words).stderr
    debian.run("mv /home/zoe/in /home/zoe/away")
    assert "1 report waits" in debian.runner(*words).stderr
    debian.run("mv /home/zoe/away /home/zoe/in")
    debian.runner("report", "send", "--config", "/srv/report.yaml")
    assert debian.read("cd /home/zoe/in; stat -c '%a %U' $(ls -A)") == "640 zoe\n640 zoe"
    assert debian.read("cd /home/zoe/in; grep -l test_.-x_.-x_.-nop * | wc -l") == "2"


def it_is_mounted(debian: Debian) -> None:
    assert debian.read("findmnt -no FSTYPE,OPTIONS /srv/ram").split()[0] == "tmpfs"
    assert "nosuid" in debian.read("findmnt -no OPTIONS /srv/ram")
    debian.run("echo x >/srv/ram/file")
    assert debian.read("cat /srv/bound/file") == "x"
    fstab = debian.read("cat /etc/fstab")
    assert "/srv/ram" in fstab
    assert "/srv/bound" not in fstab
    debian.run(
        "umount /srv/bound; umount /srv/ram; mount /srv/ram; umount /srv/ram; mount /srv/ram"
    )
    pid = debian.start("sleep", "1000", cwd="/srv/ram")
    (busy,) = debian.results(
        "single", "mount.unmounted", "/srv/ram", "persist=True", code=2
    ).values()
    assert busy["comment"].endswith(f"busy.\nprocess {pid} (sleep) uses /srv/ram")
    assert "/srv/ram" in debian.read("cat /etc/fstab"), "what is still mounted stays in fstab"
    debian.run(f"kill {pid}")
    debian.ended(pid)
    debian.results("single", "mount.unmounted", "/srv/ram", "persist=True")
    assert "/srv/ram" not in debian.read("cat /etc/fstab /proc/mounts")


def the_system_is_set(debian: Debian) -> None:
    assert debian.read("cat /proc/sys/net/ipv4/ip_forward") == "1"
    debian.run("echo 0 >/proc/sys/net/ipv4/ip_forward; sysctl -q --system 2>/dev/null || true")
    assert debian.read("cat /proc/sys/net/ipv4/ip_forward") == "1", "also after the next start"
    assert "Time zone: Europe/Paris" in debian.read("timedatectl")
    assert "LANG=C.UTF-8" in debian.read("localectl")
    assert debian.read("getent hosts printer").split() == [
        "10.1.2.3",
        "printer",
        "printer.example.org",
    ]


def git_goes_on(debian: Debian) -> None:
    log = "git -C /home/zoe/clone log --format=%s; stat -c %U /home/zoe/clone/.git/HEAD"
    assert debian.read(log) == "one\nzoe"
    debian.run(COMMIT.format("two"))
    result = debian.results("sls", "all")["git clone"]
    assert set(result["changes"]) == {"revision"}
    assert debian.read(log) == "two\none\nzoe"


def test_a_logged_in_user_stays_unless_forced(debian: Debian) -> None:
    debian.run("useradd -m abe")
    pid = debian.start("sleep", "1000", user="abe")
    (refused,) = debian.results("single", "user.absent", "abe", code=2).values()
    assert (refused["result"], refused["changes"]) == (False, {})
    assert "user abe is currently used by process" in refused["comment"]
    assert refused["comment"].endswith("(let it end, or say `force: True`)")
    assert debian.read("getent passwd abe")
    (removed,) = debian.results("single", "user.absent", "abe", "force=True", "purge=True").values()
    assert removed["changes"]["abe"] == "removed"
    assert "warnings" not in removed
    debian.run(f"kill {pid}; test ! -e /home/abe")
    debian.run("useradd -m abe; mkdir /home/abe/in; mount -t tmpfs x /home/abe/in")
    (removed,) = debian.results("single", "user.absent", "abe", "purge=True").values()
    assert "/home/abe is still there" in str(removed["warnings"])


def cron_runs_the_entry_within_its_minute(debian: Debian) -> None:
    told = debian.path("/home/zoe/ran")
    wait_until(lambda: told.exists() and len(told.read_text().split()) > 1, "the minute of cron")
    assert told.read_text().split() == ["zoe", time.strftime("%Y")]
