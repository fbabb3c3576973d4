# SPDX-License-Identifier: Apache-2.0
"""The rules of the house that a machine can check: who imports whom, and how long things are.

`docs/architecture.md` holds the table of ranks; this test reads it, so the document cannot be
wrong.
"""

from __future__ import annotations

import ast
import pkgutil
import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

import networkx
import pytest
from command import ROOT
from extras import EXTRAS, extra_of, lines_of, passages
from looks import dotted, unmarked

from runner.engine.loader.registry import Registry
from runner.model.records import Record
from runner.support.own_modules import FAMILIES

TOP = ("runner", "states", "modules")
LONG_FUNCTIONS = 60
LONGEST_FILE = 800  # a file is as long as one idea; about 500 is where to ask whether it holds two


class Import(Record):
    """One import as a file states it. name: the module, or the module and a name in it."""

    name: str
    line: int


def sources(root: Path = ROOT) -> list[Path]:
    return sorted(path for package in TOP for path in (root / package).rglob("*.py"))


def module_name(path: Path, root: Path = ROOT) -> str:
    return ".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__")


# ---------------------------------------------------------------- what a file imports


def imports(path: Path, root: Path = ROOT) -> Iterator[Import]:
    """All imports of our own packages, lazy ones too; those for types alone are free.

    It sees `import x`, `from x import y` (where y may be a module), relative imports, and
    `import_module` or `__import__` of a text that begins with one of our packages.
    """
    package = module_name(path, root).split(".")
    if path.name != "__init__.py":
        package.pop()
    for node in parsed(path).nodes:
        for name in _imported(node, package):
            if name.split(".")[0] in TOP:
                yield Import(name, getattr(node, "lineno", 0))


class Parsed(Record):
    """What the rules look at in a file. functions: their names, the lines of
    their bodies, and how they describe themselves.
    """

    nodes: list[ast.AST]
    functions: list[tuple[str, int, str]]


@cache
def parsed(path: Path) -> Parsed:
    """All imports and classes, and what names one of CALLED or a stream of sys, but for those below
    `if TYPE_CHECKING:`. A file is parsed once, and not kept.
    """
    nodes: list[ast.AST] = []
    functions = []
    waiting: list[ast.AST] = [ast.parse(path.read_text())]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.If) and _last_name(node.test) == "TYPE_CHECKING":
            waiting += node.orelse
            continue
        if isinstance(node, ast.FunctionDef):
            functions.append((node.name, _length(node), ast.get_docstring(node) or ""))
        elif isinstance(node, ast.Import | ast.ImportFrom | ast.ClassDef) or _tells(node):
            nodes.append(node)
        waiting += ast.iter_child_nodes(node)
    return Parsed(nodes, functions)


CALLED = ("import_module", "__import__", "print")


def _tells(node: ast.AST) -> bool:
    if isinstance(node, ast.Attribute):
        return node.attr in STREAMS
    return isinstance(node, ast.Call) and _last_name(node.func) in CALLED


def _last_name(node: ast.AST) -> str:
    """`import_module` of `importlib.import_module`."""
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def _length(node: ast.FunctionDef) -> int:
    """The lines of a function's body, without the docstring."""
    first = node.body[1] if ast.get_docstring(node) and len(node.body) > 1 else node.body[0]
    return (node.end_lineno or 0) - first.lineno + 1


def _imported(node: ast.AST, package: list[str]) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        base = package[: len(package) - node.level + 1] if node.level else []
        module = ".".join([*base, *([node.module] if node.module else [])])
        return [f"{module}.{alias.name}" for alias in node.names]
    if isinstance(node, ast.Call) and _last_name(node.func) in CALLED[:2]:
        return [text for text in map(_text, node.args[:1]) if text]
    return []


def _text(node: ast.AST) -> str:
    """The text of a constant, or what an f-string begins with."""
    if isinstance(node, ast.JoinedStr):
        node = node.values[0] if node.values else ast.Constant("")
    return str(node.value) if isinstance(node, ast.Constant) else ""


# ---------------------------------------------------------------- ranks


ROOMS = r"^\| (\d+) \| `(\w+)/` \| (.*?) \|"


def ranks() -> dict[str, tuple[int, int]]:
    """The table of `docs/architecture.md`: package -> the rank of its room, and its place there.

    A room itself stands for the files that lie in it directly, which come after its parts.
    """
    rows = re.findall(ROOMS, (ROOT / "docs/architecture.md").read_text(), re.MULTILINE)
    ranked = {}
    for rank, room, named in rows:
        parts = re.findall(r"`(\w+)/?`", named)
        own = parts.index(room) if room in parts else len(parts)
        places = enumerate(parts)
        ranked |= {f"{room}.{part}": (int(rank), place) for place, part in places if part != room}
        ranked[room] = (int(rank), own)
    return ranked


