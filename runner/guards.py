"""onlyif, unless, creates and check_cmd: what decides outside the state function whether it runs and succeeded."""

from __future__ import annotations

import os.path
from collections.abc import Callable, Mapping
from typing import Any

from runner.errors import RunnerError
from runner.model import Value

Call = Callable[..., Any]  # call("cmd.retcode", ...)

# the arguments of a state that its guard commands share
GUARDS = frozenset(["onlyif", "unless", "creates"])  # what may skip a state
COMMAND_OPTIONS = ("cwd", "root", "runas", "env", "prepend_path", "umask", "timeout", "success_retcodes", "shell")


def options(args: Mapping[str, Value]) -> dict[str, Value]:
    """What the guards of a state hand to their commands (`cmd_opts_exclude` leaves some away)."""
    left_out = args.get("cmd_opts_exclude") or ()
    left_out = [left_out] if isinstance(left_out, str) else left_out
    return {key: args[key] for key in COMMAND_OPTIONS if args.get(key) is not None and key not in left_out}


def reason_to_skip(args: Mapping[str, Value], call: Call) -> str | None:
    """Why the guards say that the state is not to run; None when it is."""
    if "onlyif" in args and not all(_holds(entry, args, call) for entry in _entries(args["onlyif"])):
        return "onlyif condition is false"
    if "unless" in args:
        entries = _entries(args["unless"])
        if entries and all(_holds(entry, args, call) for entry in entries):
            return "unless condition is true"
    if "creates" in args:
        return _created(args["creates"])
    return None


def _created(creates: Value) -> str | None:
    if isinstance(creates, str):
        return f"{creates} exists" if os.path.exists(creates) else None
    if isinstance(creates, list) and creates and all(os.path.exists(str(path)) for path in creates):
        return "All files in creates exist"
    return None


def _entries(value: Value) -> list[Value]:
    return value if isinstance(value, list) else [value]


def _holds(entry: Value, args: Mapping[str, Value], call: Call) -> bool:
    if isinstance(entry, str):
        return int(call("cmd.retcode", entry, ignore_retcode=True, python_shell=True, **options(args))) == 0
    if isinstance(entry, Mapping):
        return bool(_function(entry, call))
    return bool(entry)


def _function(entry: Mapping[str, Value], call: Call) -> Any:
    """`fun: module.function` with `args`, keyword arguments and `get_return`."""
    given = dict(entry)
    name = given.pop("fun", None)
    if not isinstance(name, str):
        raise RunnerError(f"a guard that is a mapping needs `fun: module.function`, not {dict(entry)!r}")
    positional = given.pop("args", [])
    path = given.pop("get_return", None)
    positional = positional if isinstance(positional, list) else [positional]
    answer = call(
        name, *positional, **{str(key): value for key, value in given.items() if not str(key).startswith("__")}
    )
    for part in str(path).split(".") if path else ():
        answer = answer.get(part) if isinstance(answer, Mapping) else None
    return answer


def checked(args: Mapping[str, Value], call: Call) -> tuple[bool, str]:
    """What check_cmd says of a state that ran: whether it succeeded, and Salt's words for it."""
    shared = options(args)
    for command in _entries(args["check_cmd"]):
        if not isinstance(command, str):
            raise RunnerError(f"check_cmd takes commands, not {command!r}")
        if int(call("cmd.retcode", command, ignore_retcode=True, python_shell=True, **shared)) != 0:
            return False, "check_cmd determined the state failed"
    return True, "check_cmd determined the state succeeded"
