"""Jinja as Salt has it: one factory for the environments of SLS files and of all other templates."""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import jinja2

from runner.errors import RunnerError
from runner.model import Source
from runner.render.codegen import PlacedCodeGenerator
from runner.render.filters import TESTS, filters
from runner.render.limits import WIDE, BoundedEnvironment, checked
from runner.render.linemap import Piece, Rendered, concat, included, mark
from runner.render.tags import SaltTags
from runner.render.texts import read_text
from runner.render.verbatim import Verbatim, verbatim

Find = Callable[[str, str], str | None]  # (path below the roots, saltenv) -> file on disk


class RaisedByTemplate(Exception):
    """What `raise()` in a template does."""


class Missing(jinja2.StrictUndefined):
    """A variable without a value: an error also where a list or a mapping that holds it is shown."""

    __slots__ = ()

    @property
    def _undefined_message(self) -> str:
        return Told.of(super()._undefined_message, self._undefined_obj, self._undefined_name)

    def __repr__(self) -> str:
        return str(self)


class Told(str):
    """What is missing, with what it was looked for in."""

    __slots__ = ("name", "obj")
    obj: Any
    name: str | None

    @classmethod
    def of(cls, text: str, obj: Any, name: str | None) -> Told:
        told = cls(text)
        told.obj, told.name = obj, name
        return told


class Odict(OrderedDict[Any, Any]):
    """`odict` in templates: shown like any mapping, and written as YAML in its own order."""

    def __repr__(self) -> str:
        return repr(dict(self))


class PlacedEnvironment(BoundedEnvironment):
    """An environment whose output knows where it was typed."""

    code_generator_class = PlacedCodeGenerator
    concat = staticmethod(concat)
    mark = staticmethod(mark)
    included = staticmethod(included)
    saltenv = "base"
    files: dict[str, str]  # template name -> file as a message names it
    given_always: dict[str, Any]
    verbatims: dict[str, Verbatim | None]
    fresh: dict[jinja2.Template, bool]  # the templates that the current rendering has begun to use

    def file_of(self, name: str | None) -> str:
        """The file of a template, for places."""
        return self.files.get(name or "", name or "<template>")

    def join_path(self, template: str, parent: str) -> str:
        """`./x` and `../x` are relative to the importing template, all else to the roots.

        The dots stay: a template that is imported both ways is two to Jinja, as their tpldir may differ.
        """
        if template.startswith(("./", "../")):
            return os.path.join(os.path.dirname(parent), template)
        return template

    def get_template(self, name: Any, parent: str | None = None, globals: Any = None) -> jinja2.Template:
        if isinstance(name, str):
            name = name.removeprefix("salt://")
            relative = parent is not None and name.startswith(("./", "../"))
            folder = os.path.normpath(os.path.dirname(parent if relative and parent else name))  # as Salt has it
            own = {"tpldir": folder, "tpldot": "" if folder == "." else folder.replace("/", "."), "tplfile": name}
            globals = {**self.globals, **(globals or {}), **own}
        template = super().get_template(name, parent, globals)
        if self.fresh.get(template) is None:  # what an earlier rendering left in it is of another file or another time
            template._module = None
            template.globals = globals
            self.fresh[template] = True
        return template

    def verbatim(self, name: str, parent: str | None) -> Verbatim | None:
        """A file of the tree as it is, when there is nothing in it for Jinja."""
        name = name.removeprefix("salt://")
        name = self.join_path(name, parent) if parent else name
        if name not in self.verbatims:
            text, path, _ = self.loader.get_source(self, name)  # type: ignore[union-attr]
            self.verbatims[name] = verbatim(self, text, path or name)
        return self.verbatims[name]

    @contextmanager
    def given(self, names: Mapping[str, Any]) -> Iterator[None]:
        """While one text is rendered, its variables are global: an import without context sees them too."""
        before = self.globals, self.fresh
        self.globals, self.fresh = {**self.given_always, **names}, {}
        try:
            yield
        finally:
            self.globals, self.fresh = before


class TreeLoader(jinja2.BaseLoader):
    """Templates below the file roots."""

    def __init__(self, find: Find, saltenv: str, near: Find) -> None:
        self._find = find
        self._saltenv = saltenv
        self._near = near

    def near(self, template: str) -> str | None:
        """The template that was probably meant."""
        return self._near(template.partition("?saltenv=")[0], self._saltenv)

    def get_source(self, environment: jinja2.Environment, template: str) -> tuple[str, str, Callable[[], bool]]:
        name, _, query = template.partition("?saltenv=")
        path = self._find(name, query or self._saltenv)
        if path is None:
            raise jinja2.TemplateNotFound(template)
        assert isinstance(environment, PlacedEnvironment)
        environment.files[template] = path
        return read_text(path), path, lambda: True


