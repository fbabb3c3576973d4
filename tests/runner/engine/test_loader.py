# SPDX-License-Identifier: Apache-2.0
"""The registry: built-ins, a tree's own modules, names, and what templates get."""

import subprocess
import sys
from importlib import import_module
from pathlib import Path
from textwrap import dedent

import jinja2
import pytest
from command import Machine
from harness import HarnessHere

from runner.api import running
from runner.engine.loader.builtin import library
from runner.engine.loader.registry import Registry, UnavailableError
from runner.language.salt.object import UnknownFunction
from runner.model.chunk import Chunk
from runner.model.errors import RunnerError
from runner.model.places import Place, Untyped

CLASSIC_STATE = '''
import os
import salt.exceptions
from runner.api import Plan
from os.path import join


def set_(name, **kwargs):
    """A classic one."""
    if name == "bad":
        raise salt.exceptions.CommandExecutionError("no good")
    return {"name": name, "changes": {}, "result": True, "comment": __salt__["mine.twice"](2)}


def planned(name, size: int = 0):
    yield Plan({"size": size}, "is to grow")
    return "grown"


def calls(name):
    return __states__["my.planned"](name, size="5")


def where(name):
    return __sls__, __id__, __opts__["test"], len(__lowstate__)


def said(name) -> "str":
    return "done"


def _private(name):
    pass
'''

MODULE = """
__func_alias__ = {"twofold": "twice"}
loaded = []


def __init__(opts):
    loaded.append(opts["id"])


def twofold(number):
    return __context__.setdefault("n", number) * 2


def ids():
    return loaded


def grain():
    return __grains__["os"]
"""


@pytest.fixture
def registry(tmp_path: Path) -> Registry:
    files = {
        "_states/my.py": CLASSIC_STATE,
        "_states/off.py": (
            "def __virtual__():\n    return False, 'no client'\n\ndef go(name):\n    pass\n"
        ),
        "_modules/mine.py": MODULE,
        "_modules/other_file.py": "__virtualname__ = 'nicer'\ndef hello():\n    return 'hi'\n",
        "_modules/uses_salt.py": "import salt.utils.event\ndef f():\n    pass\n",
        "_modules/broken.py": "def f(:\n",
        "_grains/g.py": "def colour():\n    return {'colour': 'red'}\n",
        "_grains/lacking.py": "import no_such_thing\ndef size():\n    return {'size': 1}\n",
        "_grains/other.py": (
            "def __virtual__():\n    return False\ndef size():\n    return {'size': 2}\n"
        ),
    }
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(dedent(text))
    folders = {
        kind: [str(tmp_path / f"_{kind}")] for kind in ("states", "modules", "grains", "utils")
    }
    return Registry(folders, {"id": "me"})


def test_a_classic_state_of_the_tree(registry: Registry, tmp_path: Path) -> None:
    state = registry.state("my.set")
    assert state.classic
    with running(HarnessHere()):
        assert state.function(name="x")["comment"] == 4
    with pytest.raises(RunnerError, match="no good"):
        state.function(name="bad")
    assert not list(tmp_path.rglob("__pycache__"))


@pytest.mark.parametrize(
    ("dry", "result", "comment"), [(True, None, "is to grow"), (False, True, "grown")]
)
def test_a_classic_state_calls_a_planned_one(
    registry: Registry, dry: bool, result: bool | None, comment: str
) -> None:
    with running(HarnessHere(dry=dry)):
        answer = registry.state("my.calls").function(name="x")
    assert answer == {"name": "x", "changes": {"size": 5}, "result": result, "comment": comment}


def test_the_names_of_the_current_state(registry: Registry) -> None:
    current = HarnessHere(dry=True)
    chunk = Chunk("my", "where", "ID", "x", 1, "a.b", "base", {}, {}, (), Place(Untyped("a"), 1, 1))
    current.chunk, current.chunks = chunk, (chunk,)  # type: ignore[assignment]
    with running(current):
        assert registry.state("my.where").function(name="x") == ("a.b", "ID", True, 1)


@pytest.mark.parametrize("name", ["my.planned", "my.said"])
def test_a_new_style_state_of_the_tree(registry: Registry, name: str) -> None:
    assert not registry.state(name).classic


@pytest.mark.parametrize(
    "name", ["my._private", "my.join", "my.os", "my.nothing", "nothing.at_all"]
)
def test_what_is_no_state_function(registry: Registry, name: str) -> None:
    with pytest.raises(UnknownFunction):
        registry.state(name)


def test_a_near_miss_is_suggested(registry: Registry) -> None:
    assert registry.suggest_state("my.planed") == "my.planned"
    assert registry.suggest_function("mine.twise") == "mine.twice"


def test_an_unavailable_module_gives_its_reason(registry: Registry) -> None:
    assert registry.has_state("off")
    with pytest.raises(UnavailableError) as error:
        registry.state("off.go")
    assert error.value.reason == "no client"


def test_execution_functions(registry: Registry) -> None:
    with running(HarnessHere()):
        assert registry.function("mine.grain")() == "Debian"
    assert registry.function("mine.ids")() == ["me"]
    assert registry.function("nicer.hello")() == "hi"
    # besides those of the built-in mine
    assert {"grain", "ids", "twice"} < set(registry.functions("mine"))
    assert not registry.has_function("mine.twofold")
    # without __virtual__, its file's name holds too, as with Salt
    assert registry.has_function("other_file.hello")


def test_other_parts_of_salt_fail_with_a_hint(registry: Registry) -> None:
    with pytest.raises(UnavailableError, match=r"runner is not Salt"):
        registry.function("uses_salt.f")


