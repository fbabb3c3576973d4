# SPDX-License-Identifier: Apache-2.0
"""The Jinja environment of a run: its output knows where it was typed, its templates are compiled
once.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextlib import contextmanager
from functools import cached_property
from types import CodeType, FrameType

import jinja2
from jinja2.lexer import Token

from runner.language.render.jinja import repeatable
from runner.language.render.jinja.bounded_operations import BoundedEnvironment
from runner.language.render.jinja.cache import TemplateStore, unit
from runner.language.render.jinja.codegen import PlacedCodeGenerator, Unit
from runner.language.render.jinja.parsing import TokenParser, quick_lexer
from runner.language.render.jinja.repeatable import Uses
from runner.language.render.jinja.shared_code import shaped
from runner.language.render.jinja.static_files import Verbatim
from runner.language.render.jinja.untouched import without_jinja
from runner.language.render.renderers.files import read_text
from runner.model.errors import RunnerError
from runner.model.places import Source
from runner.support.files.group_commit import ABSENT, GROUP_COMMIT, Version, version
from runner.support.yaml.rendered_text import Piece, concat, included, mark, marked

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Mapping
    from typing import Any

    from runner.language.render.noted import Notes

Find = Callable[[str, str], str | None]  # (path below the roots, saltenv) -> file on disk


class LenientUndefined(jinja2.Undefined):
    """A variable without a value, shown as nothing: an error where it is looked into."""

    __slots__ = ("_undefined_spot",)

    def __init__(self, *args: Any, **keywords: Any) -> None:
        super().__init__(*args, **keywords)
        self._undefined_spot = LookupSpot(sys._getframe(1))

    @property
    def _undefined_message(self) -> str:
        return UndefinedMessage.of(
            super()._undefined_message,
            self._undefined_obj,
            self._undefined_name,
            self._undefined_spot.source(),
        )


class StrictUndefined(LenientUndefined, jinja2.StrictUndefined):
    """A variable without a value: an error also where a list or mapping with it is shown."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


class LookupSpot:
    """The place of a look-up in a template; it may be used far from there."""

    __slots__ = ("_code", "_line")

    def __init__(self, frame: FrameType | None) -> None:
        while frame is not None and "__jinja_template__" not in frame.f_globals:
            frame = frame.f_back
        self._code = frame.f_globals if frame else {}
        self._line = frame.f_lineno if frame else 0

    def __deepcopy__(self, memo: Any) -> LookupSpot:
        return self

    def source(self) -> Source | None:
        template = self._code.get("__jinja_template__")
        if not isinstance(template, jinja2.Template):
            return None
        file = str(self._code.get("placed_file", template.filename))
        return Source(file, template.get_corresponding_lineno(self._line))


class UndefinedMessage(str):
    """Jinja's message on a missing name, with the value that lacks it and the place."""

    __slots__ = ("name", "obj", "spot")
    obj: Any
    name: str | None
    spot: Source | None

    @classmethod
    def of(cls, text: str, obj: Any, name: str | None, spot: Source | None) -> UndefinedMessage:
        message = cls(text)
        message.obj, message.name, message.spot = obj, name, spot
        return message


