# SPDX-License-Identifier: Apache-2.0
"""The names that authors of states and execution modules import.

A state function looks, yields one Plan, then changes:

    def absent(name: AbsolutePath) -> Planned:
        if not file.lexists(name):
            return f"File {name} is not present"
        yield Plan({"removed": name}, f"File {name} is set for removal")
        file.remove(name)
        return f"Removed file {name}"

Everything before the yield reads, what is after it writes: in a dry run into a plan (`changer`).
"""

from __future__ import annotations

import glob
import os
from collections.abc import Generator, Mapping
from functools import wraps

from runner.api import planning
from runner.api.argtypes import (
    ONE_LINE,
    AbsolutePath,
    Added,
    Annotated,
    AsText,
    Check,
    CheckUnless,
    Column,
    Duration,
    FilePath,
    Group,
    Hidden,
    Leftovers,
    Line,
    Mode,
    Munge,
    Name,
    Named,
    NameOrEmpty,
    NameVar,
    NonEmptyLine,
    NotEmpty,
    OneOrMany,
    Pattern,
    Secret,
    Separator,
    ServiceName,
    ShellWords,
    TextEncoding,
    TreeFolder,
    Trimmed,
    Word,
    WordsLine,
    column_problem,
    line_problem,
    name_problem,
    requires_feature,
    unknown_encoding,
    without_end,
)
from runner.model import former_state, paths, plain_values, said_in
from runner.model.chunk import Chunk
from runner.model.errors import RunnerError, reason_of
from runner.model.events import ChangerCalled, CustomEvent, Event
from runner.model.places import Value
from runner.model.records import Record
from runner.model.result import Result
from runner.model.stdlib import ContextVar, in_main_thread
from runner.model.stdlib import pattern as pattern
from runner.support.files import folder_syncs, links
from runner.support.files.group_commit import ABSENT as ABSENT
from runner.support.files.group_commit import GROUP_COMMIT, Version, version_at
from runner.support.files.group_commit import version as version
from runner.support.files.permissions import MOST_LINKS, link_of_others, others_write
from runner.support.files.text import split_lines
from runner.support.log import LOG
from runner.support.own_modules import import_module as import_module
from runner.support.own_modules import known_as

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, MutableMapping, Sequence
    from contextlib import AbstractContextManager
    from types import ModuleType
    from typing import Any, Final, ParamSpec, Protocol, TypeVar, overload

    from runner.api.composition import combine_plans
    from runner.api.current_run import Here
    from runner.api.current_run import OwnFolder as OwnFolder
    from runner.api.current_run import Tree as Tree
    from runner.api.facts import OPEN as OPEN
    from runner.api.facts import Fact, Open
    from runner.api.facts import open_at as open_at
    from runner.api.kinds import CURRENT, WANTED, Kind, Property, Wording, comes_after
    from runner.api.later import check_later as check_later
    from runner.api.later import forget_check as forget_check
    from runner.api.planning import Unforeseen as Unforeseen
    from runner.api.planning import foreseen_failures as foreseen_failures
    from runner.api.planning import is_planning as is_planning
    from runner.api.planning import leave_pending as leave_pending
    from runner.api.planning import planned_as as planned_as
    from runner.api.planning import promised as promised
    from runner.api.planning import refuse_unforeseen as refuse_unforeseen
    from runner.api.programs import ended_with_run as ended_with_run
    from runner.api.providers import Feature, Provider, ProviderModule, Providers
    from runner.api.resource import Resource as Resource
    from runner.api.scheduled import SCHEDULE as SCHEDULE
    from runner.api.state_module import StateModule
    from runner.model.former_state import FormerState
    from runner.model.paths import folders_above as folders_above
    from runner.model.paths import lies_in as lies_in
    from runner.model.paths import unescaped as unescaped
    from runner.model.plain_values import texts_in as texts_in
    from runner.model.said_in import key_folder as key_folder

    P = ParamSpec("P")
    R = TypeVar("R")
else:
    Protocol = object


Changes = Mapping[str, Value]


