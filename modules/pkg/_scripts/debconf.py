# SPDX-License-Identifier: Apache-2.0
"""debconf, as the scripts of a package ask it: answers are those that this machine has, or that a
state will give, else the defaults of the package's own questions, which nobody is asked.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from modules._planned.overlay import planned_machine
from modules._texts.shell import Unread
from modules.debconf import DATABASES
from modules.pkg._scripts.known import read
from modules.pkg._scripts.run import Outcome
from runner.api import cached_look, here

SKIPPED = 30  # the status of a question that is not shown
NO_SUCH = 10
_QUIET = frozenset(
    """
    version capb title settitle info beginblock endblock go subst stop progress data clear
    x_loadtemplatefile unregister purge
    """.split()
)
_ANSWERS = re.compile(r"\bdebconf\b|debconf-set-selections|dpkg-reconfigure")


class Questions:
    """The questions of a package. scripts: what it says of itself; configure: has its script run
    that asks.
    """

    def __init__(self, scripts: Mapping[str, str], configure: Callable[[], None]) -> None:
        self._defaults = _defaults(scripts.get("templates", ""))
        self._configure = configure
        self._is_known = not any(map(_may_answer, [*here.results.values()]))

    def __call__(self, name: str, words: Sequence[str | None], is_perhaps: bool) -> Outcome:
        """Answer a command of debconf; "" for the start of a script that asks."""
        question = words[0] if words else None
        if not name:
            try:
                self._configure()
            except Unread:
                self._is_known = False
            return Outcome()
        if name in _QUIET:
            return Outcome()
        if name == "input":
            return Outcome(SKIPPED)
        if question is None or not self._is_known:
            return Outcome(None, None)
        answers = planned_machine().answers
        given = words[-1] if len(words) > 1 and not is_perhaps else None
        if name == "get":
            value = self._value(question)
            return (
                Outcome(NO_SUCH, "")
                if value == "" and not self._is_there(question)
                else (Outcome(None if value is None else 0, value))
            )
        if name == "set":
            answers[question] = given
        elif name == "fset":
            answers[f"{question} {words[1]}"] = given
        elif name == "fget":
            seen = "true" if f" {words[-1]}" in _known().get(f"{question} flags", "") else "false"
            return Outcome(0, answers.get(f"{question} {words[-1]}", seen))
        elif name == "reset":
            answers[question] = None if is_perhaps else self._defaults.get(question)
        elif name == "register":
            answers.setdefault(str(given), self._value(question))
        else:
            return Outcome(None, None)
        return Outcome(0, "")

    def _value(self, question: str) -> str | None:
        answers = planned_machine().answers
        if question in answers:
            return answers[question]
        return _known().get(question, self._defaults.get(question, ""))

    def _is_there(self, question: str) -> bool:
        return question in {**planned_machine().answers, **_known(), **self._defaults}


def _may_answer(result: object) -> bool:
    """Return whether a pending state's command may answer questions."""
    chunk: Any = getattr(result, "chunk", None)
    if getattr(result, "result", True) is not None or chunk is None or chunk.state != "cmd":
        return False
    return _ANSWERS.search(f"{chunk.name} {chunk.args}") is not None


def _stanzas(text: str) -> list[dict[str, str]]:
    return [
        dict(
            line.split(": ", 1) for line in stanza.splitlines() if re.match(r"[A-Z][\w.-]*: ", line)
        )
        for stanza in re.split(r"\n\s*\n", text)
    ]


def _defaults(templates: str) -> dict[str, str]:
    """The questions of a package with the answers that they have from the beginning."""
    stanzas = _stanzas(templates)
    return {each["Template"]: each.get("Default", "") for each in stanzas if "Template" in each}


@cached_look("debconf", *DATABASES)
def _known() -> dict[str, str]:
    """The answers that this machine has, and by "QUESTION flags" what was done with it."""
    found = {}
    for path in DATABASES:
        for each in _stanzas(read(path) or ""):
            if "Name" in each and "Value" in each:
                found[each["Name"]] = each["Value"]
                found[f"{each['Name']} flags"] = f" {each.get('Flags', '')}"
    return found
