# SPDX-License-Identifier: Apache-2.0
"""The command line: parse, call the pipeline, map errors to exit codes."""

from __future__ import annotations

import gc
import random
import sys

from runner.cli.parsing import app
from runner.cli.parsing.option_spec import COMMANDS, plain_call
from runner.cli.running import exit_codes
from runner.model import releases

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import NoReturn


def main(arguments: list[str] | None = None) -> None:
    """The console script `runner`."""
    start(_run, arguments)


def start(run: Callable[[list[str]], int], arguments: list[str] | None) -> NoReturn:
    """Be the whole process: carry its command line out, and end."""
    # importing and compiling make many objects and no garbage; a long run is still collected
    gc.set_threshold(1_000_000)
    exit_codes.program(run, sys.argv[1:] if arguments is None else arguments)


def _run(arguments: list[str]) -> int:
    if arguments == ["--version"]:  # which needs none of the commands
        print(f"runner {releases.version()}")
        return 0
    words = _spelled_out(arguments)
    wanted = words[0] if words else ""
    call = plain_call(wanted, words[1:])
    if call is not None:
        return call()
    called = [word for word in words[wanted == "--" :][:1] if word in COMMANDS]
    built = app.build(called or COMMANDS, listed=not called)
    answer = built(args=words, prog_name="runner", standalone_mode=False)
    return answer if isinstance(answer, int) else 0


def _spelled_out(arguments: list[str]) -> list[str]:
    """`--wait` without seconds waits for as long as it takes, `--shuffle` without a seed draws one:
    their values may be left away.
    """
    words: list[str] = []
    for index, word in enumerate(arguments):
        following = arguments[index + 1] if index + 1 < len(arguments) else ""
        bare = not following.replace(".", "", 1).isdigit()
        words.append(f"{word}={_DRAWN[word]()}" if word in _DRAWN and bare else word)
    return words


_DRAWN: dict[str, Callable[[], int]] = {
    "--wait": lambda: -1,
    "--shuffle": lambda: random.randrange(1, 10**6),
}
