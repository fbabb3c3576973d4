# SPDX-License-Identifier: Apache-2.0
"""Every call that writes fails, one after the other: full disk, read-only, no permission, input/output error.

After each: no traceback, no hang, every file is the old one or the new one, a failed state says why. After the next run
without a fault: all is as it should be, no reaction is missing. With --full-disk the same on a real file system (tmpfs)
that is full, and with --read-only on one that is mounted read-only (both need root).

    python bench/faults/errors.py
    python bench/faults/errors.py --full-disk --read-only
"""

from __future__ import annotations

import argparse
import ctypes
import errno
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from common import COUNT, FAIL, Ended, Fault, Score, Tree, seeded, warm, with_shim

ERRORS = (errno.ENOSPC, errno.EROFS, errno.EACCES, errno.EIO)
SLS = """
{% set g = pillar['g'] %}
{target}/file:
  file.managed:
    - contents: generation {{ g }}{% for n in range(800) %} {{ n }}{% endfor %}
    - mode: '06{{ 4 if g % 2 else 0 }}0'
    - backup: minion
{% for n in range(20) %}
{target}/together-{{ n }}:
  file.managed:
    - contents: generation {{ g }}
{% endfor %}
{target}/new-{{ g }}/deep/file:
  file.managed:
    - contents: generation {{ g }}
    - makedirs: True
{target}/edited:
  file.replace:
    - pattern: generation \\d+
    - repl: generation {{ g }}
{target}/link:
  file.symlink:
    - target: generation-{{ g }}
{target}/new-{{ g - 1 }}:
  file.absent: []
reaction:
  cmd.run:
    - name: echo {{ g }} >> {target}/log
    - onchanges: [{file: {target}/file}]
watching:
  cmd.wait:
    - name: echo {{ g }} >> {target}/watched
    - watch: [{file: {target}/edited}]
"""


def expected(generation: int) -> str:
    return f"generation {generation} " + " ".join(map(str, range(800))) + "\n"


class Trial:
    """The tree, which is brought from one generation to the next again and again."""

    def __init__(self, folder: Path, score: Score, below: str = "") -> None:
        """below: only calls below this folder fail."""
        self.below = below
        self.tree = Tree(folder)
        self.score = score
        self.generation = 0
        self.tree.write("states/a.sls", SLS)
        self.tree.write("target/edited", "".join(f"line {n}: generation 0\n" for n in range(1000)))
        assert self.next().code == 0

    def words(self) -> tuple[str, ...]:
        return ("sls", "a", "--pillar", f'{{"g": {self.generation}}}')

    def next(self, shim: ctypes.CDLL | None = None, fault: Fault | None = None) -> Ended:
        """The next generation; with a fault that hits the run."""
        self.generation += 1
        if shim is None or fault is None:
            return self.tree.run(*self.words())
        return self.tree.faulty(shim, fault, *self.words(), below=self.below)

    def after(self, ended: Ended, how: str) -> None:
        """Look at what the faulty run left, then run without a fault."""
        self.score.trials += 1
        said = ended.out + ended.err
        self.score.check(ended.code in (0, 1, 2), f"{how}: exit code {ended.code}: {said}")
        for word in ("Traceback", "this is a bug", "An exception occurred"):
            self.score.check(word not in said, f"{how}: {said}")
        self.score.check(bool(ended.code == 0 or said.strip()), f"{how}: nothing is said")
        new, old = self.generation, self.generation - 1
        text = (self.tree.target / "file").read_text()
        self.score.check(text in (expected(new), expected(old)), f"{how}: the file is torn")
        for n in range(20):
            text = (self.tree.target / f"together-{n}").read_text()
            whole = (f"generation {new}\n", f"generation {old}\n")
            self.score.check(text in whole, f"{how}: together-{n} is torn")
        text = (self.tree.target / "edited").read_text()
        counts = (text.count(f"generation {new}\n"), text.count(f"generation {old}\n"))
        self.score.check(
            counts in ((1000, 0), (0, 1000)), f"{how}: the edited file is torn {counts}"
        )
        self.score.check((self.tree.target / "link").is_symlink(), f"{how}: the link is gone")
        again = self.tree.run(*self.words())
        self.score.check(
            again.code == 0, f"{how}: the next run ended with {again.code}: {again.out}{again.err}"
        )
        protected = "not protected against a kill" not in said
        for name in ("log", "watched"):
            done = (self.tree.target / name).read_text().split()
            self.score.check(
                str(new) in done or not protected, f"{how}: the reaction {name} is missing: {said}"
            )
        self.score.check(
            (self.tree.target / "file").read_text() == expected(new), f"{how}: the file is not new"
        )
        self.score.check(not self.tree.leftovers(), f"{how}: left {self.tree.leftovers()}")
        quiet = self.tree.run(*self.words(), "-q")
        self.score.check(
            (quiet.code, quiet.out + quiet.err) == (0, ""), f"{how}: not converged: {quiet}"
        )


