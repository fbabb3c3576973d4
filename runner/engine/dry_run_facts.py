# SPDX-License-Identifier: Apache-2.0
"""What a dry run knows of what its plans will have made true."""

from __future__ import annotations

import enum
from collections.abc import Callable, Collection, Iterable, MutableMapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from runner.api import OPEN, Plan, StateFailed, doubts
from runner.model.chunk import Chunk
from runner.model.paths import lies_in
from runner.model.stdlib import pattern

if TYPE_CHECKING:
    from runner.api.doubts import Doubts

# kinds of facts that bring more than looks see on the planned machine: what answers at a service
# that will run, what a package has in it, the systemd of a user who will linger
# of commands: facts of what they put at paths; what their guard says that they create comes surely
MADE = ("created", "made file", "made folder", "made")
RIGHTS = (
    "rights",
    "rights below",
    "rights named",
)  # of a path, of all below it, of what is named so
NAMED = ("user", "group", "service", "command")  # kinds of what scripts make by its name
BRINGING = ("service", "pkg", "command", "linger")

# what a command of a plain user becomes root with
_AS_ROOT = pattern(r"(^|[\s;&|(/])(sudo|doas|pkexec|run0|su)\s")


class Foreseen(enum.IntEnum):
    """Who sees what a pending plan makes."""

    NOT = 0  # nobody
    BY_LOOKS = 1  # looks of states do
    IN_FILES = 2  # commands do, too: it makes nothing but files


