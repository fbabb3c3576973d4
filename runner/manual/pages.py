"""The manual, made from signatures and docstrings: what there is, and the pages of functions."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any, Protocol

from runner.arguments.schema import MISSING, Parameter, features_of, schema_of
from runner.manual import docstring
from runner.manual.docstring import Docstring
from runner.model.diagnostics import nearest, suggestion
from runner.model.errors import RunnerError
from runner.model.global_arguments import DOCUMENTED, SETTINGS
from runner.model.records import Record
from runner.model.requisite_kinds import AUTOMATIC

ARGUMENTS = "arguments"  # the page of what every state takes


class Library(Protocol):
    """The part of the registry that the manual needs."""

    def state_modules(self) -> list[str]: ...
    def state_functions(self, module: str) -> list[str]: ...
    def state(self, name: str) -> Any: ...
    def modules(self) -> list[str]: ...
    def functions(self, module: str) -> list[str]: ...
    def definition(self, name: str) -> Callable[..., Any]: ...
    def suggest_state(self, name: str) -> str | None: ...
    def suggest_function(self, name: str) -> str | None: ...


class Argument(Record):
    """One argument of a function. default: as YAML has it; None for one that has to be given."""

    name: str
    type: str
    default: str | None
    description: str


class Page(Record):
    """The documentation of one function. before, after: texts before and after its examples."""

    name: str
    kind: str  # state or execution function
    summary: str
    before: tuple[str, ...]
    arguments: tuple[Argument, ...]
    examples: tuple[str, ...]
    after: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def contents(library: Library) -> dict[str, list[str]]:
    """All state modules with their functions."""
    return {
        module: functions
        for module in library.state_modules()
        if (functions := _of_module(library, module))
    }


def _of_module(library: Library, module: str) -> list[str]:
    try:
        return [name for name in library.state_functions(module) if name != "mod_watch"]
    except RunnerError:  # a module of the tree that cannot work here
        return []


def execution(library: Library) -> dict[str, list[str]]:
    """All execution modules with their functions."""
    return {
        module: functions
        for module in library.modules()
        if (functions := library.functions(module))
    }


def pages(library: Library, name: str) -> list[Page]:
    """The pages of a function, or of all functions of a module; states before execution functions.

    Raises RunnerError for what is not there.
    """
    if name == ARGUMENTS:
        return [everywhere()]
    module, dot, function = name.rstrip(".").partition(".")
    states = [member for member in _of_module(library, module) if not dot or member == function]
    result = [state_page(library, f"{module}.{member}") for member in states]
    if (dot or not result) and module in library.modules():
        functions = [
            member for member in library.functions(module) if not dot or member == function
        ]
        result += [function_page(library, f"{module}.{member}") for member in functions]
    if not result:
        _refuse_unavailable(library, module, function)
        near = _near(name, [library.suggest_state(name), library.suggest_function(name)])
        raise RunnerError(
            f"there is no page for {name}",
            hint=suggestion(near) if near else "`runner doc` lists all",
        )
    return result


def _refuse_unavailable(library: Library, module: str, function: str) -> None:
    """Tell why a module of the tree cannot be read, rather than that there is none."""
    try:
        library.state(f"{module}.{function or 'any'}")
    except RunnerError as reason:
        if reason.code == "unavailable":
            raise


def _near(name: str, suggestions: list[str | None]) -> str | None:
    return nearest(name, [word for word in suggestions if word], 0)


# ---------------------------------------------------------------- one page


def everywhere() -> Page:
    """The page of the arguments that every state takes."""

    listed = tuple(
        Argument(name, argument.title, argument.default, argument.description)
        for name, argument in DOCUMENTED.items()
    )
    summary = "What every state takes besides its own arguments: requisites, guards and settings."
    example = (
        "nginx:\n  service.running:\n    - watch:\n      - file: /etc/nginx/nginx.conf\n    -"
        " onlyif: test -e /etc/nginx\n    - retry:\n        attempts: 3\n/etc/nginx/nginx.conf:\n "
        " file.managed:\n    - contents: events {}\n    - before:\n      - service: nginx"
    )
    return Page(ARGUMENTS, "of every state", summary, (), listed, (example,))


def state_page(library: Library, name: str) -> Page:
    """The page of a state function."""
    function = library.state(name)
    page = _page(name, "state", function.function, said(library, name))
    real = f"{name.partition('.')[0]}.{function.function.__name__.rstrip('_')}"
    notes = _notes(function) if real == name else [f"Another name of {real}.", *_notes(function)]
    examples = tuple(re.sub(rf"\b{re.escape(real)}\b", name, example) for example in page.examples)
    return page._replace(notes=tuple(notes), examples=examples)


def _notes(function: Any) -> list[str]:
    watch = function.mod_watch is not None
    notes = ["It reacts when a state that it watches changed something." if watch else _NO_WATCH]
    if function.non_idempotent:
        notes.append(f"It changes something in each run: {function.non_idempotent}.")
    for hook in AUTOMATIC:
        about = inspect.getdoc(function.hook(hook))
        if about and function.hook(hook):
            notes.append(f"Automatic order: {about.split(chr(10))[0]}")
    return [*notes, *_features(function)]


def _features(function: Any) -> Iterator[str]:
    """Describe the features of the module's providers, and those that the function needs."""
    needed = getattr(function.function, "required_features", ())
    table = function.hook("PROVIDERS")
    if needed:
        yield f"It needs a provider with: {', '.join(needed)}."
    if table is None:
        return
    for feature in table.feature_table:
        able = [provider.NAMES[0] for provider in table.all() if provider.has(feature)]
        providers = ", ".join(able) or "no provider has it"
        yield f"Provider feature {table.description_of(feature)} ({providers})."


