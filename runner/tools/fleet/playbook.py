# SPDX-License-Identifier: Apache-2.0
"""The playbook of a job: what `runner fleet` plays, and what `export ansible` prints."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import yaml

from runner.tools.fleet.records import Job

JINJA = ("{{", "{%", "{#")
FAILURES = "ansible_play_hosts_all | length - ansible_play_hosts | length"


class Literal(str):
    """A text that Ansible must not take for a template."""


class _PlaybookDumper(yaml.SafeDumper):
    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        return super().increase_indent(flow, False)  # lists are indented below their key


_PlaybookDumper.add_representer(
    Literal, lambda dumper, text: dumper.represent_scalar("!unsafe", str(text), style='"')
)


def playbook(
    job: Job,
    hosts: str | Sequence[str],
    config: str | None,
    serial: int | str = "",
    max_fail: int = 0,
) -> str:
    """The text of the playbook. hosts: their names, or a pattern of Ansible's; serial: how many at
    once, a number or a percentage; max_fail: no batch begins after so many failed.
    """
    play: dict[str, Any] = {
        "name": f"runner {job.function}",
        "hosts": hosts if isinstance(hosts, str) else list(hosts),
        "gather_facts": False,
    }
    if serial:
        play["serial"] = serial
    tasks: list[dict[str, Any]] = []
    if max_fail:
        tasks.append(
            {
                "name": f"stop after {max_fail} failed",
                "ansible.builtin.meta": "end_play",
                "when": f"{FAILURES} >= {max_fail}",
            }
        )
    tasks.append(_task(job, config))
    text = yaml.dump(
        [{**play, "tasks": tasks}],
        Dumper=_PlaybookDumper,
        sort_keys=False,
        allow_unicode=True,
        width=1_000_000,
    )
    return f"---\n{text}"


def _task(job: Job, config: str | None) -> dict[str, Any]:
    arguments: dict[str, Any] = {}
    if job.function == "sls":
        arguments["name"] = job.name
    if job.function == "call":
        arguments["fun"] = job.words[0]
        given = _arguments(job)
        if given:
            arguments["args"] = given
    if config:
        arguments["config"] = config
    task: dict[str, Any] = {
        "name": job.function,
        f"runner.runner.{job.function}": _literal(arguments),
    }
    if job.test:
        task["check_mode"] = True
    return task


def _arguments(job: Job) -> list[Any] | dict[str, Any]:
    """The arguments of a function: a list, or a mapping of named ones; in that the others stand
    below `__args__`.
    """
    if not job.named:
        return list(job.positional)
    return {**({"__args__": list(job.positional)} if job.positional else {}), **job.named}


def _literal(value: Any) -> Any:
    """The value, with its texts marked that look like templates."""
    if isinstance(value, str):
        return Literal(value) if any(mark in value for mark in JINJA) else value
    if isinstance(value, dict):
        return {_literal(key): _literal(item) for key, item in value.items()}
    return [_literal(item) for item in value] if isinstance(value, list) else value