class Jinja:
    """Renders Jinja templates; keeps compiled ones for the run, and on disk in a folder of its own."""

    def __init__(
        self,
        find: Find,
        opts: Mapping[str, Any],
        cache_dir: str | None = None,
        undefined: type[jinja2.Undefined] = Missing,
        near: Find = lambda path, saltenv: None,
    ) -> None:
        """find: of the tree. opts: for jinja_env and jinja_sls_env. cache_dir: of compiled templates.

        near: the file of the tree that was probably meant.
        """
        self._near = near
        self._find = find
        self._opts = opts
        self._cache_dir = cache_dir
        self._undefined = undefined
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
        try:
            with environment.given(context):
                code = self._compiled(environment, text, name, file)
                template = jinja2.Template.from_code(environment, code, dict(environment.globals), None)
                output = concat(template.root_render_func(template.new_context()))
        except Exception as error:
            from runner.render.explained import explained

            raise explained(error, file, environment) from None
        if text.endswith("\n") and not environment.keep_trailing_newline:  # Jinja takes it from every template
            output = concat((output, Piece.make("\n", file, text.count("\n"), True)))
        return Rendered(str.__str__(output), file, output)

    def compile(self, text: str, file: str, name: str, *, saltenv: str) -> None:
        """Read a template that is no SLS. Raises RenderError for mistakes in its syntax."""
        environment = self.environment(saltenv, False)
        environment.files[name] = file
        try:
            self._compiled(environment, text, name, file)
        except Exception as error:
            from runner.render.explained import explained

            raise explained(error, file, environment) from None

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
        key = "jinja_sls_env" if sls else "jinja_env"
        options = _options(self._opts, key)
        try:
            environment = PlacedEnvironment(
                loader=TreeLoader(self._find, saltenv, self._near),
                undefined=self._undefined,
                extensions=["jinja2.ext.do", "jinja2.ext.loopcontrols", SaltTags],
                optimized=False,  # what a filter finds (a file, the time, chance) must not be kept in a compiled one
                bytecode_cache=self._bytecode(options),
                **options,
            )
        except AssertionError as problem:
            raise RunnerError(f"{key}: {problem}", _configuration(self._opts)) from None
        environment.saltenv = saltenv
        environment.files, environment.verbatims = {}, {}
        wide = {name: checked(name, environment.filters[name]) for name in WIDE}
        environment.filters = filters({**environment.filters, **wide})
        environment.tests.update(TESTS)
        own = {"raise": _raise, "show_full_context": _full_context, "odict": Odict, "ifelse": _ifelse}
        environment.globals.update(own)
        environment.given_always, environment.fresh = environment.globals, {}
        return environment

    def _bytecode(self, options: Mapping[str, Any]) -> jinja2.BytecodeCache | None:
        from runner.render.compiled import cache

        return cache(self._cache_dir, f"{_revision()}-{sorted(options.items())}") if self._cache_dir else None


def outside(folder: str, opts: Mapping[str, Any]) -> Jinja:
    """Templates of a folder outside the trees; a variable without a value is empty."""
    own = {key: value for key, value in opts.items() if key == "conf_file"}
    return Jinja(lambda path, _: os.path.join(folder, path), own, undefined=jinja2.Undefined)


def _revision() -> list[tuple[int, int]]:
    """Which code compiled a template: an old one is of no use to a new runner."""
    files = [os.path.join(os.path.dirname(__file__), name) for name in ("codegen.py", "jinja.py", "tags.py")]
    return [(found.st_mtime_ns, found.st_size) for found in map(os.stat, files)]


_TEXTS = frozenset(
    ["block_start_string", "block_end_string", "variable_start_string", "variable_end_string", "newline_sequence"]
    + ["comment_start_string", "comment_end_string", "line_statement_prefix", "line_comment_prefix"]
)
_SWITCHES = frozenset(["trim_blocks", "lstrip_blocks", "keep_trailing_newline"])


def _options(opts: Mapping[str, Any], key: str) -> dict[str, Any]:
    """What the configuration says of an environment (Salt's older jinja_trim_blocks and jinja_lstrip_blocks too)."""
    older = {name: True for name in ("trim_blocks", "lstrip_blocks") if opts.get(f"jinja_{name}")}
    options = {**older, **(opts.get(key) or {})}
    for name in _TEXTS & options.keys():
        if not isinstance(options[name], str | None):
            raise RunnerError(f"{key}: {name} is a text, not {options[name]!r}", _configuration(opts))
    return {name: value for name, value in options.items() if name in _TEXTS or name in _SWITCHES}


def _configuration(opts: Mapping[str, Any]) -> Source:
    return Source(str(opts.get("conf_file") or "the configuration"))


def _raise(message: str) -> None:
    raise RaisedByTemplate(message)


@jinja2.pass_context
def _full_context(context: Any) -> dict[str, Any]:
    return dict(context.get_all())


@jinja2.pass_context
def _ifelse(context: Any, *pairs: Any) -> Any:
    """The value beside the first target that means this machine; the last argument when there is none."""
    if len(pairs) % 2 == 0:
        raise ValueError("ifelse takes pairs of a target and a value, and a last value for all else")
    for target, value in zip(pairs[:-1:2], pairs[1::2], strict=True):
        if target is True or (isinstance(target, str) and context["salt"]["match.compound"](target)):
            return value
    return pairs[-1]
