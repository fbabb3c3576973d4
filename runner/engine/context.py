# SPDX-License-Identifier: Apache-2.0
"""The run and its listeners; `here`: what state functions and execution modules see of it."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Mapping
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from functools import cached_property

from runner.api import StateFailed, planning
from runner.engine import partial_changes
from runner.engine.loader.registry import Registry
from runner.language.render import jinja
from runner.model import ordered_dict, plain_values
from runner.model.chunk import Chunk
from runner.model.errors import RunnerError
from runner.model.events import ChangerCalled, CustomEvent, Event, RunStarted
from runner.model.records import Record
from runner.model.result import Result
from runner.model.stdlib import Lock, get_ident
from runner.sources.config.options import Options
from runner.support.files import scratch
from runner.support.files.group_commit import GROUP_COMMIT, Version
from runner.support.files.trusted_folder import TrustedFolder, trusted_folder
from runner.support.redaction import HIDDEN, Secrets

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, MutableMapping, Sequence
    from contextlib import AbstractContextManager
    from typing import Any

    from runner.api import Tree

Listener = Callable[[Event], None]
# arguments of all states that ask for something when the state has ended
FOLLOWED = frozenset(["reload_modules", "reload_grains", "reload_pillar", "fire_event"])


class Listeners:
    """Hands events, without secrets, to whoever follows a run."""

    def __init__(self, listeners: Iterable[Listener], secrets: Secrets) -> None:
        self._listeners = tuple(listeners)
        # with what is called of them, as it is looked up once
        self._takers: dict[type[Event], tuple[tuple[Listener, Any], ...]] = {}
        self._secrets = secrets
        self._lock = Lock()  # states may run side by side
        self.started = False  # they have heard that a run has started
        self.lost: list[str] = []  # those that failed, and why

    def add(self, listener: Listener) -> None:
        """Have one more follow the run from now on."""
        self._listeners = (*self._listeners, listener)
        self._takers.clear()

    def take(self, kind: type[Event]) -> bool:
        """Return whether anybody takes events of a kind."""
        takers = self._takers.get(kind)
        return bool(self._takers_of(kind) if takers is None else takers)

    def emit(self, event: Event) -> None:
        """Hand an event to the listeners. One that raises gets no more: what only watches a run
        does not end it.
        """
        takers = self._takers.get(type(event))
        if takers is None:
            takers = self._takers_of(type(event))
        if not takers:
            return
        event = self._secrets.event(event)
        with self._lock:
            self.started |= isinstance(event, RunStarted)
            for listener, call in takers:
                try:
                    call(event)
                except Exception as error:
                    self._lose(listener, error)

    def _takers_of(self, kind: type[Event]) -> tuple[tuple[Listener, Any], ...]:
        """The listeners that take events of a kind: all that do not say which ones by `events`."""
        takers = self._takers[kind] = tuple(
            (listener, getattr(listener, "__call__"))  # noqa: B004, B009
            for listener in self._listeners
            if kind in getattr(listener, "events", (kind,))
        )
        return takers

    def _lose(self, failed: Listener, error: Exception) -> None:
        self._listeners = tuple(listener for listener in self._listeners if listener is not failed)
        self._takers.clear()
        problem = self._secrets.mask(plain_values.exception(error))
        self.lost.append(
            f"{type(failed).__name__} failed and saw nothing more of this run: {problem}"
        )


@contextmanager
def from_first_change(listeners: Listeners, begin: Callable[[ExitStack], None]) -> Iterator[None]:
    """Have something begin with the first change of a run, and end with the run."""
    with ExitStack() as end:
        listeners.add(_AtFirstChange(lambda: begin(end)))
        yield


class _AtFirstChange:
    events = (ChangerCalled,)

    def __init__(self, begin: Callable[[], None]) -> None:
        self._begin, self._begun = begin, False

    def __call__(self, event: Event) -> None:
        if not self._begun:
            self._begun = True
            self._begin()


class Facts:
    """Grains, which are made when somebody asks for one, and pillar. They are read anew when a
    state asks for it (`reload_grains`, `reload_pillar`), and the pillar is read in layers that see
    those before them.
    """

    def __init__(self, grains: Callable[[], Mapping[str, Any]]) -> None:
        self._made = grains
        self.pillar: Mapping[str, Any] = {}

    @cached_property
    def grains(self) -> Mapping[str, Any]:
        return self._made()


def _always(chunk: Chunk) -> bool:
    return True


class Execution(Record):
    """The states that are run, and the services that they may ask for; those of a command that runs
    none do nothing.
    """

    chunks: tuple[Chunk, ...] = ()  # in their order
    left_out: tuple[Chunk, ...] = ()  # by --only or --exclude
    # the SLS files that the top file gives this machine and that this run lacks
    missing_sls: Callable[[], list[str]] = list
    # asks whether a state is to run (`--step`)
    confirm: Callable[[Chunk], bool] = _always
    # reads modules, grains or pillar anew, for the states that follow
    reload: Callable[[str, Mapping[str, Any] | None], None] = lambda what, planned: None
    # notes a temporary path that is about to be made
    intends: Callable[[str], None] = lambda text: None
    # gets each result as it is, secrets included; for what keeps only keyed hashes of it
    observe: Callable[[Result], None] = lambda result: None

    @property
    def asks(self) -> bool:
        """Return whether somebody is asked before each state."""
        return self.confirm is not _always


class Run:
    """The state that all states of one run, or all templates of a command, share."""

    def __init__(
        self,
        options: Options,
        registry: Registry,
        tree: Tree,
        facts: Facts,
        listeners: Iterable[Listener],
        *,
        render: Callable[..., Any],
        match: Callable[[str, str], bool],
        top: Callable[[], Mapping[str, Sequence[str]]],
        limited: Callable[[str, int], AbstractContextManager[float]] = lambda *_: nullcontext(0.0),
    ) -> None:
        """render: a text, by a template engine or a pipe of renderers. match: tells whether a
        target means this machine. top: gives the SLS files of this machine by environment.
        limited: bounds the time of what is done to a text of so many characters.
        """
        self.opts = options.raw
        self.cache_dir, self.state_dir = options.cachedir, options.state_dir
        self.saltenv = options.saltenv or "base"
        self.dry = options.test
        self.mock = bool(options.raw.get("mock"))  # no state function is called
        self.registry, self.tree, self.facts = registry, tree, facts
        self.render, self.match, self.top, self.limited = render, match, top, limited
        self.secrets = Secrets()
        self.listeners = Listeners(listeners, self.secrets)
        self.emit = self.listeners.emit
        self.execution = Execution()
        self.results: dict[str, Result] = {}
        self.stores: dict[str, dict[Any, Any]] = {}

    @property
    def pillar(self) -> Mapping[str, Any]:
        return self.facts.pillar

    def begin(self, execution: Execution) -> None:
        """Note that states begin to run."""
        self.execution = execution

    def only_look(self) -> None:
        """Make this a dry run: the pillar, which is read after the run was made, may say so."""
        self.dry = True

    def call(self, name: str, /, *args: Any, **kwargs: Any) -> Any:
        """Call an execution function."""
        return self.registry.function(name)(*args, **kwargs)

    def ask(self, name: str, /, *args: Any, **kwargs: Any) -> Any:
        """Call an execution function as an SLS says. Raises RunnerError where that is wrong."""
        function = self.registry.function(name)
        try:
            return function(*args, **kwargs)
        except (*partial_changes.OF_VALUES, OSError) as error:
            raise partial_changes.of_call(name, function, args, kwargs, error) from error

    def cache(self, make: bool = True) -> TrustedFolder:
        """The cache folder. Raises OSError, and Untrusted where others can write it."""
        self._cache = trusted_folder(self.cache_dir, make)
        return self._cache  # held, so that it is looked at once

    def follow(self, result: Result) -> None:
        """Do what a state asks for when it has ended: `reload_*` and `fire_event`."""
        chunk = result.chunk
        if FOLLOWED.isdisjoint(chunk.args):
            return
        for what in ("modules", "grains", "pillar"):
            if chunk.args.get(f"reload_{what}") and result.ran and not self.dry:
                self.execution.reload(what, None)
        if fire := chunk.args.get("fire_event"):
            tag = f"state/{fire if isinstance(fire, str) else chunk.name}"
            self.emit(
                CustomEvent(
                    tag, {"id": chunk.id, "result": result.result, "changes": dict(result.changes)}
                )
            )

    def took_failure(self) -> int:
        """The exit code other than 0 that an execution function of this thread noted since this was
        asked last.
        """
        noted = self.stores.get("retcodes", {}).pop(get_ident(), 0)
        return int(self.stores.get("__context__", {}).pop("retcode", 0) or noted)


class _Noting:
    """The file roots; notes which of their files a state was made from."""

    __slots__ = ("_inputs", "_tree", "files", "folders", "links", "links_to_nothing", "roots")

    def __init__(self, tree: Tree, inputs: list[str]) -> None:
        self._tree = tree
        self._inputs = inputs
        self.roots = tree.roots
        self.files = tree.files
        self.folders = tree.folders
        self.links = tree.links
        self.links_to_nothing = tree.links_to_nothing

    def find(self, path: str, saltenv: str) -> str | None:
        return self._noted(self._tree.find(path, saltenv))

    def fetch(self, url: str, saltenv: str) -> str | None:
        return self._noted(self._tree.fetch(url, saltenv))

    def _noted(self, path: str | None) -> str | None:
        if path:
            self._inputs.append(path)
        return path


class Current:
    """The Here of one state (or of rendering and `runner call`, without a chunk)."""

    __slots__ = (
        "_scratch",
        "_tree",
        "called_directly",
        "changed_requisites",
        "chunk",
        "dry",
        "has_changed",
        "inputs",
        "read",
        "run",
        "saltenv",
        "versions",
        "warnings",
    )

    def __init__(
        self,
        run: Run,
        chunk: Chunk | None = None,
        dry: bool | None = None,
        changed_requisites: tuple[str, ...] = (),
        called_directly: bool = False,
    ) -> None:
        """changed_requisites: "state: ID" of what made a watch fire. called_directly: an execution
        function by `runner call`.
        """
        self.run = run
        self.chunk = chunk
        self.dry = run.dry if dry is None else dry
        self.saltenv = str(chunk.args.get("saltenv") or chunk.env) if chunk else run.saltenv
        self.warnings: list[tuple[str, tuple[str, str] | None]] = []
        # the files of the tree that were asked for, and what else the state goes by
        self.inputs: list[str] = []
        self.read: dict[str, str] = {}
        self.versions: dict[str, Version] = {}
        self.has_changed = False
        self._tree: Tree | None = None
        self.changed_requisites = changed_requisites
        self.called_directly = called_directly
        self._scratch: list[scratch.Scratch] = []

    @property
    def is_dry_run(self) -> bool:
        return self.run.dry

    @property
    def tree(self) -> Tree:
        if self._tree is None:
            tree = self.run.tree
            self._tree = tree if self.chunk is None else _Noting(tree, self.inputs)
        return self._tree

    @property
    def opts(self) -> Mapping[str, Any]:
        opts = self.run.opts
        return opts if bool(opts.get("test")) is self.dry else {**opts, "test": self.dry}

    @property
    def grains(self) -> Mapping[str, Any]:
        return self.run.facts.grains

    @property
    def pillar(self) -> Mapping[str, Any]:
        return self.run.facts.pillar

    @property
    def chunks(self) -> tuple[Chunk, ...]:
        return self.run.execution.chunks

    @property
    def left_out(self) -> tuple[Chunk, ...]:
        return self.run.execution.left_out

    def missing_sls(self) -> list[str]:
        return self.run.execution.missing_sls()

    @property
    def results(self) -> Mapping[str, Result]:
        return self.run.results

    @property
    def cache_dir(self) -> str:
        with suppress(OSError):  # none yet
            return self.run.cache(make=False).path
        return self.run.cache_dir

    @property
    def state_dir(self) -> str:
        return self.run.state_dir

    def cache_folder(self, *below: str, make: bool = True) -> TrustedFolder:
        return self.run.cache(make).below(*below, make=make)

    def state_folder(self, *below: str) -> TrustedFolder:
        return trusted_folder(self.run.state_dir).below(*below)

    def store(self, name: str) -> MutableMapping[Any, Any]:
        return self.run.stores.setdefault(name, {})

    def scratch(self, of_run: bool = False) -> str:
        folder = scratch.Scratch(self.run.cache().path)
        if of_run:
            weakref.finalize(self.run, folder.remove)
        else:
            self._scratch.append(folder)
        return folder.path

    def new_overlay(self) -> Any:
        return self.run.registry.new_overlay()

    def clean(self) -> None:
        while self._scratch:
            self._scratch.pop().remove()

    @contextmanager
    def limited(self, what: str, size: int) -> Iterator[float]:
        """Bound the time of what is done inside. Raises StateFailed when it takes too long."""
        try:
            with self.run.limited(what, size) as seconds:
                yield seconds
        except RunnerError as error:
            if error.code != "limit":
                raise
            raise StateFailed(f"{what}: {error.message}") from None

    def render(
        self,
        text: str,
        engine: str,
        context: Mapping[str, Any],
        *,
        file: str = "",
        saltenv: str = "base",
        probably: bytes = b"",
    ) -> str:
        if self.chunk is not None:
            args = self.chunk.args
            mappings = [args, args.get("defaults"), args.get("context")]
            variables = {
                name: value
                for mapping in mappings
                if isinstance(mapping, Mapping)
                for name, value in mapping.items()
            }
            context = ordered_dict.as_said(variables, context)
        if engine != "jinja":  # a program may look at anything
            GROUP_COMMIT.look_around()
        made = self.run.render(text, engine, context, file=file, saltenv=saltenv, probably=probably)
        return str(made)

    def template_marks(self) -> Sequence[bytes]:
        return jinja.template_marks(self.run.opts)

    def render_pipe(
        self,
        text: str,
        pipe: str,
        context: Mapping[str, Any],
        *,
        file: str = "",
        saltenv: str = "base",
    ) -> Any:
        return self.run.render(text, f"#!{pipe}", context, file=file, saltenv=saltenv)

    def call(self, name: str, /, *args: Any, **kwargs: Any) -> Any:
        planning.refuse_unforeseen(name)
        return self.run.call(name, *args, **kwargs)

    def function(self, name: str) -> Callable[..., Any]:
        planning.refuse_unforeseen(name)
        return self.run.registry.function(name)

    def has(self, name: str) -> bool:
        return self.run.registry.has_function(name)

    def match(self, expression: str, kind: str = "glob") -> bool:
        return self.run.match(expression, kind)

    def top(self) -> Mapping[str, Sequence[str]]:
        return self.run.top()

    def warn(self, message: str, unless: tuple[str, str] | None = None) -> None:
        self.warnings.append((message, unless))

    def reload(self, what: str, planned: Mapping[str, Any] | None = None) -> None:
        if planned is None or not planning.is_planning():
            planning.refuse_unforeseen(what)
            planned = None
        self.run.execution.reload(what, planned)

    def intends(self, path: str) -> None:
        self.run.execution.intends(path)

    def follows(self, *facts: str) -> None:
        self.inputs += facts

    def secret(self, value: str) -> None:
        if value:
            self.run.secrets.add(value)

    def hide_named(self, values: Mapping[str, Any]) -> None:
        self.run.secrets.collect_named(values)

    def emit(self, event: Event) -> None:
        planning.refuse_unforeseen("an event")
        if (
            isinstance(event, CustomEvent)
            and self.chunk is not None
            and self.chunk.args.get("no_log")
        ):
            event = event._replace(data=dict.fromkeys(event.data, HIDDEN))
        self.run.emit(event)