class Plan(Record):
    """The changes that a state function is about to make.

    changes: the keys that the real run reports, with their values as far as they are known now.
    comment: one line for a dry run ("The file /etc/motd is set to be changed").
    exact: False for changes that cannot be known before they are made. why: the reason for that.
    provides: the facts that the change makes true, for later states of a dry run; OPEN for
    anything. Nothing by default.
    reacted_by: the keys of those changes that already are what `mod_watch` would do (a start, for
    a service). When none of them is among the changes, a watch still calls mod_watch. None (the
    default), as in Salt: any change is one.
    before: the values that changes replace, for people, where their own values (which are Salt's)
    do not show them: {"mode": "0644"}; of the shape of `changes`.
    extra: further keys of the result in Salt's JSON; with `skip_req` the change sets off no watch,
    onchanges or prereq.
    in_dry_run: called by a dry run alone, for what costs too much to ask before a change that will
    tell it. It raises StateFailed where the change would fail, gives the Plan to go by instead, the
    outcome where nothing is to be done, or None for this Plan.

    >>> Plan({"removed": "/etc/motd"}, "File /etc/motd is set for removal")
    """

    changes: Changes
    comment: str
    exact: bool = True
    why: str | None = None
    provides: Iterable[Fact | Open] | Open = ()
    reacted_by: Collection[str] | None = None
    before: Mapping[str, Value] = {}
    extra: Mapping[str, Value] = {}
    in_dry_run: Callable[[], Plan | Done | str | None] | None = None


class Done(Record):
    """The outcome of a state that has more to report than a comment.

    comment: one line or more, as for a returned text.
    changes: the changes that were made; None (the default): those of the Plan.
    extra: further keys of the result in Salt's JSON (`skip_watch`, ...).
    missing: facts without which there is nothing to do. In a dry run the state is undecided when a
    pending plan provides one of them, or may (a state that this one requires; with OPEN among them
    any plan that provides OPEN).
    in_dry_run: the comment of a dry run, where Salt has another one there. None (the default): the
    same.

    >>> Done("Package nginx was upgraded", {"nginx": {"old": "1.22", "new": "1.24"}})
    """

    comment: str
    changes: Changes | None = None
    extra: Mapping[str, Value] = {}
    missing: Iterable[Fact | Open] = ()
    in_dry_run: str | None = None


class StateFailed(Exception):
    """The state failed, before or after its yield.

    message: the comment of the result.
    changes: the changes that were made all the same. None (the default), after the yield: those of
    the Plan that a second look does not plan any more.
    missing: a fact, or several of which any will do, that an earlier state may provide: in a dry
    run the state is then undecided, not failed.

    >>> raise StateFailed("there is no user www", missing=("user", "www"))
    """

    def __init__(
        self,
        message: str,
        changes: Changes | None = None,
        missing: Fact | Iterable[Fact] | None = None,
    ):
        super().__init__(message)
        self.message = message
        self.changes = changes
        self.missing: tuple[Fact, ...] = _facts(missing)


def _facts(missing: Fact | Iterable[Fact] | None) -> tuple[Fact, ...]:
    match missing:
        case None:
            return ()
        case (str(kind), str(name)):
            return ((kind, name),)
        case _:
            return tuple(fact for fact in missing if not isinstance(fact, str))


class Overtaken(StateFailed):
    """Somebody has written a file since the state looked at it, which has changed nothing: the
    engine has it look again.
    """


class CommandFailed(StateFailed):
    """A program of the system failed or could not be started (Salt: CommandExecutionError)."""


Planned = Generator[Plan, None, str | Done]


def first_plan(state: Planned) -> Plan:
    """Have a state function look: its Plan, in a dry run the one to go by there. Raises
    StopIteration with the outcome where there is nothing to do, and StateFailed.
    """
    plan = next(state)
    if not isinstance(plan, Plan) or plan.in_dry_run is None or not here.dry:
        return plan
    foreseen = plan.in_dry_run()
    if foreseen is None or isinstance(foreseen, Plan):
        return foreseen or plan
    state.close()
    raise StopIteration(foreseen)


def comment_of(outcome: str | Done) -> str:
    """The comment of an outcome, in a dry run what is said there."""
    if isinstance(outcome, str):
        return outcome
    return outcome.comment if outcome.in_dry_run is None or not here.dry else outcome.in_dry_run


# ---------------------------------------------------------------- the current run


LATER_CHECKS = "later checks"  # the store of what is looked at before the run ends (later.py)
_here: ContextVar[Here] = ContextVar("here")


