# SPDX-License-Identifier: Apache-2.0
"""/etc/aliases: where mail for a name goes."""

from __future__ import annotations

from modules import cmd, file
from modules._texts.lines import LinesBy, encoded, once_a_line, one_line, split
from runner.api import changer
from runner.api.planning import only_files

PATH = "/etc/aliases"
_MAKER = "newaliases"  # of what mail servers read


def _text() -> str:
    return file.text_to_edit(PATH)


@once_a_line
def _split(line: str) -> tuple[str, str]:
    """(alias, target); empty for comments and what goes on on the next line."""
    name, colon, target = line.partition(":")
    if not colon or line[:1] in ("#", " ", "\t"):
        return "", ""
    return name.strip().strip('"'), target.strip()


def list_aliases() -> dict[str, str]:
    """All aliases with their targets."""
    return {name: target for name, target in map(_split, split(_text())) if name}


_by_name = LinesBy(lambda line: filter(None, _split(line)[:1]))


def get_target(alias: str) -> str:
    """The target of mail for an alias; empty when there is none."""
    return _split(_by_name(_text()).get(alias, [""])[-1])[1]


def has_target(alias: str, target: str) -> bool:
    """Return whether mail for an alias goes there."""
    return target in [target_text.strip() for target_text in get_target(alias).split(",")]


def set_target(alias: str, target: str) -> bool:
    """Let mail for an alias go to a target."""
    alias, target = one_line(alias, "the alias"), one_line(target, "the target of the alias")
    lines = split(text := _text())
    numbered = enumerate(lines) if alias in _by_name(text) else ()
    at = [index for index, line in numbered if _split(line)[0] == alias]
    if at:
        lines[at[0]] = f"{alias}: {target}"
    else:
        lines.append(f"{alias}: {target}")
    _write([line for index, line in enumerate(lines) if index not in at[1:]] if at[1:] else lines)
    return True


def rm_alias(alias: str) -> bool:
    """Remove an alias."""
    _write([line for line in split(_text()) if _split(line)[0] != alias])
    return True


@only_files
def _put(lines: list[str]) -> None:
    file.write(PATH, encoded(lines), mode=None if file.is_file(PATH) else "0644")


@changer(touches=["files"], before=lambda _: None if cmd.has_exec(_MAKER) else {}, planned=_put)
def _write(lines: list[str]) -> None:
    _put(lines)
    if cmd.has_exec(_MAKER):
        cmd.execute([_MAKER])
