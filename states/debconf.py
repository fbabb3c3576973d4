"""Answers to the questions of Debian's packages."""

from __future__ import annotations

from typing import Any

from modules import debconf
from runner.api import Plan, Planned, here


def set_(name: str, data: dict[str, Any] | None = None) -> Planned:
    """Make sure that questions of a package are answered.

    name: the package. data: question -> {type: ..., value: ...}.

        mysql-server:
          debconf.set:
            - data:
                mysql-server/root_password: {type: password, value: secret}

    Behaviour: Salt 3008's debconf.set; passwords are shown nowhere, and since nothing reads them back they count as
    answered when the question is.
    """
    changes: dict[str, str] = {}
    todo: list[tuple[str, str, str]] = []
    told: list[str] = []
    for question, said in (data or {}).items():
        kind, value = str(said.get("type", "string")), _text(said.get("value", ""))
        known = debconf.value_of(name, question)
        secret = kind == "password"
        if secret:
            here.secret(value)
        if known == value or (secret and known is not None):
            told.append(f"Unchanged answers: {question}")
            continue
        changes[question] = "(password hidden)" if secret else value
        todo.append((question, kind, value))
    if not todo:
        return "All specified answers are already set"
    yield Plan(changes, "Changes would be made")
    for question, kind, value in todo:
        debconf.set_answer(name, question, kind, value)
    return "\n".join([*told, "Changes were made"]) if told else "Changes were made"


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


__func_alias__ = {"set_": "set"}
