# SPDX-License-Identifier: Apache-2.0
"""SIGKILL at random moments, and at every call that writes, of a run that rewrites files with reactions.

After each kill: every file is the old one or the new one. After the next run: no reaction is missing, nothing lies
beside the targets, nothing is owed, nothing is left to change.

    python bench/faults/kills.py --trials 300          at random moments
    python bench/faults/kills.py --every-call          before each call that writes, and in the middle of it
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import tempfile
import time
from pathlib import Path

from common import COUNT, KILL, KILL_HALFWAY, Ended, Fault, Score, Tree, seeded, warm, with_shim

FILES = 5
TOGETHER = 20  # files that share a group commit
SOURCES = 10  # files that are made from others, and share a group commit
TREES = 10  # states that bring a few files each, and share a group commit
VERSIONS = 10  # states that edit one file after each other
SLS = (
    """
{% set g = pillar['g'] %}
{% for n in range("""
    + str(FILES)
    + """) %}
{target}/f{{ n }}:
  file.managed:
    - contents: |
{%- for line in range(400) %}
        generation {{ g }} of file {{ n }}, line {{ line }}
{%- endfor %}
    - mode: '06{{ 4 if g % 2 else 0 }}0'
onchanges-{{ n }}:
  cmd.run:
    - name: echo {{ g }} >> {target}/log/onchanges-{{ n }}
    - onchanges: [{file: {target}/f{{ n }}}]
watch-{{ n }}:
  cmd.wait:
    - name: echo {{ g }} >> {target}/log/watch-{{ n }}
    - watch: [{file: {target}/f{{ n }}}]
chained-{{ n }}:
  cmd.run:
    - name: echo {{ g }} >> {target}/log/chained-{{ n }}
    - onchanges: [{cmd: onchanges-{{ n }}}]
{% endfor %}
{% for n in range("""
    + str(TOGETHER)
    + """) %}
{target}/together-{{ n }}:
  file.managed:
    - contents: generation {{ g }}{% for n in range(400) %} {{ g }}{% endfor %}

{% endfor %}
{% for n in range("""
    + str(SOURCES)
    + """) %}
{target}/made-{{ n }}:
  file.managed:
    - source: salt://source
{target}/copied-{{ g }}-{{ n }}:
  file.copy:
    - source: {target}/made-0
{% endfor %}
{% for n in range("""
    + str(TREES)
    + """) %}
{target}/tree-{{ n }}:
  file.recurse:
    - source: salt://tree
{target}/new-{{ g }}-{{ n }}:
  file.recurse:
    - source: salt://tree
{target}/folder-{{ g }}-{{ n }}:
  file.copy:
    - source: {target}/tree-{{ n }}
{% endfor %}
{% for n in range("""
    + str(VERSIONS)
    + """) %}
version-{{ n }}:
  file.keyvalue:
    - name: {target}/versions
    - key: k{{ n }}
    - value: generation {{ g }}
{% endfor %}
{% for n in range("""
    + str(VERSIONS)
    + """) %}
line-{{ n }}:
  mount.fstab_present:
    - name: /device{{ g }}
    - fs_file: /folder{{ n }}
    - fs_vfstype: ext4
    - mount: False
    - config: {target}/table
{% endfor %}
heard:
  cmd.wait:
    - name: echo {{ g }} >> {target}/log/heard
    - listen: [{file: {target}/f0}]
{target}/link:
  file.symlink:
    - target: f{{ g % 3 }}
    - force: True
{target}/edited:
  file.replace:
    - pattern: 'generation \\d+'
    - repl: generation {{ g }}
{target}/block:
  file.blockreplace:
    - content: generation {{ g }}
    - append_if_not_found: True
edits:
  cmd.run:
    - name: echo {{ g }} >> {target}/log/edits
    - onchanges_any: [{file: {target}/edited}, {file: {target}/block}, {file: {target}/link}]
