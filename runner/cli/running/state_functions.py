# SPDX-License-Identifier: Apache-2.0
"""Salt's `state.*` functions, as `runner call` and `runner-salt-call` take them: each is one of
runner's commands.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable
from functools import partial
from typing import Any

from runner.cli.running import values
from runner.cli.running.answers import write_value
from runner.cli.running.exit_codes import NOT_RUN
from runner.cli.running.options import Common, options_of
from runner.cli.running.shown_run import finish
from runner.model.diagnostics import nearest, suggestion
from runner.model.errors import RunnerError, UsageError
from runner.output import json_
from runner.pipeline import lock, stages
from runner.tools.queries import show

SHOWS = {
    "state.show_sls": "sls",
    "state.show_low_sls": "low-sls",
    "state.show_lowstate": "lowstate",
    "state.show_highstate": "highstate",
    "state.show_top": "top",
    "pillar.items": "pillar",
    "grains.items": "grains",
}


RUN_OPTIONS = ("test", "pillar", "saltenv", "pillarenv", "exclude", "queue", "mock")
WITHOUT_MASTER = (
    "sort",
    "concurrent",
    "sync_mods",
    "orchestration_jid",
)  # accepted, and without a meaning here


class AskedCall:
    """One call: its words without those that salt-call takes as arguments, runner as options."""

    def __init__(
        self, common: Common, positional: list[Any], named: dict[str, Any], running: bool = False
    ) -> None:
        shared, more = _run_options(common, named)
        self.common = common._replace(**shared)
        self.options = options_of(self.common, running, **more)
        self.words, self.named = list(positional), named

    def take(self, name: str) -> Any:
        """The next argument, which may be named. Raises UsageError when there is none."""
        if name in self.named:
            return self.named.pop(name)
        if not self.words:
            raise UsageError(
                f"{name} is missing", hint=f"write it as the next word, or {name}=VALUE"
            )
        return self.words.pop(0)

    def names(self) -> list[str]:
        """All that is left, as names of SLS files."""
        words = self.words or ([self.named.pop("mods")] if "mods" in self.named else [])
        self.words = []
        return [name for word in words for name in _listed(word)]

    def finish(
        self, run: Callable[[tuple[Any, ...]], Any], shown: Callable[[Any], Any] | None = None
    ) -> int:
        self._all_taken()
        return finish(self.common, self.options, run, shown)

    def answer(self, value: Any, code: int = 0) -> int:
        self._all_taken()
        write_value(self.common, value)
        return code

    def _all_taken(self) -> None:
        """A `tset=True` that is passed over would change the machine."""
        left = [
            f"{key}="
            for key in self.named
            if key not in WITHOUT_MASTER and not key.startswith("__")
        ]
        for word in [*left, *map(str, self.words)]:
            near = nearest(word.rstrip("="), RUN_OPTIONS, 0.6)
            raise UsageError(
                f"{word!r} is not an argument here", hint=suggestion(f"{near}=") if near else None
            )


def dispatch(
    common: Common, function: str, positional: list[Any], named: dict[str, Any]
) -> int | None:
    """Do what a function is for, and the exit code; None when it is none of these. Raises
    RunnerError for an unknown function of `state`.
    """
    if function in SHOWS:
        asked = AskedCall(common, positional, named)
        return asked.answer(show.show(asked.options, SHOWS[function], asked.names()))
    module, _, name = function.partition(".")
    if module != "state":
        return None
    if name not in FUNCTIONS:
        known = [
            *FUNCTIONS,
            *(shown.removeprefix("state.") for shown in SHOWS if shown.startswith("state.")),
        ]
        near = nearest(name, known, 0.6)
        hint = suggestion(f"state.{near}") if near else f"state has: {', '.join(sorted(known))}"
        raise RunnerError(f"'{function}' is not available", hint=hint)
    return FUNCTIONS[name](AskedCall(common, positional, named, running=True))


def _run_options(common: Common, named: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The options, and the pillar, among the named arguments."""
    environments = {key: named.pop(key) for key in ("saltenv", "pillarenv") if key in named}
    taken: dict[str, Any] = {
        key: None if name is None else str(name) for key, name in environments.items()
    }
    more: dict[str, Any] = {}
    test = named.pop("test", None)
    if test is False and not common.test:
        more |= {"test": False, "real": True}
    taken["test"] = common.test or bool(test)
    if "exclude" in named:
        more["exclude"] = _listed(named.pop("exclude"))
    if named.pop("queue", False):
        more["wait"] = -1.0
    pillar = named.pop("pillar", None)
    if not isinstance(pillar, dict | None):
        why = values.why_not(pillar) if isinstance(pillar, str) else ""
        raise UsageError(f"pillar=: expected a mapping{why}", hint='pillar=\'{"key": "value"}\'')
    if named.pop("mock", False):
        taken["test"] = True
        more["mock"] = True
        more.pop("test", None)
        more.pop("real", None)
    return taken, more if pillar is None else {**more, "pillar": pillar}


