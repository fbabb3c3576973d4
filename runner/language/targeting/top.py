# SPDX-License-Identifier: Apache-2.0
"""The top file: which SLS files this machine gets, and which line said so. For states and for the
pillar.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from runner.language.targeting.top_merge import STRATEGIES, merge, merge_pillar
from runner.model.diagnostics import Diagnostic, did_you_mean, odd_space_hint, similar, suggestion
from runner.model.errors import CompileError, RunnerError
from runner.model.places import JoinedMap, Place, Untyped, item_place, key_place, value_place
from runner.model.records import Record

Matches = Callable[[str, str], bool]  # (target, kind); raises RunnerError for an unknown kind
ReadTop = Callable[[str], Any]  # environment -> the rendered top file, None where there is none


class TopLine(Record):
    """One SLS (or glob of them) that a target of a top file gives this machine."""

    env: str
    sls: str
    target: str
    place: Place
    ignore_missing: bool = False


class Top(Record):
    """All lines that mean this machine, in order."""

    lines: tuple[TopLine, ...]
    vars: Mapping[str, Any] = {}  # of the targets that mean this machine; the later line wins
    defaults: Mapping[str, Any] = {}
    missed: tuple[Target, ...] = ()  # targets that do not mean this machine
    warnings: tuple[Diagnostic, ...] = ()  # targets that cannot be read, and mean no machine

    def requests(self, env_order: Sequence[str] = ()) -> Iterator[tuple[str, str, Place]]:
        """(environment, SLS, place), each once, one environment after another: those of `env_order`
        first.
        """
        places: dict[tuple[str, str], Place] = {}
        for line in self.lines:
            places.setdefault((line.env, line.sls), line.place)
        envs = dict.fromkeys(line.env for line in self.lines)
        for env in dict.fromkeys([*(env for env in env_order if env in envs), *envs]):
            yield from ((env, sls, place) for (its, sls), place in places.items() if its == env)

    @property
    def optional(self) -> frozenset[tuple[str, str]]:
        """(environment, SLS) of targets with `ignore_missing: True`, which the pillar honours."""
        return frozenset((line.env, line.sls) for line in self.lines if line.ignore_missing)

    def as_data(self) -> dict[str, list[str]]:
        """Salt's shape: environment -> SLS names as the top file lists them."""
        names_by_env: dict[str, list[str]] = {}
        for line in self.lines:
            names_by_env.setdefault(line.env, []).append(line.sls)
        return names_by_env


class Target(Record):
    """One target of a top file with its lines."""

    env: str  # the section of the top file
    expression: str
    kind: str
    lines: tuple[TopLine, ...]
    place: Place
    order: float = 0
    vars: Mapping[str, Any] = {}
    defaults: Mapping[str, Any] = {}
    at: Place | None = None  # of the section
    problems: tuple[Diagnostic, ...] = ()  # what is wrong with its items


def names(
    read: ReadTop,
    envs: Sequence[str],
    matches: Matches,
    saltenv: str | None = None,
    *,
    strategy: str = "merge",
    env_order: Sequence[str] = (),
    state_top_saltenv: str | None = None,
    default_top: str = "base",
    pillar: bool = False,
    file_of: Callable[[str], str | None] = lambda env: None,
    mistake: Callable[[str, str], RunnerError | None] = lambda target, kind: None,
) -> Top:
    """The SLS files that the top files of all environments give this machine. All their mistakes at
    once (CompileError).

    read: gives the top file of an environment. saltenv: only this environment's top file and
    section count. strategy: top_file_merging_strategy (merge, same, merge_all); the pillar has its
    own. pillar: these are the pillar's top files, where targets have an `order`. file_of: where
    that of an environment is. mistake: what keeps a target from being read.
    """
    reader = _TopReader(read, [], file_of, pillar)
    if saltenv:
        targets = [target for target in reader.targets(saltenv) if target.env == saltenv]
    else:
        asked = [state_top_saltenv] if state_top_saltenv else _ordered(envs, env_order)
        joined = merge_pillar if pillar else STRATEGIES.get(strategy, merge)
        targets = joined(reader.targets, asked, default_top)
    matched = list(_matching(targets, matches, reader.problems))
    reader.problems += [problem for target in matched for problem in target.problems]
    for env in dict.fromkeys(target.env for target in matched):
        if env not in envs and "__env__" not in envs:
            place = next(target.at or target.place for target in matched if target.env == env)
            kind = "pillar" if pillar else "salt"
            message = f"No matching {kind} environment for environment {env!r} found"
            reader.problem(message, place, _near_env(env, envs, pillar))
    if reader.problems:
        raise CompileError(reader.problems)
    ordered = sorted(matched, key=lambda target: target.order) if pillar else matched
    known = {*envs, *(target.env for target in matched)}
    asked_for = [line for target in ordered for line in target.lines]
    lines = tuple(line for line in asked_for if line.sls and line.env in known)
    missed = tuple(target for target in targets if target not in matched)
    nowhere = _nowhere(line for line in asked_for if line not in lines)
    warnings = (*_mistakes(targets, mistake), *_elsewhere(missed), *nowhere)
    return Top(lines, *_scope(ordered), missed, warnings)


