# SPDX-License-Identifier: Apache-2.0
"""The table of the arguments that every state takes: to add one, add a row to `GLOBAL_ARGUMENTS`.

Binding, checks, hints, guards, the manual and the JSON Schema read it.
"""

from __future__ import annotations

from runner.model.records import Record
from runner.model.requisite_kinds import KINDS, USE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

# the stages that read arguments
COMPILER = "compiler"  # the shape of the states
RELATIONS = "relations"  # requisites
GUARD = "guard"  # may skip a state
COMMAND = "command"  # how the commands of guards and of check_cmd run
ENGINE = "engine"
SELECTION = "selection"  # --tags and --skip-tags
NOBODY = "nobody"  # Salt has it, and runner needs none


class RetryOption(Record):
    """An option of `retry`."""

    default: Any
    description: str


RETRY: Mapping[str, RetryOption] = {
    "attempts": RetryOption(2, "number of attempts (2)"),
    "until": RetryOption(True, "the result that ends it (true)"),
    "interval": RetryOption(30, "seconds between two attempts (30)"),
    "splay": RetryOption(0, "random extra seconds, up to this (0)"),
}

_BOOL: dict[str, Any] = {"type": "boolean"}
_TEXT: dict[str, Any] = {"type": "string"}
_NUMBER: dict[str, Any] = {"type": "number"}
_TEXTS: dict[str, Any] = {"anyOf": [_TEXT, {"type": "array"}]}
_ANY: dict[str, Any] = {}
_REFERENCES: dict[str, Any] = {"$ref": "#/definitions/references"}
_COMMANDS: dict[str, Any] = {
    "anyOf": [
        _TEXT,
        _BOOL,
        {"type": "object", "properties": {"fun": _TEXT, "args": _ANY, "get_return": _TEXT}},
        {"type": "array", "items": {"type": ["string", "boolean", "object", "number"]}},
    ]
}
_RETRY: dict[str, Any] = {
    "type": "object",
    "properties": {
        name: {
            "type": "boolean" if option.default is True else "integer",
            "description": option.description,
        }
        for name, option in RETRY.items()
    },
    "additionalProperties": False,
}


class GlobalArgument:
    """One argument that every state takes. No Record: those are slow to make by keywords, and all
    of this is made at each start.
    """

    __slots__ = (
        "default",
        "description",
        "has_defaults",
        "hint",
        "other_words",
        "passed_on",
        "schema",
        "stage",
        "title",
        "type",
    )

    def __init__(
        self,
        stage: str,
        title: str = "",
        description: str = "",
        schema: Mapping[str, Any] = _ANY,
        default: str = "",
        *,
        type: str = "",
        hint: str = "",
        passed_on: bool = False,
        has_defaults: bool = False,
        other_words: tuple[str, ...] = (),
    ) -> None:
        """stage: what reads it. title: what it takes, for people.

        description: what it does; without one it has no line in the manual. default: as the manual
        shows it. type: as a parameter of a function would be annotated, where a value of another
        type is a mistake; hint: the cure of that. passed_on: a function that takes any argument
        gets it, too. has_defaults: the `defaults` of an SLS may name it. other_words: what people
        write who mean it.
        """
        self.stage = stage
        self.title = title
        self.description = description
        self.schema = schema
        self.default = default
        self.type = type
        self.hint = hint
        self.passed_on = passed_on
        self.has_defaults = has_defaults
        self.other_words = other_words


def _flag(description: str, default: str = "false", **more: Any) -> GlobalArgument:
    more = {"schema": _BOOL, "type": "bool", "default": default, **more}
    return GlobalArgument(ENGINE, "true or false", description, **more)


def _references(description: str, **more: Any) -> GlobalArgument:
    return GlobalArgument(RELATIONS, "a list of states", description, _REFERENCES, **more)


_SETTINGS: Mapping[str, GlobalArgument] = {
    "name": GlobalArgument(
        COMPILER, "text", "what the state is about; the ID where it is not given"
    ),
    "names": GlobalArgument(
        COMPILER,
        "a list",
        "one state for each; an entry `name: [argument: value]` has arguments of its own",
    ),
    "onlyif": GlobalArgument(
        GUARD,
        "a command or a list",
        "run only when these commands succeed",
        _COMMANDS,
        other_words=("only_when", "if"),
    ),
    "unless": GlobalArgument(
        GUARD, "a command or a list", "do not run when all these commands succeed", _COMMANDS
    ),
    "creates": GlobalArgument(
        GUARD,
        "a path or a list",
        "do not run when all these files exist",
        _TEXTS,
        type="str | list[str]",
        hint="write a path, or a list of paths: `- creates: /PATH`",
    ),
    "check_cmd": GlobalArgument(
        ENGINE,
        "a command or a list",
        "the state fails when one of these fails afterwards",
        _COMMANDS,
    ),
    "order": GlobalArgument(
        COMPILER,
        "a number, first or last",
        "the position in the run, as far as requisites allow",
        {"anyOf": [_NUMBER, {"enum": ["first", "last"]}, _TEXT]},
    ),
    "retry": GlobalArgument(
        ENGINE,
        "true or a mapping",
        "try again when it fails: attempts (2), interval (30 seconds), splay (0), until (true)",
        {"anyOf": [_BOOL, _RETRY, {"type": "array", "items": _RETRY}]},
    ),
    "failhard": _flag("end the run when this state fails", ""),
    "tags": GlobalArgument(
        SELECTION,
        "text or a list",
        "words that `--tags` and `--skip-tags` know the state by",
        _TEXTS,
        type="str | list[str]",
        hint="write words: `- tags: [web, slow]`",
        has_defaults=True,
    ),
    "noop": _flag("only plan this state, as in a dry run", has_defaults=True),
    "parallel": _flag("run in parallel with others"),
    "aggregate": _flag(
        "do the work of several states of this kind at once", "", schema=_ANY, type=""
    ),
    "fire_event": GlobalArgument(
        ENGINE,
        "true, false or text",
        "send an event to the listeners of the run",
        {"type": ["boolean", "string"]},
        "false",
    ),
    "reload_modules": _flag("load new modules after this state"),
    "reload_grains": _flag("gather the grains again after this state"),
    "reload_pillar": _flag("read the pillar again after this state"),
    "no_log": _flag("show nothing of this state", type=""),
    "provider": GlobalArgument(
        ENGINE, "text", "the provider that does the work (apt, systemd, ...)", _TEXT
    ),
    "saltenv": GlobalArgument(ENGINE, "text", "the environment of salt:// sources", _TEXT),
    "cmd_opts_exclude": GlobalArgument(
        ENGINE, "a list of text", "arguments of the state that guards do not take over", _TEXTS
    ),
}

