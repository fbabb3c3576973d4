# SPDX-License-Identifier: Apache-2.0
"""A variable, an attribute or an imported name that is not there: what was probably meant."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from types import FrameType
from typing import Any

import jinja2
from jinja2 import nodes

from runner.language.render.errors.source_lines import (
    column_of,
    locals_of,
    row_of,
    without,
)
from runner.language.render.errors.syntax import OF_ANOTHER_PROGRAM
from runner.language.render.jinja.environment import PlacedEnvironment, UndefinedMessage
from runner.model import other_tools
from runner.model.diagnostics import did_you_mean, similar, suggestion
from runner.model.errors import RenderError
from runner.model.places import Source
from runner.support.files.text import rows_to_show, text_to_show


def undefined(
    error: jinja2.UndefinedError,
    row: str,
    source: Source,
    frame: FrameType | None,
    environment: PlacedEnvironment,
) -> RenderError:
    """The error for a missing name, at the place of its look-up, with the name that was meant."""
    reason = error.args[0] if error.args else ""
    name, obj = getattr(reason, "name", None), getattr(reason, "obj", jinja2.utils.missing)
    imported = re.search(r"the template '(.*)' \(imported on line (\d+) in '(.*)'\)", str(reason))
    if imported:
        return _not_exported(str(reason), name or "", imported, source, environment)
    if (
        isinstance(reason, UndefinedMessage)
        and reason.spot
        and (obj is not jinja2.utils.missing or not _has_name(row, name))
    ):
        source = _place_of_look_up(reason.spot, source)
        row = row_of(source)
    if not isinstance(reason, UndefinedMessage) or name is None:
        what = "Jinja variable" if reason.startswith("'") else "Jinja:"
        return RenderError(
            f"{what} {reason}", source, "give it a value, or use | default(...)", "undefined"
        )
    if obj is jinja2.utils.missing:
        if reason.startswith("parameter "):
            hint = f"give it in the call, or a value in the macro: `{{% macro ...({name}=...) %}}`"
            return RenderError(f"Jinja: {reason}", source, hint, "undefined")
        names = [*locals_of(frame), *(name for name in environment.globals)] if frame else []
        column = column_of(row, rf"(?<![\w.'\"]){re.escape(name)}(?!\w)")
        return RenderError(
            f"Jinja variable {reason}",
            source._replace(column=column),
            _set_out_of_sight(name, source, environment)
            or _not_handed_over(name, source)
            or _of_machine(name, locals_of(frame))
            or _name_hint(name, names, row),
            "undefined",
        )
    return _no_such_key(reason, row, source, environment)


def _no_such_key(
    reason: UndefinedMessage, row: str, source: Source, environment: PlacedEnvironment
) -> RenderError:
    name: Any = reason.name
    obj = reason.obj
    holder = _holder(obj, name, row, environment)
    if not holder:  # a tag of several lines begins there
        for number, tag_row in _rest_of_tag(source):
            holder = _holder(obj, name, tag_row, environment, True)
            if holder:
                source, row = source._replace(line=number), tag_row
                break
    key = re.escape(str(name))
    column = column_of(row, rf"(?<=\.){key}(?!\w)|(?<=\[['\"]){key}(?=['\"]\])|(?<=\[){key}(?=\])")
    kind = "element" if isinstance(name, int) else "attribute"
    if obj is None:
        message = f"Jinja variable {holder!r} is none, so that it has no attribute {name!r}"
        asked = re.fullmatch(r".*\.get\(([^(),]+)\)", holder)
        named = holder or "it"
        empty = "''" if hasattr(str, str(name)) else "{}"
        hint = (
            f"add what to take where there is nothing: `{holder[:-1]}, {empty})`"
            if asked
            else f"give {named} a value, with `default=` of grains.filter_by or pillar.get, say;"
            f" `({named} or {{}})` does without it"
        )
    else:
        told = f"'{holder}' has no {kind} {name!r}" if holder else reason
        message = f"Jinja variable {told}"
        hint = _key_hint(obj, name, holder)
        dashed = re.match(rf"{key}(?:-\w+)+", row[column - 1 :]) if column else None
        if dashed and not isinstance(obj, str) and dashed[0] in obj:
            hint = f"a - in it is a minus there: write `{holder}[{dashed[0]!r}]`"
    return RenderError(message, source._replace(column=column), hint, "undefined")


def _key_hint(obj: Any, name: Any, holder: str) -> str:
    if isinstance(name, int) and isinstance(obj, list | tuple):
        return f"it has {len(obj)}, and the first one is 0" if obj else "it is empty"
    if obj == "":
        asked = re.search(r"\b\w+\.get\b", holder)
        default = "[]" if isinstance(name, int) else "{}"
        return (
            f"it is the empty text that {asked[0] if asked else 'pillar.get'} returns where there"
            f" is nothing; add `, {default}`"
        )
    if isinstance(obj, str | list | int | float) and not similar(str(name), dir(type(obj)), 1, 0.8):
        return _no_mapping_hint(obj, holder)
    names = obj if hasattr(obj, "keys") else dir(type(obj))
    keys = [str(key) for key in names if not str(key).startswith("_")]
    methods = ["items", "keys", "values", "get"] if hasattr(obj, "keys") else []
    of_python_2 = [method for method in methods if name == f"iter{method}"]
    near = of_python_2 or similar(str(name), methods, 1, 0.75) or similar(str(name), keys, 1, 0.6)
    hint = f"it has: {', '.join(keys[:8])}" if keys else "it is empty"
    if near:
        hint = suggestion(repr(near[0]))
    elif isinstance(obj, Mapping) and isinstance(obj.get("error"), str):  # http.query, an API
        hint = f"it says: {' '.join(obj['error'].split())}"
    if hasattr(obj, "keys") and not set(near) & set(methods):
        hint = f"{hint.rstrip('?')}; `{holder or 'it'}.get({name!r}, DEFAULT)` does without it"
    return hint


def _no_mapping_hint(obj: str | float | list[Any], holder: str) -> str:
    """The cure where a mapping was expected, and a text or a list is there."""
    if not isinstance(obj, list):
        what = "a text" if isinstance(obj, str) else f"the value {str(obj).lower()}"
        return f"it is {what}, and no mapping with keys"
    return f"it is a list: take one with `{holder or 'it'}[0]`, or all with `for`"


def _has_name(row: str, name: Any) -> bool:
    return bool(re.search(rf"(?<![\w.'\"]){re.escape(str(name))}(?!\w)", row))


def _place_of_look_up(spot: Source, used: Source) -> Source:
    """The place of a look-up; its use further down or in another file is told as what led there."""
    if (spot.file, spot.line) == (used.file, used.line) or not spot.line:
        return used
    return spot._replace(
        via=without([used._replace(via=(), values=()), *used.via], spot.file, spot.line)
    )


def _rest_of_tag(source: Source) -> Iterator[tuple[int, str]]:
    rows = rows_to_show(source.file)
    row = row_of(source)
    end = "%}" if row.rfind("{%") > row.rfind("{{") else "}}"
    if end not in row[max(row.rfind("{%"), row.rfind("{{"), 0) :]:
        for number, tag_row in enumerate(rows[source.line :], source.line + 1):
            yield number, tag_row
            if end in tag_row:
                return


def _holder(
    obj: Any, name: Any, row: str, environment: PlacedEnvironment, typed: bool = False
) -> str:
    """The expression in which an attribute was looked up. typed: only if the row has it."""
    for known in () if typed else ("pillar", "grains", "opts", "salt"):
        if obj is not None and obj is environment.globals.get(known):
            return known
    key = re.escape(str(name))
    part = r"\[[^\]]*\]|\([^()]*\)|\.\w+"
    match = re.search(rf"([A-Za-z_]\w*(?:{part})*?)(?:\.{key}(?!\w)|\[['\"]?{key}['\"]?\])", row)
    word = r"[A-Za-z_](?:[\w.]|\[(?:'[^']*'|\"[^\"]*\")\])*"
    by_variable = set() if match or typed else set(re.findall(rf"({word})\[{word}\]", row))
    return match[1] if match else by_variable.pop() if len(by_variable) == 1 else ""


_BLOCKS = (  # what is set in them is unknown behind them, or may be
    nodes.For,
    nodes.If,
    nodes.Macro,
    nodes.CallBlock,
    nodes.FilterBlock,
    nodes.Block,
    nodes.With,
)
_ELSEWHERE = {  # what Jinja gives in one place alone
    "loop": "it is there within a `{% for %}`, not in a macro that is called from there",
    "data": "set it first; in the SLS of a reactor a Salt master gives it, and runner has none",
    "caller": "it is there within a macro that `{% call %}` calls",
    "super": "it is there within a `{% block %}` of a template that extends another",
    "varargs": "it is there within a macro",
    "kwargs": "it is there within a macro",
    **{
        name: "SLS files have it, and a template of a file if its state says"
        f" `- context: {{{name}: '{{{{ {name} }}}}'}}`"
        for name in "sls slspath tpldir tpldot tplfile tplpath".split()
    },
}


_OF_PYTHON = {  # functions of Python, and the filters of Jinja that do the same
    **{name: name for name in ("abs", "float", "int", "list", "map", "max", "min", "round", "sum")},
    "len": "length",
    "reversed": "reverse",
    "sorted": "sort",
    "str": "string",
}


def _name_hint(name: str, names: list[str], row: str) -> str:
    if name in _ELSEWHERE:
        return _ELSEWHERE[name]
    theirs = other_tools.variable_word(name)
    if theirs:
        return theirs.hint(name)
    near = [close for close in similar(name, names, 2, 0.7) if close != name]
    if near:
        return suggestion(near[0])
    if re.search(rf"{{%-?\s*(from|import|include|extends)\s+[\w/.-]*\b{re.escape(name)}\b", row):
        return "put the name of the template in quotes"
    if as_filter := _OF_PYTHON.get(name):
        return f"Jinja has a filter for it: `VALUE | {as_filter}`"
    if re.search(rf"\b{re.escape(name)}\s*\(", row):
        return f"import the macro first: `{{% from 'FILE' import {name} with context %}}`"
    if re.search(rf"{{{{-?\s*{re.escape(name)}\s+\.", row):
        return OF_ANOTHER_PROGRAM
    hint = f"set it first (`{{% set {name} = ... %}}`), or write `{name} | default(...)`"
    if row.lstrip().startswith("#"):
        hint += "; Jinja reads what stands behind # too, but not what is between {# and #}"
    return hint


def _set_out_of_sight(name: str, source: Source, environment: PlacedEnvironment) -> str:
    """The cure where a template sets a variable, but not for the place that reads it."""
    try:
        template = environment.parse(text_to_show(source.file))
    except jinja2.TemplateError:
        return ""
    around = list(_with_blocks(template))
    reads: tuple[nodes.Node, ...] = next(
        (blocks for node, blocks in around if node.lineno == source.line and _is(node, name)), ()
    )
    sets = [(node.lineno, blocks) for node, blocks in around if _is(node, name, "store")]
    if not sets:
        return ""
    line, blocks = max(sets, key=lambda each: (each[0] < source.line, -abs(each[0] - source.line)))
    block = next((block for block in blocks if block not in reads), None)
    if isinstance(block, nodes.For) or (
        block is None and any(isinstance(each, nodes.For) for each in blocks)
    ):
        return (
            f"line {line} sets it in a loop, and each turn forgets that: `{{% set ns ="
            f" namespace({name}=...) %}}` before the loop, `ns.{name}` in it and behind"
        )
    if isinstance(block, nodes.If):
        return f"line {line} sets it in a branch that was not taken: set it before, too"
    if block is not None:
        return f"line {line} sets it in a macro or block, outside of which it is unknown"
    return f"line {line} sets it, which is too late: set it before" if line > source.line else ""


def _not_handed_over(name: str, source: Source) -> str:
    """The cure where the file that imports a template sets a variable, and keeps it for itself."""
    file = os.path.basename(source.file)
    for importer in source.via:
        text = text_to_show(importer.file)
        imports = re.findall(r"\{%[-+]?\s*(?:from|import\w*)\s[^%]*%\}", text)
        if any(file in tag and "with context" not in tag for tag in imports) and re.search(
            rf"\{{%[-+]?\s*set\s+{re.escape(name)}\b", text
        ):
            return f"write `with context` at the end of the import: {importer.file} sets it"
    return ""


def _of_machine(name: str, known: dict[str, Any]) -> str:
    """The cure for a key of the pillar or the grains that stands alone, as in other tools."""
    holders = [holder for holder in ("pillar", "grains") if name in known.get(holder, {})]
    return suggestion(*(f"`{holder}[{name!r}]`" for holder in holders)) if holders else ""


def _is(node: nodes.Node, name: str, context: str = "load") -> bool:
    return isinstance(node, nodes.Name) and (node.name, node.ctx) == (name, context)


def _with_blocks(
    node: nodes.Node, blocks: tuple[nodes.Node, ...] = ()
) -> Iterator[tuple[nodes.Node, tuple[nodes.Node, ...]]]:
    """All parts of a template, with the blocks around them."""
    yield node, blocks
    if isinstance(node, _BLOCKS):
        blocks = (*blocks, node)
    for child in node.iter_child_nodes():
        yield from _with_blocks(child, blocks)


def _not_exported(
    reason: str, name: str, imported: re.Match[str], source: Source, environment: PlacedEnvironment
) -> RenderError:
    file = environment.file_of(imported[1])
    exported = re.findall(
        r"\{%[-+]?\s*(?:set|macro|import_\w+\s.*?\sas|load_\w+\s+as)\s+(\w+)", text_to_show(file)
    )
    if name in exported:
        hint = f"{imported[1]} sets it in a block that is not reached here: set it before, too"
    else:
        hint = did_you_mean(name, exported, 0.5) or (
            f"{imported[1]} has: {', '.join(exported) or 'nothing'}"
        )
    where = Source(environment.file_of(imported[3]), int(imported[2]))
    where = where._replace(column=column_of(row_of(where), rf"\b{re.escape(name)}\b"))
    return RenderError(
        f"Jinja: {reason}",
        where._replace(via=(*without([source], where.file, where.line), *source.via)),
        hint,
        "undefined",
    )
