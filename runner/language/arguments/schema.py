# SPDX-License-Identifier: Apache-2.0
"""The arguments of a function, read from its signature; for the binder and as JSON Schema."""

from __future__ import annotations

import collections.abc
import inspect
import sys
import typing
from functools import wraps
from types import FunctionType

from runner.api import argtypes
from runner.api.argtypes import Group, Leftovers, requires_feature
from runner.language.arguments import convert
from runner.model.errors import RunnerError
from runner.model.records import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from runner.language.arguments.scalars import Shape

MISSING: Any = object()


class Parameter:
    """One parameter; its type is looked at when a value is there for it. name: as the function
    calls it.
    """

    __slots__ = ("annotation", "default", "name", "namespace", "resolved")

    def __init__(
        self, name: str, annotation: Any, namespace: dict[str, Any], default: Any = MISSING
    ) -> None:
        self.name, self.annotation, self.namespace, self.default = (
            name,
            annotation,
            namespace,
            default,
        )
        self.resolved: Shape | None = None

    @property
    def type(self) -> Any:
        return _evaluate(self.annotation, self.namespace)

    @property
    def shape(self) -> Shape:
        if self.resolved is None:
            self.resolved = self._read_shape()
        return self.resolved

    def _read_shape(self) -> Shape:
        return convert.shape(self.type)


class FilledField(Parameter):
    """An argument of a group that the function's default gives another value than the class does:
    nothing means that value.
    """

    __slots__ = ()

    def _read_shape(self) -> Shape:
        return super()._read_shape()._replace(nullable=False)


class GroupOfArguments:
    """A parameter that takes several arguments as one value; the fields of that value by the names
    that an SLS uses.
    """

    __slots__ = ("default", "kind", "names")

    def __init__(self, kind: Any, names: Mapping[str, str] | None, default: Any) -> None:
        self.kind, self.default = kind, default
        self.names = names or {_in_sls(field): field for field in kind._fields}

    def parameters(self) -> dict[str, Parameter]:
        """The arguments one by one."""
        kind = self.kind
        annotations, namespace = kind.__annotations__, vars(sys.modules[kind.__module__])
        own = dict(zip(kind._fields, kind.__blank__, strict=True))
        parameters: dict[str, Parameter] = {}
        for name, field in self.names.items():
            default = getattr(self.default, field)
            filled = default is not None and default != own[field]
            parameters[name] = (FilledField if filled else Parameter)(
                name, annotations[field], namespace, default
            )
        return parameters

    def value(self, arguments: dict[str, Any]) -> Any:
        """The value that a function gets; takes its arguments out of those given."""
        if arguments.keys().isdisjoint(self.names):
            return self.default
        given = {
            field: arguments.pop(name) for name, field in self.names.items() if name in arguments
        }
        return self.default._replace(**given)


class Schema(Record):
    """The arguments of a function by the names that an SLS uses."""

    parameters: Mapping[str, Parameter]
    required: tuple[str, ...]
    open: Parameter | None  # **rule: T
    identifier: str | None  # the NameVar parameter
    leftover: bool = False  # the open arguments are variables of a template
    names: frozenset[str] = frozenset()  # of the parameters, as an SLS writes them
    needed: frozenset[str] = frozenset()  # the required ones, as the function calls them
    groups: Mapping[str, GroupOfArguments] = {}  # by the names of the function's parameters


_schemas: dict[Callable[..., Any], Schema] = {}


def schema_of(function: Callable[..., Any]) -> Schema:
    """The schema of a function; computed once."""
    schema = _schemas.get(function)
    if schema is None:
        schema = _schemas[function] = _read(function)
    return schema


