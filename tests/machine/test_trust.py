# SPDX-License-Identifier: Apache-2.0
"""What another user of the machine plants in the way of root's runner: nothing of it is run,
believed or followed.

The folders are not sticky, so that the kernel's own protection (fs.protected_symlinks and the like)
does not apply. Each attack is tried twice: as planted by mallory, and, to see that it would have
worked, as if root had put it there.
"""

from __future__ import annotations

import shlex
import sys

import pytest
from debian import ROOT, Debian

PWNED = "/root/pwned"
SWAP = f"""
import marshal, sys, zlib
sys.path.insert(0, {str(ROOT)!r})
from runner.language.render.jinja.cache import _HEAD, _MARK
text = "import os; os.system('touch {PWNED}'); root = lambda *a, **k: iter(())"
code = compile(text, "x", "exec")
path, out, at = sys.argv[1], b"", 0
data = open(path, "rb").read()
while at < len(data):
    mark, key, length, checksum = _HEAD.unpack_from(data, at)
    at += _HEAD.size
    record = data[at : at + length]
    at += length
    if type((kept := marshal.loads(record))[0]) is type(code):
        record = marshal.dumps((code, *kept[1:]))
    out += _HEAD.pack(_MARK, key, len(record), zlib.crc32(record)) + record
open(path, "wb").write(out)
"""
FORGE = f"""
import sqlite3
ledger = sqlite3.connect("/srv/cache/state/debts.sqlite")
ledger.execute("CREATE TABLE debts (reactor TEXT NOT NULL, kind TEXT NOT NULL,"
    "source TEXT NOT NULL, run TEXT NOT NULL, time TEXT NOT NULL, place TEXT NOT NULL,"
    "PRIMARY KEY (reactor, kind, source))")
ledger.execute("PRAGMA user_version=1")
row = ("cmd_|-r_|-touch {PWNED}_|-wait", "watch", "test_|-n_|-n_|-nop", "x", "x", "x")
ledger.execute("INSERT INTO debts VALUES (?, ?, ?, ?, ?, ?)", row)
ledger.commit()
"""


@pytest.fixture
def victim(debian: Debian) -> Debian:
    """A machine with a user mallory, and a folder that all can write."""
    debian.run("useradd -m mallory; mkdir -p /srv/open; chmod 0777 /srv/open")
    return debian


def pwned(machine: Debian) -> bool:
    """Return whether the planted code has run, which is forgotten then."""
    return machine.run(f"rm {PWNED}", code=None).returncode == 0


def as_mallory(machine: Debian, *lines: str) -> None:
    machine.run("su", "mallory", "-c", " && ".join(lines))


@pytest.mark.parametrize("dry", [["--test"], []])
def test_a_repository_above_the_tree(victim: Debian, dry: list[str]) -> None:
    victim.write("/srv/open/tree/a.sls", "x:\n  test.nop: []\n")
    victim.write("/home/mallory/filter", f"#!/bin/sh\ntouch {PWNED}\ncat\n", 0o755)
    as_mallory(
        victim,
        "git config --global --add safe.directory /srv/open",
        "cd /srv/open && rm -rf .git && git init -q && git add tree",
        "git -c user.name=m -c user.email=m@example.org commit -qm x",
        "git config filter.f.clean /home/mallory/filter && git config core.fsmonitor"
        " /home/mallory/filter",
        "echo '* filter=f' >.git/info/attributes",
    )
    victim.run("touch /srv/open/tree/a.sls")
    command = ["sls", "a", "--state-tree", "/srv/open/tree", *dry]
    victim.runner(*command)
    assert not pwned(victim)
    victim.run(
        "mkdir /srv/own; cp -a /srv/open/.git /srv/open/tree /srv/own; chown -R root /srv/own"
    )
    victim.runner("sls", "a", "--state-tree", "/srv/own/tree", *dry)
    assert pwned(victim)
    victim.run("rm -rf /srv/own /srv/open/tree /srv/open/.git")