def _nowhere(lines: Iterable[TopLine]) -> Iterator[Diagnostic]:
    """Yield a warning for each line of an environment that there is not: `- web:`."""
    for env, place in dict.fromkeys((line.env, line.place) for line in lines):
        message = (
            f"`{env}:` begins SLS files of an environment, and there is none, so it is ignored"
        )
        hint = f"the name of an SLS has no colon behind it: `- {env}`"
        yield Diagnostic(message, place.source, hint, "match", "warning")


def _elsewhere(missed: Sequence[Target]) -> Iterator[Diagnostic]:
    """Yield what is wrong with targets that do not mean this machine, as warnings."""
    for target in missed:
        for problem in target.problems:
            yield problem._replace(
                hint=f"{problem.hint}; {target.expression!r} does not mean this machine",
                code="match",
                severity="warning",
            )


def _mistakes(
    targets: list[Target], mistake: Callable[[str, str], RunnerError | None]
) -> Iterator[Diagnostic]:
    for target in targets:
        error = mistake(target.expression, target.kind)
        if error and not target.problems:  # `- match:grain` is told
            hint = f"{error.hint}; what cannot be read means no machine"
            yield Diagnostic(error.message, target.place.source, hint, "match", "warning")


def _scope(targets: Sequence[Target]) -> tuple[JoinedMap, dict[str, JoinedMap]]:
    """The variables and the defaults of these targets; the later line wins."""
    variables = JoinedMap(targets[0].place if targets else Place(Untyped("top.sls")))
    defaults: dict[str, JoinedMap] = {}
    for target in targets:
        variables.take(target.vars, target.place)
        for key, values in target.defaults.items():
            defaults.setdefault(key, JoinedMap(target.place)).take(values, target.place)
    return variables, defaults


def _near_env(env: str, envs: Sequence[str], pillar: bool) -> str:
    near = similar(env, envs)
    if near:
        return suggestion(near[0])
    roots = "pillar_roots" if pillar else "file_roots"
    return f"{roots} of the configuration has: {', '.join(envs)}"


def _ordered(envs: Sequence[str], env_order: Sequence[str]) -> list[str]:
    if env_order:
        return [env for env in env_order if env in envs]
    return sorted((env for env in envs if env != "__env__"), key=lambda env: env != "base")


def _matching(
    targets: list[Target], matches: Matches, problems: list[Diagnostic]
) -> Iterator[Target]:
    for target in targets:
        try:
            if matches(target.expression, target.kind):
                yield target
        except RunnerError as error:
            problems += [
                item._replace(source=item.source or target.place.source)
                for item in error.diagnostics
            ]


# ---------------------------------------------------------------- one top file

EXAMPLE = "the environment comes first:\n    base:\n      '*':\n        - name-of-an-sls"
SETTINGS = ("match", "order", "ignore_missing")
SCOPED = ("vars", "defaults")  # settings of ours, only when they hold a mapping


