# SPDX-License-Identifier: Apache-2.0
"""Call execution functions as states."""

from __future__ import annotations

from collections.abc import Mapping
from inspect import Signature, signature
from typing import Any

from runner.api import (
    OPEN,
    Done,
    Plan,
    Planned,
    RunnerError,
    StateFailed,
    Unforeseen,
    here,
    planned_as,
)
from states._module_run import Call, call_from_list, call_from_mapping, reports_failure

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

    Behaviour: Salt 3008's module.run.
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

    Behaviour: Salt 3008's module.wait.
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

    Behaviour: Salt 3008's module.watch.
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
            call = call_from_list(names[key], signatures[key], arguments)
            answer = _call(call, signatures[key])
        except TypeError as error:  # the arguments do not fit
            failures.append(f"'{key}' failed: {error}")
            continue
        except (RunnerError, StateFailed, ValueError) as error:
            comment = ", ".join([*failures, *done, f"'{key}' failed: {error}"])
            raise StateFailed(comment, changes=changes) from None
        if reports_failure(answer):
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
    call = call_from_mapping(function, parameters, arguments)
    if call.unused:
        here.warn(f"{function} has no {', '.join(call.unused)}: not given to it")
    try:
        answer = _call(call, parameters)
    except (RunnerError, StateFailed, TypeError, ValueError) as error:
        raise StateFailed(
            f"Module function {function} threw an exception. Exception: {error}", changes={}
        ) from None
    if reports_failure(answer):
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
