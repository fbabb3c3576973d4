# SPDX-License-Identifier: Apache-2.0
"""SLS files and templates -> values and texts: the pipe that a file's `#!` line names."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import cache, cached_property

from runner.language.render import parsed_forms
from runner.language.render.jinja import Jinja, configured, outside
from runner.language.render.jinja.limits import allow_parsing, bounded
from runner.language.render.kept_results import Asked, KeptResults
from runner.language.render.renderers import cipher, encrypted, is_sops_file, python, stage
from runner.language.render.renderers.files import below, read_text
from runner.language.render.steps import CIPHERS, SOPS, RendererStep
from runner.model.diagnostics import did_you_mean
from runner.model.errors import RenderError, RunnerError
from runner.model.places import Place, Source, Untyped, Value, position_in
from runner.model.records import Record
from runner.model.stdlib import digest_of_text
from runner.support.log import LOG
from runner.support.yaml import load as yaml_load
from runner.support.yaml import simple
from runner.support.yaml.rendered_text import Rendered
from runner.support.yaml.simple import NotSimple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from jinja2 import nodes

    from runner.language.render.jinja.environment import Find
    from runner.language.render.noted import Registry
    from runner.language.render.parsed_forms import ParsedForms
    from runner.support.redaction import Keep

# what turns a value into the next one: (value, step) -> value; each is imported when a file names
# it
RENDERERS = (
    "jinja",
    "yaml",
    "yamlex",
    "json",
    "toml",
    "py",
    "mako",
    *CIPHERS,
    SOPS,
    "pydsl",
    "pyobjects",
    "stateconf",
)
# Salt's, but not runner's
NOT_HERE = frozenset(
    ["aws_kms", "cheetah", "dson", "genshi", "hjson", "json5", "msgpack", "nacl", "pass", "tomlmod"]
    + ["wempy"]
)
OwnRenderer = Callable[..., "Any"]


USUAL = [RendererStep("jinja"), RendererStep("yaml")]
SHORTEST = 4096  # characters; PyYAML parses a shorter SLS as fast as what is kept of it is read


class Renderer:
    """Renders SLS files and templates; everything it needs of the run is handed to it."""

    def __init__(
        self,
        find: Find,
        salt: Any,
        grains: Callable[[], Mapping[str, Any]],
        pillar: Callable[[], Mapping[str, Any]],
        opts: Mapping[str, Any],
        root_of: Callable[..., str | None] = lambda path: None,
        cache_dir: str | None = None,
        secret: Callable[[str], None] = lambda value: None,
        own: Callable[[str], OwnRenderer | None] = lambda name: None,
        missing_hint: Find = lambda path, saltenv: None,
        seen: Callable[[str], None] = lambda path: None,
        parsed_dir: str | None = None,
        keep: Keep = lambda text, write: None,
        holds_secret: Callable[[str], bool] = lambda text: True,
        results_dir: str | None = None,
        functions: Registry | None = None,
    ) -> None:
        """find: of the tree. salt: the functions. grains, pillar: asked when a template is
        rendered. cache_dir, parsed_dir: where compiled templates and parsed SLS files are kept
        between runs; results_dir: digests of results. keep: writes what is kept of a text.

        secret: is told what was decrypted. own: the renderers of the tree's `_renderers`, by name.
        missing_hint: the cure for the path of a file that is not in the tree. seen: is shown each
        file that is imported. functions: those of `salt`; without them no results are kept.
        """
        self.find = find
        self.missing_hint = missing_hint
        self._seen = seen
        self.opts = opts
        self.secret = secret
        self.extended: dict[str, dict[str, Any]] = {}  # what `extend` says to stateconf.set, by ID
        self.programs: dict[
            tuple[str, str], Any
        ] = {}  # of `#!pydsl`: (path, saltenv) -> program that was run
        self.decrypted: dict[
            tuple[str, str], str
        ] = {}  # of sops: (text of a file, form) -> plain text; asking again may cost a network
        self.running_programs: list[
            Any
        ] = []  # of `#!pydsl`, which include each other; the innermost is last
        self._salt = salt
        self._grains = grains
        self._pillar = pillar
        self._root_of = root_of
        self._cache_dir = cache_dir
        self._own = own
        self._parsed_dir, self._keep = parsed_dir, keep
        self._results = KeptResults(
            results_dir, find, grains, pillar, opts, seen, functions, holds_secret
        )
        self._usual: dict[str, list[RendererStep]] = {}  # the renderers of files that name none

    @cached_property
    def _jinja(self) -> Jinja:
        return Jinja(
            self.find,
            self.opts,
            self._cache_dir,
            missing_hint=self.missing_hint,
            seen=self._seen,
            keep=self._keep,
        )

    def _shared(self, saltenv: str) -> dict[str, Any]:
        return {
            "salt": self._salt,
            "grains": self._grains(),
            "pillar": self._pillar(),
            "opts": self.opts,
            "saltenv": saltenv,
        }

    # -------------------------------------------------- SLS

    def sls(self, path: str, *, sls: str, saltenv: str, context: Mapping[str, Any]) -> Value:
        """The value of an SLS file, with places. Raises RenderError."""
        self._results.forget()
        pipe, text = self._opened(path)
        with bounded(path, self.opts.get("render_limit")):
            value = self.render_pipe(pipe, text, self._scope(path, sls, saltenv, context))
        if isinstance(value, Rendered):
            raise RenderError(
                "the renderers of this file end with text; the last one has to give data",
                Source(path, 1),
            )
        return {} if value is None else value

    def sls_text(
        self,
        path: str,
        *,
        sls: str,
        saltenv: str,
        context: Mapping[str, Any],
        probably: bytes = b"",
    ) -> Rendered | None:
        """The text that an SLS file renders to, from which `sls_value` makes what `sls` gives; None
        where other renderers than Jinja and YAML are asked for. probably: the digest that it may
        have. Raises RenderError.
        """
        asked = self._asked(path, sls, saltenv, context)
        if asked is None:
            return None
        with LOG.timed(f"rendered {path}"):
            names = {**self._shared(saltenv), **asked.context}
            return self._results.rendered(asked, names, probably, self._jinja)

    def known_text(
        self, path: str, *, sls: str, saltenv: str, context: Mapping[str, Any], known: bytes
    ) -> Callable[[], Rendered | None] | None:
        """What gives the text of `sls_text`, or None where it is another one by then; None where it
        is not known, before it is rendered, that the text has a digest. Raises RenderError.
        """
        asked = self._asked(path, sls, saltenv, context)
        if asked is None or not self._results.holds(asked, known):
            return None
        self._jinja.require_own_folder()
        names = {**self._shared(saltenv), **asked.context}

        def rendered() -> Rendered | None:
            made = self._results.rendered(asked, names, b"", self._jinja)
            return made if digest_of_text(made.text) == known else None

        return rendered

    def _asked(self, path: str, sls: str, saltenv: str, context: Mapping[str, Any]) -> Asked | None:
        """An SLS as a template; None where it is none, or data for more renderers than YAML."""
        pipe, text = self._opened(path)
        if pipe != USUAL:
            return None
        own = {**self._places(path, sls), **context}
        return Asked(text.text, path, str(own.get("tplfile", path)), saltenv, own, True)

    def sls_value(self, text: Rendered, path: str, *, sls: str, saltenv: str) -> Value:
        """The value of a text of `sls_text`. Raises RenderError."""
        with bounded(path, self.opts.get("render_limit")):
            value = self.yaml(text, Scope(self, path, saltenv, {"sls": sls}))
        return {} if value is None else value

    def _opened(self, path: str) -> tuple[list[RendererStep], Rendered]:
        """The renderers of an SLS file, and its text for them."""
        text = read_text(path, self.opts)
        if "\0" in text:
            place = Source(path, *position_in(text, text.index("\0")))
            message, hint = "the file contains a NUL character", "remove it"
            if text[1::2].count("\0") > len(text) // 4:
                message, hint = "the file is UTF-16, not UTF-8", "save it as UTF-8"
            raise RenderError(message, place, hint, "encoding")
        pipe, text = self.pipe(text, path)
        return pipe, Rendered(text, path)

    def _scope(self, path: str, sls: str, saltenv: str, context: Mapping[str, Any]) -> Scope:
        names = {**self._shared(saltenv), **self._places(path, sls), **context}
        return Scope(self, path, saltenv, names)

    def rendered_beside(self, path: str, sls: str, scope: Scope) -> Any:
        """Render another SLS file while one is rendered."""
        pipe, text = self.pipe(read_text(path, self.opts), path)
        names = {**scope.names, **self._places(path, sls)}
        return self.render_pipe(pipe, Rendered(text, path), Scope(self, path, scope.saltenv, names))

    def render_pipe(self, pipe: Iterable[RendererStep], value: Any, scope: Scope) -> Any:
        """Return the result of the renderers of a pipe for a value, one after the other."""
        for step in pipe:
            if step.name not in RENDERERS:
                value = self._render_with_tree(step, value, scope)
                continue
            if not _takes_data(step):
                value = _text(value, step.name, scope.path)
            value = stage(step.name)(value, scope, step.arguments)
        return value

    def _render_with_tree(self, step: RendererStep, value: Any, scope: Scope) -> Any:
        """Render a value with a renderer of the tree: `render(data, saltenv, sls, **kwargs)`, texts
        as files.
        """
        render = self._own(step.name)
        if render is None:
            raise _unknown(step.name, scope.path, 3)
        data = io.StringIO(value.text) if isinstance(value, Rendered) else value
        more = {"argline": " ".join(step.arguments)} if step.arguments else {}
        positional = (data, scope.saltenv, scope.names.get("sls", ""))
        more["tmplpath"] = scope.path
        python.check_takes(render, step.name, positional, more)
        try:
            made = render(*positional, **more)
        except RunnerError:
            raise
        except Exception as error:
            raise python.python_error(error, f"the renderer {step.name}", scope.path) from None
        made = made.read() if hasattr(made, "read") else made
        return Rendered(made, scope.path) if isinstance(made, str) else made

    def pipe(self, text: str, path: str, default: str = "") -> tuple[list[RendererStep], str]:
        """The renderers that a file's first line names, or the default ones; and the text without
        that line. What sops encrypted has no other renderer.
        """
        steps, rest = self._named_pipe(text, path, default)
        if any(step.name == SOPS for step in steps) or is_sops_file(rest):
            self._check(RendererStep(SOPS), path, 0)
            return [RendererStep(SOPS)], rest
        return steps, rest

    def _named_pipe(self, text: str, path: str, default: str) -> tuple[list[RendererStep], str]:
        if not text.startswith("#!") or text.startswith("#!/"):
            named = default or str(self.opts.get("renderer") or "jinja|yaml")
            if named not in self._usual:
                self._usual[named] = self._steps(named, path)
            return self._usual[named], text
        line, newline, rest = text.partition("\n")
        return self._steps(line[2:], path, line), newline + rest

    def _steps(self, named: str, path: str, line: str = "") -> list[RendererStep]:
        """The renderers of a pipe. line: of the file, which names them."""
        steps = [
            RendererStep(words[0], tuple(words[1:]))
            for part in named.split("|")
            if (words := part.split())
        ]
        for step in steps:
            self._check(step, path, line.find(step.name) + 1)
        return steps

    def _check(self, step: RendererStep, path: str, column: int) -> None:
        """Refuse a renderer that is not there, or that the configuration forbids."""
        if step.name not in RENDERERS and self._own(step.name) is None:
            error = _unknown(step.name, path, column)
            if not column:
                error.message += ", which `renderer` of the configuration names"
                error.source = configured(self.opts, "renderer")
            raise error
        allowed, forbidden = (
            self.opts.get("renderer_whitelist"),
            self.opts.get("renderer_blacklist"),
        )
        if (allowed and step.name not in allowed) or (forbidden and step.name in forbidden):
            hint = "see renderer_whitelist and renderer_blacklist of the configuration"
            raise RenderError(
                f"the renderer {step.name} is not allowed", Source(path, 1, column), hint
            )

    def _places(self, path: str, sls: str) -> dict[str, str]:
        """sls, slspath, tpldir, ...: where a template stands, as Salt names it."""
        root = self._root_of(path, sls)
        file = below(path, root) if root else sls.replace(".", "/") + ".sls"
        folder = os.path.dirname(file)
        return {
            "sls": sls,
            "tplpath": path,
            "tplfile": file,
            "tpldir": folder or ".",
            "tpldot": folder.replace("/", "."),
            "slspath": folder,
            "slsdotpath": folder.replace("/", "."),
            "slscolonpath": folder.replace("/", ":"),
            "sls_path": folder.replace("/", "_"),
        }

    def jinja(self, text: Rendered, scope: Scope) -> Rendered:
        """An SLS as its Jinja template makes it."""
        name = str(scope.names.get("tplfile", scope.path))
        return self._jinja.render(
            text.text, scope.path, name, scope.names, saltenv=scope.saltenv, sls=True
        )

    def yaml(self, text: Rendered, scope: Scope) -> Value:
        """A rendered text as YAML; that of an SLS may be known from an earlier run."""
        allow_parsing(len(text.text))
        sls = scope.names.get("sls")
        if not self._parsed_dir or not sls:
            return self.data(text)
        if len(text.text) < SHORTEST:
            if self._has_yaml:
                return self.data(text)
            with suppress(NotSimple):
                return simple.parse(text.text, text)
        return self._forms.load(text, f"{scope.saltenv}:{sls}", self.data)

    @cached_property
    def _has_yaml(self) -> bool:
        """PyYAML was there before the first SLS: short ones need not be kept to do without it."""
        return "yaml" in sys.modules

    @cached_property
    def _forms(self) -> ParsedForms:
        return parsed_forms.ParsedForms(str(self._parsed_dir), self._keep)

    # -------------------------------------------------- external pillars

    def dunders(self) -> dict[str, Any]:
        """The variables of a template outside the trees."""
        shared = self._shared("base")
        return {f"__{name}__": shared[name] for name in ("salt", "grains", "opts")}

    def lax(self, path: str, folder: str, names: Mapping[str, Any]) -> Rendered:
        """A template outside the trees, which imports from a folder; a variable without a value is
        empty in it.
        """
        return outside(folder, self.opts).render(
            read_text(path, self.opts), path, path, names, saltenv="base", sls=True
        )

    def data(self, text: Rendered) -> Value:
        """A rendered text as YAML."""
        with suppress(NotSimple):
            return simple.read(text.text, text)
        return yaml_load.load(text.text, text)

    def parsed(self, text: str, file: str) -> Value:
        """A text as YAML; errors call it by a name."""
        return self.data(Rendered(text, file))

    def content(self, path: str, options: Mapping[str, Any]) -> Value:
        """Render a file outside the trees: to data, or text. Raises RenderError for a renderer that
        the options do not allow.
        """
        steps, text = self.pipe(
            read_text(path, self.opts), path, str(options.get("render_default") or "")
        )
        for step in steps:
            allowed, forbidden = (
                options.get("renderer_whitelist"),
                options.get("renderer_blacklist"),
            )
            if (allowed and step.name not in allowed) or (forbidden and step.name in forbidden):
                raise RenderError(f"the renderer {step.name} is not allowed", Source(path, 1))
        scope = Scope(self, path, "base", {**self._shared("base"), **self.dunders()})
        value = self.render_pipe(steps, Rendered(text, path), scope)
        if not isinstance(value, Rendered):
            return value
        return (
            value.text.removeprefix("\n") if options.get("keep_newline") else value.text.strip("\n")
        )

    def decryptor(self) -> Callable[[str, Any, Source], Any]:
        """Decrypts what a value holds by one of CIPHERS; the place is for errors."""

        @cache
        def made(renderer: str) -> encrypted.Decryptor:
            return encrypted.Decryptor(cipher(renderer, self.opts), self.secret)

        return lambda renderer, value, source: made(renderer).data(
            value, Place(Untyped(source.file), 0, 0)
        )

    # -------------------------------------------------- templates of managed files

    def compile(self, path: str, saltenv: str) -> None:
        """Read a template without rendering it. Raises RenderError for mistakes in its syntax."""
        root = self._root_of(path)
        name = below(path, root) if root else path
        self._jinja.compile(read_text(path, self.opts), path, name, saltenv=saltenv)

    def keep_results(self) -> None:
        """Keep what templates rendered to for the next run."""
        self._results.write()

    def syntax(self, path: str, saltenv: str) -> nodes.Template | None:
        """What Jinja makes of an SLS that has been rendered; None where it makes nothing of it."""
        text = read_text(path, self.opts)
        line = text.partition("\n")[0]
        of_jinja = not line.startswith("#!") or "jinja" in line
        return self._jinja.syntax(text, path, saltenv) if of_jinja and "{%" in text else None

    def template(
        self,
        text: str,
        engine: str,
        context: Mapping[str, Any],
        *,
        file: str = "",
        saltenv: str = "base",
        probably: bytes = b"",
    ) -> Any:
        """A rendered template; for `#!` and a pipe of renderers what that ends with. probably: what
        it may render to. Raises RenderError.
        """
        if engine == "jinja":
            root = self._root_of(file) if file else None
            name = below(file, root) if root else file or "<template>"
            names = {**self._shared(saltenv), **context}
            asked = Asked(text, file or name, name, saltenv, context)
            return self._results.text(asked, names, probably, self._jinja)
        self._results.forget()
        with bounded(file, self.opts.get("render_limit")):
            return self._template(text, engine, context, file, saltenv)

    def _template(
        self, text: str, engine: str, context: Mapping[str, Any], file: str, saltenv: str
    ) -> Any:
        names = {**self._shared(saltenv), **context}
        scope = Scope(self, file or "<text>", saltenv, names)
        if engine.startswith("#!"):
            value = self.render_pipe(
                self.pipe(engine, scope.path)[0], Rendered(text, scope.path), scope
            )
            return value.text if isinstance(value, Rendered) else value
        if engine == "py":
            return python.written(stage("py")(Rendered(text, file), scope, ()), file)
        if engine == "mako":
            return str(stage("mako")(Rendered(text, file), scope, ()).text)
        hint = "there are jinja, mako and py"
        raise RenderError(
            f"there is no template engine {engine!r}", Source(file or "<template>"), hint
        )


class Scope(Record):
    """The context of a renderer: the file, its environment and the variables."""

    renderer: Renderer
    path: str
    saltenv: str
    names: dict[str, Any]


def _takes_data(step: RendererStep) -> bool:
    """Return whether a renderer takes the data of the one before it; stateconf does with -p."""
    if step.name == "stateconf":
        return any(word.startswith("-") and "p" in word for word in step.arguments)
    return step.name in CIPHERS


def _text(value: Any, renderer: str, path: str) -> Rendered:
    """The text for a renderer that takes text."""
    if isinstance(value, Rendered):
        return value
    if isinstance(value, str):
        return Rendered(value, path)
    what = f"the renderer {renderer} takes text, and the one before it gives data"
    raise RenderError(
        what, Source(path, 1), "renderers of text (jinja) come before those of data (yaml)"
    )


def _unknown(name: str, path: str, column: int) -> RenderError:
    if name in NOT_HERE:
        why = f"the renderer {name!r} is one of Salt's that runner does not have"
        return RenderError(
            why, Source(path, 1, column), "write the file as `#!jinja|yaml` or `#!py`"
        )
    hint = (
        did_you_mean(name, RENDERERS)
        or "there are " + ", ".join(RENDERERS) + ", and a tree's _renderers/"
    )
    return RenderError(f"there is no renderer {name!r}", Source(path, 1, column), hint)
