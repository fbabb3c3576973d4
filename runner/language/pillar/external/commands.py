# SPDX-License-Identifier: Apache-2.0
"""The external pillars cmd_yaml and cmd_json: what a command prints. `%s` in it is the machine's
ID.

Behaviour: Salt's, except that a command that fails stops the run.
"""

from __future__ import annotations

from typing import Any

from runner.language.pillar.external.tools import Tools
from runner.model import json_text


def yaml(tools: Tools, pillar: Any, command: Any) -> Any:
    """The YAML that a command prints."""
    command = _command(tools, "cmd_yaml", command)
    output = _output(tools, "cmd_yaml", command)
    return tools.parsed(output, f"the output of `{command}`") or {}


def json(tools: Tools, pillar: Any, command: Any) -> Any:
    """The JSON that a command prints."""
    command = _command(tools, "cmd_json", command)
    output = _output(tools, "cmd_json", command)
    try:
        return json_text.parse_json(output) if output.strip() else {}
    except ValueError as error:
        raise tools.problem(
            f"the external pillar cmd_json: `{command}` prints no JSON: {error}"
        ) from None


def _command(tools: Tools, name: str, settings: Any) -> str:
    """The command, which may also stand in a list of one or below `command`, as Salt hands
    arguments over.
    """
    if isinstance(settings, dict) and list(settings) == ["command"]:
        settings = settings["command"]
    elif isinstance(settings, list) and len(settings) == 1:
        settings = settings[0]
    if not isinstance(settings, str):
        raise tools.problem(f"the external pillar {name} takes a command, not {settings!r}")
    return settings


def _output(tools: Tools, name: str, command: str) -> str:
    done = tools.shell(command.replace("%s", tools.id))
    output = str(done["stdout"])
    if done["retcode"] and not output.strip():
        errors = str(done["stderr"]).strip().splitlines()
        why = f": {errors[-1]}" if errors else ""
        raise tools.problem(
            f"the external pillar {name}: `{command}` failed with exit code {done['retcode']}{why}"
        )
    return output