@pytest.mark.parametrize(
    "plant",
    [
        "mkdir /srv/open/cache",
        "ln -s /home/mallory /srv/open/cache",
        "mkdir /tmp/cache",
        "ln -s /home/mallory /tmp/cache",
        "mkdir -p /home/mallory/a/cache",
        "true",
    ],
)
def test_folders_of_another_user_are_refused(victim: Debian, plant: str) -> None:
    as_mallory(victim, plant)
    cache = plant.split()[-1] if " " in plant else "/srv/open/x/cache"
    victim.write("/srv/runner/states/a.sls", f"x:\n  cmd.run:\n    - name: touch {PWNED}\n")
    told = victim.runner("sls", "a", "--cachedir", cache, code=1).stderr
    assert "runner cannot keep its files safely: others can write" in told
    assert "--cachedir DIR" in told
    victim.write("/etc/runner/runner.yaml", f"cachedir: {cache}\nstate_dir: /var/lib/runner\n")
    assert "others can write" in victim.runner("show", "sls", "a", code=1).stderr
    assert not pwned(victim)
    victim.run("rm -rf /etc/runner /srv/open/* /tmp/cache /home/mallory/a")


def test_compiled_templates(victim: Debian) -> None:
    victim.write(
        "/srv/runner/states/a.sls", "{% for x in [1, 2] %}x{{ x }}:\n  test.nop: []\n{% endfor %}"
    )
    victim.write("/root/swap.py", SWAP)
    command = ["sls", "a", "--cachedir", "/srv/cache", "--test"]
    victim.runner(*command)
    swap = f"{shlex.quote(sys.executable)} /root/swap.py /srv/cache/templates/pack-*"
    victim.run(swap)
    victim.run("chown mallory /srv/cache/templates/pack-*")
    victim.runner(*command)
    assert not pwned(victim)
    victim.run("chown mallory /srv/cache/templates")
    assert "others can write /srv/cache/templates" in victim.runner(*command, code=1).stderr
    assert not pwned(victim)
    victim.run(f"chown -R root /srv/cache; rm -r /srv/cache/results; {swap}")
    victim.runner(*command, code=None)
    assert pwned(victim)
    victim.run("rm -r /srv/cache")


def test_the_salt_call_of_commands(victim: Debian) -> None:
    victim.write("/srv/runner/states/a.sls", "salt-call --local test.ping:\n  cmd.run: []\n")
    command = ["sls", "a", "--cachedir", "/srv/cache"]
    victim.runner(*command)
    program = victim.read("ls /srv/cache/salt-call-*/salt-call")
    victim.write(program, f"#!/bin/sh\ntouch {PWNED}\n", 0o700)
    victim.run(program)
    assert pwned(victim)
    victim.run(f"chown mallory {program}")
    victim.runner(*command)
    assert not pwned(victim)
    victim.write(program, f"#!/bin/sh\ntouch {PWNED}\n", 0o700)
    victim.run(f"chown -R mallory $(dirname {program})")
    assert "others can write" in victim.runner(*command, code=2).stdout
    assert not pwned(victim)
    victim.run("rm -r /srv/cache")


def test_a_forged_history(victim: Debian) -> None:
    """Undo of a run that never was would write a crontab."""
    victim.write("/etc/cron.d/x", f"* * * * * root touch {PWNED}\n")
    victim.write("/srv/runner/states/a.sls", "/etc/cron.d/x:\n  file.absent: []\n")
    where = ["--cachedir", "/srv/cache"]
    victim.runner("sls", "a", *where)
    for forged in ("/srv/cache/state/history.sqlite", "/srv/cache/state", "/srv/cache"):
        victim.run(f"chown -R mallory {forged}")
        told = victim.runner("undo", *where, code=1).stderr
        assert "the history cannot be read" in told or "others can write" in told
        victim.runner("history", *where, code=1)
        assert not victim.path("/etc/cron.d/x").exists()
    victim.run("chown -R root /srv/cache")
    victim.runner("undo", *where)
    assert victim.path("/etc/cron.d/x").exists()
    victim.run("rm -r /srv/cache /etc/cron.d/x")


