# SPDX-License-Identifier: Apache-2.0
"""Users who put links, pipes and folders where root is going to write: nothing of root's becomes
theirs.
"""

from __future__ import annotations

import pytest
from debian import Debian

INIT = "none"
KEY = "AAAAC3NzaC1lZDI1NTE5AAAAIMkV4nX2nZ0yN0Xw6m1b8N2v3mJkq5o4s7c9d1e2f3g4"


@pytest.fixture
def machine(debian: Debian) -> Debian:
    """A machine that protects no links by itself, with a user."""
    debian.run("sysctl -w fs.protected_symlinks=0 fs.protected_hardlinks=0 || true")
    debian.run("useradd mallory; mkdir /home/mallory /root/victim; echo root >/root/victim/f")
    debian.run("chmod 600 /root/victim/f; chmod 711 /root; chown mallory: /home/mallory")
    return debian


def victim(machine: Debian) -> str:
    return machine.read(
        "cd /root/victim; stat -c '%n %a %U %Y' . *; getfacl -p * 2>/dev/null; cat f"
    )


ATTACKS = {
    "a dangling link": (
        "mkdir -m 700 .ssh; ln -s /root/victim/new .ssh/authorized_keys; cp -P .ssh/a*"
        " .ssh/known_hosts"
    ),
    "a link": (
        "mkdir -m 700 .ssh; ln -s /root/victim/f .ssh/authorized_keys; cp -P .ssh/a*"
        " .ssh/known_hosts"
    ),
    "a link above": "ln -s /root/victim .ssh",
    "a pipe": "mkdir -m 700 .ssh; mkfifo .ssh/authorized_keys .ssh/known_hosts",
}
STATES = {
    "authorized_keys": ["ssh_auth.present", KEY, "user=mallory", "enc=ed25519"],
    "authorized_keys, managed": [
        "ssh_auth.manage",
        "keys",
        f"ssh_keys=[{KEY}]",
        "user=mallory",
        "enc=ed25519",
    ],
    "known_hosts": [
        "ssh_known_hosts.present",
        "example.com",
        "user=mallory",
        f"key={KEY}",
        "enc=ed25519",
    ],
}


@pytest.mark.parametrize("attack", ATTACKS)
@pytest.mark.parametrize("state", STATES)
def test_ssh_files_are_not_written_through_what_is_not_the_users(
    machine: Debian, attack: str, state: str
) -> None:
    machine.run("runuser", "-u", "mallory", "--", "sh", "-c", f"cd; {ATTACKS[attack]}")
    before = victim(machine)
    for dry in (["--test"], []):
        done = machine.runner("single", *STATES[state], *dry, code=2)
        if "link" in attack:
            assert "is a symbolic link of mallory to /root/victim" in done.stdout
    assert victim(machine) == before


def test_a_home_that_keeps_its_ssh_files_elsewhere_in_it_is_served(machine: Debian) -> None:
    machine.run("runuser -u mallory -- sh -c 'cd; mkdir -p dot/ssh; ln -s dot/ssh .ssh'")
    machine.runner("single", *STATES["authorized_keys"])
    assert machine.read("stat -c '%U %a' /home/mallory/dot/ssh/authorized_keys") == "mallory 600"
    machine.runner("single", *STATES["authorized_keys"])


def test_a_home_is_not_made_through_a_link_of_others(machine: Debian) -> None:
    machine.run(
        "mkdir -p -m 1777 /srv/open; runuser -u mallory -- ln -s /root/victim /srv/open/homes"
    )
    before = victim(machine)
    done = machine.runner(
        "single", "user.present", "zoe", "home=/srv/open/homes/zoe", "createhome=false"
    )
    done = machine.runner("single", "user.present", "zoe", "home=/srv/open/homes/zoe", code=2)
    assert "is a symbolic link of mallory" in done.stdout
    assert victim(machine) == before


def test_access_lists_go_to_no_link_and_to_all_that_is_below(machine: Debian) -> None:
    if machine.run("command -v setfacl || apt-get install -y -q acl", code=None).returncode:
        pytest.skip("no setfacl")
    machine.run(
        "runuser -u mallory -- sh -c 'cd; mkdir -p d/e; touch d/e/f; ln -s /root/victim/f d/l; ln"
        " -s d/l l'"
    )
    before = victim(machine)
    on = ["acl_type=user", "acl_name=daemon", "perms=rwx"]
    machine.runner("single", "acl.present", "/home/mallory/l", *on, code=2)
    machine.runner("single", "acl.present", "/home/mallory/d", *on, "recurse=true")
    assert victim(machine) == before
    assert machine.read("getfacl -cp /home/mallory/d/e/f | grep daemon") == "user:daemon:rwx"