def _listed(value: Any) -> list[Any]:
    """Names, from a list or with commas between them; mappings such as `{id: NAME}` stay."""
    if isinstance(value, list):
        return [item if isinstance(item, dict) else str(item) for item in value]
    return [item for item in str(value).split(",") if item]


# ---------------------------------------------------------------- the functions


def _apply(asked: AskedCall) -> int:
    names = asked.names()
    return _sls(asked, names) if names else _highstate(asked)


def _highstate(asked: AskedCall) -> int:
    return asked.finish(partial(stages.highstate, asked.options))


def _sls(asked: AskedCall, names: list[str] | None = None) -> int:
    wanted = asked.names() if names is None else names
    if not wanted:
        raise UsageError("no SLS file is named", hint="state.sls NAME")
    return asked.finish(partial(stages.sls, asked.options, wanted))


def _test(asked: AskedCall) -> int:
    asked.options = asked.options._replace(test=True)
    return _apply(asked)


def _top(asked: AskedCall) -> int:
    asked.options = asked.options._replace(topfn=str(asked.take("topfn")).removeprefix("salt://"))
    return _highstate(asked)


def _sls_id(asked: AskedCall) -> int:
    wanted = tuple(_listed(asked.take("id_")))
    asked.options = asked.options._replace(only=wanted, with_requisites=True)
    return _sls(asked)


def _single(asked: AskedCall) -> int:
    function = str(asked.take("fun"))
    arguments = {**({"name": asked.words.pop(0)} if asked.words else {}), **asked.named}
    asked.named = {}
    return asked.finish(partial(stages.single, asked.options, function, arguments))


def _low(asked: AskedCall) -> int:
    data = asked.take("data")
    hint = "'{state: file, fun: absent, name: /tmp/x}'"
    if not isinstance(data, dict):
        raise UsageError("state.low takes one chunk", hint=hint)
    for key in ("state", "fun", "name"):
        if key not in data:
            raise UsageError(f'Missing "{key}" data', hint=hint)
    function = f"{data['state']}.{data['fun']}"
    rest = {
        key: value
        for key, value in data.items()
        if key == "__id__" or (key[:2] != "__" and key not in OF_LOW)
    }
    one: Callable[[Any], Any] = lambda report: {"local": json_.result(next(iter(report)))}  # noqa: E731
    return asked.finish(partial(stages.single, asked.options, function, rest), one)


OF_LOW = ("state", "fun", "order")


def _high(asked: AskedCall) -> int:
    data = asked.take("data")
    if not isinstance(data, dict):
        raise UsageError(
            "High data is not a dictionary and is invalid",
            hint="'{ID: {file.absent: [{name: /tmp/x}]}}'",
        )
    return _text(asked, "high", f"#!json\n{json.dumps(data)}\n")


def _template(asked: AskedCall) -> int:
    path = str(asked.take("tem"))
    if not os.path.isfile(path):
        raise RunnerError(f"Specified SLS {path} on local filesystem cannot be found.")
    return _outside(asked, path, os.path.abspath(path))


def _template_str(asked: AskedCall) -> int:
    return _text(asked, "template_str", str(asked.take("tem")))


def _text(asked: AskedCall, name: str, text: str) -> int:
    with tempfile.TemporaryDirectory(prefix="runner-") as folder:
        path = f"{folder}/{name}.sls"
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return _outside(asked, path, "")


def _outside(asked: AskedCall, path: str, name: str) -> int:
    return asked.finish(partial(stages.outside, asked.options, path, name))


def _show_states(asked: AskedCall) -> int:
    chunks = show.show(asked.options, "lowstate")
    return asked.answer(list(dict.fromkeys(chunk["__sls__"] for chunk in chunks)))


def _show_state_usage(asked: AskedCall) -> int:
    return asked.answer(show.usage(asked.options))


def _sls_exists(asked: AskedCall) -> int:
    try:
        show.show(asked.options, "sls", asked.names())
    except RunnerError:
        return asked.answer(False, NOT_RUN)
    return asked.answer(True)


def _id_exists(asked: AskedCall) -> int:
    wanted = set(_listed(asked.take("ids")))
    chunks = show.show(asked.options, "low-sls", asked.names())
    return asked.answer(wanted <= {chunk["__id__"] for chunk in chunks})


def _running(asked: AskedCall) -> int:
    try:
        with lock.held(asked.options.state_dir):
            return asked.answer([])
    except lock.Locked as error:
        return asked.answer([error.message])


FUNCTIONS: dict[str, Callable[[AskedCall], int]] = {
    "apply": _apply,
    "apply_": _apply,
    "high": _high,
    "highstate": _highstate,
    "id_exists": _id_exists,
    "low": _low,
    "running": _running,
    "show_state_usage": _show_state_usage,
    "show_states": _show_states,
    "single": _single,
    "sls": _sls,
    "sls_exists": _sls_exists,
    "sls_id": _sls_id,
    "template": _template,
    "template_str": _template_str,
    "test": _test,
    "top": _top,
}
