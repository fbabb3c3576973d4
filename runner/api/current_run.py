# SPDX-License-Identifier: Apache-2.0
"""What `here` is, the current run, to those who write states and modules; for type checkers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, MutableMapping, Sequence
    from contextlib import AbstractContextManager

    from runner.api import Fact, Version
    from runner.model.chunk import Chunk
    from runner.model.events import Event
    from runner.model.result import Result


class Tree(Protocol):
    """The file roots."""

    roots: Mapping[str, Sequence[str]]  # environment -> folders

    def find(self, path: str, saltenv: str) -> str | None:
        """The file on disk of a path of an environment, first root wins; None if there is none."""

    def fetch(self, url: str, saltenv: str) -> str | None:
        """The local file of `salt://path[?saltenv=x]`, `file:///path` or `/path`; None if there is
        none.
        """

    def files(self, prefix: str, saltenv: str) -> list[str]:
        """The paths below a folder of the tree, sorted."""

    def links(self, prefix: str, saltenv: str) -> dict[str, str]:
        """The links below a folder of the tree, with their files on disk; no link that leads out of
        the tree.
        """

    def links_to_nothing(self, prefix: str, saltenv: str) -> list[str]:
        """The paths below a folder of the tree that are links to what is not there."""

    def folders(self, prefix: str, saltenv: str) -> list[str]:
        """The folders below a folder of the tree (itself not included), sorted."""


class OwnFolder(Protocol):
    """A folder of runner's own, which nobody else can write: its files are opened without following
    links, and only when they are root's or the caller's.
    """

    @property
    def path(self) -> str: ...

    def open(self, name: str, flags: int, mode: int = 0o600) -> int:
        """A descriptor of a file in it. Raises OSError."""

    def read(self, name: str) -> bytes:
        """The contents of a file in it. Raises OSError."""

    def write(self, name: str, data: bytes | Iterable[bytes], mode: int = 0o600) -> None:
        """Write a file whole: nobody sees a half of it. Raises OSError."""

    def remove(self, name: str) -> bool:
        """Remove a file; false if it is not there."""


class Here(Protocol):
    """The current run, as state functions and execution modules see it."""

    @property
    def opts(self) -> Mapping[str, Any]:
        """The configuration under Salt's key names."""

    @property
    def grains(self) -> Mapping[str, Any]: ...

    @property
    def pillar(self) -> Mapping[str, Any]: ...

    @property
    def saltenv(self) -> str: ...

    @property
    def chunk(self) -> Chunk | None:
        """The state that runs now; None while templates are rendered or in `runner call`."""

    @property
    def chunks(self) -> tuple[Chunk, ...]: ...

    @property
    def left_out(self) -> tuple[Chunk, ...]:
        """The states of these SLS files that `--only` or `--exclude` leaves out of the run."""

    def missing_sls(self) -> list[str]:
        """The SLS files of the highstate that this run is made without, as `runner sls` is."""

    @property
    def results(self) -> Mapping[str, Result]:
        """The results so far, by tag."""

    @property
    def read(self) -> dict[str, str]:
        """The files that the state has read, by the paths that it read them by."""

    # what the files were that it goes by, by these paths: it writes no other one over
    versions: dict[str, Version]
    has_changed: bool  # whether the state has altered something since it began to look

    @property
    def changed_requisites(self) -> tuple[str, ...]:
        """The sources that made a watch fire ("file: nginx.conf"), for mod_watch."""

    @property
    def dry(self) -> bool:
        """For decorators and classic code only; a state function has no need to know."""

    @property
    def is_dry_run(self) -> bool:
        """Return whether nothing at all is changed in this run: `dry` is also true of a look for a
        prereq, and of a state that is only planned, in a real one.
        """

    @property
    def called_directly(self) -> bool:
        """Return whether a person calls the function, by `runner call`."""

    @property
    def tree(self) -> Tree: ...

    @property
    def cache_dir(self) -> str:
        """The folder that fetchers may write below."""

    @property
    def state_dir(self) -> str: ...

    def cache_folder(self, *below: str, make: bool = True) -> OwnFolder:
        """The cache folder, or one below it. Raises OSError, and RunnerError where others can write
        it.

        make: it if it is missing.
        """

    def state_folder(self, *below: str) -> OwnFolder:
        """A folder below the state folder, made if it is missing. Raises as cache_folder does."""

    def store(self, name: str) -> MutableMapping[Any, Any]:
        """A dictionary that lasts for this run, shared by all who use the same name.

        >>> asked = here.store("dns answers")
        """

    def scratch(self, of_run: bool = False) -> str:
        """A private folder, until `clean`, when this stops being the current run. of_run: until
        the whole run ends.
        """

    def clean(self) -> None: ...

    def new_overlay(self) -> Any:
        """Files of which nothing is planned yet, for what modules/_planned keeps of a dry run."""

    def limited(self, what: str, size: int) -> AbstractContextManager[float]:
        """Bound the time of what is done inside to some text, and give the seconds (0: no bound).
        what: its name in the message; size: the characters of the text. Raises StateFailed when it
        takes too long. One step in C is interrupted in the main thread only.
        """

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
        """Render a template that is not an SLS (`engine`: jinja, py, mako). probably: what it may
        render to, as what the file holds that it is for; where that is known, nothing is rendered.
        """

    def template_marks(self) -> Sequence[bytes]:
        """The bytes of which a template of Jinja in UTF-8 has some, unless rendering leaves it as
        it is; none where that is not known.
        """

    def render_pipe(
        self,
        text: str,
        pipe: str,
        context: Mapping[str, Any],
        *,
        file: str = "",
        saltenv: str = "base",
    ) -> Any:
        """Render a text with a pipe of renderers (`jinja|yaml`, as the first line of an SLS names
        it).
        """

    def call(self, name: str, /, *args: Any, **kwargs: Any) -> Any:
        """Call an execution function by its name, the tree's own included.

        Raises RunnerError for an unknown one, and whatever the function raises.

        >>> here.call("pkg.version", "nginx")
        """

    def function(self, name: str) -> Callable[..., Any]:
        """An execution function itself, for its signature."""

    def has(self, name: str) -> bool:
        """Return whether there is such an execution function."""

    def match(self, expression: str, kind: str = "glob") -> bool: ...

    def top(self) -> Mapping[str, Sequence[str]]:
        """The SLS files that the top file gives this machine, by environment."""

    def warn(self, message: str, unless: Fact | None = None) -> None:
        """Add a warning to the result of the current state. unless: not in a dry run where a
        pending state may provide this fact.
        """

    def reload(self, what: str, planned: Mapping[str, Any] | None = None) -> None:
        """Let the states that follow see what this one changed: `grains`, `modules`, `pillar`.
        planned: the static grains that those of a dry run see.
        """

    def intends(self, path: str) -> None:
        """Register a temporary path before it is made: after a kill the next run removes it."""

    def follows(self, *facts: str) -> None:
        """Note a source of the current state that is not a file of the tree (the newest commit or
        version somewhere): the tree asks for a change that comes from there, so that the history
        does not report it as drift.
        """

    def secret(self, value: str) -> None:
        """Hide a value in all output, logs, reports and the history of this run."""

    def hide_named(self, values: Mapping[str, Any]) -> None:
        """Hide those values that stand under names of secrets (DB_PASSWORD, api_key, ...), at any
        depth, as `secret` does.
        """

    def emit(self, event: Event) -> None: ...
