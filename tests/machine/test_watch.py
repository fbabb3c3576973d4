# SPDX-License-Identifier: Apache-2.0
"""`runner watch` on a real system: units, packages, accounts and mounts tell of their changes."""

from __future__ import annotations

import json

import pytest
from debian import Debian

TREE = """
cron:
  service.running:
    - enable: True
watched:
  user.present:
    - shell: /bin/sh
/mnt:
  mount.mounted:
    - device: tmpfs
    - fstype: tmpfs
    - persist: False
unwanted:
  pkg.removed: []
own:
  service.running: []
net.ipv4.ip_forward:
  sysctl.present: [{value: 0}]
/srv/over/file:
  file.managed: [{makedirs: True, contents: right}]
/root/addresses:
  file.managed:
    - source: salt://addresses
    - template: jinja
"""
OWN = "[Service]\nExecStart=/bin/sleep infinity\n"
ADDRESSES = "{{ salt['network.interfaces']().lo.inet | map(attribute='address') | join }}"
CONTROL = (
    "Package: unwanted\nVersion: 1\nArchitecture: all\nMaintainer: a <a@b.c>\nDescription: d\n"
)
BUILT = "dpkg-deb --build --root-owner-group /root/unwanted /root/unwanted.deb"


@pytest.fixture
def watched(debian: Debian) -> Debian:
    """A machine that is as its tree says, on which somebody watches."""
    debian.tree(top="base: {'*': [all]}\n", all=TREE)
    debian.write("/srv/runner/states/addresses", ADDRESSES)
    debian.write("/etc/systemd/system/own.service", OWN)
    debian.write("/root/unwanted/DEBIAN/control", CONTROL)
    debian.run(BUILT)
    debian.runner("highstate")
    ready = "test -e /var/lib/runner/watch.json"
    debian.start("runner watch --every 1d", ready=ready, output="/root/watched")
    return debian


@pytest.mark.parametrize(
    ("change", "back", "state", "by"),
    [
        ("systemctl stop cron", "systemctl start cron", "service: cron", "units"),
        ("systemctl disable cron", "systemctl enable cron", "service: cron", "units"),
        ("usermod -s /bin/bash watched", "usermod -s /bin/sh watched", "user: watched", "accounts"),
        ("userdel watched", "useradd -m -s /bin/sh watched", "user: watched", "accounts"),
        ("umount /mnt", "mount -t tmpfs tmpfs /mnt", "mount: /mnt", "mounts"),
        (
            "kill -9 $(systemctl show -P MainPID own)",
            "systemctl start own",
            "service: own",
            "units",
        ),
        (
            "ip address add 10.9.9.9/32 dev lo",
            "ip address del 10.9.9.9/32 dev lo",
            "file: /root/addresses",
            "network",
        ),
        (
            "sysctl -w net.ipv4.ip_forward=1",
            "sysctl -w net.ipv4.ip_forward=0",
            "sysctl: net.ipv4.ip_forward",
            "timer",
        ),
        ("mount -t tmpfs tmpfs /srv/over", "umount /srv/over", "file: /srv/over/file", "paths"),
        ("dpkg -i /root/unwanted.deb", "dpkg -r unwanted", "pkg: unwanted", "packages"),
    ],
)
def test_what_is_changed_is_seen(
    watched: Debian, change: str, back: str, state: str, by: str
) -> None:
    listed = json.loads(watched.runner("watch", "--list", "--out", "json").stdout)["local"]
    assert by in next(each["by"] for each in listed if each["state"] == state)
    watched.run(change)
    watched.until(f"runner watch status | grep -q 'would change: {state}'")
    watched.run(back)
    watched.until(f"! runner watch status | grep -q '{state}'")


def test_what_changes_during_the_first_look_is_seen(debian: Debian) -> None:
    meanwhile = "ip address add 10.9.9.8/32 dev lo 2>/dev/null; true"
    tree = {
        "/root/addresses": {"file.managed": [{"source": "salt://addresses", "template": "jinja"}]},
        "meanwhile": {"cmd.run": [{"name": "false", "unless": meanwhile}]},
    }
    debian.tree(all=json.dumps(tree))
    debian.write("/srv/runner/states/addresses", ADDRESSES)
    debian.run("runner sls all; ip address del 10.9.9.8/32 dev lo")
    debian.start("runner watch all --every 1d", ready="test -e /var/lib/runner/watch.json")
    debian.until("runner watch status | grep -q 'would change: file: /root/addresses'")


@pytest.mark.parametrize("init", ["none"])
def test_what_changes_below_an_overlay_is_polled(debian: Debian) -> None:
    folders = "lowerdir=/srv/a/low,upperdir=/srv/a/up,workdir=/srv/a/work"
    debian.run(f"""
        mkdir /srv/a /srv/seen && mount -t tmpfs tmpfs /srv/a && cd /srv/a && mkdir low up work
        echo right > low/conf && mount -t overlay overlay -o {folders} /srv/seen
    """)
    debian.tree(all="/srv/seen/conf:\n  file.managed: [{contents: right}]\n")
    assert debian.runner("watch", "all", "--list").stdout.split()[-2:] == ["paths,", "polled"]
    words = "runner watch all --every 1d"
    debian.start(words, ready="test -e /var/lib/runner/watch.json", output="/root/watched")
    debian.run("echo wrong > /srv/a/low/conf")
    debian.until("runner watch status | grep -q 'would change: file: /srv/seen/conf'")


def test_a_service_watches(debian: Debian) -> None:
    debian.tree(
        top="base: {'*': [all]}\n", all="/root/kept:\n  file.managed: [{contents: right}]\n"
    )
    debian.write("/etc/runner/runner.yaml", "file_roots: {base: [/srv/runner/states]}\n")
    install = ("schedule", "install", "--watch", "drift", "--every", "2h", "--wait=-1")
    debian.runner(*install)
    assert debian.runner(*install, "-q").stdout == ""
    assert debian.read("systemctl is-enabled runner-watch; systemctl is-active runner-watch") == (
        "enabled\nactive"
    )
    verified = debian.run("systemd-analyze verify /etc/systemd/system/runner-watch.service")
    assert verified.stdout + verified.stderr == ""
    told = debian.read("systemctl show -P WatchdogUSec -P Type -P NRestarts runner-watch").split()
    assert sorted(told) == ["0", "6h", "notify"]
    debian.until("grep -q right /root/kept")
    debian.run("echo wrong > /root/kept")
    debian.until("grep -q right /root/kept")
    shown = json.loads(debian.runner("schedule", "status", "--out", "json").stdout)["local"]
    assert shown["watch"].endswith("watch --act drift --every 2h")
    assert shown["last"]["command"].startswith("runner watch: /root/kept")
    assert "watch:     " in debian.runner("schedule", "status").stdout
    debian.run("systemctl kill -s KILL --kill-whom=main runner-watch")  # systemd starts it again
    debian.until("test $(systemctl show -P NRestarts runner-watch) = 1")
    debian.until("systemctl is-active runner-watch")
    debian.runner("schedule", "remove", "--wait=-1")
    assert debian.read("systemctl is-active runner-watch || true") == "inactive"
    assert not debian.path("/etc/systemd/system/runner-watch.service").exists()
