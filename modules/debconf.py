# SPDX-License-Identifier: Apache-2.0
"""Answers to the questions of Debian's packages."""

from __future__ import annotations

import re

from modules import cmd
from modules._planned.machine import planned_machine
from modules._texts.lines import join_lines, one_line, plain_name
from runner.api import CommandFailed, cached_look, changer

# debconf-set-selections passes over the lines of others
KINDS = tuple("string boolean select multiselect password note text title seen".split())
DATABASES = ("/var/cache/debconf/config.dat", "/var/cache/debconf/passwords.dat")


@cached_look("debconf", *DATABASES)
def _answers(owner: str) -> dict[str, tuple[str, str]]:
    """Question -> (whether it was seen, value) of a package, as debconf-show knows them."""
    done = cmd.probe(["debconf-show", "--", plain_name(owner, "the name of the package")])
    answers = {}
    for line in done.stdout.splitlines():
        match = re.match(r"([* ]) ([^:]+): ?(.*)", line)
        if match:
            answers[match[2]] = ("true" if match[1] == "*" else "false", match[3])
    return answers


def show(name: str) -> list[list[str]]:
    """The answers of a package: [question, type, value].

    {{ salt['debconf.show']('tzdata') }}
    """
    return [[question, "", value] for question, (_, value) in _answers(name).items()]


def value_of(owner: str, question: str, kind: str = "string") -> str | None:
    """The answer to a question, of the kind `seen` whether somebody gave it; None when there is
    none.
    """
    if planned := planned_machine().answers.get(f"{question} seen" if kind == "seen" else question):
        return planned
    seen, value = _answers(owner).get(question, (None, None))
    return seen if kind == "seen" else value


def _plan_answer(owner: str, question: str, kind: str, value: str) -> None:
    answer = {} if kind == "seen" else {question: value}
    seen = value if kind == "seen" else "true"
    planned_machine().answers |= {**answer, f"{question} seen": seen}


@changer(touches=["debconf", "packages"], planned=_plan_answer)
def set_answer(owner: str, question: str, kind: str, value: str) -> None:
    """Answer a question; the answer is on no command line. Raises CommandFailed."""
    words = [
        one_line(text, f"the answer to {question!r}") for text in (owner, question, kind, value)
    ]
    done = cmd.probe(["debconf-set-selections"], stdin=join_lines([" ".join(words)]))
    if done.retcode:
        raise CommandFailed(
            f"debconf-set-selections: {done.stderr}", missing=("command", "debconf-set-selections")
        )


@changer(touches=["debconf", "packages"])
def set_file(path: str) -> None:
    """Set the answers of a file (owner, question, type, value per line). Raises CommandFailed."""
    done = cmd.probe(["debconf-set-selections", "--", path])
    if done.retcode:
        raise CommandFailed(
            f"debconf-set-selections: {done.stderr}", missing=("command", "debconf-set-selections")
        )
