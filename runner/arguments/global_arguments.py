"""The arguments that every state takes beside its own: what they are, and what they look like as
JSON Schema.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from runner.model.records import Record
from runner.model.requisite_kinds import Kind


class Everywhere(Record):
    """One such argument. title: what it looks like, for people."""

    title: str
    description: str
    schema: Mapping[str, Any]


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
    "attempts": {"type": "integer", "description": "number of attempts (2)"},
    "until": {"type": "boolean", "description": "the result that ends it (true)"},
    "interval": {"type": "integer", "description": "seconds between two attempts (30)"},
    "splay": {"type": "integer", "description": "random extra seconds, up to this (0)"},
}

_MEANING = {
    Kind.REQUIRE: "states that have to succeed before this one",
    Kind.WATCH: (
        "as require; when one of them changed something, this state reacts (a service restarts,"
        " say)"
    ),
    Kind.ONCHANGES: "run only when one of these changed something",
    Kind.ONFAIL: "run only when one of these failed",
    Kind.PREREQ: "run only when one of these is about to change something, and before it",
    Kind.LISTEN: "react once, at the end of the run, when one of these changed something",
    Kind.REQUIRE_ANY: "as require, but one of them is enough",
    Kind.WATCH_ANY: "as watch, but one of them is enough",
    Kind.ONCHANGES_ANY: "as onchanges; one that succeeded is enough",
    Kind.ONFAIL_ANY: "as onfail",
    Kind.ONFAIL_ALL: "run only when all of these failed",
}


def _of_kind(kind: Kind) -> dict[str, Everywhere]:
    there = Everywhere("a list of states", _MEANING[kind], _REFERENCES)
    back = Everywhere("a list of states", f"gives those states `{kind}` on this one", _REFERENCES)
    return {str(kind): there, f"{kind}_in": back}


REQUISITES: Mapping[str, Everywhere] = {
    **{name: told for kind in _MEANING for name, told in _of_kind(kind).items()},
    "use": Everywhere(
        "a list of states", "take the arguments of these that are not given here", _REFERENCES
    ),
    "use_in": Everywhere("a list of states", "give this state's arguments to those", _REFERENCES),
    "before": Everywhere("a list of states", "run before these (require_in)", _REFERENCES),
    "notify": Everywhere(
        "a list of states", "run before these, which react to changes (watch_in)", _REFERENCES
    ),
    "subscribe": Everywhere(
        "a list of states", "run after these and react to changes (watch)", _REFERENCES
    ),
}

SETTINGS: Mapping[str, Everywhere] = {
    "name": Everywhere("text", "what the state is about; the ID where it is not given", _ANY),
    "names": Everywhere(
        "a list",
        "one state for each; an entry `name: [argument: value]` has arguments of its own",
        _ANY,
    ),
    "onlyif": Everywhere("a command or a list", "run only when these commands succeed", _COMMANDS),
    "unless": Everywhere(
        "a command or a list", "do not run when all these commands succeed", _COMMANDS
    ),
    "creates": Everywhere("a path or a list", "do not run when all these files exist", _TEXTS),
    "check_cmd": Everywhere(
        "a command or a list", "the state fails when one of these fails afterwards", _COMMANDS
    ),
    "order": Everywhere(
        "a number, first or last",
        "the position in the run, as far as requisites allow",
        {"anyOf": [_NUMBER, {"enum": ["first", "last"]}, _TEXT]},
    ),
    "retry": Everywhere(
        "true or a mapping",
        "try again when it fails: attempts (2), interval (30 seconds), splay (0), until (true)",
        {
            "anyOf": [
                _BOOL,
                {"type": "object", "properties": _RETRY, "additionalProperties": False},
                {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "properties": _RETRY,
                        "additionalProperties": False,
                    },
                },
            ]
        },
    ),
    "failhard": Everywhere("true or false", "end the run when this state fails", _BOOL),
    "noop": Everywhere("true or false", "only plan this state, as in a dry run", _BOOL),
    "parallel": Everywhere("true or false", "run in parallel with others", _BOOL),
    "aggregate": Everywhere(
        "true or false", "do the work of several states of this kind at once", _ANY
    ),
    "fire_event": Everywhere(
        "true, false or text",
        "send an event to the listeners of the run",
        {"type": ["boolean", "string"]},
    ),
    "reload_modules": Everywhere("true or false", "load new modules after this state", _BOOL),
    "reload_grains": Everywhere("true or false", "gather the grains again after this state", _BOOL),
    "reload_pillar": Everywhere("true or false", "read the pillar again after this state", _BOOL),
    "no_log": Everywhere("true or false", "show nothing of this state", _BOOL),
    "provider": Everywhere("text", "the provider that does the work (apt, systemd, ...)", _TEXT),
    "saltenv": Everywhere("text", "the environment of salt:// sources", _TEXT),
    "cmd_opts_exclude": Everywhere(
        "a list of text", "arguments of the state that guards do not take over", _TEXTS
    ),
}

# what guards read; a state that runs commands has its own of these names
OF_GUARDS: Mapping[str, Everywhere] = {
    "runas": Everywhere("text", "the user who runs the commands of guards", _TEXT),
    "umask": Everywhere(
        "text", "the umask of what the state makes, and of its commands and guards", _ANY
    ),
    "cwd": Everywhere("a path", "the working directory of the commands of guards", _TEXT),
    "root": Everywhere("a path", "the root of the commands of guards", _TEXT),
    "env": Everywhere("a mapping", "the environment of the commands of guards", _ANY),
    "prepend_path": Everywhere("text", "is prepended to the PATH of the commands of guards", _TEXT),
    "timeout": Everywhere("seconds", "the time limit of a command of guards", _ANY),
    "success_retcodes": Everywhere(
        "a list of numbers", "further exit codes of guards that mean success", _ANY
    ),
    "shell": Everywhere("a path", "the shell of the commands of guards", _TEXT),
}

EVERYWHERE: Mapping[str, Everywhere] = {**SETTINGS, **OF_GUARDS, **REQUISITES}