"""
)
REACTIONS = [f"{kind}-{n}" for n in range(FILES) for kind in ("onchanges", "watch", "chained")] + [
    "heard",
    "edits",
]


class Trial:
    """The tree, which is brought from one generation to the next again and again."""

    def __init__(self, folder: Path, score: Score) -> None:
        self.tree = Tree(folder)
        self.score = score
        self.generation = 0
        self.tree.write("states/a.sls", SLS)
        (self.tree.target / "log").mkdir()
        self.tree.write("target/edited", "".join(f"line {n}: generation 0\n" for n in range(2000)))
        self.tree.write("target/versions", "".join(f"k{n}=0\n" for n in range(VERSIONS)))
        self.tree.write("target/block", "".join(f"line {n}\n" for n in range(2000)))
        self.next()
        ended = self.run()
        assert ended.code == 0, ended
        self.took = ended.seconds

    def next(self) -> None:
        self.generation += 1
        self.tree.write("states/source", self.text(self.generation))
        for name in ("a", "b/c"):
            self.tree.write(f"states/tree/{name}", self.text(self.generation))

    def text(self, generation: int) -> str:
        return f"generation {generation}" + 400 * f" {generation}" + "\n"

    def words(self, *more: str) -> tuple[str, ...]:
        return ("sls", "a", "--pillar", f'{{"g": {self.generation}}}', *more)

    def run(self, *more: str) -> Ended:
        return self.tree.run(*self.words(*more))

    def after_kill(self, how: str) -> None:
        """Look at the files, run again, look at everything."""
        self.score.trials += 1
        new = self.generation
        for n in range(FILES):
            text = (self.tree.target / f"f{n}").read_text()
            whole = {
                "".join(f"generation {g} of file {n}, line {i}\n" for i in range(400))
                for g in (new - 1, new)
            }
            self.score.check(text in whole, f"{how}: f{n} is torn")
        for n in range(TOGETHER):
            text = (self.tree.target / f"together-{n}").read_text()
            whole = {self.text(g) for g in (new - 1, new)}
            self.score.check(text in whole, f"{how}: together-{n} is torn")
        for n in range(SOURCES):
            text = (self.tree.target / f"made-{n}").read_text()
            self.score.check(text in whole, f"{how}: made-{n} is torn")
            copied = self.tree.target / f"copied-{new}-{n}"
            text = copied.read_text() if copied.exists() else self.text(new)
            self.score.check(text == self.text(new), f"{how}: copied-{n} is torn")
        for n in range(TREES):
            for name in ("a", "b/c"):
                text = (self.tree.target / f"tree-{n}/{name}").read_text()
                self.score.check(text in whole, f"{how}: tree-{n}/{name} is torn")
                made = self.tree.target / f"new-{new}-{n}/{name}"
                text = made.read_text() if made.exists() else self.text(new)
                self.score.check(text == self.text(new), f"{how}: new-{n}/{name} is torn")
                folder = self.tree.target / f"folder-{new}-{n}"
                text = (folder / name).read_text() if folder.exists() else self.text(new)
                self.score.check(text == self.text(new), f"{how}: folder-{n}/{name} is torn")
        for name, lines in (("edited", 2000), ("block", 2003)):
            text = (self.tree.target / name).read_text()
            found = (
                text.count("\n"),
                text.count(f"generation {new}"),
                text.count(f"generation {new - 1}"),
            )
            marks = 2000 if name == "edited" else 1
            self.score.check(
                found in ((lines, marks, 0), (lines, 0, marks)), f"{how}: {name} is torn {found}"
            )
        lines = (self.tree.target / "versions").read_text().splitlines()
        whole = [f"k{n}=generation {g}" for g in (new, new - 1) for n in range(VERSIONS)]
        count = sum(line in whole[:VERSIONS] for line in lines)
        wanted = whole[:count] + whole[VERSIONS + count :]
        self.score.check(lines == wanted, f"{how}: versions: {lines}")
        lines = [line.split()[:2] for line in (self.tree.target / "table").read_text().splitlines()]
        count = sum(line[0] == f"/device{new}" for line in lines)
        wanted = [
            [f"/device{new if n < count else new - 1}", f"/folder{n}"] for n in range(VERSIONS)
        ]
        self.score.check(lines == wanted, f"{how}: table: {lines}")
        again = self.run()
        self.score.check(
            again.code == 0, f"{how}: the next run ended with {again.code}: {again.out}{again.err}"
        )
        for reaction in REACTIONS:
            path = self.tree.target / "log" / reaction
            done = path.read_text().split() if path.exists() else []
            self.score.check(str(new) in done, f"{how}: {reaction} is missing")
        self.score.check(not self.tree.leftovers(), f"{how}: left {self.tree.leftovers()}")
        third = self.run("-q")
        self.score.check(
            (third.code, third.out, third.err) == (0, "", ""), f"{how}: not converged: {third}"
        )


def at_random(trial: Trial, trials: int, seed: int | None) -> None:
    chance = seeded(seed)
    killed = 0
    for number in range(trials):
        trial.next()
        running = trial.tree.start(*trial.words())
        moment = chance.uniform(0, trial.took * 1.1)
        time.sleep(moment)
        os.kill(running.pid, signal.SIGKILL)
        ended = running.wait()
        killed += ended.code == -signal.SIGKILL
        trial.after_kill(f"kill {number} after {moment * 1000:.1f} ms")
    print(f"{killed} of {trials} runs were hit before their end")


def at_every_call(trial: Trial, below: str, some: int | None, seed: int | None) -> None:
    shim = with_shim()
    trial.next()
    trial.tree.faulty(shim, Fault(0, COUNT), *trial.words(), below=below)
    calls = shim.fault_calls()
    print(f"a run makes {calls} calls that write")
    faults = [Fault(at, kind) for at in range(1, calls + 1) for kind in (KILL, KILL_HALFWAY)]
    for fault in seeded(seed).sample(faults, some) if some else faults:
        trial.next()
        ended = trial.tree.faulty(shim, fault, *trial.words(), below=below)
        if fault.kind == KILL_HALFWAY and ended.code != -signal.SIGKILL:
            trial.score.check(trial.run().code == 0, f"{fault}: the next run")
            continue  # a call that has no middle: it failed, and the run went on
        trial.after_kill(f"{fault} ({shim.fault_hit().decode()})")


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--trials", type=int, help="default: 300 random moments, every call")
    parser.add_argument("--seed", type=int)
    parser.add_argument(
        "--below",
        default="",
        help="with --every-call: only calls below this folder, such as target",
    )
    parser.add_argument("--every-call", action="store_true")
    options = parser.parse_args()
    if options.every_call:
        with_shim()
    warm()
    score = Score("kills at every call" if options.every_call else "kills at random moments")
    with tempfile.TemporaryDirectory(prefix="runner-kills-") as folder:
        trial = Trial(Path(folder), score)
        if options.every_call:
            at_every_call(trial, options.below, options.trials, options.seed)
        else:
            at_random(trial, options.trials or 300, options.seed)
    return score.end()


if __name__ == "__main__":
    sys.exit(main())
