# SPDX-License-Identifier: Apache-2.0
"""A file is opened once, and what was judged is what is read: a link that another user puts in its
place when it is opened leads root to nothing that is not hers.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from command import Machine
from needing import needs_root, require

MALLORY = 1
# at the moment when her file is opened a link to the secret lies in its place
SWAPPING = """
import os, sys
def swap(event, arguments):
    if event == "open" and arguments[0] == {target!r} and not os.path.islink({target!r}):
        os.unlink({target!r})
        os.symlink({secret!r}, {target!r})
        os.chown({target!r}, 1, 1, follow_symlinks=False)
sys.addaudithook(swap)
"""
SSH = """#!/bin/sh
for word; do test ! -f "$word" || { ls "$word"*; cat "$word"*; } >&2; done
exit 1
"""


class Opened:
    """Her file, and root's secret."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.target, self.secret = machine.folder / "hers/f", machine.folder / "secret"
        self.target.parent.mkdir()
        self.target.write_text("#!/bin/sh\necho hers\n")
        self.secret.write_text("#!/bin/sh\necho root-secret\n")
        for path in (self.target.parent, self.target):
            os.chown(path, MALLORY, MALLORY)

    def swapped(self, *words: str) -> str:
        """All that a run says beside which she swaps her file."""
        places = {"target": str(self.target), "secret": str(self.secret)}
        argv = self.machine.argv(*(word.format(self.target) for word in words))[3:]
        done = self.machine.altered(SWAPPING.format(**places), *argv)
        assert self.target.is_symlink(), "she was not fast enough"
        assert "Traceback" not in done.stderr
        return done.stdout + done.stderr


@pytest.fixture
def opened(machine: Machine) -> Opened:
    machine.program("mariadb", '#!/bin/sh\necho "$@" >&2; cat >&2; exit 1\n')
    return Opened(machine)


@needs_root()
@pytest.mark.parametrize(
    "words",
    [
        "cmd.script {}",
        "slsutil.renderer {} default_renderer=jinja",
        "mysql.file_query app {}",
        "http.query http://127.0.0.1:9/ data_file={}",
        "dnsutil.parse_hosts {}",
    ],
)
def test_a_link_put_there_meanwhile_is_not_followed(opened: Opened, words: str) -> None:
    told = opened.swapped("call", *words.split())
    assert f"{opened.target} is a symbolic link of user 1 to {opened.secret}" in told
    assert "root-secret" not in told


@needs_root()
def test_a_link_of_others_is_not_followed(opened: Opened) -> None:
    """What lies behind links of root, and of her to what is hers, is."""
    query = ("call", "http.query", "http://127.0.0.1:9/")
    link = opened.target.parent / "link"
    link.symlink_to(opened.secret)
    assert "Connection refused" in opened.machine(*query, f"data_file={link}").stdout
    os.chown(link, MALLORY, MALLORY, follow_symlinks=False)
    told = opened.machine(*query, f"data_file={link}", code=None).stderr
    assert f"{link} is a symbolic link of user 1 to {opened.secret}" in told
    link.unlink()
    link.symlink_to(opened.target)
    os.chown(link, MALLORY, MALLORY, follow_symlinks=False)
    assert "Connection refused" in opened.machine(*query, f"data_file={link}").stdout


@needs_root()
def test_git_gets_the_key_that_was_judged(opened: Opened) -> None:
    """ssh has a private copy, with the certificate that lies beside it."""
    require("git")
    machine, key = opened.machine, opened.target
    certificate = Path(f"{key}-cert.pub")
    certificate.write_text("certificate\n")
    machine.program("ssh", SSH)
    call = ("call", "git.ls_remote", "remote=git@x:a", f"identity={key}")
    told = machine(*call, code=1).stderr
    assert "echo hers" in told and "certificate" in told and f" {key}" not in told
    key.unlink()
    key.symlink_to(opened.secret)
    os.chown(key, MALLORY, MALLORY, follow_symlinks=False)
    told = machine(*call, code=1).stderr
    assert f"{key} is a symbolic link of daemon to {opened.secret}" in told
    assert "root-secret" not in told
