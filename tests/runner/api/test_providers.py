# SPDX-License-Identifier: Apache-2.0
"""Providers and their features; properties."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any, Protocol

import pytest
from command import Machine
from harness import HarnessHere, apply, look

from modules.pkg import Simulation, Transaction
from runner.api import (
    Done,
    Feature,
    Kind,
    Plan,
    Planned,
    Property,
    Provider,
    Providers,
    StateFailed,
    running,
)
from runner.model.errors import RunnerError


class Painter(Provider, Protocol):
    def paint(self, name: str) -> str: ...
    def scrape(self, name: str) -> str: ...
    def draw(self, name: str) -> str: ...


class Brush:
    NAMES = ("brush", "roller")
    FEATURES = ("outdoors",)

    def suits(self) -> bool:
        return True

    def paint(self, name: str) -> str:
        return f"painted {name}"

    def scrape(self, name: str) -> str:
        return f"scraped {name}"


class Pencil(Brush):
    NAMES = ("pencil",)
    FEATURES = ()

    def suits(self) -> bool:
        return False

    def draw(self, name: str) -> str:
        return f"drew {name}"


class Half:
    NAMES = ("half",)
    paint = Brush.paint

    def suits(self) -> bool:
        return False


FEATURES = {
    "drawing": Feature("it draws lines", ("draw",)),
    "outdoors": Feature("rain does not matter"),
}


def painters(*candidates: Any) -> Providers[Painter]:
    return Providers("painter", Painter, candidates, FEATURES)


def test_the_one_that_suits_or_is_named() -> None:
    found = painters(Pencil(), Brush())
    with running(HarnessHere()):
        assert found().paint("x") == "painted x"
        assert found().features() == ["outdoors"]
        assert found("pencil").features() == ["drawing"]
        assert found("pencil").draw("x") == "drew x"
        assert found("roller").NAMES[0] == "brush"
        assert [found("pencil").has("drawing"), found("pencil").has("drawing", "outdoors")] == [
            True,
            False,
        ]
        with pytest.raises(StateFailed, match="there is no painter 'spray'"):
            found("spray")
        with pytest.raises(StateFailed, match="this machine has no painter"):
            painters(Pencil())()
    assert painters(Pencil()).certain() is None


def test_a_name_is_of_the_kind_of_the_state() -> None:
    """That of a state of another kind names none of this one."""
    kinds = {
        module: Providers("painter", Painter, [Pencil(), Brush()], FEATURES, module=module)
        for module in ("wall", "door")
    }
    here = HarnessHere()
    with running(here):
        for state, expected in (("wall", "pencil"), ("door", "brush"), ("fence", "pencil")):
            here.chunk = SimpleNamespace(state=state, args={"provider": "pencil"})
            assert kinds["wall"]().NAMES[0] == expected, state


def test_what_lacks_a_method_fails_by_name() -> None:
    with pytest.raises(RunnerError, match="the provider half of painter lacks scrape"):
        painters(Half()).certain("half")
    odd = Brush()
    odd.FEATURES = ("flying",)
    with pytest.raises(RunnerError, match="declares an unknown feature 'flying'"):
        painters(odd).certain()


@pytest.mark.parametrize("kind", ["pkg", "service"])
def test_the_librarys_own_are_complete(kind: str) -> None:
    import importlib

    table = importlib.import_module(f"modules.{kind}").PROVIDERS
    assert [each.NAMES[0] for each in table.all()] == {
        "pkg": ["apt", "dnf", "zypper", "pacman", "apk"],
        "service": ["systemd", "openrc", "runit", "s6", "sysv"],
    }[kind]
    assert all(
        set(feature.methods) <= set(dir(table.protocol)) for feature in table.feature_table.values()
    )


BOX = """
from typing import Annotated, Protocol
from runner.api import Feature, Plan, Planned, Provider, Providers, requires_feature

class Maker(Provider, Protocol): ...

class Wood:
    NAMES = ("wood",)
    def suits(self): return SUITS

class Steel(Wood):
    NAMES = ("steel",)
    FEATURES = ("fire",)
    def suits(self): return False

