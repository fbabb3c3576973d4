# SPDX-License-Identifier: Apache-2.0
"""Machines for `runner fleet`: users of one throw-away machine, each with an address at which sshd
lets them in by key. Their homes are all that their runner writes to.
"""

from __future__ import annotations

import json

from debian import Debian

FOLDER = "/root/fleet"
PREPARE = r"""
set -e
mkdir -p /run/sshd @FOLDER@/states @FOLDER@/pillar
cd @FOLDER@
ssh-keygen -A >/dev/null
ssh-keygen -q -t ed25519 -N '' -f key
printf 'Port 2222\nMaxStartups 100\nUsePAM no\nPidFile /run/fleet-sshd.pid\n' >sshd.conf
for n in $(seq @COUNT@); do
    useradd -m -p '*' -s /bin/sh "u$n"
    mkdir -m 700 "/home/u$n/.ssh"
    cp key.pub "/home/u$n/.ssh/authorized_keys"
    chown -R "u$n:" "/home/u$n/.ssh"
    test "$n" -gt @UP@ || echo "ListenAddress 127.0.1.$n" >>sshd.conf
done
/usr/sbin/sshd -f @FOLDER@/sshd.conf
"""
CONFIG = """file_roots: {base: [states]}
pillar_roots: {base: [pillar]}
cachedir: cache
fleet: {inventory: roster}
strict: true
"""


def hosts(machine: Debian, count: int, down: int) -> None:
    """Let a machine have a configuration and a roster of so many hosts (h1, h2, ...), the last of
    which are down: nothing listens at their addresses.
    """
    script = PREPARE.replace("@FOLDER@", FOLDER).replace("@COUNT@", str(count))
    machine.run("bash", "-c", script.replace("@UP@", str(count - down)))
    options = ["StrictHostKeyChecking=no", "UserKnownHostsFile=/dev/null", "LogLevel=ERROR"]
    roster = {
        f"h{n}": {
            "host": f"127.0.1.{n}",
            "port": 2222,
            "user": f"u{n}",
            "priv": f"{FOLDER}/key",
            "ssh_options": options,
        }
        for n in range(1, count + 1)
    }
    machine.write(f"{FOLDER}/roster", json.dumps(roster))
    machine.write(f"{FOLDER}/runner.yaml", CONFIG)
