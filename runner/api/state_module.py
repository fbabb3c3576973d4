# SPDX-License-Identifier: Apache-2.0
"""The hooks that a state module may offer to the engine: a part of the api."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any, Protocol

from runner.api.opposite import Opposite


class StateModule(Protocol):
    """A state module is a Python module; these are the names that the engine looks for (all
    optional).

    mod_watch(name, sfun, **arguments): the reaction to a watched change; the shape of a state
        function.
    REACTS: the functions that mod_watch does something for, where it has nothing to do for others
        of the module; the manual and `runner check` say so.
    mod_aggregate(low, chunks, running): returns the low chunk with the work of other chunks
        (`aggregate: True`) added to its arguments. chunks: low chunks of the module that would run
        now; each still runs at its turn, finds its work done and reports its share. running:
        results by tag.
    mod_init(chunk): runs once before the first state of the module.
    pre_run_check(name, **arguments): raises StateFailed before anything of the run starts.
    dry_run_check(plan, name, **arguments): raises StateFailed for a plan that would fail (no right
        to write, say); asked in dry runs, where a pending plan that provides what is missing, or
        may, keeps it from failing.
    autorequire, autobefore, autonotify, autosubscribe(name, **arguments): pairs (state module, ID
        or name).
    COMES_LAST: the functions whose states come after all other states of the module.
    resources(name): what is on the machine, as Resource values, for `runner resource`; all of it
        where the name is None. ROLE: what they are about ("users"), which is the SLS file that
        `runner resource --layout` writes them to; without it the name of the module. AFTER: the
        state modules whose resources come before them in it.
    PROVIDERS: the Providers of the module's kind of thing; `requires_feature` is checked against
        them.
    SELF_REFRESH: a change of the state itself also calls mod_watch.
    OPPOSITE: the functions that make things, with those that remove them (their names, or
        Opposite values of runner.api.opposite), for `runner orphans` and `runner prune`.
    DECIDES: by function the arguments, in one text, of which two states of one thing may not say
        different values ("uid shell"); "groups:remove_groups" counts unless remove_groups is false,
        and "* hostname" is of what there is but once, whatever the name. TOLD_APART_BY: the
        arguments that tell things of one name apart, beside those that an Opposite says (`by`).
    MEANS: by argument a function that gives what a value means, where it can be written in several
        ways (`nginx`, `nginx:latest`), for these; it gets the default where a state says nothing.
    owns(fun, name, **arguments): yields what a state decides of the machine, as Claim values of
        runner.api.claims, by which `runner check` finds states that undo each other.
    traps(fun, name, **arguments): yields Trap values of runner.api.claims: what compiles and is
        probably not meant, for `runner check`.
    prune_check(fun, names, going): yields (name, why) for those of the things which a function of
        the module is to remove that have to stay. going: all that is to be removed, as `runner
        orphans` calls it.
    ABOUT_ONE_FILE: the functions that look at, and change, nothing but the file of their name, as
        long as a state has no arguments but these words; the engine lets them share a group commit.
        Where they start a program or change something else, they share none after that.
    its_file: that file, where it is not the name; or a function of a state's arguments that tells
        it at the state's turn (empty: it is about more than one). For a text that a program puts in
        its place, what `installs_later` of runner.api.durability is told.
    WRITES_MANY: the functions whose files get their names together, and with those of other states:
        none of them looks at what it has written, and each asks `name_files` of
        runner.api.durability for all others that it looks at.
    NON_IDEMPOTENT: the functions that by their nature change something in each run ("run" of cmd),
        with the reason.
    """

    REACTS: tuple[str, ...]
    SELF_REFRESH: bool
    OPPOSITE: Mapping[str, str | Opposite]
    ABOUT_ONE_FILE: Mapping[str, str]
    its_file: str | Callable[..., str]
    WRITES_MANY: Collection[str]
    NON_IDEMPOTENT: Mapping[str, str]
    DECIDES: Mapping[str, str]
    TOLD_APART_BY: str
    MEANS: Mapping[str, Callable[[Any], object]]