class _Current:
    def __getattribute__(self, name: str) -> Any:  # __getattr__ is asked after a vain search
        if name[:2] == "__":
            return object.__getattribute__(self, name)
        return getattr(_here.get(), name)


here: Here = _Current()


def setting(name: str) -> Any:
    """A setting of the configuration; None where it is not set, and outside of a run.

    >>> limit = setting("edit_size_limit")
    """
    current = _here.get(None)
    return None if current is None else current.opts.get(name)


class running:  # in lower case: used as a function; a generator costs more
    """Make a run the current one (engine and tests only); gives the one that was, if any."""

    __slots__ = ("_current", "_token")

    def __init__(self, current: Here) -> None:
        self._current = current

    def __enter__(self) -> Here | None:
        before = _here.get(None)
        self._token = _here.set(self._current)
        return before

    def __exit__(self, *problem: object) -> None:
        self._current.clean()
        _here.reset(self._token)


class _Pause:
    """A protected section: an interrupt waits until its end."""

    depth = 0
    pending: BaseException | None = None


class undisturbed:
    """Let a few steps finish: an interrupt of the run (Ctrl-C, SIGTERM, its time limit) that
    arrives meanwhile, in the main thread, is raised after them.

    >>> with undisturbed():
    ...     os.rename(new, path)
    ...     note_the_rename(path)
    """

    __slots__ = ("_counts",)

    def __enter__(self) -> None:
        self._counts = not _Pause.depth and in_main_thread()  # else another one does it all
        _Pause.depth += self._counts

    def __exit__(self, *problem: object) -> None:
        if not self._counts:
            return
        _Pause.depth -= 1
        if not _Pause.depth and _Pause.pending is not None:
            pending, _Pause.pending = _Pause.pending, None
            raise pending


def interrupt(error: BaseException) -> None:
    """Raise an interrupt of the run, now or after a protected section (engine only)."""
    if not _Pause.depth:
        raise error
    _Pause.pending = error


def is_interrupted() -> bool:
    """Return whether an interrupt waits for the end of a protected section, which should then wait
    for nothing itself (engine only).
    """
    return _Pause.pending is not None


# ---------------------------------------------------------------- looking, fetching, changing

_changes_allowed: ContextVar[bool] = ContextVar("changes_allowed", default=False)


class ChangeNotAllowed(Exception):
    """A changer was called while nothing may be changed: a bug in the caller, a state function."""


class changes_allowed:  # in lower case: used as a function; a generator costs more
    """Allow changers (engine and tests only)."""

    __slots__ = ("_token",)

    def __enter__(self) -> None:
        self._token = _changes_allowed.set(True)

    def __exit__(self, *problem: object) -> None:
        _changes_allowed.reset(self._token)


at_present = GROUP_COMMIT.at_present


def make_names_durable(for_program: bool = False) -> None:
    """Pass a commit point: what states have written until now has its name and outlives a power
    loss, before anything else goes by it. Raises StateFailed where it would not. for_program: one
    that may write what the state has looked at.
    """
    looks = for_program and not _changes_allowed.get()
    GROUP_COMMIT.look_around() if looks else GROUP_COMMIT.write_at_once()
    if problem := folder_syncs.FOLDER_SYNCS.commit():
        raise StateFailed(f"nothing was done: {problem}", changes={})
    if for_program and not looks:
        here.versions.clear()


if TYPE_CHECKING:

    @overload
    def changer(function: Callable[P, R], /) -> Callable[P, R]: ...
    @overload
    def changer(
        *,
        touches: Iterable[str] | None = None,
        before: Callable[..., object] | None = None,
        planned: Callable[..., object] | ModuleType | bool = False,
        planned_touches: Iterable[str] | None = None,
        waits: bool = False,
    ) -> Callable[[Callable[P, R]], Callable[P, R]]: ...


