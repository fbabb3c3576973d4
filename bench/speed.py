"""What runner costs, as ratios to importing PyYAML, Jinja2 and typer alone.

    python bench/speed.py [--quick]

Prints the CPU seconds of a start and how many import floors they are, and for each load those
beyond the start and the peak memory. The targets stand beside it. A start and the floor run by
turns, and the least of each counts, so that a busy machine makes their ratio hardly larger; the
other figures want a quiet one.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

FLOOR = "import yaml, jinja2, typer"
RUNNER = "from runner.cli import main; main()"


def files(count: int, folder: str) -> str:
    """Converged file.managed states."""
    return "".join(
        f"{folder}/out/{n}:\n  file.managed:\n    - contents: hello {n}\n    - makedirs: True\n"
        for n in range(count)
    )


def chained(count: int, folder: str) -> str:
    """test.nop with two requires each, declared in reverse order."""
    text = ""
    for n in range(count - 1):
        text += (
            f"s{n}:\n  test.nop:\n    - require: [{{test: s{n + 1}}}, {{test:"
            f" s{min(n + 7, count - 1)}}}]\n"
        )
    return text + f"s{count - 1}: test.nop\n"


def looped(count: int, folder: str) -> str:
    """IDs that a loop makes: what a line had become is looked up for each of them."""
    return f"{{% for i in range({count}) %}}\ns{{{{ i }}}}: test.nop\n{{% endfor %}}\n"


def guarded(count: int, folder: str) -> str:
    """Commands that their guard skips."""
    return "".join(
        f"c{n}:\n  cmd.run:\n    - name: 'false'\n    - unless: 'true'\n" for n in range(count)
    )


def listening(count: int, folder: str) -> str:
    """Listeners of one state that changes each time."""
    return "c: test.succeed_with_changes\n" + "".join(
        f"s{n}:\n  test.nop:\n    - listen: [{{test: c}}]\n" for n in range(count)
    )


def chain(count: int, folder: str) -> str:
    """One chain through all states."""
    states = "".join(f"s{n}: test.nop\n" for n in range(count))
    return f"{states}chain:\n  - '{' -> '.join(f'test: s{n}' for n in range(count))}'\n"


def included(count: int, folder: str) -> str:
    """Many small SLS files."""
    for n in range(count):
        path = Path(folder, f"many/s{n}.sls")
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"s{n}:\n  test.nop:\n    - name: {{{{ grains['id'] }}}}{n}\n")
    return "include:\n" + "".join(f"  - many.s{n}\n" for n in range(count))


def nothing(count: int, folder: str) -> str:
    """A state that has nothing to do."""
    return "a: test.nop\n"


Load = Callable[[int, str], str]
STARTS: tuple[tuple[str, Load, str], ...] = (
    ("one test.nop", nothing, "1.5 floors in all"),
    ("one converged file.managed", files, "1.5 floors in all"),
)
LOADS: tuple[tuple[str, Load, int, str], ...] = (
    ("1,000 converged file.managed", files, 1000, "0.3 s beyond the start"),
    ("10,000 converged file.managed", files, 10000, "ten times 1,000"),
    ("5,000 test.nop, reverse order", chained, 5000, "2 s in all"),
    ("5,000 test.nop from a loop", looped, 5000, "2 s in all"),
    ("5,000 listeners", listening, 5000, "in proportion"),
    ("a chain of 5,000", chain, 5000, "in proportion"),
    ("500 SLS files of one state", included, 500, "in proportion"),
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


def combine_plans(first: list[str], second: list[str], times: int) -> tuple[float, float]:
    """The least CPU seconds of two programs that run by turns, so that a busy moment hits both."""
    pairs = [(cpu(first)[0], cpu(second)[0]) for _ in range(times)]
    return min(pair[0] for pair in pairs), min(pair[1] for pair in pairs)


def prepared(folder: str, text: str) -> list[str]:
    """The command that applies a text, which is applied once."""
    Path(folder, "load.sls").write_text(text)
    config = Path(folder, "runner.yaml")
    config.write_text(json.dumps({"file_roots": {"base": [folder]}, "id": "bench"}))
    argv = [
        "-c",
        RUNNER,
        "sls",
        "load",
        "--config",
        str(config),
        "--cachedir",
        f"{folder}/cache",
        "-q",
    ]
    cpu(argv)
    return argv


def main() -> None:
    """Measure all loads."""
    quick = "--quick" in sys.argv
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed runner has its modules compiled
    start = 0.0
    with tempfile.TemporaryDirectory() as folder:
        for name, make, target in STARTS:
            floor, start = combine_plans(
                ["-c", FLOOR], prepared(folder, make(1, folder)), 10 if quick else 40
            )
            print(
                f"{name:32} {start:6.3f} s  {start / floor:6.2f} floors of {floor:.3f} s; target:"
                f" {target}"
            )
        for name, make, count, target in LOADS[: 1 if quick else None]:
            argv = prepared(folder, make(count, folder))
            runs = [cpu(argv) for _ in range(3)]
            seconds, memory = min(run[0] for run in runs), max(run[1] for run in runs)
            beyond = f"{seconds - start:6.3f} s beyond the start"
            print(f"{name:32} {seconds:6.3f} s  {beyond}  {memory:4.0f} MB; target: {target}")


if __name__ == "__main__":
    main()
