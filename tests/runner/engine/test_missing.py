# SPDX-License-Identifier: Apache-2.0
"""What Salt has and runner lacks: the list, and the table of what to write instead."""

from __future__ import annotations

import fnmatch
import re

import pytest
from command import Machine

from runner.engine.loader import unsupported
from runner.engine.loader.missing import missing, of_salt
from runner.engine.loader.registry import Registry

LIBRARY = Registry({})
OWN = {
    "state": {
        f"{m}.{name}" for m in LIBRARY.state_modules() for name in LIBRARY.state_functions(m)
    },
    "function": {f"{m}.{name}" for m in LIBRARY.modules() for name in LIBRARY.functions(m)},
}
ROWS = {
    "state": unsupported.table(unsupported.STATES, unsupported.ELSEWHERE),
    "function": unsupported.table(unsupported.FUNCTIONS),
}
KINDS = pytest.mark.parametrize("kind", ROWS)


@KINDS
def test_no_row_is_of_a_function_that_runner_has(kind: str) -> None:
    stale = {row: names for row in ROWS[kind] if (names := fnmatch.filter(OWN[kind], row))}
    assert not stale, "remove or narrow these rows of runner/engine/loader/unsupported.txt"


@KINDS
def test_each_row_is_of_a_function_of_salt(kind: str) -> None:
    names = list(of_salt(kind))
    unknown = [row for row in ROWS[kind] if not fnmatch.filter(names, row)]
    assert set(unknown) <= unsupported.table(unsupported.ELSEWHERE).keys()


@KINDS
def test_advice_names_functions_that_there_are(kind: str) -> None:
    everything = OWN["state"] | OWN["function"]
    modules = {name.partition(".")[0] for name in everything}
    advice = {*ROWS[kind].values(), *unsupported.table(unsupported.WITHIN_A_RUN).values()}
    words = {word for text in advice for word in re.findall(r"(?<![\w/.])[a-z]\w*\.[\w*]+", text)}
    assert len(words) > 10
    unknown = {
        word for word in words - everything if not (word.endswith(".*") and word[:-2] in modules)
    }
    assert not unknown


def test_own_functions_vanish_from_the_list() -> None:
    class Grown(Registry):
        def functions(self, module: str) -> list[str]:
            return ["list"] if module == "beacons" else super().functions(module)

        def modules(self) -> list[str]:
            return [*super().modules(), "beacons"]

    assert "beacons.list" in missing(LIBRARY)["functions"]
    grown = missing(Grown({}), "beacons")["functions"]
    assert "beacons.list" not in grown and "master's" in str(grown["beacons.add"])


def test_the_command_lists_what_is_missing(machine: Machine) -> None:
    text = machine("doc", "--missing").stdout
    assert re.search(r"boto_vpc\.\* \(\d+\)", text)
    assert "State" in text and "pkg.list_updates\n      -> pkg.list_upgrades\n" in text
    assert "state.apply" not in text  # `runner call state.apply` is there
    whole = machine.answer("doc", "--missing")
    silent = [name for kind in whole for name, advice in whole[kind].items() if not advice]
    assert not silent, "say in runner/engine/loader/unsupported.txt what to write instead"
    assert "file.managed" not in whole["states"] and whole["states"]["apt.held"] == "pkg.held"
    part = machine.answer("doc", "--missing", "cp.")
    assert part["states"] == {} and "master" in part["functions"]["cp.push"]
    assert machine("doc", "--missing", "file.absent").stdout == "nothing: runner has them all\n"
    assert "did you mean pkg?" in machine("doc", "--missing", "pkgg", code=1).stderr


def test_what_needs_a_master_says_so(machine: Machine) -> None:
    assert "without a master" in machine("call", "saltutil.kill_job", "x", code=1).stderr
