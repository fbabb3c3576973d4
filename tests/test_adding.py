# SPDX-License-Identifier: Apache-2.0
"""What is added in one place is there everywhere: a form of answers, a command, a package manager,
a state function, an execution function, a kind of requisite, an argument of all states, a setting,
an external pillar, a Jinja filter, a grain.

Each is added to a copy of runner, by the files that `docs/architecture.md` names and no others.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import textwrap
from pathlib import Path

import pytest
from command import ROOT, Machine

FORM = """    Form(
        "count", "how many there are", data=lambda data, indent: f"{len(data['local'])}\\n"
    ),
"""
COMMAND = '''"""The command `greet`: a word for somebody."""

from __future__ import annotations

from runner.cli.parsing.option_spec import Annotated, argument, option
from runner.cli.running.options import READING, Common, options_of, with_common
from runner.cli.running.answers import write_value


@with_common(READING)
def greet(
    *,
    name: Annotated[str, argument(metavar="NAME", help="Who.", complete=(("world", "sls"),))],
    loud: Annotated[bool, option("--loud", help="In capitals.")] = False,
    common: Common,
) -> int:
    """Greet somebody.

    Example: runner greet world
    """
    text = f"{options_of(common).id} greets {name}"
    write_value(common, text.upper() if loud else text)
    return 0
'''
KIND = """RequisiteKind(
            "relies_on",
            "as require, by another name",
            strength=3,
            must_succeed="all",
            in_aliases={"carries": "run before these (relies_on_in)"},
            arrow="=>",
            other_words=("leans_on",),
            words="relies on {}",
            words_back="relied on by {}",
            colours=("#123456", "#abcdef"),
        ),
        RequisiteKind(
            "follows",
            "as onchanges, by another name",
            strength=5,
            reaction="onchanges",
            family="onchanges",
        ),
        """
RELYING = """
top:
  test.nop:
    - relies_on:
      - test: middle
middle:
  test.nop: []
carrying:
  test.nop:
    - relies_on_in:
      - test: middle
before:
  test.nop:
    - carries:
      - test: top
chain:
  - "test: last => test: carrying"
last:
  test.nop: []
"""
REACTING = """
broken:
  test.fail_without_changes: []
stopped:
  test.nop:
    - relies_on:
      - test: broken
changed:
  test.succeed_with_changes: []
following:
  test.succeed_with_changes:
    - follows:
      - test: changed
idle:
  test.succeed_with_changes:
    - follows:
      - test: stopped
"""
MISTAKEN = """
x:
  test.nop:
    - relies_on:
      - test: nosuch
y:
  test.nop:
    - leans_on:
      - test: x
circle:
  test.nop:
    - relies_on_in:
      - test: y
    - relies_on:
      - test: y
"""


class Copy(Machine):
    """A machine with a runner of its own."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        for name in ("runner", "states", "modules"):
            shutil.copytree(
                ROOT / name, folder / "copy" / name, ignore=shutil.ignore_patterns("__pycache__")
            )
        self.environment["PYTHONPATH"] = str(folder / "copy")
        self.environment["PYTHONSAFEPATH"] = "1"  # not the folder that the tests were started in
        self.write(top="base:\n  '*': [a]\n", a="x: test.nop\ny: test.nop\n")

    def alter(self, path: str, before: str, after: str) -> None:
        file = self.folder / "copy" / path
        text = file.read_text()
        assert text.count(before) == 1, f"{path}: {before}"
        file.write_text(text.replace(before, after))

    def python(self, program: str, *words: str) -> str:
        """The stdout of a program."""
        argv = [self.argv()[0], "-c", program, *words]
        return subprocess.run(argv, env=self.environment, capture_output=True, text=True).stdout

    def plain(self, *words: str) -> str:
        """The stdout of a line without a configuration."""
        return self.python("from runner.cli import main; main()", *words)

    def offered(self, *typed: str) -> str:
        """The words that the Tab key of fish shows."""
        return self.plain("completion", "candidates", "--", "fish", *typed)


@pytest.fixture
def copy(tmp_path: Path) -> Copy:
    return Copy(tmp_path)