def test_reactions_and_temporary_files_of_another_user(victim: Debian) -> None:
    """A list of temporary files has root delete what it names; a list of reactions has root restart
    services.
    """
    reacting = f"r:\n  cmd.wait:\n    - name: touch {PWNED}\n    - watch:\n      - test: n\n"
    victim.write("/srv/runner/states/a.sls", reacting + "n:\n  test.nop: []\n")
    command = ["sls", "a", "--cachedir", "/srv/cache"]
    victim.runner(*command)
    victim.write("/srv/cache/state/temporaries", '["/etc", "00000000"]\n')
    victim.write("/etc/.x.runner-000000000000", "")
    victim.run(sys.executable, "-c", FORGE)
    victim.run("chown mallory /srv/cache/state/temporaries /srv/cache/state/debts.sqlite")
    victim.runner(*command)
    assert not pwned(victim)
    assert victim.path("/etc/.x.runner-000000000000").exists()
    victim.run("chown root /srv/cache/state/temporaries /srv/cache/state/debts.sqlite")
    victim.runner(*command)
    assert pwned(victim)
    assert not victim.path("/etc/.x.runner-000000000000").exists()
    victim.run("rm -r /srv/cache")


def test_files_of_another_user_in_roots_tree(victim: Debian) -> None:
    """Refused before any of their code runs; without strict_permissions it is a warning."""
    victim.write("/srv/runner/states/a.sls", "{{ salt['evil.x']() }}:\n  test.nop: []\n")
    victim.write(
        "/srv/runner/states/_modules/evil.py", f"open('{PWNED}', 'w')\ndef x():\n    return 'x'\n"
    )
    victim.write("/etc/runner/runner.yaml", "strict_permissions: true\n")
    module = "/srv/runner/states/_modules/evil.py"
    for path, how in (
        (module, "setfacl -m u:mallory:w"),
        (module, "chown mallory"),
        ("/srv/runner", "chmod 0777"),
    ):
        if how.startswith("setfacl") and victim.run("command -v setfacl", code=None).returncode:
            continue
        victim.run(f"{how} {path}")
        told = victim.runner("sls", "a", code=1).stderr
        assert f"others can write {path}, which this run trusts" in told
        assert not pwned(victim)
        victim.run(f"chown root {path}; chmod go-w {path}")
    victim.runner("sls", "a")
    assert pwned(victim)
    victim.run("rm -r /etc/runner")


def test_a_user_namespace(victim: Debian) -> None:
    """There the folders of root, such as / and /home, belong to nobody, and are trusted all the
    same.
    """
    if victim.run(
        "su mallory -c 'unshare -r true' && /usr/bin/python3 --version", code=None
    ).returncode:
        pytest.skip("users may not make namespaces here, or there is no Python for them")
    victim.run(f"mkdir /srv/lib; cp -r '{ROOT}/runner' /srv/lib; rm -f /srv/lib/runner/__init__.py")
    look = (
        "from runner.support.files.trusted_folder import trusted_folder;"
        ' trusted_folder("/home/mallory/c/d")'
    )
    victim.write("/srv/look", f"import sys; sys.path.insert(0, '/srv/lib'); {look}")
    as_mallory(victim, "unshare -r /usr/bin/python3 /srv/look")
    assert victim.path("/home/mallory/c/d").is_dir()
    as_mallory(victim, "chmod 0777 /home/mallory/c")
    refused = victim.run("su mallory -c 'unshare -r /usr/bin/python3 /srv/look'", code=1)
    assert "others can write /home/mallory/c" in refused.stderr