def _read(function: Callable[..., Any]) -> Schema:
    inner: Any = function
    added: dict[str, Parameter] = {}
    while hasattr(inner, "__wrapped__"):
        for name, extra in inner.__dict__.get("adds", {}).items():
            added[name] = Parameter(name, extra.annotation, vars(argtypes), extra.default)
        inner = inner.__wrapped__
    code = inner.__code__
    positional = code.co_varnames[: code.co_argcount]
    keyword = code.co_varnames[code.co_argcount : code.co_argcount + code.co_kwonlyargcount]
    defaults = defaults_of(inner)
    groups = _groups(inner, defaults)
    annotations, namespace = inner.__annotations__, inner.__globals__

    def parameter(name: str) -> Parameter:
        return Parameter(name, annotations.get(name), namespace, defaults.get(name, MISSING))

    parameters: dict[str, Parameter] = {}
    for name in (*positional, *keyword):
        if name in groups:
            parameters |= groups[name].parameters()
        else:
            parameters[_in_sls(name)] = parameter(name)
    parameters |= added
    required = tuple(key for key, item in parameters.items() if item.default is MISSING)
    rule = None
    if code.co_flags & 0x08:  # CO_VARKEYWORDS
        rule = parameter(
            code.co_varnames[len(positional) + len(keyword) + bool(code.co_flags & 0x04)]
        )
    identifiers = [key for key, item in parameters.items() if _says(item, "NameVar")]
    if len(identifiers) > 1:
        raise RunnerError(
            f"{function.__name__} has {len(identifiers)} name variables: {', '.join(identifiers)}"
        )
    leftover = rule is not None and rule.annotation in ("Leftovers", Leftovers)
    return Schema(
        parameters,
        required,
        rule,
        identifiers[0] if identifiers else None,
        leftover,
        names=frozenset(parameters),
        needed=frozenset(parameters[key].name for key in required),
        groups=groups,
    )


def defaults_of(function: Any) -> dict[str, Any]:
    """The defaults of a plain function by the names of its parameters."""
    positional = function.__code__.co_varnames[: function.__code__.co_argcount]
    values = reversed(function.__defaults__ or ())
    return dict(zip(reversed(positional), values, strict=False)) | (function.__kwdefaults__ or {})


def _groups(function: Any, defaults: Mapping[str, Any]) -> dict[str, GroupOfArguments]:
    """The parameters that take several arguments as one value, which is what their defaults are."""
    groups: dict[str, GroupOfArguments] = {}
    for name, default in defaults.items():
        if isinstance(default, Record):
            annotation = _evaluate(function.__annotations__.get(name), function.__globals__)
            for extra in getattr(annotation, "__metadata__", ()):
                if isinstance(extra, Group):
                    groups[name] = GroupOfArguments(annotation.__origin__, extra.names, default)
    return groups


