# SPDX-License-Identifier: Apache-2.0
"""What earlier highstates made on a real machine and no state declares any more."""

from __future__ import annotations

import json
from typing import Any

from debian import Debian

KEY = "AAAAC3NzaC1lZDI1NTE5AAAAIMkV4nX2nZ0yN0Xw6m1b8N2v3mJkq5o4s7c9d1e2f3g4"
TREE = f"""
app: {{group.present: []}}
worker: {{user.present: [gid: app, shell: /bin/sh, password: {{{{ pillar['word'] }}}}]}}
busy: {{user.present: []}}
changed: {{user.present: [shell: /bin/sh]}}
/usr/share/doc/libnfnetlink0: {{file.directory: []}}
packages: {{pkg.installed: [pkgs: [sudo, hello, libnfnetlink0]]}}
backup: {{cron.present: [name: /bin/backup, user: worker, identifier: nightly, hour: 3]}}
old.example.com: {{host.present: [ip: 192.0.2.7]}}
{KEY}: {{ssh_auth.present: [user: worker, enc: ed25519]}}
/etc/systemd/system/old.service:
  file.managed:
    - contents: |
        [Service]
        ExecStart=/bin/sleep infinity
        [Install]
        WantedBy=multi-user.target
old: {{service.running: [enable: true]}}
/usr/share/doc/libnfnetlink0/mine: {{file.managed: [contents: x]}}
Europe/Berlin: {{timezone.system: []}}
"""
TOP = "base: {'*': [all]}"
PILLAR = "--pillar={word: '$6$abc$" + "x" * 86 + "'}"


def _orphans(machine: Debian) -> dict[str, Any]:
    answer: dict[str, Any] = json.loads(machine.runner("orphans", PILLAR, "--out", "json").stdout)[
        "local"
    ]
    return answer


def test_all_that_a_highstate_made_is_listed_and_pruned(debian: Debian) -> None:
    machine = debian
    machine.tree(top=TOP, all=TREE)
    machine.runner("highstate", PILLAR)
    machine.tree(all="x: {test.nop: []}")
    machine.run("apt-get install -y iptables >/dev/null 2>&1; usermod -s /bin/bash changed")
    machine.start("sleep", "1000", user="busy")
    found = _orphans(machine)
    assert [orphan["thing"] for orphan in found["orphans"]] == [
        "/usr/share/doc/libnfnetlink0/mine",
        "service old at the start of the machine",
        "service old",
        "/etc/systemd/system/old.service",
        f"ssh_auth {KEY}, user worker",
        "host old.example.com, ip 192.0.2.7",
        "cron nightly, user worker",
        "pkg hello",
        "user worker",
        "group app",
    ]
    assert {orphan["thing"]: orphan["reason"].partition(":")[0] for orphan in found["left"]} == {
        "/usr/share/doc/libnfnetlink0": "it belongs to the package libnfnetlink0",
        "user changed": "changed since",
        "pkg libnfnetlink0": "other packages need it",
        "user busy": "the user is logged in, or has programs running",
    }
    by_hand = [orphan["thing"] for orphan in found["not_removable"]]
    assert by_hand == ["/etc/timezone", "/etc/localtime"]
    machine.runner("prune", "--test")
    assert machine.read("systemctl", "is-active", "old") == "active"
    machine.runner("prune")
    machine.run(
        "! systemctl cat old && ! id worker && ! getent group app && id busy && id changed"
        " && ! grep -q old.example.com /etc/hosts && ! grep -qr backup /var/spool/cron"
        " && sudo -V >/dev/null && iptables -V && test ! -e /usr/share/doc/libnfnetlink0/mine"
    )
    assert "ok installed" not in machine.run("dpkg -s hello", code=None).stdout
    assert _orphans(machine)["orphans"] == []
    kept = "strings -a /var/lib/runner/history.sqlite* 2>/dev/null || cat /var/lib/runner/history*"
    assert "6$abc$" not in machine.run(kept).stdout
    machine.runner("undo", code=None)  # what it cannot restore is its own matter
    machine.run("id worker && dpkg -s hello && systemctl is-active old")
    assert {"user worker", "pkg hello", "service old"} <= {
        orphan["thing"] for orphan in _orphans(machine)["orphans"]
    }
