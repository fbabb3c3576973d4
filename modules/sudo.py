# SPDX-License-Identifier: Apache-2.0
"""Rules of sudo, each in a file of its own."""

from __future__ import annotations

import re
from collections.abc import Sequence

from modules import cmd
from runner.api import CommandFailed, StateFailed, for_states, here

FOLDER = "/etc/sudoers.d"
ENDS = re.compile(r"\\.|[,:=#\\]")  # what would end a word, unless it is escaped already
KIND = re.compile(r"!?(?:%?#\d+|%:?|\+)?")  # all but; a number, a group, a netgroup
IN_NAMES = re.compile(r"[^\w./-]")
COMMAND = re.compile(r"(!?)((?:sha\d+:\S+ +)?)(/.*|sudoedit +/.*|list|[A-Z][A-Z0-9_]*)")


def _in_command(match: re.Match[str]) -> str:
    return match[0] if len(match[0]) > 1 else f"\\{match[0]}"


@for_states
def name_word(name: str) -> str:
    """A user, group or host as a word of sudoers; with `!` before it, all but that."""
    kind = KIND.match(name)
    end = kind.end() if kind else 0
    return name[:end] + IN_NAMES.sub(r"\\\g<0>", name[end:])


@for_states
def group_name(name: str) -> str:
    """A group as it stands among users."""
    return f"!%{name[1:]}" if name.startswith("!") else f"%{name}"


@for_states
def command_words(command: str) -> str:
    """A command as sudoers spells it. Raises StateFailed for what is none."""
    match = COMMAND.fullmatch(command)
    if match is None:
        raise StateFailed(
            f"commands: {command!r} is no command of a rule: write its absolute path, ALL, or"
            " sudoedit and a path"
        )
    return match[1] + match[2] + ENDS.sub(_in_command, match[3])


@for_states
def rule_text(
    users: Sequence[str],
    hosts: Sequence[str],
    runas: Sequence[str],
    runas_groups: Sequence[str],
    tags: Sequence[str],
    commands: Sequence[str],
) -> str:
    """The line of a rule. users: names, with % before those of groups."""
    who, where, whom, groups = (
        ",".join(map(name_word, names)) for names in (users, hosts, runas, runas_groups)
    )
    whom += f":{groups}" if groups else ""
    marks = "".join(f"{tag}: " for tag in tags)
    return f"{who} {where}=({whom}) {marks}{', '.join(map(command_words, commands))}"


@for_states
def verify(name: str, text: str) -> None:
    """Have visudo read what a file of rules would hold. Raises CommandFailed with what it says."""
    if cmd.which("visudo") is None:
        raise CommandFailed(
            "visudo, which has to accept the rule, is not installed: install sudo first",
            missing=[("command", "visudo"), ("pkg", "sudo")],
        )
    path = f"{here.scratch()}/{name}"
    with open(path, "w", encoding="utf-8", errors="surrogateescape") as stream:
        stream.write(text)
    done = cmd.probe(["visudo", "-c", "-f", path])
    if done.retcode:
        words = f"{done.stderr}\n{done.stdout}".strip().replace(path, f"{FOLDER}/{name}")
        raise CommandFailed(f"visudo refuses the rule: {words}")
