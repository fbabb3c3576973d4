# SPDX-License-Identifier: Apache-2.0
"""Execution functions that edit files: answers and files are those of Salt 3008 with the same
calls.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from command import Machine
from harness import HarnessHere
from needing import require_root

from modules import file
from runner.api import StateFailed, changes_allowed, running

TEXT = "a=1\n#b=2\nc=3\n"
HEAD = "--- \n+++ \n"


@pytest.fixture(autouse=True)
def here() -> Iterator[None]:
    with running(HarnessHere()), changes_allowed():
        yield


@pytest.fixture
def path(tmp_path: Path) -> str:
    (tmp_path / "f").write_text(TEXT)
    return str(tmp_path / "f")


@pytest.mark.parametrize(
    ("function", "args", "named", "answer", "text"),
    [
        (
            "replace",
            ("a=.*", "a=9"),
            {},
            HEAD + "@@ -1,3 +1,3 @@\n-a=1\n+a=9\n #b=2\n c=3\n",
            "a=9\n#b=2\nc=3\n",
        ),
        ("replace", ("zz", "x"), {}, "", TEXT),
        ("replace", ("a=.*", "a=9"), {"show_changes": False}, True, "a=9\n#b=2\nc=3\n"),
        ("replace", ("zz", "x"), {"show_changes": False}, False, TEXT),
        ("replace", ("a=.*", "a=9"), {"dry_run": True, "show_changes": False}, True, TEXT),
        ("replace", ("a=.*", "a=9"), {"search_only": True}, True, TEXT),
        (
            "replace",
            ("zz", "x"),
            {"append_if_not_found": True, "show_changes": False},
            True,
            TEXT + "x\n",
        ),
        (
            "replace",
            ("zz", "x"),
            {"prepend_if_not_found": True, "show_changes": False},
            True,
            "x\n" + TEXT,
        ),
        ("replace", ("(.)=.", "\\1"), {"count": 1, "show_changes": False}, True, "a\n#b=2\nc=3\n"),
        (
            "replace",
            ("A=1", "\\"),
            {"flags": ["I"], "backslash_literal": True, "bufsize": "file"},
            None,
            "\\\n#b=2\nc=3\n",
        ),
        ("append", ("x", 5), {}, 'Wrote 2 lines to "{f}"', TEXT + "x\n5\n"),
        ("append", (), {"args": ["x", "a=1"]}, 'Wrote 2 lines to "{f}"', TEXT + "x\na=1\n"),
        ("append", (), {"args": "x"}, 'Wrote 1 lines to "{f}"', TEXT + "x\n"),
        ("append", (), {}, 'Wrote 0 lines to "{f}"', TEXT),
        ("prepend", ("x", "y"), {}, 'Prepended 2 lines to "{f}"', "x\ny\n" + TEXT),
        ("write", ("x",), {}, 'Wrote 1 lines to "{f}"', "x\n"),
        ("comment", ("a=1",), {}, HEAD + "@@ -1 +1 @@\n-a=1\n+#a=1\n", "#a=1\n#b=2\nc=3\n"),
        ("comment", ("zz",), {}, False, TEXT),
        ("comment", ("b=2",), {}, False, TEXT),
        ("uncomment", ("b=2",), {}, None, "a=1\nb=2\nc=3\n"),
        ("uncomment", ("zz",), {}, False, TEXT),
        ("comment_line", ("c=3",), {"char": ";"}, None, "a=1\n#b=2\n;c=3\n"),
        ("comment_line", ("b=2",), {"cmnt": False, "backup": False}, None, "a=1\nb=2\nc=3\n"),
        ("line", ("x=1",), {"mode": "ensure", "after": "a=1"}, None, "a=1\nx=1\n#b=2\nc=3\n"),
        (
            "line",
            ("a=1",),
            {"mode": "delete"},
            HEAD + "@@ -1,3 +1,2 @@\n-a=1\n #b=2\n c=3\n",
            "#b=2\nc=3\n",
        ),
        ("line", ("zz",), {"mode": "delete"}, False, TEXT),
        (
            "line",
            ("x",),
            {"mode": "insert", "location": "end", "show_changes": False},
            True,
            TEXT + "\nx",
        ),
        (
            "blockreplace",
            (),
            {"content": "hi", "append_if_not_found": True, "show_changes": False},
            True,
            TEXT + "#-- start managed zone --\nhi#-- end managed zone --\n",
        ),
        (
            "blockreplace",
            ("<", ">"),
            {
                "content": "hi",
                "insert_after_match": "a=1",
                "append_newline": True,
                "dry_run": True,
                "show_changes": False,
            },
            True,
            TEXT,
        ),
        (
            "sed",
            ("a=1", "a/2"),
            {},
            {"pid": 0, "retcode": 0, "stdout": "", "stderr": ""},
            "a/2\n#b=2\nc=3\n",
        ),
        ("sed", ("=", ":"), {"limit": "^#", "backup": ""}, None, "a=1\n#b:2\nc=3\n"),
        ("sed", ("=", ":"), {"limit": "^#", "negate_match": True}, None, "a:1\n#b=2\nc:3\n"),
        ("psed", ("=(.)", r":\1"), {"limit": "^[ac]"}, None, "a:1\n#b=2\nc:3\n"),
        ("psed", ("^.", "x"), {"multi": True, "flags": "M"}, None, "x=1\n#b=2\nc=3\n"),
        ("chgrp", (0,), {}, None, TEXT),
        ("is_hardlink", (), {}, False, TEXT),
        ("diskusage", (), {}, len(TEXT), TEXT),
    ],
)
def test_answers_and_files(
    path: str, function: str, args: Any, named: Any, answer: Any, text: str
) -> None:
    if function == "chgrp":
        require_root("to give files away")
    got = getattr(file, f"salt_{function}", None) or getattr(file, function)
    found = got(path, *args, **named)
    assert answer is None or found == (
        answer.replace("{f}", path) if isinstance(answer, str) else answer
    )
    assert Path(path).read_text() == text
    kept = text != TEXT and function in (
        "replace",
        "blockreplace",
        "comment",
        "uncomment",
        "comment_line",
        "sed",
        "psed",
    )
    assert os.path.exists(f"{path}.bak") == (kept and named.get("backup", True) not in (False, ""))


@pytest.mark.parametrize(
    ("function", "args", "message"),
    [
        ("replace", ("{d}/n", "a", "b"), "File not found: {d}/n"),
        ("replace", ("{d}/f", "[", "b"), "'[' is not a regular expression"),
        ("replace", ("f", "a", "b"), "File path must be absolute: f"),
        ("append", ("{d}/n", "x"), "File not found: {d}/n"),
        ("comment_line", ("{d}/n", "x"), "File not found: {d}/n"),
        ("line", ("{d}/n", "x"), 'File "{d}/n" does not exists'),
        ("line", ("{d}/f", "x"), "Mode was not defined"),
        ("line", ("{d}/f", "x", None, "odd"), 'Unknown mode: "odd"'),
        ("blockreplace", ("{d}/f",), "Markers were not found"),
        ("sed", ("{d}/f", "a", "b", "", "", "-i -e"), "sed's -i is not for `options`"),
        ("rmdir", ("{d}/n",), "A valid directory was not specified"),
        ("move", ("{d}/n", "{d}/m"), "Unable to move"),
        ("chgrp", ("{d}/f", "no-such-group"), "no-such-group is not available"),
        ("salt_mknod", ("{d}/n", "x"), "there is no kind 'x' of special files"),
    ],
)
def test_what_cannot_be_done_is_told(path: str, function: str, args: Any, message: str) -> None:
    folder = os.path.dirname(path)
    with pytest.raises(StateFailed) as error:
        getattr(file, function)(
            *(each.replace("{d}", folder) if isinstance(each, str) else each for each in args)
        )
    assert message.replace("{d}", folder) in error.value.message
    assert Path(path).read_text() == TEXT


def test_missing_files(path: str, tmp_path: Path) -> None:
    missing = str(tmp_path / "n")
    assert file.replace(missing, "a", "b", ignore_if_missing=True) is False
    assert file.line(missing, "x", mode="insert", location="end", quiet=True) is False
    assert file.sed(missing, "a", "b") is False
    file.prepend(missing, "x")
    assert Path(missing).read_text() == "x\n"


def test_folders_and_special_files(path: str, tmp_path: Path) -> None:
    file.makedirs_perms(str(tmp_path / "d/e"), mode="0700")
    assert (tmp_path / "d").stat().st_mode & 0o777 == 0o700
    assert file.move(path, str(tmp_path / "d"))["result"] and (tmp_path / "d/f").read_text() == TEXT
    assert (
        file.rmdir(str(tmp_path / "d"), recurse=True) is False and not (tmp_path / "d/e").exists()
    )
    assert file.salt_mknod(str(tmp_path / "p"), "p", mode="0640") and (tmp_path / "p").is_fifo()
    (tmp_path / "l").symlink_to("nowhere")
    file.lchown(str(tmp_path / "l"), os.getuid(), None)
    assert (
        file.statvfs(path if os.path.exists(path) else "/")["f_bsize"] > 0 and file.pardir() == ".."
    )


def test_a_dry_run_of_module_run_writes_nothing(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    machine.write(
        a="""edit:
  module.run:
    - file.replace: [{tmp}/f, 'a=.*', a=9]
    - file.append: [{tmp}/f, {args: [x]}]
""",
        b="edit: {test.nop: [{name: {{ salt['file.append']('{tmp}/f', 'x') }}}]}",
    )
    (tmp_path / "f").write_text(TEXT)
    assert machine.results("sls", "a", "--test")["edit"]["result"] is None
    assert "file.append changes the machine" in machine("sls", "b", code=1).stderr
    assert os.listdir(tmp_path).count("f.bak") == 0 and (tmp_path / "f").read_text() == TEXT
    changes = machine.results("sls", "a")["edit"]["changes"]
    assert "+a=9" in changes["file.replace"] and changes["file.append"].startswith("Wrote 1 lines")
    assert (tmp_path / "f").read_text() == "a=9\n#b=2\nc=3\nx\n"
