# SPDX-License-Identifier: Apache-2.0
"""A function's signature is its schema: what an SLS says becomes checked and converted (bound)
arguments.
"""

from __future__ import annotations

from runner.language.arguments import hints, lacking
from runner.language.arguments.scalars import Mismatch, Shape
from runner.language.arguments.schema import (
    MISSING,
    Parameter,
    Schema,
    json_schema,
    known,
    needed_features,
    schema_of,
)
from runner.model.diagnostics import IGNORED, Diagnostic, refused
from runner.model.errors import CompileError
from runner.model.global_arguments import COMMAND_OPTIONS, GLOBAL_ARGUMENTS, PASSED_ON
from runner.model.places import Place, Source, Value, item_place, value_place
from runner.model.records import Record
from runner.model.requisite_kinds import REQUISITE_KEYS
from runner.support.yaml import mark

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from typing import Any

__all__ = ["BoundArguments", "bind", "json_schema", "known", "needed_features", "schema_of"]


# what every state takes, and no function acts on. What commands of guards take is not among them:
# functions of Salt have arguments of those names
_SETTLED = GLOBAL_ARGUMENTS.keys() - COMMAND_OPTIONS


class BoundArguments(Record):
    """Checked and converted arguments, by the names of the function's parameters."""

    arguments: Mapping[str, Any]
    unknown: tuple[Diagnostic, ...] = ()
    secrets: tuple[str, ...] = ()


class _Binding:
    __slots__ = (
        "arguments",
        "built_in",
        "conditional",
        "default_place",
        "named_by_id",
        "places",
        "problems",
        "secrets",
        "unknown",
        "where",
    )

    def __init__(
        self,
        where: str,
        places: Mapping[str, Place],
        default_place: Place,
        named_by_id: bool,
        built_in: bool,
    ) -> None:
        self.where, self.places, self.default_place = where, places, default_place
        self.named_by_id, self.built_in = named_by_id, built_in
        self.arguments: dict[str, Any] = {}
        self.conditional: list[tuple[Parameter, str, Any]] = []
        self.problems: list[Diagnostic] = []
        self.unknown: list[Diagnostic] = []
        self.secrets: list[str] = []

    def convert(self, parameter: Parameter, key: str, value: Value) -> Any:
        """The converted value; MISSING where there is none to pass on."""
        expected = parameter.resolved or parameter.shape
        if value is None and not expected.nullable:
            return MISSING
        if expected.hidden:
            self.secrets.extend(_texts(value))
        try:
            converted = expected.convert(value)
        except Mismatch as problem:
            self.complain(parameter, key, value, problem)
            return MISSING
        if expected.unless and converted is not None:
            self.conditional.append((parameter, key, converted))
        return converted

    def complain(self, parameter: Parameter, key: str, value: Value, problem: Mismatch) -> None:
        """Note what is wrong with an argument."""
        expected = parameter.shape
        place = self.places.get(key, self.default_place)
        text = (
            f"expected {expected.title}"
            if expected.hidden and not problem.hint
            else problem.problem
        )
        inside = "".join(f"[{step!r}]" for step in problem.path)
        source, culprit = _inner(value, problem.path, place)
        hint = problem.hint if expected.hidden else self.cure(expected, key, culprit, problem)
        hint = (culprit is None and mark.comment_hint(source)) or hint
        what = f"{self.where}: {key}{inside}: {text}"
        self.problems.append(
            Diagnostic(
                what,
                source,
                hint or None,
                "argument",
                subject=problem.subject,
                argument=(self.where, key, *map(repr, problem.path)),
                detail=text,
            )
        )

    def check_together(self) -> None:
        """Make the checks that depend on other arguments."""
        for parameter, key, value in self.conditional:
            for check in parameter.shape.unless:
                problem = None if self.arguments.get(check.other) else check.problem(value)
                if problem:
                    self.complain(parameter, key, value, Mismatch(problem, hint=check.hint))

    def cure(self, expected: Shape, key: str, value: Value, problem: Mismatch) -> str | None:
        """The text to write instead."""
        if problem.hint:
            return problem.hint
        title = problem.expected or expected.title
        hint = hints.cure(title, key, value, expected.schema.get("enum", ()))
        if key == "name" and self.named_by_id and hint:
            return (
                "the ID is taken for the name;"
                f" {hint.replace('a path begins with a slash: `', 'add `')}"
            )
        return hint

    def source(self, key: str) -> Source:
        return self.places.get(key, self.default_place).source


