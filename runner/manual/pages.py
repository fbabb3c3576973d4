"""The manual, made from signatures and docstrings: what there is, and the pages of functions."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any, Protocol

from runner.arguments.global_arguments import EVERYWHERE, SETTINGS
from runner.arguments.schema import MISSING, Parameter, features_of, schema_of
from runner.manual import docstring
from runner.manual.docstring import Docstring
from runner.model.diagnostics import nearest, suggestion
from runner.model.errors import RunnerError
from runner.model.records import Record

ARGUMENTS = "arguments"  # the page of what every state takes
HOOKS = ("autorequire", "autobefore", "autonotify", "autosubscribe")


class Library(Protocol):
    """What the manual needs of the registry."""

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
    """What is known of one function. before, after: what to read before and after the examples."""

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
        module: found
        for module in library.state_modules()
        if (found := _of_module(library, module))
    }


def _of_module(library: Library, module: str) -> list[str]:
    try:
        return [name for name in library.state_functions(module) if name != "mod_watch"]
    except RunnerError:  # a module of the tree that cannot work here
        return []


def execution(library: Library) -> dict[str, list[str]]:
    """All execution modules with their functions."""
    return {module: found for module in library.modules() if (found := library.functions(module))}


def pages(library: Library, name: str) -> list[Page]:
    """The pages of a function, or of all functions of a module; states before execution functions.

    Raises RunnerError for what is not there.
    """
    if name == ARGUMENTS:
        return [everywhere()]
    module, dot, function = name.rstrip(".").partition(".")
    states = [each for each in _of_module(library, module) if not dot or each == function]
    found = [state_page(library, f"{module}.{each}") for each in states]
    if (dot or not found) and module in library.modules():
        functions = [each for each in library.functions(module) if not dot or each == function]
        found += [function_page(library, f"{module}.{each}") for each in functions]
    if not found:
        _refuse_unavailable(library, module, function)
        near = _near(name, [library.suggest_state(name), library.suggest_function(name)])
        raise RunnerError(
            f"there is no page for {name}",
            hint=suggestion(near) if near else "`runner doc` lists all",
        )
    return found


def _refuse_unavailable(library: Library, module: str, function: str) -> None:
    """Tell why a module of the tree cannot be read, rather than that there is none."""
    try:
        library.state(f"{module}.{function or 'any'}")
    except RunnerError as reason:
        if reason.code == "unavailable":
            raise


def _near(name: str, suggestions: list[str | None]) -> str | None:
    return nearest(name, [each for each in suggestions if each], 0)


# ---------------------------------------------------------------- one page


def everywhere() -> Page:
    """The page of the arguments that every state takes."""

    listed = tuple(
        Argument(name, each.title, "", each.description) for name, each in EVERYWHERE.items()
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
    found = library.state(name)
    page = _page(name, "state", found.function, said(library, name))
    real = f"{name.partition('.')[0]}.{found.function.__name__.rstrip('_')}"
    notes = _notes(found) if real == name else [f"Another name of {real}.", *_notes(found)]
    examples = tuple(re.sub(rf"\b{re.escape(real)}\b", name, example) for example in page.examples)
    return page._replace(notes=tuple(notes), examples=examples)


def _notes(found: Any) -> list[str]:
    watch = found.mod_watch is not None
    notes = ["It reacts when a state that it watches changed something." if watch else _NO_WATCH]
    if found.non_idempotent:
        notes.append(f"It changes something in each run: {found.non_idempotent}.")
    for hook in HOOKS:
        told = inspect.getdoc(found.hook(hook))
        if told and found.hook(hook):
            notes.append(f"Automatic order: {told.split(chr(10))[0]}")
    return [*notes, *_features(found)]


def _features(found: Any) -> Iterator[str]:
    """What providers of the module can do, and what of it the function needs."""
    needed = getattr(found.function, "required_features", ())
    table = found.hook("PROVIDERS")
    if needed:
        yield f"It needs a provider with: {', '.join(needed)}."
    if table is None:
        return
    for feature in table.feature_table:
        able = [each.NAMES[0] for each in table.all() if each.has(feature)]
        yield f"Provider feature {table.told(feature)} ({', '.join(able) or 'no provider has it'})."


_NO_WATCH = "It cannot react: watch is taken for require."


def function_page(library: Library, name: str) -> Page:
    """The page of an execution function."""
    function = library.definition(name)
    found = docstring.read(inspect.getdoc(function) or "", _names(function))
    return _page(name, "execution function", function, found)._replace(
        notes=(f"runner call {_call(name, function)}",)
    )


def _page(name: str, kind: str, function: Callable[..., Any], found: Docstring) -> Page:
    arguments = tuple(
        _argument(key, each, found, kind == "state") for key, each in _parameters(function).items()
    )
    return Page(name, kind, found.summary, found.before, arguments, found.examples, found.after)


def _argument(key: str, parameter: Parameter, found: Docstring, state: bool) -> Argument:
    secret = "secret " if parameter.shape.hidden else ""
    default = None if parameter.default is MISSING else _yaml(parameter.default)
    if default is None and state and (key == "name" or parameter.shape.identifies):
        default = "the ID"
    needed = features_of(parameter)
    told = found.arguments.get(key, "") + (
        f" Needs a provider with {', '.join(needed)}." if needed else ""
    )
    return Argument(key, secret + parameter.shape.title, default, told.strip())


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
    """How an execution function is called from the command line."""
    words = [name]
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return name
    for each in parameters:
        if each.kind is each.VAR_POSITIONAL:
            words.append(f"[{each.name.upper()} ...]")
        elif each.kind is not each.VAR_KEYWORD and each.default is each.empty:
            words.append(each.name.upper())
        elif each.kind is not each.VAR_KEYWORD:
            words.append(f"[{each.name}=...]")
    return " ".join(words)


# ---------------------------------------------------------------- what is said of arguments


def said(library: Library, name: str) -> Docstring:
    """The docstring of a state function; of arguments that it says nothing of, what a sister
    function says.
    """
    found = _read(library, name)
    untold = {
        key for key in _names(library.state(name).function) if not docstring.mentions(found, key)
    }
    sisters = _of_sisters(library, name) if untold else {}
    told = {key: sisters[key] for key in untold & sisters.keys()} | found.arguments
    told |= {key: SETTINGS[key].description for key in untold & SETTINGS.keys() - told.keys()}
    return found._replace(arguments=told)


def _of_sisters(library: Library, name: str) -> dict[str, str]:
    """What the functions that a docstring names ("The rest as of file.managed") say of arguments;
    of others of the module what they all say alike.
    """
    module, _, function = name.partition(".")
    text = inspect.getdoc(library.state(name).function) or ""
    named: dict[str, str] = {}
    others: dict[str, set[str]] = {}
    for sister in (f"{module}.{each}" for each in _of_module(library, module) if each != function):
        for key, told in _read(library, sister).arguments.items():
            if re.search(rf"\b{re.escape(sister)}\b", text):
                named.setdefault(key, told)
            others.setdefault(key, set()).add(told)
    return {key: told for key, (told, *more) in others.items() if not more} | named


def said_of_all(library: Library, name: str) -> Docstring:
    """The same with the sentence that mentions an argument, for those that nothing else is said of:
    for editors.
    """
    found = said(library, name)
    names = _names(library.state(name).function)
    mentioned = {key: docstring.mentions(found, key) for key in names if key not in found.arguments}
    return found._replace(
        arguments=found.arguments | {key: text for key, text in mentioned.items() if text}
    )


def _read(library: Library, name: str) -> Docstring:
    function = library.state(name).function
    return docstring.read(inspect.getdoc(function) or "", _names(function))
