# SPDX-License-Identifier: Apache-2.0
"""onlyif, unless, creates and check_cmd: what decides outside the state function whether it runs
and succeeded.
"""

from __future__ import annotations

import os.path
import time
from collections.abc import Mapping

from runner.api import command_lines, shell_tests
from runner.model.chunk import COMMAND_GUARDS, GUARDS
from runner.model.errors import RunnerError
from runner.model.global_arguments import COMMAND_OPTIONS
from runner.model.places import Value
from runner.model.records import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    Call = Callable[..., Any]  # call("cmd.retcode", ...)


def options(args: Mapping[str, Value]) -> dict[str, Value]:
    """The arguments that guards hand to their commands (`cmd_opts_exclude` leaves some away)."""
    left_out = args.get("cmd_opts_exclude") or ()
    left_out = [left_out] if isinstance(left_out, str) else left_out
    given = {
        key: args[key]
        for key in COMMAND_OPTIONS
        if args.get(key) is not None and key not in left_out
    }
    return {**given, "timeout": float(given["timeout"])} if "timeout" in given else given


class GuardContext(Record):
    """A state's arguments and how its guards call functions. failed: tells whether the function
    called last has noted an exit code other than 0. exists, is_dir: look at a path. warn: adds a
    warning to the state's result.
    """

    args: Mapping[str, Value]
    call: Call
    failed: Callable[[], int] = lambda: 0
    exists: Callable[[str], bool] = os.path.exists
    is_dir: Callable[[str], bool] = os.path.isdir
    warn: Callable[[str], object] = len


def reason_to_skip(context: GuardContext) -> str | None:
    """The reason why the state is not to run: a line for each guard; None when it is to run."""
    answers = [_ANSWERS[guard](context) for guard in GUARDS if guard in context.args]
    skips = any(skip for skip, _ in answers)
    return "\n".join(text for _, text in answers) if skips else None


def skips_anyway(context: GuardContext) -> bool:
    """Return whether guards that ask nothing of the machine, such as `false`, skip the state."""
    args: dict[str, Value] = {}
    for key in COMMAND_GUARDS:
        entries = _entries(context.args.get(key, []))
        fixed = [entry for entry in entries if _is_fixed(entry)]
        if fixed and (key == "onlyif" or len(fixed) == len(entries)):
            args[key] = fixed
    return reason_to_skip(context._replace(args=args)) is not None


def _is_fixed(entry: Value) -> bool:
    if isinstance(entry, Mapping):
        return str(entry.get("fun")).startswith(("match.", "pillar.", "test."))
    return isinstance(entry, str) and command_lines.is_fixed(entry)


def missing_folder(context: GuardContext) -> str:
    """The `cwd` that the commands of guards are to run in and that is not there; empty when all is
    well.

    Such a command is not run and its state skipped, as with Salt.
    """
    cwd = options(context.args).get("cwd")
    asks = asks_commands(context.args)
    return str(cwd) if asks and cwd is not None and not context.is_dir(str(cwd)) else ""


def asks_commands(args: Mapping[str, Value]) -> bool:
    """Return whether some guard is a command."""
    return next(_commands(args), None) is not None  # be it an empty one


def asks_programs(args: Mapping[str, Value]) -> bool:
    """Return whether some guard is a command that a program has to answer."""
    return next(programs(args), None) is not None  # be it an empty one


def programs(args: Mapping[str, Value]) -> Iterator[str]:
    """Generate the commands among the guards that a program has to answer."""
    given = options(args)
    return (
        command for command in _commands(args) if shell_tests.shell_test(command, given) is None
    )


def _commands(args: Mapping[str, Value]) -> Iterator[str]:
    for key in COMMAND_GUARDS:
        for entry in _entries(args.get(key, [])):
            if isinstance(entry, str):
                yield entry


Answer = tuple[bool, str]  # whether the state is skipped, and the guard's words