def bind(
    function: Callable[..., Any],
    given: Mapping[str, Value],
    *,
    places: Mapping[str, Place],
    default_place: Place,
    extra_known: frozenset[str] = frozenset(),
    where: str = "",
    named_by_id: bool = False,
) -> BoundArguments:
    """Check and convert arguments. Raises CompileError with everything that is wrong with them.

    given: the arguments, `name` among them. extra_known: further names that are no mistake (those
    of mod_watch). where: how messages call the function ("file.managed"). named_by_id: the SLS
    gives no name but the ID.
    """
    schema = schema_of(function)
    built_in = (function.__module__ or "").startswith("states.")
    binding = _Binding(where or function.__name__, places, default_place, named_by_id, built_in)
    for key, value in given.items():
        parameter = schema.parameters.get(key)
        if parameter is not None:
            converted = binding.convert(parameter, key, value)
            if converted is not MISSING:
                binding.arguments[parameter.name] = converted
        elif (
            schema.leftover and schema.open and not (key in GLOBAL_ARGUMENTS or key in extra_known)
        ):
            if not key.startswith("__"):
                binding.arguments[key] = binding.convert(schema.open, key, value)
                _lack(schema, binding, key, value, extra_known)
        elif schema.open is not None and not schema.leftover:
            _bind_open(schema, schema.open, binding, key, value, extra_known)
        elif not (key in _SETTLED or key in extra_known or key.startswith("__")):
            _lack(schema, binding, key, value, extra_known)
    if schema.identifier is not None:
        _fill_identifier(schema, binding, given)
    if binding.conditional:
        binding.check_together()
    if binding.problems or not schema.needed <= binding.arguments.keys():
        _complain(schema, binding, given, extra_known)
    return BoundArguments(binding.arguments, tuple(binding.unknown), tuple(binding.secrets))


def _bind_open(
    schema: Schema,
    rule: Parameter,
    binding: _Binding,
    key: str,
    value: Value,
    extra_known: frozenset[str],
) -> None:
    """An argument for `**rule: T`; a classic `**kwargs` takes what guards read as well."""
    listed = key in rule.shape.every
    if (key in GLOBAL_ARGUMENTS and key not in PASSED_ON and not listed) or key.startswith("__"):
        return
    if rule.annotation is not None and (key in PASSED_ON or key in extra_known) and not listed:
        return
    unknown = rule.shape.names is not None and not rule.shape.names(key)
    refers = binding.built_in and isinstance(value, list) and value and isinstance(value[0], dict)
    if refers or (unknown and rule.shape.every):
        near = _near(schema, binding, key, extra_known)
        if near and (unknown or near in REQUISITE_KEYS):  # `requirein`
            binding.problems.append(refused(_unknown(schema, binding, key, value, extra_known)))
            return
    if unknown:
        _lack(schema, binding, key, value, extra_known)
        return
    converted = binding.convert(rule, key, value)
    if converted is not MISSING:
        binding.arguments[key] = converted


def _fill_identifier(schema: Schema, binding: _Binding, given: Mapping[str, Value]) -> None:
    """The NameVar parameter defaults to the name."""
    assert schema.identifier is not None
    if given.get(schema.identifier) is not None or "name" not in given:
        return
    parameter = schema.parameters[schema.identifier]
    converted = binding.convert(parameter, schema.identifier, given["name"])
    if converted is not MISSING:
        binding.arguments[parameter.name] = converted


