# SPDX-License-Identifier: Apache-2.0
"""Scripts and triggers of rpm's packages, as scripts of the shell."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from modules import _paths, cmd
from modules.pkg.package_manager import Hook
from modules.pkg.rpm.packages import FILES, list_pkgs, split_name
from runner.api import cached_look

if TYPE_CHECKING:
    from modules.pkg._ahead import PlannedPackage

TRIGGERS = "triggers"  # among what an archive says of itself
# rpm's tags by the words of dpkg for such scripts, with what each is told: of an installation, of
# an upgrade
SCRIPTS = {
    "preinst": ("PREIN", "1", "2"),
    "postinst": ("POSTIN", "1", "2"),
    "prerm": ("PREUN", "0", "1"),
    "postrm": ("POSTUN", "0", "1"),
}
_SEPARATOR, _END = "\x1f", "\x1e"
_SCRIPTS = _SEPARATOR.join(f"%{{{tag}PROG}}{_SEPARATOR}%{{{tag}}}" for tag, *_ in SCRIPTS.values())
_KINDS = ("TRIGGER", "FILETRIGGER", "TRANSFILETRIGGER")
_ABOUT = ("TYPE", "CONDS", "SCRIPTPROG", "SCRIPTS")
_TRIGGERS = "".join(
    f"[{_SEPARATOR.join(('%{=NAME}', kind, *(f'%{{{kind}{tag}}}' for tag in _ABOUT)))}{_END}]"
    for kind in _KINDS
)
_CALL = re.compile(
    r"\b(?P<how>os\.execute|posix\.exec|rpm\.execute)\s*"
    r'\(\s*(?P<words>"[^"\\]*"(?:\s*,\s*"[^"\\]*")*)\s*\)'
)
_FORKS = frozenset(
    "pid = posix . fork ( ) if == 0 then assert elseif > wait else end local ;".split()
)


def scripts(*query: str) -> dict[str, str]:
    """Return the scripts of a package, as dpkg would call them. query: what rpm is asked for."""
    *options, what = query
    fields = cmd.probe(["rpm", *options, "--qf", _SCRIPTS, "--", what]).stdout.split(_SEPARATOR)
    texts = {}
    for (kind, (_, first, second)), program, text in zip(
        SCRIPTS.items(), fields[::2], fields[1::2], strict=False
    ):
        if program != "(none)":
            told = f'if test -n "$2"; then set -- {second}; else set -- {first}; fi'
            texts[kind] = _of_shell(program, "" if text == "(none)" else text, told)
    return texts


def _of_shell(program: str, text: str, told: str) -> str:
    """Return a script as one of the shell, where it can be. told: sets its arguments."""
    if program == "<lua>":
        text = _of_lua(text)
    elif not text:  # the program is all of it
        text = program
    elif not program.endswith(("/sh", "/bash")):
        text = ""
    if not text:
        return f"#!{program}\n"
    return f"#!/bin/sh\n{told}\n{text}\n"


def _of_lua(text: str) -> str:
    """Return the commands that a script in Lua starts; nothing where it does other things."""
    rest = re.sub(r"--[^\n]*", "", _CALL.sub("", text))
    if not _FORKS.issuperset(re.findall(r"\w+|==|[^\w\s]", rest)):
        return ""
    commands = []
    for match in _CALL.finditer(text):
        words = re.findall(r'"([^"]*)"', match["words"])
        commands.append(words[0] if match["how"] == "os.execute" else shlex.join(words))
    return "\n".join(commands) or ":"


# ---------------------------------------------------------------- triggers


def triggers_of(path: str, *options: str) -> str:
    """Return the triggers of an archive, as rpm prints them."""
    return cmd.probe(["rpm", "-qp", *options, "--qf", _TRIGGERS, "--", path]).stdout


@cached_look("packages", *FILES)
def installed_triggers() -> str:
    """Return the triggers of installed packages, as rpm prints them."""
    return cmd.probe(["rpm", "-qa", "--qf", _TRIGGERS]).stdout


def _parsed(output: str) -> Iterator[tuple[str, ...]]:
    for part in output.split(_END):
        fields = tuple(part.lstrip("\n").split(_SEPARATOR))
        if len(fields) == 2 + len(_ABOUT):
            yield fields


def hooks(packages: Sequence[PlannedPackage]) -> Iterator[Hook]:
    """Yield the scripts that packages run once others have come."""
    coming = {split_name(package.name)[0] for package in packages}
    paths = [member.path for package in packages for member in package.contents.members]
    listed = [each for each in _parsed(installed_triggers()) if each[0] not in coming]
    for package in packages:
        listed += _parsed(package.contents.control.get(TRIGGERS, ""))
    for owner, kind, when, conditions, program, text in listed:
        if when != "in":
            continue
        wanted = tuple(words[0] for each in conditions.split(", ") if (words := each.split()))
        is_new = owner in coming
        if kind == "TRIGGER":
            around = coming | ({*list_pkgs()} if is_new else set())
            concerned = not around.isdisjoint(wanted)
            targets = []
        else:
            targets = [path for path in paths if path.startswith(wanted)]
            concerned = bool(targets) or (is_new and any(map(_paths.lexists, wanted)))
        if concerned:
            script = _of_shell(program, text, "set -- 1 1")
            yield Hook(owner, "trigger", script, tuple(targets))
