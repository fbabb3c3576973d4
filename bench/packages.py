"""What a dry run of many packages that are not installed costs, with the apt of this machine.

    python bench/packages.py [NUMBER OF STATES ...]

A state for each package, taken evenly from all that apt knows. Prints CPU seconds and how often apt
was asked. The target: the questions do not grow with the states, unless packages do not go
together.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from speed import RUNNER, cpu

COUNT = '#!/bin/sh\necho {name} "$@" >>{folder}/asked\nexec /usr/bin/{name} "$@"\n'


def packages(count: int) -> list[str]:
    """Names of packages that are not installed."""
    said = subprocess.run(
        ["apt-cache", "dumpavail"], capture_output=True, text=True, check=True
    ).stdout
    every = sorted({line.split()[1] for line in said.splitlines() if line.startswith("Package: ")})
    there = subprocess.run(
        ["dpkg-query", "-Wf", "${Package}\n"], capture_output=True, text=True, check=True
    ).stdout
    names = [
        name for name in every if name not in set(there.split()) and not name.startswith("lib")
    ]
    return names[:: max(len(names) // count, 1)][:count]


def counted(folder: str) -> None:
    """Programs that note each call, first on the PATH."""
    for name in ("apt-get", "apt-cache"):
        program = Path(folder, name)
        program.write_text(COUNT.format(name=name, folder=folder))
        program.chmod(0o755)
    os.environ["PATH"] = f"{folder}:{os.environ['PATH']}"


def main() -> None:
    """Measure dry runs of growing trees."""
    with tempfile.TemporaryDirectory() as folder:
        counted(folder)
        Path(folder, "runner.yaml").write_text(
            json.dumps({"file_roots": {"base": [folder]}, "id": "bench"})
        )
        for count in [int(each) for each in sys.argv[1:]] or [1, 10, 40]:
            tree = {name: {"pkg.installed": []} for name in packages(count)}
            Path(folder, "many.sls").write_text(json.dumps(tree))
            Path(folder, "asked").unlink(missing_ok=True)
            where = ["--config", f"{folder}/runner.yaml", "--cachedir", f"{folder}/cache"]
            words = ["sls", "many", "--test", "-q", *where]
            seconds, _ = cpu(["-c", RUNNER, *words])
            asked = len(Path(folder, "asked").read_text().splitlines())
            print(f"{len(tree):4} packages {seconds:6.2f} s  apt was asked {asked} times")


if __name__ == "__main__":
    main()