def violations(ranked: Mapping[str, tuple[int, int]], root: Path = ROOT) -> list[str]:
    """Imports within `runner/` that do not go from a higher rank to a lower one."""
    problems = []
    for path in sorted((root / "runner").rglob("*.py")):
        own = _package(module_name(path, root), ranked)
        for item in imports(path, root):
            other = _package(item.name, ranked)
            outside = not item.name.startswith("runner.") or item.name in FREE
            if outside or not own or own == other:
                continue
            if ranked[other] >= ranked[own]:
                problems.append(f"{path.relative_to(root)}:{item.line} imports {item.name}")
    return problems


# a command is imported by its name, in one place
FREE = ("runner.__version__", "runner.ROOT", "runner.cli.commands.")


def _package(name: str, ranked: Mapping[str, tuple[int, int]]) -> str:
    """The package that has a rank: a part of a room, or the room; empty for `runner` itself."""
    words = name.split(".")[1:]
    part = ".".join(words[:2])
    return part if part in ranked else ".".join(words[:1])


def test_every_package_has_a_rank() -> None:
    rooms = {path.parent for path in (ROOT / "runner").glob("*/__init__.py")}
    parts = {path.parent for path in (ROOT / "runner").glob("*/*/__init__.py")}
    folders = {".".join(path.relative_to(ROOT / "runner").parts) for path in rooms | parts}
    single = {name for name in ranks() if (ROOT / f"runner/{name.replace('.', '/')}.py").exists()}
    assert folders == set(ranks()) - single
    assert {path.name for path in (ROOT / "runner").glob("*.py")} == {"__init__.py"}


def test_packages_import_only_from_lower_ranks() -> None:
    assert violations(ranks()) == []


FORMS = [
    "import runner.cli.parsing.app",
    "from runner import cli",
    "from runner.cli import app",
    "from runner.cli.parsing.app import build",
    "from .. import cli",
    "from ..cli import app",
    "from ..cli.app import build",
    "def lazy():\n    from runner.cli.parsing.app import build",
    "from importlib import import_module\nimport_module('runner.cli.parsing.app')",
    "import importlib\nname = 'app'\nimportlib.import_module(f'runner.cli.{name}')",
    "__import__('runner.cli')",
]


@pytest.mark.parametrize("text", FORMS)
def test_the_test_of_ranks_sees_every_form_of_import(tmp_path: Path, text: str) -> None:
    folder = tmp_path / "runner" / "model"
    folder.mkdir(parents=True)
    (folder / "planted.py").write_text(text)
    assert len(violations(ranks(), tmp_path)) == 1


def test_imports_for_types_alone_are_free(tmp_path: Path) -> None:
    folder = tmp_path / "runner" / "model"
    folder.mkdir(parents=True)
    text = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from runner.cli import app\n"
    (folder / "planted.py").write_text(text)
    assert violations(ranks(), tmp_path) == []


# ---------------------------------------------------------------- families


def family(module: str) -> str:
    """The family that a module of `states` or `modules` belongs to; empty for none."""
    words = module.split(".")
    return words[1] if words[0] != "runner" and words[1:2] and words[1] in FAMILIES else ""


def strays(root: Path = ROOT) -> list[str]:
    """Imports of a family by what does not belong to it."""
    return [
        f"{path.relative_to(root)}:{item.line} imports {item.name}"
        for path in sources(root)
        for item in imports(path, root)
        if family(item.name) not in ("", family(module_name(path, root)))
    ]


def test_nothing_imports_a_family_but_itself() -> None:
    assert strays() == []


@pytest.mark.parametrize("name", ["modules/any.py", "states/web/any.py"])
def test_the_test_of_families_sees_an_import(tmp_path: Path, name: str) -> None:
    (file := tmp_path / name).parent.mkdir(parents=True)
    file.write_text("def lazy():\n    from modules.storage import lvm\n")
    assert strays(tmp_path) == [f"{name}:2 imports modules.storage.lvm"]


# ---------------------------------------------------------------- docstrings

OTHER_FORMS = re.compile(r"(Whether|True if|False if|(Tell|Tells|Say|Says|Returns) whether) ")


def test_what_answers_yes_or_no_says_return_whether() -> None:
    wrong = [
        f"{path.relative_to(ROOT)}: {name}"
        for path in sources()
        for name, _, description in parsed(path).functions
        if OTHER_FORMS.match(description)
    ]
    assert wrong == []


# ---------------------------------------------------------------- the core and its extras

