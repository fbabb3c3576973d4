# SPDX-License-Identifier: Apache-2.0
"""How the functions of the file state that edit, link, move and remove are tried."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from laws import Scenario

TEXT = "alpha\nbeta\ngamma\n"


def write(name: str, text: str = TEXT) -> Callable[[Path], None]:
    def setup(tmp: Path) -> None:
        (tmp / name).write_text(text)

    return setup


def full_folder(tmp: Path) -> None:
    (tmp / "d").mkdir()
    (tmp / "d" / "x").write_text("x")


def linked(tmp: Path) -> None:
    (tmp / "l").symlink_to("target")


def two(tmp: Path) -> None:
    (tmp / "a").write_text("a\n")
    (tmp / "b").write_text("b\n")


F = {"name": "{tmp}/f"}
G = {"name": "{tmp}/no/f"}
MORE = {**F, "text": ["alpha", "more"]}
B = {"name": "{tmp}/b", "source": "{tmp}/a"}

SCENARIOS = [
    Scenario("file.absent", F, write("f")),
    Scenario("file.absent", {"name": "{tmp}/d"}, full_folder),
    Scenario("file.absent", F, plans=False),
    Scenario("file.absent", {"name": "/"}, fails="Refusing", plans=False),
    Scenario("file.exists", F, write("f"), plans=False),
    Scenario("file.exists", F, fails="does not exist", plans=False),
    Scenario("file.missing", F, plans=False),
    Scenario("file.missing", F, write("f"), fails="exists", plans=False),
    Scenario("file.touch", F, write("f"), converges=False),
    Scenario("file.touch", {**G, "makedirs": True, "atime": 5, "mtime": 6}, converges=False),
    Scenario("file.touch", G, fails="Directory not present", plans=False),
    Scenario("file.symlink", {"name": "{tmp}/l", "target": "other"}, linked),
    Scenario(
        "file.symlink",
        {"name": "{tmp}/l", "target": "target", "inherit_user_and_group": True},
        linked,
        False,
    ),
    Scenario(
        "file.symlink", {**G, "target": "x", "makedirs": True, "mode": "0750", "atomic": True}
    ),
    Scenario("file.symlink", {**G, "target": "x"}, fails="for symlink is not present", plans=False),
    Scenario(
        "file.symlink", {**F, "target": "x", "force": True, "follow_symlinks": False}, write("f")
    ),
    Scenario("file.symlink", {"name": "{tmp}/d", "target": "x", "force": True}, full_folder),
    Scenario("file.symlink", {**F, "target": "x", "backupname": "kept"}, write("f")),
    Scenario(
        "file.symlink",
        {**F, "target": "x", "disallow_copy_and_unlink": True},
        write("f"),
        False,
        "File exists",
    ),
    Scenario(
        "file.symlink",
        {**F, "target": "x", "user": "no-one-here"},
        plans=False,
        fails="User no-one-here",
    ),
    Scenario(
        "file.symlink",
        {**F, "target": "x", "group": "no-one-here"},
        plans=False,
        fails="Group no-one-here",
    ),
    Scenario("file.append", MORE, write("f")),
    Scenario(
        "file.append", {**F, "text": "beta", "ignore_whitespace": False}, write("f"), plans=False
    ),
    Scenario("file.append", {**G, "text": "a", "makedirs": True}),
    Scenario(
        "file.append",
        {**F, "source": "{tmp}/f", "template": False},
        write("f", "{{ 1 }}\n"),
        plans=False,
    ),
    Scenario("file.append", {**G, "text": "a"}, fails="file not found", plans=False),
    Scenario("file.prepend", MORE, write("f")),
    Scenario("file.prepend", {**F, "text": "beta", "header": True}, write("f")),
    Scenario("file.prepend", {**F, "text": "beta"}, write("f"), plans=False),
    Scenario("file.prepend", {**G, "text": "a", "makedirs": True}),
    *(
        Scenario(
            f"file.{fun}",
            {**F, **source, "template": "jinja", "defaults": {"v": 1}, "context": {"v": 2}},
            two,
        )
        for fun in ("append", "prepend")
        for source in (
            {"source": "{tmp}/a", "source_hash": "md5=60b725f10c9c85c70d97880dfe8191b3"},
            {
                "sources": ["{tmp}/a", "{tmp}/b"],
                "source_hashes": ["60b725f10c9c85c70d97880dfe8191b3"],
            },
        )
    ),
    Scenario(
        "file.replace",
        {**F, "pattern": "BETA", "repl": "b", "flags": ["IGNORECASE"], "count": 1},
        write("f"),
    ),
    Scenario("file.replace", {**F, "pattern": "x", "repl": "y"}, write("f"), plans=False),
    Scenario(
        "file.replace", {**F, "pattern": "x", "repl": "y", "ignore_if_missing": True}, plans=False
    ),
    Scenario(
        "file.replace", {**F, "pattern": "x", "repl": "y"}, plans=False, fails="file not found"
    ),
    Scenario(
        "file.replace", {**F, "pattern": "x1", "repl": "y", "append_if_not_found": True}, write("f")
    ),
    Scenario(
        "file.replace",
        {
            **F,
            "pattern": "x1",
            "repl": "y",
            "prepend_if_not_found": True,
            "not_found_content": "z",
            "backup": False,
        },
        write("f"),
    ),
    Scenario(
        "file.replace",
        {
            **F,
            "pattern": "beta",
            "repl": "\\1",
            "backslash_literal": True,
            "show_changes": False,
            "bufsize": "file",
        },
        write("f"),
    ),
    Scenario("file.copy", {**B, "force": True, "preserve": True}, two),
    Scenario("file.copy", {**G, "source": "{tmp}/d", "force": True, "makedirs": True}, full_folder),
    Scenario("file.copy", B, two, plans=False),
    Scenario(
        "file.copy",
        {"name": "{tmp}/c", "source": "{tmp}/a", "mode": "0600", "user": 0, "group": 0},
        two,
    ),
    Scenario("file.copy", {**G, "source": "{tmp}/a", "makedirs": True, "dir_mode": "0750"}, two),
    Scenario(
        "file.copy",
        {"name": "{tmp}/d", "source": "{tmp}/d/x", "subdir": True},
        full_folder,
        plans=False,
    ),
    Scenario("file.rename", {**B, "force": True}, two),
    Scenario("file.rename", B, two, plans=False),
    Scenario("file.rename", {**G, "source": "{tmp}/a", "makedirs": True}, two),
    Scenario("file.rename", {**G, "source": "{tmp}/a"}, two, plans=False, fails="target directory"),
]
