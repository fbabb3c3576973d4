# SPDX-License-Identifier: Apache-2.0
"""What the manual says of the arguments of a state function and of its reaction."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from runner.api.argtypes import Added
from runner.language.arguments.schema import Parameter, schema_of
from runner.model.errors import RunnerError
from runner.model.global_arguments import SETTINGS
from runner.output.manual import docstring
from runner.output.manual.docstring import Docstring
from runner.output.manual.library import Library

# `user, group: as of file.managed.` has the descriptions of that function's arguments
REFERENCE = re.compile(r"as of ([a-z_]\w*\.\w+)\.?", re.IGNORECASE)
# first words of the description of an argument that does nothing here, or may not be given
WITHOUT_EFFECT = ("ignored", "refused")


def parameters_of(function: Callable[..., Any]) -> Mapping[str, Parameter]:
    """The parameters of a function by the names that an SLS uses."""
    try:
        return schema_of(function).parameters
    except AttributeError:  # not written in Python
        return {}


def describe(library: Library, name: str) -> Docstring:
    """The docstring of a state function, with the descriptions that it refers to.

    Arguments that every state takes, and that it does not mention, are described as of every state.
    """
    function = library.state(name).function
    documented = _resolved(library, own_docstring(function), {name})
    general = {
        key: SETTINGS[key].description
        for key in parameters_of(function).keys() & SETTINGS.keys() - documented.arguments.keys()
        if not docstring.mentions(documented, key)
    }
    return documented._replace(arguments=general | documented.arguments)


def describe_for_editors(library: Library, name: str) -> Docstring:
    """The same, with the sentence that mentions an argument for those that nothing else describes,
    and with the arguments of the reaction.
    """
    documented = describe(library, name)
    mentioned = {
        key: docstring.mentions(documented, key)
        for key in parameters_of(library.state(name).function)
        if key not in documented.arguments
    }
    only_reacting = reaction_parameters(library, name)
    reacting = {
        key: f"When it reacts to a change: {text}"
        for key, text in describe_reaction(library, name).arguments.items()
        if key in only_reacting
    }
    described = {key: text for key, text in (reacting | mentioned).items() if text}
    return documented._replace(arguments=described | documented.arguments)


def reacts(library: Library, name: str) -> bool:
    """Return whether a state function does something when what it watches changed."""
    function = library.state(name)
    able = function.hook("REACTS")  # not all functions of a module can
    return function.mod_watch is not None and (able is None or name.partition(".")[2] in able)


def reaction_parameters(library: Library, name: str) -> Mapping[str, Parameter]:
    """The arguments that only the reaction of a state function has, such as `reload`."""
    if not reacts(library, name):
        return {}
    function = library.state(name)
    own = parameters_of(function.function).keys() | {"name", "sfun"}
    reaction = parameters_of(function.mod_watch)
    return {key: parameter for key, parameter in reaction.items() if key not in own}


def describe_reaction(library: Library, name: str) -> Docstring:
    """The docstring of the reaction of a state function, with the descriptions that it refers
    to.
    """
    return _resolved(library, own_docstring(library.state(name).mod_watch), set())


def own_docstring(function: Callable[..., Any] | None) -> Docstring:
    """The docstring of a function, with the sentences of what decorators and groups add."""
    if function is None:
        return docstring.read("", ())
    documented = docstring.read(function.__doc__ or "", parameters_of(function).keys())
    adds: Mapping[str, Added] = function.__dict__.get("adds", {})
    added = {name: argument.description for name, argument in adds.items()}
    for group in schema_of(function).groups.values() if parameters_of(function) else ():
        fields = docstring.read(group.kind.__doc__ or "", group.kind._fields).arguments
        added |= {name: fields[field] for name, field in group.names.items() if field in fields}
    return documented._replace(arguments=added | documented.arguments)


def _resolved(library: Library, documented: Docstring, seen: set[str]) -> Docstring:
    """The docstring with the descriptions that it refers to; of functions that have been seen they
    are left as they are.
    """
    arguments = dict(documented.arguments)
    alike = set(documented.alike)
    for target, names in _references(arguments).items():
        other = _described_elsewhere(library, target, seen)
        for key in names:
            if other is not None and key in other.arguments:
                arguments[key] = other.arguments[key]
                alike |= {key} & other.alike
    return documented._replace(arguments=arguments, alike=frozenset(alike))


def _references(arguments: Mapping[str, str]) -> dict[str, list[str]]:
    """The names of the arguments by the function whose descriptions they refer to."""
    references: dict[str, list[str]] = {}
    for key, text in arguments.items():
        reference = REFERENCE.fullmatch(text)
        if reference:
            references.setdefault(reference[1], []).append(key)
    return references


def _described_elsewhere(library: Library, name: str, seen: set[str]) -> Docstring | None:
    if name in seen:
        return None
    try:
        function = library.state(name).function
    except RunnerError:
        return None
    return _resolved(library, own_docstring(function), seen | {name})
