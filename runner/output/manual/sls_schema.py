# SPDX-License-Identifier: Apache-2.0
"""The JSON Schema of SLS files, for editors: each state with its arguments, requisites and what all
states take.

It accepts what the binder accepts: `mode: 644` for text, `'true'` for true, nothing for what is not
given. A text may begin with a brace, so that an SLS whose values are quoted templates can be
checked before rendering.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from runner.language.arguments.scalars import FALSE, TRUE
from runner.model.global_arguments import DOCUMENTED, GLOBAL_ARGUMENTS, SETTINGS
from runner.output.manual.docstring import Docstring

Schema = dict[str, Any]
# what is said of it, its arguments, those of its mod_watch alone
Function = tuple[Docstring, Schema, Iterable[str]]

_REACTION = "used when the state reacts to a change"
SPECIAL = r"^(__slot__:|\{[{%])"  # what may stand for any value
TEMPLATE: Schema = {"type": "string", "pattern": SPECIAL}
_WORDS = "|".join(
    "".join(f"[{c.upper()}{c}]" if c.isalpha() else c for c in word)
    for word in sorted(TRUE | FALSE)
)
WORDS: Schema = {"type": "string", "pattern": rf"^\s*({_WORDS})\s*$|{SPECIAL}"}
NULL: Schema = {"type": "null"}


def schema(functions: Mapping[str, Function], unclear: Iterable[str] = ()) -> Schema:
    """functions: by name ("file.managed"). unclear: modules that cannot work on this machine (yet):
    they may have any function.
    """
    modules: dict[str, list[str]] = {}
    for name in functions:
        modules.setdefault(name.partition(".")[0], []).append(name.partition(".")[2])
    everywhere = {
        f"every_{name}": _described(argument.schema, argument.description)
        for name, argument in DOCUMENTED.items()
    }
    shared = {name: {"$ref": f"#/definitions/every_{name}"} for name in DOCUMENTED} | {
        name: {} for name in sorted(GLOBAL_ARGUMENTS.keys() - DOCUMENTED.keys())
    }
    definitions: Schema = {
        "references": _references(modules),
        **everywhere,
        **{
            f"arguments_{name}": _arguments(function, shared)
            for name, function in functions.items()
        },
        **{f"state_{name}": _state(name, function) for name, function in functions.items()},
        **{f"module_{module}": _module(module, names) for module, names in modules.items()},
        "id": _identifier(functions, modules, _open(unclear)),
        "extended": _extended(functions, modules, _open(unclear)),
    }
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "SLS",
        "description": "A state file of runner or Salt",
        "type": ["object", "null"],
        "properties": _top_level(functions, modules),
        "additionalProperties": {"$ref": "#/definitions/id"},
        "definitions": definitions,
    }


def _described(schema: Mapping[str, Any], description: str) -> Schema:
    return {"description": description, **({"allOf": [schema]} if "$ref" in schema else schema)}


# ---------------------------------------------------------------- the top level and the IDs


def _top_level(functions: Iterable[str], modules: Iterable[str]) -> Schema:
    names = {
        "anyOf": [{"type": "string"}, {"type": "object", "minProperties": 1, "maxProperties": 1}]
    }
    scoped: Schema = {
        "type": "object",
        "properties": {name: {"type": "object"} for name in (*modules, *functions)},
    }
    return {
        "include": {"description": "other SLS files to take in", "type": "array", "items": names},
        "exclude": {
            "description": "SLS files or IDs to leave out",
            "type": "array",
            "items": names,
        },
        "extend": {
            "description": "more arguments and requisites for IDs of other SLS files",
            "type": "object",
            "additionalProperties": {"$ref": "#/definitions/extended"},
        },
        "chain": {
            "description": "what comes after what: 'pkg: a -> file: b ~> service: c'",
            "anyOf": [{"type": "array", "items": {"type": "string"}}, {"$ref": "#/definitions/id"}],
        },
        "defaults": {
            "description": (
                "arguments for all states of a kind in this SLS and those that it includes"
            ),
            "anyOf": [scoped, {"$ref": "#/definitions/id"}],
        },
    }


def _open(modules: Iterable[str]) -> str:
    """The pattern of keys of which nothing more is known."""
    return "|".join(["^__", *(rf"^{module}(\.|$)" for module in sorted(modules))])


def _identifier(functions: Iterable[str], modules: Iterable[str], unknown: str) -> Schema:
    body: Schema = {"type": "object", "minProperties": 1, "properties": _bodies(functions, modules)}
    body |= {"patternProperties": {unknown: {}}, "additionalProperties": False}
    return {"anyOf": [body, {"enum": sorted(functions)}, {"type": "string", "pattern": unknown}]}


def _extended(functions: Iterable[str], modules: Iterable[str], unknown: str) -> Schema:
    body: Schema = {"type": "object", "properties": _bodies(functions, modules)}
    return body | {"patternProperties": {unknown: {}}, "additionalProperties": False}


def _bodies(functions: Iterable[str], modules: Iterable[str]) -> Schema:
    return {name: {"$ref": f"#/definitions/state_{name}"} for name in functions} | {
        module: {"$ref": f"#/definitions/module_{module}"} for module in modules
    }


def _references(modules: Iterable[str]) -> Schema:
    """The schema of an entry of a requisite: an ID or name, or `state: ID or name`."""
    target = {"type": ["string", "number", "array"]}
    known = dict.fromkeys((*modules, "sls", "id"), target)
    one = {
        "anyOf": [
            {"type": ["string", "number"]},
            {"type": "object", "properties": known, "maxProperties": 1},
        ]
    }
    return {"anyOf": [{"type": "array", "items": one}, NULL]}


# ---------------------------------------------------------------- a state


def _state(name: str, function: Function) -> Schema:
    """`file.managed:` with a list of arguments, or nothing."""
    listed = {"type": "array", "items": {"$ref": f"#/definitions/arguments_{name}"}}
    return {"description": function[0].summary, "anyOf": [listed, NULL]}


def _module(module: str, names: list[str]) -> Schema:
    """`file:` with the function and its arguments in one list, or only the name of the function."""
    choices = [
        {
            "if": {"contains": {"const": name}},
            "then": {
                "items": {
                    "if": {"type": "object"},
                    "then": {"$ref": f"#/definitions/arguments_{module}.{name}"},
                }
            },
        }
        for name in names
    ]
    listed = {
        "type": "array",
        "items": {"anyOf": [{"enum": names}, {"type": "object"}]},
        "allOf": choices,
    }
    return {"anyOf": [listed, {"enum": names}]}


def _arguments(function: Function, shared: Schema) -> Schema:
    documented, own, reacting = function
    properties = {
        key: _argument(value, documented.arguments.get(key))
        for key, value in own["properties"].items()
    }
    for key in properties.keys() & SETTINGS.keys() - documented.arguments.keys():
        properties[key] = {"description": SETTINGS[key].description, **properties[key]}
    more: Schema = {
        key: {"description": documented.arguments.get(key, _REACTION)} for key in reacting
    }
    extra = own.get("additionalProperties", False)
    return {
        "type": "object",
        "properties": (
            properties
            | {key: value for key, value in (more | shared).items() if key not in properties}
        ),
        "additionalProperties": _loose(extra) if isinstance(extra, dict) else extra,
    }


def _argument(schema: Mapping[str, Any], description: str | None) -> Schema:
    about = {"description": description} if description else {}
    extra = {key: schema[key] for key in ("default", "writeOnly") if schema.get(key) is not None}
    loose = _nullable(
        _loose({key: value for key, value in schema.items() if key not in ("default", "writeOnly")})
    )
    return {**about, **extra, **{key: value for key, value in loose.items() if key not in about}}


def _nullable(schema: Schema) -> Schema:
    if not schema or schema.get("type") == "null":
        return schema
    if "anyOf" in schema:
        return {
            **schema,
            "anyOf": [*schema["anyOf"], *([NULL] if NULL not in schema["anyOf"] else [])],
        }
    description = {key: schema[key] for key in ("description",) if key in schema}
    return {
        **description,
        "anyOf": [{key: value for key, value in schema.items() if key not in description}, NULL],
    }


def _loose(schema: Mapping[str, Any]) -> Schema:
    """A schema that accepts what the binder converts, too."""
    if "anyOf" in schema:
        return {**schema, "anyOf": _flat(_loose(alternative) for alternative in schema["anyOf"])}
    if "enum" in schema:
        words = {str(option).lower() for option in schema["enum"]} & (TRUE | FALSE)
        return {"anyOf": [dict(schema), *([{"type": "boolean"}] if words else []), TEMPLATE]}
    build: Callable[[Mapping[str, Any]], Schema] | None = _KINDS.get(str(schema.get("type")))
    return build(schema) if build else dict(schema)


def _flat(schemas: Iterable[Schema]) -> list[Schema]:
    flat: list[Schema] = []
    for schema in schemas:
        for one in schema["anyOf"] if schema.keys() == {"anyOf"} else [schema]:
            if one not in flat:
                flat.append(one)
    return flat


def _text(schema: Mapping[str, Any]) -> Schema:
    if schema.get("description") == "absolute path":
        pattern = rf"^[/~]|{SPECIAL}"
        return {
            "type": "string",
            "pattern": pattern,
            "patternErrorMessage": "Expected an absolute path",
        }
    return {
        **{key: value for key, value in schema.items() if key != "description"},
        "type": ["string", "number", "boolean"],
    }


def _numeric(schema: Mapping[str, Any]) -> Schema:
    digits = (
        r"^\s*[-+]?\d+\s*$"
        if schema["type"] == "integer"
        else r"^\s*[-+]?[\d.]+([eE][-+]?\d+)?\s*$"
    )
    return {"anyOf": [dict(schema), {"type": "string", "pattern": f"{digits}|{SPECIAL}"}]}


def _array(schema: Mapping[str, Any]) -> Schema:
    return {"anyOf": [{**schema, "items": _loose(schema.get("items", {}))}, TEMPLATE]}


def _object(schema: Mapping[str, Any]) -> Schema:
    inner = schema.get("additionalProperties", {})
    loose = {
        **schema,
        "additionalProperties": _nullable(_loose(inner)) if isinstance(inner, dict) else inner,
    }
    return {"anyOf": [loose, {"type": "array", "items": loose}, TEMPLATE]}


_KINDS: Mapping[str, Callable[[Mapping[str, Any]], Schema]] = {
    "string": _text,
    "integer": _numeric,
    "number": _numeric,
    "boolean": lambda schema: {
        "anyOf": [dict(schema), {"type": "integer", "minimum": 0, "maximum": 1}, WORDS]
    },
    "array": _array,
    "object": _object,
}
