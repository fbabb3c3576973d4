# SPDX-License-Identifier: Apache-2.0
"""`runner pull` as root of a machine: over ssh, from a schedule, into the system's own folders."""

from __future__ import annotations

from debian import Debian

URL = "git@localhost:site.git"
TARGET = "/etc/pulled"


def push(machine: Debian, contents: str) -> None:
    """Have main of the repository say what is in the target."""
    sls = f"{TARGET}:\\n  file.managed:\\n    - contents: {contents}\\n"
    machine.run(
        f"cd /root/work && printf '{sls}' > states/web.sls && git add . && git commit -qm x"
        " && git push -q origin HEAD:main"
    )


def test_a_machine_pulls_over_ssh(debian: Debian) -> None:
    debian.run(
        "useradd -m -s /usr/bin/git-shell git; mkdir -p /run/sshd /root/.ssh /home/git/.ssh;"
        " chmod 700 /root/.ssh; ssh-keygen -A; /usr/sbin/sshd;"
        " ssh-keygen -q -t ed25519 -N '' -f /root/.ssh/id_ed25519;"
        " cp /root/.ssh/id_ed25519.pub /home/git/.ssh/authorized_keys;"
        " git init -q --bare -b main /home/git/site.git; chown -R git: /home/git;"
        " ssh-keyscan localhost > /root/.ssh/known_hosts;"
        f" git init -q -b main /root/work; cd /root/work; git remote add origin {URL};"
        " git config user.name A; git config user.email a@example.org; mkdir states;"
        " printf \"base:\\n  '*': [web]\\n\" > states/top.sls"
    )
    push(debian, "one")
    debian.runner("init", "--from", URL)
    assert debian.run(f"cat {TARGET}; ls /var/lib/runner/trees/current").stdout == "one\nstates\n"
    debian.run("mv /root/.ssh/id_ed25519 /etc/runner/key; chmod 644 /etc/runner/key")
    # the last good one is run
    assert "Permission denied (publickey" in debian.runner("pull").stderr
    debian.run("echo '  deploy_key: key' >> /etc/runner/runner.yaml")
    assert "chmod 600 /etc/runner/key" in debian.runner("pull", code=4).stderr
    debian.run("chmod 600 /etc/runner/key")
    debian.run("cp /etc/runner/key /root/.ssh/id_ed25519")
    push(debian, "two")
    debian.runner("schedule", "install", "--pull", "--timer")
    debian.run("systemctl start runner-highstate.service")
    assert debian.run(f"cat {TARGET}").stdout == "two\n"
    push(debian, "{{ broken")
    debian.run("systemctl start runner-highstate.service", code=None)
    assert "status=4" in debian.run("systemctl status runner-highstate.service", code=None).stdout
    assert debian.run(f"cat {TARGET}").stdout == "two\n"
    debian.run("kill $(cat /run/sshd.pid)")
    assert "could not be fetched" in debian.runner("pull").stderr
