# SPDX-License-Identifier: Apache-2.0
"""Another user swaps something while a state runs: before each call that changes something below their folder, in turn.

The target, or the folder that it is in, becomes a symbolic link to somebody else's; the target becomes a pipe, or the
node of a device. What the link leads to has to stay as it is: contents, mode, owner, times, and no file more; and
nothing may wait for the pipe. Links, and the folders that they are in, belong to another user, so all but the first
needs root. (A link that was there when the state looked is followed where the state says so; one that comes after the
look never is.)

    python bench/faults/swap.py
"""

from __future__ import annotations

import os
import shutil
import stat
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from pathlib import Path

from common import COUNT, SWAP, Fault, Score, Tree, begun

OTHER = 1  # whose the folder is
STATES = {
    "file.managed, contents and mode": "file.managed:\n    - contents: new\n    - mode: '0666'",
    "file.managed, mode alone": "file.managed:\n    - replace: False\n    - mode: '0666'",
    "file.managed, owner": "file.managed:\n    - contents: old\n    - user: 1\n    - group: 1",
    "file.managed, a backup": "file.managed:\n    - contents: new\n    - backup: minion",
    "file.replace": "file.replace:\n    - pattern: old\n    - repl: new",
    "file.append": "file.append:\n    - text: new",
    "file.prepend": "file.prepend:\n    - text: new",
    "file.line": "file.line:\n    - mode: ensure\n    - content: new\n    - after: old",
    "file.blockreplace": "file.blockreplace:\n    - content: new\n    - append_if_not_found: True",
    "file.comment": "file.comment:\n    - regex: old",
    "file.uncomment": "file.uncomment:\n    - regex: text",
    "file.keyvalue": "file.keyvalue:\n    - key: a\n    - value: b\n    - append_if_not_found: True",
    "file.serialize": "file.serialize:\n    - dataset: {a: 1}\n    - mode: '0666'",
    "file.decode": "file.decode:\n    - encoded_data: bmV3\n    - encoding_type: base64",
    "file.copy": "file.copy:\n    - source: {target}/source\n    - force: True\n    - mode: '0666'",
    "file.copy, preserved": "file.copy:\n    - source: {target}/source\n    - force: True\n    - preserve: True",
    "file.rename": "file.rename:\n    - source: {target}/source\n    - force: True",
    "file.symlink": "file.symlink:\n    - target: /nowhere\n    - force: True",
    "file.hardlink": "file.hardlink:\n    - target: {target}/source\n    - force: True",
    "file.absent": "file.absent: []",
    "file.touch": "file.touch:\n    - mtime: 5",
    "file.capability": "file.capability:\n    - caps: cap_kill=ep",
    "file.mknod": "file.mknod:\n    - name: {target}/d/new\n    - ntype: p\n    - mode: '0666'",
    "file.directory": "file.directory:\n    - name: {target}/d/new/in\n    - makedirs: True\n    - mode: '0777'",
    "file.directory, all below": "file.directory:\n    - name: {target}/d\n    - user: 1\n    - file_mode: '0666'\n"
    "    - dir_mode: '0777'\n    - recurse: [user, mode]",
    "file.directory, cleaned": "file.directory:\n    - name: {target}/d\n    - clean: True",
    "file.recurse": "file.recurse:\n    - name: {target}/d\n    - source: salt://tree\n    - file_mode: '0666'\n"
    "    - dir_mode: '0777'",
    "file.absent, the folder": "file.absent:\n    - name: {target}/d",
    "file.tidied": "file.tidied:\n    - name: {target}/d\n    - rmdirs: True",
    "file.pruned": "file.pruned:\n    - name: {target}/d\n    - recurse: True",
    "archive.extracted": "archive.extracted:\n    - name: {target}/d\n    - source: {target}/a.tar\n    - user: 1\n"
    "    - enforce_toplevel: False\n    - overwrite: True",
    "archive.extracted, with tar": "archive.extracted:\n    - name: {target}/d\n    - source: {target}/a.tar\n"
    "    - enforce_toplevel: False\n    - overwrite: True\n    - options: --exclude=none",
    "ini.options_present": "ini.options_present:\n    - sections: {a: {b: c}}",
}
# functions of the file state without a scenario; all others have one
ELSEWHERE = "accumulated cached exists missing not_cached patch retention_schedule shortcut"
UNCHANGING = (
    "file.pruned",  # the folder is not empty
    "file.capability",  # others could change the file
)