LED_ASTRAY = {
    "git": ["git.cloned", "file:///srv/own", "target=/home/mallory/link/new"],
    "git latest": ["git.latest", "file:///srv/own", "target=/home/mallory/link/new", "rev=HEAD"],
    "git bare": ["git.present", "/home/mallory/link/new"],
    "python": ["virtualenv.managed", "/home/mallory/link/new"],
    "a mount": [
        "mount.mounted",
        "/home/mallory/link",
        "device=tmpfs",
        "fstype=tmpfs",
        "persist=False",
    ],
    "a home": ["user.present", "bob", "home=/home/mallory/link/new"],
    "a copied file": ["file.copy", "/home/mallory/out", "source=/home/mallory/link/f"],
    "a source": ["file.managed", "/home/mallory/out", "source=/home/mallory/link/f"],
    "lines": ["file.append", "/home/mallory/out", "source=/home/mallory/link/f"],
    "keys": ["ssh_auth.present", "x", "source=/home/mallory/link/f", "user=mallory"],
    "a script": ["cmd.script", "/home/mallory/link/f"],
    "a crontab": ["cron.file", "/home/mallory/link/f", "user=mallory"],
}


@pytest.mark.parametrize("what", LED_ASTRAY)
def test_no_program_of_roots_is_sent_through_a_link(machine: Debian, what: str) -> None:
    machine.run(
        "git init -q /srv/own; cd /srv/own; git config user.email m@example.org;"
        " git config user.name m; git commit -q --allow-empty -m x"
    )
    machine.run("runuser -u mallory -- ln -s /root/victim /home/mallory/link")
    before = victim(machine)
    for dry in (["--test"], []):
        done = machine.runner("single", *LED_ASTRAY[what], *dry, code=None)
        assert done.returncode in (1, 2), done.stdout + done.stderr
        assert "/home/mallory/link is a symbolic link of " in done.stdout + done.stderr
        assert "it is not followed" in done.stdout + done.stderr
    assert victim(machine) == before
    assert not machine.path("/home/mallory/out").exists()
    machine.run("! grep -q bob: /etc/passwd")


OUTPUTS = {"a log": ["--log-level", "debug", "--log-file"], "events": ["--events"]}
PLANTED = {
    "a link": ("ln -s /root/victim/f out", "is a symbolic link of user"),
    "a dangling link": ("ln -s /root/victim/new out", "is a symbolic link of user"),
    "a hard link": ("true", "it has a second name"),
    "a pipe": ("mkfifo out", "No such device or address"),
}


@pytest.mark.parametrize("attack", PLANTED)
@pytest.mark.parametrize("output", OUTPUTS)
def test_no_output_is_written_where_another_user_wants_it(
    machine: Debian, output: str, attack: str
) -> None:
    machine.run("echo root > /srv/victim; chmod 600 /srv/victim")
    plant, told = PLANTED[attack]
    machine.run("runuser", "-u", "mallory", "--", "sh", "-c", f"cd; {plant}")
    if attack == "a hard link":  # which this kernel would not let him make
        machine.run("ln /srv/victim /home/mallory/out")
    before = victim(machine)
    done = machine.runner("single", "test.nop", "x", *OUTPUTS[output], "/home/mallory/out", code=1)
    assert told in done.stderr, done.stderr
    assert victim(machine) == before
    assert machine.read("cat /srv/victim") == "root"
    machine.run("rm /home/mallory/out; ln -s /root/victim/own /home/mallory/out")
    machine.runner("single", "test.nop", "x", *OUTPUTS[output], "/home/mallory/out")
    assert machine.path("/root/victim/own").read_text()


def test_a_user_of_large_known_hosts_costs_no_memory(machine: Debian) -> None:
    machine.run("runuser -u mallory -- sh -c 'cd; mkdir .ssh; truncate -s 3G .ssh/known_hosts'")
    told = machine.runner("single", *STATES["known_hosts"], code=2).stdout
    assert "known_hosts: it has 3072.0 MiB, at most 32 MiB are read" in told
