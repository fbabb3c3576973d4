"""`here`: what state functions and execution modules see of the run."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, MutableMapping, Sequence
from contextlib import suppress
from typing import Any

from runner.api import Tree
from runner.files.trusted_folder import TrustedFolder, trusted_folder
from runner.model.chunk import Chunk
from runner.model.events import CustomEvent, Event, RunStarted
from runner.model.ordered_dict import as_said
from runner.model.plain_values import text_of
from runner.model.result import Result
from runner.redaction import HIDDEN, Secrets


class Run:
    """What all states of one run share. The pipeline fills it; nobody else does."""

    def __init__(
        self,
        opts: Mapping[str, Any],
        grains: Mapping[str, Any],
        tree: Tree,
        cache_dir: str,
        state_dir: str,
        saltenv: str,
        dry: bool,
        call: Callable[..., Any],
        function: Callable[[str], Callable[..., Any]],
        has: Callable[[str], bool],
        render: Callable[..., Any],
        match: Callable[[str, str], bool],
        top: Callable[[], Mapping[str, Sequence[str]]],
        listeners: tuple[Callable[[Event], None], ...],
    ) -> None:
        self.opts, self.grains, self.tree = opts, grains, tree
        self.cache_dir, self.state_dir, self.saltenv = cache_dir, state_dir, saltenv
        self.dry, self.called_directly, self.listeners = dry, False, listeners
        self.mock = bool(opts.get("mock"))  # no state function is called
        self.call, self.function, self.has, self.render, self.match, self.top = (
            call,
            function,
            has,
            render,
            match,
            top,
        )
        self.pillar: Mapping[str, Any] = {}
        self.chunks: tuple[Chunk, ...] = ()
        self.left_out: tuple[Chunk, ...] = ()
        self.results: dict[str, Result] = {}
        self.intends: Callable[[str], None] = lambda path: (
            None
        )  # notes a temporary path that is about to be made
        self.reload: Callable[[str], None] = lambda what: (
            None
        )  # modules, grains or pillar, for the states that follow
        self.secrets = Secrets()
        self.stores: dict[str, dict[Any, Any]] = {}
        self.lock = threading.Lock()
        self.started = False  # whether the listeners were told that a run has started
        self.lost: list[str] = []  # which listeners failed, and why

    def cache(self, make: bool = True) -> TrustedFolder:
        """The cache folder. Raises OSError, and Untrusted where others can write it."""
        self._cache = trusted_folder(self.cache_dir, make)
        return self._cache  # held, so that it is looked at once

    def emit(self, event: Event) -> None:
        """Hand an event to the listeners. One that raises gets no more: what only watches a run
        does not end it.
        """
        event = self.secrets.event(event)
        with self.lock:
            self.started |= isinstance(event, RunStarted)
            for listener in self.listeners:
                try:
                    listener(event)
                except Exception as error:
                    self._lose(listener, error)

    def _lose(self, listener: Callable[[Event], None], error: Exception) -> None:
        self.listeners = tuple(each for each in self.listeners if each is not listener)
        problem = self.secrets.mask(f"{type(error).__name__}: {text_of(error)}")
        self.lost.append(
            f"{type(listener).__name__} failed and saw nothing more of this run: {problem}"
        )

    def follow(self, result: Result) -> None:
        """What a state asks for when it has ended: `reload_*` and `fire_event`."""
        chunk = result.chunk
        for what in ("modules", "grains", "pillar"):
            if chunk.args.get(f"reload_{what}") and result.ran and not self.dry:
                self.reload(what)
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
        noted = self.stores.get("retcodes", {}).pop(threading.get_ident(), 0)
        return int(self.stores.get("__context__", {}).pop("retcode", 0) or noted)


class _Noting:
    """The file roots, and which of their files a state was made from."""

    __slots__ = ("_inputs", "_tree", "files", "folders", "links")

    def __init__(self, tree: Tree, inputs: list[str]) -> None:
        self._tree = tree
        self._inputs = inputs
        self.files = tree.files
        self.folders = tree.folders
        self.links = tree.links

    def find(self, path: str, saltenv: str) -> str | None:
        return self._noted(self._tree.find(path, saltenv))

    def fetch(self, url: str, saltenv: str) -> str | None:
        return self._noted(self._tree.fetch(url, saltenv))

    def _noted(self, found: str | None) -> str | None:
        if found:
            self._inputs.append(found)
        return found


class Current:
    """The Here of one state (or of rendering and `runner call`, without a chunk)."""

    __slots__ = (
        "_scratch",
        "changed_requisites",
        "chunk",
        "dry",
        "inputs",
        "run",
        "saltenv",
        "tree",
        "warnings",
    )

    def __init__(
        self,
        run: Run,
        chunk: Chunk | None = None,
        dry: bool | None = None,
        changed_requisites: tuple[str, ...] = (),
    ) -> None:
        """changed_requisites: "state: ID" of what made a watch fire."""
        self.run = run
        self.chunk = chunk
        self.dry = run.dry if dry is None else dry
        self.saltenv = str(chunk.args.get("saltenv") or chunk.env) if chunk else run.saltenv
        self.warnings: list[str] = []
        self.inputs: list[
            str
        ] = []  # the files of the tree that were asked for, and what else the state goes by
        self.tree: Tree = run.tree if chunk is None else _Noting(run.tree, self.inputs)
        self.changed_requisites = changed_requisites
        self._scratch: list[str] = []

    @property
    def opts(self) -> Mapping[str, Any]:
        opts = self.run.opts
        return opts if bool(opts.get("test")) is self.dry else {**opts, "test": self.dry}

    @property
    def grains(self) -> Mapping[str, Any]:
        return self.run.grains

    @property
    def pillar(self) -> Mapping[str, Any]:
        return self.run.pillar

    @property
    def chunks(self) -> tuple[Chunk, ...]:
        return self.run.chunks

    @property
    def left_out(self) -> tuple[Chunk, ...]:
        return self.run.left_out

    @property
    def results(self) -> Mapping[str, Result]:
        return self.run.results

    @property
    def called_directly(self) -> bool:
        return self.run.called_directly

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

    def scratch(self) -> str:
        import tempfile

        folder = tempfile.mkdtemp(prefix="scratch-", dir=self.run.cache().path)
        self._scratch.append(folder)
        return folder

    def clean(self) -> None:
        """Delete the scratch folders; the engine calls it when the state ends."""
        if self._scratch:
            import shutil

            for folder in self._scratch:
                with suppress(OSError):
                    shutil.rmtree(folder)

    def render(
        self,
        text: str,
        engine: str,
        context: Mapping[str, Any],
        *,
        file: str = "",
        saltenv: str = "base",
    ) -> str:
        if self.chunk is not None:
            args = self.chunk.args
            given = [
                args,
                *(
                    each
                    for each in (args.get("defaults"), args.get("context"))
                    if isinstance(each, dict)
                ),
            ]
            context = as_said(
                {name: value for each in given for name, value in each.items()}, context
            )
        return str(self.run.render(text, engine, context, file=file, saltenv=saltenv))

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
        return self.run.call(name, *args, **kwargs)

    def function(self, name: str) -> Callable[..., Any]:
        return self.run.function(name)

    def has(self, name: str) -> bool:
        return self.run.has(name)

    def match(self, expression: str, kind: str = "glob") -> bool:
        return self.run.match(expression, kind)

    def top(self) -> Mapping[str, Sequence[str]]:
        return self.run.top()

    def warn(self, message: str) -> None:
        self.warnings.append(message)

    def reload(self, what: str) -> None:
        self.run.reload(what)

    def intends(self, path: str) -> None:
        self.run.intends(path)

    def follows(self, *facts: str) -> None:
        self.inputs += facts

    def secret(self, value: str) -> None:
        if value:
            self.run.secrets.add(value)

    def masked(self, text: str) -> str:
        return str(self.run.secrets.mask(text))

    def emit(self, event: Event) -> None:
        if (
            isinstance(event, CustomEvent)
            and self.chunk is not None
            and self.chunk.args.get("no_log")
        ):
            event = event._replace(data=dict.fromkeys(event.data, HIDDEN))
        self.run.emit(event)
