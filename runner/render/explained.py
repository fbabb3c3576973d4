"""What goes wrong while a template renders, told with the places where it was typed."""

from __future__ import annotations

from dataclasses import replace
from types import TracebackType

import jinja2

from runner.errors import RenderError, RunnerError
from runner.model import Source
from runner.render.filters import WHERE
from runner.render.jinja import PlacedEnvironment, RaisedByTemplate


def explained(error: Exception, file: str, environment: PlacedEnvironment) -> RenderError:
    """The error of a template for its author: innermost place first, then the calls and imports that led there."""
    places = _places(error.__traceback__)
    if isinstance(error, jinja2.TemplateSyntaxError):
        name = error.filename or (environment.file_of(error.name) if error.name else file)
        where = Source(name or file, error.lineno, via=_without(places, name or file, error.lineno))
        return RenderError(f"Jinja syntax error: {error.message}", where, _syntax_hint(error.message or ""))
    source = replace(places[0], via=tuple(places[1:])) if places else Source(file)
    if isinstance(error, RunnerError):
        own = error.source
        if own is not None and own.line and not own.file.startswith("<"):
            source = replace(own, via=(*own.via, *_without(places, own.file, own.line)))
        return RenderError(error.message, source, error.hint, error.code)
    if isinstance(error, jinja2.UndefinedError):
        return RenderError(f"Jinja variable {error.message}", source, "give it a value, or use | default(...)")
    if isinstance(error, jinja2.TemplatesNotFound):
        names = ", ".join(map(str, error.templates))
        return RenderError(f"none of these templates exists: {names}", source, "a path begins at the file roots")
    if isinstance(error, jinja2.TemplateNotFound):
        return RenderError(f"the template {error.name} does not exist", source, "its path begins at the file roots")
    if isinstance(error, RaisedByTemplate):
        return RenderError(str(error), source)
    return RenderError(f"{_where(error)}: {type(error).__name__}: {error}", source)


def _without(places: list[Source], file: str, line: int) -> tuple[Source, ...]:
    return tuple(place for place in places if (place.file, place.line) != (file, line))


def _where(error: Exception) -> str:
    """`the filter x` when it was one of Salt's that could not work, `Jinja error` otherwise."""
    trace, inside = error.__traceback__, ""
    while trace is not None:
        space = trace.tb_frame.f_globals
        if isinstance(space.get("__jinja_template__"), jinja2.Template):
            inside = ""
        elif not inside and str(space.get("__name__", "")).startswith("runner.render.filters."):
            inside = trace.tb_frame.f_code.co_name
        trace = trace.tb_next
    names = [name for name, (_, real) in WHERE.items() if real == inside]
    return f"the filter {names[0] if names else inside}" if inside else "Jinja error"


def _places(traceback: TracebackType | None) -> list[Source]:
    """Where in templates an exception came by, innermost first."""
    found: list[Source] = []
    while traceback is not None:
        template = traceback.tb_frame.f_globals.get("__jinja_template__")
        if isinstance(template, jinja2.Template):
            line = template.get_corresponding_lineno(traceback.tb_lineno)
            found.append(Source(str(traceback.tb_frame.f_globals.get("placed_file", template.filename)), line))
        traceback = traceback.tb_next
    return list(dict.fromkeys(reversed(found)))


def _syntax_hint(message: str) -> str | None:
    if "Encountered unknown tag" in message:
        return "Jinja knows if, for, set, macro, import, include, ..., and Salt's import_yaml, load_yaml, do"
    if "Missing end of" in message or "Unexpected end of template" in message:
        return "an `{% if %}`, `{% for %}` or `{% macro %}` is not closed with its `{% end... %}`"
    return None