class PlacedEnvironment(BoundedEnvironment):
    """An environment whose output knows where it was typed."""

    code_generator_class = PlacedCodeGenerator
    lexer = cached_property(quick_lexer)
    concat = staticmethod(concat)
    mark = staticmethod(mark)
    included = staticmethod(included)
    marked = staticmethod(marked)
    saltenv = "base"
    files: dict[str, str]  # template name -> file as a message names it
    own_globals: dict[str, Any]
    verbatims: dict[str, tuple[Verbatim | None, Callable[[], bool]]]  # whether it is that file yet
    notes: Notes | None = None  # those of the current rendering
    units: dict[str, Unit]  # the compiled code of texts
    codes: dict[tuple[Any, ...], tuple[CodeType, Uses]]  # that of shapes
    store: TemplateStore | None = None  # where it is kept between runs
    fresh: dict[jinja2.Template, bool]  # the templates that the current rendering has begun to use

    def file_of(self, name: str | None) -> str:
        """The file of a template, for places."""
        return self.files.get(name or "", name or "<template>")

    def template_of(
        self, text: str, name: str, file: str, globals: Any, above: int = 0
    ) -> jinja2.Template:
        """The template of a text. above: how many lines of the file stand above it."""
        unit = self.unit(text, name, file, above)
        place = self.file_of(name)
        space = {
            "environment": self,
            "__file__": file,
            "placed_name": name,
            "mark": mark,
            "placed_file": place,
            "placed": [Piece.make(typed, place, line, True) for typed, line in unit.texts],
            "given": unit.strings,
        }
        exec(unit.code, space)
        return jinja2.Template._from_namespace(self, space, globals)

    def untouched(self, text: str) -> str | None:
        """A text that has no Jinja in it, with the newlines that Jinja would give it."""
        if self.line_statement_prefix or self.line_comment_prefix:
            return None
        starts = (self.block_start_string, self.variable_start_string, self.comment_start_string)
        return without_jinja(
            text, starts, self.newline_sequence, keeps_newline=self.keep_trailing_newline
        )

    def unit(self, text: str, name: str, file: str, above: int = 0) -> Unit:
        """The compiled code of a text. Raises jinja2.TemplateSyntaxError."""
        key = f"{above}\0{text}" if above else text
        compiled = self.units.get(key)
        if compiled is None:
            compiled = self.store.get(key) if self.store else None
            compiled = self.units[key] = compiled or self._compiled(text, key, name, file, above)
        return compiled

    def _compiled(self, text: str, key: str, name: str, file: str, above: int) -> Unit:
        text = "\n" * above + text
        try:
            own = shaped(
                _without(above, self._tokens(text, name, file), len(self.newline_sequence))
            )
            found = self.codes.get(own.shape)
            if found is None and self.store:
                found = self.store.code(own.shape)
            if found is None:
                generator = PlacedCodeGenerator(self, name, file, optimized=False)
                parser = TokenParser(self, own.tokens, name, file)
                generator.visit(parser.parse())
                code = compile(generator.stream.getvalue(), file, "exec")  # type: ignore[attr-defined]
                found = code, parser.uses
            self.codes[own.shape] = found
        except jinja2.TemplateSyntaxError:
            self.handle_exception(source=text)
        if self.store:
            self.store.put(key, *found, own)
        return unit(*found, own.texts, own.strings, own.names)

    def _tokens(self, text: str, name: str, file: str) -> list[Token]:
        try:
            return list(self.lexer.wrap(self.lexer.tokeniter(text, name, file), name, file))
        except jinja2.TemplateSyntaxError:
            self._parse(text, name, file)  # a mistake that stands before it is told first
            raise

    @contextmanager
    def asking(self, notes: Notes | None) -> Iterator[None]:
        """Note what is asked for."""
        assert isinstance(self.loader, TreeLoader)
        before = self.loader.asked, self.notes
        self.loader.asked, self.notes = notes.imports if notes else None, notes
        try:
            yield
        finally:
            self.loader.asked, self.notes = before

    def call(__self, __context: Any, __obj: Any, *args: Any, **kwargs: Any) -> Any:
        if (notes := __self.notes) is None:
            return super().call(__context, __obj, *args, **kwargs)
        # `dict.update` is of nothing, too
        if getattr(__obj, "__name__", "") in repeatable.ALTERING:
            notes.before_altering()
        return notes.call(super().call, __context, __obj, args, kwargs)

    def all_names(
        self, text: str, above: int, imports: Iterable[str], variables: Container[str]
    ) -> frozenset[str] | None:
        """The names in a text and its imports, rendered with these variables; None where they are
        not repeatable. above: as for `unit`.
        """
        texts = [(text, above), *((text, 0) for text in self._texts(imports))]
        names: frozenset[str] = frozenset()
        for part, before in texts:
            if (own := self._names(part, before)) is None:
                return None
            names |= own
        return None if any(name not in variables for name in repeatable.NEVER & names) else names

    def _names(self, text: str, above: int) -> frozenset[str] | None:
        """The names in a text itself; None where it is not repeatable whatever they are."""
        if self.untouched(text) is not None:
            return frozenset()
        try:
            return self.unit(text, "<template>", "<template>", above).names
        except jinja2.TemplateError:
            return None

    def _texts(self, names: Iterable[str]) -> Iterator[str]:
        """The texts of those of these templates that there are."""
        assert isinstance(self.loader, TreeLoader)
        for name in names:
            if self.loader.has(name):
                yield self.loader.get_source(self, name)[0]

    def join_path(self, template: str, parent: str) -> str:
        """`./x` and `../x` are relative to the importing template, all else to the roots.

        What is not there is looked for below the folder of its formula, `tplroot`. The dots stay: a
        template that is imported both ways is two to Jinja, as their tpldir may differ.
        """
        if template.startswith(("./", "../")):
            return os.path.join(os.path.dirname(parent), template)
        formula, below, _ = parent.partition("/")
        if formula and below and not template.startswith(("/", "salt://")):
            assert isinstance(self.loader, TreeLoader)
            if not self.loader.has(template) and self.loader.has(f"{formula}/{template}"):
                return f"{formula}/{template}"
        return template

    def get_template(
        self, name: Any, parent: str | None = None, globals: Any = None
    ) -> jinja2.Template:
        """The template of a name. Raises RunnerError for a name that is no text."""
        if isinstance(name, str):
            name = name.removeprefix("salt://")
            relative = parent is not None and name.startswith(("./", "../"))
            name = name if relative or parent is None else self.join_path(name, parent)
            # as Salt has it
            folder = os.path.normpath(os.path.dirname(parent if relative and parent else name))
            own = {
                "tpldir": folder,
                "tpldot": "" if folder == "." else folder.replace("/", "."),
                "tplfile": name,
            }
            globals = {**self.globals, **(globals or {}), **own}
        elif not isinstance(name, jinja2.Template | jinja2.Undefined):
            what = "none" if name is None else repr(name)
            raise RunnerError(
                f"a template is named by a text, not by {what}",
                hint="write its path below the roots in quotes",
            )
        template = super().get_template(name, parent, globals)
        # what an earlier rendering left in it is of another file or another time
        if self.fresh.get(template) is None:
            template._module = None
            template.globals = globals
            self.fresh[template] = True
        return template

    def getitem(self, obj: Any, argument: Any) -> Any:
        """The same as the sandbox's. `x['now']` is a method, too, which may tell the time: no file
        is called like it, so that nothing is known of what the template renders to.
        """
        value = super().getitem(obj, argument)
        if getattr(value, "__self__", self) in (obj, type(obj)):
            self._ask("?")
        return value

    def _load_template(self, name: str, globals: Any) -> jinja2.Template:
        """The same as Jinja's; it may be known from an earlier rendering."""
        self._ask(name)
        return super()._load_template(name, globals)

    def _ask(self, name: str) -> None:
        assert isinstance(self.loader, TreeLoader)
        if self.loader.asked is not None:
            self.loader.asked.add(name)

    def verbatim(self, name: str, parent: str | None) -> Verbatim | None:
        """A file of the tree as it is, when there is nothing in it for Jinja."""
        name = name.removeprefix("salt://")
        name = self.join_path(name, parent) if parent else name
        self._ask(name)
        known = self.verbatims.get(name)
        if known is None or not known[1]():
            assert isinstance(self.loader, TreeLoader)
            text, path, is_current = self.loader.get_source(self, name)
            same = self.untouched(text)
            verbatim = None if same is None else Verbatim(same, path or name, self.store)
            known = self.verbatims[name] = verbatim, is_current
        return known[0]

    @contextmanager
    def with_variables(self, names: Mapping[str, Any]) -> Iterator[None]:
        """While one text is rendered, its variables are global: an import without context sees them
        too.
        """
        before = self.globals, self.fresh
        self.globals, self.fresh = {**self.own_globals, **names}, {}
        try:
            yield
        finally:
            self.globals, self.fresh = before


