# SPDX-License-Identifier: Apache-2.0
"""A system that does not run: a chroot on a machine that does, whose kernel, services and /run it
sees. What is kept there is changed; the machine beside it is left alone.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from debian import RUNNER, Debian

UNIT = "[Service]\nExecStart=/bin/sleep 99\n[Install]\nWantedBy=multi-user.target\n"
TREE = """
/etc/tick.conf:
  file.managed:
    - contents: x
/usr/lib/systemd/system/tick.service:
  file.managed:
    - contents: |
        [Service]
        ExecStart=/bin/sleep 99
        [Install]
        WantedBy=multi-user.target
tick:
  service.running:
    - enable: True
    - watch:
      - file: /etc/tick.conf
cron:
  service.dead:
    - enable: False
net.ipv4.conf.lo.forwarding:
  sysctl.present:
    - value: 1
br_netfilter:
  kmod.present:
    - persist: True
/data:
  mount.mounted:
    - device: tmpfs
    - fstype: tmpfs
    - mkmnt: True
name:
  network.system:
    - hostname: image.example
    - apply_hostname: True
"""
IMAGE = """mkdir -p /image /tmp/upper /tmp/work
mount -t overlay image -o lowerdir=/,upperdir=/tmp/upper,workdir=/tmp/work /image
awk '$2 != "/" && $2 !~ "^/image" { print $2 }' /proc/mounts | while read -r folder; do
    mount --bind "$folder" "/image$folder"
done
"""
PARAMETER = "net.ipv4.conf.lo.forwarding"
POLICY = "/usr/sbin/policy-rc.d"


@pytest.fixture
def image(debian: Debian) -> Debian:
    """A machine with another one's root, made of the same files, below /image."""
    debian.run(IMAGE)
    return debian


def inside(machine: Debian, *words: str) -> dict[str, Any]:
    """What runner says in the chroot, by ID."""
    done = machine.run("chroot", "/image", RUNNER, *words, "--out", "json")
    return {each["__id__"]: each for each in json.loads(done.stdout)["local"].values()}


def write_tree(machine: Debian, text: str) -> None:
    machine.write("/image/srv/runner/states/image.sls", text)


def test_what_is_kept_is_changed_and_nothing_else(image: Debian) -> None:
    kernel = f"sysctl -n {PARAMETER}; uname -n; cat /proc/mounts"
    services = "systemctl list-units --state=active --plain --no-legend --type=service"
    kept = "find /etc /usr/lib/systemd -newer /etc/tick.list | sort"
    image.write("/etc/tick.list", "")
    before = image.read(kernel), image.read(services), image.read(kept)
    write_tree(image, TREE)
    foreseen, done, again = (inside(image, "sls", "image", *more) for more in (["--test"], [], []))
    assert (image.read(kernel), image.read(services), image.read(kept)) == before
    assert all(each["result"] for each in done.values()), done
    assert {key: each["changes"] for key, each in foreseen.items()} == {
        key: each["changes"] for key, each in done.items()
    }
    assert not [each for each in again.values() if each["changes"]]
    told = {"tick": "Service tick starts at boot", "cron": "Service cron does not start at boot"}
    assert {key: foreseen[key]["comment"] for key in told} == told
    assert {key: done[key]["comment"] for key in told} == told
    left = ("tick", PARAMETER, "br_netfilter", "/data", "name")  # nothing of what does not start
    for each in (foreseen, done, again):
        assert {key for key, one in each.items() if "at_boot" in one} == set(left)
    assert f"{PARAMETER} = 1" in image.read("cat /image/etc/sysctl.d/99-salt.conf")
    assert image.read("cat /image/etc/modules-load.d/salt_managed.conf") == "br_netfilter"
    assert "/data" in image.read("cat /image/etc/fstab")
    assert image.read("cat /image/etc/hostname") == "image.example"
    assert image.read("systemctl --root=/image is-enabled tick") == "enabled"


def test_nobody_owes_a_reaction(image: Debian) -> None:
    write_tree(image, TREE)
    inside(image, "sls", "image")
    image.run("echo y >/image/etc/tick.conf")
    changed = inside(image, "sls", "image")
    assert changed["/etc/tick.conf"]["changes"] and not changed["tick"]["changes"]
    assert changed["tick"]["at_boot"] == "Service tick starts at boot"
    assert changed["tick"]["comment"] == "Service tick starts at boot"
    image.run("echo y >/image/etc/tick.conf")
    inside(image, "sls", "image", "--only", "/etc/tick.conf")
    told = image.read("chroot", "/image", RUNNER, "show", "pending", "--out", "json")
    assert not json.loads(told)["local"], told


