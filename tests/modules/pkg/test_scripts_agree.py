# SPDX-License-Identifier: Apache-2.0
"""Maintainer scripts leave on the planned machine what a shell leaves on a real one, or it is said
that nobody knows what they leave.
"""

from __future__ import annotations

import os
import stat as bits
import subprocess
from pathlib import Path

import pytest
from harness import HarnessHere
from needing import needs_root

from modules import _paths, file
from modules.pkg._scripts import calculated, follow_script
from runner.api import changes_allowed, planning, running

# each alone on fresh files: what it leaves has to be foreseen
FORESEEN = r"""
cp -r src/ new
cp -r src/ dst
cp -r src/* dst
cp -r srclink new
cp -a src/dirlink/ new
cp -r src/link flink
cp src/a src/link || echo $? > out
chown 5:6 flink
chown -h 5:6 flink
chown -R 5:6 src srclink
chown -R 5:6 srclink/
chgrp 6 flink
chmod 700 flink
chmod -R 700 srclink
sed -i s/one/1/ none f dst || echo $? > out
sed -i s/one/1/ flink
sed s/who/wow/ f > out
md5sum -b f > out
find src -name none -delete
set -- "a b" c; for i in $@; do echo "$i"; done > out
x='src/*'; echo $x none* > out
i=0; while test $i -lt 1100; do i=$((i+1)); done; echo $i > out
for i in $(seq 1 1100); do :; done; echo $i > out
"""
# nobody knows, or the same
OPEN = r"""
cp -rL src new
cp -rn src dst
cp -r src src/sub
sed '1w evil' f
sed 'w evil' f > out
sed -n -e '/two/s/.*/touch evil/e' f
sed -s -n '$p' f g > out
awk '{print $1 > 5}' f
sort -uo evil f
sort --outp=evil f
uniq f g
grep -q one none f; echo $? > out
grep one f g > out
grep -l one f > out
wc -l f > out
head -n1 f g > out
find src -name a -delete
find src -delete -name a
find src -name none -o -delete
find src -name a -exec rm {} +
find src -name sub -prune -o -name b -delete
IFS=:; x=a:b; for i in $x; do echo "$i"; done > out
case l in [:alpha:]) touch y;; *) touch n;; esac
rm -rf srclink/
"""
# nobody waits for that, and why is said
BEYOND = {
    "for i in 1 2 3 4 5 6 7 8 9 10 11 12; do cat f f >g; cat g g >f; done": "too many steps",
    "for i in $(seq 1 24); do sed -i p f; done": "too many steps",
    "while true; do echo >> f; done": "too many steps",
    "while true; do awk 1 f; done": "too many steps",
    "awk 'BEGIN {while (1);}'": "awk does not end within 0.2 seconds",
    "head -c 4 /dev/urandom > out": "> ",
    "tr -dc a-z </dev/urandom | head -c 16 > out": "> ",
}


def made(top: str) -> None:
    file.makedirs(f"{top}/src/sub", mode="0755")
    file.write(f"{top}/src/a", b"one\ntwo\n", mode="0640")
    file.write(f"{top}/src/sub/b", b"x", mode="0755")
    file.makedirs(f"{top}/dst", mode="0755")
    file.makedirs(f"{top}/dst/src", mode="0755")
    file.write(f"{top}/f", b"one\ntwo\n", mode="0644")
    file.write(f"{top}/g", b"one\nthree\n", mode="0600")
    links = ("src/link", "a"), ("src/dirlink", "sub"), ("srclink", "src"), ("flink", "f")
    for name, target in links:
        file.symlink(target, f"{top}/{name}")


def left(top: str) -> dict[str, tuple[object, ...]]:
    """What is below a folder, as looks see it: owners and modes, and texts or targets."""
    found: dict[str, tuple[object, ...]] = {}
    for entry in file.entries_below(top):
        at, text = _paths.lstat(entry.path), ""
        if bits.S_ISLNK(at.st_mode):
            text = _paths.readlink(entry.path)
        elif bits.S_ISREG(at.st_mode):
            with _paths.open_text(entry.path, "utf-8") as stream:
                text = stream.read()
        mode = 0 if bits.S_ISLNK(at.st_mode) else at.st_mode
        found[entry.path.removeprefix(top)] = (mode, at.st_uid, at.st_gid, text)
    return found


def done(script: str, top: Path) -> dict[str, tuple[object, ...]]:
    with running(HarnessHere()), changes_allowed():
        made(str(top))
        variables = {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8"}
        words = ["sh", "-c", f"umask 022; {script}"]
        subprocess.run(words, cwd=top, env=variables, capture_output=True, check=False)
        return left(str(top))


def foreseen(script: str, top: Path) -> tuple[dict[str, tuple[object, ...]], list[str]]:
    """What would be left, and what nobody knows of it."""
    here = HarnessHere(dry=True)
    here.cache_dir = str(top.parent / "cache")
    token = planning._altering.set("stand-in")  # as a changer's stand-in alters it
    try:
        with running(here):
            made(str(top))
            text = f"#!/bin/sh\ncd {top}\n{script}\n"
            told = follow_script("made-up", {"postinst": text}, "postinst", "configure")
            opened = [each.told for each in told]
            return left(str(top)), opened
    finally:
        planning._altering.reset(token)


@needs_root("owners of files")
def test_what_scripts_leave_is_foreseen_or_said_to_be_open(tmp_path: Path) -> None:
    for number, script in enumerate((FORESEEN.strip() + OPEN).splitlines()):
        real, dry = tmp_path / f"real{number}", tmp_path / f"dry{number}"
        real.mkdir()
        dry.mkdir()
        would, opened = foreseen(script, dry)
        if script in FORESEEN.splitlines():
            assert not opened, script
        assert opened or would == done(script, real), script


def test_what_does_not_end_is_said_to_be_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number, (script, why) in enumerate(BEYOND.items()):
        top = tmp_path / f"dry{number}"
        top.mkdir()
        monkeypatch.setattr(calculated, "MOST_SECONDS", 0.2 if "BEGIN" in script else 60)
        assert any(why in each for each in foreseen(script, top)[1]), script
