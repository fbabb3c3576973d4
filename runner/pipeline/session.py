# SPDX-License-Identifier: Apache-2.0
"""One command before its first stage: tree, registry, grains, templates, the shared
`Run`.
"""

from __future__ import annotations

import copy
import json
import os
from collections.abc import Callable, Iterable, Mapping
from contextlib import contextmanager, suppress
from functools import cached_property

from runner.api import StateFailed, running
from runner.engine.context import Current, Facts, Run
from runner.engine.loader.registry import Registry
from runner.language import grains as language_grains
from runner.language import render
from runner.language.arguments import bind
from runner.language.render.jinja import bound, limits
from runner.language.targeting import match
from runner.model import diagnostics, said_in
from runner.model.chunk import Chunk, SlsFile
from runner.model.errors import FULL_DISK, CompileError, Diagnostic, RunnerError
from runner.model.events import Event, Warned
from runner.model.places import Later
from runner.pipeline import node_scope, undecrypted
from runner.sources import trees
from runner.sources.config.file import setting_place
from runner.sources.config.load import roots_at_hand, with_fresh_grains
from runner.sources.config.options import Options
from runner.sources.fileroots import FileTree
from runner.support.files.permissions import Watch
from runner.support.files.text import text_to_show
from runner.support.log import LOG
from runner.support.redaction import WithoutSecrets

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from runner.language.pillar.undecrypted import Found
    from runner.language.render import Renderer
    from runner.support.yaml.rendered_text import Rendered

TOO_DEEP = "something in the tree is nested too deeply to be followed"
Listeners = Iterable[Callable[[Event], None]]
SALTS_WORD = {"modules": "module", "renderers": "render"}  # in `module_dirs`, `render_dirs`
# keys of the configuration that may hold logins of repositories and servers
REMOTES = ("tree", "gitfs_remotes", "gitfs_password", "git_pillar_password", "ext_pillar", "vault")
TREE_FOLDERS = {
    "states": "_states",
    "modules": "_modules",
    "grains": "_grains",
    "utils": "_utils",
    "renderers": "_renderers",
}


class Top(dict[str, "Any"]):
    """Top scope for templates: variables that hold everywhere, and what templates have under names
    of their own.
    """

    def __init__(self, variables: Mapping[str, Any], more: Mapping[str, Callable[[], Any]]) -> None:
        super().__init__(variables)
        self._more = more

    def __missing__(self, key: str) -> Any:
        if key not in self._more:
            raise KeyError(key)
        return self._more[key]()


def tree_of(options: Options) -> str:
    """The folders and the environment that a highstate is compiled from, as one text: without those
    of formulas, which change with each update, and a branch without its commit.
    """
    checkouts = getattr(options.file_roots, "checkouts", {})  # see gitfs.EnvironmentRoots
    roots = [
        checkouts[root].identity if root in checkouts else root
        for folders in options.file_roots.values()
        for root in folders
        if root not in options.formula_roots
    ]
    if options.tree:  # whichever of the trees is used
        roots = list(map(trees.without_name, roots))
    return json.dumps([roots, options.saltenv or ""])


def of_named(options: Options, named: object = True) -> Options:
    """The options of a run of SLS files that are named: `opts.saltenv` is their environment, as
    with Salt. named: they are, or who they are; as they were given where nothing is named.
    """
    if not named:
        return options
    return options._replace(raw={**options.raw, "saltenv": options.raw.get("saltenv") or "base"})


