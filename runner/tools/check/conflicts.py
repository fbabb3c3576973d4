# SPDX-License-Identifier: Apache-2.0
"""States that undo each other in each run, by what each says that it decides (`owns`, `OPPOSITE`
of its module).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping

from runner.api.claims import ABSENT, PART, PRESENT, TREE, VALUE, WHOLE, Claim
from runner.engine.loader import opposites
from runner.engine.loader.hooks import answer_of
from runner.engine.loader.registry import Registry, StateFunction
from runner.model.chunk import Chunk
from runner.model.diagnostics import Diagnostic
from runner.model.paths import folders_above
from runner.model.records import Record
from runner.pipeline.compile import Compiled
from runner.sources.fileroots import FileTree
from runner.support.files.text import text_to_show
from runner.tools.check.lint import CONDITIONS

NUMBERED = ("gid", "expire")  # a number or a name, a day: which is which is not known here
_SWITCHES = {"true": "1", "yes": "1", "on": "1", "false": "0", "no": "0", "off": "0"}
LARGEST = 1024 * 1024  # bytes of a file of the tree that is compared with edits


class Owner(Record):
    """A state, and one thing that it decides. tree: has what it is written from."""

    chunk: Chunk
    claim: Claim
    tree: FileTree

    def text(self) -> str | None:
        """Return what it writes; None where that is not known."""
        source = self.claim.source
        if self.claim.text is not None or self.chunk.args.get("template"):
            return self.claim.text
        file = self.tree.fetch(source, self.chunk.env) if source.startswith("salt://") else None
        if file is None or os.path.getsize(file) > LARGEST:
            return None
        return text_to_show(file)


class Rule(Record):
    """Two states that cannot both be content.

    first, second: the extents of what they decide. clash: whether these two of those do. message,
    hint: with the names of the states and of the thing. code: of the diagnostic.
    """

    first: str
    second: str
    clash: Callable[[Owner, Owner], bool]
    message: str
    hint: str
    code: str = "undone"


def _differ(one: Owner, other: Owner) -> bool:
    """Return whether two states of one thing say different things of it."""
    mine, theirs = (
        {key: value for key, value in owner.chunk.args.items() if key != "name"}
        for owner in (one, other)
    )
    first = (one.chunk.function, one.chunk.name, mine)
    return first != (other.chunk.function, other.chunk.name, theirs)


def _same_part(one: Owner, other: Owner) -> bool:
    return bool(one.claim.part) and one.claim.part == other.claim.part and _differ(one, other)


def _taken(one: Owner, other: Owner) -> bool:
    """Return whether one state takes away the lines that the other one adds."""
    text, suits = other.claim.text, one.claim.suits
    return one.claim.removes and text is not None and suits is not None and not suits(text)


def _no_common_value(one: Owner, other: Owner) -> bool:
    same = one.claim.part == other.claim.part
    return same and not set(one.claim.values) & set(other.claim.values)


def _is_known(whole: Owner, part: Owner) -> bool:
    return whole.text() is not None and part.claim.suits is not None


def _lost(whole: Owner, part: Owner) -> bool:
    """Return whether what is written whole lacks the part; yes where that is not known."""
    text, suits = whole.text(), part.claim.suits
    return text is None or suits is None or not suits(text)


_TWICE = "the other one is at {place}; one of them is enough, or use accumulators and blocks"
_REMOVED = "{thing} is removed by {first} and {done} by {second}: each run does both"
_ONE = "the other one is at {place}; remove one of them, or give one a condition"
RULES = (
    Rule(
        WHOLE,
        WHOLE,
        _differ,
        "{thing} is written by two states: {first} and {second}",
        _TWICE,
        "written-twice",
    ),
    Rule(
        PART,
        PART,
        _same_part,
        "{part} in {thing} is written by two states: {first} and {second}",
        "the other one is at {place}; give each {word} of its own",
        "written-twice",
    ),
    Rule(
        VALUE,
        VALUE,
        _no_common_value,
        "{part_name} of {thing} is set differently by two states: {first} and {second}",
        "the other one is at {place}; remove one of them, or let both say the same",
        "written-twice",
    ),
    Rule(
        PART,
        PART,
        _taken,
        "{thing} loses by {first} what {second} adds: each run does both",
        "the other one is at {place}; remove one of them, or give one a condition",
    ),
    Rule(
        WHOLE,
        PART,
        _lost,
        "{thing} is written whole by {first} and edited by {second}: {unless}each run undoes the"
        " edit and makes it again",
        "the other one is at {place}; put the edit into what is written whole, or give that"
        " `replace: false`",
    ),
    *(
        Rule(ABSENT, extent, lambda one, other: True, _REMOVED, _ONE)
        for extent in (WHOLE, PART, PRESENT)
    ),
)
_RULES: dict[tuple[str, str], list[Rule]] = {}
for _rule in RULES:
    _RULES.setdefault((_rule.first, _rule.second), []).append(_rule)


def warnings(compiled: Compiled, registry: Registry, tree: FileTree) -> list[Diagnostic]:
    """A warning for each pair of states that undo each other."""
    owners: dict[str, list[Owner]] = {}
    for number, step in enumerate(compiled.steps):
        chunk = step.chunk
        if step.call is None or step.noop or _is_conditional(chunk):
            continue  # its arguments are not known yet, or it does not act in each run
        if any(group.kind.conditional for group in compiled.relations.of(number).groups):
            continue
        for claim in _claims(step.call.function, chunk, registry):
            for each in _of_tree(claim, chunk, tree):
                owners.setdefault(each.thing, []).append(Owner(chunk, each, tree))
    return [
        diagnostic
        for first, second in _pairs(owners)
        if first.chunk.env == second.chunk.env
        for diagnostic in _judged(first, second)
    ]


def _is_conditional(chunk: Chunk) -> bool:
    """Return whether a state does not act in each run; one whose only condition is `creates` acts
    where that path is gone.
    """
    conditions = [key for key in CONDITIONS if key in chunk.args]
    return bool(conditions) and conditions != ["creates"]


def _judged(one: Owner, other: Owner) -> Iterator[Diagnostic]:
    """Yield what the first rule that the two break, in either order, says."""
    for first, second in ((one, other), (other, one)):
        for rule in _RULES.get((first.claim.extent, second.claim.extent), ()):
            if rule.clash(first, second):
                yield _diagnostic(rule, first, second)
                return


def _claims(function: StateFunction, chunk: Chunk, registry: Registry) -> Iterator[Claim]:
    """Yield what a state decides by its module: what it owns, and what it makes or removes; of a
    command with `creates` that these paths are there.
    """
    if "creates" in chunk.args:
        paths = chunk.args["creates"]
        if chunk.fun in (function.hook("NON_IDEMPOTENT") or ()):
            for path in paths if isinstance(paths, list) else [paths]:
                yield Claim(PRESENT, str(path).rstrip("/"))
        return
    owns = function.hook("owns")
    if owns is not None:
        arguments = {"fun": chunk.fun, **chunk.args, "name": chunk.name}
        yield from answer_of(owns, "owns", chunk, arguments) or ()
    yield from _said(function, chunk)
    for thing in opposites.things(registry, function, chunk):
        yield Claim(ABSENT if thing.removed else PRESENT, thing.name)


def _said(function: StateFunction, chunk: Chunk) -> Iterator[Claim]:
    """Yield the values that a state gives the arguments which its module DECIDES."""
    decided = (function.hook("DECIDES") or {}).get(chunk.fun, "").split()
    arguments = {**chunk.args, "name": chunk.name}
    more = (function.hook("TOLD_APART_BY") or "").split()
    apart = dict.fromkeys((*opposites.told_apart_by(function, chunk), *more))
    told = opposites.told(function, chunk, apart)
    its_name = str(opposites.meaning(function, "name", chunk.name)).rstrip("/") or "/"
    name = chunk.function if "*" in decided else f"{chunk.state} {its_name}"
    for entry in decided:
        argument, _, unless = entry.partition(":")
        value = arguments.get(argument)
        if value is None or arguments.get(unless) is False:
            continue
        text = _plain(opposites.meaning(function, argument, value))
        number = " number" * (argument in NUMBERED and text.isdecimal())
        yield Claim(VALUE, ", ".join([name, *told]), f"{argument}{number}", values=(text,))


def _plain(value: object) -> str:
    """A value, however it is written: neither the order of a list nor whether it is one or a text
    with commas says anything, nor do case and a slash at the end. Rather miss a clash than report
    one that is none.
    """
    if isinstance(value, dict):
        return _plain([f"{key}: {_plain(each)}" for key, each in value.items()])
    text = ",".join(map(_plain, value)) if isinstance(value, list) else str(value).casefold()
    parts = sorted(part.strip().rstrip("/") for part in text.split(","))
    return ",".join(_SWITCHES.get(part, part) for part in parts)


def _of_tree(claim: Claim, chunk: Chunk, tree: FileTree) -> Iterator[Claim]:
    """A claim; of a folder of the tree one for each of its files."""
    if claim.extent != TREE:
        yield claim if claim.thing else claim._replace(thing="/")  # of a path without its end
        return
    yield Claim(PRESENT, claim.thing or "/")
    if claim.source.startswith("salt://"):
        folder = claim.source.removeprefix("salt://").partition("?")[0].rstrip("/")
        for path in tree.files(folder, chunk.env):
            file = f"{claim.thing}/{path.removeprefix(f'{folder}/')}"
            yield Claim(WHOLE, file, source=f"salt://{path}")


def _pairs(owners: Mapping[str, list[Owner]]) -> Iterator[tuple[Owner, Owner]]:
    """States that decide the same thing; the one that removes a path with what lies below."""
    for group in owners.values():
        for number, owner in enumerate(group):
            for other in group[:number]:
                if other.chunk is not owner.chunk:
                    yield other, owner
    removed = {
        thing: owner
        for thing, group in owners.items()
        for owner in group
        if owner.claim.extent == ABSENT and thing.startswith("/")
    }
    if removed:
        for thing, group in owners.items():
            for above in folders_above(thing):
                if above in removed:
                    yield from ((removed[above], owner) for owner in group)


def _diagnostic(rule: Rule, first: Owner, second: Owner) -> Diagnostic:
    later, earlier = (first, second) if _comes_after(first, second) else (second, first)
    place = later.chunk.arg_places.get("name", later.chunk.place)
    words = {
        "first": _called(first.chunk),
        "second": _called(second.chunk),
        "thing": second.claim.thing,
        "part": repr(first.claim.part),
        "part_name": first.claim.part,
        "unless": "" if _is_known(first, second) else "unless it has the edit, ",
        "done": "edited" if second.claim.extent == PART else "made",
        "word": "an identifier" if " of " in first.claim.thing else "markers",
        "place": earlier.chunk.arg_places.get("name", earlier.chunk.place).source,
    }
    return Diagnostic(
        rule.message.format_map(words),
        place.source,
        rule.hint.format_map(words),
        rule.code,
        "warning",
    )


def _comes_after(one: Owner, other: Owner) -> bool:
    return one.chunk.defined > other.chunk.defined


def _called(chunk: Chunk) -> str:
    return f"{chunk.function} {chunk.id}"