def _without(above: int, tokens: list[Token], newline: int) -> list[Token]:
    """The tokens of a text before which there were some newlines, so that its lines are counted as
    in its file.
    """
    first = tokens[0] if tokens and above else None
    if first is None or first.type != "data":  # a `{%-` at the beginning has taken them
        return tokens
    left = first.value[above * newline :]
    return ([Token(first.lineno + above, "data", left)] if left else []) + tokens[1:]


class TreeLoader(jinja2.BaseLoader):
    """Templates below the file roots."""

    def __init__(
        self,
        find: Find,
        saltenv: str,
        missing_hint: Find,
        opts: Mapping[str, Any],
        seen: Callable[[str], None],
    ) -> None:
        """seen: is shown each file before it is read."""
        self.asked: set[str] | None = None  # gets the names that are looked for
        self._find = find
        self._seen = seen
        self._opts = opts
        self._saltenv = saltenv
        self._missing_hint = missing_hint

    def missing_hint(self, template: str) -> str | None:
        """The cure for a template that does not exist."""
        return self._missing_hint(template.partition("?saltenv=")[0], self._saltenv)

    def has(self, template: str) -> bool:
        """Return whether there is a template of this name."""
        return self._path(template) is not None

    def _path(self, template: str) -> str | None:
        """The file of a template: an absolute path, as Salt has it, or one below the roots."""
        if self.asked is not None:
            self.asked.add(template)
        name, _, query = template.partition("?saltenv=")
        if name.startswith("/"):
            GROUP_COMMIT.look_beside(name)
        if name.startswith("/") and os.path.lexists(name) and not os.path.isdir(name):
            return name
        return self._find(name, query or self._saltenv)

    def get_source(
        self, environment: jinja2.Environment, template: str
    ) -> tuple[str, str, Callable[[], bool]]:
        """The text and path of a template. Raises TemplateNotFound when there is none."""
        path = self._path(template)
        if path is None:
            raise jinja2.TemplateNotFound(template)
        assert isinstance(environment, PlacedEnvironment)
        environment.files[template] = path
        self._seen(path)
        former = _version(path)
        return read_text(path, self._opts), path, lambda: _version(path) == former

    def load(
        self, environment: jinja2.Environment, name: str, globals: Any = None
    ) -> jinja2.Template:
        assert isinstance(environment, PlacedEnvironment)
        text, path, is_current = self.get_source(environment, name)
        template = environment.template_of(text, name, path, globals or {})
        template._uptodate = is_current
        return template


def _version(path: str) -> Version:
    """The version of a file, which a state may have written since it was read."""
    GROUP_COMMIT.look_beside(path)
    try:
        return version(os.stat(path))
    except OSError:
        return ABSENT
