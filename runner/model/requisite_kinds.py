# SPDX-License-Identifier: Apache-2.0
"""The table of the kinds of requisites: to add a kind, add a row to `KINDS`.

Everything that tells one kind from another reads this table: compiler, order, engine, pending
reactions, pictures, messages, the manual and the JSON Schema.
"""

from __future__ import annotations

from runner.model.records import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Literal

    HowMany = Literal["", "any", "all"]  # of the states that a state refers to by one kind
    Reaction = Literal["", "watch", "onchanges", "listen"]  # as the reaction journal calls them
    InForm = Literal["carried", "resolved", "ignored"]

NOT_ORDERING = -1


class RequisiteKind(str):
    """One kind of requisite. As a text it is its name, which is what a user writes."""

    def __new__(cls, name: str, *_: object, **__: object) -> RequisiteKind:
        return super().__new__(cls, name)

    def __init__(
        self,
        name: str,
        meaning: str,
        *,
        strength: int = NOT_ORDERING,
        must_succeed: HowMany = "",
        must_fail: HowMany = "",
        reaction: Reaction = "",
        prepares: bool = False,
        without_mod_watch: str = "",
        in_form: InForm = "carried",
        aliases: Mapping[str, str] | None = None,
        in_aliases: Mapping[str, str] | None = None,
        arrow: str = "",
        other_words: tuple[str, ...] = (),
        words: str = "depends on {}",
        words_back: str = "required by {}",
        family: str = "",
        colours: tuple[str, str] = ("#5b6573", "#a9b2bf"),
        dashes: str = "",
    ) -> None:
        """meaning: what it does, in a sentence about the states that it lists.

        strength: of several kinds on one state the strongest decides about the order.
        must_succeed, must_fail: how many of the listed states must (not) have failed for this one
        to run. reaction: how the state reacts to their changes. prepares: the state runs before
        them, if they are about to change something. without_mod_watch: the kind that it is in a
        state whose module cannot react. in_form: what becomes of `KIND_in`: it is carried into the
        listed states, resolved into edges without changing their arguments, or ignored as in Salt.
        aliases, in_aliases: further names of it and of its `_in` form, with their meanings. arrow:
        its sign in a chain. other_words: what people write who mean it. words, words_back: how
        `runner why` puts it, seen from either side. family: the kind whose line in pictures it
        shares. colours: of that line, on a light and on a dark ground. dashes: its pattern.
        """
        self.meaning = meaning
        self.strength = strength
        self.orders = strength != NOT_ORDERING
        self.must_succeed = must_succeed
        self.must_fail = must_fail
        self.reaction = reaction
        self.needs_mod_watch = reaction in ("watch", "listen")
        self.prepares = prepares
        # whether it may skip a state that nothing is wrong with
        self.conditional = prepares or bool(must_fail) or reaction == "onchanges"
        self.reacts_or_skips = self.conditional or bool(reaction)
        self.without_mod_watch = without_mod_watch
        self.in_form = in_form
        self.in_key = f"{name}_in"
        self.aliases: Mapping[str, str] = aliases or {}
        self.in_aliases: Mapping[str, str] = in_aliases or {}
        self.arrow = arrow
        self.other_words = other_words
        self.words = words
        self.words_back = words_back
        self.family = family or name
        self.colours = colours
        self.dashes = dashes

    def has_reaction(self, by_mod_watch: bool) -> bool:
        """Return whether a state reacts by it. by_mod_watch: the state's module has one."""
        return bool(self.reaction) and (by_mod_watch or not self.needs_mod_watch)


