# SPDX-License-Identifier: Apache-2.0
"""Answers to the questions of Debian's packages."""

from __future__ import annotations

import re

from modules import cmd
from modules._planned.overlay import planned_machine
from modules._texts.lines import join_lines, one_line, plain_name
from runner.api import CommandFailed, FormerState, cached_look, changer, for_states

# debconf-set-selections passes over the lines of others
KINDS = tuple("string boolean select multiselect password note text title seen".split())
HIDDEN = "(password omitted)"  # how debconf-show writes a password
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


@for_states
def former_state(owner: str, question: str) -> FormerState | None:
    """An answer as undo restores it; None of a password, which debconf shows to nobody."""
    seen, value = _answers(owner).get(question, (None, ""))
    state = {"value": value, "seen": seen} if seen else {}
    name = f"{owner} {question}"
    return None if value == HIDDEN else FormerState("debconf answer", name, state, True)


@changer(
    touches=["debconf", "packages"],
    planned=_plan_answer,
    before=lambda owner, question, kind, value: former_state(owner, question),
)
def set_answer(owner: str, question: str, kind: str, value: str) -> None:
    """Answer a question; the answer is on no command line. Raises CommandFailed."""
    words = [
        one_line(text, f"the answer to {question!r}") for text in (owner, question, kind, value)
    ]
    cmd.probe(["debconf-set-selections"], stdin=join_lines([" ".join(words)])).or_fail(
        "debconf-set-selections", missing=("command", "debconf-set-selections")
    )


@changer(touches=["debconf", "packages"], before=former_state)
def forget_answer(owner: str, question: str) -> None:
    """Let a package have no such question any more. Raises CommandFailed."""
    _communicate(owner, f"UNREGISTER {one_line(question, 'the question')}")


@changer(
    touches=["debconf", "packages"],
    before=lambda owner, question, value, seen: former_state(owner, question),
)
def put_back(owner: str, question: str, value: str, seen: str) -> None:
    """Give a question its former answer, whatever its type, and whether it was asked. Raises
    CommandFailed.
    """
    asked, answer = one_line(question, "the question"), one_line(value, "the answer")
    _communicate(owner, f"SET {asked} {answer}", f"FSET {asked} seen {one_line(seen, 'seen')}")


def _communicate(owner: str, *commands: str) -> None:
    words = ["debconf-communicate", "--", plain_name(owner, "the name of the package")]
    done = cmd.probe(words, stdin=join_lines(commands))
    refused = [line for line in done.stdout.splitlines() if not line.startswith("0")]
    if done.retcode or refused:
        raise CommandFailed(f"debconf: {', '.join(refused) or done.error_text}")


@changer(touches=["debconf", "packages"])
def set_file(path: str) -> None:
    """Set the answers of a file (owner, question, type, value per line). Raises CommandFailed."""
    cmd.probe(["debconf-set-selections", "--", path]).or_fail(
        "debconf-set-selections", missing=("command", "debconf-set-selections")
    )
