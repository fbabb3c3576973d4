# SPDX-License-Identifier: Apache-2.0
"""`on_success`, `on_failure`, `on_change` and `always`: commands that a run calls at its end, with
its report on their standard input. Nothing of them fails a run.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, BinaryIO

from runner.cli.running.exit_codes import INTERRUPTED
from runner.history.outbox.document import text_of
from runner.sources.config.keys import NOTIFYING, WATCH_EVENT
from runner.support.programs import running

SECONDS = 60.0  # that a command may take
MOST = 4096  # bytes of its errors, the last ones
# what is in the environment of a command, beside the counts
_FACTS = {
    "ID": "machine",
    "RUN": "run",
    "OUTCOME": "outcome",
    "EXIT_CODE": "exit_code",
    "DURATION": "duration",
    "COMMAND": "command",
}


def notify(raw: Mapping[str, Any], report: Mapping[str, Any]) -> None:
    """Call the commands that a run asks for: those of `on_success` when all went well, of
    `on_failure` otherwise, of `on_change` when it changed something, and those of `always`. Not for
    runs that a person has interrupted; nor for dry ones, but that of what `runner watch` has found
    those of `on_failure` and `on_change` learn. raw: the configuration.
    """
    if report["outcome"] == "locked" or report["exit_code"] == INTERRUPTED:
        return
    if report["test"] and WATCH_EVENT not in raw:
        return
    is_so = {
        "on_success": report["outcome"] == "done" and not report["test"],
        "on_failure": report["outcome"] != "done",
        "on_change": any(state.get("changes") for state in report["states"].values()),
        "always": not report["test"],
    }
    text = text_of(report)
    for key in NOTIFYING:
        for command in _commands(raw.get(key)) if is_so[key] else ():
            if problem := _called(command, text, report):
                with suppress(OSError, ValueError):
                    print(f"warning: {key}: {command[0]}: {problem}", file=sys.stderr)


def _commands(setting: Any) -> Sequence[Sequence[str]]:
    """Lists of words; a text is read by a shell."""
    return [["sh", "-c", setting]] if isinstance(setting, str) else setting or ()


def _memory() -> BinaryIO:
    """A file that needs no disk."""
    return os.fdopen(os.memfd_create("runner"), "w+b")


def _called(command: Sequence[str], text: bytes, report: Mapping[str, Any]) -> str:
    """Why a command failed; empty where it did not."""
    facts = {f"RUNNER_{name}": str(report[key]) for name, key in _FACTS.items()}
    facts |= {f"RUNNER_{word.upper()}": str(number) for word, number in report["counts"].items()}
    try:
        # no pipes: what a command leaves in the background would hold them open
        with _memory() as given, _memory() as errors:
            given.write(text)
            given.seek(0)
            with running(
                command,
                stdin=given,
                stdout=subprocess.DEVNULL,
                stderr=errors,
                cwd="/",
                env={**os.environ, **facts},
            ) as program:
                program.wait(SECONDS)
            errors.seek(max(0, os.fstat(errors.fileno()).st_size - MOST))
            said = errors.read(MOST)
    except OSError as error:
        return str(error.strerror)
    except subprocess.TimeoutExpired:
        return f"it did not end in {SECONDS:g} s"
    if program.returncode == 0:
        return ""
    last = said.decode("utf-8", "replace").strip().rpartition("\n")[2]
    return f"it ended with {program.returncode}" + (f": {last}" if last else "")
