# SPDX-License-Identifier: Apache-2.0
"""Each provider of packages: its interface, and what it makes of its tool's output.

A new provider needs a file of recorded output, `recorded/NAME.py`, and nothing here.
"""

from __future__ import annotations

import importlib.util
import inspect
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, get_args

import pytest
from harness import HarnessHere

from modules import _paths, cmd, pkg
from modules.pkg._action import Action
from modules.pkg.apt import questions
from modules.pkg.package_manager import FEATURES, PackageManager
from runner.api import ChangeNotAllowed, changes_allowed, running

PROVIDERS = {provider.NAMES[0]: provider for provider in pkg.PROVIDERS.all()}
CHANGERS = {"renew_db", "run", "hold", "download", "import_key", "mark", "patch"}
CHANGERS |= {"set_module_stream", "trust_repository"}
METHODS = {
    name
    for name, value in vars(PackageManager).items()
    if inspect.isfunction(value) and not name.startswith("_")
}


def recorded(name: str) -> Any:
    path = Path(__file__).parent / "recorded" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(f"recorded_{name}", path)
    assert spec and spec.loader, f"{path} is missing"
    module: ModuleType = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(params=PROVIDERS)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def asked(name: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[list[str]]]:
    """The command lines that the provider ran, which get their recorded answers; this computer has
    no lists of its own, and folders whose files are not to be read.
    """
    lines: list[list[str]] = []
    answers = recorded(name).ANSWERS

    def probe(argv: Sequence[str], **_: Any) -> cmd.Completed:
        told = [word for word in argv if word.startswith("APT::Architectures::=")]
        argv = [*argv[:1], *argv[1 + 2 * len(told) :]]  # what apt is told of this computer
        lines.append(argv)
        line = re.sub(r"/\S*/scratch-\w+", "SCRATCH", " ".join(argv))
        answer = answers.get(line, "")
        return cmd.Completed(int(answer is None), answer or "", "", 1)

    monkeypatch.setattr(cmd, "probe", probe)
    monkeypatch.setattr(questions, "_settings", list)
    monkeypatch.setattr(_paths, "glob", lambda _: [])
    monkeypatch.setattr(_paths, "listdir", lambda _: ["0001"])  # dpkg was interrupted
    with running(HarnessHere()):
        yield lines


def test_it_has_the_functions_with_their_parameters(name: str) -> None:
    provider = PROVIDERS[name]
    features = {method for feature in FEATURES.values() for method in feature.methods}
    for method in sorted(METHODS):
        function = getattr(provider, method, None)
        if function is None:
            assert method in features, f"{method} is no part of a feature"
            continue
        wanted = inspect.signature(getattr(PackageManager, method)).parameters
        assert list(inspect.signature(function).parameters) == list(wanted)[1:], method
        assert inspect.getdoc(function), method
    assert provider.NAMES
    assert provider.DATABASE.startswith("/")
    assert all(path.startswith("/") for path in provider.REPOSITORY_FILES)


def test_a_feature_is_there_whole_or_not_at_all(name: str) -> None:
    for feature, about in FEATURES.items():
        there = {method for method in about.methods if hasattr(PROVIDERS[name], method)}
        assert there in (set(), {*about.methods}), feature


def test_only_changers_change(name: str) -> None:
    provider = PROVIDERS[name]
    for method in sorted(METHODS - {"features", "has"}):
        function = getattr(provider, method, None)
        changes = "changes_the_machine" in getattr(function, "__dict__", {})
        assert changes is (method in CHANGERS and function is not None), method
    assert "fetches" in provider.refresh_db.__dict__
    with running(HarnessHere()), pytest.raises(ChangeNotAllowed):
        provider.run(pkg.Transaction("remove", (pkg.PackageTarget("x"),)))


def test_it_reads_what_its_tool_prints(name: str, asked: list[list[str]]) -> None:
    calls = recorded(name).CALLS
    for function, arguments, answer in calls:
        assert getattr(PROVIDERS[name], function)(*arguments) == answer, (function, arguments)
    tried = {function for function, _, _ in calls}
    looks = METHODS - CHANGERS - {"features", "has", "refresh_db", "lists_age", "archives"}
    looks -= {"simulate_after", "control", "placement", "installed_scripts"}  # they read files
    looks -= {"fetch_archives", "kept_by_others", "hooks", "archive_digest"}
    assert not {look for look in looks if hasattr(PROVIDERS[name], look)} - tried


def test_what_is_installed_is_read_once(name: str, asked: list[list[str]]) -> None:
    for _ in range(5):
        PROVIDERS[name].list_pkgs()
        PROVIDERS[name].leftovers()
        PROVIDERS[name].normal("nginx:amd64")
    repeated = [line for line, count in Counter(map(tuple, asked)).items() if count > 1]
    assert not repeated


@pytest.mark.parametrize("option", pkg.InstallOptions._fields)
def test_each_option_is_put_into_its_words(name: str, option: str, asked: list[list[str]]) -> None:
    options, words = recorded(name).WORDS[option]
    assert getattr(options, option) != getattr(pkg.InstallOptions(), option)
    targets = (pkg.PackageTarget("nginx"),)
    plain = _simulated(name, asked, pkg.Transaction("install", targets))
    chosen = _simulated(name, asked, pkg.Transaction("install", targets, options))
    instead = getattr(recorded(name), "INSTEAD", {}).get(option)  # an action of the tool's own
    rest = _without(chosen, words)
    assert rest == ([word for word in plain if word != instead] if instead else plain)


def _simulated(name: str, asked: list[list[str]], transaction: pkg.Transaction) -> list[str]:
    """The command line of the tool that a simulation runs."""
    asked.clear()
    PROVIDERS[name].simulate(transaction)
    start = recorded(name).START
    (line,) = (line for line in asked if line[: len(start)] == start)
    return line


def _without(line: list[str], words: list[str]) -> list[str]:
    """A command line without some words that stand in it one behind the other."""
    places = range(len(line) - len(words) + 1)
    starts = [start for start in places if line[start : start + len(words)] == words]
    assert starts, f"{words} is not in {line}"
    return line[: starts[0]] + line[starts[0] + len(words) :]


def test_each_action_is_put_into_its_words(name: str, asked: list[list[str]]) -> None:
    table = recorded(name)
    for transaction, words in table.ACTIONS:
        assert _simulated(name, asked, transaction) == [*table.START, *words]
    assert {transaction.action for transaction, _ in table.ACTIONS} == {*get_args(Action)}


def test_a_dry_run_asks_what_the_real_run_does(name: str, asked: list[list[str]]) -> None:
    for options, words in recorded(name).WORDS.values():
        transaction = pkg.Transaction("install", (pkg.PackageTarget("nginx"),), options)
        simulated = _simulated(name, asked, transaction)
        asked.clear()
        with changes_allowed():
            PROVIDERS[name].run(transaction)
        real = [line for line in asked if line[0] == simulated[0]][-1]
        assert _without(real, words)
