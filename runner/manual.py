"""The manual, made from signatures and docstrings: pages of functions, and the JSON Schema of SLS files."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple, Protocol

from runner.errors import RunnerError
from runner.model import REQUISITE_KEYS

# arguments that every state takes, with what they are
GLOBAL: Mapping[str, str] = {
    "require": "states that have to succeed before this one",
    "watch": "as require; a change of them makes this state react",
    "onchanges": "run only when one of these changed something",
    "onfail": "run only when one of these failed",
    "prereq": "run only when one of these is about to change something, and before it",
    "listen": "react once, at the end of the run, when one of these changed something",
    "onlyif": "commands that have to succeed for this state to run",
    "unless": "commands that must not all succeed for this state to run",
    "creates": "files; when all are there this state does not run",
    "check_cmd": "commands that have to succeed after this state",
    "order": "a number, first or last",
    "retry": "try again: attempts, until, interval, splay",
    "failhard": "end the run when this state fails",
    "noop": "only plan this state",
    "parallel": "run beside others",
    "fire_event": "tell the listeners of the run",
    "no_log": "show nothing of this state",
}


class Library(Protocol):
    """What the manual needs of the registry."""

    def state_modules(self) -> list[str]: ...
    def state_functions(self, module: str) -> list[str]: ...
    def state(self, name: str) -> Any: ...
    def modules(self) -> list[str]: ...
    def functions(self, module: str) -> list[str]: ...
    def function(self, name: str) -> Callable[..., Any]: ...
    def suggest_state(self, name: str) -> str | None: ...


class Page(NamedTuple):
    """What is known of one function. parameters: (name, type and default)."""

    name: str
    kind: str  # state or execution function
    summary: str
    parameters: tuple[tuple[str, str], ...]
    text: str
    notes: tuple[str, ...] = ()


def contents(library: Library) -> dict[str, list[str]]:
    """All state modules with their functions."""
    found = {}
    for module in library.state_modules():
        try:
            found[module] = [name for name in library.state_functions(module) if name != "mod_watch"]
        except RunnerError:
            continue
    return found


def pages(library: Library, name: str) -> list[Page]:
    """The pages of a function, or of all functions of a state module; states before execution functions.

    Raises RunnerError for what is not there.
    """
    module, dot, function = name.partition(".")
    wanted = [function] if dot else []
    found = []
    if module in library.state_modules():
        for each in wanted or [name for name in library.state_functions(module) if name != "mod_watch"]:
            if each in library.state_functions(module):
                found.append(_state_page(library, f"{module}.{each}"))
    if not found or (dot and function in library.functions(module)):
        found += _function_pages(library, module, wanted)
    if not found:
        near = library.suggest_state(name)
        raise RunnerError(
            f"there is no page for {name}", hint=f"did you mean {near}?" if near else "`runner doc` lists all"
        )
    return found


def _function_pages(library: Library, module: str, wanted: list[str]) -> list[Page]:
    if module not in library.modules():
        return []
    names = [each for each in library.functions(module) if not wanted or each in wanted]
    return [_page(f"{module}.{each}", "execution function", library.function(f"{module}.{each}")) for each in names]


def _state_page(library: Library, name: str) -> Page:
    found = library.state(name)
    notes = []
    if found.mod_watch is not None:
        notes.append("It reacts when a state that it watches changed something.")
    else:
        notes.append("It cannot react: watch is taken for require.")
    if found.unconverging:
        notes.append(f"It changes something in each run: {found.unconverging}.")
    hooks = [
        hook for hook in ("autorequire", "autobefore", "autonotify", "autosubscribe") if hasattr(found.module, hook)
    ]
    for hook in hooks:
        text = (inspect.getdoc(getattr(found.module, hook)) or "").split("\n")[0]
        notes.append(f"Automatic order: {text}")
    return _page(name, "state", found.function)._replace(notes=tuple(notes))


def _page(name: str, kind: str, function: Callable[..., Any]) -> Page:
    text = inspect.getdoc(function) or ""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        parameters = ()  # type: ignore[assignment]
    listed = tuple(
        (each.name.rstrip("_"), _described(each)) for each in parameters if each.kind is not each.VAR_KEYWORD
    )
    return Page(name, kind, text.split("\n")[0], listed, text)


def _described(parameter: inspect.Parameter) -> str:
    kind = (
        parameter.annotation if isinstance(parameter.annotation, str) else getattr(parameter.annotation, "__name__", "")
    )
    kind = "" if parameter.annotation is parameter.empty else kind
    if parameter.default is parameter.empty:
        return f"{kind}, required" if kind else "required"
    return f"{kind} = {parameter.default!r}" if kind else f"= {parameter.default!r}"


# ---------------------------------------------------------------- JSON Schema


def schema(library: Library, of_function: Callable[[Callable[..., Any]], dict[str, Any]]) -> dict[str, Any]:
    """The JSON Schema of an SLS file. of_function: the schema of a function's arguments."""
    functions: dict[str, Any] = {}
    modules: dict[str, list[str]] = {}
    for module, names in contents(library).items():
        for name in names:
            try:
                function = library.state(f"{module}.{name}").function
                own = of_function(function)
            except (RunnerError, TypeError):
                continue
            summary = (inspect.getdoc(function) or "").split("\n")[0]
            functions[f"{module}.{name}"] = {"description": summary, **_body(own.get("properties", {}))}
            modules.setdefault(module, []).append(name)
    for module, names in modules.items():
        listed = {"type": "array", "items": {"anyOf": [{"enum": names}, {"type": "object"}]}}
        functions[module] = {"anyOf": [listed, {"enum": names}]}
    top = {"include": {"type": "array"}, "extend": {"type": "object"}, "exclude": {"type": "array"}}
    identifier = {
        "anyOf": [
            {"type": "object", "properties": functions, "additionalProperties": False},
            {"enum": sorted(name for name in functions if "." in name)},
        ]
    }
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "SLS",
        "type": ["object", "null"],
        "properties": {**top, "chain": {"type": "array"}, "defaults": {"type": "object"}},
        "additionalProperties": identifier,
    }


