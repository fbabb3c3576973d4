# SPDX-License-Identifier: Apache-2.0
"""The process that stays: it sleeps in one poll(2), and has states looked at when something tells.

It compiles nothing itself: `plan_process.py` does, and each look and each run is a process of its
own. What it keeps is who looks at what, and which states are not as they should be.
"""

from __future__ import annotations

import os
import select
import signal
import socket
import time
from collections import deque
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress

from runner.model.records import Record
from runner.output.text import on_one_line
from runner.tools.watch import mounts, network
from runner.tools.watch import status as told
from runner.tools.watch.acts import DRIFT, REPORT
from runner.tools.watch.fanotify import Authors
from runner.tools.watch.inotify import Inotify
from runner.tools.watch.interests import Interests
from runner.tools.watch.plan_process import Answer, Make, PlanProcess
from runner.tools.watch.reach import Reach
from runner.tools.watch.status import Deviation, Status
from runner.tools.watch.watched_by import Look, Watched, watched_by

SETTLE, LONGEST_SETTLE = 0.2, 2.0  # seconds of quiet after an event, and what it may take at most
MINUTE, MOST_ACTS, MOST_LOOKS = 60.0, 3, 30  # in a minute on one state: then it is left alone
AGAIN = 5.0  # seconds until a tree is compiled again whose process has died
CHANGED = " changed"
POLL = 10.0  # seconds between looks at file systems that others change without a word,
MOST_POLLING = 0.002  # and the part of a processor's time that they may take
COARSE = 0.01  # seconds that the times of files may be behind the clock
LONGEST_SLEEP = 86_400.0  # seconds: poll(2) takes no more than some weeks
TREE, EDITED = (
    "",
    " ",
)  # whose looks the folders of the tree are, and the files of it that were read
_SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


class Settings(Record):
    """How to watch. every: seconds between looks at everything. names: SLS files; none: those of
    the top file.
    """

    state_dir: str
    act: str = REPORT
    every: float = 1800.0
    names: tuple[str, ...] = ()


class Moment(Record):
    """A moment of the clock that people set, and of the one that nobody sets."""

    clock: float
    steady: float

    @classmethod
    def now(cls, early: float = 0.0) -> Moment:
        return cls(time.time() - early, time.monotonic() - early)

    @property
    def since(self) -> float:
        """Seconds since 1970 that no change since then has an earlier time than, even where the
        clock was set meanwhile.
        """
        return min(self.clock, time.time() - (time.monotonic() - self.steady))


class Job(Record):
    """A question that is being answered. tags: None for all states. began: when; of one about
    all states when the tree began to be compiled. is_first: it is the first one about another plan.
    """

    what: str
    tags: list[str] | None
    event: str
    began: Moment
    is_first: bool = False