def _complain(
    schema: Schema, binding: _Binding, given: Mapping[str, Value], extra_known: frozenset[str]
) -> None:
    wrong = {key for problem in binding.problems for key in problem.argument[1:2]}
    mistaken: set[str] = set()  # unknown arguments that are the mistake, and not only beside it
    misspelt = {
        near: key for key in given for near in [_near(schema, binding, key, extra_known)] if near
    }
    for key in schema.required:
        missing = schema.parameters[key].name not in binding.arguments
        if missing and key not in wrong:
            if key in misspelt:  # told as an argument that is not there
                mistaken.add(misspelt[key])
                continue
            reason = "is given, but empty" if key in given else "is missing"
            message = f"{binding.where}: the argument {key!r} {reason}"
            hint = f"add `- {key}: ...` ({schema.parameters[key].shape.title})"
            hint = (key in given and mark.comment_hint(binding.source(key))) or hint
            binding.problems.append(Diagnostic(message, binding.source(key), hint, "argument"))
    # `path: /x` where `name: /x` was meant: the ID is no mistake then
    if "name" in misspelt and binding.named_by_id:
        binding.problems = [
            wrong_one for wrong_one in binding.problems if wrong_one.argument[1:] != ("name",)
        ]
        mistaken.add(misspelt["name"])
    unknown = [
        refused(wrong_one) if wrong_one.subject in mistaken else wrong_one
        for wrong_one in binding.unknown
    ]
    raise CompileError([*unknown, *binding.problems])


def _near(schema: Schema, binding: _Binding, key: str, extra_known: frozenset[str]) -> str | None:
    """The argument that an unknown one was meant to be; no name beside the one that is given."""
    if (
        key in schema.parameters
        or key in GLOBAL_ARGUMENTS
        or key in extra_known
        or key.startswith("__")
    ):
        return None
    options = schema.open.shape.every if schema.open else ()
    given = () if binding.named_by_id else ("name",)
    own = [each for each in (*schema.parameters, *options, *extra_known) if each not in given]
    return hints.meant(str(key), own, sorted(GLOBAL_ARGUMENTS.keys() - given))


def _lack(
    schema: Schema, binding: _Binding, key: str, value: Value, extra_known: frozenset[str]
) -> None:
    """What becomes of an argument that the function does not have."""
    row = lacking.row(binding.where, str(key)) if binding.built_in else None
    if row is not None and row.becomes == lacking.RENAMED:
        parameter = schema.parameters[row.text]
        binding.arguments.pop(key, None)
        binding.arguments[parameter.name] = binding.convert(parameter, key, value)
    elif row is not None and row.becomes == lacking.REFUSED:
        message = f"{binding.where}: runner does not do what {key!r} asks for"
        hint = f"write instead: {row.text}"
        binding.problems.append(
            Diagnostic(
                message, binding.source(key), hint, "argument", argument=(binding.where, str(key))
            )
        )
    elif key not in GLOBAL_ARGUMENTS:
        binding.unknown.append(_unknown(schema, binding, key, value, extra_known, row and row.text))


def _unknown(
    schema: Schema,
    binding: _Binding,
    key: str,
    value: Value,
    extra_known: frozenset[str],
    why: str | None = None,
) -> Diagnostic:
    near = _near(schema, binding, key, extra_known)
    hint = why or hints.unknown(str(key), schema.parameters, near, binding.where, value)
    if not (why or near) and schema.leftover and binding.arguments.get("template"):
        hint = f"the template does not use {key!r} either: remove it"
    message = f"{binding.where} has no argument {key!r}{IGNORED}"
    return Diagnostic(message, binding.source(key), hint, "unknown-argument", "warning", str(key))


def _inner(value: Value, path: tuple[Any, ...], place: Place) -> tuple[Source, Value]:
    """The place of a value inside an argument, and that value."""
    for step in path:
        if isinstance(value, list) and isinstance(step, int) and step < len(value):
            place, value = item_place(value, step, place), value[step]
        elif isinstance(value, dict) and step in value:
            place, value = value_place(value, step, place), value[step]
    return place.source, value


def _texts(value: Value) -> Iterator[str]:
    """The texts inside a secret."""
    if isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _texts(item)
    elif value is not None and not isinstance(value, bool) and str(value):
        yield str(value)