def flat(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function as an SLS calls it: with the arguments of its groups one by one. The same function
    where it has none, or is one already, of the registry.
    """
    inner, groups = _with_groups(function)
    if not groups or function is inner.__dict__.get("called"):
        return function
    if "flat" not in inner.__dict__:
        names = frozenset(name for group in groups.values() for name in group.names)

        @wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            if names.isdisjoint(kwargs):  # the function has the defaults itself
                return function(*args, **kwargs)
            values = {name: group.value(kwargs) for name, group in groups.items()}
            return function(*args, **values, **kwargs)

        inner.__dict__["flat"] = call
    found: Callable[..., Any] = inner.__dict__["flat"]
    return found


def callable_flat(function: Callable[..., Any]) -> Callable[..., Any]:
    """An execution function as templates and command lines call it: `flat`, whose arguments may
    also be given by their places.
    """
    inner, groups = _with_groups(function)
    if not groups:
        return function
    own = inspect.signature(inner)
    arguments = [
        each.replace(name=key, default=item.default, annotation=item.annotation)
        for each in own.parameters.values()
        for key, item in (
            groups[each.name].parameters() if each.name in groups else {each.name: each}
        ).items()
    ]
    shape = own.replace(parameters=arguments)

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        given = shape.bind(*args, **kwargs)
        values = {name: group.value(given.arguments) for name, group in groups.items()}
        return function(*given.args, **values, **given.kwargs)

    call.__dict__["__signature__"] = shape
    return call


def _with_groups(function: Any) -> tuple[Any, dict[str, GroupOfArguments]]:
    """What decorators wrapped, and its groups."""
    while hasattr(function, "__wrapped__"):
        function = function.__wrapped__
    is_ours = isinstance(function, FunctionType)
    return function, _groups(function, defaults_of(function)) if is_ours else {}


def _in_sls(name: str) -> str:
    return name[:-1] if name.endswith("_") and not name.startswith("_") else name


def _says(parameter: Parameter, word: str) -> bool:
    """Return whether an annotation has something of a name in it."""
    annotation = parameter.annotation
    if annotation is None or (isinstance(annotation, str) and annotation in _PLAIN):
        return False
    if isinstance(annotation, str) and annotation.isidentifier():
        annotation = parameter.namespace.get(annotation)
    return word in (annotation if isinstance(annotation, str) else repr(annotation))


_PLAIN: dict[str, Any] = {
    "str": str,
    "int": int,
    "bool": bool,
    "float": float,
    "AbsolutePath": None,
    "Mode": None,
}


def _evaluate(annotation: Any, namespace: dict[str, Any]) -> Any:
    """The type that an annotation means. One that cannot be evaluated accepts anything."""
    if annotation is None:
        return object
    if not isinstance(annotation, str):
        return annotation
    try:
        # the text is part of the function's own source
        return eval(annotation, namespace)  # noqa: S307
    except NameError:
        return _evaluate_for_typing(annotation, namespace)
    except Exception:  # of a module of somebody's tree
        return object


def _evaluate_for_typing(annotation: str, namespace: dict[str, Any]) -> Any:
    """The same where a module has names of `typing` for type checkers alone."""
    names = dict(namespace)
    while True:
        try:
            return eval(annotation, names)  # noqa: S307
        except NameError as error:
            name = error.name or ""
            found = None if name in names else _of_typing(name)
            if found is None:
                return object
            names[name] = found
        except Exception:  # of a module of somebody's tree
            return object


def _of_typing(name: str) -> Any:
    """What a name for type checkers means. Most are `Any`: a run of a small tree would spend a
    tenth on the import of `typing`.
    """
    if name == "Any" and "typing" not in sys.modules:
        return object
    return getattr(collections.abc, name, None) or getattr(typing, name, None)


def known(function: Callable[..., Any]) -> frozenset[str]:
    """The names of a function's arguments, as an SLS writes them."""
    return schema_of(function).names


def needed_features(
    function: Callable[..., Any], given: Mapping[str, Any]
) -> dict[str, tuple[str, ...]]:
    """The features of a provider that a call needs, by the argument that needs them; "" for the
    function itself.

    given: the bound arguments. One with its default value needs nothing.
    """
    needed: dict[str, tuple[str, ...]] = {}
    own = getattr(function, "required_features", ())
    if own:
        needed[""] = own
    for key, item in schema_of(function).parameters.items():
        if item.name in given and given[item.name] != item.default and features_of(item):
            needed[key] = features_of(item)
    return needed


def features_of(parameter: Parameter) -> tuple[str, ...]:
    """The features that `requires_feature` in an annotation names."""
    if not _says(parameter, "requires_feature"):
        return ()
    annotation = parameter.type
    extras = getattr(annotation, "__metadata__", ())
    return tuple(
        name for extra in extras if isinstance(extra, requires_feature) for name in extra.names
    )


def json_schema(function: Callable[..., Any]) -> dict[str, Any]:
    """The arguments of a function as JSON Schema."""
    schema = schema_of(function)
    properties = {key: _property(item) for key, item in schema.parameters.items()}
    document: dict[str, Any] = {"type": "object", "properties": properties}
    required = [key for key in schema.required if key not in ("name", schema.identifier)]
    if required:
        document["required"] = required
    document["additionalProperties"] = (
        dict(schema.open.shape.schema) if schema.open and not schema.leftover else False
    )
    summary = (function.__doc__ or "").strip().partition("\n")[0]
    return {"description": summary, **document} if summary else document


def _property(parameter: Parameter) -> dict[str, Any]:
    described = dict(parameter.shape.schema)
    if (
        parameter.shape.nullable
        and described
        and {"type": "null"} not in described.get("anyOf", [])
    ):
        described = {"anyOf": [described, {"type": "null"}]}
    if isinstance(parameter.default, str | int | float | bool | list | dict | type(None)):
        described["default"] = parameter.default
    if parameter.shape.hidden:
        described["writeOnly"] = True
    return described
