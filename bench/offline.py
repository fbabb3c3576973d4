# SPDX-License-Identifier: Apache-2.0
"""What public formulas do in an image, where nothing runs.

python bench/offline.py ROOT FOLDER[:SLS,...] ...
    formulas as `bench/foresight.py` takes them, with each of their examples of a pillar, in a copy
    of its own of a Debian root with lists of packages (mmdebstrap --variant=minbase
    --include=cron,systemd-sysv bookworm ROOT; runner call --root ROOT pkg.refresh_db). `runner
    highstate --root` three times: dry, real, again. Prints what failed, what the dry run said
    otherwise and what the second run still changes, then counts. KEEP=FOLDER keeps the copies and
    the answers there. Root; apt needs its network, or a proxy of ROOT's.

Of 37 formulas (saltstack-formulas) 32 compile with one of their examples or more: 402 states. Those
that failed want packages that Debian does not have, files and servers that the examples make up, or
what runs: a command that writes below /sys, `service mysql status`, and PostgreSQL's users and
databases. Nothing was left to do for a second run but in /run and /tmp, which do not last, and
where two states undo each other.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

from foresight import judged

RUNS = {"dry": ["--test"], "real": [], "again": []}
RUNNER = str(Path(sys.executable).with_name("runner"))
Answer = dict[str, dict[str, Any]]


def examples(folder: Path) -> list[Path]:
    """The pillars that a formula comes with: for its readers and for its tests."""
    name = folder.name.removesuffix("-formula")
    tests = [f"test/salt/pillar/{one}.sls" for one in ("default", name, "package", "debian")]
    return [path for path in map(folder.joinpath, ("pillar.example", *tests)) if path.exists()][:2]


def config(folder: Path, tree: Path, names: str, example: Path) -> Path:
    """Write the tree that applies a formula with an example of its pillar; return its
    configuration.
    """
    files = {
        "states/top.sls": f"base: {{'*': [{names}]}}\n",
        "pillar/top.sls": "base: {'*': [example]}\n",
        "pillar/example.sls": example.read_text(),
        "runner.yaml": json.dumps(
            {
                "id": "image",
                "file_roots": {"base": [str(tree / "states"), str(folder)]},
                "pillar_roots": {"base": [str(tree / "pillar")]},
            }
        ),
    }
    for name, text in files.items():
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).write_text(text)
    return tree / "runner.yaml"


def formula(
    root: Path, folder: Path, names: str, example: Path, kept: Path
) -> dict[str, Answer] | str:
    """Return what each of RUNS says; the message where the formula does not compile."""
    image = kept / "root"
    subprocess.run(["cp", "-a", "--reflink=auto", str(root), str(image)], check=True)
    words = ["highstate", "--config", str(config(folder, kept / "tree", names, example))]
    answers = {}
    for name, more in RUNS.items():
        argv = [RUNNER, *words, "--root", str(image), *more]
        done = subprocess.run([*argv, "--out", "json"], capture_output=True, text=True)
        (kept / f"{name}.json").write_text(done.stdout)
        (kept / f"{name}.err").write_text(done.stderr)
        if done.returncode not in (0, 2):
            return f"{name}: {done.stdout}{done.stderr}".strip()[-600:]
        answers[name] = json.loads(done.stdout)["local"]
    return answers


def told(answers: dict[str, Answer]) -> Counter[str]:
    """Print what is to be read of a formula's runs, and count it."""
    counts: Counter[str] = Counter()
    for key, real in answers["real"].items():
        dry = answers["dry"].get(key) or {"result": True, "changes": {}, "comment": "not there"}
        again = answers["again"].get(key) or dry
        words = [judged(dry, real)]
        words += ["again"] if again["changes"] and again["result"] else []
        words += ["at boot"] if "at_boot" in real else []
        if real["result"] is False:
            words += ["behind" if "requisite failed" in real["comment"] else "fails"]
        counts.update(["states", *words])
        if words[0] != "right" or {"again", "fails"} & {*words}:
            print(f"  {' '.join(words)}: {key}")
            for side, one in (("dry", dry), ("real", real), ("again", again)):
                changes = json.dumps(one["changes"])[:300]
                print(f"    {side} {one['result']} {changes} {one['comment'][:400]!r}")
    return counts


def main() -> None:
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    root, *words = sys.argv[1:]
    total: Counter[str] = Counter()
    for word in words:
        path, _, names = word.partition(":")
        folder = Path(path).resolve()
        name = folder.name.removesuffix("-formula")
        scratch = Path(os.environ.get("KEEP") or tempfile.mkdtemp())
        for example in examples(folder):
            kept = scratch / f"{name}-{example.stem}"
            kept.mkdir(parents=True)
            answers = formula(Path(root), folder, names or name, example, kept)
            print(f"{kept.name}: {answers if isinstance(answers, str) else ''}", flush=True)
            if not isinstance(answers, str):
                counts = told(answers)
                total += counts
                print(f"  {json.dumps(counts)}", flush=True)
        if "KEEP" not in os.environ:
            shutil.rmtree(scratch)
    print(json.dumps(total))


if __name__ == "__main__":
    os.umask(0o022)
    main()