# what the commands of guards take; a state that runs commands has its own of these names
_OF_COMMANDS: Mapping[str, GlobalArgument] = {
    "runas": GlobalArgument(
        COMMAND, "text", "the user who runs the commands of guards", _TEXT, other_words=("user",)
    ),
    "umask": GlobalArgument(
        COMMAND,
        "text",
        "the umask of what the state makes, and of its commands and guards",
        type="Mode",
        hint="write it in octal digits and in quotes: `- umask: '077'`",
    ),
    "cwd": GlobalArgument(
        COMMAND, "a path", "the working directory of the commands of guards", _TEXT, passed_on=True
    ),
    "root": GlobalArgument(
        COMMAND, "a path", "the root of the commands of guards", _TEXT, passed_on=True
    ),
    "env": GlobalArgument(COMMAND, "a mapping", "the environment of the commands of guards"),
    "prepend_path": GlobalArgument(
        COMMAND, "text", "is prepended to the PATH of the commands of guards", _TEXT, passed_on=True
    ),
    "timeout": GlobalArgument(
        COMMAND,
        "seconds",
        "the time limit of a command of guards",
        type="Duration[float]",
        hint="write seconds, without a unit: `- timeout: 30`",
        passed_on=True,
    ),
    "success_retcodes": GlobalArgument(
        COMMAND,
        "a list of numbers",
        "further exit codes of guards that mean success",
        passed_on=True,
    ),
    "shell": GlobalArgument(
        COMMAND, "a path", "the shell of the commands of guards", _TEXT, passed_on=True
    ),
}

_RELATIONS: Mapping[str, GlobalArgument] = {
    **{
        name: argument
        for kind in KINDS.values()
        for name, argument in (
            (str(kind), _references(kind.meaning, other_words=kind.other_words)),
            (kind.in_key, _references(f"gives those states `{kind}` on this one")),
        )
    },
    **{name: _references(meaning) for name, meaning in USE.items()},
    **{
        alias: _references(meaning)
        for kind in KINDS.values()
        for aliases in (kind.in_aliases, kind.aliases)
        for alias, meaning in aliases.items()
    },
}

# known, and without a line in the manual: what Salt's own words for a state are, what runner does
# by itself, and forms of requisites that Salt ignores
_SILENT: Mapping[str, GlobalArgument] = {
    **dict.fromkeys(("id", "state", "fun", "sls"), GlobalArgument(COMPILER)),
    **dict.fromkeys(
        """
        pillarenv providers parallel_group cmd_opts_include runas_password require_all
        watch_all onchanges_all
        """.split(),
        GlobalArgument(NOBODY),
    ),
    "onfail_stop": GlobalArgument(NOBODY, type="bool"),
    **dict.fromkeys(
        """
        group success_stdout success_stderr python_shell output_loglevel hide_output use_vt
        """.split(),
        GlobalArgument(NOBODY, passed_on=True),
    ),
}

GLOBAL_ARGUMENTS: Mapping[str, GlobalArgument] = {
    **_SETTINGS,
    **_OF_COMMANDS,
    **_RELATIONS,
    **_SILENT,
}
DOCUMENTED: Mapping[str, GlobalArgument] = {
    name: argument for name, argument in GLOBAL_ARGUMENTS.items() if argument.description
}
PASSED_ON = frozenset(name for name, argument in GLOBAL_ARGUMENTS.items() if argument.passed_on)
# their descriptions hold for arguments of these names that functions have, too
SETTINGS = {name: DOCUMENTED[name] for name in _SETTINGS}
COMMAND_OPTIONS = tuple(
    name for name, argument in GLOBAL_ARGUMENTS.items() if argument.stage is COMMAND
)
# what people write -> the argument that they mean
OTHER_WORDS = {
    word: name for name, argument in GLOBAL_ARGUMENTS.items() for word in argument.other_words
}
