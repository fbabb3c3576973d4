# SPDX-License-Identifier: Apache-2.0
"""Call execution functions as states."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from inspect import Signature, signature
from typing import Any

from runner.api import (
    OPEN,
    Done,
    Plan,
    Planned,
    Record,
    RunnerError,
    StateFailed,
    Unforeseen,
    here,
    planned_as,
)

# what an SLS means by these itself; the argument of a function that has such a name is typed with
# `m_` before it
TAKEN = ("fun", "name", "names", "state", "saltenv")
READ = ("func", "returner", "returner_config", "returner_kwargs", "sfun")
EMPTY = inspect.Parameter.empty


class Call(Record):
    """A function with its arguments. unused: arguments in the call that it does not have."""

    function: str
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    unused: tuple[str, ...] = ()


def _call_from_mapping(
    function: str, signature: inspect.Signature, arguments: Mapping[str, Any]
) -> Call:
    """The older form: arguments by their names. Raises StateFailed when one is missing."""
    args: list[Any] = []
    kwargs: dict[str, Any] = {}
    used, missing = set(), []
    for parameter in signature.parameters.values():
        key = f"m_{parameter.name}" if parameter.name in TAKEN else parameter.name
        used.add(key)
        if parameter.kind == parameter.VAR_POSITIONAL:
            args += _listed_values(parameter.name, arguments.get(key))
        elif parameter.kind == parameter.VAR_KEYWORD:
            kwargs |= dict(arguments.get(key) or {})
        elif key in arguments and parameter.kind == parameter.POSITIONAL_ONLY:
            args.append(arguments[key])
        elif key in arguments:
            kwargs[parameter.name] = arguments[key]
        elif parameter.default is EMPTY:
            missing.append(parameter.name)
    if missing:
        raise StateFailed(f"The following arguments are missing: {' '.join(missing)}", changes={})
    if args:
        args, kwargs = _named_first(args, kwargs, signature)
    return Call(
        function,
        tuple(args),
        kwargs,
        tuple(key for key in arguments if key not in used and key not in READ),
    )


def _listed_values(name: str, value: Any) -> list[Any]:
    if value is not None and not isinstance(value, list):
        raise StateFailed(f"'{name}' must be a list.", changes={})
    return list(value or ())


def _named_first(
    args: list[Any], kwargs: dict[str, Any], signature: inspect.Signature
) -> tuple[list[Any], dict[str, Any]]:
    """Put arguments with a name before those without, if they may be given by their place."""
    first: list[Any] = []
    for parameter in signature.parameters.values():
        if parameter.kind == parameter.POSITIONAL_OR_KEYWORD and parameter.name in kwargs:
            first.append(kwargs.pop(parameter.name))
    return first + args, kwargs


def _call_from_list(function: str, signature: inspect.Signature, arguments: Any) -> Call:
    """The newer form: a list of values and of one-key mappings. Raises TypeError when an argument
    is missing.
    """
    args, kwargs = _split(arguments)
    missing = [name for name in _required_names(signature)[len(args) :] if name not in kwargs]
    if missing:
        raise TypeError(f"Missing arguments: {', '.join(missing)}")
    return Call(function, tuple(args), kwargs)


def _split(arguments: Any) -> tuple[list[Any], dict[str, Any]]:
    if arguments is None:
        return [], {}
    if not isinstance(arguments, list):
        return ([], dict(arguments)) if isinstance(arguments, dict) else ([arguments], {})
    named = {
        key: value for item in arguments if isinstance(item, dict) for key, value in item.items()
    }
    return [item for item in arguments if not isinstance(item, dict)], named


def _required_names(signature: inspect.Signature) -> list[str]:
    """The arguments that have to be there and may be given by their place."""
    places = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return [
        parameter.name
        for parameter in signature.parameters.values()
        if parameter.kind in places and parameter.default is EMPTY
    ]


def _reports_failure(answer: Any) -> bool:
    """Return whether the answer of a function says that it failed, anywhere in it.

    >>> [_reports_failure(answer) for answer in (False, {"retcode": 1}, {"web": {"result": False}})]
    [True, True, True]
    >>> _reports_failure(0)
    False
    """
    if not isinstance(answer, Mapping):
        return answer is False
    if answer.get("result") is False or answer.get("retcode", 0) != 0:
        return True
    return any(_reports_failure(value) for value in answer.values() if isinstance(value, Mapping))


NON_IDEMPOTENT = {
    "run": "a function is called in each run; guard it with onlyif, unless or onchanges"
}
WHY = "what an execution function changes is known when it has run"


def run(name: str, **functions: Any) -> Planned:
    """Call execution functions.

    Any other argument is a function, `module.function`, with a list of its arguments; several are
    called one after another. `module.function:1` and `module.function:2` call one function more
    than once: what follows the colon only tells the calls apart. The older form gives the function
    as `name` and its arguments beside it: `m_name`, `m_fun`, `m_names`, `m_state`, `m_saltenv` for
    those that are called so, `args` and `kwargs` for what it takes beyond those that have a name.
    An answer that is False, or that holds a `result: False` or a `retcode` other than 0, is a
    failure.

    name: Names the state, or in the older form the function.

        refresh the package lists:
          module.run:
            - pkg.refresh_db: []
    """
    calls = [key for key in functions if "." in key]
    if calls:
        return (yield from _call_all({key: functions[key] for key in calls}))
    return (yield from _call_older_form(name, functions))


def wait(name: str, **functions: Any) -> str:
    """Call execution functions only when something that the state watches changed.

    Any other argument is a function with its arguments, as of module.run.

    name: as of module.run.

        systemctl.daemon_reload:
          module.wait:
            - name: service.systemctl_reload
            - watch:
              - file: /etc/systemd/system/tool.service
        /etc/systemd/system/tool.service:
          file.managed:
            - source: salt://tool.service
    """
    return ""


def watch(name: str, **functions: Any) -> str:
    """The same as module.wait, under an older name.

    Any other argument is a function with its arguments, as of module.run.

    name: as of module.run.

        reload the units:
          module.watch:
            - name: service.systemctl_reload
            - watch:
              - test: quiet
        quiet:
          test.nop: []
    """
    return ""


def mod_watch(name: str, sfun: str, **functions: Any) -> Planned:
    """Call the functions because something that is watched changed.

    sfun: the state function that watches.
    """
    return (yield from run(name, **functions))


def calls(name: str, **functions: Any) -> list[str]:
    """The functions that a state names: there has to be such a one."""
    return [_called(key) for key in functions if "." in key] or [name]


def _called(key: str) -> str:
    """The function that a key names: `test.echo:2` calls test.echo."""
    return key.partition(":")[0]


def _call_all(functions: Mapping[str, Any]) -> Planned:
    """Functions with their arguments as a list, one after another; one that says no does not keep
    the others back.
    """
    names = {key: _called(key) for key in functions}
    missing = [function for function in names.values() if not here.has(function)]
    if missing:
        raise StateFailed(
            f"Unavailable function: {', '.join(missing)}.", missing=("function", missing[0])
        )
    signatures = {key: signature(here.function(function)) for key, function in names.items()}
    listed = ", ".join(names.values())
    yield Plan({}, f"Function {listed} to be executed.", exact=False, why=WHY, provides=OPEN)
    changes: dict[str, Any] = {}
    done: list[str] = []
    failures: list[str] = []
    for key, arguments in functions.items():
        try:
            call = _call_from_list(names[key], signatures[key], arguments)
            answer = _call(call, signatures[key])
        except TypeError as error:  # the arguments do not fit
            failures.append(f"'{key}' failed: {error}")
            continue
        except (RunnerError, StateFailed, ValueError) as error:
            comment = ", ".join([*failures, *done, f"'{key}' failed: {error}"])
            raise StateFailed(comment, changes=changes) from None
        if _reports_failure(answer):
            failures.append(f"'{key}'{_failure(answer)}")
        else:
            done.append(f"{key}: {_success(answer)}")
            changes[key] = answer
    if failures:
        raise StateFailed(", ".join([*failures, *done]), changes=changes)
    return Done(", ".join(done), changes)


def _failure(answer: Any) -> str:
    if not isinstance(answer, Mapping):
        return f": {answer}"
    return f" failed: {answer.get('comment') or '(error message N/A)'}"


def _success(answer: Any) -> str:
    return str(answer.get("comment") or "Success") if isinstance(answer, Mapping) else str(answer)


def _call_older_form(function: str, arguments: Mapping[str, Any]) -> Planned:
    """One function, with its arguments beside it."""
    if not here.has(function):
        raise StateFailed(
            f"Module function {function} is not available", missing=("function", function)
        )
    parameters = signature(here.function(function))
    yield Plan(
        {}, f"Module function {function} is set to execute", exact=False, why=WHY, provides=OPEN
    )
    call = _call_from_mapping(function, parameters, arguments)
    if call.unused:
        here.warn(f"{function} has no {', '.join(call.unused)}: not given to it")
    try:
        answer = _call(call, parameters)
    except (RunnerError, StateFailed, TypeError, ValueError) as error:
        raise StateFailed(
            f"Module function {function} threw an exception. Exception: {error}", changes={}
        ) from None
    if _reports_failure(answer):
        raise StateFailed(f"Module function {function} executed", changes={"ret": answer})
    return Done(f"Module function {function} executed", {"ret": answer})


def _refuse_arguments(call: Call, parameters: Signature) -> None:
    """Raise TypeError for arguments that a function does not have, as its call will."""
    try:
        parameters.bind(*call.args, **call.kwargs)
    except TypeError as problem:
        raise TypeError(f"{call.function.rpartition('.')[2]}() {problem}") from None
    raise Unforeseen(call.function)


@planned_as(_refuse_arguments)
def _call(call: Call, parameters: Signature) -> Any:
    return here.call(call.function, *call.args, **call.kwargs)