class Session:
    """One command's view of the machine and the tree; everything in it is made when it is first
    needed.
    """

    def __init__(
        self,
        options: Options,
        listeners: tuple[Callable[[Event], None], ...] = (),
        confirm: Callable[[Chunk], bool] | None = None,
    ) -> None:
        """confirm: asks whether a state is to run; None for a run that asks nobody."""
        self.options, self.listeners, self.confirm = options, listeners, confirm
        self.node = node_scope.Node()
        self.external_keys: dict[
            str, str
        ] = {}  # keys of the pillar -> the external pillar they are of
        # (SLS, environment), in order, with the defaults of its include
        self.pillar_read: dict[tuple[str, str], Mapping[str, Any]] = {}
        self.has_pillar = False  # it was read, and its secrets are known
        self.undecrypted: tuple[Found, ...] = ()  # in the pillar, for who can still resolve it
        self.left_encrypted: frozenset[object] = frozenset()  # texts of it that are data
        self.asked_once: dict[str, Any] = {}  # answers that hold for the whole run
        # says what is wrong with grains of the tree; None: the log does
        self.report_grains: Callable[[Diagnostic], None] | None = None
        self.unread: tuple[
            Diagnostic, ...
        ] = ()  # warnings of targets in top files that cannot be read

    def _fetch(self) -> None:
        """Fetch what file roots come from git, before anything runs against the clock."""
        fetch = getattr(self.options.file_roots, "fetch", None)  # see gitfs.EnvironmentRoots
        if fetch:
            self.warn_of_repositories(fetch())

    def warn_of_repositories(self, warnings: Sequence[Diagnostic]) -> None:
        """Tell what is odd about git repositories; that the disk is full is told in quiet runs,
        too.
        """
        for of_tree in (False, True):
            chosen = tuple(each for each in warnings if (each.code != FULL_DISK) is of_tree)
            if chosen:
                self.emit(Warned(chosen, of_tree))

    @property
    def roots(self) -> Mapping[str, tuple[str, ...]]:
        """Environment -> folders, of the environments that are looked at as a whole."""
        return roots_at_hand(self.options)

    def emit(self, event: Event) -> None:
        """Hand an event of compiling, or a warning, to the listeners of the command."""
        for listener in self.listeners:
            listener(event)

    def require_formulas(self) -> None:
        """Raise CompileError unless the formulas of the tree can be used."""
        if self.options.formula_problems:
            raise CompileError(self.options.formula_problems)

    @property
    def defaults(self) -> dict[str, Mapping[str, Mapping[str, Any]]]:
        """Defaults of arguments for all SLS files, the nearest scope first."""
        scopes = {"top file": self.node.defaults, "configuration": self._placed_defaults}
        return {origin: defaults for origin, defaults in scopes.items() if defaults}

    @cached_property
    def _placed_defaults(self) -> Mapping[str, Mapping[str, Any]]:
        """The defaults of the configuration, with their places where its file sets them."""
        defaults = self.options.defaults
        path = said_in.key_file(self.options.raw, "defaults") if defaults else None
        if not path:
            return defaults
        with suppress(RunnerError):
            whole = self.renderer.parsed(text_to_show(path), path)
            if isinstance(whole, Mapping) and whole.get("defaults") == defaults:
                placed: Mapping[str, Mapping[str, Any]] = whole["defaults"]
                return placed
        return defaults

    def _scope(self) -> dict[str, Any]:
        """The variables of all SLS files: below a target of the top file, else of the configuration
        and master_tops.
        """
        outer = {**self.options.vars, **self.node.parameters}
        variables = {**outer, **self.node.vars}
        if not variables:
            return {}
        more = {
            "grains": lambda: self.grains,
            "pillar": lambda: self.run.pillar,
            "opts": lambda: self.options.raw,
        }
        plain = {name: value for name, value in variables.items() if name not in node_scope.GIVEN}
        return {**plain, "vars": variables, "top": Top({**variables, **outer}, more)}

    @cached_property
    def watch(self) -> Watch:
        """Who else can write what is read. Raises RunnerError where that is refused."""
        options, watch = self.options, Watch(self.options.strict_permissions)
        for file in options.files:
            watch.read(file)
        for roots in (options.file_roots, options.pillar_roots):
            for folder in (root for folders in roots.values() for root in folders):
                watch.root(folder)
        return watch

    def require_tree(self) -> None:
        """Raise RunnerError where the tree has yet to be pulled."""
        options = self.options
        if options.awaits_tree:
            assert options.tree_source is not None, "it names what is awaited"
            raise RunnerError(
                f"there is no tree yet of {options.tree_source.shown}",
                setting_place(options.raw, "tree"),
                "`runner pull` fetches, verifies and applies it",
                "no-tree",
            )

    @cached_property
    def tree(self) -> FileTree:
        return FileTree(self.options.file_roots, self.options.raw, self.watch.read)

    @cached_property
    def pillar_tree(self) -> FileTree:
        return FileTree(self.options.pillar_roots, self.options.raw, self.watch.read)

    @cached_property
    def registry(self) -> Registry:
        roots = [root for folders in self.roots.values() for root in folders]
        folders = {
            kind: [*self._more_folders(kind), *(os.path.join(root, name) for root in roots)]
            for kind, name in TREE_FOLDERS.items()
        }
        existing = {
            kind: [path for path in paths if os.path.isdir(path)] for kind, paths in folders.items()
        }
        return Registry(existing, self.options.raw, seen=self.watch.read)

    def _more_folders(self, kind: str) -> list[str]:
        """Folders of modules that the configuration names: `states_dirs`, ..., and those below
        `module_dirs`.
        """
        raw = self.options.raw
        base = str(raw.get("config_dir") or "")
        own = raw.get(f"{SALTS_WORD.get(kind, kind)}_dirs") or []
        named = [*(os.path.join(folder, kind) for folder in raw.get("module_dirs") or []), *own]
        return [os.path.join(base, folder) for folder in named]

    @cached_property
    def grains(self) -> Mapping[str, Any]:
        functions = self.registry.grain_functions()
        return language_grains.Grains(
            self.options.grains,
            functions,
            id=self.options.id,
            report=lambda problem: (self.report_grains or language_grains.logged)(problem),
            folders=(
                os.path.join(str(self.options.raw["config_dir"]), "facts.d"),
                *language_grains.FOLDERS,
            ),
            hardware=not self.options.root,
        )

    @cached_property
    def run(self) -> Run:
        made = Run(
            self.options,
            self.registry,
            self.tree,
            Facts(lambda: self.grains),
            self.listeners,
            render=self.template,
            match=self.matches,
            top=self.top,
            limited=self.limited,
        )
        made.secrets.learn_names(files=self._file_names)
        if self.options.report:
            made.secrets.add(self.options.report.password)
        for value in (self.options.raw.get("otel_headers") or {}).values():
            made.secrets.add(str(value))
        remotes = {key: self.options.raw[key] for key in REMOTES if self.options.raw.get(key)}
        if remotes:
            made.secrets.collect_call(remotes, self.options.secret_keys)
        return made

    def _file_names(self) -> list[str]:
        """The paths of all files of the state tree; none where it cannot be had."""
        with suppress(RunnerError):
            return [path for env in self.roots for path in self.tree.files("", env)]
        return []

    @contextmanager
    def limited(self, what: str, size: int) -> Iterator[float]:
        """Bound the time of what is done to a text: that of a file to render, and more for each
        million characters. Gives the seconds, 0 for no limit.
        """
        limit = self.options.raw.get("render_limit")
        seconds = bound.SECONDS if limit is None else float(limit)
        seconds = round(seconds + size / 1e6, 1) if seconds else 0
        with limits.bounded(what, seconds):
            yield seconds

    def with_pillar_roots(self, roots: Mapping[str, tuple[str, ...]], options: Options) -> Session:
        """This session with another pillar tree; the machine and the run are the same."""
        other = copy.copy(self)
        other.__dict__ = {
            name: value
            for name, value in self.__dict__.items()
            if name not in ("pillar_tree", "pillar_renderer")
        }
        other.options = options._replace(pillar_roots=roots)
        return other

    def only_look(self) -> None:
        """Make this a dry run: the pillar may say `test: true`."""
        self.options = self.options._replace(test=True)
        self.run.only_look()

    def reload_grains(self, beside: Mapping[str, Any] | None) -> None:
        """Look at the machine and its static grains anew. beside: as `with_fresh_grains`."""
        self.options = with_fresh_grains(self.options, beside)
        del self.__dict__["grains"]
        self.run.facts.grains = self.grains

    @contextmanager
    def opened(self) -> Iterator[None]:
        """Make this session the current one; what goes wrong in it is told without secrets. Raises
        RunnerError also for a StateFailed or RecursionError in it.
        """
        try:
            self._fetch()
            with running(self.current()):
                yield
            if self.has_pillar:  # and what was read has said which arguments are secret
                self._without_secrets.secrets_are_known()
        except (RunnerError, StateFailed) as error:  # the latter: of a look that a command asks for
            told = error if isinstance(error, RunnerError) else RunnerError(error.message)
            raise self.run.secrets.error(told) from None
        except RecursionError:
            raise RunnerError(
                TOO_DEEP, hint="how deep do includes, values and requisites lead into each other?"
            ) from None

    def current(self) -> Current:
        """A Here without a state, for rendering and `runner call`."""
        return Current(self.run)

    def arguments_of(self, state: str, function: str) -> frozenset[str]:
        """The arguments that a state function and its module's mod_watch have; none when there is
        no such function.
        """
        try:
            state_function = self.registry.state(f"{state}.{function}")
        except RunnerError:
            return frozenset()
        return bind.known(state_function.function) | (
            bind.known(state_function.mod_watch) if state_function.mod_watch else frozenset()
        )

    def functions_of(self, state: str) -> list[str]:
        """The functions of a state module; none when there is no such module."""
        return self.registry.state_functions(state) if self.registry.has_state(state) else []

    def mistake(self, expression: Any, kind: str) -> RunnerError | None:
        """Return what keeps a target of a top file from being read."""
        return match.mistake(expression, kind, nodegroups=self.options.nodegroups)

    def matches(self, expression: str, kind: str = "glob") -> bool:
        """Return whether a target of a top file means this machine."""
        with limits.bounded(f"the target {expression!r}", self.options.raw.get("render_limit")):
            return match.matches(
                expression,
                kind,
                id=self.options.id,
                grains=self.grains,
                pillar=self.run.pillar,
                nodegroups=self.options.nodegroups,
            )

    def top(self) -> Mapping[str, list[str]]:
        """The SLS files that the top file gives this machine, for templates."""
        return node_scope.top_file(self).as_data()

    # -------------------------------------------------- rendering

    def _renderer(
        self, tree: FileTree, parsed_dir: str | None = None, results_dir: str | None = None
    ) -> Renderer:
        return render.Renderer(
            find=tree.find,
            missing_hint=tree.missing_hint,
            seen=self.watch.read,
            salt=self.registry.salt,
            grains=lambda: self.grains,
            pillar=lambda: self.run.pillar,
            opts=self.options.raw,
            root_of=tree.root_of,
            cache_dir=os.path.join(self.options.cachedir, "templates"),
            secret=lambda value: self.run.secrets.add(value),
            own=self.registry.renderer,
            parsed_dir=parsed_dir,
            keep=self._without_secrets.keep,
            holds_secret=self._holds_secret,
            results_dir=results_dir,
            functions=self.registry,
        )

    @cached_property
    def _without_secrets(self) -> WithoutSecrets:
        return WithoutSecrets(self._holds_secret)

    def _holds_secret(self, text: str) -> bool:
        return bool(self.run.secrets.mask(text) != text)

    @cached_property
    def renderer(self) -> Renderer:
        folders = (os.path.join(self.options.cachedir, name) for name in ("parsed", "results"))
        return self._renderer(self.tree, *folders)

    @cached_property
    def pillar_renderer(self) -> Renderer:
        return self._renderer(self.pillar_tree)

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
        if file.startswith("/"):
            self.watch.read(file)
        printed = self.renderer.template(
            text, engine, context, file=file, saltenv=saltenv, probably=probably
        )
        if self.undecrypted:
            undecrypted.refuse_printed(self, printed, file)
        return printed

    def keep_results(self) -> None:
        """Keep what templates rendered to for the next run."""
        if "renderer" in self.__dict__:
            self.renderer.keep_results()

    def read(self, sls: str, saltenv: str) -> SlsFile:
        """One rendered SLS of the state tree."""
        return _read(self.tree, self.renderer, sls, saltenv, self._scope())

    def sls_path(self, sls: str, saltenv: str) -> str:
        """The file of an SLS of the state tree. Raises RunnerError where there is none."""
        return _path_of(self.tree, sls, saltenv)

    def read_text(
        self, sls: str, saltenv: str, probably: bytes = b""
    ) -> tuple[str, Rendered | None]:
        """The path of an SLS of the state tree, and its text as `Renderer.sls_text` gives it."""
        path = self.sls_path(sls, saltenv)
        return path, self.renderer.sls_text(
            path, sls=sls, saltenv=saltenv, context=self._scope(), probably=probably
        )

    def known_text(self, sls: str, saltenv: str, known: bytes) -> tuple[str, Later | None]:
        """The same, to be rendered when it is asked for; None where it is not known that it has a
        digest.
        """
        path = self.sls_path(sls, saltenv)
        render = self.renderer.known_text(
            path, sls=sls, saltenv=saltenv, context=self._scope(), known=known
        )
        if render is None:
            return path, None

        def rendered() -> Rendered | None:
            with suppress(RunnerError), running(self.current()):
                return render()
            return None

        return path, Later(rendered, path)

    def parsed(self, text: Rendered, path: str, sls: str, saltenv: str) -> SlsFile:
        """The same as `read` gives, of a text that is known."""
        return _sls_file(self.renderer.sls_value(text, path, sls=sls, saltenv=saltenv), path)

    def reading(self, name: str, path: str) -> Callable[[str, str], SlsFile]:
        """A `read` that knows one SLS more, which lies in no tree."""

        def read(sls: str, saltenv: str) -> SlsFile:
            if sls != name:
                return self.read(sls, saltenv)
            self.watch.read(path)
            return SlsFile(
                self.renderer.sls(path, sls=name, saltenv=saltenv, context=self._scope() or {}),
                path,
                False,
            )

        return read

    def read_pillar(
        self, sls: str, saltenv: str, defaults: Mapping[str, Any] | None = None
    ) -> SlsFile:
        """A rendered SLS of the pillar; `defaults` of an include are variables of its template."""
        self.pillar_read[sls, saltenv] = defaults or {}
        return _read(self.pillar_tree, self.pillar_renderer, sls, saltenv, defaults or {})

    def read_top(self, saltenv: str) -> Any:
        """The rendered top file of an environment; None where there is none."""
        return _read_top(
            self.tree, self.renderer, self.options.topfn or self.options.state_top, saltenv
        )

    def read_pillar_top(self, saltenv: str) -> Any:
        """The rendered top file of the pillar; None where there is none."""
        return _read_top(self.pillar_tree, self.pillar_renderer, self.options.state_top, saltenv)


