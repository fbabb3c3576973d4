# SPDX-License-Identifier: Apache-2.0
"""Settings of the system as they were: alternatives, the name of the machine."""

from __future__ import annotations

import shlex

from modules import alternatives, debconf, file, locale, network
from modules.file._change import former_attributes
from modules.undo._kind import ABSENT, Future, State, one_by_one
from runner.api import StateFailed


def _restore_alternatives(name: str, was: State, now: State) -> None:
    former, present = (state.get("choices", ABSENT) for state in (was, now))
    slaves = [shlex.split(line) for line in was.get("slaves", ())]
    for path, priority in former.items():
        if present.get(path) != priority:
            own = [(slave, link, target) for of, slave, link, target in slaves if of == path]
            alternatives.install_again(name, was["link"], path, priority, own)
    for path in present.keys() - former.keys():
        alternatives.remove(name, path)
    if was and was["auto"]:
        alternatives.auto(name)
    elif was:
        alternatives.set_(name, was["current"])


def _restore_locales(name: str, was: State, now: State) -> None:
    locale.regenerate()  # what is listed was restored before
    if odd := {*was["names"]} ^ {*locale.list_avail()}:
        raise StateFailed(f"{locale.LIST} says otherwise of {', '.join(sorted(odd))}")


def _not_there(name: str, was: State, now: State, future: Future) -> str:
    return "" if was and now else "it is not there"


def _debconf_look(name: str) -> State:
    owner, _, question = name.partition(" ")
    former = debconf.former_state(owner, question)
    return former.state if former else {"value": debconf.HIDDEN}


def _restore_debconf(name: str, was: State, now: State) -> None:
    owner, _, question = name.partition(" ")
    if was:
        debconf.put_back(owner, question, was["value"], was["seen"])
    else:
        debconf.forget_answer(owner, question)


DEBCONF = one_by_one(_debconf_look, _restore_debconf, private=True)
CAPABILITIES = one_by_one(
    file.former_capabilities,
    lambda path, was, now: file.set_capabilities(path, was["text"]),
    _not_there,
)
ATTRIBUTES = one_by_one(
    former_attributes, lambda path, was, now: file.set_attributes(path, was["chattr"]), _not_there
)
ALTERNATIVES = one_by_one(alternatives.former_state, _restore_alternatives)
LOCALES = one_by_one(lambda name: locale.former_state(), _restore_locales)
HOSTNAME = one_by_one(
    lambda name: network.former_hostname(),
    lambda name, was, now: network.mod_hostname(was["value"]),
)
