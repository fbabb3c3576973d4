# SPDX-License-Identifier: Apache-2.0
"""Talking to a RabbitMQ node by its own programs, rabbitmqctl and rabbitmq-plugins 3.8 or later."""

from __future__ import annotations

import json
from typing import Any

from modules import cmd
from modules._machine.processes import Completed, needs
from runner.api import CommandFailed, cached_look, changer

SERVICE = "rabbitmq-server"
TOPIC = "rabbitmq"


def run(words: list[str], runas: str | None = None, stdin: str = "") -> Completed:
    """Run rabbitmqctl, which reads secrets from its input. Raises StateFailed where it is not
    there.
    """
    return _run("rabbitmqctl", words, runas, stdin)


def output(words: list[str], runas: str | None = None, stdin: str = "") -> str:
    """Return what rabbitmqctl prints. Raises CommandFailed with its reason."""
    return checked(words[0], run(words, runas, stdin))


@cached_look(TOPIC)
def rows(words: tuple[str, ...], runas: str | None = None) -> Any:
    """Return rabbitmqctl's answer to a look, as JSON. Raises CommandFailed with its reason."""
    text = output([*words, "--formatter=json"], runas)
    try:
        return json.loads(text)
    except ValueError:
        raise CommandFailed(
            f"rabbitmqctl {words[0]}: its answer is not understood, which needs rabbitmqctl 3.8 or"
            f" later: {text[:200]}"
        ) from None


@cached_look(TOPIC)
def plugins(words: tuple[str, ...], runas: str | None = None) -> list[str]:
    """The names that `rabbitmq-plugins list` prints. Raises CommandFailed with its reason."""
    done = _run("rabbitmq-plugins", ["list", "-m", *words], runas, "")
    return [line.strip() for line in checked("list", done).splitlines() if line.strip()]


@changer(touches=[TOPIC])
def change(words: list[str], runas: str | None = None, stdin: str = "") -> str:
    """Have the node change something: what rabbitmqctl prints. Raises CommandFailed with its
    reason.
    """
    return output(words, runas, stdin)


@changer(touches=[TOPIC])
def change_plugin(word: str, name: str, runas: str | None = None) -> str:
    """Enable or disable a plugin: what rabbitmq-plugins prints. Raises CommandFailed with its
    reason.
    """
    return checked(word, _run("rabbitmq-plugins", [word, name], runas, ""))


def checked(command: str, done: Completed) -> str:
    """The output of what worked. Raises CommandFailed with the reason of what did not."""
    if not done.retcode:
        return done.stdout
    reason = (done.stderr.strip() or done.stdout.strip()).removeprefix("Error:").strip()
    if "unable to perform an operation on node" in reason:
        raise CommandFailed(
            f"rabbitmqctl {command}: {reason.partition('. ')[0]}: does it run?",
            missing=("service", SERVICE),
        )
    raise CommandFailed(f"rabbitmqctl {command}: {reason.partition(chr(10) * 2 + 'Usage')[0]}")


def _run(program: str, words: list[str], runas: str | None, stdin: str) -> Completed:
    needs(program, "rabbitmq-server")
    # the quiet option stands before the words, whatever these are
    return cmd.complete(
        [program, "-q", *words], runas=runas, stdin=stdin, cwd="/", python_shell=False
    )