def each_call(trial: Trial, some: int | None, seed: int | None) -> None:
    shim = with_shim()
    trial.next(shim, Fault(0, COUNT))
    calls = shim.fault_calls()
    print(f"a run makes {calls} calls that write")
    calls = range(1, calls + 1)
    faults = [
        Fault(at, FAIL, error, sticky)
        for at in calls
        for error in ERRORS
        for sticky in (False, True)
    ]
    for fault in seeded(seed).sample(faults, some) if some else faults:
        ended = trial.next(shim, fault)
        stays = " and all later ones" if fault.sticky else ""
        trial.after(
            ended,
            f"{errno.errorcode[fault.error]} at call {fault.at}{stays} ({shim.fault_hit().decode()})",
        )


def full_disk(score: Score, size: int = 2) -> None:
    """A tmpfs of some megabytes that is full, to the last byte or nearly."""
    for free in (0, 1000, 5000, 20000, 50000, 100000, 200000):
        with mounted(f"size={size}m") as folder:
            trial = Trial(folder, score)
            fill(folder / "ballast", free)
            ended = trial.next()
            (folder / "ballast").unlink()
            score.check(
                free > 20000 or ended.code != 0, f"full disk with {free} bytes free: nothing failed"
            )
            trial.after(ended, f"full disk with {free} bytes free")


def read_only(score: Score) -> None:
    """The targets lie on a file system that is read-only; the state folder does not."""
    with mounted("size=4m") as folder:
        trial = Trial(folder, score)
        subprocess.run(["mount", "-o", "bind", trial.tree.target, trial.tree.target], check=True)
        subprocess.run(["mount", "-o", "remount,bind,ro", trial.tree.target], check=True)
        try:
            ended = trial.next()
            score.check(
                ended.code == 2 and "Read-only file system" in ended.out, f"read-only: {ended}"
            )
        finally:
            subprocess.run(["umount", trial.tree.target], check=True)
        trial.after(ended, "read-only targets")
        subprocess.run(["mount", "-o", "remount,ro", folder], check=True)
        ended = trial.next()
        subprocess.run(["mount", "-o", "remount,rw", folder], check=True)
        trial.after(ended, "everything read-only")


class mounted:
    """A tmpfs for as long as it is needed."""

    def __init__(self, options: str) -> None:
        self.options = options

    def __enter__(self) -> Path:
        self.folder = Path(tempfile.mkdtemp(prefix="runner-disk-"))
        subprocess.run(
            ["mount", "-t", "tmpfs", "-o", self.options, "none", self.folder], check=True
        )
        return self.folder

    def __exit__(self, *_: object) -> None:
        subprocess.run(["umount", self.folder], check=True)
        self.folder.rmdir()


def fill(path: Path, free: int) -> None:
    """Fill the file system of a path up to some free bytes."""
    with open(path, "wb", buffering=0) as file:
        at = os.statvfs(path)
        left = at.f_bavail * at.f_frsize - free
        try:
            while left > 0:
                left -= file.write(b"x" * min(left, 4096))
        except OSError:
            pass


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--trials", type=int, help="only so many of the calls and errors, by chance"
    )
    parser.add_argument("--seed", type=int)
    parser.add_argument("--below", default="", help="only calls below this folder, such as target")
    parser.add_argument("--full-disk", action="store_true")
    parser.add_argument("--read-only", action="store_true")
    options = parser.parse_args()
    real = options.full_disk or options.read_only
    if not real:
        with_shim()
    warm()
    score = Score("full disks and read-only ones" if real else "errors at every call that writes")
    if options.full_disk:
        full_disk(score)
    if options.read_only:
        read_only(score)
    if not real:
        with tempfile.TemporaryDirectory(prefix="runner-errors-") as folder:
            each_call(Trial(Path(folder), score, options.below), options.trials, options.seed)
    return score.end()


if __name__ == "__main__":
    sys.exit(main())
