# SPDX-License-Identifier: Apache-2.0
"""A saved plan as values, and as JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from runner.history.saved_plan.machine_key import MachineKey
from runner.history.saved_plan.observations import Observation
from runner.history.saved_plan.tree_revision import TreeRoot
from runner.model.chunk import Chunk
from runner.model.errors import RunnerError
from runner.model.places import Place, Untyped, of_host
from runner.model.plain_values import plain
from runner.model.records import Record
from runner.model.result import Report, Result

FORMAT, VERSION = "runner-plan", 1
DAMAGED = "make it again, or take the file as it was written"
# the fields of a result that a plan keeps, and of what kind they are
SHOWN: Mapping[str, tuple[type, ...]] = {
    "result": (bool, type(None)),
    "comment": (str,),
    "changes": (dict,),
    "ran": (bool,),
    "run_num": (int,),
    "started": (float, int),
    "duration": (float, int),
    "warnings": (list,),
    "extra": (dict,),
    "cause": (str, type(None)),
    "exact": (bool,),
    "undecided": (bool,),
    "owed": (list,),
    "origin": (str,),
    "noop": (bool,),
    "note": (str,),
    "before": (dict,),
    "reaction": (str,),
    "key": (str,),
}


class PlanRequest(Record):
    """What a plan was asked for: the command, its names, and the settings of its command line."""

    command: str  # highstate, sls or single
    names: tuple[str, ...] = ()  # the SLS files, or the state function
    arguments: Mapping[str, Any] = {}  # of the state function
    settings: Mapping[str, Any] = {}


class PlannedState(Record):
    """A state of a plan. result: without secrets; the rest is keyed hashes.

    identity: of the state itself; arguments, requisites: of what the tree says; outcome: of what
    the dry run said, secrets included.
    """

    result: Result
    identity: str
    arguments: Mapping[str, str]
    requisites: str
    outcome: str
    before: tuple[Observation, ...]
    after: tuple[Observation, ...] = ()

    @property
    def title(self) -> str:
        chunk = self.result.chunk
        name = "" if chunk.name == chunk.id else f" ({chunk.name})"
        return f"{chunk.function} {chunk.id}{name}"

    @property
    def word(self) -> str:
        """What the dry run says of it, one of OUTCOMES."""
        return self.result.outcome(dry=True)


class SavedPlan(Record):
    """A plan. machine, host, user: who made it; key: the name of the machine's key; pillar: the
    keyed hash of what `--pillar` gave, empty without one.
    """

    made: str
    version: str  # of runner
    machine: str
    host: str
    user: str
    key: str
    config: str
    typed: str  # the command line, for people
    request: PlanRequest
    pillar: str
    roots: tuple[TreeRoot, ...]
    states: tuple[PlannedState, ...]

    @property
    def report(self) -> Report:
        """The report of its dry run."""
        return Report(tuple(state.result for state in self.states), dry=True)

    @property
    def undecided(self) -> tuple[PlannedState, ...]:
        """The states of which the dry run could not say what they would do."""
        return tuple(state for state in self.states if not state.result.exact)


def planned_state(
    result: Result,
    shown: Result,
    before: tuple[Observation, ...],
    after: tuple[Observation, ...],
    key: MachineKey,
) -> PlannedState:
    """A state of a plan. result: of the dry run, secrets included; shown: without. before, after:
    what it finds, and what it would leave.
    """
    return PlannedState(
        shown,
        identity_of(result.chunk, result.tag, key),
        *chunk_digests(result.chunk, key),
        outcome_digest(result, key),
        before,
        after,
    )


def identity_of(chunk: Chunk, tag: str, key: MachineKey) -> str:
    """The keyed hash of which state it is. tag: of its result."""
    return key.digest([tag, chunk.sls, chunk.env])


def chunk_digests(chunk: Chunk, key: MachineKey) -> tuple[Mapping[str, str], str]:
    """The keyed hashes of the arguments of a state, and of its requisites; equal values of two
    states have different ones.
    """
    requisites = [(str(item.kind), item.state, item.target) for item in chunk.requisites]
    arguments = {
        name: key.digest([chunk.tag, name, value]) for name, value in sorted(chunk.args.items())
    }
    return arguments, key.digest([chunk.tag, requisites])


def outcome_digest(result: Result, key: MachineKey) -> str:
    """The keyed hash of what a state said: result and changes."""
    # the number of a process is another one each time
    changes = {name: value for name, value in result.changes.items() if name != "pid"}
    said = [result.result, result.ran, result.undecided, changes]
    return key.digest([result.tag, *said])


# ---------------------------------------------------------------- to JSON


def document_of(plan: SavedPlan, key: MachineKey) -> dict[str, Any]:
    """The JSON of a plan, which the key authenticates."""
    document = {
        "format": FORMAT,
        "format_version": VERSION,
        **{
            name: value for name, value in plan._asdict().items() if name not in ("states", "roots")
        },
        "request": plain(plan.request._asdict()),
        "roots": [root._asdict() for root in plan.roots],
        "states": [_state_document(state) for state in plan.states],
    }
    return {**document, "authentication": key.authentication(document)}


def _state_document(state: PlannedState) -> dict[str, Any]:
    result, chunk = state.result, state.result.chunk
    source = chunk.place.source
    return {
        "state": chunk.state,
        "function": chunk.fun,
        "id": chunk.id,
        "name": chunk.name,
        "sls": chunk.sls,
        "env": chunk.env,
        "place": [of_host(str(source.file)), source.line, source.column],
        "outcome": state.word,
        **{name: plain(getattr(result, name)) for name in SHOWN},
        "identity": state.identity,
        "argument_hashes": dict(state.arguments),
        "requisites_hash": state.requisites,
        "outcome_hash": state.outcome,
        "before_state": [[item.subject, dict(item.facts)] for item in state.before],
        "after_state": [[item.subject, dict(item.facts)] for item in state.after],
    }


# ---------------------------------------------------------------- from JSON


class DamagedPlan(RunnerError):
    """A file that is no plan, or not the whole of one."""

    code = "plan"


def plan_of(document: Any) -> SavedPlan:
    """The plan that a JSON document holds. Raises DamagedPlan, and RunnerError for one of a newer
    format.
    """
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise DamagedPlan("this is no plan of runner", hint="--plan FILE writes one")
    version = document.get("format_version")
    if isinstance(version, int) and version > VERSION:
        made_by = document.get("version")
        raise RunnerError(
            f"the plan has format {version}, made by runner {made_by}; this one reads {VERSION}",
            hint="apply it with the runner that made it, or make it again",
            code="plan",
        )
    reader = _ValueReader("the plan", document)
    if version != VERSION:
        raise reader.error("format_version")
    request = _ValueReader("request", reader.value("request", dict))
    return SavedPlan(
        **{name: reader.value(name, str) for name in _TEXTS},
        request=PlanRequest(
            request.value("command", str),
            request.texts("names"),
            request.value("arguments", dict),
            request.value("settings", dict),
        ),
        roots=tuple(_root(_ValueReader("roots", item)) for item in reader.value("roots", list)),
        states=tuple(
            _state(_ValueReader(f"states[{number}]", item))
            for number, item in enumerate(reader.value("states", list))
        ),
    )


_TEXTS = ("made", "version", "machine", "host", "user", "key", "config", "typed", "pillar")


class _ValueReader:
    """The values of a mapping, which have to be of the kinds that they should be."""

    def __init__(self, where: str, document: Any) -> None:
        self._where, self._document = where, document
        if not isinstance(document, dict):
            raise DamagedPlan(f"the plan is damaged: {where} is no mapping", hint=DAMAGED)

    def error(self, name: str) -> DamagedPlan:
        return DamagedPlan(
            f"the plan is damaged: {name} of {self._where} is missing or of another kind",
            hint=DAMAGED,
        )

    def value(self, name: str, *kinds: type) -> Any:
        value = self._document.get(name)
        if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
            raise self.error(name)
        return value

    def texts(self, name: str) -> tuple[str, ...]:
        values = self.value(name, list)
        if not all(isinstance(value, str) for value in values):
            raise self.error(name)
        return tuple(values)

    def hashes(self, name: str) -> dict[str, str]:
        return self.mapping(name, self.value(name, dict))

    def mapping(self, name: str, value: Any) -> dict[str, str]:
        if not isinstance(value, dict) or not all(isinstance(item, str) for item in value.values()):
            raise self.error(name)
        return value


def _root(reader: _ValueReader) -> TreeRoot:
    return TreeRoot(
        reader.value("path", str),
        reader.value("digest", str),
        reader.value("commit", str, type(None)),
        reader.value("dirty", bool, type(None)),
    )


def _state(reader: _ValueReader) -> PlannedState:
    values = {name: reader.value(name, *kinds) for name, kinds in SHOWN.items()}
    for name in ("warnings", "owed"):
        values[name] = reader.texts(name)
    return PlannedState(
        Result(_chunk(reader), **values),
        reader.value("identity", str),
        reader.hashes("argument_hashes"),
        reader.value("requisites_hash", str),
        reader.value("outcome_hash", str),
        _observations(reader, "before_state"),
        _observations(reader, "after_state"),
    )


def _observations(reader: _ValueReader, name: str) -> tuple[Observation, ...]:
    items = reader.value(name, list)
    for item in items:
        if not isinstance(item, list) or len(item) != 2 or not isinstance(item[0], str):
            raise reader.error(name)
    return tuple(Observation(subject, reader.mapping(name, facts)) for subject, facts in items)


def _chunk(reader: _ValueReader) -> Chunk:
    state, fun, id_, name, sls, env = (
        reader.value(field, str) for field in ("state", "function", "id", "name", "sls", "env")
    )
    place: Sequence[Any] = reader.value("place", list)
    if [type(part) for part in place] != [str, int, int]:
        raise reader.error("place")
    at = Place(Untyped(place[0]), place[1], place[2])
    return Chunk(state, fun, id_, name, 0, sls, env, {}, {}, (), at)
