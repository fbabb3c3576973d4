# SPDX-License-Identifier: Apache-2.0
"""The manual: pages, their examples, the reference in docs/."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
from pathlib import Path

import jinja2
import pytest
from command import ROOT, Machine
from jinja2 import nodes

from runner.engine.loader.registry import Registry
from runner.model.chunk import Request
from runner.model.global_arguments import DOCUMENTED, GLOBAL_ARGUMENTS
from runner.output.manual import docstring, pages
from runner.pipeline.compile import compile_chunks
from runner.pipeline.gathering import gather
from runner.pipeline.pillar_data import read_pillar
from runner.pipeline.session import Session
from runner.sources.config import load

LIBRARY = Registry({})
PILLAR = {"db_password": "x", "rescue": "x"}  # what the examples take from it
OF_THE_MACHINE = (
    "missing-file",
    "feature",
)  # the files of the examples' trees, the programs of this machine
JINJA = jinja2.Environment(extensions=["jinja2.ext.do"])
STATES = [f"{module}.{name}" for module, names in pages.contents(LIBRARY).items() for name in names]
FUNCTIONS = [
    f"{module}.{name}" for module, names in pages.execution(LIBRARY).items() for name in names
]

# known, and not worth a line on the page: Salt's names for what runner does by itself
SILENT = frozenset(
    "id state fun sls pillarenv group providers parallel_group cmd_opts_include".split()
    + ["onfail_stop", "runas_password", "python_shell", "output_loglevel", "hide_output", "use_vt"]
    + ["success_stdout", "success_stderr", "require_all", "watch_all", "onchanges_all"]
)


@pytest.fixture(scope="session")
def examples(tmp_path_factory: pytest.TempPathFactory) -> Session:
    """A tree with each example as an SLS."""
    tree = tmp_path_factory.mktemp("examples")
    for page in [*(pages.state_page(LIBRARY, name) for name in STATES), pages.everywhere()]:
        for number, example in enumerate(page.examples):
            (tree / f"{page.name.replace('.', '-')}-{number}.sls").write_text(example)
    (tree / "runner.yaml").write_text(
        f"file_roots: {{base: [{tree}]}}\ncachedir: {tree}/cache\nid: m1\n"
    )
    return Session(load.load(str(tree / "runner.yaml"), {"pillar": PILLAR}, {})[0])


def test_every_example_compiles_and_binds(examples: Session) -> None:
    problems = []
    with examples.opened():
        read_pillar(examples)
        for name in examples.tree.sls_names("base"):
            _, found = compile_chunks(
                examples, gather(examples, [Request(name, "base")]), strict=True
            )
            problems += [f"{name}: {each}" for each in found if each.code not in OF_THE_MACHINE]
    assert not problems, "\n".join(problems)


@pytest.mark.parametrize("name", STATES)
def test_every_state_function_has_a_page_with_an_example(name: str) -> None:
    page = pages.state_page(LIBRARY, name)
    assert page.summary.endswith(".")
    assert any(re.search(rf"\b{re.escape(name)}\b", example) for example in page.examples), (
        "no example"
    )


def test_every_execution_function_has_a_page_and_its_examples_fit_its_signature() -> None:
    count = 0
    for name in FUNCTIONS:
        page = pages.function_page(LIBRARY, name)
        assert page.summary.rstrip(".:)"), name
        for call in (
            each
            for text in page.examples
            for each in JINJA.parse(_closed(text)).find_all(nodes.Call)
        ):
            if isinstance(call.node, nodes.Getitem) and isinstance(call.node.arg, nodes.Const):
                count += 1
                try:
                    named = {each.key: each.value for each in call.kwargs}
                    inspect.signature(LIBRARY.definition(call.node.arg.value)).bind(
                        *call.args, **named
                    )
                except TypeError as error:
                    pytest.fail(f"{name}: {error}")
    assert count > 10


def _closed(text: str) -> str:
    """An example with the ends of its blocks, which it leaves away."""
    opened = [kind for kind in re.findall(r"{%-? *(if|for) ", text) if f"end{kind}" not in text]
    return text + "".join(f"{{% end{kind} %}}" for kind in reversed(opened))


def test_what_every_state_takes_is_documented_once() -> None:
    assert GLOBAL_ARGUMENTS.keys() - DOCUMENTED.keys() <= SILENT


def test_the_reference_is_what_the_code_says(tmp_path: Path) -> None:
    # in a process of its own: Python writes `int | str` as whoever said it first in this one
    code = "from runner.cli import main; main()"
    words = ["doc", "--reference", str(tmp_path / "new"), "--state-tree", str(tmp_path)]
    argv = [sys.executable, "-c", code, *words, "--cachedir", str(tmp_path / "cache")]
    subprocess.run(argv, check=True, capture_output=True, cwd=ROOT)
    wanted, there = (
        {str(path.relative_to(folder)): path.read_text() for path in folder.rglob("*.md")}
        for folder in (tmp_path / "new", ROOT / "docs/reference")
    )
    stale = sorted(
        name for name in wanted.keys() | there.keys() if wanted.get(name) != there.get(name)
    )
    assert not stale, f"stale: {', '.join(stale)}; `sh docs/reference.sh` makes them anew"


def test_doc(machine: Machine) -> None:
    listed = machine("doc").stdout
    assert re.search(r"^  file +absent, accumulated", listed, re.M)
    assert max(map(len, listed.splitlines())) <= 80
    page = machine("doc", "service.running").stdout
    assert "enable (true or false)" in page
    assert "name (text, default the ID)" in page
    assert "It reacts when" in page
    assert "Automatic order:" in page
    assert max(map(len, page.splitlines())) <= 80
    assert "| `name` |" in machine("doc", "file.absent", "--markdown").stdout
    assert "did you mean file.managed?" in machine("doc", "file.manged", code=1).stderr
    assert "did you mean user.info?" in machine("doc", "user.inof", code=1).stderr
    assert "runner call user.info NAME" in machine("doc", "user.info").stdout
    assert "onchanges (a list of states)" in machine("doc", "arguments").stdout


SALTS = """
Ensure that a box is there

