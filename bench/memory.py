# SPDX-License-Identifier: Apache-2.0
"""What large files and endless texts cost: peak memory and time of one command each, beside a
bound.

    python bench/memory.py [--only WORD]

Large files are sparse where only their size matters. A case above its bound is marked, and the exit
code is 1.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from measure import RUNNER

BOUND = 400  # MB of memory, for each case
EDITED = 100  # of an edit by lines: 64 above what a start takes
SECONDS = 60.0


class Case(NamedTuple):
    """One command in a folder that `prepare` fills. code: the exit code that is expected."""

    name: str
    prepare: Callable[[Path], None]
    words: tuple[str, ...]
    code: int = 0
    bound: int = BOUND
    seconds: float = SECONDS


def sparse(name: str, megabytes: int, text: str = "") -> Callable[[Path], None]:
    """A file that is large and takes no room."""

    def prepare(folder: Path) -> None:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        os.truncate(path, megabytes << 20)

    return prepare


def sls(text: str) -> Callable[[Path], None]:
    """The SLS `x` with a text, in which FOLDER is the folder of the case."""

    def prepare(folder: Path) -> None:
        (folder / "states/x.sls").write_text(text.replace("FOLDER", str(folder)))

    return prepare


def text(name: str, contents: str) -> Callable[[Path], None]:
    def prepare(folder: Path) -> None:
        (folder / name).write_text(contents)

    return prepare


def both(*parts: Callable[[Path], None]) -> Callable[[Path], None]:
    def prepare(folder: Path) -> None:
        for part in parts:
            part(folder)

    return prepare


def lines(name: str, megabytes: int, mark: str) -> Callable[[Path], None]:
    """A text in which no line occurs twice."""

    def prepare(folder: Path) -> None:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("w") as file:
            for number in range(megabytes * 16384):
                file.write(f"{mark} {number:012} ".ljust(63, "x") + "\n")

    return prepare


def mappings(name: str, megabytes: int) -> Callable[[Path], None]:
    """YAML with as many short keys as fit."""

    def prepare(folder: Path) -> None:
        count = megabytes * 1048576 // 13
        with (folder / name).open(
            "w"
        ) as file:  # by lines: a child's peak is no less than its parent's
            file.write("x:\n")
            file.writelines(f" k{number:07}: 1\n" for number in range(count))

    return prepare


def managed(name: str, more: str = "") -> str:
    return f"FOLDER/target:\n  file.managed:\n    - source: {name}\n{more}"


DOUBLED = "{% set l = [0] %}{% for i in range(60) %}{% do l.extend(l) %}{% endfor %}"
KEY = "ssh-ed25519 AAAA:\n  ssh_auth.present:\n    - user: root\n    - config: FOLDER/keys\n"
RENDERED = "    - template: jinja\n"
LINE_EDITS = {
    "file.append": "[text: a new line]",
    "file.prepend": "[text: a new line]",
    "file.replace": "[pattern: '^old 000000000007 .*$', repl: new, backup: false]",
    "file.line": "[mode: replace, match: '^old 000000000007 ', content: new]",
    "file.comment": "[regex: '^old 000000000007 ', backup: false]",
    "file.keyvalue": "[key: k, value: v, append_if_not_found: true]",
    "file.blockreplace": "[content: new, append_if_not_found: true, backup: false]",
    "ini.options_present": "[sections: {a: {b: c}}]",
    "ini.options_absent": "[sections: {a: [b]}]",
    "ini.sections_present": "[sections: [a]]",
    "ini.sections_absent": "[sections: [a]]",
}
PATCH = """--- a
+++ b
@@ -1 +1 @@
-old 000000000000 xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
+new
"""
REFUSED = {  # what reads all of a file
    "mount.fstab_present": "[config: FOLDER/target, name: /dev/x, fs_vfstype: ext4, fs_file: /x]",
    "sysctl.present": "[config: FOLDER/target, name: kernel.panic, value: 1]",
    "file.serialize": "[dataset: {a: 1}, serializer: yaml, merge_if_exists: true]",
}
PRINTS = "x:\n  cmd.run:\n    - name: head -c 1073741824 /dev/zero | tr '\\0' x\n"
GUARD = "x:\n  cmd.run:\n    - name: 'true'\n    - unless: head -c 1073741824 /dev/zero; false\n"
CASES = [
    Case(
        "a source of 1 GB, new",
        both(sparse("states/big", 1024), sls(managed("salt://big"))),
        ("sls", "x"),
    ),
    Case(
        "a source of 1 GB over one of 1 GB",
        both(sparse("states/big", 1024), sparse("target", 1024, "old"), sls(managed("salt://big"))),
        ("sls", "x"),
    ),
    Case(
        "every line of 135 MB is new",
        both(
            lines("states/big", 135, "new"), lines("target", 135, "old"), sls(managed("salt://big"))
        ),
        ("sls", "x"),
    ),
    Case(
        "a template of 1 GB without Jinja",
        both(sparse("states/big", 1024), sls(managed("salt://big", RENDERED))),
        ("sls", "x"),
        bound=EDITED,
    ),
    Case(
        "a template of 1 GB",
        both(sparse("states/big", 1024, "{{ 1 }}"), sls(managed("salt://big", RENDERED))),
        ("sls", "x"),
        2,
        bound=EDITED,
    ),
    Case(
        "a hash file of 100 MB",
        both(
            lines("sums", 100, "old"),
            sls(managed("FOLDER/sums", "    - source_hash: FOLDER/sums\n")),
        ),
        ("sls", "x"),
        2,
        bound=EDITED,
    ),
    Case(
        "a script of 1 GB",
        both(
            sparse("states/big", 1024, "#!/bin/sh\nexit 0\n"),
            sls("x:\n  cmd.script:\n    - source: salt://big\n"),
        ),
        ("sls", "x"),
        bound=EDITED,
    ),
    Case(
        "an append source of 1 GB",
        both(
            sparse("states/big", 1024),
            sls("FOLDER/target:\n  file.append:\n    - source: salt://big\n"),
        ),
        ("sls", "x"),
        2,
    ),
    Case(
        "a folder of the tree with 1 GB",
        both(
            sparse("states/d/big", 1024),
            sls("FOLDER/target:\n  file.recurse:\n    - source: salt://d\n"),
        ),
        ("sls", "x"),
    ),
    Case(
        "file.replace in 3 GB",
        both(
            sparse("target", 3072),
            sls("FOLDER/target:\n  file.replace:\n    - pattern: a\n    - repl: b\n"),
        ),
        ("sls", "x"),
        2,
    ),
    Case(
        "an authorized_keys of 3 GB",
        both(sparse("keys", 3072), sls(KEY)),
        ("sls", "x", "--test"),
        2,
    ),
    *(
        Case(
            f"{edit} in 1 GB",
            both(lines("target", 1024, "old"), sls(f"FOLDER/target:\n  {edit}: {arguments}\n")),
            ("sls", "x"),
            bound=EDITED,
            seconds=5 * SECONDS,
        )
        for edit, arguments in LINE_EDITS.items()
    ),
    *(
        Case(
            f"{function} of 200 MB",
            both(sparse("target", 200), sls(f"FOLDER/target:\n  {function}: {arguments}\n")),
            ("sls", "x", "--test"),
            2,
            bound=EDITED,
        )
        for function, arguments in REFUSED.items()
    ),
    Case(
        "file.patch of 1 GB",
        both(
            lines("target", 1024, "old"),
            text("states/p", PATCH),
            sls("FOLDER/target:\n  file.patch:\n    - source: salt://p\n"),
        ),
        ("sls", "x"),
        bound=EDITED,
        seconds=5 * SECONDS,
    ),
    Case(
        "file.replace over lines in 100 MB",
        both(
            lines("target", 100, "old"),
            sls(
                "FOLDER/target:\n  file.replace:"
                " [pattern: 'old 000000000007 x+\\nold', repl: new line, backup: false]\n"
            ),
        ),
        ("sls", "x"),
        bound=200,
    ),
    Case(
        "a template that puts out 100 MB",
        both(
            text(
                "states/t",
                "{% set big = 'y' * 1000000 %}{% for j in range(100) %}{{ big }}{% endfor %}",
            ),
            sls(managed("salt://t", RENDERED)),
        ),
        ("sls", "x"),
        2,
    ),
    Case("a command that prints 1 GB", sls(PRINTS), ("sls", "x"), bound=EDITED),
    Case("a guard that prints 1 GB", sls(GUARD), ("sls", "x", "--test"), bound=EDITED),
    Case("an SLS of 15 MB", mappings("states/x.sls", 15), ("sls", "x"), 1, bound=1500),
    Case("an SLS of 2 GB", sparse("states/x.sls", 2048), ("sls", "x"), 1),
    Case("a top file of 2 GB", sparse("states/top.sls", 2048), ("highstate",), 1),
    Case("a pillar of 2 GB", both(sls("{}"), sparse("pillar/top.sls", 2048)), ("sls", "x"), 1),
    Case(
        "a configuration of 2 GB", both(sls("{}"), sparse("runner.d/a.yaml", 2048)), ("sls", "x"), 1
    ),
    Case(
        "an imported template of 2 GB",
        both(sparse("states/m.jinja", 2048), sls("{% import 'm.jinja' as m %}")),
        ("sls", "x"),
        1,
    ),
    Case("a list that a loop doubles", sls(DOUBLED), ("sls", "x"), 1),
    Case(
        "the same in a template of a parallel state",
        both(
            sls(managed("salt://t", RENDERED + "    - parallel: true\n")), text("states/t", DOUBLED)
        ),
        ("sls", "x"),
        2,
    ),
    Case(
        "cp.get_file_str of 2 GB",
        both(sparse("states/big", 2048), sls("x: {{ salt['cp.get_file_str']('salt://big') }}")),
        ("sls", "x"),
        1,
    ),
    Case(
        "a misspelled SLS beside a link to /",
        both(sls("{}"), lambda folder: (folder / "states/all").symlink_to("/")),
        ("sls", "xx"),
        1,
    ),
]


def measured(case: Case) -> str:
    """Run one case; its line of the table, with a ! where it is above a bound."""
    with tempfile.TemporaryDirectory(prefix="runner-memory-") as name:
        folder = Path(name)
        (folder / "states").mkdir()
        (folder / "pillar").mkdir()
        (folder / "runner.yaml").write_text(
            "file_roots: {base: [states]}\npillar_roots: {base: [pillar]}\n"
        )
        case.prepare(folder)
        words = [
            sys.executable,
            "-c",
            RUNNER,
            case.words[0],
            "--config",
            f"{name}/runner.yaml",
            "--cachedir",
            f"{name}/cache",
        ]
        began = time.monotonic()
        child = subprocess.Popen(
            [*words, *case.words[1:]], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        )
        error = child.stderr.read() if child.stderr else ""
        _, status, used = os.wait4(child.pid, 0)
        seconds, code = time.monotonic() - began, os.waitstatus_to_exitcode(status)
        kept = (
            sum(path.stat().st_size for path in (folder / "cache").rglob("*") if path.is_file())
            >> 20
        )
    megabytes = used.ru_maxrss >> 10
    wrong = (
        megabytes > case.bound
        or code != case.code
        or seconds > case.seconds
        or "bug in runner" in error
    )
    row = (
        f"{'!' if wrong else ' '} {case.name:40} {megabytes:6} MB {seconds:6.1f} s  history"
        f" {kept:4} MB  exit {code}"
    )
    return f"{row}\n{error}" if wrong else row


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", default="", help="cases whose name has this word in it")
    only = parser.parse_args().only
    rows = []
    for case in CASES:
        if only in case.name:
            rows.append(measured(case))
            print(rows[-1], flush=True)
    return int(any(row.startswith("!") for row in rows))


if __name__ == "__main__":
    sys.exit(main())