KINDS: Mapping[str, RequisiteKind] = {
    kind: kind
    for kind in (
        RequisiteKind(
            "require",
            "states that have to succeed before this one",
            strength=3,
            must_succeed="all",
            in_aliases={"before": "run before these (require_in)"},
            arrow="->",
            other_words=("depends_on", "depends", "needs", "after", "requisites"),
        ),
        RequisiteKind(
            "watch",
            "as require; when one of them changed something, this state reacts (a service restarts,"
            " say)",
            strength=7,
            must_succeed="all",
            reaction="watch",
            without_mod_watch="require",
            in_aliases={"notify": "run before these, which react to changes (watch_in)"},
            aliases={"subscribe": "run after these and react to changes (watch)"},
            arrow="~>",
            colours=("#1769c4", "#6db3ff"),
        ),
        RequisiteKind(
            "onchanges",
            "run only when one of these changed something",
            strength=5,
            reaction="onchanges",
            colours=("#00806e", "#3fc7b0"),
        ),
        RequisiteKind(
            "onfail",
            "run only when one of these failed",
            strength=0,
            must_fail="any",
            colours=("#b45f06", "#f0a050"),
        ),
        RequisiteKind(
            "prereq",
            "run only when one of these is about to change something, and before it",
            strength=9,
            must_succeed="all",
            prepares=True,
            words="runs before {}, if that is about to change something",
            words_back="comes after {}, which checks it",
            colours=("#7b3fb0", "#c193f0"),
        ),
        RequisiteKind(
            "listen",
            "react once, at the end of the run, when one of these changed something",
            reaction="listen",
            in_form="resolved",
            words="reacts at the end of the run to {}",
            words_back="listened to by {}",
            colours=("#1769c4", "#6db3ff"),
            dashes="7 4",
        ),
        RequisiteKind(
            "require_any",
            "as require, but one of them is enough",
            strength=4,
            must_succeed="any",
            in_form="ignored",
            family="require",
        ),
        RequisiteKind(
            "watch_any",
            "as watch, but one of them is enough",
            strength=8,
            must_succeed="any",
            reaction="watch",
            without_mod_watch="require_any",
            in_form="ignored",
            family="watch",
        ),
        RequisiteKind(
            "onchanges_any",
            "as onchanges; one that succeeded is enough",
            strength=6,
            reaction="onchanges",
            in_form="ignored",
            family="onchanges",
        ),
        RequisiteKind(
            "onfail_any",
            "as onfail",
            strength=1,
            must_fail="any",
            in_form="ignored",
            family="onfail",
        ),
        RequisiteKind(
            "onfail_all",
            "run only when all of these failed",
            strength=2,
            must_fail="all",
            in_form="ignored",
            family="onfail",
        ),
    )
}
REQUIRE, WATCH, PREREQ = KINDS["require"], KINDS["watch"], KINDS["prereq"]
# what they are in a state whose module cannot react
WITHOUT_MOD_WATCH = {
    kind: KINDS[kind.without_mod_watch] for kind in KINDS.values() if kind.without_mod_watch
}
FAMILIES = tuple(kind for kind in KINDS.values() if kind.family == kind)

# `_in` forms, and the kinds that they give to the states which they list
CARRIED = {kind.in_key: kind for kind in KINDS.values() if kind.in_form == "carried"}
RESOLVED = {kind.in_key: kind for kind in KINDS.values() if kind.in_form == "resolved"}

USE = {
    "use": "take the arguments of these that are not given here",
    "use_in": "give this state's arguments to those",
}
REQUISITE_KEYS = frozenset([*KINDS, *(kind.in_key for kind in KINDS.values()), *USE])

# Puppet's names -> the requisite that each stands for
ALIASES = {
    alias: key
    for kind in KINDS.values()
    for key, aliases in ((kind.in_key, kind.in_aliases), (str(kind), kind.aliases))
    for alias in aliases
}
# signs of chains -> the kind, and whether it is read from right to left
ARROWS = {
    sign: (kind, backwards)
    for kind in KINDS.values()
    if kind.arrow
    for sign, backwards in ((kind.arrow, False), (f"<{kind.arrow[0]}", True))
}


class AutomaticKind(Record):
    """A hook by which a state module asks for relationships.

    comes_after: the state comes after those that the hook names (else before them). reacts: the
    later one watches the earlier one.
    """

    hook: str
    comes_after: bool
    reacts: bool


# the hook that gives what a state is beside its ID and name, for automatic relationships
STANDS_FOR = "autoalias"
# the functions of a module that come after all its other states
COMES_LAST = "COMES_LAST"
AUTOMATIC: Mapping[str, AutomaticKind] = {
    kind.hook: kind
    for kind in (
        AutomaticKind("autorequire", comes_after=True, reacts=False),
        AutomaticKind("autobefore", comes_after=False, reacts=False),
        AutomaticKind("autonotify", comes_after=False, reacts=True),
        AutomaticKind("autosubscribe", comes_after=True, reacts=True),
    )
}