def _read_top(tree: FileTree, renderer: Renderer, name: str, saltenv: str) -> Any:
    path = tree.find(name, saltenv)
    if path is None:
        return None
    with LOG.timed(f"rendered {path}"):
        return renderer.sls(path, sls=name.removesuffix(".sls"), saltenv=saltenv, context={})


def _read(
    tree: FileTree,
    renderer: Renderer,
    sls: str,
    saltenv: str,
    context: Mapping[str, Any] | None = None,
) -> SlsFile:
    path = _path_of(tree, sls, saltenv)
    with LOG.timed(f"rendered {path}"):
        return _sls_file(renderer.sls(path, sls=sls, saltenv=saltenv, context=context or {}), path)


def _sls_file(value: Any, path: str) -> SlsFile:
    return SlsFile(value, path, os.path.basename(path) == "init.sls")


def _path_of(tree: FileTree, sls: str, saltenv: str) -> str:
    path = tree.sls_path(sls, saltenv)
    if path is None:
        near = tree.suggest(sls, saltenv)
        named = sls.strip("./")
        hint = diagnostics.suggestion(near) if near else tree.searched(sls, saltenv)
        if not near and sls[:1] in ("", "/"):  # `- .`, `- ./other`
            hint = f"an SLS has a name: `- .{named or 'NAME'}` is one in the folder of this one"
        raise RunnerError(
            f"Specified SLS {sls} in saltenv {saltenv} is not available on the salt master or"
            " through a configured fileserver",
            hint=hint,
            code="missing-sls" if tree.exists(saltenv) else "missing-env",
        )
    return path
