# SPDX-License-Identifier: Apache-2.0
"""A run without the engine: enough of `here` to try a state or execution function alone."""

from __future__ import annotations

import functools
import gc
import os
import pwd
import sys
import tempfile
import weakref
from collections.abc import Callable, Generator, Iterator, Mapping, MutableMapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any

import pytest
import yaml

from modules._planned.dry_run import PlannedOverlay
from runner.api import Done, Plan, changes_allowed, first_plan, refuse_unforeseen, running
from runner.api.planning import Unforeseen, changes_planned, is_state_planning
from runner.engine.loader.registry import Registry
from runner.language.arguments.schema import flat
from runner.sources.fileroots import FileTree
from runner.support.files.trusted_folder import TrustedFolder, trusted_folder


class FolderTree:
    """A file root that is one folder."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def find(self, path: str, saltenv: str) -> str | None:
        found = self.root / path
        return str(found) if found.is_file() else None

    def fetch(self, url: str, saltenv: str) -> str | None:
        if url.startswith("salt://"):
            return self.find(url.removeprefix("salt://").split("?")[0], saltenv)
        path = url.removeprefix("file://")
        return path if Path(path).is_file() else None

    def files(self, prefix: str, saltenv: str) -> list[str]:
        return sorted(
            str(p.relative_to(self.root)) for p in (self.root / prefix).rglob("*") if p.is_file()
        )

    def folders(self, prefix: str, saltenv: str) -> list[str]:
        return sorted(
            str(p.relative_to(self.root)) for p in (self.root / prefix).rglob("*") if p.is_dir()
        )

    def links_to_nothing(self, prefix: str, saltenv: str) -> list[str]:
        return FileTree({"base": [str(self.root)]}).links_to_nothing(prefix, "base")

    def links(self, prefix: str, saltenv: str) -> dict[str, str]:
        return FileTree({"base": [str(self.root)]}).links(prefix, "base")


class HarnessHere:
    """A Here for tests: real folders, no engine. `events` and `warnings` record."""

    def __init__(self, root: Path | None = None, dry: bool = False, **values: Any) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="harness-", ignore_cleanup_errors=True)
        weakref.finalize(self, self._folder.cleanup)
        base = Path(self._folder.name)
        self.opts: Mapping[str, Any] = values.get(
            "opts",
            {
                "test": dry,
                "config_dir": str(root or base),
                "providers": values.get("providers", {}),
                "offline": values.get("offline", False),
            },
        )
        self.own_grains: Mapping[str, Any] = values.get(
            "grains", {"os_family": "Debian", "os": "Debian"}
        )
        self.reload("grains")
        self.pillar: Mapping[str, Any] = values.get("pillar", {})
        self.saltenv = "base"
        self.chunk = None
        self.chunks = ()
        self.left_out = ()
        self.changed_requisites: tuple[str, ...] = ()
        self.results: Mapping[str, Any] = {}
        self.dry = self.is_dry_run = dry
        self.called_directly = False
        self.tree = FolderTree(root or base)
        self.cache_dir = str(base / "cache")
        self.state_dir = str(base / "state")
        self.stores: dict[str, dict[Any, Any]] = {}
        self.read: dict[str, str] = {}
        self.versions: dict[str, tuple[int, ...]] = {}
        self.has_changed = False
        self.events: list[Any] = []
        self.warnings: list[str] = []
        self.secrets: list[str] = []
        self.intended: list[str] = []
        for folder in (self.cache_dir, self.state_dir):
            Path(folder).mkdir()

    def missing_sls(self) -> list[str]:
        return []

    def store(self, name: str) -> MutableMapping[Any, Any]:
        return self.stores.setdefault(name, {})

    def cache_folder(self, *below: str, make: bool = True) -> TrustedFolder:
        return trusted_folder(self.cache_dir, make).below(*below, make=make)

    def state_folder(self, *below: str) -> TrustedFolder:
        return trusted_folder(self.state_dir).below(*below)

    def scratch(self, of_run: bool = False) -> str:
        return tempfile.mkdtemp(prefix="scratch-", dir=self.cache_dir)

    def clean(self) -> None:
        return None  # with the folder of all

    def new_overlay(self) -> PlannedOverlay:
        return PlannedOverlay()

    def limited(self, what: str, size: int) -> AbstractContextManager[float]:
        return nullcontext(0.0)

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
        import jinja2

        base = {"grains": self.grains, "pillar": self.pillar, "opts": self.opts, "saltenv": saltenv}
        return (
            jinja2.Environment(undefined=jinja2.StrictUndefined)
            .from_string(text)
            .render(**base | dict(context))
        )

    def call(self, name: str, /, *args: Any, **kwargs: Any) -> Any:
        return self.function(name)(*args, **kwargs)

    @functools.cached_property
    def registry(self) -> Registry:
        return Registry({})

    def function(self, name: str) -> Any:
        return self.registry.function(name)

    def has(self, name: str) -> bool:
        return self.registry.has_function(name)

    def match(self, expression: str, kind: str = "glob") -> bool:
        return expression == "*"

    def top(self) -> dict[str, list[str]]:
        return {}

    def warn(self, message: str, unless: object = None) -> None:
        self.warnings.append(message)

    def reload(self, what: str, planned: Mapping[str, Any] | None = None) -> None:
        refuse_unforeseen(what)
        static = Path(self.opts.get("config_dir", "/nowhere"), "grains")
        beside = yaml.safe_load(static.read_text()) if static.is_file() else {}
        self.grains: Mapping[str, Any] = {**self.own_grains, **beside}

    def intends(self, path: str) -> None:
        self.intended.append(path)

    def follows(self, *facts: str) -> None:
        """Nothing here judges a change."""

    def secret(self, value: str) -> None:
        self.secrets.append(value)

    def hide_named(self, values: Mapping[str, Any]) -> None:
        self.secrets.extend(str(value) for key, value in values.items() if "PASSWORD" in key)

    def masked(self, text: str) -> str:
        return text

    def emit(self, event: object) -> None:
        self.events.append(event)


def look(
    function: Callable[..., Any], /, *args: Any, current: HarnessHere | None = None, **kwargs: Any
) -> Plan | Done:
    """The dry run of a state function with converted arguments: its Plan, or what it answers
    without one.
    """
    with running(current or HarnessHere(dry=True)):
        outcome = flat(function)(*args, **kwargs)
        if not isinstance(outcome, Generator):
            return Done(outcome) if isinstance(outcome, str) else outcome
        try:
            return first_plan(outcome)
        except StopIteration as stop:
            return Done(stop.value, {}) if isinstance(stop.value, str) else stop.value
        finally:
            outcome.close()


def foresee(
    function: Callable[..., Any], /, *args: Any, current: HarnessHere, **kwargs: Any
) -> bool | None:
    """Carry a state function out on the planned machine, as a dry run does. Returns whether to its
    end; None without a Plan. StateFailed passes through.
    """
    with running(current), refusing_effects():
        outcome = flat(function)(*args, **kwargs)
        if not isinstance(outcome, Generator):
            return None
        try:
            first_plan(outcome)
        except StopIteration:
            return None
        try:
            with changes_planned():
                next(outcome)
        except StopIteration:
            return True
        except Unforeseen:
            return False
        raise AssertionError("a second yield")


class Effect(BaseException):
    """Something that a dry run does to the machine."""


EFFECTS = set(
    """
    subprocess.Popen os.system os.posix_spawn os.exec os.kill socket.connect os.remove os.rename
    os.link os.symlink os.chmod os.chown os.utime os.mkdir os.rmdir os.truncate os.setxattr
    os.removexattr
    """.split()
)
_refusing: list[bool] = []


@contextmanager
def refusing_effects() -> Iterator[None]:
    """Raise Effect for whatever changes the machine while a state function is carried out on the
    planned one, other than in its stand-ins.
    """
    if not _refusing:
        _refusing.append(False)
        sys.addaudithook(_refuse)
    _refusing[0] = True
    gc.disable()  # what it collects may clean up
    before, sys.dont_write_bytecode = sys.dont_write_bytecode, True  # of what is imported late
    try:
        yield
    finally:
        sys.dont_write_bytecode = before
        gc.enable()
        _refusing[0] = False


def _refuse(event: str, arguments: tuple[Any, ...]) -> None:
    if not _refusing[0] or not is_state_planning():
        return
    writes = event == "open" and isinstance(arguments[0], str) and arguments[2] & WRITING
    private = str(arguments[0] if arguments else "").startswith(tempfile.gettempdir() + "/harness-")
    if (event in EFFECTS or writes) and not private:
        raise Effect(f"{event} {arguments}")


WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT


def apply(
    function: Callable[..., Any], /, *args: Any, current: HarnessHere | None = None, **kwargs: Any
) -> Done:
    """The real run of a state function with converted arguments; StateFailed passes through."""
    with running(current or HarnessHere()):
        outcome = flat(function)(*args, **kwargs)
        if not isinstance(outcome, Generator):
            return Done(outcome, {}) if isinstance(outcome, str) else outcome
        changes: Mapping[str, Any] = {}
        try:
            changes = first_plan(outcome).changes
            with changes_allowed():
                next(outcome)
        except StopIteration as stop:
            done = Done(stop.value) if isinstance(stop.value, str) else stop.value
            return Done(done.comment, changes if done.changes is None else done.changes, done.extra)
        raise AssertionError("a second yield")


def own_name() -> str:
    """Return the name of the user who runs the tests; the number of one without a name."""
    try:
        return pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:
        return str(os.geteuid())


needs_a_name = pytest.mark.skipif(
    own_name().isdigit(), reason="the user who runs the tests has no name"
)
