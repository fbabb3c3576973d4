# SPDX-License-Identifier: Apache-2.0
"""The part of a run that `--only`, `--exclude`, `--tags`, `--skip-tags` and `--start-at` select."""

from __future__ import annotations

import operator
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import zip_longest

from runner.language.compiler import requisites
from runner.model.chunk import LEFT_OUT, NO_EDGES, Chunk, EdgeGroup, Edges, Relations
from runner.model.diagnostics import Diagnostic, did_you_mean
from runner.model.errors import RunnerError
from runner.model.stdlib import like
from runner.sources.config.options import Options

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from runner.model.places import Place

Takes = Callable[[Chunk, str], bool]  # whether the function of a state has an argument of that name


class Selection:
    """The states of a run, and those that are left out.

    everything: the states of both. positions: where those of the run are in it. warnings: what
    `--exclude` and `--skip-tags` name and no state has.
    """

    def __init__(
        self,
        everything: Sequence[Chunk],
        positions: Sequence[int],
        warnings: Sequence[Diagnostic] = (),
    ) -> None:
        self._everything = tuple(everything)
        self.warnings = tuple(warnings)
        self._place = {position: number for number, position in enumerate(positions)}
        self.chunks = tuple(self._everything[position] for position in positions)
        # targets in the run and their places, by those of a requisite, which is kept with them
        self._kept: dict[tuple[int, int], tuple[EdgeGroup, tuple[int, ...], tuple[Place, ...]]] = {}
        self.left_out = tuple(
            chunk for position, chunk in enumerate(self._everything) if position not in self._place
        )

    def is_left_out(self, target: str, state: str) -> bool:
        """Return whether a requisite that no state of the run meets means one that is left out."""
        return bool(self.left_out) and bool(self._index.find(state, target))

    @cached_property
    def _index(self) -> requisites.Index:
        return requisites.Index(self.left_out)

    def related(self, relations: Relations, reacts: Callable[[str], bool]) -> Relations:
        """The relations of the states of the run, with what they have to those left out.

        A requisite which has a state run for the sake of others (onchanges, onfail, prereq) is
        unanswered where they are left out: nothing will come of them in this run. Who is left out
        and would react to a state of the run is to do so later. reacts: tells whether a state
        module has a mod_watch.
        """
        if not self.left_out:
            return relations
        whole = requisites.resolve(self._everything, frozenset(), reacts=reacts)[0]
        return self._on_left_out(relations, whole.edges.groups, reacts)

    def part(
        self, whole: Relations, touching: Iterable[EdgeGroup], reacts: Callable[[str], bool]
    ) -> Relations:
        """The same from the relations of all. touching: those that a state of the run is an end
        of.
        """
        place = self._place
        by_holder: dict[int, Edges] = {}
        for position, holder in place.items():
            groups = [self._here(group, holder) for group in whole.of(position).groups]
            if groups := [group for group in groups if group.targets]:
                by_holder[holder] = Edges(groups)
        relations = Relations(
            by_holder,
            tuple(
                (place[first], place[then], kind)
                for first, then, kind in whole.automatic
                if first in place and then in place
            ),
        )
        typed = (group for group in touching if not group.automatic)
        part = self._on_left_out(relations, typed, reacts)
        unanswered = dict(part.unanswered)
        for position, left in whole.unanswered.items():
            if position in place:
                here = place[position]
                unanswered[here] = unanswered.get(here, NO_EDGES) + left
        before = ((tag, self._here(group, LEFT_OUT)) for tag, group in whole.absent_reactors)
        absent = (*part.absent_reactors, *(each for each in before if each[1].targets))
        return part._replace(unanswered=unanswered, absent_reactors=absent)

    def _on_left_out(
        self, relations: Relations, groups: Iterable[EdgeGroup], reacts: Callable[[str], bool]
    ) -> Relations:
        unanswered: dict[int, list[EdgeGroup]] = {}
        absent: list[tuple[str, EdgeGroup]] = []
        for group in groups:
            kind, holder = group.kind, self._place.get(group.holder, LEFT_OUT)
            here = self._here(group, holder)
            if holder != LEFT_OUT:
                if kind.conditional and len(here.targets) < len(group.targets):
                    left = here._replace(targets=(LEFT_OUT,), places=())
                    unanswered.setdefault(holder, []).append(left)
            elif kind.reaction and here.targets:
                chunk = self._everything[group.holder]
                if not kind.needs_mod_watch or reacts(chunk.state):
                    absent.append((chunk.tag, here))
        return relations._replace(
            unanswered={holder: Edges(groups) for holder, groups in unanswered.items()},
            absent_reactors=tuple(absent),
        )

    def _here(self, group: EdgeGroup, holder: int) -> EdgeGroup:
        """A requisite with those of its targets that are in the run; the same for all that share
        them.
        """
        key = id(group.targets), id(group.places)
        if key not in self._kept:
            pairs = zip_longest(group.targets, group.places)
            both = [(self._place[target], at) for target, at in pairs if target in self._place]
            places = tuple(at for _, at in both if at is not None)
            self._kept[key] = group, tuple(target for target, _ in both), places
        _, targets, places = self._kept[key]
        return group._replace(holder=holder, targets=targets, places=places)


