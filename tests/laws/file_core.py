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
    Scenario("file.managed", PLAIN, tree()),
    Scenario("file.managed", PLAIN, tree(same), plans=False),
    Scenario("file.managed backup=minion", {**PLAIN, "mode": "0600"}, tree(old)),
    Scenario("file.managed mode=keep", {**PLAIN, "user": HERE, "group": os.getegid()}, tree(old)),
    Scenario(
        "file.managed", {**PLAIN, "source": ["salt://no", "{tmp}/no", "salt://plain"]}, tree()
    ),
    Scenario("file.managed source=salt://no", PLAIN, tree(), fails="not found in saltenv 'base'"),
    Scenario(
        "file.managed",
        {**PLAIN, "source": ["salt://no"] * 2},
        tree(),
        fails="none of the specified sources",
    ),
    Scenario("file.managed source=gopher://x", F, tree(), fails="gopher://x does not exist"),
    Scenario("file.managed source=http://x/y", F, tree(), fails="please set source_hash"),
    Scenario("file.managed keep_source=false", {**LOCAL, "source_hash": f"sha256={SHA}"}, tree()),
    Scenario(
        "file.managed source_hash=salt://sums source_hash_name=plain use_etag=true", LOCAL, tree()
    ),
    Scenario(
        "file.managed",
        {**LOCAL, "source_hash": "0" * 64},
        tree(),
        fails="does not match actual checksum",
    ),
    Scenario(
        "file.managed skip_verify=true verify_ssl=false", {**LOCAL, "source_hash": "0" * 64}, tree()
    ),
    Scenario("file.managed source={tmp}/no", F, tree(), fails="does not exist"),
    Scenario(
        "file.managed source=salt://x.j2 template=jinja context='{greeting: hi}'", F, tree(old)
    ),
    Scenario("file.managed template=jinja defaults='{greeting: 1}'", TEXT, tree(old)),
    Scenario("file.managed contents='x {{ zone }}' template=jinja zone=a", F, tree(old)),
    Scenario("file.managed template=zork", TEXT, tree(), fails="is not supported"),
    Scenario("file.managed", TEXT, tree(same), plans=False),
    Scenario("file.managed contents_newline=false new_file_diff=true", TEXT, tree()),
    Scenario(
        "file.managed contents=[grüß,1,true] encoding=latin-1 encoding_errors=replace", F, tree()
    ),
    Scenario("file.managed contents=€ encoding=latin-1", F, tree(), fails="can't encode"),
    Scenario("file.managed allow_empty=false", {**F, "contents": ""}, tree(), fails="allow_empty"),
    Scenario("file.managed", {**F, "contents": ""}, tree(old)),
    Scenario("file.managed contents='{a: 1}'", F, tree()),
    Scenario("file.managed contents=[]", F, tree(), fails="not a string or list"),
    Scenario("file.managed contents_grains=os", F, tree()),
    Scenario("file.managed contents_grains=zork", F, tree(), fails="Grain zork does not exist"),
    Scenario(
        "file.managed contents_pillar=a|b contents_delimiter=|", F, tree(), fails="Pillar a|b"
    ),
    Scenario(
        "file.managed source=salt://plain", TEXT, tree(), fails="cannot be used in combination"
    ),
    Scenario("file.managed contents_pillar=a", TEXT, tree(), fails="Only one of"),
    Scenario("file.managed mode=keep", TEXT, tree(), fails="Mode preservation"),
    Scenario("file.managed show_changes=false", TEXT, tree(old)),
    Scenario("file.managed", TEXT, tree(binary)),
    Scenario("file.managed replace=false", TEXT, tree(old), plans=False),
    Scenario("file.managed replace=false", {**TEXT, "mode": "0600"}, tree(old)),
    Scenario("file.managed create=false", TEXT, tree(), plans=False),
    Scenario("file.managed", F, tree()),
    Scenario("file.managed", F, tree(old), plans=False),
    Scenario("file.managed", {**F, "mode": "0640"}, tree(old), plans=False),
    Scenario(
        "file.managed name={tmp}/out/a/b contents=x",
        setup=tree(),
        fails="Parent directory not present",
    ),
    Scenario(
        "file.managed name={tmp}/out/a/b contents=x makedirs=true", {"dir_mode": "0711"}, tree()
    ),
    Scenario("file.managed name={tmp}/out contents=x", setup=tree(), fails="is a directory"),
    Scenario(
        "file.managed user=no-one-here", TEXT, tree(), fails="User no-one-here is not available"
    ),
    Scenario(
        "file.managed group=no-one-here", TEXT, tree(), fails="Group no-one-here is not available"
    ),
    Scenario("file.managed name={tmp}/out/l contents=x follow_symlinks=false", setup=tree(linked)),
    Scenario("file.managed name={tmp}/out/l contents=x", setup=tree(linked)),
    Scenario("file.managed name={tmp}/out/dangling contents=x", setup=tree(linked)),
    Scenario("file.managed check_cmd='grep hello' tmp_dir={tmp}/out tmp_ext=.conf", TEXT, tree()),
    Scenario("file.managed ignore_ordering=true", {**F, "contents": "world\nhello"}, tree(same)),
    Scenario(
        "file.managed ignore_whitespace=true", {**F, "contents": "hello  \nworld"}, tree(same)
    ),
    Scenario(
        "file.managed ignore_comment_characters=#",
        {**F, "contents": "hello\nworld # x"},
        tree(same),
    ),
    Scenario("file.managed attrs=e", TEXT, tree(same), plans=False),
]

