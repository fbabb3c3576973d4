# SPDX-License-Identifier: Apache-2.0
"""What a program costs, and the programs that are compared: runner, the floor, Salt, CFEngine."""

from __future__ import annotations

import json
import os
import shutil
import sys
import sysconfig
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
RUNNER = "from runner.cli import main; main()"
FLOOR = str(Path(__file__).with_name("floor.py"))


class Cost(NamedTuple):
    """CPU seconds (user and system, with all children), the largest process, seconds of a clock."""

    cpu: float
    megabytes: float
    wall: float


class Program(NamedTuple):
    """A command. stale: folders that are moved aside before each time it runs.

    They are not removed: ext4 gives no inode out again that was freed a moment ago, and looks past
    each of them for every file that is made next.
    """

    argv: list[str]
    stale: Sequence[str] = ()
    environment: Mapping[str, str] = os.environ


def cost(program: Program) -> Cost:
    """Run a program. Ends this one when it fails, with what it said."""
    for path in program.stale:
        if os.path.exists(path):
            os.rename(path, f"{path}.{time.monotonic_ns()}")
    with tempfile.TemporaryFile() as output:
        outputs = [(os.POSIX_SPAWN_DUP2, output.fileno(), number) for number in (1, 2)]
        argv = program.argv
        began = time.monotonic()
        pid = os.posix_spawnp(argv[0], argv, program.environment, file_actions=outputs)
        _, status, usage = os.wait4(pid, 0)
        wall = time.monotonic() - began
        if status:
            output.seek(0)
            sys.stderr.buffer.write(output.read())
            sys.exit(f"{' '.join(argv)}: exit code {os.waitstatus_to_exitcode(status)}")
    return Cost(usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, wall)


def least_by_turns(programs: Sequence[Program], times: int) -> list[Cost]:
    """The least of each figure of each program. They run by turns, so that a busy moment hits all
    of them, and their ratios suffer little.
    """
    turns = [[cost(program) for program in programs] for _ in range(times)]
    return [Cost(*map(min, zip(*costs, strict=True))) for costs in zip(*turns, strict=True)]


def prepare_environment() -> None:
    """Let Python keep compiled modules, as an installed program has them; and let all start the
    same shell, as cron does: Salt and runner take $SHELL, CFEngine and the floor take /bin/sh.
    Pythons start without `site`, which reads what else lies beside them, and find what runner
    needs where this one has it.
    """
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    os.environ["SHELL"] = "/bin/sh"
    os.environ["PYTHONPATH"] = os.pathsep.join((str(ROOT), sysconfig.get_path("purelib")))


def write_configuration(folder: Path, *, flow: bool = False) -> None:
    """What runner and a Salt minion need to apply `load.sls` of a folder, below it alone.

    flow: write it as YAML with a flow mapping, as people do, and not as JSON.
    """
    roots = {"file_roots": {"base": [str(folder)]}, "id": "bench"}
    text = json.dumps(roots | {"cachedir": f"{folder}/cache"})
    if flow:
        text = f"file_roots: {{base: [{folder}]}}\nid: bench\ncachedir: {folder}/cache\n"
    (folder / "runner.yaml").write_text(text)
    salt = {"root_dir": f"{folder}/salt", "file_client": "local", "grains": {}}
    (folder / "minion").write_text(json.dumps(roots | salt))


def runner(folder: Path, python: str = sys.executable) -> Program:
    """Applies the load of a folder. Each Python has caches of its own."""
    words = ["sls", "load", "--config", f"{folder}/runner.yaml", "-q"]
    if python != sys.executable:
        words += ["--cachedir", f"{folder}/cache/{python.replace('/', '_')}"]
    return Program([python, "-S", "-c", RUNNER, *words])


def floor(folder: Path) -> Program:
    """The script that does the least that any Python program has to do for the load."""
    return Program([sys.executable, "-S", FLOOR, str(folder)])


def salt(folder: Path, command: str) -> Program:
    """`salt-call` that applies the load. command: where it is."""
    words = ["--local", "-c", str(folder), "--out", "quiet", "-l", "quiet"]
    return Program([command, *words, "--retcode-passthrough", "state.sls", "load"])


def cfengine(folder: Path, command: str) -> Program:
    """`cf-agent` that applies the load's policy, with a state directory of its own."""
    home = folder / "cfengine"
    for name in ("bin", "inputs", "modules", "outputs", "ppkeys", "state"):
        (home / name).mkdir(mode=0o700, parents=True, exist_ok=True)
    policy = home / "inputs/load.cf"
    shutil.copy(folder / "load.cf", policy)
    policy.chmod(0o600)
    environment = os.environ | {"CFENGINE_TEST_OVERRIDE_WORKDIR": str(home)}
    agent = Path(shutil.which(command) or command).resolve()
    for tool in ("cf-promises", "cf-key"):
        link = home / "bin" / tool
        if not link.is_symlink():
            link.symlink_to(agent.with_name(tool))
    if not any((home / "ppkeys").iterdir()):
        cost(Program([str(agent.with_name("cf-key"))], environment=environment))
    return Program([str(agent), "-K", "-f", str(policy)], environment=environment)
