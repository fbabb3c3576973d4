# SPDX-License-Identifier: Apache-2.0
"""Saved plans on a real machine: packages, users, groups and services that changed since a plan was
made are refused by name; and plans of other users.
"""

from __future__ import annotations

import json
from typing import Any

from debian import Debian

UNIT = "[Service]\nExecStart=/bin/sleep 1000\n[Install]\nWantedBy=multi-user.target\n"
TREE: dict[str, Any] = {
    "greeting": {"pkg.latest": []},
    "hello": {"pkg.installed": []},
    "zoe": {"user.present": [{"shell": "/bin/sh"}, {"password": "$6$salt$" + "x" * 86}]},
    "team": {"group.present": [{"addusers": ["zoe"]}, {"require": [{"user": "zoe"}]}]},
    "nap": {"service.running": [{"enable": True}]},
    "/etc/nap.conf": {"file.managed": [{"contents": "new"}, {"user": "zoe"}]},
}


def test_a_plan_of_a_machine_holds_until_somebody_changes_it(debian: Debian) -> None:
    debian.run("apt-get install -qq greeting=1.0; useradd -s /bin/bash zoe; groupadd team")
    debian.write("/etc/systemd/system/nap.service", UNIT)
    debian.run("systemctl daemon-reload")
    debian.tree(all=json.dumps(TREE))
    debian.runner("sls", "all", "--test", "--plan", "/root/p")
    assert "x" * 86 not in debian.read("cat /root/p")
    debian.runner("apply", "/root/p", "--test")

    debian.run("apt-get install -qq greeting=2.0; usermod -s /bin/dash zoe; systemctl start nap")
    said = debian.runner("apply", "/root/p", code=1).stderr
    assert "pkg.latest greeting: would change: greeting when the plan was made, now:" in said
    assert "user zoe: shell was /bin/bash, is /bin/dash" in said
    assert "service nap: running was False, is True" in said
    assert "hello" not in said
    assert debian.run("command -v hello", code=None).returncode

    debian.run("apt-get install -qq --allow-downgrades greeting=1.0; usermod -s /bin/bash zoe")
    debian.run("systemctl stop nap")
    # of another user: neither a file that is theirs, nor one of theirs that root copied
    debian.run("install -o zoe -m 600 /root/p /tmp/theirs")
    debian.run('sed \'s/"comment": "/&x/\' /root/p > /root/q; chmod 600 /root/q')
    assert "belongs to user" in debian.runner("apply", "/tmp/theirs", code=1).stderr
    assert "altered since" in debian.runner("apply", "/root/q", code=1).stderr

    applied = debian.runner("apply", "/root/p")
    assert "6 states: 6 changed" in applied.stdout
    assert debian.read("systemctl is-active nap") == "active"
    assert debian.read("dpkg-query -W -f '${Version}' greeting") == "2.0"
    assert applied.stderr == "", "nothing was done otherwise than planned"