class _TopReader:
    def __init__(
        self,
        read: ReadTop,
        problems: list[Diagnostic],
        file_of: Callable[[str], str | None],
        pillar: bool,
    ) -> None:
        self.read, self.problems, self.file_of, self.pillar = read, problems, file_of, pillar

    def problem(self, message: str, place: Place, hint: str | None = None) -> None:
        self.problems.append(Diagnostic(message, place.source, hint, "top"))

    def targets(self, env: str) -> list[Target]:
        """All targets of one environment's top file."""
        try:
            value = self.read(env)
        except RunnerError as error:
            self.problems += error.diagnostics
            return []
        place = getattr(value, "place", None) or Place(
            Untyped(self.file_of(env) or "top.sls"), 1, 1
        )
        if value is None:
            return []
        if not isinstance(value, Mapping):
            self.problem(
                f"the top file is not a mapping of environments (got {_kind(value)})",
                place,
                EXAMPLE,
            )
            return []
        targets: list[Target] = []
        margin = [name for name, section in value.items() if isinstance(section, list)]
        for name, section in value.items():
            # what belongs below it stands at the margin: that is told
            if section is None and margin:
                continue
            if name != "include":  # Salt reads it over as well
                targets += self.section(name, section, key_place(value, name, place))
        return targets

    def section(self, env: object, section: Any, place: Place) -> Iterator[Target]:
        if not isinstance(section, Mapping):
            hint = odd_space_hint(env) or EXAMPLE
            message = (
                f"Malformed top file: saltenv {env!r} is not a mapping of targets (got"
                f" {_kind(section)})"
            )
            return self.problem(message, place, hint)
        for expression, entries in section.items():
            where = key_place(section, expression, place)
            if self.pillar and entries == {}:  # Salt refuses it in the top file of states alone
                entries = []
            if isinstance(entries, list):
                yield self.target(str(env), str(expression), entries, where)._replace(at=place)
                continue
            first = entries if isinstance(entries, str) else "name-of-an-sls"
            self.problem(
                f"Malformed top file: state declarations for matcher {expression!r} in saltenv"
                f" {env!r} are not formed as a list (got {_kind(entries)})",
                where,
                f"write\n    {expression!r}:\n      - {first}",
            )

    def target(self, env: str, expression: str, entries: list[Any], place: Place) -> Target:
        names: list[tuple[str, str, Place]] = []
        settings: dict[str, Any] = {}
        others, self.problems = self.problems, []
        for number, entry in enumerate(entries):
            where = item_place(entries, number, place)
            if isinstance(entry, str) and entry:
                key, colon, value = entry.partition(":")
                if colon and key in SETTINGS:
                    message = f"{entry!r} is not the name of an SLS"
                    hint = f"a space is missing behind the colon: `- {key}: {value}`"
                    self.problem(message, where, hint)
                    continue
                names.append((env, entry, where))
            elif isinstance(entry, Mapping) and entry:
                settings |= {key: entry[key] for key in SETTINGS if key in entry}
                scoped = {key: entry[key] for key in SCOPED if isinstance(entry.get(key), Mapping)}
                for key, values in scoped.items():
                    settings.setdefault(key, JoinedMap(where)).take(values, where)
                rest = {
                    key: value
                    for key, value in entry.items()
                    if key not in scoped and key not in SETTINGS
                }
                for key in [key for key, value in rest.items() if not _names_sls(value)]:
                    at = key_place(entry, key, where)
                    self.problem(
                        f"{key!r} is not a setting of a target, nor {rest[key]!r} an SLS of an"
                        " environment",
                        at,
                        did_you_mean(str(key), (*SETTINGS, *SCOPED))
                        or f"there are {', '.join((*SETTINGS, *SCOPED))}",
                    )
                names += _in_other_environments(rest, where)
            else:
                self.nameless(entry, f"{expression!r} in saltenv {env!r}", where)
                if entry == "":  # Salt refuses it for every machine
                    others.append(self.problems.pop())
        order = settings.get("order", 0)
        if isinstance(order, bool) or not isinstance(order, int | float):
            self.problem(f"order: {order!r} is not a number", place, "write `- order: 10`")
            order = 0
        self.problems, problems = others, tuple(self.problems)
        missing = bool(settings.get("ignore_missing"))
        lines = tuple(TopLine(its, sls, expression, where, missing) for its, sls, where in names)
        # without `match:` Salt reads every target as a compound expression
        kind = str(settings.get("match", "compound"))
        return Target(
            env,
            expression,
            kind,
            lines,
            place,
            order,
            settings.get("vars", {}),
            settings.get("defaults", {}),
            problems=problems,
        )

    def nameless(self, entry: Any, target: str, place: Place) -> None:
        """Note that an item of a target is no name."""
        what = f"{entry!r}, which is not the name of an SLS" if entry else "an empty SLS name"
        hint = (
            f"write the name of an SLS; a number needs quotes: `- '{entry}'`"
            if entry
            else "write `- NAME`"
        )
        self.problem(f"Malformed top file: {target} holds {what}", place, hint)


def _in_other_environments(
    entry: Mapping[Any, Any], place: Place
) -> Iterator[tuple[str, str, Place]]:
    """`- dev: name` gives an SLS of another environment."""
    for key, value in entry.items():
        for sls in value if isinstance(value, list) else [value]:
            if isinstance(sls, str | None):
                yield str(key), sls or "", value_place(entry, key, place)


def _names_sls(value: Any) -> bool:
    return isinstance(value, str | list | None) and value != ""


def _kind(value: object) -> str:
    return {"PlacedList": "list", "PlacedMap": "dict"}.get(
        type(value).__name__, type(value).__name__
    )