LARGEST_CORE = 115_000  # lines


def doors(root: Path = ROOT) -> set[tuple[str, str]]:
    """Who of the core imports an extra, and which."""
    modules = ((module_name(path, root), path) for path in sources(root))
    return {*passages((module, item.name) for module, p in modules for item in imports(p, root))}


def test_an_extra_is_imported_by_itself_other_extras_and_its_doors() -> None:
    named = {(door, name) for name, extra in EXTRAS.items() for door in extra.doors.split()}
    assert doors() == named
    files = {file for extra in EXTRAS.values() for file in extra.files.split()}
    assert files <= {*map(module_name, sources())}


def test_the_test_of_extras_sees_an_import(tmp_path: Path) -> None:
    (file := tmp_path / "runner/engine/any.py").parent.mkdir(parents=True)
    file.write_text("def lazy():\n    from runner.tools.lsp import server\n")
    (tmp_path / "runner/tools/watch").mkdir(parents=True)
    (tmp_path / "runner/tools/watch/any.py").write_text("from runner.tools import lsp, queries\n")
    assert doors(tmp_path) == {("runner.engine.any", "the language server")}


def test_the_core_stays_as_large_as_one_person_can_hold() -> None:
    names = {path: module_name(path) for path in sources()}
    core = [path for path, name in names.items() if not family(name) and not extra_of(name)]
    assert sum(map(lines_of, core)) <= LARGEST_CORE


# ---------------------------------------------------------------- circles


def circles(root: Path = ROOT) -> list[set[str]]:
    """Files that import each other in a circle at run time, imports inside of functions included.

    A name that is put together at run time (a command, a provider) is no import.
    """
    named = {module_name(path, root): path for path in sources(root)}
    graph = networkx.DiGraph()
    for own, path in named.items():
        for item in imports(path, root):
            name = item.name if item.name in named else item.name.rpartition(".")[0]
            if name in named and name != own and not item.name.endswith("."):
                graph.add_edge(own, name)
    return [found for found in networkx.strongly_connected_components(graph) if len(found) > 1]


def test_nothing_imports_in_a_circle() -> None:
    assert [sorted(found) for found in circles()] == []


def test_the_test_of_circles_sees_one_inside_of_functions(tmp_path: Path) -> None:
    for name, other in ("a", "b"), ("b", "c"), ("c", "a"):
        file = tmp_path / "modules" / f"{name}.py"
        file.parent.mkdir(exist_ok=True)
        file.write_text(f"def lazy():\n    from modules.{other} import x\n")
    assert circles(tmp_path) == [{"modules.a", "modules.b", "modules.c"}]


def inside_functions(root: Path = ROOT) -> list[str]:
    """Imports inside of functions of our own modules and of what comes with Python: at the top of a
    file `from package import module` and `import urllib.parse` cost a start next to nothing
    (`runner/support/own_modules.py`).
    """
    return [
        f"{path.relative_to(root)} imports {name}"
        for path in sources(root)
        if re.search(r"(^[ \t]+|[:;] *)(from|import)\b", text := path.read_text(), re.M)
        for function in ast.walk(ast.parse(text))
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef)
        for node in ast.walk(function)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in _imported(node, module_name(path, root).split(".")[:-1])
        if (package := name.split(".")[0]) in TOP or package in sys.stdlib_module_names
    ]


LATER = {  # and why
    "runner/cli/commands/lsp.py imports runner.tools.lsp.server.serve": "pygls may be missing"
}


def test_imports_stand_at_the_top() -> None:
    assert sorted({*inside_functions()}) == sorted(LATER)


@pytest.mark.parametrize(
    "text",
    ["from modules import web", "import runner.api", "from .web import look"]
    + ["import json", "import json as j", "import urllib.parse", "from urllib import parse"],
)
def test_the_test_of_imports_inside_functions_sees_one(tmp_path: Path, text: str) -> None:
    (tmp_path / "modules").mkdir()
    (tmp_path / "modules/planted.py").write_text(f"import os\n\ndef look():\n    {text}\n")
    assert len(inside_functions(tmp_path)) == 1


def ambiguous(root: Path = ROOT) -> list[str]:
    """What a package calls as one of its files is called: `from package import name` would mean one
    or the other, depending on which was imported before (`runner/support/own_modules.py`).
    """
    problems = []
    for path in sources(root):
        if path.name == "__init__.py":
            own = module_name(path, root)
            files = {other.stem for other in path.parent.glob("*.py")}
            files |= {other.parent.name for other in path.parent.glob("*/__init__.py")}
            for name, origin in bound(path):
                if name in files and origin != f"{own}.{name}":
                    problems.append(f"{own}.{name}")
    return problems


