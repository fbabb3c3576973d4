"""Jinja as Salt has it: one factory for the environments of SLS files and other templates."""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Any

import jinja2

from runner.config.jinja_options import NAMES
from runner.filters import TESTS, filters
from runner.model.errors import RunnerError
from runner.model.places import Source
from runner.render.jinja.cache import Pack, Store, store
from runner.render.jinja.environment import (
    Find,
    LenientUndefined,
    PlacedEnvironment,
    StrictUndefined,
    TreeLoader,
)
from runner.render.jinja.limits import WIDE, checked
from runner.render.jinja.options_line import Headed, headed
from runner.render.jinja.static_files import plain
from runner.render.jinja.tags import SaltTags
from runner.yaml.rendered_text import Piece, Pieces, Rendered, concat


class RaisedByTemplate(Exception):
    """The error that `raise()` in a template raises."""


class Jinja:
    """Renders Jinja templates; caches compiled ones for the run, and on disk in its own folder."""

    def __init__(
        self,
        find: Find,
        opts: Mapping[str, Any],
        cache_dir: str | None = None,
        undefined: type[jinja2.Undefined] = StrictUndefined,
        near: Find = lambda path, saltenv: None,
        seen: Callable[[str], None] = lambda path: None,
    ) -> None:
        """find: of the tree. opts: for jinja_env and jinja_sls_env. cache_dir: of compiled
        templates.

        near: the file of the tree that was probably meant. seen: is shown each file that is
        imported.
        """
        self._seen = seen
        self._near = near
        self._find = find
        self._opts = opts
        self._cache_dir = cache_dir
        self._undefined = undefined
        self._cache: Pack | None = None
        self._environments: dict[tuple[Any, ...], PlacedEnvironment] = {}

    def render(
        self,
        text: str,
        file: str,
        name: str,
        context: Mapping[str, Any],
        *,
        saltenv: str,
        sls: bool,
    ) -> Rendered:
        """A rendered text with its line map.

        file: what messages call it. name: its path below the roots, which relative imports start
        from. Raises RenderError with the place as written.
        """
        head = headed(text, file)
        environment = self.environment(saltenv, sls, head)
        environment.files[name] = file
        output = _untouched(environment, head.text, file, head.lines)
        if output is None:
            try:
                with environment.with_variables(context):
                    template = environment.template_of(
                        head.text, name, file, dict(environment.globals), head.lines
                    )
                    output = concat(template.root_render_func(template.new_context()))
            except Exception as error:
                from runner.render.errors.template_error import explain

                raise explain(error, file, environment) from None
        if (
            text.endswith("\n") and not environment.keep_trailing_newline
        ):  # Jinja takes it from every template
            output = concat((output, Piece.make("\n", file, text.count("\n"), True)))
        return Rendered(str.__str__(output), file, output)

    def compile(self, text: str, file: str, name: str, *, saltenv: str) -> None:
        """Read a template that is not an SLS. Raises RenderError for mistakes in its syntax."""
        head = headed(text, file)
        environment = self.environment(saltenv, False, head)
        environment.files[name] = file
        try:
            environment.unit(head.text, name, file, head.lines)
        except Exception as error:
            from runner.render.errors.template_error import explain

            raise explain(error, file, environment) from None

    def environment(self, saltenv: str, sls: bool, head: Headed = Headed("")) -> PlacedEnvironment:
        """The environment for SLS files, or the one for all other templates, or that of a file's
        own options.
        """
        key = (saltenv, sls, head.options)
        if key not in self._environments:
            self._environments[key] = self._made(saltenv, sls, head)
        return self._environments[key]

    def _made(self, saltenv: str, sls: bool, head: Headed) -> PlacedEnvironment:
        key = "jinja_sls_env" if sls else "jinja_env"
        options = {**_options(self._opts, key), **dict(head.options)}
        try:
            environment = PlacedEnvironment(
                loader=TreeLoader(self._find, saltenv, self._near, self._opts, self._seen),
                undefined=self._undefined,
                extensions=["jinja2.ext.do", "jinja2.ext.loopcontrols", SaltTags],
                # what a filter finds (a file, the time, chance) must not be kept in a compiled one
                optimized=False,
                cache_size=-1,
                auto_reload=False,
                **options,
            )
        except AssertionError as problem:
            where = ("#jinja2", head.place) if head.place else (key, configured(self._opts, key))
            raise RunnerError(f"{where[0]}: {problem}", where[1]) from None
        environment.saltenv = saltenv
        environment.files, environment.verbatims, environment.units = {}, {}, {}
        environment.codes, environment.store = {}, self._store(options)
        wide = {name: checked(name, environment.filters[name]) for name in WIDE}
        environment.filters = filters({**environment.filters, **wide})
        environment.tests.update(TESTS)
        own = {
            "raise": _raise,
            "show_full_context": _full_context,
            "odict": OrderedDict,
            "ifelse": _ifelse,
        }
        environment.globals.update(own)
        environment.own_globals, environment.fresh = environment.globals, {}
        return environment

    def _store(self, options: Mapping[str, Any]) -> Store | None:
        if not self._cache_dir:
            return None
        if self._cache is None:
            self._cache = store(self._cache_dir, str(_revision()))
        return self._cache.of(str(sorted(options.items()))) if self._cache else None


