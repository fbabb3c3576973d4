# SPDX-License-Identifier: Apache-2.0
"""How runner's own modules are imported: when something of them is asked for, and in few steps."""

from __future__ import annotations

import importlib
import importlib.util
import os
import shutil
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from runner.support import own_modules
from runner.support.own_modules import LateModule, NotYet, OwnModules


@pytest.fixture(autouse=True)
def compiled(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    monkeypatch.setattr(own_modules, "_FOLDERS", _folders(tmp_path))


def _folders(folder: Path) -> tuple[str, ...]:
    return (*own_modules._FOLDERS, f"{folder}/runner/", f"{folder}/modules/")


def loaded(folder: Path, name: str = "runner.sample") -> ModuleType:
    spec = OwnModules.find_spec(name, [f"{folder}/runner"])
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def source_of(folder: Path) -> Path:
    (folder / "runner").mkdir(exist_ok=True)
    return folder / "runner/sample.py"


def test_a_module_is_that_of_its_source_as_it_is_now(tmp_path: Path) -> None:
    source = source_of(tmp_path)
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
    source = source_of(tmp_path)
    source.write_text("value = 1\n")
    status = source.stat()
    assert loaded(tmp_path).value == 1
    source.write_text("value = 2\n")
    os.utime(source, ns=(status.st_atime_ns, status.st_mtime_ns))  # which nobody can tell apart
    assert loaded(tmp_path).value == 1


def test_a_copied_module_knows_its_new_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("old", "new"):
        monkeypatch.setattr(own_modules, "_FOLDERS", _folders(tmp_path / name))
    (tmp_path / "old").mkdir()
    source = source_of(tmp_path / "old")
    source.write_text("def where(): return where.__code__.co_filename\n")
    assert loaded(tmp_path / "old").where() == str(source)
    shutil.copytree(tmp_path / "old", tmp_path / "new", copy_function=shutil.copy2)
    assert loaded(tmp_path / "new").where() == str(tmp_path / "new/runner/sample.py")


def test_packages_and_what_is_no_module_of_runner(tmp_path: Path) -> None:
    (tmp_path / "runner/sample").mkdir(parents=True)
    assert OwnModules.find_spec("runner.sample", [f"{tmp_path}/runner"]) is None
    (tmp_path / "runner/sample/__init__.py").write_text("value = 1\n")
    package = loaded(tmp_path)
    assert package.__path__ == [f"{tmp_path}/runner/sample"] and package.value == 1
    assert package.__package__ == "runner.sample"
    shutil.copytree(tmp_path / "runner", tmp_path / "runner2")  # of somebody else
    for name, path in (
        ("runner2.sample", [f"{tmp_path}/runner2"]),
        ("runner", None),
        ("runner.none", [f"{tmp_path}/runner"]),
    ):
        assert OwnModules.find_spec(name, path) is None


# ---------------------------------------------------------------- executed when asked

PACKAGE = {
    "__init__": "LOG.append('package')\nfrom modules.planted.eager import eager\nown = 1\n",
    "eager": "LOG.append('eager')\nfrom modules.planted import late, later\neager = 1\n",
    "late": "'''Says.'''\nLOG.append('late')\nvalue = 1\n",
    "later": "LOG.append('later')\nvalue = 2\n",
    "failing": "before = 1\nLOG.append('failing')\nimport there_is_no_such_module\n",
    "wrong": "LOG.append('wrong')\nfrom modules.planted.late import valve\n",
    "absent": "from modules.planted.none import value\n",
    "library": "import colorsys\nimport quopri as coded\n"
    "def grey(): return colorsys.rgb_to_hsv(0, 0, 0)\n"
    "def plain(): return coded.decodestring(b'=61')\n"
    "import time\ndef day(): return time.strptime('2', '%d').tm_mday\n",
    "packages": "import xml.dom.minidom\nimport xml.sax.saxutils\nimport xml.dom.pulldom\n"
    "import os.path\nfrom xml import etree\n"
    "def dom(): return xml.dom.minidom.Document()\n"
    "def escaped(): return xml.sax.saxutils.escape('<')\n",
    "slow": "first = 1\nBEGUN.set()\nassert GO_ON.wait(60)\nsecond = 2\n",
}


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """A package `modules.planted`; what was executed of it."""
    import modules

    done: list[str] = []
    (folder := tmp_path / "modules/planted").mkdir(parents=True)
    for name, text in PACKAGE.items():
        (folder / f"{name}.py").write_text(text)
    monkeypatch.setitem(own_modules._BUILTINS, "LOG", done)
    monkeypatch.setattr(modules, "__path__", [f"{tmp_path}/modules"])
    yield done
    for name in [name for name in sys.modules if name.startswith("modules.planted")]:
        del sys.modules[name]
    vars(modules).pop("planted", None)


def imported(name: str) -> ModuleType:
    return importlib.import_module(f"modules.planted{name}")


def test_a_module_is_executed_when_it_is_asked_for_something(log: list[str]) -> None:
    late = imported(".late")
    package = imported("")
    assert type(late) is NotYet and (late.__name__, late.__package__) == (
        "modules.planted.late",
        "modules.planted",
    )
    assert package.late is late and package.later.__file__.endswith("/later.py")
    assert "modules.planted.later" in repr(package.later) and log == []
    assert not own_modules.executed("modules.planted.late")
    assert late.value == 1 and log == ["late"] and type(late) is ModuleType
    assert own_modules.executed("modules.planted.late") is late
    assert package.own == 1 and log == ["late", "package", "eager"]
    assert sys.modules["modules.planted.later"].value == 2 and log[3:] == ["later"]
    assert not hasattr(late, "vaule") and not hasattr(package, "onw")


def test_what_is_set_stays(log: list[str]) -> None:
    late = imported(".late")
    late.value = 7  # type: ignore[attr-defined]
    assert log == ["late"] and late.value == 7


@pytest.mark.parametrize(
    "ask", [vars, dir, lambda module: module.__doc__, lambda module: module.value]
)
def test_what_executes_a_module(log: list[str], ask: object) -> None:
    assert callable(ask)
    late = imported(".late")
    ask(late)
    assert log == ["late"] and late.__doc__ == "Says." and "value" in vars(late)


def test_a_statement_for_a_name_executes_and_one_for_a_module_does_not(log: list[str]) -> None:
    exec("from modules.planted import late, later", {})
    assert log == []
    exec("from modules.planted.late import value", {})
    assert log == ["late"]
    with pytest.raises(ImportError, match="cannot import name 'valve'"):
        exec("from modules.planted.late import valve", {})
    with pytest.raises(ImportError, match="cannot import name 'none'"):
        exec("from modules.planted import none", {})


def test_a_module_that_fails_does_so_each_time(log: list[str]) -> None:
    failing = imported(".failing")
    for times in (1, 2):
        with pytest.raises(ModuleNotFoundError, match="there_is_no_such_module"):
            failing.before  # noqa: B018
        assert log == ["failing"] * times


def test_statements_of_our_own_modules_fail_as_those_of_others(log: list[str]) -> None:
    with pytest.raises(ImportError, match="cannot import name 'valve'"):
        imported(".wrong").any  # noqa: B018
    assert log == ["wrong", "late"]
    with pytest.raises(ModuleNotFoundError, match=r"modules\.planted\.none"):
        imported(".absent").any  # noqa: B018


def test_a_thread_waits_for_a_module_that_another_one_executes(
    log: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, go_on = threading.Event(), threading.Event()
    monkeypatch.setitem(own_modules._BUILTINS, "BEGUN", begun)
    monkeypatch.setitem(own_modules._BUILTINS, "GO_ON", go_on)
    slow = imported(".slow")
    seen: list[tuple[int, int]] = []

    def look() -> None:
        seen.append((slow.first, slow.second))

    threads = [threading.Thread(target=look) for _ in range(3)]
    threads[0].start()
    assert begun.wait(60)  # the first one executes it: it has a part of its names
    for thread in threads[1:]:
        thread.start()
    assert seen == []
    go_on.set()
    for thread in threads:
        thread.join(60)
    assert seen == [(1, 2)] * 3


def test_a_child_executes_what_its_parent_was_executing(
    log: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A fork waits until no thread executes a module: the child has no thread that would end it."""
    begun, go_on = threading.Event(), threading.Event()
    monkeypatch.setitem(own_modules._BUILTINS, "BEGUN", begun)
    monkeypatch.setitem(own_modules._BUILTINS, "GO_ON", go_on)
    slow, late = imported(".slow"), imported(".late")
    thread = threading.Thread(target=lambda: slow.first)
    thread.start()
    assert begun.wait(60)
    threading.Timer(0.05, go_on.set).start()
    pid = os.fork()
    if not pid:
        os._exit(0 if (late.value, slow.second) == (1, 2) else 1)
    assert os.waitpid(pid, 0)[1] == 0
    thread.join(60)


# ---------------------------------------------------------------- what comes with Python


def test_what_comes_with_python_is_imported_when_it_is_asked_for_something(
    log: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("colorsys", "quopri", "_strptime"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    library = imported(".library")
    asked = library.colorsys
    assert (
        type(asked) is LateModule and asked.__name__ == "colorsys" and "colorsys" not in sys.modules
    )
    assert library.grey() == (0.0, 0.0, 0) and library.colorsys is sys.modules["colorsys"]
    assert library.day() == 2  # C imports, too, and asks in our name
    assert library.plain() == b"a" and library.plain() == b"a"  # by another name
    library.coded.planted = asked.planted = 7
    assert sys.modules["colorsys"].planted == sys.modules["quopri"].planted == 7
    assert library.coded.planted == 7 and not hasattr(asked, "nosuch")


def test_of_a_package_those_modules_are_imported_that_are_asked_for(
    log: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    import xml.etree

    for name in [name for name in sys.modules if name.startswith(("xml.dom", "xml.sax"))]:
        monkeypatch.delitem(sys.modules, name)
    for name in {"dom", "sax"} & vars(xml).keys():
        monkeypatch.delattr(xml, name)
    packages = imported(".packages")
    assert type(packages.xml) is LateModule and packages.etree is xml.etree and packages.os is os
    assert "xml.dom" not in sys.modules
    assert packages.escaped() == "&lt;" and "xml.dom" not in sys.modules
    assert packages.dom().nodeName == "#document" and "xml.dom.pulldom" in sys.modules
    assert packages.xml is xml  # nothing is left to wait for