DAEMON = """mkdir -p /drop/DEBIAN /drop/etc/init.d; cd /drop || exit
printf '%s\\n' 'Package: drop' 'Version: 1' 'Architecture: all' 'Maintainer: x' \\
    'Description: x' >DEBIAN/control
printf '%s\\n' '#!/bin/sh' 'test -e /usr/sbin/policy-rc.d && touch /run/asked' \\
    'until test -e /run/go; do :; done; invoke-rc.d drop start || true' >DEBIAN/postinst
printf '#!/bin/sh\\ntouch /run/started\\n' >etc/init.d/drop
chmod 755 DEBIAN/postinst etc/init.d/drop; dpkg-deb -b /drop /image/drop.deb
"""
INSTALL = ("single", "pkg.installed", "name=drop", "sources=[{drop: /drop.deb}]")


@pytest.mark.parametrize("owned", [False, True], ids=["none", "of-the-owner"])
def test_packages_start_nothing(image: Debian, owned: bool) -> None:
    image.run(f"{DAEMON}touch /run/go")
    if owned:
        image.write(f"/image{POLICY}", "#!/bin/sh\nexit 101\n", 0o755)
    assert [each["result"] for each in inside(image, *INSTALL).values()] == [True]
    assert image.read("chroot /image dpkg-query -W -f '${db:Status-Abbrev}' drop").strip() == "ii"
    image.run("test -e /run/asked -a ! -e /run/started")
    assert image.run(f"test -e /image{POLICY}", code=None).returncode == int(not owned)


def test_a_killed_run_leaves_no_policy(image: Debian) -> None:
    image.run(DAEMON)
    pid = image.start("chroot", "/image", RUNNER, *INSTALL)
    image.until("test -e /run/asked")
    image.run(f"kill -9 {pid}; touch /run/go")
    image.until(f"! test -e /image{POLICY}")
    image.run("test ! -e /run/started")


def test_processes_of_the_machine_around_are_left_alone(image: Debian) -> None:
    around = image.start("sleep", "98701")
    image.start("chroot", "/image", "sleep", "98702")
    absent = ("single", "process.absent", "name=sleep 9870")
    for more in (["--test"], []):
        (result,) = inside(image, *absent, *more).values()
        assert len(result["changes"]["killed"]) == 1
    assert image.read("pgrep -x sleep") == str(around)
    refused = image.run(f"chroot /image {RUNNER} call ps.kill_pid {around}", code=None)
    assert "is none of this system" in refused.stderr + refused.stdout
    image.run(f"kill {around}")


def test_the_setting_decides(image: Debian) -> None:
    image.write("/etc/systemd/system/tick.service", UNIT)
    image.write("/etc/runner/runner.yaml", "offline: true\n")
    said = image.results("single", "service.running", "name=tick", "enable=true")
    assert [each["comment"] for each in said.values()] == ["Service tick starts at boot"]
    image.write("/etc/runner/runner.yaml", "offline: false\n")
    image.runner("single", "service.running", "name=tick")
    assert image.read("systemctl is-active tick") == "active"


STAGE = """mkdir -p /stage/runner /stage/tree; cd /srv/tree || exit
tar -xf runner.tar -C /stage/runner; cp -r runner.yaml states pillar /stage/tree
mkdir -p /image/mnt; mount --bind /stage /image/mnt
mount -o remount,bind,ro /image/mnt
"""


def test_the_steps_of_a_containerfile_make_what_the_tree_says(image: Debian) -> None:
    """By hand, since programs that build containers do not run everywhere: the command of its last
    stage, with what is mounted for it read-only, by the Python that there is.
    """
    image.runner("init", "--containerfile", "/srv/tree")
    image.run("sed -i s:/tmp/runner-motd:/etc/motd: /srv/tree/pillar/motd.sls")
    image.runner("bundle", "/srv/tree/runner.tar")
    steps = image.read("cat /srv/tree/Containerfile").replace("\\\n", " ").splitlines()
    assert [step for step in steps if step.startswith(("ADD", "COPY"))] == [
        "ADD runner.tar /runner/",
        "COPY runner.yaml /tree/",
        "COPY states /tree/states",
        "COPY pillar /tree/pillar",
    ]
    mounted, command = "RUN --mount=type=bind,from=build,target=/mnt ", steps[-1]
    assert command.startswith(mounted)
    image.run(STAGE)
    image.write("/build.sh", command.removeprefix(mounted))
    done = image.run("ID=image SOURCE_DATE_EPOCH=1700000000 chroot /image /bin/sh -eu </build.sh")
    assert "2 changed" in done.stdout
    assert image.read("stat -c %Y /image/etc/motd").strip() == "1700000000"
    image.run("test ! -e /image/var/lib/runner -a ! -e /image/var/cache/runner")


