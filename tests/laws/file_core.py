# SPDX-License-Identifier: Apache-2.0
"""How file.managed, file.directory and file.recurse are tried."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from laws import Scenario

SHA = "4a1e67f2fe1d1cc7b31d0ca2ec441da4778203a036a77da10344c85e24ff0f92"  # of "hello\nworld\n"


def tree(*also: Callable[[Path], None]) -> Callable[[Path], None]:
    """A file root with a few files, and what else a scenario needs beside it."""

    def setup(tmp: Path) -> None:
        root = tmp / "tree"
        (root / "d" / "sub" / "deep").mkdir(parents=True)
        (root / "d" / "empty").mkdir()
        (root / "plain").write_text("hello\nworld\n")
        (root / "x.j2").write_text("{{ name }} {{ greeting }} {{ mode }}\n")
        (root / "sums").write_text(f"{'0' * 64}  other\n{SHA}  plain\n")
        (root / "d" / "a").write_text("a\n")
        (root / "d" / "t.j2").write_text("{{ greeting }}\n")
        (root / "d" / "sub" / "b").write_text("b\n")
        (root / "d" / "sub" / "deep" / "c.txt").write_text("c\n")
        (root / "d" / "link").symlink_to("a")
        (tmp / "out").mkdir()
        for each in also:
            each(tmp)

    return setup


def old(tmp: Path) -> None:
    (tmp / "out" / "f").write_text("old\n")
    (tmp / "out" / "f").chmod(0o640)


def same(tmp: Path) -> None:
    (tmp / "out" / "f").write_text("hello\nworld\n")
    (tmp / "out" / "f").chmod(0o644)


def binary(tmp: Path) -> None:
    (tmp / "out" / "f").write_bytes(b"a\0b")


def linked(tmp: Path) -> None:
    old(tmp)
    (tmp / "out" / "l").symlink_to("f")
    (tmp / "out" / "dangling").symlink_to("nowhere")


def filled(tmp: Path) -> None:
    top = tmp / "out" / "d"
    (top / "sub" / "deep").mkdir(parents=True)
    for name in ("a", "zz", "sub/b", "sub/other", "sub/deep/f"):
        (top / name).write_text("old\n")
    (top / "l").symlink_to("a")


def in_the_way(tmp: Path) -> None:
    (tmp / "out" / "d" / "a").mkdir(parents=True)
    (tmp / "out" / "d" / "a" / "inside").write_text("x")
    (tmp / "out" / "d" / "sub").write_text("x")


def linked_folder(tmp: Path) -> None:
    filled(tmp)
    (tmp / "out" / "dl").symlink_to("d")


HERE = str(os.geteuid())
F = {"name": "{tmp}/out/f"}
PLAIN = {**F, "source": "salt://plain"}
TEXT = {**F, "contents": "hello\nworld"}
LOCAL = {**F, "source": "{tmp}/tree/plain"}
M = "file.managed"

MANAGED = [
    Scenario(M, PLAIN, tree()),
    Scenario(M, PLAIN, tree(same), plans=False),
    Scenario(M, {**PLAIN, "backup": "minion", "mode": "0600"}, tree(old)),
    Scenario(M, {**PLAIN, "mode": "keep", "user": HERE, "group": os.getegid()}, tree(old)),
    Scenario(M, {**PLAIN, "source": ["salt://no", "{tmp}/no", "salt://plain"]}, tree()),
    Scenario(
        M,
        {**PLAIN, "source": "salt://no"},
        tree(),
        fails="not found in saltenv 'base'",
        plans=False,
    ),
    Scenario(
        M,
        {**PLAIN, "source": ["salt://no"] * 2},
        tree(),
        fails="none of the specified sources",
        plans=False,
    ),
    Scenario(
        M, {**F, "source": "gopher://x"}, tree(), fails="gopher://x does not exist", plans=False
    ),
    Scenario(M, {**F, "source": "http://x/y"}, tree(), fails="please set source_hash", plans=False),
    Scenario(M, {**LOCAL, "source_hash": f"sha256={SHA}", "keep_source": False}, tree()),
    Scenario(
        M,
        {**LOCAL, "source_hash": "salt://sums", "source_hash_name": "plain", "use_etag": True},
        tree(),
    ),
    Scenario(
        M,
        {**LOCAL, "source_hash": "0" * 64},
        tree(),
        fails="does not match actual checksum",
        plans=False,
    ),
    Scenario(
        M, {**LOCAL, "source_hash": "0" * 64, "skip_verify": True, "verify_ssl": False}, tree()
    ),
    Scenario(M, {**F, "source": "{tmp}/no"}, tree(), fails="does not exist", plans=False),
    Scenario(
        M,
        {**F, "source": "salt://x.j2", "template": "jinja", "context": {"greeting": "hi"}},
        tree(old),
    ),
    Scenario(M, {**TEXT, "template": "jinja", "defaults": {"greeting": 1}}, tree(old)),
    Scenario(M, {**F, "contents": "x {{ zone }}", "template": "jinja", "zone": "a"}, tree(old)),
    Scenario(M, {**TEXT, "template": "zork"}, tree(), fails="is not supported", plans=False),
    Scenario(M, TEXT, tree(same), plans=False),
    Scenario(M, {**TEXT, "contents_newline": False, "new_file_diff": True}, tree()),
    Scenario(
        M,
        {**F, "contents": ["grüß", 1, True], "encoding": "latin-1", "encoding_errors": "replace"},
        tree(),
    ),
    Scenario(
        M, {**F, "contents": "€", "encoding": "latin-1"}, tree(), fails="can't encode", plans=False
    ),
    Scenario(
        M, {**F, "contents": "", "allow_empty": False}, tree(), fails="allow_empty", plans=False
    ),
    Scenario(M, {**F, "contents": ""}, tree(old)),
    Scenario(M, {**F, "contents": {"a": 1}}, tree()),
    Scenario(M, {**F, "contents": []}, tree(), fails="not a string or list", plans=False),
    Scenario(M, {**F, "contents_grains": "os"}, tree()),
    Scenario(
        M, {**F, "contents_grains": "zork"}, tree(), fails="Grain zork does not exist", plans=False
    ),
    Scenario(
        M,
        {**F, "contents_pillar": "a|b", "contents_delimiter": "|"},
        tree(),
        fails="Pillar a|b",
        plans=False,
    ),
    Scenario(
        M,
        {**TEXT, "source": "salt://plain"},
        tree(),
        fails="cannot be used in combination",
        plans=False,
    ),
    Scenario(M, {**TEXT, "contents_pillar": "a"}, tree(), fails="Only one of", plans=False),
    Scenario(M, {**TEXT, "mode": "keep"}, tree(), fails="Mode preservation", plans=False),
    Scenario(M, {**TEXT, "show_changes": False}, tree(old)),
    Scenario(M, TEXT, tree(binary)),
    Scenario(M, {**TEXT, "replace": False}, tree(old), plans=False),
    Scenario(M, {**TEXT, "replace": False, "mode": "0600"}, tree(old)),
    Scenario(M, {**TEXT, "create": False}, tree(), plans=False),
    Scenario(M, F, tree()),
    Scenario(M, F, tree(old), plans=False),
    Scenario(M, {**F, "mode": "0640"}, tree(old), plans=False),
    Scenario(
        M,
        {"name": "{tmp}/out/a/b", "contents": "x"},
        tree(),
        fails="Parent directory not present",
        plans=False,
    ),
    Scenario(
        M, {"name": "{tmp}/out/a/b", "contents": "x", "makedirs": True, "dir_mode": "0711"}, tree()
    ),
    Scenario(
        M, {"name": "{tmp}/out", "contents": "x"}, tree(), fails="is a directory", plans=False
    ),
    Scenario(
        M,
        {**TEXT, "user": "no-one-here"},
        tree(),
        fails="User no-one-here is not available",
        plans=False,
    ),
    Scenario(
        M,
        {**TEXT, "group": "no-one-here"},
        tree(),
        fails="Group no-one-here is not available",
        plans=False,
    ),
    Scenario(M, {"name": "{tmp}/out/l", "contents": "x", "follow_symlinks": False}, tree(linked)),
    Scenario(M, {"name": "{tmp}/out/l", "contents": "x"}, tree(linked)),
    Scenario(M, {"name": "{tmp}/out/dangling", "contents": "x"}, tree(linked)),
    Scenario(
        M, {**TEXT, "check_cmd": "grep hello", "tmp_dir": "{tmp}/out", "tmp_ext": ".conf"}, tree()
    ),
    Scenario(M, {**F, "contents": "world\nhello", "ignore_ordering": True}, tree(same)),
    Scenario(M, {**F, "contents": "hello  \nworld", "ignore_whitespace": True}, tree(same)),
    Scenario(
        M, {**F, "contents": "hello\nworld # x", "ignore_comment_characters": "#"}, tree(same)
    ),
    Scenario(M, {**TEXT, "attrs": "e"}, tree(same), plans=False),
]

D = {"name": "{tmp}/out/d"}
N = {"name": "{tmp}/out/new"}
FD = "file.directory"

DIRECTORY = [
    Scenario(FD, D, tree()),
    Scenario(FD, D, tree(filled), plans=False),
    Scenario(FD, {**N, "mode": "0700", "user": HERE, "group": os.getegid()}, tree()),
    Scenario(FD, {"name": "{tmp}/out/a/b/c", "makedirs": True, "dir_mode": "0711"}, tree()),
    Scenario(FD, {"name": "{tmp}/out/a/b/c"}, tree(), fails="No directory to create", plans=False),
    Scenario(FD, {**D, "mode": "0700"}, tree(filled)),
    Scenario(FD, {**D, "dir_mode": "0700", "file_mode": "0600", "recurse": ["mode"]}, tree(filled)),
    Scenario(
        FD, {**D, "mode": "0700", "recurse": ["mode", "silent", "ignore_files"]}, tree(filled)
    ),
    Scenario(
        FD,
        {**D, "mode": "0700", "recurse": ["mode"], "max_depth": 1, "follow_symlinks": True},
        tree(filled),
    ),
    Scenario(FD, {**D, "mode": "0700", "recurse": "mode", "children_only": True}, tree(filled)),
    Scenario(FD, {**D, "recurse": ["zork"]}, tree(filled), fails="Types for", plans=False),
    Scenario(
        FD,
        {**D, "recurse": ["ignore_files", "ignore_dirs"]},
        tree(filled),
        fails="same time",
        plans=False,
    ),
    Scenario(FD, {**D, "clean": True}, tree(filled)),
    Scenario(FD, {**D, "clean": True, "exclude_pat": ["a", "E@^sub/b$"]}, tree(filled)),
    Scenario(
        FD,
        {**D, "clean": True, "exclude_pat": "E@(["},
        tree(filled),
        fails="is not a regular expression",
        plans=False,
    ),
    Scenario(
        FD,
        {**D, "clean": True, "max_depth": 1},
        tree(filled),
        fails="both max_depth and clean",
        plans=False,
    ),
    Scenario(FD, F, tree(old), fails="exists and is a file", plans=False),
    Scenario(FD, {**F, "force": True}, tree(old)),
    Scenario(FD, {**F, "backupname": "kept"}, tree(old)),
    Scenario(FD, {"name": "{tmp}/out/dl"}, tree(linked_folder), plans=False),
    Scenario(FD, {"name": "{tmp}/out/dl", "force": True}, tree(linked_folder)),
    Scenario(
        FD,
        {"name": "{tmp}/out/dl", "allow_symlink": False},
        tree(linked_folder),
        False,
        "is a symlink",
    ),
    Scenario(
        FD, {"name": "{tmp}/out/dl", "allow_symlink": False, "force": True}, tree(linked_folder)
    ),
    Scenario(
        FD,
        {**D, "user": "no-one-here"},
        tree(),
        fails="User no-one-here is not available",
        plans=False,
    ),
]

R = {**D, "source": "salt://d"}
FR = "file.recurse"

RECURSE = [
    Scenario(FR, {**R, "exclude_pat": "*.j2"}, tree()),
    Scenario(FR, {**R, "exclude_pat": "*.j2", "user": HERE, "group": os.getegid()}, tree(filled)),
    Scenario(FR, {**R, "dir_mode": "0750", "file_mode": "0640", "backup": "minion"}, tree(filled)),
    Scenario(FR, {**R, "file_mode": "keep", "keep_source": False, "sym_mode": "0777"}, tree()),
    Scenario(FR, {**R, "clean": True, "exclude_pat": "zz"}, tree(filled)),
    Scenario(FR, {**R, "clean": True}, tree(in_the_way)),
    Scenario(
        FR, {**R, "name": "{tmp}/out/new/d", "exclude_pat": "*.j2", "makedirs": False}, tree()
    ),
    Scenario(FR, {**R, "include_empty": True, "replace": False}, tree(filled)),
    Scenario(
        FR,
        {
            **R,
            "include_pat": "E@j2$",
            "template": "jinja",
            "context": {"greeting": 1},
            "defaults": {},
        },
        tree(),
    ),
    Scenario(FR, {**R, "maxdepth": 0, "source": ["salt://no", "salt://d/"]}, tree()),
    Scenario(FR, {**R, "keep_symlinks": True, "force_symlinks": True}, tree()),
    Scenario(FR, {**R, "include_pat": "zork"}, tree(), plans=False),
    Scenario(FR, {**R, "mode": "0644"}, tree(), fails="'mode' is not allowed", plans=False),
    Scenario(
        FR, {**R, "source": "salt://no"}, tree(), fails="none of the specified sources", plans=False
    ),
    Scenario(FR, {**R, "source": "/x"}, tree(), fails="must be a salt:// URI", plans=False),
    Scenario(FR, {**F, "source": "salt://d"}, tree(old), fails="is not a directory", plans=False),
    Scenario(
        FR,
        {**R, "user": "no-one-here"},
        tree(),
        fails="User no-one-here is not available",
        plans=False,
    ),
]

SCENARIOS = [*MANAGED, *DIRECTORY, *RECURSE]
