# SPDX-License-Identifier: Apache-2.0
"""Answers to the questions of Debian's packages."""

from __future__ import annotations

from typing import Annotated, Any

from modules import debconf
from runner.api import (
    ONE_LINE,
    Check,
    Column,
    Done,
    Line,
    Name,
    Plan,
    Planned,
    StateFailed,
    column_problem,
    here,
    line_problem,
    without_end,
)
from states._rights import writing
from states.file import _sources as sources
from states.file._contents import Encoding, Template, source_data

dry_run_check = writing("/var/cache/debconf")


def _type_problem(data: dict[str, Any]) -> str | None:
    """Name a type that debconf does not have."""
    types = {
        question: str(answer.get("type", "string")).strip()
        for question, answer in data.items()
        if isinstance(answer, dict)
    }
    problems = ((question, _unknown(kind)) for question, kind in types.items())
    return next((f"{question}: {problem}" for question, problem in problems if problem), None)


def _problem(data: dict[str, Any]) -> str | None:
    """Name what one line of debconf-set-selections cannot hold."""
    for question, answer in data.items():
        if problem := column_problem(question):
            return f"{question}: {problem}"
        for text in (question, *(answer.values() if isinstance(answer, dict) else ())):
            if problem := line_problem(without_end(_text(text))):
                return f"{question}: {problem}"
    return None


def _unknown(kind: str) -> str | None:
    if kind in debconf.KINDS:
        return None
    return f"there is no type {kind!r} of an answer; there are {', '.join(debconf.KINDS)}"


Data = Annotated[dict[str, Any], Check(_type_problem), Check(_problem, ONE_LINE)]


def set_(name: Column, data: Data | None = None) -> Planned:
    """Make sure that questions of a package are answered.

    name: The package.
    data: Question -> {type: ..., value: ...}; a list is what is chosen of a multiselect.

        mysql-server:
          debconf.set:
            - data:
                mysql-server/root_password: {type: password, value: secret}

    Behaviour: Salt 3008's debconf.set; passwords are shown nowhere, and since nothing reads them
    back they count as answered when the question is.
    """
    changes: dict[str, str] = {}
    todo: list[tuple[str, str, str]] = []
    comments: list[str] = []
    for question, answer in (data or {}).items():
        if not isinstance(answer, dict) or not {"type", "value"} <= set(answer):
            raise StateFailed(f"{question}: an answer has a `type` and a `value`")
        kind, value = str(answer["type"]).strip(), without_end(_text(answer["value"]))
        if _answered(name, question, kind, value):
            comments.append(f"Unchanged answers: {question}")
            continue
        _require_question(name, question, kind)
        changes[question] = "(password hidden)" if kind == "password" else value
        todo.append((question, kind, value))
    if not todo:
        return "All specified answers are already set"
    yield Plan(
        {question: f"New value: {value}" for question, value in changes.items()},
        "\n".join(comments),
    )
    for question, kind, value in todo:
        debconf.set_answer(name, question, kind, value)
    return Done("\n".join(comments), changes)


def set_file(
    name: Name,
    source: Line,
    template: Line | None = None,
    context: dict[str, Any] | None = None,
    defaults: dict[str, Any] | None = None,
) -> Planned:
    """Make sure that the questions of a file are answered.

    name: Names the state.
    source: The file (salt://, a path): owner, question, type and value on each line.
    template: What renders the file first, such as `jinja`.
    context, defaults: as of file.managed.

        answers of postfix:
          debconf.set_file:
            - source: salt://postfix/answers.selections

    Behaviour: Salt 3008's debconf.set_file; what is answered so already is no change.
    """
    located = sources.locate([source], name, sources.Verify(skip=True), reuse=False)
    variables = {**(defaults or {}), **(context or {})}
    data = source_data(located, Template(template, variables), {"name": name}, Encoding())
    lines = [line.split(None, 3) for line in data.decode("utf-8", "replace").splitlines()]
    wanted = [(*line, "")[:4] for line in lines if len(line) >= 3 and not line[0].startswith("#")]
    for owner, question, kind, _ in wanted:
        if problem := _unknown(kind):
            raise StateFailed(f"{source}: {owner} {question}: {problem}")
    todo = [selection for selection in wanted if not _answered(*selection)]
    for at, (owner, question, kind, _) in enumerate(todo):
        if question not in [each[1] for each in todo[:at]]:
            _require_question(owner, question, kind)
    if not todo:
        return "All specified answers are already set"
    changes = {
        selection[1]: "(password hidden)" if selection[2] == "password" else selection[3]
        for selection in todo
    }
    yield Plan(changes, "Debconf selections would have been set.")
    for owner, question, kind, value in todo:
        debconf.set_answer(owner, question, kind, value)
    return "Debconf selections were set."


def _require_question(owner: str, question: str, kind: str) -> None:
    """Raise StateFailed where only a question that is there can be marked as seen."""
    if kind == "seen" and debconf.value_of(owner, question) is None:
        raise StateFailed(
            f"debconf has no question {question} of {owner} that could be marked as seen",
            missing=("pkg", owner),
        )


def _answered(owner: str, question: str, kind: str, value: str) -> bool:
    known = debconf.value_of(owner, question, kind)
    if kind == "password":
        here.secret(value)
        return known is not None
    return known is not None and known.strip() == value.strip()


def _text(value: Any) -> str:
    """An answer as debconf has it: several of a multiselect in one line, nothing for null."""
    if isinstance(value, list):
        return ", ".join(map(_text, value))
    return "" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


__func_alias__ = {"set_": "set"}