def bound(path: Path) -> Iterator[tuple[str, str]]:
    """The names that a file gives a meaning at its top, and what is imported by them."""
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.ImportFrom):
            for alias in node.names:
                yield alias.asname or alias.name, f"{node.module}.{alias.name}"
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name, ""
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for name in (name for target in targets for name in ast.walk(target)):
                if isinstance(name, ast.Name):
                    yield name.id, ""


def test_a_name_of_a_package_means_one_thing() -> None:
    assert ambiguous() == []


@pytest.mark.parametrize(
    "text", ["def look(): ...", "look = 1", "from modules.web.look import look", "look: int = 1"]
)
def test_the_test_of_names_sees_a_second_meaning(tmp_path: Path, text: str) -> None:
    (tmp_path / "modules/web").mkdir(parents=True)
    (tmp_path / "modules/web/look.py").touch()
    (tmp_path / "modules/web/__init__.py").write_text(f"{text}\nfrom modules.web import look as l")
    assert ambiguous(tmp_path) == ["modules.web.look"]


def loaded_late(face: ast.Module) -> dict[str, list[str]]:
    """The names that a face imports when they are asked for, by the file that has them."""
    return {
        key.value: value.value.split()
        for table in ast.walk(face)
        if isinstance(table, ast.Dict)
        for key, value in zip(table.keys, table.values, strict=True)
        if isinstance(key, ast.Constant) and isinstance(value, ast.Constant)
    }


def idle(root: Path = ROOT) -> list[str]:
    """The names that the face of a package of modules/ or states/ imports for nobody: neither does
    it use them itself, nor is there a user elsewhere, nor are they functions for people.
    """
    words: Counter[str] = Counter()
    for folder in ("runner", "states", "modules", "tests"):
        for path in (root / folder).rglob("*.py"):
            words.update(set(re.findall(r"\w+", path.read_text())))
    found = []
    for top in ("modules", "states"):
        for path in (root / top).rglob("__init__.py"):
            text = path.read_text()
            tree = ast.parse(text)
            said = f"{str(path.relative_to(root).parent).replace('/', '.')}"
            for node in ast.walk(tree):
                if not isinstance(node, ast.ImportFrom) or node.module == "__future__":
                    continue
                names = [alias.asname or alias.name for alias in node.names]
                if names == ["*"]:
                    names = loaded_late(tree)[str(node.module).removeprefix(f"{said}.")]
                own = (node.module or "").startswith(said)
                for name in names:
                    used = len(re.findall(rf"\b{name}\b", text)) > 1
                    # where it is made, in the face, and by a third
                    if not used and words[name] <= (2 if own else 1):
                        found.append(f"{path.relative_to(root)}: {name}")
    return found


def test_a_face_imports_nothing_for_nobody() -> None:
    registry = Registry({})
    states = {
        name for module in registry.state_modules() for name in registry.state_functions(module)
    }
    offered = states | {
        name for module in registry.modules() for name in registry.functions(module)
    }
    assert [each for each in idle() if each.rpartition(" ")[2] not in offered] == []


def test_the_test_of_faces_sees_an_idle_name(tmp_path: Path) -> None:
    (tmp_path / "modules/a").mkdir(parents=True)
    (tmp_path / "modules/a/__init__.py").write_text(
        "from modules.a._b import one, two, three\none()"
    )
    (tmp_path / "modules/a/_b.py").write_text("def one(): ...\ndef two(): ...\ndef three(): ...\n")
    (tmp_path / "modules/c.py").write_text("from modules import a\na.two()\n")
    assert idle(tmp_path) == ["modules/a/__init__.py: three"]


def test_what_is_asked_of_a_face_that_imports_late_is_in_its_table() -> None:
    from modules import file

    asked = {
        node.attr
        for top in ("states", "modules")
        for path in (ROOT / top).rglob("*.py")
        if "modules.file" in (origins := dict(bound(path))).values()
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Attribute) and origins.get(dotted(node.value)) == "modules.file"
    }
    assert len(asked) > 50
    assert asked - {*dir(file)} == set()


def missing_files(text: str) -> list[str]:
    """The files and directories that a text names, in backticks, and that are not there."""
    names = [
        name
        for name in re.findall(r"`([\w./]+)`", text)
        if "/" in name or name.endswith((".py", ".sh", ".md"))
    ]
    places = [ROOT, ROOT / "runner"]
    return [
        name
        for name in names
        if not any((place / f"{name}{end}").exists() for place in places for end in ("", ".py"))
    ]