class Resident:
    """Watches until a signal ends it."""

    def __init__(
        self,
        settings: Settings,
        make: Make,
        tell: Callable[[str], None],
        leave: Callable[[], None] = lambda: None,
    ) -> None:
        """tell: prints a line. leave: gives up, in a child, what is the caller's."""
        self._settings, self._make, self._tell, self._leave = settings, make, tell, leave
        self._inotify, self._authors = Inotify(), Authors()
        self._mounts = os.open(mounts.PATH, os.O_RDONLY | os.O_CLOEXEC)
        self._mounted = mounts.lines(self._mounts)
        self._polled = mounts.Polled(self._mounted)
        self._reach = Reach(self._polled)
        self._silent = set[str]()  # where servers are mounted that do not answer,
        self._waiting: dict[str, str] = {}  # and who is not looked at until they do
        self._interests = Interests(self._inotify, self._authors, self._reach)
        self._next_poll = 0.0
        self._network: socket.socket | None = None  # while somebody goes by it
        self._wake, self._waker = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        self._plan: PlanProcess | None = None  # the last good one
        self._next: PlanProcess | None = None  # one that compiles
        self._states: dict[str, str] = {}
        self._dependents: dict[str, list[str]] = {}
        self._looks: dict[str, Watched] = {}
        self._sources: dict[str, Iterable[Look]] = {}
        # the plan is another one: what was left alone has a chance; then, the look at it is to come
        self._is_renewed = self._is_fresh = True
        self._pending: dict[str, str] = {}  # by tag, what was seen
        self._seen_first = self._seen_last = 0.0  # monotonic
        self._job: Job | None = None
        self._is_stale = False  # the tree is to be compiled
        self._compiled = Moment.now()  # when that was begun last
        self._all_due = False
        self._looked = time.monotonic()  # at all states
        self._acts: dict[str, deque[float]] = {}
        self._checks: dict[str, deque[float]] = {}
        self._deviations: dict[str, Deviation] = {}
        self._left_alone = set[str]()
        self._later: dict[str, str] = {}  # looked at too often: what was seen of them since
        self._later_due = 0.0
        self._ended: list[PlanProcess] = []  # of plans that are not used any more
        self._next_look = time.monotonic() + settings.every
        self._sign_of_life = _sign_of_life()
        self._next_sign = time.monotonic() + self._sign_of_life
        self._stopping = 0
        self._metrics = self._not_measured = ""  # where they are written, and why not
        self._status = Status(
            os.getpid(), time.time(), settings.act, settings.every, list(settings.names)
        )

    # -------------------------------------------------- the loop

    def run(self) -> None:
        """Watch until a signal comes."""
        before = {number: signal.signal(number, self._stop) for number in _SIGNALS}
        wakeup = signal.set_wakeup_fd(self._waker)
        try:
            self._compile()
            while not self._stopping:
                self._wait()
                self._advance()
        finally:
            signal.set_wakeup_fd(wakeup)
            told.notify(STOPPING="1")
            self._end()
            for number, handler in before.items():
                signal.signal(number, handler)
            told.remove(self._settings.state_dir)
            told.measure(self._metrics, None)

    def _stop(self, number: int, frame: object) -> None:
        self._stopping = number

    def _wait(self) -> None:
        """Sleep until something tells, or something is due."""
        poll = select.poll()
        poll.register(self._inotify.descriptor, select.POLLIN)
        poll.register(self._wake, select.POLLIN)
        poll.register(self._mounts, select.POLLPRI)
        for process in filter(None, (self._plan, self._next)):
            poll.register(process.channel, select.POLLIN)
        if self._network:
            poll.register(self._network, select.POLLIN)
        if self._authors.descriptor >= 0:
            poll.register(self._authors.descriptor, select.POLLIN)
        ready = dict(poll.poll(max(0, self._until_due()) * 1000))
        self._authors.read()  # first: who has changed something may soon be gone
        if self._wake in ready:
            with suppress(BlockingIOError):
                os.read(self._wake, 1024)
        if self._mounts in ready:
            before, self._mounted = self._mounted, mounts.lines(self._mounts)
            self._polled = self._reach.mounted = mounts.Polled(self._mounted)
            self._interests.look_again(mounts.points(before ^ self._mounted))
            who = [tag for tag, watched in self._looks.items() if watched.mounts]
            self._note(dict.fromkeys(who, "the table of mounts"))
            self._watch(Moment.now())
        if self._network and self._network.fileno() in ready:
            network.read(self._network)
            self._note(dict.fromkeys(self._by_network(), "the network"))
        if self._inotify.descriptor in ready:
            self._note(self._interests.touched(self._inotify.events()))
        for process in filter(None, (self._next, self._plan)):
            if process.channel.fileno() in ready:
                self._heard(process)

    def _until_due(self) -> float:
        due = [self._next_look, self._next_sign]
        if self._polls:
            due.append(self._next_poll)
        if (self._is_stale and self._may_compile) or (self._pending and self._is_idle):
            due.append(self._settled_at())
        if self._later and self._is_idle:
            due.append(self._later_due)
        return min(min(due) - time.monotonic(), LONGEST_SLEEP)

    @property
    def _may_compile(self) -> bool:
        """Return whether nothing is under way: what was compiled last has been looked at; and no
        server that does not answer has the tree.
        """
        reads = self._waiting.keys().isdisjoint((TREE, EDITED))
        return self._job is None and self._next is None and not self._all_due and reads

    @property
    def _polls(self) -> bool:
        """Return whether somebody has to be asked: a look may be held up."""
        return bool(self._interests.polls or self._silent or (self._job and self._polled.servers))

    @property
    def _is_idle(self) -> bool:
        """Return whether a question can be asked."""
        return self._job is None and self._plan is not None and self._next is None

    def _settled_at(self) -> float:
        return min(self._seen_last + SETTLE, self._seen_first + LONGEST_SETTLE)

    def _note(self, touched: Mapping[str, str]) -> None:
        """Note what was seen, but of those that nobody looks at for now."""
        now, rest = time.monotonic(), self._left_alone | self._later.keys()
        news = {tag: what for tag, what in touched.items() if tag not in rest}
        if not news:
            return
        if not (self._pending or self._is_stale):
            self._seen_first = now
        self._seen_last = now
        self._is_stale |= not news.keys().isdisjoint((TREE, EDITED))
        self._is_renewed |= news.pop(EDITED, None) is not None
        news.pop(TREE, None)
        for tag, what in news.items():
            self._pending.setdefault(tag, what)

    def _advance(self) -> None:
        """Begin with what is due, one thing at a time."""
        now = time.monotonic()
        if now >= self._next_look:
            self._next_look = now + self._settings.every
            self._is_stale, self._is_renewed, self._seen_first = True, True, 0.0
            self._checks.pop(TREE, None)
        if self._is_stale and self._may_compile and now >= self._settled_at():
            if self._too_often([TREE], self._checks, MOST_LOOKS):
                self._is_stale = False
                self._postpone(TREE, "the tree")
            else:
                self._compile()
        if self._polls and now >= self._next_poll:
            self._poll()
        if now >= self._next_sign:
            told.notify(WATCHDOG="1")
            self._next_sign = now + self._sign_of_life
        self._ended = [process for process in self._ended if not process.collect(wait=False)]
        if not self._is_idle:
            return
        if self._later and now >= self._later_due:
            later, self._later = self._later, {}
            self._note(later)
        if self._all_due:
            self._all_due, self._looked = False, now
            self._pending.clear()
            self._ask("look", None, "all states")
        elif self._pending and now >= self._settled_at():
            self._watch(Moment.now())  # before the look, as ways may lead elsewhere
            pending, self._pending = self._pending, {}
            paths = sorted(set(pending.values()))[:3]
            by = self._authors.of(paths)
            self._look(pending, on_one_line(", ".join(paths) + CHANGED + by))

    # -------------------------------------------------- the plan

    def _compile(self) -> None:
        self._is_stale, self._compiled = False, Moment.now()
        self._next = PlanProcess(self._make, self._leave_all)

    def _leave_all(self) -> None:
        """Give up, in a child, what is this process's."""
        signal.set_wakeup_fd(-1)
        for name in ("NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"):  # it speaks for itself
            os.environ.pop(name, None)
        for number in _SIGNALS:
            signal.signal(number, signal.SIG_DFL)
        self._leave()
        for process in filter(None, (self._plan, self._next)):
            process.channel.close()
        for descriptor in (self._inotify.descriptor, self._mounts, self._wake, self._waker):
            os.close(descriptor)
        self._authors.close()
        if self._network:
            self._network.close()

    def _heard(self, process: PlanProcess) -> None:
        try:
            answers = process.answers()
        except EOFError:
            self._lost(process)
            return
        for answer in answers:
            if "facts" in answer:
                self._take_plan(process, **answer)
            elif "sources" in answer:
                self._take_problem(process, answer["sources"])
            elif process is self._plan:
                self._answered(answer)

    def _take_problem(self, process: PlanProcess, sources: Answer | None) -> None:
        """The tree does not compile: that is told, and it is read again when it is edited."""
        self._next = None
        process.close()
        self._ended.append(process)
        if sources:
            self._add_sources(**sources)
        else:  # the configuration cannot be read
            self._next_look = min(self._next_look, time.monotonic() + MINUTE)
        if self._plan and time.monotonic() > self._looked + self._settings.every / 2:
            self._all_due = True  # the timer alone tells of some
        instead = "the plan from before is used" if self._plan else "it is watched until it does"
        problem = f"the tree does not compile: {instead}"
        self._status = self._status._replace(problem=problem)
        self._tell(problem)
        self._watch(self._compiled)
        told.notify(READY="1")
        self._ready()

    def _take_plan(self, process: PlanProcess, sources: Answer, facts: Answer) -> None:
        if self._plan is not None:
            self._plan.close()  # it ends when its child has
            self._ended.append(self._plan)
        self._plan, self._next = process, None
        self._states, self._dependents = facts["states"], facts["dependents"]
        if facts["metrics"] != self._metrics:
            told.measure(self._metrics, None)
            self._metrics = facts["metrics"]
        self._sources = {}
        self._add_sources(**sources)
        self._interests.look_again()
        self._looks = {tag: by for tag, by in self._looks.items() if tag in self._states}
        if self._is_renewed:
            self._is_renewed, self._is_fresh = False, True
            self._left_alone.clear()
            self._acts.clear()
        self._deviations = {
            tag: known if tag in self._left_alone else known._replace(left_alone="")
            for tag, known in self._deviations.items()
            if tag in self._states
        }
        self._job = None
        self._all_due = True
        # before the first look, which may have to wait for the run that has this started
        told.notify(READY="1", STATUS=f"looking at {len(self._states)} states")
        self._status = self._status._replace(
            planned=time.time(), problem="", states=len(self._states)
        )

    def _add_sources(
        self, files: Iterable[str], folders: Iterable[Look] = (), own: Iterable[str] = ()
    ) -> None:
        """Watch files of the tree that were read, and its folders. own: what runner writes."""
        self._interests.own |= frozenset(own)
        looks: list[Look] = [("path", path) for path in files]
        for who, more in (TREE, map(tuple, folders)), (EDITED, looks):
            self._sources[who] = dict.fromkeys([*self._sources.get(who, ()), *more])

    def _lost(self, process: PlanProcess) -> None:
        """A process of a plan has been killed."""
        process.close()
        process.collect()
        if process is self._next:
            self._next = None
        elif process is self._plan:
            self._plan, self._job, self._all_due = None, None, False
        self._next_look = min(self._next_look, time.monotonic() + AGAIN)

    # -------------------------------------------------- looks and runs

    def _look(self, touched: Iterable[str], event: str) -> None:
        """Look at states, and at those that depend on them."""
        tags, waiting = dict[str, None](), [tag for tag in touched if tag in self._states]
        while waiting:
            tag = waiting.pop()
            if tag not in tags and tag not in self._left_alone:
                tags[tag] = None
                waiting += self._dependents.get(tag, ())
        for tag in self._too_often(tags, self._checks, MOST_LOOKS):
            del tags[tag]
            self._postpone(tag, _seen(event))
        if tags:
            self._ask("find" if self._is_told_at_once(tags) else "look", [*tags], event)

    def _is_told_at_once(self, tags: Iterable[str]) -> bool:
        """Return whether all that a look finds is to be told, and no more: one process does that.
        A look alone keeps no run of somebody else from starting.
        """
        return self._settings.act != DRIFT and not any(
            tag in self._deviations or self._is_often(self._acts.get(tag, ()), MOST_ACTS)
            for tag in tags
        )

    def _postpone(self, tag: str, what: str) -> None:
        """Have something that was seen wait for a minute."""
        if not self._later:
            self._later_due = time.monotonic() + MINUTE
        self._later[tag] = what

    def _too_often(
        self, tags: Iterable[str], times: dict[str, deque[float]], most: int
    ) -> list[str]:
        """Count a round for some states; returns those that have had too many in a minute."""
        too_often = []
        for tag in tags:
            past = times.setdefault(tag, deque(maxlen=most))
            if self._is_often(past, most):
                too_often.append(tag)
            else:
                past.append(time.monotonic())
        return too_often

    def _is_often(self, past: Sequence[float], most: int) -> bool:
        return len(past) == most and past[0] > time.monotonic() - MINUTE

    def _leave_alone(self, tag: str, why: str) -> None:
        self._left_alone.add(tag)
        self._tell(f"{self._states[tag]} is left alone until all is looked at again: {why}")
        self._deviations[tag] = self._deviations[tag]._replace(left_alone=why)

    def _ask(self, what: str, tags: list[str] | None, event: str) -> None:
        assert self._plan is not None
        if self._waiting:
            every = self._states if tags is None else tags
            tags = [tag for tag in every if tag not in self._waiting]
            if not tags:
                self._ready()
                return
        began = self._compiled if tags is None else Moment.now(COARSE)
        self._job = Job(what, tags, event, began, self._is_fresh)
        self._is_fresh = False
        try:
            self._plan.ask(what, tags, event)
        except OSError:
            self._lost(self._plan)

    def _answered(self, answer: Answer) -> None:
        job, self._job = self._job, None
        if job is None:
            return
        if "outdated" in answer:  # the tree is another one since it was asked
            self._is_stale = self._is_renewed = True
            self._note(dict.fromkeys(job.tags or (), _seen(job.event)))
            return
        if "outcomes" not in answer:
            self._tell(f"a process that was to {job.what} ended early")
            self._next_look = min(self._next_look, time.monotonic() + MINUTE)
            self._note(dict.fromkeys(job.tags or (), _seen(job.event)))
            return
        for tag, looks in answer["looks"].items():
            self._looks[tag] = watched_by((kind, name) for kind, name in looks)
        self._add_sources(answer["files"])
        job = job._replace(event=answer["event"])
        if job.tags is None:
            self._status = self._status._replace(looked=time.time())
        found = self._judge(job, answer["outcomes"])
        self._watch(job.began)
        if found and (job.what == "look" or "only_looked" in answer):
            self._act(found, job)
            return
        if job.what == "find":
            self._too_often(found, self._acts, MOST_ACTS)
        self._ready()

    def _judge(self, job: Job, outcomes: Mapping[str, str]) -> list[str]:
        """Note how states are; returns those that something is to be done about."""
        looked_at = self._states if job.tags is None else job.tags
        found = []
        for tag in looked_at:
            known = self._deviations.get(tag)
            if tag not in outcomes:
                self._deviations.pop(tag, None)
                self._left_alone.discard(tag)
                continue
            is_told_again = self._settings.act == DRIFT or (
                self._settings.act == REPORT and job.tags is None
            )
            if tag not in self._left_alone and (known is None or is_told_again):
                found.append(tag)
            self._deviations[tag] = Deviation(
                self._states[tag],
                outcomes[tag],
                job.event if known is None else known.event,
                time.time() if known is None else known.since,
                "" if known is None else known.left_alone,
            )
        return found

    def _act(self, found: Collection[str], seen: Job) -> None:
        """Report states, or put them right. seen: the look that has found them."""
        fought = [] if seen.is_first else self._too_often(found, self._acts, MOST_ACTS)
        for tag in fought:
            self._leave_alone(tag, f"it was found otherwise {MOST_ACTS} times in a minute")
        tags = [tag for tag in found if tag not in fought]
        if tags:
            self._ask("act", tags, seen.event)
        else:
            self._ready()

    # -------------------------------------------------- what is watched, and told

    def _watch(self, began: Moment) -> None:
        places: dict[str, Iterable[Look]] = {
            tag: watched.places for tag, watched in self._looks.items()
        }
        if not self._network and (who := self._by_network()):
            self._network = network.opened()
            if self._network:  # of what changed before, nothing has told
                self._note(dict.fromkeys(who, "the network"))
        before = bool(self._interests.unwatched)
        changed = self._interests.update({**self._sources, **places}, began.since)
        if self._interests.unwatched and not before:
            self._tell(f"{self._inotify.lack}: the timer alone looks at what is left")
        self._note(changed)
        if self._polled.any or self._interests.polls:
            self._poll()

    def _poll(self) -> None:
        """Look for what the kernel does not tell."""
        began = time.process_time()
        self._note(self._interests.poll(self._polled.has))
        self._hear_servers()
        spent = time.process_time() - began
        self._next_poll = time.monotonic() + max(POLL, spent / MOST_POLLING)

    def _hear_servers(self) -> None:
        """Note which servers do not answer any more, and which do again."""
        self._reach.ask()
        before, self._silent = self._silent, self._reach.silent
        for point in sorted(self._silent - before):
            named = {tag for tag in self._states if f"{point}/" in tag or f"{point}_|-" in tag}
            for who in self._interests.through(point) | named:  # not all was looked at before
                self._waiting.setdefault(who, point)
            self._tell(f"{point} does not answer: what is looked at there waits until it does")
            if self._job and self._job.what != "act" and self._plan:
                self._plan.kill()  # it may wait there; some waits outlive that,
                self._lost(self._plan)  # so that nothing is awaited of it
        for point in sorted(before - self._silent):
            is_there = point in self._polled.servers
            self._tell(f"{point} {'answers again' if is_there else 'is not mounted any more'}")
            self._interests.look_again([point])
            back = [who for who, where in self._waiting.items() if where == point]
            for who in back:
                del self._waiting[who]
            self._note(dict.fromkeys(back, point))

    def _by_network(self) -> list[str]:
        """Return the states that go by the kernel's network."""
        return [tag for tag, watched in self._looks.items() if watched.network]

    def _ready(self) -> None:
        """A round has ended: tell how it is."""
        kinds = self._looks.values()
        self._status = self._status._replace(
            deviations=[*self._deviations.values()],
            by_timer=len(self._states) - sum(watched.is_certain for watched in kinds),
            unwatched=len(self._interests.unwatched - {TREE, EDITED}),
            lack=self._inotify.lack if self._interests.unwatched else "",
        )
        told.write(self._settings.state_dir, self._status)
        if self._status.looked:
            self._measure()
        count, others = len(self._states), len(self._deviations)
        text = f"watching {count} states, {others} not as they should be"
        if self._status.problem:
            text = f"{text}; {self._status.problem}" if self._plan else self._status.problem
        told.notify(STATUS=text, WATCHDOG="1")
        self._next_sign = time.monotonic() + self._sign_of_life

    def _measure(self) -> None:
        problem = told.measure(self._metrics, self._status)
        if problem and problem != self._not_measured:
            self._tell(f"warning: {problem}")
        self._not_measured = problem

    def _end(self) -> None:
        for process in filter(None, (self._plan, self._next)):
            process.end()
        self._inotify.close()
        self._authors.close()
        for descriptor in (self._mounts, self._wake, self._waker):
            os.close(descriptor)
        if self._network:
            self._network.close()


def wait_for(path: str, why: str) -> None:
    """Sleep until something changes at a path, or for a minute. why: said of that meanwhile."""
    watches, authors, end = Inotify(), Authors(), time.monotonic() + MINUTE
    interests, poll = Interests(watches, authors), select.poll()
    poll.register(watches.descriptor, select.POLLIN)
    interests.update({path: [("path", path)]}, time.time())
    told.notify(READY="1", STATUS=why)
    while time.monotonic() < end and not interests.touched(watches.events()):
        told.notify(WATCHDOG="1")
        poll.poll(min(_sign_of_life(), MINUTE) * 1000)
    watches.close()
    authors.close()


def _sign_of_life() -> float:
    """Seconds between signs of life: half of what systemd waits for one."""
    return int(os.environ.get("WATCHDOG_USEC") or 0) / 2e6 or LONGEST_SLEEP


def _seen(event: str) -> str:
    """What was seen of an event, without who has done it."""
    return event.partition(CHANGED)[0]
