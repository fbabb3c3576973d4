# SPDX-License-Identifier: Apache-2.0
"""Salt's functions for ini files and pip, answering as Salt 3008.3; the rest of an ini file
stays.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest
from command import Machine
from harness import HarnessHere

from modules import ini
from modules.languages import pip
from runner.api import CommandFailed, changes_allowed, running

TEXT = "; c\na = 0\n[s]\n# x\nb = 1\nc=2\n[t]\nd=4\n"


@pytest.mark.parametrize("others", [20, 200])
def test_other_sections_are_not_looked_at(
    others: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[str] = []
    lines = ini._lines

    def counted(*args: Any) -> Iterator[Any]:
        for place, line in lines(*args):
            seen.append(line)
            yield place, line

    monkeypatch.setattr(ini, "_lines", counted)
    path = tmp_path / "many.ini"
    path.write_text("[once]\na = 0\n" + "".join(f"\n[s{n}]\na = {n}\n" for n in range(others)))
    with running(HarnessHere()), changes_allowed():
        for number in range(20):
            ini.set_option(str(path), {"once": {f"o{number:02}": number}})
            assert ini.get_option(str(path), "once", f"o{number:02}") == str(number)
            assert ini.set_option(str(path), {"once": {f"o{number:02}": number}}) == {}
        assert len(seen) < 20 * 30
        ini.set_option(str(path), {f"s{n}": {"a": n, "b": n} for n in range(20)})
    written = path.read_text()
    assert written.startswith("[once]\na = 0\no00 = 0\n")
    assert "\n\n[s19]\na = 19\nb = 19\n" in written


def test_options_are_set_and_removed(tmp_path: Path) -> None:
    path = tmp_path / "x.ini"
    path.write_text(TEXT)
    name = str(path)
    with running(HarnessHere()), changes_allowed():
        assert ini.get_option(name, "s", "zz") is None
        assert ini.get_option("/nowhere/x", "s", "b") is None
        changed = ini.set_option(name, {"s": {"b": 5, "n": "x"}, "u": {"z": 1}, "a": 7})
        assert changed == {
            "s": {"b": {"before": "1", "after": "5"}, "n": {"before": None, "after": "x"}},
            "u": {"before": None, "after": {"z": "1"}},
            "a": {"before": "0", "after": "7"},
        }
        assert ini.set_option(name, {"s": {"b": 5}}) == {}
        ini.set_option(name, {"t": {"e": 6}}, no_spaces=True)
        assert ini.remove_option(name, "s", "b") == "5"
        assert ini.remove_option(name, "s", "b") is None
        assert ini.remove_option(name, None, "a") == "7"
        assert ini.remove_section(name, "u") == {"z": "1"}
        assert ini.remove_section(name, "u") is None
    assert path.read_text() == "; c\n[s]\n# x\nc=2\nn = x\n[t]\nd=4\ne=6\n\n"


@pytest.mark.parametrize(
    ("separator", "present", "line"),
    [
        (" = ", "a=1", "a = 2"),
        ("= ", "a = 1", "a = 2"),
        (": ", "a:1", "a : 2"),
        (" ", "a 1", "a 2"),
    ],
)
def test_blanks_around_a_separator_do_not_count(
    separator: str, present: str, line: str, tmp_path: Path
) -> None:
    path = tmp_path / "x.ini"
    path.write_text(f"[s]\n{present}\n")
    for changed in ({"s": {"a": {"before": "1", "after": "2"}}}, {}):
        with running(HarnessHere()), changes_allowed():
            assert ini.set_option(str(path), {"s": {"a": 2}}, separator) == changed
        assert path.read_text() == f"[s]\n{line}\n"


def test_an_option_may_have_no_value(tmp_path: Path) -> None:
    path = tmp_path / "my.cnf"
    path.write_text("!includedir /etc/x\n[d]\nskip-name-resolve\n  port = 1\nempty =\n[e]\n")
    name = str(path)
    with running(HarnessHere()), changes_allowed():
        assert ini.get_ini(name) == {"d": {"skip-name-resolve": None, "empty": ""}, "e": {}}
        assert ini.set_option(name, {"d": {"skip-name-resolve": None}}) == {}
        assert ini.set_option(name, {"d": {"new": None, "empty": None}, "e": {"f": None}}) == {
            "d": {
                "new": {"before": None, "after": ini.NO_VALUE},
                "empty": {"before": "", "after": ini.NO_VALUE},
            },
            "e": {"f": {"before": None, "after": ini.NO_VALUE}},
        }
        ini.remove_option(name, "d", "skip-name-resolve")
        ini.set_option(name, {"e": {"f": "x"}})
    text = "!includedir /etc/x\n[d]\n  port = 1\nempty\nnew\n[e]\nf = x\n"
    assert path.read_text() == text


def test_a_section_of_a_section_is_found_again(tmp_path: Path) -> None:
    """As ConfigObj nests them: [[Name]]."""
    path = tmp_path / "weewx.conf"
    path.write_text("[Std]\na = 1\n[[Sub]]\nb = 2\n[[[x]]]\n")
    with running(HarnessHere()), changes_allowed():
        assert ini.set_option(str(path), {"[Sub]": {"b": 2}}) == {}
        ini.set_option(str(path), {"[Sub]": {"c": 3}, "Std": {"a": 4}, "[new]": {"d": 5}})
        assert ini.set_option(str(path), {"[new]": {"d": 5}}) == {}
    text = "[Std]\na = 4\n[[Sub]]\nb = 2\nc = 3\n[[[x]]]\n\n[[new]]\nd = 5\n"
    assert path.read_text() == text


@pytest.mark.parametrize("header", ["[s] ; see [1]", "[s]# c", "[ s ]\t; c"])
def test_a_header_may_have_a_comment(header: str, tmp_path: Path) -> None:
    """As those of git, MySQL and Python's configparser."""
    path = tmp_path / "x.ini"
    path.write_text(f"[t]\na = 1\n{header}\na = 2\n")
    with running(HarnessHere()), changes_allowed():
        assert ini.get_ini(str(path)) == {"t": {"a": "1"}, "s": {"a": "2"}}
        ini.set_option(str(path), {"s": {"a": 3}, "t": {"a": 0}})
        assert path.read_text() == f"[t]\na = 0\n{header}\na = 3\n"
        assert ini.remove_section(str(path), "s") == {"a": "3"}
    assert path.read_text() == "[t]\na = 0\n"