def test_a_form_is_one_entry_of_one_file(copy: Copy) -> None:
    json = '    Form(\n        "json"'
    copy.alter("runner/output/formats.py", json, FORM + json)
    assert copy("show", "lowstate", "--out", "count").stdout == "2\n"
    assert copy("sls", "a", "--out=count", "--test").stdout == "2\n"
    for command in ("show", "highstate", "history"):
        assert "pretty, count, json" in copy(command, "--help").stdout
    error = copy("check", "--out", "nosuch", code=1).stderr
    assert "one of pretty, count, json, yaml, sarif, github" in error
    assert copy.offered("why", "--out", "c") == "count\thow many there are\n"
    folder = copy.folder / "manual"
    copy("doc", "--reference", str(folder))
    assert "| `count` | how many there are | all commands |" in (folder / "forms.md").read_text()
    help_of_salt = copy.python("from runner.cli.salt_call import main; main()", "--help")
    assert "pretty, count, json" in " ".join(help_of_salt.split())


def test_a_command_is_a_file_and_a_line(copy: Copy) -> None:
    (copy.folder / "copy/runner/cli/commands/greet.py").write_text(COMMAND)
    copy.alter("runner/cli/parsing/option_spec.py", " schema history", " schema greet history")
    assert copy("greet", "you", "--loud").stdout == "M1 GREETS YOU\n"
    assert copy("greet", "you", "--out", "json").stdout == '{\n    "local": "m1 greets you"\n}\n'
    assert re.search(r"^  greet +Greet somebody.$", copy.plain("--help"), re.M)
    assert "In capitals." in copy("greet", "--help").stdout
    assert "Missing argument 'NAME'" in copy("greet", code=1).stderr
    assert copy.offered("gr").startswith("greet\tGreet somebody.")
    assert copy.offered("greet", "w") == "world\n"
    assert "--loud\tIn capitals.\n" in copy.offered("greet", "--lo")
    program = (
        "import sys\nfrom runner.cli.parsing.option_spec import plain_call\n"
        "print(plain_call('greet', ['you']) is not None, 'typer' in sys.modules)"
    )
    assert copy.python(program) == "True False\n"


PROVIDER = '''"""Packages on a shelf: a line each of a file."""

from __future__ import annotations

from modules import file
from modules.pkg.package_manager import TOUCHED, Simulation, Transaction, Versions
from runner.api import CommandFailed, changer, fetcher, here

NAMES: tuple[str, ...] = ("shelf", "shelfpkg")
FAMILIES: tuple[str, ...] = ()
DATABASE = "FOLDER/shelf"
REPOSITORY_FILES: tuple[str, ...] = ()
NEWEST = {"cup": "2.0", "saucer": "1.1"}


def suits() -> bool:
    with open("FOLDER/asked", "a") as log:
        log.write("suits\\n")
    return True


def list_pkgs() -> Versions:
    lines = file.read_bytes(DATABASE).decode().splitlines()
    return dict(line.split() for line in lines)


def leftovers() -> Versions:
    return {}


def normal(name: str) -> str:
    return name.lower()


def candidates(names: tuple[str, ...]) -> Versions:
    return {name: NEWEST[name] for name in names if name in NEWEST}


def versions(name: str) -> list[str]:
    return ["2.0", "1.1"] if name in NEWEST else []


def compare(left: str, right: str) -> int:
    return (left > right) - (left < right)


def file_info(path: str) -> tuple[str, str]:
    raise CommandFailed(f"{path} is no package")


def lists_age() -> float | None:
    return 0.0


@fetcher(refreshes="package lists")
def refresh_db() -> bool:
    return True


@changer
def renew_db() -> None:
    pass


def after(transaction: Transaction) -> Versions:
    there = list_pkgs()
    for target in transaction.targets:
        if transaction.action == "install":
            there[target.name] = target.version or NEWEST[target.name]
            there |= {"saucer": "1.1"} if transaction.options.recommended else {}
        else:
            there.pop(target.name, None)
    return there


def simulate(transaction: Transaction) -> Simulation:
    old, new = list_pkgs(), after(transaction)
    return Simulation(
        {
            name: {"old": old.get(name, ""), "new": new.get(name, "")}
            for name in {**old, **new}
            if old.get(name) != new.get(name)
        }
    )


@changer(touches=TOUCHED)
def run(transaction: Transaction) -> None:
    lines = "".join(f"{name} {version}\\n" for name, version in after(transaction).items())
    file.write(DATABASE, lines.encode())
'''


