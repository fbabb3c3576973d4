"""`runner resource` on a machine with systemd, cron and mounts: applying what it prints plans
nothing.
"""

from __future__ import annotations

import pytest
from debian import Debian

PREPARE = """
useradd -m -c 'Ann Example,12' -G adm -e 2031-01-31 ann
groupadd -f nobodies
printf '1 2 * * * by hand\\n' | crontab -u ann -
mkdir -p /srv/mounted '/srv/not mounted'
mount -t tmpfs -o size=64k,noexec tmpfs /srv/mounted
printf 'tmpfs /srv/mounted tmpfs size=64k,noexec 0 0\\n' >>/etc/fstab
printf 'tmpfs /srv/not\\\\040mounted tmpfs noauto 0 0\\n' >>/etc/fstab
printf '10.0.0.5 db.example.com db # the database\\n' >>/etc/hosts
printf 'net.ipv4.ip_default_ttl = 64\\n' >/etc/sysctl.d/10-ours.conf
cd /etc/systemd/system
printf '[Service]\\nExecStart=/bin/sleep infinity\\n' >ours.service
printf '[Install]\\nWantedBy=multi-user.target\\n' >>ours.service
systemctl daemon-reload
systemctl enable --now ours.service
apt-mark hold sed
"""
MANAGED = """
MAILTO:
  cron.env_present: [{user: ann}, {value: root}]
backup:
  cron.present:
    [{user: ann}, {minute: 5}, {hour: '*/2'}, {identifier: nightly}, {comment: runs at night}]
'@daily job':
  cron.present: [{name: job}, {user: ann}, {special: '@daily'}]
"""


@pytest.fixture(scope="module")
def prepared(debian: Debian) -> Debian:
    debian.run("sh", "-euc", PREPARE)
    debian.tree(managed=MANAGED)
    debian.results("sls", "managed")
    return debian


@pytest.mark.parametrize(
    ("state", "parts"),
    [
        (
            "user",
            [
                "ann:\n  user.present:",
                "- groups:\n        - adm",
                "- fullname: Ann Example",
                "- expire: 22310",
            ],
        ),
        ("group", ["nobodies:\n  group.present:", "members:\n        - ann"]),
        ("pkg", ["- hold: true", "sed:\n  pkg.installed:\n    - version: "]),
        ("service", ["ours:\n  service.running:\n    - enable: true"]),
        (
            "cron",
            [
                "MAILTO:",
                "- identifier: nightly",
                "hour: '*/2'",
                "- special: '@daily'",
                "are not managed: 1 2 * * * by hand",
            ],
        ),
        (
            "mount",
            ["/srv/mounted:\n  mount.mounted:", "fs_file: /srv/not mounted", "- persist: false"],
        ),
        ("host", ["db.example.com:\n  host.present:\n    - ip:\n        - 10.0.0.5"]),
        ("sysctl", ["- config: /etc/sysctl.d/10-ours.conf"]),
    ],
)
def test_applying_what_is_there_plans_nothing(
    prepared: Debian, state: str, parts: list[str]
) -> None:
    sls = prepared.runner("resource", state).stdout
    for part in parts:
        assert part in sls
    assert "$y$" not in sls
    prepared.tree(**{f"what_{state}": sls})
    found = prepared.results("sls", f"what_{state}", "--test")
    assert [each for each in found.values() if each["changes"] or each["result"] is not True] == []
    assert len(found) >= 1