D = {"name": "{tmp}/out/d"}
N = {"name": "{tmp}/out/new"}
FD = "file.directory"

DIRECTORY = [
    Scenario("file.directory", D, tree()),
    Scenario("file.directory", D, tree(filled), plans=False),
    Scenario("file.directory", {**N, "mode": "0700", "user": HERE, "group": os.getegid()}, tree()),
    Scenario("file.directory name={tmp}/out/a/b/c makedirs=true", {"dir_mode": "0711"}, tree()),
    Scenario(
        "file.directory name={tmp}/out/a/b/c", setup=tree(), fails="; `makedirs: true` makes it"
    ),
    Scenario("file.directory", {**D, "mode": "0700"}, tree(filled)),
    Scenario(
        "file.directory recurse=[mode]",
        {**D, "dir_mode": "0700", "file_mode": "0600"},
        tree(filled),
    ),
    Scenario(
        "file.directory recurse=[mode,silent,ignore_files]", {**D, "mode": "0700"}, tree(filled)
    ),
    Scenario(
        "file.directory recurse=[mode] max_depth=1 follow_symlinks=true",
        {**D, "mode": "0700"},
        tree(filled),
    ),
    Scenario("file.directory recurse=mode children_only=true", {**D, "mode": "0700"}, tree(filled)),
    Scenario("file.directory recurse=[zork]", D, tree(filled), fails="Types for"),
    Scenario(
        "file.directory recurse=[ignore_files,ignore_dirs]", D, tree(filled), fails="same time"
    ),
    Scenario("file.directory clean=true", D, tree(filled)),
    Scenario("file.directory clean=true exclude_pat=[a,E@^sub/b$]", D, tree(filled)),
    Scenario(
        "file.directory clean=true exclude_pat=E@([",
        D,
        tree(filled),
        fails="is not a regular expression",
    ),
    Scenario(
        "file.directory clean=true max_depth=1", D, tree(filled), fails="both max_depth and clean"
    ),
    Scenario("file.directory", F, tree(old), fails="exists and is a file"),
    Scenario("file.directory force=true", F, tree(old)),
    Scenario("file.directory backupname=kept", F, tree(old)),
    Scenario("file.directory name={tmp}/out/dl", setup=tree(linked_folder), plans=False),
    Scenario("file.directory name={tmp}/out/dl force=true", setup=tree(linked_folder)),
    Scenario(
        "file.directory name={tmp}/out/dl allow_symlink=false",
        setup=tree(linked_folder),
        plans=False,
        fails="is a symlink",
    ),
    Scenario(
        "file.directory name={tmp}/out/dl allow_symlink=false force=true", setup=tree(linked_folder)
    ),
    Scenario(
        "file.directory user=no-one-here", D, tree(), fails="User no-one-here is not available"
    ),
]

R = {**D, "source": "salt://d"}
FR = "file.recurse"

RECURSE = [
    Scenario("file.recurse exclude_pat=*.j2", R, tree()),
    Scenario(
        "file.recurse exclude_pat=*.j2", {**R, "user": HERE, "group": os.getegid()}, tree(filled)
    ),
    Scenario(
        "file.recurse backup=minion", {**R, "dir_mode": "0750", "file_mode": "0640"}, tree(filled)
    ),
    Scenario("file.recurse file_mode=keep keep_source=false", {**R, "sym_mode": "0777"}, tree()),
    Scenario("file.recurse clean=true exclude_pat=zz", R, tree(filled)),
    Scenario("file.recurse clean=true", R, tree(in_the_way)),
    Scenario("file.recurse name={tmp}/out/new/d exclude_pat=*.j2 makedirs=false", R, tree()),
    Scenario("file.recurse include_empty=true replace=false", R, tree(filled)),
    Scenario(
        "file.recurse include_pat=E@j2$ template=jinja context='{greeting: 1}'",
        {**R, "defaults": {}},
        tree(),
    ),
    Scenario("file.recurse maxdepth=0 source=[salt://no,salt://d/]", R, tree()),
    Scenario("file.recurse keep_symlinks=true force_symlinks=true", R, tree()),
    Scenario("file.recurse include_pat=zork", R, tree()),
    Scenario("file.recurse", {**R, "mode": "0644"}, tree(), fails="'mode' is not allowed"),
    Scenario("file.recurse source=salt://no", R, tree(), fails="none of the specified sources"),
    Scenario("file.recurse source=/x", R, tree(), fails="must be a salt:// URI"),
    Scenario("file.recurse source=salt://d", F, tree(old), fails="is not a directory"),
    Scenario("file.recurse user=no-one-here", R, tree(), fails="User no-one-here is not available"),
]

SCENARIOS = [*MANAGED, *DIRECTORY, *RECURSE]
