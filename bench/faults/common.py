# SPDX-License-Identifier: Apache-2.0
"""What the fault scripts share: a tree in a folder, and runs of it in forked children that faults are aimed at.

A run starts in some milliseconds, since the parent has imported everything; what it does is what `runner` does. With
the shim (built here with `cc`, loaded by starting Python again) each system call that writes can be made to fail.
"""

from __future__ import annotations

import argparse
import ctypes
import importlib
import json
import os
import random
import resource
import signal
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent.parent))

COUNT, FAIL, KILL, KILL_HALFWAY, SWAP = range(5)  # as in shim.c
_end = os._exit  # that of a process in which runner has run raises SystemExit


class Fault(NamedTuple):
    """What happens to a run: at its n-th call that writes below the folder. sticky: to all from there on, too."""

    at: int
    kind: int = COUNT
    error: int = 0
    sticky: bool = False


class Ended(NamedTuple):
    """How a run ended. code: its exit code, or the negative number of the signal that ended it."""

    code: int
    out: str
    err: str
    seconds: float
    megabytes: float


def begun(about: str | None) -> tuple[str, ctypes.CDLL]:
    """The word that `--only` gives (empty for all), and the shim in a process that has loaded what it needs."""
    parser = argparse.ArgumentParser(
        description=about, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", default="", help="states whose name has this word in it")
    options = parser.parse_args()
    shim = with_shim()
    warm()
    return str(options.only), shim


def with_shim() -> ctypes.CDLL:
    """The shim, loaded into this process: builds it and starts Python anew when that has not been done."""
    library = os.environ.get("RUNNER_FAULT_SHIM")
    if not library:
        folder = tempfile.mkdtemp(prefix="runner-shim-")
        library = f"{folder}/shim.so"
        compiler = sysconfig.get_config_var("CC").split()[0] if not _has("cc") else "cc"
        subprocess.run(
            [compiler, "-O1", "-shared", "-fPIC", "-o", library, str(HERE / "shim.c"), "-ldl"],
            check=True,
        )
        done = subprocess.run(
            [sys.executable, *sys.argv],
            env={**os.environ, "RUNNER_FAULT_SHIM": library, "LD_PRELOAD": library},
        )
        Path(library).unlink()
        Path(folder).rmdir()
        sys.exit(done.returncode)
    loaded = ctypes.CDLL(library)
    loaded.fault_calls.restype = ctypes.c_long
    loaded.fault_hit.restype = ctypes.c_char_p
    return loaded


def _has(program: str) -> bool:
    return any(
        os.access(f"{folder}/{program}", os.X_OK)
        for folder in os.environ.get("PATH", "").split(":")
    )


class Tree:
    """A configuration, SLS files and a machine's files, all below one folder."""

    def __init__(self, folder: Path, **config: Any) -> None:
        self.folder = folder
        self.target = folder / "target"  # what the states write
        self.state = folder / "cache/state"
        for each in (folder / "states", folder / "pillar", self.target):
            each.mkdir(parents=True, exist_ok=True)
        roots = {"file_roots": {"base": ["states"]}, "pillar_roots": {"base": ["pillar"]}}
        (folder / "runner.yaml").write_text(
            json.dumps({**roots, "id": "m1", "cachedir": "cache", **config})
        )

    def write(self, name: str, text: str | bytes) -> Path:
        """A file below the folder; {target} in its text is where states write."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(
            text if isinstance(text, bytes) else text.replace("{target}", str(self.target)).encode()
        )
        return path

    def start(
        self,
        *words: str,
        before: Callable[[], object] = lambda: None,
        limits: Mapping[int, int] | None = None,
    ) -> Running:
        """A run, begun in a child. before: called in it first. limits: of resources (resource.RLIMIT_*)."""
        out, err = (os.memfd_create(name) for name in ("out", "err"))
        began = time.monotonic()
        child = os.fork()
        if child:
            return Running(child, out, err, began)
        try:
            os.setpgid(0, 0)
            ctypes.CDLL(None).prctl(1, int(signal.SIGKILL))  # not longer than the script
            os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
            os.dup2(out, 1)
            os.dup2(err, 2)
            for which, limit in (limits or {}).items():
                resource.setrlimit(which, (limit, limit))
            os.chdir(self.folder)
            os.environ.update(HOME=str(self.folder))
            sys.argv = ["runner", *words, "--config", str(self.folder / "runner.yaml")]
            sys.stdout, sys.stderr = (
                os.fdopen(1, "w", closefd=False),
                os.fdopen(2, "w", closefd=False),
            )
            before()
            from runner.cli import main

            main()
        except SystemExit as stop:
            code = stop.code if isinstance(stop.code, int) else int(stop.code is not None)
        except BaseException as error:
            print(f"Traceback: {type(error).__name__}: {error}", file=sys.stderr)
            code = 70
        else:
            code = 0
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except OSError:
                code = 74
        _end(code)

    def run(self, *words: str, **options: Any) -> Ended:
        """A run and how it ended."""
        return self.start(*words, **options).wait()

    def faulty(self, shim: ctypes.CDLL, fault: Fault, *words: str, below: str = "") -> Ended:
        """A run that a fault hits. below: only calls below this folder of the tree count."""
        folder = str(self.folder / below).encode()
        return self.run(
            *words,
            before=lambda: shim.fault_arm(
                fault.at, fault.kind, fault.error, int(fault.sticky), folder
            ),
        )

    def leftovers(self) -> list[str]:
        """Temporary files beside targets, and scratch folders."""
        left = (*self.folder.rglob(".*.runner-*"), *self.folder.rglob("scratch-*"))
        return [str(path) for path in left]


class Running:
    """A run under way."""

    def __init__(self, pid: int, out: Any, err: Any, began: float) -> None:
        self.pid = pid
        self._streams = (out, err)
        self._began = began

    def wait(self, limit: float = 60.0) -> Ended:
        """Wait for its end; what takes longer than the limit is killed and told as a hang (code -9)."""
        until = time.monotonic() + limit
        while True:
            pid, status, usage = os.wait4(self.pid, os.WNOHANG)
            if pid:
                break
            if time.monotonic() > until:
                os.killpg(self.pid, signal.SIGKILL)
            time.sleep(0.002)
        texts = []
        for stream in self._streams:
            with os.fdopen(stream, "rb") as file:
                file.seek(0)
                texts.append(file.read().decode(errors="replace"))
        seconds = time.monotonic() - self._began
        return Ended(os.waitstatus_to_exitcode(status), *texts, seconds, usage.ru_maxrss / 1024)


def warm() -> None:
    """Import what runs need, so that children begin at once."""
    for name in """
        sqlite3 networkx modules.cmd modules.file runner.pipeline states.cmd states.file.managed
    """.split():
        importlib.import_module(name)


class Score:
    """Counts trials and what went wrong in them."""

    def __init__(self, what: str) -> None:
        self.what = what
        self.trials = 0
        self.wrong: list[str] = []
        self.began = time.monotonic()

    def check(self, good: bool, complaint: str) -> None:
        if not good:
            self.wrong.append(complaint)
            print(f"  WRONG: {complaint}", flush=True)

    def end(self) -> int:
        """Print the line for docs/reliability.md; the exit code."""
        took = time.monotonic() - self.began
        print(f"{self.what}: {self.trials} trials, {len(self.wrong)} wrong, {took:.0f} s")
        return int(bool(self.wrong))


def seeded(seed: int | None) -> random.Random:
    """Random numbers that can be had again."""
    seed = random.randrange(10**6) if seed is None else seed
    print(f"seed {seed}")
    return random.Random(seed)