def test_all_files_that_the_map_names_exist() -> None:
    text = re.sub(ROOMS, "", (ROOT / "docs/architecture.md").read_text(), flags=re.MULTILINE)
    assert missing_files(text) == []
    assert missing_files("`engine/bind`, `tests/gone.py` and `gone.sh`") == [
        "tests/gone.py",
        "gone.sh",
    ]
    flow = re.findall(r"  ((?:\w+/[\w/]*(?:, )?)+)", text.split("## Ranks")[0])
    named = [name for names in flow for name in names.split(", ") if name]
    assert len(named) > 8 and missing_files(" ".join(f"`{name}`" for name in named)) == []


def lost_tests(tests: Path, rooms: set[str]) -> list[str]:
    """Tests below a folder of tests that lie beside the rooms, or in one that there is not."""
    tried = [path.relative_to(tests).parts for path in tests.rglob("test_*.py")]
    return ["/".join(parts) for parts in tried if parts[0] not in rooms]


@pytest.mark.parametrize("top", ["states", "modules"])
def test_tests_of_a_package_lie_in_its_folder(top: str) -> None:
    """Those of a family in the family's, those of modules that are files beside the folders."""
    packages = {path.parent.name for path in (ROOT / top).glob("*/__init__.py")} | set(FAMILIES)
    inside = {
        path.parent.relative_to(ROOT / "tests" / top)
        for path in (ROOT / "tests" / top).rglob("test_*.py")
    }
    assert {folder.parts[0] for folder in inside if folder.parts} <= packages
    of_families = {path.stem for name in FAMILIES for path in (ROOT / top / name).glob("[a-z]*")}
    names = {path.stem.removeprefix("test_") for path in (ROOT / "tests" / top).glob("test_*.py")}
    assert names & of_families == set()