def select(
    options: Options, chunks: Sequence[Chunk], takes: Takes, before: Collection[str] = ()
) -> Selection:
    """The states that the options ask for. takes: tells the tags of a run from an argument `tags`
    that a function has for itself. before: the tags (`Chunk.tag`) of those before `--start-at`.
    Raises RunnerError for a name or a tag to run that no state has.
    """
    asked = (options.only, options.exclude, options.tags, options.skip_tags, before)
    if not any(asked):
        return Selection(chunks, range(len(chunks)))
    excluded = [_item(entry, chunks) for entry in options.exclude]
    positions = [
        position
        for position, chunk in enumerate(chunks)
        if chunk.tag not in before
        and not any(item(chunk) for item in excluded)
        and not _tags(chunk, takes) & set(options.skip_tags)
    ]
    left = {position: chunks[position] for position in positions}
    if options.only or options.tags:
        wanted = _named(options.only, chunks, left) if options.only else left
        wanted = _tagged(options.tags, chunks, takes, wanted)
        if options.with_requisites:
            wanted = _with_requisites(wanted, left)
        positions = sorted(wanted)
    return Selection(chunks, positions, [*_not_there(options, chunks, takes)])


def starting_at(options: Options, ordered: Iterable[Chunk]) -> frozenset[str]:
    """The tags (`Chunk.tag`) of the states before the first one that `--start-at` names. ordered:
    the states in the order of the run. Raises RunnerError where none is named so.
    """
    chunks = tuple(ordered)
    is_meant = _matcher(options.start_at, chunks)
    for position, chunk in enumerate(chunks):
        if is_meant(chunk):
            return frozenset(chunk.tag for chunk in chunks[:position])
    raise _unknown("--start-at", options.start_at, chunks)


# ---------------------------------------------------------------- what a word means


def _matcher(word: str, chunks: Iterable[Chunk]) -> Callable[[Chunk], bool]:
    """Return whether a word means a state: ID or name, `STATE: ID`, `sls:NAME`; globs, where it is
    not literally one of these states'.
    """
    literally = _meaning(word, operator.contains)
    return literally if any(map(literally, chunks)) else _meaning(word, _is_like)


def _meaning(word: str, fits: Callable[[tuple[str, ...], str], bool]) -> Callable[[Chunk], bool]:
    state, colon, rest = word.partition(":")
    rest = rest.strip()
    if colon and state == "sls":
        return lambda chunk: fits((chunk.sls,), rest)
    if colon and state.isidentifier() and rest:
        return lambda chunk: (
            (state == chunk.state and fits((chunk.id, chunk.name), rest))
            or word in (chunk.id, chunk.name)
        )
    return lambda chunk: fits((chunk.id, chunk.name), word)


def _is_like(texts: tuple[str, ...], pattern: str) -> bool:
    return bool(like(texts, pattern))


