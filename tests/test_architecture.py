"""The house rules that a machine can check: who imports whom, how long things are."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
PACKAGES = ("runner", "states", "modules")
VALUES = {
    "runner.model",
    "runner.errors",
    "runner.highdata",
    "runner.argtypes",
    "runner.aggregates",
    "runner.records",
    "runner.textfiles",
    "runner.database",
    "runner",
}

# each stage with its helpers: nothing here may import another stage
STAGES = {
    "config": (
        "config_file",
        "config_keys",
        "unused_keys",
        "jinja_options",
        "secrets",
        "yaml_errors",
        "yaml_layout",
        "yaml_spot",
        "bounds",
    ),
    "tree": (),
    "render": ("jinja_options", "yaml_errors", "yaml_layout", "yaml_spot", "bounds", "salt_package", "trusted_folder"),
    "grains": (),
    "pillar": ("merging", "ordered"),
    "external": (),
    "match": ("compounds",),
    "top": ("top_strategies",),
    "high": ("sls", "shapes"),
    "sls": ("shapes",),
    "low": ("extend", "relationships", "chain_text", "scope"),
    "requisites": (),
    "graph": ("cycles",),
    "automatic": (),
    "decide": (),
    "guards": (),
    "slots": (),
    "debts": ("trusted_folder",),
    "secrets": ("secret_forms", "secret_names", "old_values", "former_secrets", "trusted_folder"),
}


def sources() -> list[Path]:
    return sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))


def name_of(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def imports(path: Path) -> Iterator[str]:
    """What a file imports of our own packages."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (
                f"{node.module}.{alias.name}"
                for alias in node.names
                if (ROOT / node.module.replace(".", "/") / f"{alias.name}.py").exists()
            )


def ours(path: Path) -> set[str]:
    return {name for name in imports(path) if name.split(".")[0] in PACKAGES}


def test_states_and_modules_import_only_what_they_may() -> None:
    for path in sources():
        top = name_of(path).split(".")[0]
        if top == "modules":
            allowed = ("runner.api", "modules", "runner")
        elif top == "states":
            allowed = ("runner.api", "modules", "states", "runner")
        else:
            continue
        for name in ours(path):
            fits = name in allowed or name.startswith(("modules.", *(["states."] if top == "states" else [])))
            assert fits, f"{path.relative_to(ROOT)} imports {name}"


def test_stages_do_not_import_each_other() -> None:
    for stage, helpers in STAGES.items():
        files = [ROOT / "runner" / f"{stage}.py", *sorted((ROOT / "runner" / stage).rglob("*.py"))]
        for path in (file for file in files if file.exists()):
            for name in ours(path) - VALUES:
                own = name.startswith(f"runner.{stage}") or name.removeprefix("runner.") in helpers
                assert own, f"{path.relative_to(ROOT)} imports {name}"


def test_only_the_loader_knows_states_and_modules() -> None:
    for path in sources():
        name = name_of(path)
        if name.startswith("runner") and name != "runner.loader":
            strange = {found for found in ours(path) if found.split(".")[0] in ("states", "modules")}
            assert not strange, f"{path.relative_to(ROOT)} imports {strange}"


def test_only_the_command_line_imports_the_pipeline() -> None:
    for path in sources():
        if not name_of(path).startswith("runner.cli"):
            assert not {"runner.run", "runner.asking", "runner.explaining", "runner.naming"} & ours(path), path


def test_values_are_records() -> None:
    """A dataclass or typing.NamedTuple is compiled anew at each start."""
    for path in sources():
        imported = {
            alias.name
            for node in ast.walk(ast.parse(path.read_text()))
            if isinstance(node, ast.ImportFrom) and node.module in ("typing", "dataclasses", "collections")
            for alias in node.names
        }
        allowed = {"NamedTuple"} if name_of(path) == "runner.records" else set()
        assert not imported & {"NamedTuple", "dataclass", "namedtuple"} - allowed, path


def lengths() -> Iterator[tuple[str, int]]:
    for path in sources():
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef):
                first = node.body[1] if ast.get_docstring(node) and len(node.body) > 1 else node.body[0]
                yield f"{path.relative_to(ROOT)}:{node.name}", (node.end_lineno or 0) - first.lineno + 1


# state functions: their length is their signature and what it means
LONG_FUNCTIONS = 60
LONGEST_FILE = 700  # a file is as long as one idea; about 500 is where to ask whether it holds two


def test_functions_are_short() -> None:
    found = {name: length for name, length in lengths() if length > LONG_FUNCTIONS}
    assert not found, found


def test_files_are_short() -> None:
    for path in sources():
        lines = len(path.read_text().splitlines())
        assert lines <= LONGEST_FILE, f"{path.relative_to(ROOT)} has {lines} lines"