FIREWALLS = """
blocked:
  ipset.set_present: [set_type: "hash:net"]
net:
  ipset.present: [set_name: blocked, entry: 192.0.2.0/24]
scans:
  iptables.insert: [chain: INPUT, match-set: blocked src, jump: DROP]
none:
  iptables.set_policy: [chain: INPUT, policy: DROP, family: ipv6]
site:
  nftables.table_present: [family: inet]
input:
  nftables.chain_present: [table: site, family: inet, table_type: filter, hook: input, priority: 0]
let in:
  nftables.append: [table: site, chain: input, family: inet, proto: tcp, dport: 22, jump: ACCEPT]
22/tcp:
  ufw.allow: []
firewall:
  ufw.enabled: []
80/tcp:
  ufw.allow: []
exporter:
  firewalld.service: [ports: [9100/tcp]]
public:
  firewalld.present: [services: [ssh, exporter], prune_services: True]
"""
HOOKS = "usr/sbin/sysctl usr/sbin/modprobe etc/ufw/before.init etc/ufw/after.init"
TOUCHED = "test ${0##*/} = true || touch /etc/touched\n"
KEPT = {
    "iptables/ipsets": "add blocked 192.0.2.0/24",
    "iptables/rules.v4": "-A INPUT -m set --match-set blocked src -j DROP",
    "iptables/rules.v6": ":INPUT DROP [0:0]",
    "nftables.conf": "\t\ttcp dport 22 accept",
    "ufw/user.rules": "-A ufw-user-input -p tcp --dport 80 -j ACCEPT",
    "ufw/ufw.conf": "ENABLED=yes",
    "firewalld/zones/public.xml": '  <service name="exporter"/>',
}


@pytest.mark.parametrize("layer", ["firewalls"], indirect=True)
def test_firewalls_are_written_for_the_boot(image: Debian) -> None:
    """Of an image, and none of it is in force on the machine around it."""
    kernel = "iptables-save; ip6tables-save; nft -s list ruleset; ipset save"
    image.run("systemctl stop firewalld ufw nftables; nft flush ruleset")
    before = image.read(kernel)
    image.tree(wall=FIREWALLS)
    # /bin/true does what it is called, as that of busybox does
    for path in [*HOOKS.split(), "usr/bin/true"]:
        image.run(f"rm -f /image/{path}")
        image.write(f"/image/{path}", f"#!/bin/sh\n{TOUCHED}", 0o755)
    image.run("sed -i 's/^IPT_MODULES=.*/IPT_MODULES=nf_nat_ftp/' /image/etc/default/ufw")
    dry = image.results("sls", "wall", "--root", "/image", "--test")
    assert {each["result"] for each in dry.values()} == {None}
    made = image.results("sls", "wall", "--root", "/image")
    assert {each["result"] for each in made.values()} == {True}
    assert made["firewall"]["at_boot"] == "The firewall (ufw) is on at boot"
    for path, line in KEPT.items():
        assert line in image.read(f"cat /image/etc/{path}").splitlines(), path
    again = image.results("sls", "wall", "--root", "/image")
    assert not [each["changes"] for each in again.values() if each["changes"]]
    assert image.read(kernel) == before
    image.run("test ! -e /image/etc/touched")


JOB = "cron.present", "name=/bin/true", "user=root"


def test_what_crontab_says_of_the_time_is_no_younger(image: Debian) -> None:
    image.run(f"SOURCE_DATE_EPOCH=1700000000 chroot /image {RUNNER} single {' '.join(JOB)} --image")
    table = image.read("cat /image/var/spool/cron/crontabs/root")
    assert "installed on Tue Nov 14 22:13:20 2023)" in table.splitlines()[1]
    assert image.read("chroot /image crontab -l").endswith("* * * * * /bin/true")


def test_root_that_may_not_trace_knows_a_chroot(image: Debian) -> None:
    """As in some builds of containers: /proc/1/root cannot be looked at there."""
    ask = "setpriv --bounding-set=-sys_ptrace %s runner call grains.get booted"
    assert image.read(ask % "chroot /image") == "false"
    assert image.read(ask % "env") == "true"


SERVER = """
/usr/lib/postgresql/99/bin/postgres:
  file.managed: [contents: x, makedirs: true]
ann:
  postgres_user.present: []
ben:
  postgres_user.absent: []
"""


def test_a_server_that_nothing_starts_is_not_there(image: Debian) -> None:
    """On a machine that runs a dry run foresees what becomes of an empty one."""
    image.run("rm -rf /var/lib/postgresql; mv /usr/lib/postgresql /usr/lib/none || true")
    write_tree(image, SERVER)
    image.tree(image=SERVER)
    there = image.results("sls", "image", "--test", code=None)
    assert (there["ann"]["result"], there["ben"]["result"]) == (None, True)
    for more in (["--test"], []):
        done = image.run("chroot", "/image", RUNNER, "sls", "image", *more, code=2)
        assert done.stdout.count("failed  postgres_user.") == 2
