# SPDX-License-Identifier: Apache-2.0
"""High data -> high data: exclude, extend and the `_in` requisites are carried out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import islice

from runner.language.compiler import relationships, structure_hints
from runner.model.diagnostics import (
    IGNORED,
    Diagnostic,
    Hint,
    did_you_mean,
    near_sls,
    other_name,
    similar,
    suggested,
)
from runner.model.highdata import (
    Body,
    Declaration,
    HighData,
    Item,
    add_item,
    from_puppet_syntax,
    items_with_keys,
    members_of,
    own_list,
    share,
    spelled_out,
)
from runner.model.places import JoinedList, Place, item_place
from runner.model.requisite_kinds import ALIASES, CARRIED, USE
from runner.model.stdlib import like

TYPE_CHECKING = False
if TYPE_CHECKING:
    from runner.language.compiler.relationships import Known

# what `use` does not take over; the `_any` forms, onfail_all and listen it does take over, as
# Salt's
NOT_USED = {*CARRIED, *CARRIED.values(), *USE, "name", "names"}
REPEATED = 1250  # requisites that one list gives away, up to which they are repeated as Salt does


class Reconciler:
    """Carries out what SLS files say about IDs of others; mistakes go to `problems`."""

    def __init__(self, high: HighData, known: Known) -> None:
        """known: the arguments of a function; an argument called `before` is not a relationship."""
        self._high = high
        self._known = known
        self._by_name: dict[tuple[str, str], list[Declaration]] | None = None
        self._common: dict[tuple[str, str], JoinedList] = {}  # what the states of an SLS are given
        self.problems: list[Diagnostic] = []

    def reconcile(self) -> HighData:
        """Extend, then the `_in` forms, then `use`, then exclude: Salt's order."""
        gone = self._excluded()
        for extension in self._high.extends:
            if extension.sls not in gone["sls"]:
                self._extend(extension)
        entries = items_with_keys(self._high, (*ALIASES, *CARRIED, *USE))
        if self._high.chains or any(item.key in ALIASES for _, _, item in entries):
            self.problems += relationships.spelled_out(self._high, self._known)
            entries = items_with_keys(self._high, (*CARRIED, *USE))
        for declaration, body, item in entries:
            if item.key in CARRIED and declaration.sls not in gone["sls"]:
                self._carry(declaration, body, item)
        self._uses(entry for entry in entries if entry[2].key in USE)
        for id_, declaration in list(self._high.declarations.items()):
            if id_ in gone["id"] or declaration.sls in gone["sls"]:
                del self._high.declarations[id_]
        return self._high

    def _excluded(self) -> dict[str, set[str]]:
        """The IDs and the SLS files that are excluded."""
        gone: dict[str, set[str]] = {"id": set(), "sls": set()}
        for written, name, place in self._high.excludes:
            kind = written or "sls"  # a plain name is that of an SLS
            known = self._high.declarations if kind == "id" else self._in_run
            matching = {name} & set(known) if kind == "id" else set(like(known, name))
            if not (
                matching
                or self._high.explained_by_earlier_error(name, kind)
                or (kind == "sls" and self._passed_over(name))
            ):
                message = f"exclude names the {kind.upper()} {name!r}, which is not in this run"
                hint = (
                    f"an ID is excluded by `- id: {name}`"
                    if name in self._high.declarations
                    else None
                )
                self._ignored(message, place, name, known, hint)
            gone[kind] |= matching
        return gone

    # -------------------------------------------------- extend

    def _extend(self, extension: Declaration) -> None:
        for body in extension.bodies.values():
            target = self._high.declarations.get(extension.id)
            if target is None:
                declarations = self._named(body.state, extension.id)
                if not declarations:
                    self._unknown(extension.id, extension, extension.place)
                    return
                target = declarations[0]
            old = target.bodies.get(body.state)
            items = [item._replace(origin=f"extend in {extension.sls}") for item in body.items]
            if old is None:
                if all(item.key is not None for item in body.items):
                    self._functionless(extension, target, body)
                target.bodies[body.state] = Body(body.state, list(items), body.place)
                continue
            for item in items:
                add_item(old, item)

    def _ignored(
        self,
        message: str,
        place: Place,
        name: str,
        candidates: Iterable[str],
        hint: str | None = None,
    ) -> None:
        """Warn of a name that means nothing in this run."""
        otherwise = "remove it, look at the spelling, or include its SLS"
        hint = hint or did_you_mean(name, candidates) or otherwise
        self.problems.append(
            Diagnostic(message + IGNORED, place.source, hint, "ignored", "warning")
        )

    def _functionless(self, extension: Declaration, target: Declaration, body: Body) -> None:
        has = ", ".join(f"`{state}`" for state in target.bodies)
        message = (
            f"No function declared in state '{extension.id}' in SLS '{extension.sls}': {body.state}"
        )
        hint = (
            f"{target.id!r} has {has} to be extended; for a new state write"
            f" `{body.state}.FUNCTION:`"
        )
        self.problems.append(Diagnostic(message, body.place.source, hint, "structure"))

    def _unknown(self, id_: str, holder: Declaration, place: Place) -> None:
        if self._high.explained_by_earlier_error(id_):
            return
        near = self._near(id_)
        self.problems.append(
            Diagnostic(
                f"Cannot extend ID '{id_}' in '{holder.env}:{holder.sls}'. It is not part of the"
                " high state.\nThis is likely due to a missing include statement or an incorrectly"
                f" typed ID.\nEnsure that a state with an ID of '{id_}' is available\nin"
                f" environment '{holder.env}' and to SLS '{holder.sls}'",
                place.source,
                near.text,
                "unknown-id",
                subject=id_,
                candidates=near.candidates,
            )
        )

    def _near(self, id_: str) -> Hint:
        puppets = from_puppet_syntax(id_)
        if puppets:
            return Hint(f"that is Puppet's way; write `- {puppets}`")
        if declared := self._high.declarations.get(id_):
            known = f"{next(iter(declared.bodies))}: {id_}"
            return Hint(f"there is {known}, declared at {declared.place}")
        for declaration in self._high.declarations.values():
            for body in declaration.bodies.values():
                if id_ in members_of(body):
                    named = f"{body.state}: {declaration.id}"
                    return Hint(f"{id_} is a member of {named}; refer to that")
        return suggested(similar(id_, self._high.declarations, 3))

    # -------------------------------------------------- require_in and the like

    def _carry(self, holder: Declaration, body: Body, item: Item) -> None:
        assert item.key is not None
        kind = CARRIED[item.key]
        references = list(self._references(holder.id, item))
        targets = [self._bodies(state, name) for state, name, _ in references]
        counts = _repeated(references, targets, item)
        for (state, name, place), bodies, times in zip(references, targets, counts, strict=True):
            source = Item(str(kind), [{body.state: holder.id}], place)
            if state == "sls" and len(bodies) > 1:
                common = self._common_list(str(kind), name, bodies, place)
                common.join(source.value * times, [place] * times)
            else:
                for target in bodies:
                    for _ in range(times):
                        add_item(target, source)
            if (
                bodies
                or self._high.explained_by_earlier_error(name, state)
                or (state == "sls" and self._passed_over(name))
            ):
                continue
            if state == "sls":
                message = f"{item.key} names the SLS {name!r}, which is not in this run"
                no_pattern = f"{item.key} takes no pattern: name each SLS"
                near = near_sls(name, self._in_run).text
                hint = no_pattern if like(self._by_sls, name) else near
                self._ignored(message, place, name, (), hint)
            elif state or from_puppet_syntax(name):
                self._unknown(name, holder, place)
            else:
                message = f"{item.key} names {name!r}, which is not in this run"
                near = did_you_mean(name, self._high.declarations)
                hint = None if near or not kind.needs_mod_watch else structure_hints.reactor_hint()
                self._ignored(message, place, name, self._high.declarations, hint)

    def _passed_over(self, sls: str) -> bool:
        """Return whether an SLS has no states in this run and is no mistake; Salt says nothing."""
        if sls in self._in_run or other_name(sls) in self._in_run:
            return sls in self._in_run
        envs = {env for env, _ in self._high.rendered}
        return any(self._high.text_of(sls, env) is not None for env in envs)

    def _common_list(self, kind: str, sls: str, bodies: Iterable[Body], place: Place) -> JoinedList:
        """The list of what all states of an SLS are given of a kind: each would have it as its own,
        and what they all have would be as many as both together.
        """
        if (kind, sls) not in self._common:
            self._common[kind, sls] = common = JoinedList(place)
            for body in bodies:
                share(body, kind, common, place)
        return self._common[kind, sls]

    def _references(self, holder: str, item: Item) -> Iterator[tuple[str, str, Place]]:
        """The state, the name and the place of what a requisite refers to; Salt takes a mapping for
        the `_in` forms alone.
        """
        if isinstance(item.value, dict) and item.key in CARRIED:
            for state, name in item.value.items():
                yield *_reference({state: name}), item.place
        elif isinstance(item.value, list):
            for index, entry in enumerate(item.value):
                if entry != {}:
                    yield *_reference(entry), item_place(item.value, index, item.place)
        elif item.value is not None:
            message = f"the {item.key} of {holder!r} is not a list{IGNORED}"
            named = (
                [f"{state}: {name}" for state, name in item.value.items()]
                if isinstance(item.value, dict)
                else [spelled_out(str(item.value), "MODULE")]
            )
            lines = ", ".join(f"`- {reference}`" for reference in named)
            hint = f"write `- {item.key}:` and below it, indented, {lines}"
            self.problems.append(Diagnostic(message, item.place.source, hint, "ignored", "warning"))

    @cached_property
    def _in_run(self) -> set[str]:
        return {sls for _, sls in self._high.rendered}

    @cached_property
    def _by_sls(self) -> dict[str, list[Body]]:
        """The states of each SLS."""
        found: dict[str, list[Body]] = {}
        for declaration in self._high.declarations.values():
            found.setdefault(declaration.sls, []).extend(declaration.bodies.values())
        return found

    def _bodies(self, state: str, name: str) -> list[Body]:
        """The states that a reference means."""
        return self._by_sls.get(name, []) if state == "sls" else [*self._targets(state, name)]

    def _targets(self, state: str, name: str) -> Iterator[Body]:
        """The same of one that is no SLS: of an ID or name alone, its first state."""
        declaration = self._high.declarations.get(name)
        if state == "":
            yield from islice(
                declaration.bodies.values() if declaration else self._by_own_name(name), 1
            )
            return
        if declaration is not None and state in declaration.bodies:
            yield declaration.bodies[state]
            return
        for other in self._named(state, name):
            yield other.bodies[state]

    def _by_own_name(self, name: str) -> Iterator[Body]:
        """The states that have this as their `name`."""
        for declaration in self._high.declarations.values():
            for body in declaration.bodies.values():
                if name in _own_name(body):
                    yield body

    def _named(self, state: str, name: str) -> list[Declaration]:
        """The states of a name: those with that `name`, else those that have it among `names`."""
        if self._by_name is None:
            self._by_name = {**self._declared_by(_among_names), **self._declared_by(_own_name)}
        return self._by_name.get((state, name), [])

    def _declared_by(
        self, names: Callable[[Body], Iterator[str]]
    ) -> dict[tuple[str, str], list[Declaration]]:
        found: dict[tuple[str, str], list[Declaration]] = {}
        for declaration in self._high.declarations.values():
            for body in declaration.bodies.values():
                for name in names(body):
                    found.setdefault((body.state, name), []).append(declaration)
        return found

    # -------------------------------------------------- use

    def _uses(self, uses: Iterable[tuple[Declaration, Body, Item]]) -> None:
        pairs: list[tuple[Body, Body]] = []
        for holder, body, item in uses:
            for state, name, place in self._references(holder.id, item):
                bodies = self._bodies(state, name)
                if not bodies and not self._high.explained_by_earlier_error(name):
                    message = f"{item.key} names {name!r}, which is not in this run"
                    self._ignored(message, place, name, self._high.declarations)
                pairs += [(body, other) if item.key == "use" else (other, body) for other in bodies]
        declarations = self._high.declarations.values() if pairs else ()
        names = {
            id(body): declaration.id
            for declaration in declarations
            for body in declaration.bodies.values()
        }
        taken: dict[
            int, tuple[Body, Body]
        ] = {}  # what a state has by `use` itself is handed to nobody
        for user, used in pairs:
            have = {item.key for item in user.items}
            _, more = taken.setdefault(id(user), (user, Body(user.state, [], user.place)))
            for item in used.items:
                if item.key is not None and item.key not in have and item.key not in NOT_USED:
                    origin = item.origin or f"use of {used.state}: {names[id(used)]}"
                    add_item(more, own_list(item)._replace(origin=origin))
        for user, more in taken.values():
            user.items.extend(more.items)


def _repeated(
    references: Sequence[tuple[str, str, Place]], targets: Sequence[Sequence[Body]], item: Item
) -> list[int]:
    """How often each reference is added, as Salt does (seen in `show lowstate` only): of a list,
    again with each further one up to the next SLS.
    """
    counts, following = [], 0
    for (state, _, _), bodies in zip(reversed(references), reversed(targets), strict=True):
        counts.append(1 + following)
        following = 0 if state == "sls" else following + bool(bodies)
    counts.reverse()
    added = sum(count * len(bodies) for count, bodies in zip(counts, targets, strict=True))
    return counts if isinstance(item.value, list) and added <= REPEATED else [1] * len(references)


def _reference(entry: object) -> tuple[str, str]:
    if isinstance(entry, dict) and len(entry) == 1:
        return next((str(state), str(name)) for state, name in entry.items())
    return "", str(entry)


def _own_name(body: Body) -> Iterator[str]:
    for item in body.items:
        if item.key == "name" and isinstance(item.value, str):
            yield item.value


def _among_names(body: Body) -> Iterator[str]:
    for item in body.items:
        if item.key == "names" and isinstance(item.value, list):
            for entry in item.value:
                yield str(next(iter(entry), "")) if isinstance(entry, dict) else str(entry)
