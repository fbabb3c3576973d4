# SPDX-License-Identifier: Apache-2.0
"""A path that ends with / is that of a folder: no file has it, what is put there lies in it."""

from __future__ import annotations

from pathlib import Path

import pytest
from command import Machine
from hostile import converted

from runner.engine.loader.registry import Registry
from runner.language.arguments.schema import schema_of

FOLDERS_TOO = """
    file.recurse(name) file.copy(name) file.patch(name) mount.mounted(name) mount.swap(name)
    mount.unmounted(name)
""".split()


def test_what_writes_a_file_takes_the_path_of_none_for_one() -> None:
    registry = Registry({})
    shapes = {
        f"{module}.{function}({name})": parameters[name].shape
        for module in registry.state_modules()
        for function in registry.state_functions(module)
        for parameters in [schema_of(registry.state(f"{module}.{function}").function).parameters]
        if "validate" in parameters
        for name in ("name", "filename", "config", "conf_file")
        if name in parameters and "path" in parameters[name].shape.title
    }
    assert len(shapes) > 20 and "ini.options_present(name)" in shapes
    taken = {name for name, shape in shapes.items() if converted(shape, "/a/") is not None}
    assert not taken - {*FOLDERS_TOO}, "annotate these as FilePath"


def test_no_file_is_written_there(machine: Machine) -> None:
    words = ("single", "file.managed", f"name={machine.folder}/a/", "contents=b", "makedirs=True")
    ran = machine(*words, code=1)
    assert "expected a file, and a path that ends with / is a folder" in ran.stderr
    assert "write the file's name behind it" in ran.stderr
    assert not (machine.folder / "a").exists()


@pytest.mark.parametrize("function", ["file.copy", "file.rename"])
def test_what_is_put_there_lies_in_it(machine: Machine, function: str, tmp_path: Path) -> None:
    source = tmp_path / "one"
    source.write_text("1")
    words = ("single", function, f"name={tmp_path}/new/", f"source={source}")
    for test in (["--test"], []):
        (result,) = machine.results(*words, *test, code=2).values()
        assert result["comment"].startswith(f"The target directory {tmp_path}/new is not present")
    (dry,) = machine.results(*words, "makedirs=True", "--test").values()
    (real,) = machine.results(*words, "makedirs=True").values()
    assert dry["changes"] == real["changes"] == {f"{tmp_path}/new/one": str(source)}
    assert (tmp_path / "new/one").read_text() == "1"
    (again,) = machine.results(*words, "makedirs=True").values()
    assert again["result"] is True and not again["changes"]


@pytest.mark.parametrize(
    ("function", "code"),
    [("file.exists", 2), ("file.missing", 0), ("file.absent", 0), ("file.touch", 2)],
)
def test_a_dry_run_sees_no_file_there(machine: Machine, function: str, code: int) -> None:
    (machine.folder / "one").write_text("1")
    words = ("single", function, f"name={machine.folder}/one/")
    (dry,) = machine.results(*words, "--test", code=code).values()
    (real,) = machine.results(*words, code=code).values()
    assert (dry["result"], dry["changes"]) == (real["result"], real["changes"])
    assert (machine.folder / "one").read_text() == "1"