def test_only_line_feeds_end_a_line_and_lines_end_as_those_of_their_file(tmp_path: Path) -> None:
    path = tmp_path / "x.ini"
    path.write_bytes("[s]\r\na = 1\u2028b = 2\x0c\r\nc = 3\r\n".encode())
    with running(HarnessHere()), changes_allowed():
        ini.set_option(str(path), {"s": {"c": 4, "d": "e\n f"}, "t": {"g": 5}})
    text = "[s]\r\na = 1\u2028b = 2\x0c\r\nc = 4\r\nd = e\r\n f\r\n\r\n[t]\r\ng = 5\r\n"
    assert path.read_bytes() == text.encode()


PIP = """#!/bin/sh
case "$*" in
*--outdated*) echo '[{"name": "Old_one", "version": "1", "latest_version": "2"}]' ;;
list*) echo "[{\\"name\\": \\"Old_one\\", \\"version\\": \\"$(cat version)\\"}]" ;;
install*) echo "$*" >did; echo 2 >version ;;
*"-- none") echo "ERROR: No matching distribution found for none" >&2; exit 1 ;;
index*) echo 'x (2.0)'; echo 'Available versions: 2.1rc1, 2.0, 2.0b3, 2.0a1, 1.0' ;;
esac
"""


def test_packages_of_pip_are_upgraded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "pip"
    program.write_text(PIP)
    program.chmod(0o755)
    (tmp_path / "version").write_text("1")
    here = {"bin_env": str(program), "cwd": str(tmp_path)}
    with running(HarnessHere()), changes_allowed():
        assert pip.upgrade_available("old-one", **here)
        assert not pip.upgrade_available("other", **here)
        assert pip.upgrade(**here) == {
            "changes": {"Old_one": {"old": "1", "new": "2"}},
            "result": True,
            "comment": "",
        }
        assert (tmp_path / "did").read_text() == "install --upgrade -- Old_one\n"
        assert pip.list_all_versions("x", **here) == ["1.0", "2.0"]
        assert pip.list_all_versions("x", include_rc=True, **here)[-1] == "2.1rc1"
        assert pip.list_all_versions("x", include_alpha=True, include_beta=True, **here) == [
            "1.0",
            "2.0a1",
            "2.0b3",
            "2.0",
        ]
        with pytest.raises(CommandFailed, match="No matching distribution"):
            pip.list_all_versions("none", **here)
    assert pip.normalize("A_b.C") == "a-b-c"