def test_a_syntax_error_is_named_with_its_line(registry: Registry) -> None:
    with pytest.raises(RunnerError, match="is not Python") as error:
        registry.function("broken.f")
    assert error.value.source and error.value.source.line == 1


def test_grains_of_the_tree(registry: Registry) -> None:
    (name, colour), (lacking, raises) = registry.grain_functions()
    assert (name, colour(), lacking) == ("g.colour", {"colour": "red"}, "lacking")
    with pytest.raises(UnavailableError, match="no_such_thing"):
        raises()


@pytest.mark.parametrize(
    ("template", "text"),
    [
        ("{{ salt['nicer.hello']() }}", "hi"),
        ("{{ salt.nicer.hello() }}", "hi"),
        ("{{ salt.get('nicer.hello')() }}", "hi"),
        ("{{ 'nicer.hello' in salt }} {{ 'nicer.hallo' in salt }}", "True False"),
        ("{{ salt['nicer.hallo'] is defined }}", "False"),
        ("{{ salt.nicer.hallo is defined }}", "False"),
    ],
)
def test_salt_in_templates(registry: Registry, template: str, text: str) -> None:
    assert jinja2.Template(template).render(salt=registry.salt) == text


@pytest.mark.parametrize("template", ["{{ salt['nicer.hallo']() }}", "{{ salt.nicer.hallo() }}"])
def test_an_unknown_function_in_a_template(registry: Registry, template: str) -> None:
    with pytest.raises(RunnerError, match=r"'nicer.hallo' is not available") as error:
        jinja2.Template(template).render(salt=registry.salt)
    assert error.value.hint == "did you mean nicer.hello?"


def test_a_state_function_in_a_template(registry: Registry) -> None:
    with pytest.raises(RunnerError) as error:
        jinja2.Template("{{ salt['user.present']() }}").render(salt=registry.salt)
    assert (
        error.value.hint
        == "user.present is a state function: declare a state with it (`user.present:`)"
    )


def test_refresh_finds_what_is_new(registry: Registry, tmp_path: Path) -> None:
    assert not registry.has_state("late")
    (tmp_path / "_states/late.py").write_text("def go(name):\n    return {}\n")
    registry.refresh()
    assert registry.state("late.go").classic


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("firewall.check", "runner has no firewall states: call the firewall's own program"),
        ("linux_acl.present", "acl.present"),
        ("lxd.init", "call the container engine"),
        ("win_lgpo.set", "for another system"),
        ("salt.state", "several machines"),
    ],
)
def test_what_only_salt_has_is_told_with_a_way_out(name: str, words: str) -> None:
    with pytest.raises(UnknownFunction) as error:
        Registry({}).state(name)
    assert words in str(error.value.hint)


def test_folders_of_modules_that_the_configuration_names(machine: Machine) -> None:
    machine.config |= {"module_dirs": ["more"], "states_dirs": ["own"]}  # type: ignore[dict-item]
    files = {
        "more/direct.py": "def f():\n    return 'direct'\n",
        "more/modules/below.py": "def f():\n    return 'below'\n",
        "more/grains/here.py": "def g():\n    return {'mine': 1}\n",
        "own/st.py": (
            "def run(name):\n    return {'name': name, 'changes': {}, 'result': True, 'comment':"
            " name}\n"
        ),
        "states/_modules/direct.py": "def f():\n    return 'tree'\n",
    }
    for name, text in files.items():
        (machine.folder / name).parent.mkdir(parents=True, exist_ok=True)
        (machine.folder / name).write_text(text)
    machine.write(
        a="{{ salt['direct.f']() }}{{ salt['below.f']() }}{{ grains.mine }}:\n  st.run: []\n"
    )
    assert machine.results("sls", "a")["directbelow1"]["comment"] == "directbelow1"


def test_which_state_modules_react_is_told_without_importing_them() -> None:
    registry = Registry({})
    own = [
        name
        for name, module in library("states").items()
        if hasattr(import_module(module), "mod_watch")
    ]
    assert [name for name in library("states") if registry.reacts(name)] == own
    assert {"service", "cmd", "pkg"} <= set(own)
    program = (
        "import sys; from runner.engine.loader.registry import Registry;"
        " print(Registry({}).reacts('service'), *sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith("True ") and "states.service" not in done.stdout.split()


def test_functions_are_listed_without_what_they_are_made_of() -> None:
    """A module that another one imports is no function of it, and may need what is not here."""
    program = (
        "import sys; sys.modules['cryptography'] = None;"
        " from runner.engine.loader.registry import Registry; r = Registry({});"
        " print(*r.functions('x509'), *r.state_functions('x509'))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert {"create_csr", "csr_managed"} <= {*done.stdout.split()}
    assert not {"building", "loading", "encoded"} & {*done.stdout.split()}


def test_what_is_for_states_alone_is_no_execution_function(machine: Machine) -> None:
    """`cmd.complete` and `pkg.provider` are public in their modules, for states."""
    (machine.folder / "states/_modules").mkdir()
    (machine.folder / "states/_modules/mine.py").write_text(
        "from runner.api import for_states\n\n"
        "@for_states\ndef tool():\n    return 'x'\n\n"
        "def used():\n    return tool()\n"
    )
    assert machine("call", "mine.used").stdout.strip() == "x"
    for name in ("mine.tool", "cmd.complete", "pkg.provider", "virtualenv.refuse_place"):
        assert f"'{name}' is not available" in machine("call", name, code=1).stderr
        assert name not in machine("call", "sys.list_functions").stdout.split()
