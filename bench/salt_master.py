# SPDX-License-Identifier: Apache-2.0
"""What a job costs a real Salt master and its minion: Salt's own states, and runner's.

    python bench/salt_master.py [SLS FILES] [JOBS]

The tree is that of bench/pulls.py: a highstate of 20 file states among so many SLS files. Prints
CPU seconds of the master and the minion for the first job and for those that change nothing, where
the master's tree is used, and where `runner.config` names one that the minion has already.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests/support")]

from pulls import FILE  # noqa: E402
from real_salt import Client, RealSalt, environment  # noqa: E402

from runner.sources.config.load import load  # noqa: E402
from runner.tools.fleet.salt_export import export  # noqa: E402


def main(files: int = 300, jobs: int = 5) -> None:
    """Measure and print."""
    with tempfile.TemporaryDirectory(prefix="salt-", dir="/tmp") as name:
        folder = Path(name)
        states = folder / "states"
        states.mkdir()
        (states / "top.sls").write_text("base: {'*': [role1, role2]}\n")
        for number in range(files):
            text = "".join(FILE.format(number * 10 + n) for n in range(10))
            (states / f"role{number}.sls").write_text(text.replace("/root/pulls", str(folder)))
        config = folder / "runner.yaml"
        config.write_text(f"id: web1.example.org\nfile_roots: {{base: [{states}]}}\n")
        export(load(str(config), {}, {})[0], str(folder / "exported"))
        salt = RealSalt(environment(), folder, str(folder / "exported"))
        salt.minion |= {
            "runner.program": str(Path(sys.executable).parent / "runner"),
            "runner.options": {"cachedir": str(folder / "cache")},
        }
        try:
            salt.start()
            with salt.client() as client:
                measure(salt, client, str(config), jobs)
        finally:
            salt.stop()


def measure(salt: RealSalt, client: Client, config: str, jobs: int) -> None:
    client.run("saltutil.sync_modules")
    print(f"{'':34}{'master CPU s':>14}{'minion CPU s':>14}{'seconds':>9}")
    own = {"config": config}
    for what, fun, named, times in (
        ("test.ping", "test.ping", {}, jobs),
        ("runner.highstate, first", "runner.highstate", {}, 1),
        ("runner.highstate", "runner.highstate", {}, jobs),
        ("runner.highstate, own tree", "runner.highstate", own, jobs),
        ("state.apply, first", "state.apply", {}, 1),
        ("state.apply", "state.apply", {}, jobs),
    ):
        measured(salt, client, what, fun, named, times)


def measured(
    salt: RealSalt, client: Client, what: str, fun: str, named: dict[str, Any], times: int
) -> None:
    """Run a function so often, and print its mean cost."""
    before, began = salt.used(), time.monotonic()
    for _ in range(times):
        answer, code = client.run(fun, **named)
        assert code == 0, answer
    took = time.monotonic() - began
    time.sleep(2)  # until the processes of the last job have ended
    master, minion = (
        (after - earlier) / times for after, earlier in zip(salt.used(), before, strict=True)
    )
    print(f"{what:34}{master:14.3f}{minion:14.3f}{took / times:9.2f}", flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
