# SPDX-License-Identifier: Apache-2.0
"""SIGKILL at random moments, and at every call that writes, of `runner pull`; full disks; many pulls at once.

After each: the tree in use is the old one or the new one, whole, and the machine is as one of them says. After the next
pull it is the newest, and nothing lies beside the trees.

    python bench/faults/pulls.py --trials 300          kills at random moments
    python bench/faults/pulls.py --every-call          kills before each call that writes a tree, and in the middle of it
    python bench/faults/pulls.py --full-disk           disks of all sizes, too small for the new tree
    python bench/faults/pulls.py --at-once 10          pulls side by side, with one that waits for nobody
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from common import COUNT, KILL, KILL_HALFWAY, Fault, Score, Tree, seeded, warm, with_shim
from errors import mounted

FILES = 40
WHO = ("-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "init.defaultBranch=main")


class Site:
    """A repository whose tree has one generation after the other, and a machine that pulls it."""

    def __init__(self, folder: Path, score: Score, state_dir: Path | None = None) -> None:
        self.work, self.bare = folder / "work", folder / "site.git"
        self.state = state_dir or folder / "cache/state"
        config = {"tree": {"remote": f"file://{self.bare}", "keep": 2}}
        self.tree = Tree(folder, **config, state_dir=str(self.state))
        settings = json.loads((folder / "runner.yaml").read_text())
        for key in ("file_roots", "pillar_roots"):
            del settings[key]
        (folder / "runner.yaml").write_text(json.dumps(settings))
        self.score = score
        self.generation = 0
        self.generations: dict[str, int] = {}  # of commits
        self.work.mkdir()
        self.git("init", "--quiet")
        self.git("init", "--quiet", "--bare", str(self.bare))

    @property
    def trees(self) -> Path:
        return self.state / "trees"

    def git(self, *words: str) -> str:
        argv = ["git", *WHO, "-C", str(self.work), *words]
        return subprocess.run(argv, capture_output=True, text=True, check=True).stdout.strip()

    def next(self) -> None:
        """Have the remote move on by a commit."""
        self.generation += 1
        states = self.work / "states"
        states.mkdir(exist_ok=True)
        names = [f"f{number}" for number in range(FILES)]
        (states / "top.sls").write_text(json.dumps({"base": {"*": names}}))
        for name in names:
            arguments = [{"contents": f"generation {self.generation}\n" * 20}]
            state = {str(self.tree.target / name): {"file.managed": arguments}}
            (states / f"{name}.sls").write_text(json.dumps(state))
        self.git("add", "--all")
        self.git("commit", "--quiet", "-m", str(self.generation))
        self.git("push", "--quiet", str(self.bare), "HEAD:main")
        self.generations[self.git("rev-parse", "HEAD")] = self.generation

    def used(self) -> int:
        """The generation of the tree in use; 0 for none, -1 for a torn one."""
        link = self.trees / "current"
        if not link.is_symlink():
            return 0
        generation = self.generations.get(os.readlink(link)[:40], -1)
        files = [link / f"states/f{number}.sls" for number in range(FILES)]
        whole = all(
            path.exists() and path.read_text().count(f"generation {generation}\\n") == 20
            for path in files
        )
        return generation if whole and (link / "states/top.sls").exists() else -1

    def check(self, how: str) -> None:
        """Look at the tree in use, pull again, look at everything."""
        self.score.trials += 1
        used = self.used()
        self.score.check(
            used in (self.generation, self.generation - 1),
            f"{how}: the tree in use is that of generation {used} of {self.generation}",
        )
        if used > 0:
            shown = self.tree.run("show", "top")
            self.score.check(shown.code == 0, f"{how}: the tree in use does not compile: {shown}")
        again = self.tree.run("pull", "--wait")
        self.score.check(again.code == 0, f"{how}: the next pull: {again.code} {again.err}")
        self.score.check(self.used() == self.generation, f"{how}: the next pull is not the newest")
        text = f"generation {self.generation}\n" * 20
        files = [self.tree.target / f"f{number}" for number in range(FILES)]
        other = [path.name for path in files if path.read_text() != text]
        self.score.check(not other, f"{how}: not what the tree says: {other}")
        left = [path.name for path in self.trees.iterdir() if path.name.startswith(".")]
        folders = [path for path in self.trees.iterdir() if path.is_dir() and not path.is_symlink()]
        self.score.check(
            not left and len(folders) <= 2, f"{how}: left {left}, {len(folders)} trees"
        )


def at_random(site: Site, trials: int, seed: int | None) -> None:
    chance = seeded(seed)
    for _ in range(2):  # the first one makes the copy of the repository
        site.next()
        took = site.tree.run("pull").seconds
    hit = 0
    for number in range(trials):
        site.next()
        running = site.tree.start("pull")
        moment = chance.uniform(0, took * 1.1)
        time.sleep(moment)
        os.kill(running.pid, signal.SIGKILL)
        hit += running.wait().code == -signal.SIGKILL
        site.check(f"kill {number} after {moment * 1000:.0f} ms")
    print(f"{hit} of {trials} pulls were hit before their end")


def at_every_call(site: Site, some: int | None, seed: int | None) -> None:
    shim = with_shim()
    site.next()
    site.tree.run("pull")
    site.next()
    below = os.path.relpath(site.trees, site.tree.folder)
    site.tree.faulty(shim, Fault(0, COUNT), "pull", below=below)
    calls = shim.fault_calls()
    print(f"a pull makes {calls} calls that write among the trees")
    faults = [Fault(at, kind) for at in range(1, calls + 1) for kind in (KILL, KILL_HALFWAY)]
    for fault in seeded(seed).sample(faults, min(some, len(faults))) if some else faults:
        site.next()
        ended = site.tree.faulty(shim, fault, "pull", below=below)
        if fault.kind == KILL_HALFWAY and ended.code == 0:
            continue  # a call that has no middle
        site.check(f"{fault} ({shim.fault_hit().decode()})")


def full_disks(site: Site, some: int | None) -> None:
    """The trees are on a file system of their own, which a file fills but for some KiB."""
    site.next()
    site.tree.run("pull")
    ballast = site.state / "ballast"  # the rest is taken up by it
    steps = range(0, 640, 640 // (some or 20))
    refused = 0
    for room in steps:
        site.next()
        before = site.used()
        stats = os.statvfs(site.state)
        ballast.write_bytes(b"x" * max(0, stats.f_bavail * stats.f_frsize - room * 1024))
        ended = site.tree.run("pull")
        refused += ended.code == 4
        if ended.code == 4:
            site.score.check(site.used() == before, f"{room} KiB: another tree is used")
        good = ended.code in (0, 4) or "cannot" in ended.err
        site.score.check(good, f"{room} KiB: {ended.code} {ended.err}")
        ballast.unlink()
        site.check(f"{room} KiB of room")
    print(f"{refused} of {len(steps)} pulls refused the new tree")


def at_once(site: Site, runs: int) -> None:
    site.next()
    running = [site.tree.start("pull", *(["--wait"] if number else [])) for number in range(runs)]
    time.sleep(0.2)
    for each in running:
        ended = each.wait(120)
        site.score.check(ended.code in (0, 3), f"a pull among {runs}: {ended.code} {ended.err}")
    site.check(f"{runs} at once")


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--trials", type=int, help="default: 300 random moments, every call, ...")
    parser.add_argument("--seed", type=int)
    parser.add_argument("--every-call", action="store_true")
    parser.add_argument("--full-disk", action="store_true")
    parser.add_argument("--at-once", type=int, metavar="PULLS")
    options = parser.parse_args()
    if options.every_call:
        with_shim()
    warm()
    what = "calls" if options.every_call else "full disks" if options.full_disk else "moments"
    score = Score(f"pulls, {what}")
    with tempfile.TemporaryDirectory(prefix="runner-pulls-") as folder:
        if options.full_disk:
            with mounted("size=64m,mode=700") as state:
                full_disks(Site(Path(folder), score, state), options.trials)
            return score.end()
        site = Site(Path(folder), score)
        if options.every_call:
            at_every_call(site, options.trials, options.seed)
        elif options.at_once:
            at_once(site, options.at_once)
        else:
            at_random(site, options.trials or 300, options.seed)
    return score.end()


if __name__ == "__main__":
    sys.exit(main())