class PendingFacts:
    """Facts that plans provide, and the states after which anything may be."""

    def __init__(self) -> None:
        self.facts: dict[object, str] = {}  # fact -> "state: ID"
        self.seen: dict[object, str] = {}  # those that looks see; commands of guards may not
        self._foreseen: dict[str, Foreseen] = {}  # by "state: ID"
        # after these anything may be there: with packages, what packages bring
        self._open: dict[str, frozenset[str]] = {}
        self._by_root: dict[str, None] = {}  # those of them whose commands run as root
        self._altered: dict[str, str] = {}  # paths that commands name
        # paths that may be there afterwards, by what is made
        self._made: dict[str, dict[str, str]] = {kind: {} for kind in MADE}
        # by state, what its scripts are about; accounts and services that they may alter
        self._named: dict[str, frozenset[str]] = {}
        self._called: dict[str, frozenset[str]] = {}
        # whose owners and modes scripts alter
        self._rights: dict[str, dict[str, str]] = {kind: {} for kind in RIGHTS}
        self._starting: set[str] = set()  # states that have programs of a service run
        self._doubted: set[str] = set()  # states that say what they alter or bring

    def is_doubted(self, state: str) -> bool:
        """Return whether looks doubt all that a pending state may bring."""
        return state in self._doubted and self._open.get(state) != frozenset()

    @property
    def open_by(self) -> str:
        """The first state after which anything may be there, be it in no package; empty without
        one.
        """
        return next((state for state, packages in self._open.items() if not packages), "")

    def doubts(
        self, required: Callable[[], Sequence[str]], settled: Collection[str], rights_in: str = ""
    ) -> Doubts | None:
        """Return what a look cannot know; None where all is known. required: as of `brings`.
        settled: paths that were planned since. rights_in: the path of which, with all below it,
        owners and modes are asked for; empty where none are.
        """
        rights = bool(rights_in) and any(self._rights.values())
        paths = any(self._made.values()) or self._altered or rights
        if not (self._open or paths or self.facts or self._named or self._called):
            return None
        packages = {state: names for state, names in self._open.items() if names}
        if len(packages) > 1:
            nearest = {state: packages[state] for state in required() if state in packages}
            packages = nearest | packages
        opened = partial(self.opened_by, required) if self.open_by else None
        pending = packages, self.facts, self._made, self._altered, settled, opened
        changed = partial(self._changes_rights, rights_in) if rights else None
        return doubts.Doubts(*pending, named=self._named, called=self._called, rights=changed)

    def note(self, chunk: Chunk, provides: object, foreseen: Foreseen = Foreseen.NOT) -> None:
        """Note what a pending plan provides."""
        state = f"{chunk.state}: {chunk.id}"
        self._foreseen[state] = min(foreseen, self._foreseen.get(state, foreseen))
        facts = tuple(provides) if isinstance(provides, Iterable) else (provides,)
        for fact in facts:
            if fact is OPEN:
                if foreseen is Foreseen.NOT:
                    self._open[state] = frozenset()
                    if _AS_ROOT.search(f"{chunk.name} {chunk.args.get('cmd', '')}"):
                        self._by_root[state] = None
                continue
            match fact:
                case ("pkg", str(name)) if self._opens_packages(state, foreseen):
                    self._doubted.add(state)
                    self._open[state] = self._open.get(state, frozenset()) | {name}
                case ("altered", str(path)) if foreseen is Foreseen.NOT:
                    self._doubted.add(state)
                    self._altered[path] = state
                case (str(kind), str(path)) if kind in MADE and foreseen is Foreseen.NOT:
                    self._doubted.add(state)
                    self._made[kind][path] = state
                case ("service", _):
                    self._starting.add(state)
                case ("named", _) if foreseen is Foreseen.NOT:
                    self.note_open(chunk, [fact])
            brings = isinstance(fact, tuple) and fact[0] in BRINGING
            seen = foreseen is not Foreseen.NOT and not brings
            (self.seen if seen else self.facts).setdefault(fact, state)

    def note_open(self, chunk: Chunk, facts: Iterable[object]) -> None:
        """Note what stays open although looks see what a plan makes: its scripts may do more."""
        state = f"{chunk.state}: {chunk.id}"
        for fact in facts:
            match fact:
                case ("named" | "called" as kind, str(name)):
                    alike = self._named if kind == "named" else self._called
                    alike[state] = alike.get(state, frozenset()) | {name}
                case ("altered", str(path)):
                    self._altered[path] = state
                case (str(kind), str(named)) if kind in RIGHTS:
                    self._rights[kind][named] = state
                case (str(kind), str(path)) if kind in MADE:
                    self._made[kind][path] = state

    def _opens_packages(self, state: str, foreseen: Foreseen) -> bool:
        return foreseen is Foreseen.NOT and self._open.get(state) != frozenset()

    def brings(self, facts: Iterable[object], required: Sequence[str] = ()) -> str:
        """The state that will have provided one of some facts, or may have; empty when none.

        required: pending states that the one with the question requires, the nearest first: they go
        first, and a service that they start may make anything. A fact of the kind `check` is what a
        program says, which sees the machine as it is: any of them may change it.
        """
        facts = tuple(facts)
        if facts and all(isinstance(fact, tuple) and fact[0] == "right" for fact in facts):
            return next(iter(self._by_root), "")  # only root can give these
        started = (state for state in required if facts and state in self._starting)
        judged = any(isinstance(fact, tuple) and fact[0] == "check" for fact in facts)
        return (
            self._provider(facts)
            or (next(filter(None, map(self.maker_of, facts)), "") if judged else "")
            or self._opens(facts, required)
            or (next(iter(required), "") if judged else "")
            or self._opens(facts, self._open)
            or next(started, "")
        )

    def _opens(self, facts: Sequence[object], states: Iterable[str]) -> str:
        """The first of some states after which one of some facts may be true; of those that bring
        packages one whose packages are named like it.
        """
        able = [state for state in states if state in self._open and self._may(state, facts)]
        names = [str(fact[1]) for fact in facts if isinstance(fact, tuple)]
        alike = (
            state
            for state in able
            if any(doubts.is_named_like(name, self._open[state]) for name in names)
        )
        return next(alike, next(iter(able), ""))

    def _may(self, state: str, facts: Sequence[object]) -> bool:
        packages = self._open[state]
        paths = [fact[1] for fact in facts if isinstance(fact, tuple) and fact[0] == "file"]
        if not packages or not paths or len(paths) < len(facts):
            return True
        return any(doubts.may_be_packaged(str(path), packages) for path in paths)

    def may_bring(self, facts: Collection[object], required: Sequence[str]) -> str:
        """The same for a state that has nothing to do without them: for OPEN, or where a pending
        state is required.
        """
        if self._provider(facts) or not self._open:
            return self._provider(facts)
        known = tuple(fact for fact in facts if fact is not OPEN)
        if OPEN in facts:
            return self.brings(known, required)
        return self._opens(known, required) or next(iter(required), "")

    def opened_by(self, required: Callable[[], Sequence[str]]) -> str:
        """The first required state after which anything may be there; empty when none."""
        opening = {state for state, names in self._open.items() if not names}
        return next(filter(opening.__contains__, required()), "") if opening else ""

    def _changes_rights(self, within: str, path: str) -> str:
        """The state whose scripts may alter the owner or mode of a path in another one."""
        rights = self._rights if lies_in(path, within) else {}
        return next(
            (
                state
                for kind, named_by in rights.items()
                for named, state in named_by.items()
                if path == named
                or (kind == "rights below" and lies_in(path, named))
                or (kind == "rights named" and doubts.is_named_like(path, [named]))
            ),
            "",
        )

    def hindered(self, dry_run_check: Callable[[Plan], object], plan: Plan) -> StateFailed | None:
        """The reason why a plan cannot be carried out, unless a pending one may change that."""
        try:
            dry_run_check(plan)
        except StateFailed as failure:
            return None if self.brings(failure.missing) else failure
        return None

    def is_seen(self, state: str, by_commands: bool) -> bool:
        """Return whether looks, or commands, see what a pending state makes."""
        needed = Foreseen.IN_FILES if by_commands else Foreseen.BY_LOOKS
        return self._foreseen.get(state, Foreseen.NOT) >= needed

    def maker_of(self, fact: object) -> str:
        """The state that provides a fact, for what does not see the planned machine; empty when
        none.
        """
        return self.facts.get(fact) or self.seen.get(fact, "")

    def _provider(self, facts: Iterable[object]) -> str:
        for fact in facts:
            match fact:
                case ("planned", str(path)):  # what asks does not see the planned machine
                    return self._planner(path)
                case ("space", _):  # who knows what a program frees
                    return next(filter(self._runs_programs, self._foreseen), "")
                case _ if fact in self.facts:
                    return self.facts[fact]
                case (kind, str(name)) if kind in NAMED and (by := self._about(name)):
                    return by
                case ("file", str(path)) if maker := self._alters(path):
                    return maker
        return ""

    def _alters(self, path: str) -> str:
        """The state whose command names a path, or one above or below."""
        return next(
            (
                state
                for paths in (self._altered, *self._made.values())
                for named, state in paths.items()
                if lies_in(path, named) or lies_in(named, path)
            ),
            "",
        )

    def _about(self, name: str) -> str:
        """The state whose scripts do something with what is named so."""
        alike = (state for state, names in self._named.items() if doubts.is_named_like(name, names))
        called = (state for state, names in self._called.items() if name in names)
        return next(alike, "") or next(called, "")

    def _runs_programs(self, state: str) -> bool:
        return self._foreseen[state] < Foreseen.IN_FILES

    def _planner(self, path: str) -> str:
        """The state that plans a path or a package, or another one where its Plan does not say."""
        if planner := self.maker_of(("pkg", path)) or self._planner_in(path):
            return planner
        while path not in ("", "/"):
            if found := self.seen.get(("file", path)):
                return found
            path = path.rpartition("/")[0]
        return next(iter(self._foreseen), "")

    def _planner_in(self, folder: str) -> str:
        """The state that plans a path, or something in it; empty when none."""
        for fact, state in self.seen.items():
            match fact:
                case ("file", str(path)) if lies_in(path, folder):
                    return state
        return ""


def unsettle(settled: MutableMapping[str, object], provides: object) -> None:
    """Forget that paths were planned which what a pending state provides may alter again."""
    for fact in provides if isinstance(provides, Iterable) else ():
        match fact:
            case ("pkg", _):
                settled.clear()
            case ("named" | "rights named", str(name)):
                for path in [path for path in settled if doubts.is_named_like(path, [name])]:
                    del settled[path]
            case (str(kind), str(named)) if kind in ("altered", *MADE, *RIGHTS):
                for path in [path for path in settled if lies_in(path, named)]:
                    del settled[path]
