# SPDX-License-Identifier: Apache-2.0
"""How runner's own modules are imported: as `importlib` does it, in fewer steps."""

from __future__ import annotations

import importlib.util
import os
import shutil
import sys
from pathlib import Path
from types import ModuleType

import pytest

from runner.cli.own_modules import OwnModules


@pytest.fixture(autouse=True)
def compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", False)


def loaded(folder: Path, name: str = "runner.sample") -> ModuleType:
    spec = OwnModules.find_spec(name, [str(folder)])
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_module_is_that_of_its_source_as_it_is_now(tmp_path: Path) -> None:
    source = tmp_path / "sample.py"
    for text in ("value = 1\n", "value = 22\n"):
        source.write_text(text)
        assert loaded(tmp_path).value == int(text.split()[-1])  # compiled here,
        module = loaded(tmp_path)  # and read here
        assert module.value == int(text.split()[-1])
        assert module.__file__ == str(source) and os.path.exists(str(module.__cached__))
    before = source.stat()
    source.write_text("value = 33\n")  # as long as before, and later
    os.utime(source, (before.st_atime, before.st_mtime + 2))
    assert loaded(tmp_path).value == 33


def test_what_is_compiled_is_taken_without_compiling(tmp_path: Path) -> None:
    source = tmp_path / "sample.py"
    source.write_text("value = 1\n")
    status = source.stat()
    loaded(tmp_path)
    source.write_text("value = 2\n")
    os.utime(source, ns=(status.st_atime_ns, status.st_mtime_ns))  # which nobody can tell apart
    assert loaded(tmp_path).value == 1


def test_a_copied_module_knows_its_new_place(tmp_path: Path) -> None:
    (tmp_path / "old").mkdir()
    (tmp_path / "old/sample.py").write_text("def where(): return where.__code__.co_filename\n")
    loaded(tmp_path / "old")
    shutil.copytree(tmp_path / "old", tmp_path / "new", copy_function=shutil.copy2)
    assert loaded(tmp_path / "new").where() == str(tmp_path / "new/sample.py")


def test_packages_and_what_is_no_module_of_runner(tmp_path: Path) -> None:
    (tmp_path / "sample").mkdir()
    assert OwnModules.find_spec("runner.sample", [str(tmp_path)]) is None
    (tmp_path / "sample/__init__.py").write_text("value = 1\n")
    package = loaded(tmp_path)
    assert package.__path__ == [str(tmp_path / "sample")] and package.value == 1
    assert package.__package__ == "runner.sample"
    for name, path in (("other.sample", [str(tmp_path)]), ("runner", None), ("runner.none", ["/"])):
        assert OwnModules.find_spec(name, path) is None
