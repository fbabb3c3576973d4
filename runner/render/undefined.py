"""A variable, an attribute or an imported name that is not there: what was probably meant."""

from __future__ import annotations

import difflib
import re
from types import FrameType
from typing import Any

import jinja2

from runner.errors import RenderError, did_you_mean
from runner.model import Source
from runner.render.environment import PlacedEnvironment, Told
from runner.render.places import column_of, locals_of, row_of, text_of, without


def undefined(
    error: jinja2.UndefinedError, row: str, source: Source, frame: FrameType | None, environment: PlacedEnvironment
) -> RenderError:
    told = error.args[0] if error.args else ""
    name, obj = getattr(told, "name", None), getattr(told, "obj", jinja2.utils.missing)
    imported = re.search(r"the template '(.*)' \(imported on line (\d+) in '(.*)'\)", str(told))
    if imported:
        return _not_exported(str(told), name or "", imported, source, environment)
    if not isinstance(told, Told) or name is None:
        return RenderError(f"Jinja variable {told}", source, "give it a value, or use | default(...)", "undefined")
    if obj is jinja2.utils.missing:
        names = [*locals_of(frame), *(name for name in environment.globals)] if frame else []
        column = column_of(row, rf"(?<![\w.'\"]){re.escape(name)}(?!\w)")
        if "was not provided" in str(told):
            hint = f"give it in the call, or `{name}=...` in the `{{% macro %}}`"
            return RenderError(f"Jinja: {told}", source, hint, "undefined")
        return RenderError(
            f"Jinja variable {told}", source._replace(column=column), _name_hint(name, names, row), "undefined"
        )
    holder = _holder(obj, name, row, environment)
    if not holder:  # looked up further above, used here
        rows = text_of(source).split("\n")[: max(source.line - 1, 0)]
        above = [(number, each) for number, each in enumerate(rows, 1) if _holder(obj, name, each, environment, True)]
        if above:
            use = source._replace(via=(), values=())
            source = Source(source.file, above[-1][0], via=(use, *source.via))
            row = above[-1][1]
            holder = _holder(obj, name, row, environment)
    keys = [str(key) for key in (obj if hasattr(obj, "keys") else dir(type(obj))) if not str(key).startswith("_")]
    methods = ["items", "keys", "values", "get"] if hasattr(obj, "keys") else []
    near = difflib.get_close_matches(str(name), [*keys, *methods], 1, 0.6)
    key = re.escape(str(name))
    column = column_of(row, rf"(?<=\.){key}(?!\w)|(?<=\[['\"]){key}(?=['\"]\])|(?<=\[){key}(?=\])")
    kind = "element" if isinstance(name, int) else "attribute"
    message = f"Jinja variable '{holder}' has no {kind} {name!r}" if holder else f"Jinja variable {told}"
    hint = f"did you mean {near[0]!r}?" if near else f"it has: {', '.join(keys[:8])}" if keys else "it is empty"
    if isinstance(name, int) and isinstance(obj, list | tuple):
        hint = f"it has {len(obj)}, and the first one is 0" if obj else "it is empty"
    if hasattr(obj, "keys") and not set(near) & set(methods):
        hint = f"{hint.rstrip('?')}; `{holder or 'it'}.get({name!r}, DEFAULT)` does without it"
    if obj is None:
        message = f"Jinja variable {holder!r} is none, so that it has no attribute {name!r}"
        hint = f"give {holder or 'it'} a value, with `default=` of grains.filter_by or pillar.get, say"
    return RenderError(message, source._replace(column=column), hint, "undefined")


def _holder(obj: Any, name: Any, row: str, environment: PlacedEnvironment, typed: bool = False) -> str:
    """What an attribute was looked for in, as it was typed. typed: only if the row has it."""
    for known in () if typed else ("pillar", "grains", "opts", "salt"):
        if obj is not None and obj is environment.globals.get(known):
            return known
    key = re.escape(str(name))
    part = r"\[[^\]]*\]|\([^()]*\)|\.\w+"
    found = re.search(rf"([A-Za-z_]\w*(?:{part})*?)(?:\.{key}(?!\w)|\[['\"]?{key}['\"]?\])", row)
    return found[1] if found else ""


_ELSEWHERE = {  # what Jinja gives in one place alone
    "loop": "it is there within a `{% for %}`, not in a macro that is called from there",
    "caller": "it is there within a macro that `{% call %}` calls",
    "super": "it is there within a `{% block %}` of a template that extends another",
    "varargs": "it is there within a macro",
    "kwargs": "it is there within a macro",
}


def _name_hint(name: str, names: list[str], row: str) -> str:
    if name in _ELSEWHERE:
        return _ELSEWHERE[name]
    near = [each for each in difflib.get_close_matches(name, names, 2, 0.7) if each != name]
    if near:
        return f"did you mean {near[0]}?"
    if re.search(rf"\b{re.escape(name)}\s*\(", row):
        return f"import the macro first: `{{% from 'FILE' import {name} with context %}}`"
    return f"set it first (`{{% set {name} = ... %}}`), or write `{name} | default(...)`"


def _not_exported(
    told: str, name: str, imported: re.Match[str], source: Source, environment: PlacedEnvironment
) -> RenderError:
    file = environment.file_of(imported[1])
    exported = re.findall(r"\{%[-+]?\s*(?:set|macro|import_\w+\s.*?\sas|load_\w+\s+as)\s+(\w+)", text_of(Source(file)))
    hint = did_you_mean(name, exported, 0.5) or f"{imported[1]} has: {', '.join(exported) or 'nothing'}"
    where = Source(environment.file_of(imported[3]), int(imported[2]))
    where = where._replace(column=column_of(row_of(where), rf"\b{re.escape(name)}\b"))
    return RenderError(
        f"Jinja: {told}",
        where._replace(via=(*without([source], where.file, where.line), *source.via)),
        hint,
        "undefined",
    )