_NO_WATCH = "It cannot react: watch is taken for require."


def function_page(library: Library, name: str) -> Page:
    """The page of an execution function."""
    function = library.definition(name)
    documented = docstring.read(inspect.getdoc(function) or "", _names(function))
    return _page(name, "execution function", function, documented)._replace(
        notes=(f"runner call {_call(name, function)}",)
    )


def _page(name: str, kind: str, function: Callable[..., Any], documented: Docstring) -> Page:
    arguments = tuple(
        _argument(key, parameter, documented, kind == "state")
        for key, parameter in _parameters(function).items()
    )
    return Page(
        name,
        kind,
        documented.summary,
        documented.before,
        arguments,
        documented.examples,
        documented.after,
    )


def _argument(key: str, parameter: Parameter, documented: Docstring, state: bool) -> Argument:
    secret = "secret " if parameter.shape.hidden else ""
    default = None if parameter.default is MISSING else _yaml(parameter.default)
    if default is None and state and (key == "name" or parameter.shape.identifies):
        default = "the ID"
    needed = features_of(parameter)
    about = documented.arguments.get(key, "") + (
        f" Needs a provider with {', '.join(needed)}." if needed else ""
    )
    return Argument(key, secret + parameter.shape.title, default, about.strip())


def _yaml(value: object) -> str:
    if value is None or isinstance(value, bool):
        return {None: "", True: "true", False: "false"}[value]
    if isinstance(value, tuple):
        value = list(value)
    return repr(value) if isinstance(value, str | int | float | list | dict) else ""


def _parameters(function: Callable[..., Any]) -> Mapping[str, Parameter]:
    try:
        return schema_of(function).parameters
    except AttributeError:  # not written in Python
        return {}


def _names(function: Callable[..., Any]) -> Collection[str]:
    return _parameters(function).keys()


def _call(name: str, function: Callable[..., Any]) -> str:
    """The command line that calls an execution function."""
    words = [name]
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return name
    for parameter in parameters:
        if parameter.kind is parameter.VAR_POSITIONAL:
            words.append(f"[{parameter.name.upper()} ...]")
        elif parameter.kind is not parameter.VAR_KEYWORD and parameter.default is parameter.empty:
            words.append(parameter.name.upper())
        elif parameter.kind is not parameter.VAR_KEYWORD:
            words.append(f"[{parameter.name}=...]")
    return " ".join(words)


# ---------------------------------------------------------------- what is said of arguments


def said(library: Library, name: str) -> Docstring:
    """The docstring of a state function; of arguments that it says nothing of, what a sister
    function says.
    """
    documented = _read(library, name)
    untold = {
        key
        for key in _names(library.state(name).function)
        if not docstring.mentions(documented, key)
    }
    sisters = _of_sisters(library, name) if untold else {}
    borrowed = {key: sisters[key] for key in untold & sisters.keys()} | documented.arguments
    borrowed |= {
        key: SETTINGS[key].description for key in untold & SETTINGS.keys() - borrowed.keys()
    }
    return documented._replace(arguments=borrowed)


def _of_sisters(library: Library, name: str) -> dict[str, str]:
    """The descriptions that the functions that a docstring names ("The rest as of file.managed")
    say of arguments; of others of the module what they all say alike.
    """
    module, _, function = name.partition(".")
    text = inspect.getdoc(library.state(name).function) or ""
    named: dict[str, str] = {}
    others: dict[str, set[str]] = {}
    for sister in (
        f"{module}.{state}" for state in _of_module(library, module) if state != function
    ):
        for key, description in _read(library, sister).arguments.items():
            if re.search(rf"\b{re.escape(sister)}\b", text):
                named.setdefault(key, description)
            others.setdefault(key, set()).add(description)
    return {key: description for key, (description, *more) in others.items() if not more} | named


def said_of_all(library: Library, name: str) -> Docstring:
    """The same with the sentence that mentions an argument, for those that nothing else is said of:
    for editors.
    """
    documented = said(library, name)
    names = _names(library.state(name).function)
    mentioned = {
        key: docstring.mentions(documented, key) for key in names if key not in documented.arguments
    }
    return documented._replace(
        arguments=documented.arguments | {key: text for key, text in mentioned.items() if text}
    )


def _read(library: Library, name: str) -> Docstring:
    function = library.state(name).function
    return docstring.read(inspect.getdoc(function) or "", _names(function))
