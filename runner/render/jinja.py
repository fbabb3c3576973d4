"""Jinja as Salt has it: one factory for the environments of SLS files and of all other templates."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any

import jinja2
from jinja2.sandbox import SandboxedEnvironment

from runner.errors import RenderError, RunnerError
from runner.model import Source
from runner.render.codegen import PlacedCodeGenerator
from runner.render.linemap import Rendered, concat, mark
from runner.render.tags import SaltTags

Find = Callable[[str, str], str | None]  # (path below the roots, saltenv) -> file on disk
LINEMAP_VERSION = 1
SHARED = {"salt", "grains", "pillar", "opts", "saltenv"}


class RaisedByTemplate(Exception):
    """What `raise()` in a template does."""


class PlacedEnvironment(SandboxedEnvironment):
    """An environment whose output knows where it was typed."""

    code_generator_class = PlacedCodeGenerator
    concat = staticmethod(concat)
    mark = staticmethod(mark)
    saltenv = "base"
    files: dict[str, str]  # template name -> file as a message names it

    def file_of(self, name: str | None) -> str:
        """The file of a template, for places."""
        return self.files.get(name or "", name or "<template>")

    def join_path(self, template: str, parent: str) -> str:
        """`./x` and `../x` are relative to the importing template, all else to the roots."""
        if template.startswith(("./", "../")):
            return os.path.normpath(os.path.join(os.path.dirname(parent), template))
        return template

    def get_template(self, name: Any, parent: str | None = None, globals: Any = None) -> jinja2.Template:
        if isinstance(name, str):
            name = name.removeprefix("salt://")
            folder = os.path.dirname(self.join_path(name, parent) if parent else name) or "."
            own = {"tpldir": folder, "tpldot": "" if folder == "." else folder.replace("/", ".")}
            globals = {**self.globals, **(globals or {}), **own}
        return super().get_template(name, parent, globals)


class TreeLoader(jinja2.BaseLoader):
    """Templates below the file roots."""

    def __init__(self, find: Find, saltenv: str) -> None:
        self._find = find
        self._saltenv = saltenv

    def get_source(self, environment: jinja2.Environment, template: str) -> tuple[str, str, Callable[[], bool]]:
        name, _, query = template.partition("?saltenv=")
        path = self._find(name, query or self._saltenv)
        if path is None:
            raise jinja2.TemplateNotFound(template)
        assert isinstance(environment, PlacedEnvironment)
        environment.files[template] = path
        return read_text(path), path, lambda: True


def read_text(path: str) -> str:
    """The text of a template file. Raises RenderError for what is no readable UTF-8 text."""
    try:
        if not os.path.isfile(path):
            raise RenderError(f"{path} is not a regular file", Source(path))
        with open(path, "rb") as file:
            data = file.read()
    except OSError as error:
        raise RenderError(f"{path} cannot be read: {error.strerror}", Source(path)) from None
    try:
        return data.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        message = f"the file is not UTF-8: byte 0x{data[error.start]:02x}"
        raise RenderError(message, Source(path, line), "save it as UTF-8") from None


class Jinja:
    """Renders Jinja templates; keeps compiled ones for the run, and on disk in a folder of its own."""

    def __init__(self, find: Find, opts: Mapping[str, Any], cache_dir: str | None = None) -> None:
        """find: of the tree. opts: for jinja_env and jinja_sls_env. cache_dir: of compiled templates."""
        self._find = find
        self._opts = opts
        self._cache_dir = cache_dir
        self._environments: dict[tuple[str, bool], PlacedEnvironment] = {}

    def render(
        self, text: str, file: str, name: str, context: Mapping[str, Any], *, saltenv: str, sls: bool
    ) -> Rendered:
        """A rendered text with its line map.

        file: what messages call it. name: its path below the roots, which relative imports start from.
        Raises RenderError with the place as written.
        """
        environment = self.environment(saltenv, sls)
        environment.files[name] = file
        for shared in SHARED & context.keys():
            environment.globals[shared] = context[shared]  # an import without context sees them too
        try:
            code = self._compiled(environment, text, name, file)
            template = jinja2.Template.from_code(environment, code, dict(environment.globals), None)
            output = concat(template.root_render_func(template.new_context(dict(context))))
        except RenderError:
            raise
        except Exception as error:
            raise _explained(error, file, environment) from None
        return Rendered(str.__str__(output), file, output)

    def _compiled(self, environment: PlacedEnvironment, text: str, name: str, file: str) -> Any:
        cache = environment.bytecode_cache
        if cache is None:
            return environment.compile(text, name, file)
        bucket = cache.get_bucket(environment, name, file, text)
        if bucket.code is None:
            bucket.code = environment.compile(text, name, file)
            cache.set_bucket(bucket)
        return bucket.code

    def environment(self, saltenv: str, sls: bool) -> PlacedEnvironment:
        """The environment for SLS files, or the one for all other templates."""
        key = (saltenv, sls)
        if key not in self._environments:
            self._environments[key] = self._made(saltenv, sls)
        return self._environments[key]

    def _made(self, saltenv: str, sls: bool) -> PlacedEnvironment:
        from runner.render.filters import FILTERS, GLOBALS, TESTS

        options = dict(self._opts.get("jinja_sls_env" if sls else "jinja_env") or {})
        options = {key: value for key, value in options.items() if key in _OPTIONS}
        environment = PlacedEnvironment(
            loader=TreeLoader(self._find, saltenv),
            undefined=jinja2.StrictUndefined,
            extensions=["jinja2.ext.do", "jinja2.ext.loopcontrols", SaltTags],
            keep_trailing_newline=True,
            bytecode_cache=self._bytecode(options),
            **options,
        )
        environment.saltenv = saltenv
        environment.files = {}
        environment.filters.update(FILTERS)
        environment.tests.update(TESTS)
        environment.globals.update(GLOBALS)
        environment.globals.update(
            {"raise": _raise, "show_full_context": jinja2.pass_context(_full_context), "odict": dict}
        )
        return environment

    def _bytecode(self, options: Mapping[str, Any]) -> jinja2.BytecodeCache | None:
        from runner.render.compiled import cache

        return cache(self._cache_dir, f"{LINEMAP_VERSION}-{sorted(options.items())}") if self._cache_dir else None


_OPTIONS = frozenset(
    ["block_start_string", "block_end_string", "variable_start_string", "variable_end_string"]
    + ["comment_start_string", "comment_end_string", "line_statement_prefix", "line_comment_prefix", "trim_blocks"]
    + ["lstrip_blocks", "newline_sequence", "keep_trailing_newline"]
)


def _raise(message: str) -> None:
    raise RaisedByTemplate(message)


def _full_context(context: Any) -> dict[str, Any]:
    return dict(context.get_all())


# ---------------------------------------------------------------- errors


def _explained(error: Exception, file: str, environment: PlacedEnvironment) -> RenderError:
    places = _places(error.__traceback__)
    if isinstance(error, jinja2.TemplateSyntaxError):
        name = error.filename or (environment.file_of(error.name) if error.name else file)
        where = Source(name or file, error.lineno)
        return RenderError(f"Jinja syntax error: {error.message}", where, _syntax_hint(error.message or ""))
    source = places[0] if places else Source(file)
    if len(places) > 1:
        source = Source(source.file, source.line, via=tuple(places[1:]))
    if isinstance(error, RunnerError):
        return RenderError(error.message, source, error.hint, error.code)
    if isinstance(error, jinja2.UndefinedError):
        return RenderError(f"Jinja variable {error.message}", source, "give it a value, or use | default(...)")
    if isinstance(error, jinja2.TemplateNotFound):
        return RenderError(f"the template {error.name} does not exist", source, "its path begins at the file roots")
    if isinstance(error, RaisedByTemplate):
        return RenderError(str(error), source)
    return RenderError(f"Jinja error: {type(error).__name__}: {error}", source)


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