PROVIDERS = Providers("box maker", Maker, [Wood(), Steel()], {"fire": Feature("it does not burn")})

def made(name: str, oven: Annotated[bool, requires_feature("fire")] = False) -> Planned:
    "A box."
    yield Plan({"made": name}, "to be made")
    return "made by " + PROVIDERS().NAMES[0]

@requires_feature("fire")
def burnt(name: str) -> Planned:
    "Ashes."
    yield Plan({"burnt": name}, "to be burnt")
    return "burnt"
"""


@pytest.mark.parametrize("suits", ["True", "False"])
def test_a_state_that_needs_what_the_provider_cannot_do(machine: Machine, suits: str) -> None:
    (machine.folder / "states/_states").mkdir()
    (machine.folder / "states/_states/box.py").write_text(BOX.replace("SUITS", suits))
    machine.write(
        a=(
            "x:\n  box.made:\n    - provider: wood\n    - oven: True\ny:\n  box.burnt: []\nz:\n "
            " box.made:\n    - oven: False\ns:\n  box.made:\n    - provider: steel\n    - oven:"
            " True\n"
        )
    )
    error = machine("sls", "a", "--test", code=1).stderr
    assert "box.made: oven needs the feature fire, which the provider wood lacks" in error
    assert "hint: fire: it does not burn" in error
    assert f"{machine.folder}/states/a.sls:4:7" in error
    certain = "box.burnt needs the feature fire, which the provider wood lacks" in error
    assert certain is (suits == "True"), "where none suits yet, an earlier state may bring one"
    assert error.count("needs the feature") == 1 + certain


ARGUMENTS = {
    "service.running: unmask needs the feature maskable, which the provider sysv lacks": (
        "unmask: true"
    ),
    "service.running: unmask_runtime needs the feature maskable, which the provider sysv lacks": (
        "unmask_runtime: true"
    ),
}


@pytest.mark.parametrize("told", ARGUMENTS)
def test_an_argument_of_the_library_that_needs_what_the_provider_cannot_do(
    machine: Machine, told: str
) -> None:
    machine.write(a=f"x:\n  service.running:\n    - provider: sysv\n    - {ARGUMENTS[told]}\n")
    error = machine("sls", "a", "--test", code=1).stderr
    assert told in error
    assert f"{machine.folder}/states/a.sls:4:7" in error
    machine.write(a="x:\n  service.running:\n    - provider: systemd\n    - unmask: true\n")
    assert "needs the feature" not in machine("check", "a", code=None).stdout


@pytest.mark.parametrize("provider", ["openrc", "runit", "s6"])
def test_what_only_systemd_or_openrc_can(machine: Machine, provider: str) -> None:
    machine.write(
        mask=f"x:\n  service.masked:\n    - provider: {provider}\n",
        level=f"x:\n  service.enabled:\n    - provider: {provider}\n    - runlevels: [boot]\n",
    )
    lacks = f"needs the feature {{}}, which the provider {provider} lacks"
    assert lacks.format("maskable") in machine("check", "mask", code=1).stdout
    refused = lacks.format("runlevels") in machine("check", "level", code=None).stdout
    assert refused is (provider != "openrc")


def test_holding_needs_a_provider_that_can() -> None:
    from runner.language.arguments.bind import needed_features
    from states import pkg

    assert needed_features(pkg.installed, {"hold": False, "update_holds": True}) == {
        "hold": ("holdable",),
        "update_holds": ("holdable",),
    }
    assert needed_features(pkg.installed, {"hold": None}) == {}
    security = {"security": ("security_updates",)}
    assert needed_features(pkg.uptodate, {"security": True}) == {
        **needed_features(pkg.uptodate, {}),
        **security,
    }


def test_the_manual_describes_features(machine: Machine) -> None:
    page = " ".join(machine("doc", "service.masked").stdout.split())
    assert "It needs a provider with: maskable." in page
    assert (
        "Provider feature maskable: services can be masked: nothing can start them (systemd)."
        in page
    )


# ---------------------------------------------------------------- properties


def cron(now: dict[str, Any], log: list[Any], exists: bool = True, **wanted: Any) -> Planned:
    def prop(name: str, **more: Any) -> Property:
        def put(value: Any) -> None:
            log.append((name, value))

        return Property(name, wanted.get(name), lambda: log.append(name) or now[name], put, **more)

    listed = [
        prop("shell"),
        prop("minute", matching="all"),
        prop("mode", is_to_s=oct, should_to_s=oct),
        prop("size", change_to_s=lambda old, new: f"it grows from {old} to {new}"),
    ]
    return Kind().present(exists, lambda: log.append("create"), listed, name="entry")


NOW = {"shell": "sh", "minute": [0, 30], "mode": 0o644, "size": 1}


@pytest.mark.parametrize(
    ("wanted", "changes", "done"),
    [
        ({}, None, []),
        ({"shell": ["bash", "sh"]}, None, []),  # any of them will do
        (
            {"shell": ["bash", "zsh"]},
            {"shell": {"old": "sh", "new": "bash"}},
            [("shell", "bash")],
        ),  # the first is set
        ({"minute": [0, 30]}, None, []),
        (
            {"minute": [0]},
            {"minute": {"old": "0, 30", "new": "0"}},
            [("minute", [0])],
        ),  # all of them count
        ({"mode": 0o600}, {"mode": {"old": "0o644", "new": "0o600"}}, [("mode", 0o600)]),
        (
            {"size": 2, "shell": "ksh"},
            {"shell": {"old": "sh", "new": "ksh"}, "size": {"old": "1", "new": "2"}},
            [("shell", "ksh"), ("size", 2)],
        ),
    ],
)
def test_properties(
    wanted: dict[str, Any], changes: dict[str, Any] | None, done: list[Any]
) -> None:
    log: list[Any] = []
    planned = look(cron, NOW, log, **wanted)
    assert (planned.changes if isinstance(planned, Plan) else None) == changes
    assert set(log) == set(wanted), "only what is wanted is measured, and nothing is set"
    log.clear()
    outcome = apply(cron, NOW, log, **wanted)
    assert [each for each in log if isinstance(each, tuple)] == done
    if "size" in wanted:
        assert outcome.comment == "shell changed from sh to ksh; it grows from 1 to 2"


def test_existence_comes_first() -> None:
    log: list[Any] = []
    planned = look(cron, NOW, log, exists=False, shell="ksh")
    assert isinstance(planned, Plan)
    assert planned.changes == {"entry": {"old": "absent", "new": "present"}}
    assert log == []
    apply(cron, NOW, log, exists=False, shell="ksh")
    assert log == ["create"], "no other property is looked at"


def test_what_should_not_be_there() -> None:
    log: list[Any] = []

    def gone(exists: bool) -> Planned:
        return Kind().absent(exists, lambda: log.append("destroyed"), name="entry")

    planned = look(gone, True)
    assert isinstance(planned, Plan)
    assert planned.changes == {"entry": {"old": "present", "new": "absent"}}
    apply(gone, True)
    assert log == ["destroyed"]
    assert look(gone, False) == Done("entry is absent already", {})


# ---------------------------------------------------------------- packages that react


class Packages:
    """A package manager with one package."""

    NAMES = ("mine",)

    def __init__(self) -> None:
        self.done: list[Transaction] = []

    def has(self, *names: str) -> bool:
        return names == ("holdable",)

    def list_pkgs(self) -> dict[str, str]:
        return {"sed": "4.9"}

    def leftovers(self) -> dict[str, str]:
        return {}

    def candidates(self, names: tuple[str, ...]) -> dict[str, str]:
        return {"sed": "4.9"}

    def versions(self, name: str) -> list[str]:
        return ["4.9"]

    def simulate(self, transaction: Transaction) -> Simulation:
        return Simulation({})

    def held(self) -> list[str]:
        return []

    def normal(self, name: str) -> str:
        return name

    def hold(self, names: list[str], release: list[str]) -> None:
        raise AssertionError

    def run(self, transaction: Transaction) -> None:
        self.done.append(transaction)


@pytest.mark.parametrize(
    ("sfun", "more", "comment", "anew"),
    [
        ("installed", {}, "All specified packages are already installed", False),
        ("latest", {}, "Package sed is already up-to-date", False),
        ("installed", {"reinstall_on_refresh": True}, "Package sed was reinstalled.", True),
        (
            "latest",
            {"reinstall_on_refresh": True, "pkgs": ["sed"]},
            "Package sed was reinstalled.",
            True,
        ),
        (
            "removed",
            {"pkgs": ["x"], "reinstall_on_refresh": True},
            "All specified packages are already absent",
            False,
        ),
        ("purged", {"pkgs": ["x"]}, "None of the targeted packages are installed", False),
        ("held", {}, None, False),
    ],
)
def test_what_packages_do_when_something_changed(
    monkeypatch: pytest.MonkeyPatch,
    sfun: str,
    more: dict[str, Any],
    comment: str | None,
    anew: bool,
) -> None:
    from modules import pkg
    from states.pkg import mod_watch

    manager = Packages()
    monkeypatch.setattr(pkg, "provider", lambda: manager)
    for part in ("_planned", "_outcome"):
        monkeypatch.setattr(f"modules.pkg.{part}.provider", lambda: manager)
    if comment is None:
        with pytest.raises(StateFailed, match=r"pkg\.held does not work with the watch requisite"):
            look(mod_watch, "sed", sfun, **more)
        return
    planned = look(mod_watch, "sed", sfun, **more)
    assert isinstance(planned, Plan) is anew
    assert manager.done == []
    outcome = apply(mod_watch, "sed", sfun, **more)
    assert comment in outcome.comment
    assert [transaction.options.reinstall for transaction in manager.done] == [True] * anew


@pytest.mark.parametrize(
    ("grains", "service", "package"),
    [
        ({"init": "systemd", "os_family": "RedHat"}, "", ""),
        ({"init": "sysvinit", "os_family": "Debian"}, "sysv", "apt"),
        ({"init": "openrc", "os_family": "Alpine"}, "openrc", "apk"),
        ({"role": "web"}, "", ""),  # that does not say which it has
        ({"os_family": "Suse"}, "", "zypper"),
    ],
)
def test_a_machine_that_grains_describe_has_the_providers_that_follow(
    grains: dict[str, str], service: str, package: str, machine: Machine
) -> None:
    machine.write(web="a:\n  service.masked: []\nb:\n  pkg.module_enabled:\n    - name: 'x:1'\n")
    file = machine.folder / "grains.yaml"
    file.write_text(json.dumps(grains))
    said = machine("check", "web", "--grains", str(file), "--out", "json", code=None).stdout
    found = [each for each in json.loads(said)["diagnostics"] if each["code"] == "feature"]
    lacks = [f"the provider {name} lacks" for name in (service, package) if name]
    assert len(found) == len(lacks)
    for words, problem in zip(lacks, found, strict=True):
        assert words in problem["message"]
        assert "providers:" not in problem["hint"], "nothing is guessed"


def test_a_guessed_provider_says_how_to_name_another(machine: Machine) -> None:
    own = machine.folder / "states/_states/box.py"
    own.parent.mkdir()
    own.write_text(
        "from runner.api import Feature, Providers, requires_feature\n"
        "class Wood:\n    NAMES = ('wood',)\n    def suits(self):\n        return True\n"
        "FEATURES = {'fire': Feature('burns')}\n"
        "PROVIDERS = Providers('oven', object, [Wood()], FEATURES, module='oven')\n"
        "@requires_feature('fire')\ndef made(name):\n    return 'made'\n    yield\n"
    )
    machine.write(web="a:\n  box.made: []\n")
    hint = "wood is what this machine looks like: for one that has another, the configuration says"
    assert f"{hint} `providers: {{oven: NAME}}`" in machine("check", "web", code=1).stdout
    machine.config["providers"] = {"oven": "wood"}
    assert hint not in machine("check", "web", code=1).stdout
