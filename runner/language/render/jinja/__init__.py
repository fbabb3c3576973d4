# SPDX-License-Identifier: Apache-2.0
"""Jinja as Salt has it, for SLS files and other templates.

A text without Jinja in it is never shown to it: importing Jinja is a third of a short run.
"""

from __future__ import annotations

import os
from functools import cached_property

from runner.language.render.errors import source_lines, template_error
from runner.language.render.jinja import environments
from runner.language.render.jinja.options_line import Headed, headed
from runner.language.render.jinja.untouched import has_usual_marks, marks, without_jinja
from runner.model.places import Source
from runner.model.said_in import key_file
from runner.sources.config import jinja_options
from runner.support.files.text import rows_to_show
from runner.support.files.trusted_folder import TrustedFolder, trusted_folder
from runner.support.redaction import at_once
from runner.support.yaml.rendered_text import Piece, Pieces, Rendered, concat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Any

    from jinja2 import nodes

    from runner.language.render.jinja.environment import Find, PlacedEnvironment
    from runner.language.render.jinja.environments import Environments
    from runner.language.render.kept_results import Asked
    from runner.language.render.noted import Notes
    from runner.support.redaction import Keep


class Jinja:
    """Renders Jinja templates; caches compiled ones for the run, and on disk in its own folder."""

    def __init__(
        self,
        find: Find,
        opts: Mapping[str, Any],
        cache_dir: str | None = None,
        lenient: bool = False,
        missing_hint: Find = lambda path, saltenv: None,
        seen: Callable[[str], None] = lambda path: None,
        keep: Keep = at_once,
    ) -> None:
        """find: of the tree. opts: for jinja_env and jinja_sls_env. cache_dir: of compiled
        templates. lenient: whether a variable without a value is empty.

        missing_hint: the cure for the path of a file that is not in the tree. seen: is shown each
        file that is imported. keep: writes what is kept of a text.
        """
        self._seen, self._keep = seen, keep
        self._missing_hint = missing_hint
        self._find = find
        self._opts = opts
        self._cache_dir = cache_dir
        self._lenient = lenient
        self._made: dict[tuple[Any, ...], PlacedEnvironment] = {}

    def render(
        self,
        text: str,
        file: str,
        name: str,
        context: Mapping[str, Any],
        *,
        saltenv: str,
        sls: bool,
        notes: Notes | None = None,
    ) -> Rendered:
        """A rendered text, that of an SLS with its line map.

        file: what messages call it. name: its path below the roots, which relative imports start
        from. notes: get what it asks for. Raises RenderError with the place as written.
        """
        self.require_own_folder()
        head = headed(text, file)
        options = _options(self._opts, _key(sls), head)
        keeps_newline = bool(options.get("keep_trailing_newline"))
        output: str | None = _untouched(options, head.text, file, head.lines)
        if output is None:
            environment = self.environment(saltenv, sls, head)
            keeps_newline = environment.keep_trailing_newline
            with environment.asking(notes):
                output = self._output(
                    environment, head, file, name, context, concat if sls else environment.output
                )
        newline = "\n" * (text.endswith("\n") and not keeps_newline)  # Jinja takes it
        if not isinstance(output, Pieces):
            return Rendered(output + newline, file)
        if newline:
            output = concat((output, Piece.make(newline, file, text.count("\n"), True)))
        return Rendered(str.__str__(output), file, output)

    def _output(
        self,
        environment: PlacedEnvironment,
        head: Headed,
        file: str,
        name: str,
        context: Mapping[str, Any],
        join: Callable[[Iterable[str]], str],
    ) -> str:
        """Return what an environment makes of a text. join: makes one of the parts."""
        environment.files[name] = file
        untouched = environment.untouched(head.text)
        if untouched is not None:
            return _as_typed(untouched, file, head.lines)
        try:
            with environment.with_variables(context):
                template = environment.template_of(
                    head.text, name, file, dict(environment.globals), head.lines
                )
                return join(template.root_render_func(template.new_context()))
        except Exception as error:
            raise template_error.explain(error, file, environment) from None

    def compile(self, text: str, file: str, name: str, *, saltenv: str) -> None:
        """Read a template that is not an SLS. Raises RenderError for mistakes in its syntax."""
        head = headed(text, file)
        environment = self.environment(saltenv, False, head)
        environment.files[name] = file
        try:
            environment.unit(head.text, name, file, head.lines)
        except Exception as error:
            raise template_error.explain(error, file, environment) from None

    def names(self, asked: Asked, imports: Iterable[str]) -> frozenset[str] | None:
        """The names in a template that was rendered, and in its imports; None where it may render
        to something else the next time.
        """
        head = headed(asked.text, asked.file)
        environment = self.environment(asked.saltenv, asked.sls, head)
        return environment.all_names(head.text, head.lines, imports, asked.context)

    def syntax(self, text: str, file: str, saltenv: str) -> nodes.Template:
        """Return the syntax tree of an SLS."""
        head = headed(text, file)
        return self.environment(saltenv, True, head).parse("\n" * head.lines + head.text, file)

    def environment(self, saltenv: str, sls: bool, head: Headed = Headed("")) -> PlacedEnvironment:
        """The environment for SLS files, or the one for all other templates, or that of a file's
        own options.
        """
        key = (saltenv, sls, head.options)
        if key not in self._made:
            self._made[key] = self._environments.make(
                saltenv,
                _options(self._opts, _key(sls), head),
                lambda: (
                    ("#jinja2", head.place)
                    if head.place
                    else (_key(sls), configured(self._opts, _key(sls)))
                ),
            )
        return self._made[key]

    def require_own_folder(self) -> None:
        """Raise Untrusted where others can write the folder of compiled templates, whether this
        text is one of them or not.
        """
        _ = self._folder

    @cached_property
    def _folder(self) -> TrustedFolder | None:
        """The folder of compiled templates; None where there can be none.

        Raises Untrusted where others can write it: what is loaded from it is run.
        """
        try:
            return trusted_folder(self._cache_dir) if self._cache_dir else None
        except OSError:
            return None

    @cached_property
    def _environments(self) -> Environments:
        return environments.Environments(
            self._find,
            self._opts,
            self._folder,
            self._lenient,
            self._missing_hint,
            self._seen,
            self._keep,
        )


