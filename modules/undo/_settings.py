# SPDX-License-Identifier: Apache-2.0
"""Settings of the system as they were: alternatives, the name of the machine."""

from __future__ import annotations

import shlex

from modules import alternatives, debconf, file, locale, network
from modules.file._look import former_attributes
from modules.undo._kind import ABSENT, Changes, Future, State, UndoKind
from runner.api import StateFailed


def _restore_alternatives(changes: Changes) -> None:
    for name, (was, now) in changes.items():
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


def _restore_locales(changes: Changes) -> None:
    for was, _ in changes.values():
        locale.regenerate()  # what is listed was restored before
        if odd := {*was["names"]} ^ {*locale.list_avail()}:
            raise StateFailed(f"{locale.LIST} says otherwise of {', '.join(sorted(odd))}")


def _restore_hostname(changes: Changes) -> None:
    for was, _ in changes.values():
        network.mod_hostname(was["value"])


def _restore_attributes(changes: Changes) -> None:
    for path, (was, _) in changes.items():
        file.set_attributes(path, was["chattr"])


def _refused_attributes(changes: Changes, future: Future) -> dict[str, str]:
    gone = (path for path, (was, now) in changes.items() if not (was and now))
    return dict.fromkeys(gone, "it is not there")


def _restore_capabilities(changes: Changes) -> None:
    for path, (was, _) in changes.items():
        file.set_capabilities(path, was["text"])


def _debconf_look(name: str) -> State:
    owner, _, question = name.partition(" ")
    former = debconf.former_state(owner, question)
    return former.state if former else {"value": debconf.HIDDEN}


def _restore_debconf(changes: Changes) -> None:
    for name, (was, _) in changes.items():
        owner, _, question = name.partition(" ")
        if was:
            debconf.put_back(owner, question, was["value"], was["seen"])
        else:
            debconf.forget_answer(owner, question)


DEBCONF = UndoKind(_debconf_look, _restore_debconf, private=True)
CAPABILITIES = UndoKind(
    lambda name: file.former_capabilities(name).state, _restore_capabilities, _refused_attributes
)
ATTRIBUTES = UndoKind(
    lambda name: former_attributes(name).state, _restore_attributes, _refused_attributes
)
ALTERNATIVES = UndoKind(lambda name: alternatives.former_state(name).state, _restore_alternatives)
LOCALES = UndoKind(lambda name: locale.former_state().state, _restore_locales)
HOSTNAME = UndoKind(lambda name: network.former_hostname().state, _restore_hostname)
