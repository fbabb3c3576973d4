"""The target of a state is swapped for a symbolic link to somebody else's file, before each call of a run that changes
something below its folder, in turn.

What the link points to has to stay as it is: contents, mode, owner, times. (A link that was there when the state looked
is followed where the state says so; one that comes after the look never is.)

    python bench/faults/swap.py
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

from common import COUNT, SWAP, Fault, Score, Tree, begun

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
    "file.keyvalue": "file.keyvalue:\n    - key: a\n    - value: b\n    - append_if_not_found: True",
    "file.serialize": "file.serialize:\n    - dataset: {a: 1}\n    - mode: '0666'",
    "file.copy": "file.copy:\n    - source: {target}/source\n    - force: True\n    - mode: '0666'",
    "file.symlink": "file.symlink:\n    - target: /nowhere\n    - force: True",
    "file.absent": "file.absent: []",
    "ini.options_present": "ini.options_present:\n    - sections: {a: {b: c}}",
}


def main() -> int:
    only, shim = begun(__doc__)
    score = Score("targets swapped for links")
    with tempfile.TemporaryDirectory(prefix="runner-swap-") as folder:
        tree = Tree(Path(folder))
        victim, link, target = tree.write("victim", "mine\n"), tree.target / "link", tree.target / "f"
        tree.write("target/source", "source\n")
        victim.chmod(0o600)
        os.utime(victim, (1000, 1000))
        before = (victim.read_text(), victim.stat())

        def trial(fault: Fault) -> str:
            for path in (target, link):
                path.unlink(missing_ok=True)
            target.write_text("old\n")
            link.symlink_to(victim)
            shim.fault_swap(str(link).encode(), str(target).encode())
            ended = tree.faulty(shim, fault, "sls", "a", below="target")
            return f"{ended.code}: {ended.out}{ended.err}"

        for name, text in STATES.items():
            if only not in name:
                continue
            tree.write("states/a.sls", f"{target}:\n  {text}\n")
            trial(Fault(0, COUNT))
            calls = shim.fault_calls()
            score.check(calls > 0, f"{name} changes nothing")
            for at in range(1, calls + 1):
                said = trial(Fault(at, SWAP))
                score.trials += 1
                stat = victim.stat()
                same = [getattr(stat, key) == getattr(before[1], key) for key in ("st_mode", "st_uid", "st_mtime")]
                whole = victim.read_text() == before[0]
                score.check(whole and all(same), f"{name}, call {at} ({shim.fault_hit().decode()}): {said}")
                score.check("Traceback" not in said and "exception occurred" not in said, f"{name}: {said}")
    return score.end()


if __name__ == "__main__":
    sys.exit(main())
