"""Call execution functions as states."""

from __future__ import annotations

from typing import Any

from runner.api import OPEN, Done, Plan, Planned, RunnerError, StateFailed, here

UNCONVERGING = {"run": "a function is called in each run; guard it with onlyif, unless or onchanges"}
WHY = "what an execution function changes is known when it has run"
TAKEN = ("name", "func", "args", "kwargs", "returner", "m_name")


def run(name: str, **functions: Any) -> Planned:
    """Call execution functions.

    functions: `module.function` with a list of arguments, several one after another. The older form gives the
    function as `name` and its arguments beside it (`m_name` for one that is called name, `args`, `kwargs`).

        refresh the package lists:
          module.run:
            - pkg.refresh_db: []

    Behaviour: Salt 3008's module.run.
    """
    calls = _calls(name, functions)
    missing = [function for function, _, _ in calls if not here.has(function)]
    if missing:
        raise StateFailed(f"Unavailable function: {', '.join(missing)}.", lacks=("function", missing[0]))
    names = ", ".join(function for function, _, _ in calls)
    older = not any("." in key for key in functions)
    told = f"Module function {names} is set to execute" if older else f"Function {names} to be executed."
    yield Plan({}, told, sure=False, why=WHY, provides=OPEN)
    changes: dict[str, Any] = {}
    for function, args, kwargs in calls:
        key = "ret" if older else function
        try:
            changes[key] = here.call(function, *args, **kwargs)
        except (RunnerError, StateFailed, TypeError, ValueError) as error:
            raise StateFailed(f"'{function}' failed: {error}", changes=changes) from None
        if changes[key] is False:
            raise StateFailed(f"'{function}' failed: {changes[key]}", changes=changes)
    if older:
        return Done(f"Module function {names} executed", changes)
    return Done("\n".join(f"{function}: {_short(answer)}" for function, answer in changes.items()), changes)


def wait(name: str, **functions: Any) -> str:
    """Call execution functions only when something that the state watches changed. Arguments as those of module.run.

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
    """The same as module.wait, under an older name. Arguments as those of module.run.

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
    return [function for function, _, _ in _calls(name, functions)]


Call = tuple[str, list[Any], dict[str, Any]]


def _calls(name: str, given: dict[str, Any]) -> list[Call]:
    dotted = [key for key in given if "." in key]
    if dotted:
        return [(key, *_arguments(given[key])) for key in dotted]
    kwargs = {key: value for key, value in given.items() if key not in TAKEN}
    if "m_name" in given:
        kwargs["name"] = given["m_name"]
    kwargs |= dict(given.get("kwargs") or {})
    return [(str(given.get("func", name)), list(given.get("args") or ()), kwargs)]


def _arguments(given: Any) -> tuple[list[Any], dict[str, Any]]:
    """A list of values and of one-key mappings: positional and named arguments."""
    if given is None:
        return [], {}
    if not isinstance(given, list):
        return ([], dict(given)) if isinstance(given, dict) else ([given], {})
    positional = [item for item in given if not isinstance(item, dict)]
    named = {key: value for item in given if isinstance(item, dict) for key, value in item.items()}
    return positional, named


def _short(answer: Any) -> str:
    return "True" if answer is None else str(answer)
