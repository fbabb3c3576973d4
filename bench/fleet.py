# SPDX-License-Identifier: Apache-2.0
"""How long `runner fleet highstate` takes for 100 file states on 15 machines, 3 of them down.

    python bench/fleet.py [STATES] [MACHINES] [DOWN]

The machines are users of one throw-away machine (root on a Debian), each with an address of its own
and a real sshd before it. Prints seconds: of the first run, which brings runner and the tree there
and makes all files; of the second, which changes nothing; and of a `call`.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

sys.path[:0] = [
    str(Path(__file__).parent.parent),
    str(Path(__file__).parent.parent / "tests/support"),
]

import fleet  # noqa: E402
from debian import debian  # noqa: E402
from debian_layer import layer_or_skip  # noqa: E402

HEAD = "{% set home = salt['environ.get']('HOME') %}\n"
STATE = """file-@:
  file.managed:
    - name: {{ home }}/files/@
    - contents: number @
    - makedirs: true
"""


def main(states: int = 100, machines: int = 15, down: int = 3) -> None:
    """Measure and print."""
    with debian(layer_or_skip("base")) as machine:
        fleet.hosts(machine, machines, down)
        text = HEAD + "".join(STATE.replace("@", str(n)) for n in range(states))
        machine.write(f"{fleet.FOLDER}/states/many.sls", text)
        machine.write(f"{fleet.FOLDER}/states/top.sls", "base:\n  '*': [many]\n")
        config = ("--config", f"{fleet.FOLDER}/runner.yaml", "--out", "json")
        for name, words in (
            ("first", ("highstate", "*")),
            ("second", ("highstate", "*")),
            ("call", ("call", "*", "test.ping")),
        ):
            began = time.monotonic()
            machine.runner("fleet", *words, *config, code=2 if down else 0)
            print(f"{name:8} {time.monotonic() - began:6.1f} s")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