def test_tests_lie_in_the_rooms_that_they_try(tmp_path: Path) -> None:
    rooms = {path.parent.name for path in (ROOT / "runner").glob("*/__init__.py")}
    assert lost_tests(ROOT / "tests/runner", rooms) == []
    for name in ("test_a.py", "engine/test_a.py", "nowhere/test_a.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    assert sorted(lost_tests(tmp_path, rooms)) == ["nowhere/test_a.py", "test_a.py"]


# ---------------------------------------------------------------- states, modules and the engine


def test_states_and_modules_import_only_what_they_may() -> None:
    problems = []
    for path in sources():
        top = module_name(path).split(".")[0]
        for item in imports(path) if top != "runner" else ():
            package = item.name.split(".")[0]
            public = item.name.startswith(("runner.api.", "runner.model.stdlib."))
            allowed = public or package == "modules" or package == top
            private = package != top and any(part.startswith("_") for part in item.name.split("."))
            if not allowed or private:
                problems.append(f"{path.relative_to(ROOT)}:{item.line} imports {item.name}")
    assert problems == []


def test_looks_go_through_the_planned_view() -> None:
    """Or say why they ask the machine: `# os: REASON` (tests/support/looks.py)."""
    problems = [
        f"{path.relative_to(ROOT)}:{problem}"
        for path in sources()
        if module_name(path).split(".")[0] != "runner"
        for problem in unmarked(path.read_text())
    ]
    assert problems == []


# ---------------------------------------------------------------- forks

FORK = re.compile(r"\bis_(?:state_)?planning\(\)|\bhere\.dry\b")
REASON = re.compile(r"# dry: \S")
MOST_FORKS = 10


def forks(root: Path = ROOT) -> list[tuple[str, bool]]:
    """The lines that ask whether this is a dry run, or say why they do, and whether they do both.
    runner/api and runner/engine are where that is decided.
    """
    free = (root / "runner/api", root / "runner/engine")
    return [
        (f"{path.relative_to(root)}: {line.strip()}", bool(FORK.search(line) and says))
        for path in sources(root)
        if not any(map(path.is_relative_to, free))
        for line in path.read_text().splitlines()
        if (says := REASON.search(line)) or FORK.search(line)
    ]


def test_few_places_ask_whether_this_is_a_dry_run() -> None:
    """And these say why, `# dry: REASON`. Others have a stand-in (`changer(planned=...)`,
    `planned_as`), say what only a dry run asks (`Plan.in_dry_run`, `Done.in_dry_run`), or look at
    the planned machine, on which nothing is planned in a real run.
    """
    assert [line for line, is_right in forks() if not is_right] == []
    assert len(forks()) <= MOST_FORKS


@pytest.mark.parametrize("line", ["if here.dry:", "x = is_planning()", "x = 1  # dry: no fork"])
def test_the_test_of_forks_sees_it(tmp_path: Path, line: str) -> None:
    (tmp_path / "states").mkdir()
    (tmp_path / "states/some.py").write_text(line)
    assert forks(tmp_path) == [(f"states/some.py: {line}", False)]


# ---------------------------------------------------------------- stand-ins


def without_stand_in(root: Path = ROOT) -> list[str]:
    """The changers that name a module that is to stand in for them (`changer(planned=module)`), and
    that has no function of their name.
    """
    named = {module_name(path, root): path for path in sources(root)}
    problems = []
    for path in named.values():
        text = path.read_text()
        origins = dict(bound(path)) if "planned" in text else {}
        for node in ast.parse(text).body if origins else ():
            for call in node.decorator_list if isinstance(node, ast.FunctionDef) else ():
                for keyword in call.keywords if isinstance(call, ast.Call) else ():
                    origin = dotted(keyword.value) if keyword.arg == "planned" else ""
                    module = named.get(origins.get(origin, ""))
                    if module and node.name not in dict(bound(module)):
                        problems.append(f"{path.relative_to(root)}: {node.name}")
    return problems


def test_a_module_that_stands_in_for_changers_has_them_all() -> None:
    assert without_stand_in() == []


def test_the_test_of_stand_ins_sees_one_missing(tmp_path: Path) -> None:
    (tmp_path / "modules").mkdir()
    (tmp_path / "modules/_planned.py").write_text("def add(): ...\n")
    changer = "@changer(touches=[], planned=_planned)\ndef {}(): ...\n"
    (tmp_path / "modules/planted.py").write_text(
        "from modules import _planned\n" + changer.format("add") + changer.format("delete")
    )
    assert without_stand_in(tmp_path) == ["modules/planted.py: delete"]


def test_states_and_modules_do_not_go_by_where_their_files_lie() -> None:
    """They move; `runner.ROOT` and `runner.api.own_program` say where runner is."""
    files = [path for path in sources() if path.relative_to(ROOT).parts[0] != "runner"]
    named = [path for path in files if re.search(r"(?<!os\.)__file__", path.read_text())]
    assert named == []


def test_only_the_loader_knows_states_and_modules() -> None:
    problems = [
        f"{path.relative_to(ROOT)}:{item.line} imports {item.name}"
        for path in sorted((ROOT / "runner").rglob("*.py"))
        for item in imports(path)
        if not item.name.startswith("runner") and "loader" not in path.parts
    ]
    assert problems == []


def test_values_are_records() -> None:
    """A dataclass or typing.NamedTuple is compiled anew at each start."""
    for path in sources():
        imported = {
            alias.name
            for node in parsed(path).nodes
            if isinstance(node, ast.ImportFrom)
            and node.module in ("typing", "dataclasses", "collections")
            for alias in node.names
        }
        allowed = {"NamedTuple"} if module_name(path) == "runner.model.records" else set()
        assert not imported & {"NamedTuple", "dataclass", "namedtuple"} - allowed, path


# ---------------------------------------------------------------- who prints

PRINTING = ("cli", "output")
STREAMS = ("stdout", "stderr", "__stdout__", "__stderr__")


def prints(path: Path) -> Iterator[int]:
    """The lines of a file that print, or have a standard stream in hand."""
    for node in parsed(path).nodes:
        if (
            (isinstance(node, ast.Call) and dotted(node.func) == "print")
            or (isinstance(node, ast.Attribute) and dotted(node) in _STREAMS_OF_SYS)
            or (isinstance(node, ast.ImportFrom) and node.module == "sys" and _named(node, STREAMS))
        ):
            yield node.lineno


_STREAMS_OF_SYS = {f"sys.{name}" for name in STREAMS}


def _named(node: ast.ImportFrom, names: tuple[str, ...]) -> bool:
    return any(alias.name in names for alias in node.names)


def test_only_the_command_line_prints() -> None:
    """All else emits events (`Warned`) or returns values."""
    problems = [
        f"{path.relative_to(ROOT)}:{line}"
        for path in sources()
        if module_name(path).split(".")[1:2] not in [[package] for package in PRINTING]
        for line in prints(path)
    ]
    assert problems == []


@pytest.mark.parametrize(
    "text", ["print('x')", "import sys\nsys.stderr.write('x')", "from sys import stdout"]
)
def test_the_test_of_printing_sees_it(tmp_path: Path, text: str) -> None:
    (tmp_path / "planted.py").write_text(text)
    assert [*prints(tmp_path / "planted.py")] != []


def test_only_the_command_line_and_its_output_draw_pages() -> None:
    drawing = tuple(f"runner.support.drawing.{name}" for name in ("page", "svg", "dot_mermaid"))
    problems = [
        f"{path.relative_to(ROOT)}:{item.line} imports {item.name}"
        for path in sorted((ROOT / "runner").rglob("*.py"))
        if path.relative_to(ROOT / "runner").parts[0] not in PRINTING
        and "drawing" not in path.parts
        for item in imports(path)
        if item.name.startswith(drawing)
    ]
    assert problems == []


# ---------------------------------------------------------------- plain literals


def spreads(text: str) -> list[int]:
    """The lines of `*("a", "b")`; ruff (PIE800) sees `**{...}`."""
    return [
        node.lineno
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Starred)
        and isinstance(node.value, ast.Tuple | ast.List | ast.Set)
        and node.value.elts
    ]