name
    The name of the box.

    It may be long.

size : 3
    How big it is

:param str colour: red, say

.. code-block:: yaml

    toolbox:
      box.present:
        - size: 4

.. versionadded:: 2020.1
"""


def test_docstrings_in_the_style_of_salts_modules() -> None:
    found = docstring.read(inspect.cleandoc(SALTS), ["name", "size", "colour"])
    assert found.summary == "Ensure that a box is there"
    assert found.arguments == {
        "name": "The name of the box. It may be long.",
        "size": "How big it is",
        "colour": "Red, say",
    }
    assert found.examples == ("toolbox:\n  box.present:\n    - size: 4",)
    assert found.before == found.after == ()


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("file.missing", "Behaviour: Salt's file.missing."),
        ("file.accumulated", "Behaviour: Salt's file.accumulated."),
        ("ufw.allow", "Salt has nothing like it."),
        ("sudo.rule", "Salt has nothing like it."),
        ("pkg.diverted", "Salt has nothing like it."),
    ],
)
def test_a_page_says_whose_behaviour_it_is_once(name: str, said: str) -> None:
    page = pages.state_page(LIBRARY, name)
    assert [text for text in (*page.before, *page.after) if "Salt" in text] == [said]


def test_doc_knows_the_states_of_the_tree(machine: Machine) -> None:
    (machine.folder / "states/_states").mkdir()
    (machine.folder / "states/_states/box.py").write_text(
        "from runner.api import Planned\ndef made(name: str, size: int = 3) -> Planned:\n"
        "    '''Make a box.\n\n    size: in metres. Not less than 1.\n    '''\n    return 'x'\n"
    )
    (machine.folder / "states/_states/broken.py").write_text(
        "def __virtual__():\n    return False, 'no client'\n"
    )
    page = machine("doc", "box.made").stdout
    assert "Make a box." in page and "Behaviour" not in page
    assert "    size (a whole number, default 3)\n        In metres. Not less than 1.\n" in page
    (found,) = machine.answer("doc", "box.made")
    assert found["arguments"][1] == {
        "name": "size",
        "type": "a whole number",
        "default": "3",
        "description": "In metres. Not less than 1.",
        "reaction": False,
        "effect": "",
        "since": "",
    }
    assert "no client" in machine("doc", "broken.made", code=1).stderr
    folder = machine.folder / "manual"
    assert "below" in machine("doc", "--reference", str(folder)).stdout
    assert "Make a box." in (folder / "states/box.md").read_text()
    assert "cannot be written" in machine("doc", "--reference", "/proc/none", code=1).stderr