@pytest.fixture
def shelf(copy: Copy) -> Copy:
    """A runner whose package manager is a file."""
    provider = PROVIDER.replace("FOLDER", str(copy.folder))
    (copy.folder / "copy/modules/pkg/shelf.py").write_text(provider)
    copy.alter(
        "modules/pkg/providers.py",
        '        ProviderModule("modules.pkg.apt.provider"',
        f'        ProviderModule("modules.pkg.shelf", ("{copy.folder}/shelf",)),\n'
        '        ProviderModule("modules.pkg.apt.provider"',
    )
    (copy.folder / "shelf").write_text("spoon 3.1\n")
    return copy


def changes(machine: Machine, *words: str) -> dict[str, object]:
    """The changes of each state, by its ID."""
    return {name: result["changes"] for name, result in machine.results(*words).items()}


def test_a_package_manager_is_a_file_and_a_line(shelf: Copy) -> None:
    shelf.write(
        a="Cup:\n  pkg.installed:\n    - provider: shelf\n"
        "spoon:\n  pkg.removed:\n    - provider: shelf\n"
    )
    wanted = {
        "Cup": {"cup": {"old": "", "new": "2.0"}, "saucer": {"old": "", "new": "1.1"}},
        "spoon": {"spoon": {"old": "3.1", "new": ""}},
    }
    assert changes(shelf, "sls", "a", "--test") == wanted
    assert (shelf.folder / "shelf").read_text() == "spoon 3.1\n"
    assert changes(shelf, "sls", "a") == wanted
    assert (shelf.folder / "shelf").read_text() == "cup 2.0\nsaucer 1.1\n"
    assert changes(shelf, "sls", "a") == {"Cup": {}, "spoon": {}}
    older = ("single", "pkg.installed", "cup", "version=<2", "provider=shelf")
    assert changes(shelf, *older) == {"cup": {"cup": {"old": "2.0", "new": "1.1"}}}


def test_the_configuration_chooses_the_package_manager(shelf: Copy) -> None:
    shelf.config["providers"] = {"pkg": "shelfpkg"}
    assert shelf("call", "pkg.version", "spoon").stdout.strip() == "3.1"
    assert changes(shelf, "single", "pkg.installed", "cup", "install_recommends=false") == {
        "cup": {"cup": {"old": "", "new": "2.0"}}
    }
    shelf.config["providers"] = {"pkg": "cupboard"}
    error = shelf("call", "pkg.version", "spoon", code=None)
    assert "there is no package manager 'cupboard'" in error.stdout + error.stderr


@pytest.mark.parametrize(
    ("words", "feature"),
    [
        (("pkg.group_installed", "kitchen"), "groups"),
        (("pkg.patch_installed", "S-1"), "advisories"),
        (("pkg.downloaded", "cup"), "downloadable"),
        (("pkg.installed", "cup", "resolve_capabilities=true"), "capabilities"),
        (("pkg.installed", "spoon", "pkg_verify=true"), "verifiable"),
        (("pkgrepo.managed", "x"), "repositories"),
        (("pkgrepo.absent", "x"), "repositories"),
    ],
)
def test_what_a_package_manager_lacks_names_it(
    shelf: Copy, words: tuple[str, ...], feature: str
) -> None:
    shelf.config["providers"] = {"pkg": "shelf"}
    (result,) = shelf.results("single", *words, "--test", code=2).values()
    assert result["result"] is False
    assert f"needs the feature {feature}, which the provider shelf lacks" in result["comment"]


def test_the_package_manager_is_chosen_once_a_run(shelf: Copy) -> None:
    shelf.config["grains"] = {"os_family": "None of them"}
    names = [f"spoon{number}" for number in range(30)]
    shelf.write(a="\n".join(f"{name}: pkg.removed" for name in names))
    shelf("sls", "a", "--test")
    assert (shelf.folder / "asked").read_text().count("suits") <= 2
    assert "verifiable: installed files" in " ".join(shelf("doc", "pkg.installed").stdout.split())
    assert "(apt, " in shelf("doc", "pkg.held").stdout
    assert "(shelf, apt)" not in shelf("doc", "pkg.held").stdout


