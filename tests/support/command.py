# SPDX-License-Identifier: Apache-2.0
"""runner as a user types it: a tree in a folder and the command line in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from functools import cache
from pathlib import Path
from typing import Any

from prestarted import Server
from starting import PATIENCE, background

ROOT = Path(__file__).parent.parent.parent


@cache
def prestarted_server() -> Server:
    """The process of this test run that forks runners."""
    return Server({"PATH": os.environ["PATH"], "HOME": "/", "PYTHONPATH": str(ROOT)})


class Machine:
    """A tree below a folder, and runner on it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.config_file = folder / "runner.yaml"
        (folder / "states").mkdir(parents=True)
        (folder / "pillar").mkdir()
        self.config: dict[str, Any] = {
            "file_roots": {"base": ["states"]},
            "offline": False,  # whether this computer was started by an init, or not
            "pillar_roots": {"base": ["pillar"]},
            "id": "m1",
        }
        self.environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(folder),
            "PYTHONPATH": str(ROOT),
            **{name: os.environ[name] for name in ("TMPDIR",) if name in os.environ},
        }

    def write(self, **files: str) -> None:
        """`a__b="..."` is states/a/b.sls; `pillar__x` lies in the pillar."""
        for name, text in files.items():
            path = name.replace("__", "/")
            base = self.folder if path.startswith("pillar/") else self.folder / "states"
            target = base / f"{path}.sls"
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text.replace("{tmp}", str(self.folder)))

    def program(self, name: str, text: str) -> None:
        """Have a script found before all programs of this computer."""
        target = self.folder / "bin" / name
        if not target.parent.exists():
            target.parent.mkdir()
            self.environment["PATH"] = f"{target.parent}:{self.environment['PATH']}"
        target.write_text(text)
        target.chmod(0o755)

    def argv(self, *words: str) -> list[str]:
        text = json.dumps(self.config)
        if not self.config_file.exists() or self.config_file.read_text() != text:
            self.config_file.write_text(text)
        where = ["--config", str(self.config_file), "--cachedir", str(self.folder / "cache")]
        return [sys.executable, "-c", "from runner.cli import main; main()", *words, *where]

    def start(
        self, *words: str, ready: Path | Callable[[], object] | None = None, **more: Any
    ) -> AbstractContextManager[subprocess.Popen[str]]:
        """runner in the background, as `background` has it. more: as subprocess takes it."""
        given: dict[str, Any] = {"env": self.environment, "stdout": subprocess.DEVNULL} | more
        return background(self.argv(*words), ready, **given)

    def __call__(self, *words: str, code: int | None = 0) -> subprocess.CompletedProcess[str]:
        argv = self.argv(*words)
        server = prestarted_server()
        if server.suits(self.environment):
            done = server.run(argv[3:], self.environment, PATIENCE)
        else:
            done = subprocess.run(
                argv, capture_output=True, text=True, env=self.environment, timeout=PATIENCE
            )
        assert "Traceback" not in done.stdout + done.stderr
        assert code is None or done.returncode == code, done.stdout + done.stderr
        return done

    def altered(self, code: str, *words: str) -> subprocess.CompletedProcess[str]:
        """runner in the folder, after some Python that sees these words and takes its own away."""
        server = prestarted_server()
        assert server.suits(self.environment)
        return server.run([*words], self.environment, PATIENCE, str(self.folder), code=code)

    def document(self, *words: str, code: int | None = 0) -> Any:
        """What runner says in JSON."""
        return json.loads(self(*words, "--out", "json", code=code).stdout)

    def answer(self, *words: str, code: int | None = 0) -> Any:
        """The same, without the name of the machine around it."""
        return self.document(*words, code=code)["local"]

    def results(self, *words: str, code: int | None = 0) -> dict[str, Any]:
        """The results by ID."""
        answer = self.answer(*words, code=code)
        assert isinstance(answer, dict), answer
        return {value["__id__"]: value for value in answer.values()}


def alone_and_together(folder: Path) -> Iterator[Machine]:
    """Machines below a folder: one whose states end one by one (`failhard`), and one whose states
    may share their writes.
    """
    for alone in (True, False):
        machine = Machine(folder / ("alone" if alone else "together"))
        machine.config["failhard"] = alone
        yield machine
