# SPDX-License-Identifier: Apache-2.0
"""No file is readable for more people than asked, and no folder, not for a moment: before each call of a run that changes
something, all files below its folder are looked at. One that holds the secret may be open to nobody but its owner.

    python bench/faults/modes.py
"""

from __future__ import annotations

import ctypes
import io
import os
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

from common import COUNT, Fault, Score, Tree, begun

SECRET = b"for nobody else"
TEXT = SECRET.decode()
STATES = {
    "a new file": "file.managed:\n    - contents: &TEXT\n    - mode: '0600'",
    "a new file of somebody else": "file.managed:\n    - contents: &TEXT\n    - mode: '0600'\n    - user: 1\n    - group: 1",
    "a new file in new folders": "file.managed:\n    - name: {target}/d/e/f\n    - contents: &TEXT\n    - mode: '0600'\n    - makedirs: True",
    "a file that was open": "file.managed:\n    - name: {target}/open\n    - contents: &TEXT\n    - mode: '0600'",
    "a file that keeps its mode": "file.managed:\n    - name: {target}/private\n    - contents: &TEXT anew",
    "a backup": "file.managed:\n    - name: {target}/private\n    - contents: x\n    - backup: minion",
    "from a template": "file.managed:\n    - source: salt://template\n    - template: jinja\n    - mode: '0600'",
    "checked first": "file.managed:\n    - contents: &TEXT\n    - mode: '0600'\n    - check_cmd: test -e",
    "a folder to copy": "file.recurse:\n    - source: salt://folder\n    - file_mode: '0600'\n    - dir_mode: '0700'",
    "a copy": "file.copy:\n    - source: {target}/private\n    - mode: '0600'",
    "a copy that keeps": "file.copy:\n    - source: {target}/private\n    - preserve: True",
    "a copied folder": "file.copy:\n    - source: {target}/closed\n    - preserve: True",
    "appended": "file.append:\n    - name: {target}/private\n    - text: more",
    "replaced": "file.replace:\n    - name: {target}/private\n    - pattern: nobody\n    - repl: nobody at all\n    - backup: .bak",
    "commented": "file.comment:\n    - name: {target}/private\n    - regex: ^for",
    "a block": "file.blockreplace:\n    - name: {target}/private\n    - content: more\n    - append_if_not_found: True\n    - backup: .old",
    "serialized": "file.serialize:\n    - dataset: {a: &TEXT}\n    - serializer: json\n    - mode: '0600'",
    "ini": "ini.options_present:\n    - name: {target}/private\n    - sections: {a: {b: c}}",
    "a script": "cmd.script:\n    - source: salt://script",
    "an archive": "archive.extracted:\n    - source: {target}/closed/a.tar\n    - enforce_toplevel: False",
    "removed": "file.absent:\n    - name: {target}/private",
    "moved": "file.rename:\n    - source: {target}/private",
    "a folder": "file.directory:\n    - mode: '0700'",
}


def exposed(path: Path, top: Path) -> bool:
    """Return whether others can read a file: its mode, and the folders on the way to it."""
    if not path.stat().st_mode & 0o077:
        return False
    return all(
        folder.stat().st_mode & 0o011 for folder in path.parents if folder.is_relative_to(top)
    )


def main() -> int:
    only, shim = begun(__doc__)
    os.umask(0o022)
    score = Score("modes at each call")
    for name, text in STATES.items():
        if only in name:
            with tempfile.TemporaryDirectory(prefix="runner-modes-") as folder:
                tried(name, text, Tree(Path(folder)), shim, score)
    return score.end()


def tried(name: str, text: str, tree: Tree, shim: ctypes.CDLL, score: Score) -> None:
    tree.folder.chmod(0o755)
    body = text.replace("&TEXT", TEXT)
    tree.write("states/a.sls", f"{{target}}/f:\n  {body}\n")
    for path in (
        "states/template",
        "states/folder/one",
        "states/folder/two/three",
        "target/private",
        "target/closed/in",
    ):
        tree.write(path, SECRET + b"\n").chmod(0o600 if path == "target/private" else 0o644)
    tree.write("states/script", b"#!/bin/sh\n# " + SECRET + b"\n")
    tree.write("target/open", "nothing yet\n").chmod(0o644)
    (tree.target / "closed").chmod(0o700)
    with tarfile.open(tree.target / "closed/a.tar", "w") as archive:
        member = tarfile.TarInfo("inside")
        member.size, member.mode = len(SECRET), 0o600
        archive.addfile(member, io.BytesIO(SECRET))
    os.chmod(tree.folder / "states", 0o700)
    found: set[str] = set()
    seen = [0]
    report = tree.folder / "report"
    report.touch()

    def look(call: bytes, path: bytes) -> None:
        seen[0] += 1
        for file in tree.folder.rglob("*"):
            try:
                if (
                    file.is_file()
                    and not file.is_symlink()
                    and SECRET in file.read_bytes()
                    and exposed(file, tree.folder)
                ):
                    found.add(
                        f"{file.relative_to(tree.folder)} is {file.stat().st_mode & 0o7777:o} at {call.decode()}"
                    )
            except OSError:
                continue
        handle = os.open(report, os.O_WRONLY | os.O_TRUNC)
        os.write(handle, "\n".join([str(seen[0]), *sorted(found)]).encode())
        os.close(handle)

    watcher = ctypes.CFUNCTYPE(None, ctypes.c_char_p, ctypes.c_char_p)(look)
    shim.fault_watch(watcher)
    ended = tree.faulty(shim, Fault(0, COUNT), "sls", "a")
    shim.fault_watch(None)
    looks, *wide = report.read_text().split("\n")
    look(b"the end", b"")
    score.trials += int(looks or 0)
    score.check(ended.code == 0 and int(looks or 0) > 3, f"{name}: {ended}")
    for each in {*wide, *found}:
        score.check(False, f"{name}: {each}")
    subprocess.run(["chmod", "-R", "u+rwx", str(tree.folder)], check=True)


if __name__ == "__main__":
    sys.exit(main())