def example() -> dict[str, str]:
    """Return the files of the example of CONTRIBUTING.md, by their paths."""
    text = (ROOT / "CONTRIBUTING.md").read_text()
    blocks = re.findall(r"^( *)```python\n *# (\S+)\n(.*?)^ *```$", text, re.M | re.S)
    return {path: textwrap.dedent(block) for _, path, block in blocks}


def test_a_state_function_is_one_file(copy: Copy) -> None:
    """That of the example that CONTRIBUTING.md has."""
    (copy.folder / "copy/states/greeting.py").write_text(example()["states/greeting.py"])
    path = copy.folder / "hello"
    copy.write(a=f"{path}:\n  greeting.said:\n    - to: you\n")
    assert changes(copy, "sls", "a", "--test") == {str(path): {"greeting": "you"}}
    assert not path.exists()
    assert changes(copy, "sls", "a") == {str(path): {"greeting": "you"}}
    assert path.read_text() == "Hello, you!\n"
    assert changes(copy, "sls", "a") == {str(path): {}}
    copy.write(a=f"{path}:\n  greeting.said:\n    - too: you\n")
    assert "did you mean 'to'?" in copy("check", "a", code=1).stdout
    assert "Who is greeted" in copy("doc", "greeting.said").stdout
    assert "greeting.said" in copy("schema").stdout
    assert "greeting.said\tMake sure that a file greets somebody.\n" in copy.offered(
        "single", "greeting.s"
    )
    assert "to=" in copy.offered("single", "greeting.said", "/x", "t")
    copy("doc", "--reference", str(copy.folder / "manual"))
    assert "## greeting.said" in (copy.folder / "manual/states/greeting.md").read_text()


def test_scenarios_of_a_state_function_are_one_file(copy: Copy) -> None:
    """Those of the example are run by the test of the laws, and one that is wrong fails there."""
    tests = copy.folder / "copy/tests"
    (tests / "laws").mkdir(parents=True)
    shutil.copy(ROOT / "tests/test_laws.py", tests)
    shutil.copytree(ROOT / "tests/support", tests / "support")
    wrong = "SCENARIOS.append(Scenario('greeting.said', {'name': '{tmp}/x'}, plans=False))\n"
    for file, text in example().items():
        (copy.folder / "copy" / file).write_text(text + (wrong if "laws" in file else ""))
    words = ["-c", "/dev/null", "--rootdir", str(tests), "-o", f"pythonpath={tests}/support"]
    words += ["-p", "no:cacheprovider", "--import-mode=importlib", "-q", f"{tests}/test_laws.py"]
    # bytecode that is written looks like a change
    plain = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [copy.argv()[0], "-m", "pytest", *words, "-k", "greeting and not undo and not behind"],
        env={**copy.environment, **plain, "TMPDIR": str(copy.folder)},
        capture_output=True,
        text=True,
    )
    assert "assert True is False" in done.stdout and "1 failed, 2 passed" in done.stdout, done


@pytest.fixture
def kinds(copy: Copy) -> Copy:
    """A runner with two more kinds of requisites."""
    first = 'RequisiteKind(\n            "watch",\n'
    copy.alter("runner/model/requisite_kinds.py", first, KIND + first)
    copy.write(a=RELYING, b=REACTING, c=MISTAKEN)
    return copy


def test_a_kind_of_requisite_is_a_row(kinds: Copy) -> None:
    low = kinds.answer("show", "lowstate")
    order = [state["__id__"] for state in low]
    assert [id_ for id_ in order if id_ != "before"] == ["last", "carrying", "middle", "top"]
    assert order.index("before") < order.index("top")
    assert {"test": "carrying"} in low[order.index("middle")]["relies_on"]
    ran = kinds.results("sls", "b", code=2)
    assert "One or more requisite failed: b.broken" in ran["stopped"]["comment"]
    assert ran["following"]["changes"]
    none = "State was not run because none of the onchanges reqs changed"
    assert ran["idle"]["comment"] == none
    why = kinds("why", "middle").stdout
    assert "relies on test: carrying (relies_on, " in why
    assert "written as relies_on_in of test: carrying" in why
    assert "relied on by test: top" in why