def is_plain(opts: Mapping[str, Any], text: str, file: str) -> bool:
    """Return whether an SLS is the same whatever its variables are: there is no Jinja in it."""
    head = headed(text, file)
    return _untouched(_options(opts, _key(True), head), head.text, file, head.lines) is not None


def _untouched(options: Mapping[str, Any], text: str, file: str, above: int) -> Pieces | None:
    """The result for a text without Jinja; None when there may be Jinja in it."""
    if not has_usual_marks(options):
        return None
    same = without_jinja(text, keeps_newline=bool(options.get("keep_trailing_newline")))
    return None if same is None else _as_typed(same, file, above)


def _as_typed(text: str, file: str, above: int) -> Pieces:
    """A text that is its own result."""
    return concat((Piece.make(text, file, 1 + above, True),) if text else ())


def template_marks(opts: Mapping[str, Any]) -> tuple[bytes, ...]:
    """As `marks`, for a template that is not an SLS."""
    return marks(_options(opts, _key(False), Headed("")))


def outside(folder: str, opts: Mapping[str, Any]) -> Jinja:
    """Templates of a folder outside the trees; a variable without a value is empty."""
    own = {key: value for key, value in opts.items() if key == "conf_file"}
    return Jinja(lambda path, _: os.path.join(folder, path), own, lenient=True)


def _key(sls: bool) -> str:
    """The key of the configuration for the options of Jinja."""
    return "jinja_sls_env" if sls else "jinja_env"


def _options(opts: Mapping[str, Any], key: str, head: Headed) -> dict[str, Any]:
    """The settings of an environment: those of the configuration (Salt's older jinja_trim_blocks
    and jinja_lstrip_blocks too), and a file's own.
    """
    older = {name: True for name in ("trim_blocks", "lstrip_blocks") if opts.get(f"jinja_{name}")}
    options = {**older, **(opts.get(key) or {})}
    return {name: value for name, value in options.items() if name in jinja_options.NAMES} | dict(
        head.options
    )


def configured(opts: Mapping[str, Any], key: str) -> Source:
    """The place of a key in the configuration."""
    file = Source(key_file(opts, key) or "the configuration")
    rows = enumerate(rows_to_show(file.file), 1)
    places = (
        Source(file.file, line, source_lines.column_of(row, rf"(?<!\w){key}(?!\w)"))
        for line, row in rows
    )
    return next((place for place in places if place.column), file)