def changer(
    function: Any = None,
    /,
    *,
    touches: Iterable[str] | None = None,
    before: Any = None,
    planned: Any = False,
    planned_touches: Iterable[str] | None = None,
    waits: bool = False,
) -> Any:
    """Declare a function that alters the machine.

    It refuses to run (ChangeNotAllowed) before the yield of a state function, in a dry run and in
    templates; each call is an event for the history.

    touches: the topics of `cached_look` whose answers it makes stale; None (the default): all.
    The event names the first argument: a text or words as they are, of a mapping its keys, of a
    record its name, path or host. It is no place for contents and secrets.

    before: called with the same arguments before the change; its answer describes the former state,
    for the history and undo, also for the changers that this one calls: facts of a path, a
    FormerState, {"several": [...]}, or {} for what leaves nothing to restore. None: undo cannot
    restore this.

    planned: what a dry run calls instead, with the same arguments, to alter the planned machine as
    this alters the machine (and to answer what this answers); a module: its function of the same
    name, which a real run need not execute. True: the function itself, as all that it alters it
    alters by other changers. False: what it would do cannot be foreseen; the states that follow
    are judged by the facts that the Plan `provides`. planned_touches: as touches, for what is
    called instead: answers about the machine itself stay as they are. None: those of touches.
    waits: what it makes may wait for its place (`runner.api.durability`).

    >>> @changer(touches=["users"])
    ... def delete(name: str) -> None: ...
    """

    def wrap(inner: Callable[P, R]) -> Callable[P, R]:
        topics = None if touches is None else frozenset(touches)
        planned_topics = topics if planned_touches is None else frozenset(planned_touches)

        @wraps(inner)
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            name = f"{known_as(inner.__module__)}.{inner.__name__}"
            if _changes_allowed.get():
                at_once = not (waits and GROUP_COMMIT.is_collecting)
                if at_once and topics != frozenset(("files",)):
                    make_names_durable()
                try:
                    target = former_state.target_of(inner, args, kwargs)
                    was = before(*args, **kwargs) if before else None
                    with former_state.recorded(was) as restorable:
                        current = _here.get()
                        later = waits and GROUP_COMMIT.is_collecting  # `before` may have ended that
                        said = (name, target, was, current.chunk, None, restorable, later)
                        current.emit(ChangerCalled._make(said))
                        answer = inner(*args, **kwargs)
                        current.has_changed = True
                        return answer
                finally:
                    forget_looks(topics)
            if not (planning.is_planning() and here.dry):  # else a stand-in would do it
                raise ChangeNotAllowed(
                    f"modules.{name} changes the machine and was called while looking"
                )
            if not planned:
                raise planning.Unforeseen(name)
            try:
                if planned is True:
                    return inner(*args, **kwargs)
                instead = planned if callable(planned) else getattr(planned, inner.__name__)
                planned_answer: R = planning.stand_in(instead, args, kwargs)
                return planned_answer
            finally:
                forget_looks(planned_topics)

        call.__dict__["changes_the_machine"] = True
        return call

    return wrap(function) if function is not None else wrap


if TYPE_CHECKING:

    @overload
    def fetcher(function: Callable[P, R], /) -> Callable[P, R]: ...
    @overload
    def fetcher(*, refreshes: str) -> Callable[[Callable[P, R]], Callable[P, R | None]]: ...


def fetcher(function: Any = None, /, *, refreshes: str | None = None) -> Any:
    """Declare a function that writes only below the cache folder or `here.scratch()`, and so may
    run in every mode.

    refreshes: the system's own cache that it renews ("apt lists"): then it does nothing (returns
    None) in a dry run, and runs at most once a run unless a changer dropped that topic in between.
    None (the default): it renews nothing.

    >>> @fetcher
    ... def download(url: str) -> str: ...
    """

    def wrap(inner: Callable[P, R]) -> Callable[P, R | None]:
        @wraps(inner)
        def call(*args: P.args, **kwargs: P.kwargs) -> R | None:
            if refreshes is None:
                return inner(*args, **kwargs)
            done = here.store("cached_look").setdefault(refreshes, {})
            if here.dry:
                return None
            key = ("refreshed", inner.__qualname__, repr((args, kwargs)))
            if key not in done:
                done[key] = ({}, inner(*args, **kwargs))
            answer: R = done[key][1]
            return answer

        call.__dict__["fetches"] = True
        return call

    return wrap(function) if function is not None else wrap


def for_states(function: Callable[P, R]) -> Callable[P, R]:
    """Declare a function of a module that is for states and other modules alone: it is no execution
    function, so that `runner call`, templates, completion and the reference do not have it.

    >>> @for_states
    ... def refuse_place(folder): ...
    """
    function.__dict__["for_states"] = True
    return function