def _body(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """What may stand below `module.function:`: a list of mappings, nothing, or one mapping."""
    requisites = {key: {"type": ["array", "object", "string"]} for key in REQUISITE_KEYS}
    shared: dict[str, Any] = {key: {"description": text} for key, text in GLOBAL.items()}
    own = {**requisites, **shared, "names": {"type": "array"}, "name": {}, **arguments}
    one = {"type": "object", "properties": own}
    return {"anyOf": [{"type": "array", "items": {"anyOf": [one, {"type": "string"}]}}, {"type": "null"}, one]}


def as_text(found: Iterable[Page]) -> str:
    """Pages for a terminal."""
    parts = []
    for page in found:
        lines = [f"{page.name}  ({page.kind})", "", *(f"  {line}".rstrip() for line in page.text.split("\n")), ""]
        if page.parameters:
            width = min(max(len(name) for name, _ in page.parameters), 24)
            lines += ["  Arguments:", *(f"    {name:<{width}}  {told}" for name, told in page.parameters), ""]
        lines += [f"  {note}" for note in page.notes]
        parts.append("\n".join(lines).rstrip() + "\n")
    return "\n".join(parts)


def as_markdown(found: Iterable[Page]) -> str:
    """Pages for the web."""
    parts = []
    for page in found:
        rows = "".join(f"| `{name}` | `{told}` |\n" for name, told in page.parameters)
        table = f"| argument | type and default |\n|---|---|\n{rows}\n" if rows else ""
        notes = "".join(f"- {note}\n" for note in page.notes)
        parts.append(f"## {page.name}\n\n{page.text}\n\n{table}{notes}")
    return "\n".join(parts)
