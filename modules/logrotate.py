# SPDX-License-Identifier: Apache-2.0
"""The configuration of logrotate: what it says, and single commands of it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from modules import _paths, cmd, file
from runner.api import CommandFailed, Record, for_states, here, line_problem

CONFIGURATION = "/etc/logrotate.conf"
_SCRIPTS = ("postrotate", "prerotate", "firstaction", "lastaction", "preremove")
_MORE = (".dpkg-old", ".dpkg-dist", ".rpmsave", ".rpmnew", ".swp", "~", ".disabled", ".bak")


class ConfigLine(Record):
    """A line that is a command. block: the heading that it stands below, empty at the top level.

    number: of the line in its file.
    """

    block: str
    command: str
    value: str
    number: int


def _lines(text: str) -> Iterator[ConfigLine]:
    """The commands of a configuration, those of scripts left out; the last line of a block is its
    closing brace.
    """
    block, heading, script = "", "", False
    for number, raw in enumerate(text.split("\n")):
        line = raw.strip()
        if script:
            script = line != "endscript"
        elif not line or line.startswith("#"):
            continue
        elif line.endswith("{"):
            block, heading = f"{heading} {line[:-1]}".strip(), ""
            yield ConfigLine(block, "{", "", number)
        elif line == "}":
            yield ConfigLine(block, "}", "", number)
            block = ""
        elif not block and line.startswith(("/", '"', "'")):
            heading = f"{heading} {line}".strip()
        else:
            command, _, value = line.partition(" ")
            command, more = (command.split("\t", 1) + [""])[:2]
            yield ConfigLine(block, command, f"{more} {value}".strip(), number)
            script = command in _SCRIPTS


def _value(text: str) -> Any:
    return True if not text else int(text) if text.isdigit() else text


def _read(path: str) -> str:
    if not file.is_file(path):
        raise CommandFailed(f"{path}: there is no such file", missing=("file", path))
    return file.read_bytes(path).decode("utf-8", "surrogateescape")


def _included(path: str, text: str) -> list[str]:
    """The files that a configuration includes, as logrotate would read them."""
    paths = []
    for line in _lines(text):
        if line.command != "include" or line.block:
            continue
        target = os.path.join(os.path.dirname(path), line.value)
        if _paths.isdir(target):
            paths += sorted(
                f"{target}/{name}" for name in _paths.listdir(target) if not name.endswith(_MORE)
            )
        elif _paths.isfile(target):
            paths.append(target)
    return [found for found in paths if _paths.isfile(found)]


def _settings(text: str) -> dict[str, Any]:
    settings: dict[str, Any] = {}
    for line in _lines(text):
        if line.command == "{":
            settings.setdefault(line.block, {})
        elif line.command != "}" and line.block:
            settings[line.block][line.command] = _value(line.value)
        elif line.command != "}":
            settings[line.command] = _value(line.value)
    return settings


def show_conf(conf_file: str = CONFIGURATION) -> dict[str, Any]:
    """Return what the configuration says, with the files that it includes: commands at the top
    level, and blocks with theirs.
    """
    text = _read(conf_file)
    settings = _settings(text)
    files: dict[str, list[str]] = {}
    for path in _included(conf_file, text):
        blocks = {
            key: value for key, value in _settings(_read(path)).items() if isinstance(value, dict)
        }
        files[os.path.basename(path)] = list(blocks)
        settings |= blocks
    return {**settings, "include files": files} if files else settings


def get(key: str, value: str | None = None, conf_file: str = CONFIGURATION) -> Any:
    """The value of a command, or with value that of the command of a block; false where there is
    none.

        {{ salt['logrotate.get']('/var/log/wtmp', 'rotate') }}
    """
    settings = show_conf(conf_file)
    if value is None:
        return settings.get(key, False)
    block = settings.get(key)
    return block.get(value, False) if isinstance(block, dict) else False


class LogrotateEdit(Record):
    """A file as it is and as it is to be."""

    path: str
    before: str
    after: str


@for_states
def edit(key: str, value: Any, setting: Any, conf_file: str) -> LogrotateEdit:
    """The file that has, or is to have, a command, and its new text.

    key: a command, or with setting a block whose command is value. Raises CommandFailed for what
    is not one line, and for a block that is given a value.
    """
    for text in (key, value, setting):
        if (problem := line_problem(str(text))) or "{" in str(text) or "}" in str(text):
            raise CommandFailed(f"{text!r}: {problem or 'a brace begins or ends a block'}")
    text = _read(conf_file)
    if setting is None:
        if len(key.split()) != 1:
            raise CommandFailed(f"{key!r} is no command: expected one word")
        if any(line.block == key for line in _lines(text)):
            raise CommandFailed(
                f"Error: {key} includes a dict, and a specific setting inside the dict was not"
                " declared"
            )
        return LogrotateEdit(conf_file, text, _with(text, "", key, value))
    for path in (conf_file, *_included(conf_file, text)):
        present = _read(path)
        if any(line.block == key for line in _lines(present)):
            return LogrotateEdit(path, present, _with(present, key, str(value), setting))
    if not key.startswith(("/", '"', "'", "*")):
        raise CommandFailed(f"{key!r} is no block: expected the path of a log")
    if is_off(setting):
        return LogrotateEdit(conf_file, text, text)
    end = "" if text.endswith("\n") or not text else "\n"
    block = f"{end}{key} {{\n    {_written(str(value), setting)}\n}}\n"
    return LogrotateEdit(conf_file, text, text + block)


def is_off(value: Any) -> bool:
    """Return whether a value takes a command away."""
    return str(value).lower() in ("false", "no", "off")


def _written(command: str, value: Any) -> str:
    return command if str(value).lower() in ("true", "yes", "on") else f"{command} {value}"


def _with(text: str, block: str, command: str, value: Any) -> str:
    """A text in which a command of a block has a value."""
    lines = text.split("\n")
    present = list(_lines(text))
    mine = [line for line in present if line.block == block and line.command == command]
    if is_off(value):
        gone = {line.number for line in mine}
        return "\n".join(line for number, line in enumerate(lines) if number not in gone)
    written = _written(command, value)
    if mine:
        old = lines[mine[-1].number]
        lines[mine[-1].number] = old[: len(old) - len(old.lstrip())] + written
        return "\n".join(lines)
    if block:
        end = next(line.number for line in present if (line.block, line.command) == (block, "}"))
        lines.insert(end, f"    {written}")
    else:
        lines.insert(next((line.number for line in present), 0), written)
    return "\n".join(lines)


@for_states
def verify(edit: LogrotateEdit) -> None:
    """Have logrotate read the new text, if it is installed. Raises CommandFailed for an error that
    the present text does not have.
    """

    if not _paths.which("logrotate"):
        return
    new, old = _errors(edit.after), _errors(edit.before)
    if new and not old:
        raise CommandFailed(f"logrotate refuses the new configuration: {'; '.join(new)}")


def _errors(text: str) -> list[str]:
    folder = here.scratch()
    path = f"{folder}/logrotate.conf"
    with open(path, "w", encoding="utf-8", errors="surrogateescape") as stream:
        stream.write(text)
    done = cmd.probe(["logrotate", "-d", "-s", f"{folder}/state", path])
    return [
        line.removeprefix("error: ").replace(path, "logrotate.conf")
        for line in done.stderr.splitlines()
        if line.startswith("error:") and "skipping" not in line
    ]


def set_(key: str, value: Any, setting: Any = None, conf_file: str = CONFIGURATION) -> bool:
    """Set a command at the top level, or with setting the command `value` of the block `key`.

    runner call logrotate.set /var/log/wtmp rotate 2
    """
    edited = edit(key, value, setting, conf_file)
    verify(edited)
    if edited.after != edited.before:
        file.write(edited.path, edited.after.encode("utf-8", "surrogateescape"))
    return True