def test_the_row_of_a_kind_is_in_pictures(kinds: Copy) -> None:
    edges = kinds.answer("show", "graph")["edges"]
    assert {edge["kind"] for edge in edges} == {"relies_on"}
    assert 'label="relies_on"' in kinds("show", "graph", "--out", "dot").stdout
    assert '|"relies_on"|' in kinds("show", "graph", "--out", "mermaid").stdout
    svg = kinds("show", "graph", "--out", "svg").stdout
    assert '<g class="arrow relies_on"' in svg
    assert ".arrow.relies_on path { stroke: #123456; }" in svg
    page = kinds("show", "graph", "--out", "html").stdout
    assert "--relies_on: #abcdef;" in page
    assert '<g class="arrow relies_on"><path d="M0 6H34"/></g></svg>relies_on</span>' in page
    assert '<g class="arrow onchanges"' in kinds("show", "graph", "b", "--out", "svg").stdout


def test_the_row_of_a_kind_is_in_checks_and_the_manual(kinds: Copy) -> None:
    kinds("check", "a", "b")
    said = kinds("check", "c", code=1).stdout
    assert "requisite [relies_on: (test: nosuch)] in state [x]" in said
    assert "test.nop has no argument 'leans_on'" in said
    assert "did you mean 'relies_on'?" in said
    kinds.write(c=MISTAKEN.replace("nosuch", "y").replace("leans_on", "relies_on"))
    assert "x has relies_on on test: y" in kinds("check", "c", code=1).stdout
    arguments = kinds("doc", "arguments", "--markdown").stdout
    assert "| `relies_on` | a list of states |  | as require, by another name |" in arguments
    assert "gives those states `relies_on` on this one" in arguments
    assert "| `carries` | a list of states |" in arguments
    schema = json.loads(kinds("schema").stdout)["definitions"]
    assert schema["every_relies_on"]["description"] == "as require, by another name"
    assert {"relies_on", "relies_on_in", "carries"} <= schema["arguments_test.nop"][
        "properties"
    ].keys()


def test_an_argument_of_all_states_is_a_row(copy: Copy) -> None:
    row = '    "weather": _flag("mind the weather", other_words=("climate",)),\n'
    first = '    "failhard": _flag('
    copy.alter("runner/model/global_arguments.py", first, row + first)
    copy.write(a="x:\n  test.nop:\n    - weather: true\n")
    assert "weather" not in copy("sls", "a").stderr
    copy.write(b="x:\n  test.nop:\n    - weather: perhaps\n    - climate: mild\n")
    said = copy("check", "b", code=1).stdout
    assert "test.nop: weather: expected true or false, got 'perhaps'" in said
    assert "did you mean 'weather'?" in said
    copy.write(b="x:\n  test.nop: []\n  weather:\n  - a: b\n")
    assert "`weather` is an argument: indent it" in copy("check", "b", code=1).stdout
    row = "| `weather` | true or false | `false` | mind the weather |"
    assert row in copy("doc", "arguments", "--markdown").stdout
    schema = json.loads(copy("schema").stdout)["definitions"]
    assert schema["every_weather"] == {"description": "mind the weather", "type": "boolean"}
    assert "weather" in schema["arguments_file.managed"]["properties"]


SETTING = """    mood: Key[Literal["glad", "grim"]] = flag(
        "glad", "--mood", of="reading", metavar="MOOD", help="Glad or grim."
    )
"""
PAGE = "= mood | unit: moods\nHow the tree is read.\n    mood: grim\n\n"

READER = """    said = Diagnostic(f"the mood is {options.mood}", None, None, "mood", "warning")
    return options, (*warnings, said)
"""


def test_a_setting_is_a_field_and_a_page(copy: Copy) -> None:
    before, page_before = "    strict: Key[", "= strict\n"
    copy.alter("runner/sources/config/options.py", before, SETTING + before)
    copy.alter("runner/sources/config/keys.txt", page_before, PAGE + page_before)
    copy.alter("runner/sources/config/load.py", "    return options, tuple(warnings)\n", READER)
    assert "the mood is glad" in copy("show", "top").stderr
    copy.config["mood"] = "grim"
    assert "the mood is grim" in copy("show", "top").stderr
    assert copy("call", "config.get", "mood").stdout == "grim\n"
    assert "the mood is glad" in copy("show", "top", "--mood", "glad").stderr
    for mood, said in (("bad", "mood: there is no 'bad'\n"), (5, "mood has to be a text, not 5\n")):
        copy.config["mood"] = mood
        assert said in copy("show", "top", code=1).stderr
    del copy.config["mood"]
    copy.config["mod"] = "grim"
    assert "did you mean mood?" in copy("show", "top").stderr
    assert re.search(r"^ +--mood MOOD +Glad or grim.$", copy("check", "--help").stdout, re.M)
    assert copy.offered("why", "--mo") == "--mood\tGlad or grim.\n"
    page = copy("doc", "config", "mood").stdout
    assert "How the tree is read." in page and "Type: one of glad, grim\n  Unit: moods\n" in page
    assert "Default: glad\n" in page
    copy("doc", "--reference", str(copy.folder / "manual"))
    assert "### `mood`" in (copy.folder / "manual/configuration.md").read_text()


