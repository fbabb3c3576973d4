# SPDX-License-Identifier: Apache-2.0
"""The manual, made from signatures and docstrings: what there is, and the pages of functions."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable, Iterator
from typing import Any

from runner.language.arguments.schema import MISSING, Parameter, features_of
from runner.model.chunk import GUARDS
from runner.model.diagnostics import nearest, similar, suggestion
from runner.model.errors import RunnerError
from runner.model.global_arguments import DOCUMENTED
from runner.model.records import Record
from runner.model.releases import since
from runner.model.requisite_kinds import AUTOMATIC
from runner.output.manual import docstring, language
from runner.output.manual.descriptions import (
    WITHOUT_EFFECT,
    describe,
    describe_reaction,
    own_docstring,
    parameters_of,
    reaction_parameters,
    reacts,
)
from runner.output.manual.docstring import Docstring
from runner.output.manual.library import Library

ALL_PAGES = "`runner doc` lists all"
NO_PAGE = "no-page"  # the code of the error
ARGUMENTS = "arguments"  # the page of what every state takes
# what a docstring says where a function is not, or not in all, that of the same name of Salt
ORIGINS = ("Behaviour:", "Salt has no", "Salt's ")
NO_ORIGIN = (
    "Salt has nothing like it."  # also what the docstring of a module says for all of its own
)


class Argument(Record):
    """One argument of a function.

    default: as YAML has it; None for one that has to be given. reaction: it counts when the state
    reacts to a change of what it watches. effect: "" or why it has none: ignored, refused. since:
    the release of runner that it came with; "" where it is not runner's, or no younger than the
    function.
    """

    name: str
    type: str
    default: str | None
    description: str
    reaction: bool = False
    effect: str = ""
    since: str = ""


class Page(Record):
    """The documentation of one function.

    before, after: texts before and after its examples. since: the release of runner that it came
    with; "" where it is not runner's.
    """

    name: str
    kind: str  # state or execution function
    summary: str
    before: tuple[str, ...]
    arguments: tuple[Argument, ...]
    examples: tuple[str, ...]
    after: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    since: str = ""


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
    """The pages of a function, or of all functions of a module; states before execution functions
    (those of a module that has states, too, only for `MODULE.`).

    An argument of every state has a page, too. Raises RunnerError for what is not there.
    """
    if name == ARGUMENTS:
        return [everywhere()]
    module, dot, function = name.partition(".")
    states = [member for member in _of_module(library, module) if function in ("", member)]
    result = [state_page(library, f"{module}.{member}") for member in states]
    if (dot or not result) and module in library.modules():
        functions = [member for member in library.functions(module) if function in ("", member)]
        result += [function_page(library, f"{module}.{member}") for member in functions]
    if not result and name in DOCUMENTED:
        result.append(_global_argument(name))
    if not result:
        _refuse_unavailable(library, module, function)
        words = similar(name, (*language.names(), *DOCUMENTED), 1)
        words += filter(None, [library.suggest_state(name), library.suggest_function(name)])
        near = nearest(name, words, 0)
        raise RunnerError(
            f"there is no page for {name}",
            hint=suggestion(near) if near else ALL_PAGES,
            code=NO_PAGE,
        )
    return result


def _refuse_unavailable(library: Library, module: str, function: str) -> None:
    """Tell why a module of the tree cannot be read, rather than that there is none."""
    try:
        library.state(f"{module}.{function or 'any'}")
    except RunnerError as reason:
        if reason.code == "unavailable":
            raise


# ---------------------------------------------------------------- one page


def everywhere() -> Page:
    """The page of the arguments that every state takes."""

    listed = tuple(
        Argument(name, argument.title, argument.default, argument.description)
        for name, argument in DOCUMENTED.items()
    )
    summary = (
        "What every state takes besides its own arguments: requisites (`runner doc watch` and so on"
        " describe each), guards (`runner doc guards`) and settings."
    )
    example = (
        "nginx:\n  service.running:\n    - watch:\n      - file: /etc/nginx/nginx.conf\n    -"
        " onlyif: test -e /etc/nginx\n    - retry:\n        attempts: 3\n/etc/nginx/nginx.conf:\n "
        " file.managed:\n    - contents: events {}\n    - before:\n      - service: nginx"
    )
    return Page(ARGUMENTS, "of every state", summary, (), listed, (example,))


def _global_argument(name: str) -> Page:
    """The page of one of those arguments."""
    row = next(row for row in everywhere().arguments if row.name == name)
    summary = "Every state takes it; `runner doc arguments` shows all such arguments."
    if name in GUARDS:
        summary += " `runner doc guards` explains it."
    return Page(name, "argument of every state", summary, (), (row,), ())


def state_page(library: Library, name: str) -> Page:
    """The page of a state function."""
    function = library.state(name)
    page = _page(name, "state", function.function, describe(library, name))
    real = f"{name.partition('.')[0]}.{function.function.__name__.rstrip('_')}"
    notes = [] if real == name else [f"Another name of {real}."]
    examples = tuple(re.sub(rf"\b{re.escape(real)}\b", name, example) for example in page.examples)
    return _with_origin(
        page._replace(
            arguments=page.arguments + tuple(_reaction_arguments(library, name)),
            notes=(*notes, *_notes(library, name)),
            examples=examples,
        ),
        function,
        real,
    )


def _with_origin(page: Page, function: Any, real: str) -> Page:
    """A page of the library's own function says whose behaviour that is, and since when it is
    there.
    """
    if not function.is_built_in:
        return page
    if not any(word in text for text in (*page.before, *page.after) for word in ORIGINS):
        of_all = sys.modules[function.function.__module__].__doc__ or ""
        origin = NO_ORIGIN if NO_ORIGIN in of_all else f"Behaviour: Salt's {real}."
        page = page._replace(after=(*page.after, origin))
    release = since(page.name)
    arguments = (
        argument._replace(since=own if (own := since(page.name, argument.name)) != release else "")
        for argument in page.arguments
    )
    return page._replace(arguments=tuple(arguments), since=release)


def _reaction_arguments(library: Library, name: str) -> Iterator[Argument]:
    """The arguments that count when the state reacts to what it watches."""
    documented = describe_reaction(library, name)
    for key, parameter in reaction_parameters(library, name).items():
        yield _argument(key, parameter, documented, True)._replace(reaction=True)


def _notes(library: Library, name: str) -> Iterator[str]:
    function = library.state(name)
    if reacts(library, name):
        yield "It reacts when a state that it watches changed something."
    elif function.mod_watch is not None:
        able = " and ".join(f"{name.partition('.')[0]}.{one}" for one in function.hook("REACTS"))
        yield f"It does not react to what it watches; {able} can."
    else:
        yield "It cannot react: watch is taken for require."
    if function.non_idempotent:
        yield f"It changes something in each run: {function.non_idempotent}."
    for hook in AUTOMATIC:
        about = getattr(function.hook(hook), "__doc__", "")
        if about and function.hook(hook):
            yield f"Automatic order: {docstring.read(about, ()).summary}"
    yield from _features(function)


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


def function_page(library: Library, name: str) -> Page:
    """The page of an execution function."""
    function = library.definition(name)
    return _page(name, "execution function", function, own_docstring(function))._replace(
        notes=(f"runner call {_call(name, function)}",)
    )


def _page(name: str, kind: str, function: Callable[..., Any], documented: Docstring) -> Page:
    arguments = tuple(
        _argument(key, parameter, documented, kind == "state")
        for key, parameter in parameters_of(function).items()
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
    described = documented.arguments.get(key, "")
    about = described + (f" Needs a provider with {', '.join(needed)}." if needed else "")
    effect = next((word for word in WITHOUT_EFFECT if described.lower().startswith(word)), "")
    return Argument(key, secret + parameter.shape.title, default, about.strip(), effect=effect)


def _yaml(value: object) -> str:
    if value is None or isinstance(value, bool):
        return {None: "", True: "true", False: "false"}[value]
    if isinstance(value, tuple):
        value = list(value)
    return repr(value) if isinstance(value, str | int | float | list | dict) else ""


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