def cached_look(topic: str, *paths: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Declare a look whose answer is kept for the run, until a changer touches its topic (or does
    not declare what it touches).

    topic: the name that changers give as `touches`.
    paths: files and folders that change with the answer, whoever changes it; {0} is the look's
    first argument; * stands for any file or folder.

    >>> @cached_look("packages", "/var/lib/dpkg/status")
    ... def installed() -> dict[str, str]: ...
    """

    def wrap(inner: Callable[P, R]) -> Callable[P, R]:
        @wraps(inner)
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            answers = here.store("cached_look").setdefault(topic, {})
            key = (inner.__module__, inner.__qualname__, repr((args, kwargs)))
            named = (path.format(*args, *kwargs.values()) for path in paths)
            stamps = {path: _stamp(path) for path in named}
            if here.chunk is not None:
                here.versions.update(stamps)
            answer = answers.get(key)
            if answer is None or answer[0] != stamps:
                answers[key] = answer = (stamps, LOG.asked(topic, inner, *args, **kwargs))
            told: R = answer[1]
            return told

        return call

    return wrap


def _stamp(path: str) -> tuple[Any, ...]:
    if "*" in path:
        return tuple((match, _stamp(match)) for match in sorted(glob.glob(path)))
    return version_at(at_present(path))


def open_input(path: str) -> int:
    """As of `runner.support.files.links`, for looks."""
    return links.open_input(path)


def forget_looks(topics: frozenset[str] | None, *planned: str) -> None:
    """Drop the answers of `cached_look` on some topics (None: on all). planned: where the planned
    machine alone was altered; an answer that goes by other files stays, as programs see no plan.
    """
    answers = _here.get().store("cached_look")
    for topic in list(answers) if topics is None else topics & answers.keys():
        known = answers[topic]
        for key in [key for key, (files, _) in known.items() if not _are_others(files, planned)]:
            del known[key]


def _are_others(files: Collection[str], planned: Collection[str]) -> bool:
    """Return whether both are known, and no file is among some paths, above or below one."""
    return bool(files and planned) and not any(
        "*" in file or paths.lies_in(path, file) or paths.lies_in(file, path)
        for file in files
        for path in planned
    )


# ---------------------------------------------------------------- loaded by those who use them


def on_demand(
    package: dict[str, Any], of: Mapping[str, str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """The `__getattr__` and `__dir__` of a package (its globals()), for names that lie in parts of
    it, each imported when it is asked for.
    """

    def asked(name: str) -> Any:
        if name not in of:
            raise AttributeError(f"module {package['__name__']!r} has no attribute {name!r}")
        value = getattr(import_module(f"{package['__name__']}.{of[name]}"), name)
        return value if name == of[name] else package.setdefault(name, value)

    return asked, lambda: [*package, *of]


_LATER = {"StateModule": "state_module", "Resource": "resource", "SCHEDULE": "scheduled"}
_LATER |= dict.fromkeys("CURRENT Kind Property WANTED Wording comes_after".split(), "kinds")
_LATER |= dict.fromkeys("Feature ProviderModule Providers".split(), "providers")
_LATER |= {"combine_plans": "composition", "ended_with_run": "programs"}
_LATER |= dict.fromkeys("Fact OPEN Open open_at".split(), "facts")
_LATER |= dict.fromkeys("Here OwnFolder Tree".split(), "current_run")
_LATER |= {"check_later": "later", "forget_check": "later", "Provider": "provider"}
_PLANNING = "Unforeseen foreseen_failures is_planning leave_pending planned_as promised"
_LATER |= dict.fromkeys([*_PLANNING.split(), "refuse_unforeseen"], "planning")
_OF_MODEL = {"FormerState": former_state, "key_folder": said_in, "texts_in": plain_values}
_OF_MODEL |= dict.fromkeys(("folders_above", "lies_in", "unescaped"), paths)


def __getattr__(name: str) -> Any:
    if name not in _LATER and name not in _OF_MODEL:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    of = _OF_MODEL.get(name) or import_module(f"runner.api.{_LATER[name]}")
    return getattr(of, name)