def _item(entry: str | Mapping[str, str], chunks: Iterable[Chunk]) -> Callable[[Chunk], bool]:
    """Return whether an entry of `exclude` means a state; a plain word may be an SLS file, too."""
    if isinstance(entry, str):
        is_meant = _matcher(entry, chunks)
        return lambda chunk: is_meant(chunk) or entry == chunk.sls
    return lambda chunk: entry.get("id") == chunk.id or entry.get("sls") == chunk.sls


def _named(
    words: Sequence[str], chunks: Sequence[Chunk], among: Mapping[int, Chunk]
) -> dict[int, Chunk]:
    found: dict[int, Chunk] = {}
    for word in words:
        is_meant = _matcher(word, chunks)
        if not any(map(is_meant, chunks)):
            raise _unknown("--only", word, chunks)
        found |= {position: chunk for position, chunk in among.items() if is_meant(chunk)}
    return found


def _unknown(option: str, word: str, chunks: Iterable[Chunk]) -> RunnerError:
    names = dict.fromkeys(name for chunk in chunks for name in (chunk.id, chunk.name))
    return RunnerError(
        f"{option} {word}: no state of this run has that ID or name",
        hint=did_you_mean(word, names)
        or "an ID, a name, `STATE: ID` or `sls:NAME`; `*` and `?` stand for other characters",
    )


def _not_there(options: Options, chunks: Sequence[Chunk], takes: Takes) -> Iterator[Diagnostic]:
    """Yield what somebody typed to leave out, and no state has: no error, as other machines may
    have it.
    """
    unknown = [
        _unknown("--exclude", entry, chunks)
        for entry in options.exclude
        if "exclude" in options.typed
        and isinstance(entry, str)
        and not any(map(_item(entry, chunks), chunks))
    ]
    if "skip_tags" in options.typed:
        unknown += _unknown_tags("--skip-tags", options.skip_tags, chunks, takes)
    for error in unknown:
        yield Diagnostic(error.message, hint=error.hint, code="selection", severity="warning")


# ---------------------------------------------------------------- tags


def _tags(chunk: Chunk, takes: Takes) -> set[str]:
    """The tags of a state."""
    if "tags" not in chunk.args or takes(chunk, "tags"):
        return set()
    return set(_words(chunk.args["tags"]))


def _words(value: Any) -> Iterator[str]:
    if isinstance(value, list):
        for item in value:
            yield from _words(item)
    else:
        yield from filter(None, (word.strip() for word in str(value).split(",")))


def _tagged(
    tags: Sequence[str], chunks: Sequence[Chunk], takes: Takes, among: Mapping[int, Chunk]
) -> dict[int, Chunk]:
    if not tags:
        return dict(among)
    for unknown in _unknown_tags("--tags", tags, chunks, takes):
        raise unknown
    return {position: chunk for position, chunk in among.items() if _tags(chunk, takes) & set(tags)}


def _unknown_tags(
    option: str, tags: Sequence[str], chunks: Sequence[Chunk], takes: Takes
) -> Iterator[RunnerError]:
    """Yield what is to be said of the tags that no state has."""
    known = set().union(*(_tags(chunk, takes) for chunk in chunks))
    for tag in tags:
        if tag not in known:
            hint = did_you_mean(tag, known) or "`tags:` of a state gives it some"
            yield RunnerError(f"{option} {tag}: no state of this run has that tag", hint=hint)


# ---------------------------------------------------------------- with what they need


def _with_requisites(wanted: Mapping[int, Chunk], chunks: Mapping[int, Chunk]) -> dict[int, Chunk]:
    """Some states, and all that they have requisites on."""
    positions = list(chunks)
    relations, _ = requisites.resolve(tuple(chunks.values()), frozenset())
    place = {position: number for number, position in enumerate(positions)}
    waiting, needed = [place[position] for position in wanted], set[int]()
    while waiting:
        number = waiting.pop()
        if number not in needed:
            needed.add(number)
            waiting += [
                target
                for group in relations.of(number).groups
                for target in group.targets
                if target not in needed
            ]
    return {positions[number]: chunks[positions[number]] for number in needed}