def test_literals_are_not_spread_to_please_the_formatter() -> None:
    problems = [
        f"{path.relative_to(ROOT)}:{line}"
        for path in [*sources(), *(ROOT / "tests").rglob("*.py")]
        if re.search(r"\*[(\[{]", text := path.read_text())
        for line in spreads(text)
    ]
    assert problems == []
    assert spreads('f(*("a", "b"), *c)') == [1]


# ---------------------------------------------------------------- diagnostics

CUT = (  # but for the first line of a text
    r"\.(message|hint)\b[^\n]*?\)?\."
    r"(split|partition|rpartition|startswith|removesuffix|removeprefix)\((?!.\\n)"
)
OF_DIAGNOSTICS = ("did you mean", "get_close_matches", "; it is ignored")


def test_diagnostics_have_fields_instead_of_texts_to_cut() -> None:
    """Who needs the subject of a message, or what it suggests, reads `runner/model/diagnostics`."""
    problems = []
    for path in sorted((ROOT / "runner").rglob("*.py")):
        if module_name(path) != "runner.model.diagnostics":
            text = path.read_text()
            problems += [
                f"{path.relative_to(ROOT)}: {words}" for words in OF_DIAGNOSTICS if words in text
            ]
            problems += [f"{path.relative_to(ROOT)}: {cut[0]}" for cut in re.finditer(CUT, text)]
    assert problems == []


# ---------------------------------------------------------------- no test by chance


SHORT_NUMBER = r"""(["'])[1-9][\d.]{0,4}\1 not in|\.(?:replace|count)\(b?(["'])[1-9][\d.]{0,4}\2"""


def by_chance(path: Path) -> Iterator[int]:
    """The lines of a test that asks for a random value which no seed decides, for hypothesis
    without tests/support/properties.py, which has it take the same values always, or for a short
    number in an output, where a time, a process ID or the name of a folder may have it.
    """
    text = path.read_text()
    for found in re.finditer(SHORT_NUMBER, text):
        yield text.count("\n", 0, found.start()) + 1
    if "random" not in text and "hypothesis" not in text:
        return
    nodes = [*ast.walk(ast.parse(text))]
    chance = any(isinstance(node, ast.Import) and "random" in _imported(node, []) for node in nodes)
    settled = path.name == "properties.py" or "\nimport properties" in text
    for node in nodes:
        names = [name.partition(".")[0] for name in _imported(node, [])]
        called = dotted(node.func) if isinstance(node, ast.Call) else None
        if (
            (chance and called and called.startswith("random.") and not _is_seeded(node))
            or (isinstance(node, ast.ImportFrom) and node.module == "random")
            or ("hypothesis" in names and not settled)
        ):
            yield node.lineno  # type: ignore[attr-defined]


def _is_seeded(call: ast.AST) -> bool:
    return isinstance(call, ast.Call) and dotted(call.func) == "random.Random" and bool(call.args)


def test_no_test_is_by_chance() -> None:
    """Who wants other values asks for them, by hand (CONTRIBUTING.md)."""
    problems = [
        f"{path.relative_to(ROOT)}:{line}"
        for path in sorted((ROOT / "tests").rglob("*.py"))
        for line in by_chance(path)
    ]
    assert problems == []


@pytest.mark.parametrize(
    "text",
    [
        "import random\nrandom.Random()",
        "import random\nrandom.choice('ab')",
        "from random import choice",
        "from hypothesis import given",
        "assert '4" + "2' not in machine('history').stdout",
        "data.replace(b'1" + ".5', b'2')",
    ],
)
def test_the_test_of_chance_sees_it(tmp_path: Path, text: str) -> None:
    (tmp_path / "planted.py").write_text(text)
    assert [*by_chance(tmp_path / "planted.py")] != []


# ---------------------------------------------------------------- lengths


def meanings(root: Path = ROOT) -> Counter[str]:
    """How many classes have a name, with or without an underscore."""
    nodes = (node for path in sources(root) for node in parsed(path).nodes)
    return Counter(node.name.lstrip("_") for node in nodes if isinstance(node, ast.ClassDef))


