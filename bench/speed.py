"""What runner costs, as ratios to importing PyYAML, Jinja2 and typer alone.

    python bench/speed.py [--quick]

Prints, for each load, CPU seconds beyond the start, the ratio to the import floor, and the peak memory. The targets
stand beside it. A busy machine makes all figures larger: run it on a quiet one.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from pathlib import Path

FLOOR = "import yaml, jinja2, typer"
RUNNER = "from runner.cli import main; main()"


def files(count: int, folder: str) -> str:
    """Converged file.managed states."""
    return "".join(
        f"{folder}/out/{n}:\n  file.managed:\n    - contents: hello {n}\n    - makedirs: True\n" for n in range(count)
    )


def chained(count: int, folder: str) -> str:
    """test.nop with two requires each, declared in reverse order."""
    text = ""
    for n in range(count - 1):
        text += f"s{n}:\n  test.nop:\n    - require: [{{test: s{n + 1}}}, {{test: s{min(n + 7, count - 1)}}}]\n"
    return text + f"s{count - 1}: test.nop\n"


def looped(count: int, folder: str) -> str:
    """IDs that a loop makes: what a line had become is looked up for each of them."""
    return f"{{% for i in range({count}) %}}\ns{{{{ i }}}}: test.nop\n{{% endfor %}}\n"


def guarded(count: int, folder: str) -> str:
    """Commands that their guard skips."""
    return "".join(f"c{n}:\n  cmd.run:\n    - name: 'false'\n    - unless: 'true'\n" for n in range(count))


LOADS = (
    ("one converged state", files, 1, "1.5 floors in all"),
    ("1,000 converged file.managed", files, 1000, "0.3 s beyond the start"),
    ("10,000 converged file.managed", files, 10000, "ten times 1,000"),
    ("5,000 test.nop, reverse order", chained, 5000, "2 s in all"),
    ("5,000 test.nop from a loop", looped, 5000, "2 s in all"),
    ("100 guarded commands", guarded, 100, "what the shells cost and 0.1 s"),
)


def cpu(argv: list[str]) -> tuple[float, float]:
    """CPU seconds and peak megabytes of a program."""
    silent = [(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)]
    pid = os.posix_spawn(sys.executable, [sys.executable, *argv], os.environ, file_actions=silent)
    _, status, usage = os.wait4(pid, 0)
    if status:
        sys.exit(f"{argv} failed")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def best(argv: list[str], times: int) -> tuple[float, float]:
    """The least of several runs."""
    return min(cpu(argv) for _ in range(times))


def main() -> None:
    """Measure all loads."""
    quick = "--quick" in sys.argv
    floor, _ = best(["-c", FLOOR], 5)
    print(f"import floor: {floor:.3f} s CPU")
    start = floor
    with tempfile.TemporaryDirectory() as folder:
        config = Path(folder, "runner.yaml")
        config.write_text(json.dumps({"file_roots": {"base": [folder]}, "id": "bench"}))
        for name, make, count, target in LOADS[: 3 if quick else None]:
            Path(folder, "load.sls").write_text(make(count, folder))
            words = ["sls", "load", "--config", str(config), "--cachedir", f"{folder}/cache", "-q"]
            argv = ["-c", RUNNER, *words]
            cpu(argv)
            seconds, memory = best(argv, 3)
            if count == 1:
                start = seconds
            beyond = f"{seconds - start:6.3f} s beyond the start"
            print(f"{name:32} {seconds:6.3f} s  {seconds / floor:5.1f} floors  {beyond}  {memory:4.0f} MB")
            print(f"{'':32} target: {target}")


if __name__ == "__main__":
    main()