def test_an_execution_function_is_one_file(copy: Copy) -> None:
    text = '''"""Weather."""\n\n
def forecast(place: str) -> str:
    """Return the weather of a place.\n\n    place: Where."""
    return f"rain in {place}"
'''
    (copy.folder / "copy/modules/weather.py").write_text(text)
    assert copy("call", "weather.forecast", "Kiel").stdout == "rain in Kiel\n"
    copy.write(a="{{ salt['weather.forecast']('Kiel') }}:\n  test.nop: []\n")
    assert list(copy.results("sls", "a")) == ["rain in Kiel"]
    assert "Return the weather of a place." in copy("doc", "weather.forecast").stdout
    assert "weather.forecast\tReturn the weather" in copy.offered("call", "weather.f")
    copy.write(a="{{ salt['weather.forcast']('Kiel') }}:\n  test.nop: []\n")
    assert "did you mean weather.forecast?" in copy("check", "a", code=1).stdout


def test_an_external_pillar_is_a_file_and_a_line(copy: Copy) -> None:
    folder = "runner/language/pillar/external/"
    look = "def look(tools, pillar, settings):\n    return {'sky': settings['colour']}\n"
    (copy.folder / "copy" / folder / "sky.py").write_text(look)
    copy.alter(f"{folder}__init__.py", "import commands, ", "import sky, commands, ")
    copy.alter(f"{folder}__init__.py", '    "stack": ', '    "sky": sky.look,\n    "stack": ')
    copy.config["ext_pillar"] = [{"sky": {"colour": "grey"}}]
    assert "grey" in copy("show", "pillar").stdout
    copy.config["ext_pillar"] = [{"skye": {"colour": "grey"}}]
    assert "did you mean sky?" in copy("show", "pillar", code=1).stderr


def test_a_filter_is_one_file(copy: Copy) -> None:
    shout = "def shout(text: str, end: str = '!') -> str:\n    return text.upper() + end\n"
    (copy.folder / "copy/runner/language/filters/shout.py").write_text(shout)
    copy.write(a="{{ 'hello' | shout('?') }}:\n  test.nop: []\n")
    assert list(copy.results("sls", "a")) == ["HELLO?"]
    copy.write(a="{{ 'hello' | shuot }}:\n  test.nop: []\n")
    assert "did you mean shout?" in copy("check", "a", code=1).stdout
    copy.write(a="{{ 'hello' | shout(loud=1) }}:\n  test.nop: []\n")
    assert "shout" in copy("check", "a", code=1).stdout
    copy.write(a="{{ 'hello' | lists }}:\n  test.nop: []\n")
    assert "No filter named 'lists'" in copy("check", "a", code=1).stdout


def test_a_grain_is_one_file(copy: Copy) -> None:
    weather = "def weather(grains):\n    return {'weather': 'rain on ' + grains['kernel']}\n"
    (copy.folder / "copy/runner/language/grains/weather.py").write_text(weather)
    copy.write(a="{{ grains['weather'] }}:\n  test.nop: []\n")
    assert list(copy.results("sls", "a")) == ["rain on Linux"]
    assert copy("call", "grains.get", "weather").stdout == "rain on Linux\n"
    grains = copy.answer("show", "grains")
    assert grains["weather"] == "rain on Linux"
    assert not {"files", "groups"} & grains.keys()
    copy.write(top="base:\n  'weather:rain*':\n    - match: grain\n    - a\n")
    assert "rain on Linux" in copy("show", "lowstate").stdout