def test_a_name_of_a_class_means_one_thing_or_two() -> None:
    assert {name for name, many in meanings().items() if many > 2} <= {"Job", "Key", "Settings"}


def test_the_test_of_class_names_sees_them(tmp_path: Path) -> None:
    (tmp_path / "modules").mkdir()
    (tmp_path / "modules/planted.py").write_text("class Look: ...\nclass _Look: ...\n")
    assert meanings(tmp_path) == {"Look": 2}


def lengths() -> Iterator[tuple[str, int]]:
    """Functions with the lines of their bodies, without the docstring."""
    for path in sources():
        for name, length, _ in parsed(path).functions:
            yield f"{path.relative_to(ROOT)}:{name}", length


def test_functions_are_short() -> None:
    assert {name: length for name, length in lengths() if length > LONG_FUNCTIONS} == {}


def test_files_are_short() -> None:
    long = {path: len(path.read_text().splitlines()) for path in sources()}
    assert {path: lines for path, lines in long.items() if lines > LONGEST_FILE} == {}


# ---------------------------------------------------------------- what tests need


def asks_for_root(tree: ast.AST) -> list[int]:
    """The lines that take the number of the user for what that may do: root of a locked container
    may not.
    """
    found = []
    for node in ast.walk(tree):
        asked: list[ast.expr] = []
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            asked = sides if any(isinstance(side, ast.Constant) for side in sides) else []
        elif isinstance(node, ast.If | ast.IfExp | ast.While):
            asked = [node.test]
        elif isinstance(node, ast.BoolOp):
            asked = node.values
        elif isinstance(node, ast.UnaryOp):
            asked = [node.operand]
        found += [each.lineno for each in asked if ast.unparse(each) == "os.geteuid()"]
    return found


def test_tests_ask_for_rights_and_not_who_they_are() -> None:
    """By `is_root`, `may_mount` and their like, which tell why a test is skipped."""
    for text in ("os.geteuid() != 0", "x if os.geteuid() else y", "not os.geteuid()"):
        assert asks_for_root(ast.parse(text)) == [1]
    assert asks_for_root(ast.parse("uid = os.geteuid(); uids == os.geteuid()")) == []
    found = [
        f"{path.relative_to(ROOT)}:{line}"
        for path in sorted((ROOT / "tests").rglob("*.py"))
        for line in asks_for_root(ast.parse(path.read_text()))
        if path.name != "needing.py"
    ]
    assert found == [], "ask tests/support/needing.py"


def test_scripts_of_the_tests_are_of_a_python_anywhere() -> None:
    """A line of #! ends at a space: `starting.SCRIPT` does not."""
    line = "#!" + "{sys.executable}"
    texts = {path: path.read_text() for path in (ROOT / "tests").rglob("*.py")}
    assert [path for path, text in texts.items() if line in text] == []


def without_original(path: Path) -> Iterator[str]:
    """What a test puts in the place of a name of ours that there is not."""
    nodes = [*ast.walk(ast.parse(path.read_text()))]
    ours: dict[str, str] = {}
    for node in nodes:
        if isinstance(node, ast.Import):
            ours |= {each.asname: each.name for each in node.names if each.asname}
        elif isinstance(node, ast.ImportFrom) and node.module:
            ours |= {each.asname or each.name: f"{node.module}.{each.name}" for each in node.names}
    for call in nodes:
        match call:
            case ast.Call(
                func=ast.Attribute(attr="setattr"),
                args=[place, ast.Constant(value=str(name)), _],
                keywords=[],
            ):
                start, _, rest = (dotted(place) or "").partition(".")
                module = f"{ours.get(start, start)}.{rest}".rstrip(".")
                if module.split(".")[0] in TOP and not _is_there(module, name):
                    yield f"{path.name}:{call.lineno} {module}.{name}"


def _is_there(module: str, name: str) -> bool:
    try:
        return hasattr(pkgutil.resolve_name(module), name)
    except (ImportError, AttributeError):
        return True  # a name of a test's own, or an extra that is not installed


def test_tests_stand_in_for_what_there_is(tmp_path: Path) -> None:
    """A name that goes takes the tests along that need it: here, and not in the last minute."""
    planted = tmp_path / "planted.py"
    planted.write_text("from modules import mount\nmonkeypatch.setattr(mount, 'nothing', 1)\n")
    assert [*without_original(planted)] == ["planted.py:2 modules.mount.nothing"]
    tests = sorted((ROOT / "tests").rglob("test_*.py"))
    assert [each for path in tests for each in without_original(path)] == []
