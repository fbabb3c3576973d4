"""The command line: parse, call run.py, map errors to exit codes."""

from __future__ import annotations

import sys


def main(arguments: list[str] | None = None) -> None:
    """The console script `runner`."""
    from runner.cli.edge import guarded

    sys.exit(guarded(lambda: _run(sys.argv[1:] if arguments is None else arguments)))


def _run(arguments: list[str]) -> int:
    from runner.cli.app import build

    answer = build()(args=arguments, prog_name="runner", standalone_mode=False)
    return answer if isinstance(answer, int) else 0