def _onlyif(context: GuardContext) -> Answer:
    holds = all(
        _holds(entry, context, False) for entry in _entries(context.args["onlyif"]) if _asks(entry)
    )
    return not holds, f"onlyif condition is {'true' if holds else 'false'}"


def _unless(context: GuardContext) -> Answer:
    entries = _entries(context.args["unless"])
    holds = bool(entries) and all(
        _asks(entry) and _holds(entry, context, True) for entry in entries
    )
    return holds, f"unless condition is {'true' if holds else 'false'}"


def _creates(context: GuardContext) -> Answer:
    creates = context.args["creates"]
    if isinstance(creates, str) and context.exists(creates):
        return True, f"{creates} exists"
    if isinstance(creates, list) and all(context.exists(str(path)) for path in creates):
        return True, "All files in creates exist"
    return False, "Creates files not found"


def created(args: Mapping[str, Value]) -> list[str]:
    """Return the paths that `creates` names."""
    return [path for path in _entries(args.get("creates", [])) if isinstance(path, str)]


_ANSWERS: dict[str, Callable[[GuardContext], Answer]] = {
    "onlyif": _onlyif,
    "unless": _unless,
    "creates": _creates,
}


def _asks(entry: Value) -> bool:
    """Return whether an entry is a command or a mapping with `fun`: anything else skips no state
    (and is warned of).
    """
    return isinstance(entry, str) or (isinstance(entry, Mapping) and "fun" in entry)


def _entries(value: Value) -> list[Value]:
    return value if isinstance(value, list) else [value]


def _holds(entry: Value, context: GuardContext, otherwise: bool) -> bool:
    """Return whether a condition is met. otherwise: for a command whose folder is not there."""
    if isinstance(entry, str):
        return otherwise if missing_folder(context) else _retcode(entry, context) == 0
    context.failed()  # of a function that was called before
    answer = _function(entry, context.call)
    return bool(answer) and not context.failed()


def _retcode(command: str, context: GuardContext) -> int:
    given = options(context.args)
    began = time.monotonic()
    code = int(
        context.call("cmd.retcode", command, ignore_retcode=True, python_shell=True, **given)
    )
    most = given.get("timeout")
    if code and isinstance(most, float) and time.monotonic() - began >= most:
        context.warn(f"the guard {command!r} was ended after {most:g} seconds: it counts as failed")
    return code


def _run(command: str, context: GuardContext) -> Mapping[str, Any]:
    done: Mapping[str, Any] = context.call(
        "cmd.run_all", command, ignore_retcode=True, python_shell=True, **options(context.args)
    )
    return done


def _function(entry: Mapping[str, Value], call: Call) -> Any:
    """`fun: module.function` with `args`, keyword arguments and `get_return`."""
    named = dict(entry)
    name = named.pop("fun")
    positional = named.pop("args", [])
    path = named.pop("get_return", None)
    positional = positional if isinstance(positional, list) else [positional]
    named = {str(key): value for key, value in named.items() if not str(key).startswith("__")}
    answer = call(str(name), *positional, **named)
    return _within(answer, str(path)) if path else answer


def _within(answer: Any, path: str) -> Any:
    """The value at `key:key:number` of an answer."""
    for part in path.split(":"):
        if isinstance(answer, Mapping):
            answer = answer.get(part)
        elif isinstance(answer, list) and part.isdigit() and int(part) < len(answer):
            answer = answer[int(part)]
        else:
            return None
    return answer


def checked(context: GuardContext, with_output: bool) -> tuple[bool, str]:
    """Run check_cmd after a state: whether it succeeded, and Salt's words for it. with_output: and
    those of the command that failed. Raises RunnerError for a command that is no text.
    """
    for command in _entries(context.args["check_cmd"]):
        if not isinstance(command, str):
            raise RunnerError(f"check_cmd takes commands, not {command!r}")
        done = _run(command, context)
        if done["retcode"] != 0:
            output = [done["stdout"], done["stderr"]] if with_output else []
            words = ["check_cmd determined the state failed", *filter(None, output)]
            return False, "\n".join(words)
    return True, "check_cmd determined the state succeeded"