def _untouched(environment: PlacedEnvironment, text: str, file: str, above: int) -> Pieces | None:
    """The result for a text without Jinja; None when there is Jinja in it."""
    same = plain(environment, text)
    return (
        None if same is None else concat((Piece.make(same, file, 1 + above, True),) if same else ())
    )


def outside(folder: str, opts: Mapping[str, Any]) -> Jinja:
    """Templates of a folder outside the trees; a variable without a value is empty."""
    own = {key: value for key, value in opts.items() if key == "conf_file"}
    return Jinja(lambda path, _: os.path.join(folder, path), own, undefined=LenientUndefined)


def _revision() -> list[tuple[int, int]]:
    """The revision of the code that compiles a template or reads data: an old one is of no use to a
    new runner.
    """
    names = (
        "codegen.py",
        "environment.py",
        "shared_code.py",
        "tags.py",
        "../../yaml/load.py",
        "static_files.py",
    )
    files = [os.path.join(os.path.dirname(__file__), name) for name in names]
    return [(status.st_mtime_ns, status.st_size) for status in map(os.stat, files)]


def _options(opts: Mapping[str, Any], key: str) -> dict[str, Any]:
    """The settings of an environment in the configuration (Salt's older jinja_trim_blocks and
    jinja_lstrip_blocks too).
    """
    older = {name: True for name in ("trim_blocks", "lstrip_blocks") if opts.get(f"jinja_{name}")}
    options = {**older, **(opts.get(key) or {})}
    return {name: value for name, value in options.items() if name in NAMES}


def configured(opts: Mapping[str, Any], key: str) -> Source:
    """The place of a key in the configuration."""
    from runner.render.errors.source_lines import column_of, text_of

    file = Source(str(opts.get("conf_file") or "the configuration"))
    rows = enumerate(text_of(file).split("\n"), 1)
    places = (Source(file.file, line, column_of(row, rf"(?<!\w){key}(?!\w)")) for line, row in rows)
    return next((place for place in places if place.column), file)


def _raise(message: str) -> None:
    raise RaisedByTemplate(message)


_raise.__qualname__ = "raise"  # as Python names it when its arguments are wrong


@jinja2.pass_context
def _full_context(context: Any) -> dict[str, Any]:
    return dict(context.get_all())


_full_context.__name__ = _full_context.__qualname__ = "show_full_context"


@jinja2.pass_context
def _ifelse(context: Any, *pairs: Any, **options: Any) -> Any:
    """The value beside the first target that means this machine; the last argument when there is
    none.
    """
    return context["salt"]["match.ifelse"](*pairs, **options)