MANAGED = """
import sysconfig
found = sysconfig.get_path
sysconfig.get_path = lambda name, *rest: {folder!r} if name == "stdlib" else found(name, *rest)
"""


def test_a_python_that_its_system_manages_is_foreseen(machine: Machine) -> None:
    """pip does not look whether it may, where it is asked what it would do."""
    base = Path(sys.base_prefix, "bin/python3")
    if subprocess.run([base, "-m", "pip", "--version"], capture_output=True).returncode:
        pytest.skip("the Python of the system has no pip")
    folder = machine.folder / "managed"
    folder.mkdir()
    (folder / "EXTERNALLY-MANAGED").write_text("[externally-managed]\nError: use apt\n")
    (folder / "sitecustomize.py").write_text(MANAGED.format(folder=str(folder)))
    (folder / "python3").write_text(f'#!/bin/sh\nPYTHONPATH={folder} exec {base} "$@"\n')
    (folder / "python3").chmod(0o755)
    with ZipFile(folder / "demo-1-py3-none-any.whl", "w") as wheel:
        about = "Metadata-Version: 2.1\nName: demo\nVersion: 1\n"
        tags = "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        for name, text in (("METADATA", about), ("WHEEL", tags), ("RECORD", "")):
            wheel.writestr(f"demo-1.dist-info/{name}", text)
    where = f"bin_env: {folder}/python3"
    options = f"    - {where}\n    - find_links: {folder}\n    - no_index: true\n"
    machine.write(
        a=f"demo:\n  pip.installed:\n{options}", b=f"pip:\n  pip.removed:\n    - {where}\n"
    )
    runs = (["a", "--test"], ["a"], ["b", "--test"])
    dry, real, removal = (
        next(iter(machine.results("sls", *words, code=2).values()))["comment"] for words in runs
    )
    assert "externally-managed-environment" in dry and dry == real
    assert "externally-managed-environment" in removal
    machine.write(a=(machine.folder / "states/a.sls").read_text() + f"    - target: {folder}/t\n")
    machine("sls", "a", "--test")


BOM = "\ufeff"


@pytest.mark.parametrize(
    ("text", "edited"),
    [
        ("a = 1\nb = 2\n", "a = 5\nb = 2\n"),
        ("[s]\nb = 2\n", "a = 5\n\n[s]\nb = 2\n"),
        ("# top\r\na = 1\r\n", "# top\r\na = 5\r\n"),
    ],
)
def test_the_mark_of_the_byte_order_is_no_part_of_an_option(
    text: str, edited: str, tmp_path: Path
) -> None:
    for mark in ("", BOM):
        path = tmp_path / "f.ini"
        path.write_bytes((mark + text).encode())
        with running(HarnessHere()), changes_allowed():
            ini.set_option(str(path), {"a": 5})
            assert path.read_bytes() == (mark + edited).encode()
            assert ini.set_option(str(path), {"a": 5}) == {}
            assert ini.get_ini(str(path))["a"] == "5"
            ini.remove_option(str(path), "", "a")
            assert "a" not in ini.get_ini(str(path))
            ini.remove_section(str(path), "s")
        rest = edited.replace("a = 5\n", "").replace("a = 5\r\n", "").partition("[s]")[0]
        assert path.read_bytes() == (mark + rest).encode()