class Ground:
    """The folder with the target, which another user can change, and the files that they are after."""

    def __init__(self, tree: Tree) -> None:
        self.tree, self.folder, self.file = tree, tree.target / "d", tree.target / "d/f"
        self.victim = tree.folder / "victim"
        self.swap = tree.target / "swap"  # what takes the place of something
        for name in ("f", "sub/f"):
            tree.write(f"victim/{name}", "mine\n").chmod(0o600)
        for path in (*self.victim.rglob("*"), self.victim):
            os.utime(path, (1000, 1000))
        for name in ("tree/f", "tree/sub/f", "tree/sub/new"):
            tree.write(f"states/{name}", "new\n")
        self.before = self.state()

    def state(self) -> list[tuple[object, ...]]:
        """All of the victim's."""
        return [
            (
                path,
                at.st_mode,
                at.st_uid,
                at.st_gid,
                at.st_mtime,
                path.read_bytes() if path.is_file() else b"",
            )
            for path in sorted([self.victim, *self.victim.rglob("*")])
            if (at := path.lstat())
        ]

    def prepare(self, kind: str) -> tuple[Path, Path]:
        """Make everything anew; what is put in the place of what."""
        target = self.tree.target
        for path in target.iterdir():
            shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
        for name, text in (("d/f", "old\n#text\n"), ("d/sub/f", "old\n"), ("source", "source\n")):
            self.tree.write(f"target/{name}", text)
        with tarfile.open(target / "a.tar", "w") as archive:
            archive.add(self.tree.folder / "states/tree", "")
        os.utime(target / "a.tar", (1000, 1000))
        if kind in ("target", "folder"):
            self.swap.symlink_to(self.victim / "f" if kind == "target" else self.victim)
        elif kind == "pipe":
            os.mkfifo(self.swap)
        else:
            os.mknod(self.swap, 0o600 | stat.S_IFCHR, os.makedev(1, 8))  # /dev/random never ends
        if os.geteuid() == 0:
            for path in (
                target,
                self.folder,
                self.file,
                self.folder / "sub",
                self.folder / "sub/f",
                self.swap,
            ):
                os.lchown(path, OTHER, OTHER)
        return self.swap, self.folder if kind == "folder" else self.file


def kinds() -> Iterator[str]:
    """Yield what is swapped, as far as this user can try it."""
    yield from ("target", "folder", "pipe", "device") if os.geteuid() == 0 else ("target", "pipe")


def main() -> int:
    only, shim = begun(__doc__)
    from states import file

    score = Score("swapped for links, pipes and devices")
    tried = {name.split(",")[0].removeprefix("file.") for name in STATES}
    lacking = set(file.FUNCTIONS) - tried - set(ELSEWHERE.split())
    score.check(not lacking, f"no scenario for {lacking}")
    with tempfile.TemporaryDirectory(prefix="runner-swap-") as folder:
        tree = Tree(Path(folder))
        ground = Ground(tree)

        def trial(kind: str, fault: Fault) -> str:
            new, old = ground.prepare(kind)
            shim.fault_swap(str(new).encode(), str(old).encode())
            ended = tree.faulty(shim, fault, "sls", "a", below="target")
            return f"{ended.code}: {ended.out}{ended.err}"

        for name, text in STATES.items():
            if only not in name:
                continue
            tree.write("states/a.sls", f"{tree.target}/d/f:\n  {text}\n")
            for kind in kinds():
                trial(kind, Fault(0, COUNT))
                calls = shim.fault_calls()
                score.check(calls > 0 or name in UNCHANGING, f"{name} changes nothing")
                for at in range(1, calls + 1):
                    said = trial(kind, Fault(at, SWAP))
                    score.trials += 1
                    where = f"{name}, the {kind}, call {at} ({shim.fault_hit().decode()}): {said}"
                    score.check(ground.state() == ground.before, where)
                    score.check(not said.startswith("-9"), f"it hangs: {where}")
                    score.check("Traceback" not in said and "exception occurred" not in said, where)
    return score.end()


if __name__ == "__main__":
    sys.exit(main())
