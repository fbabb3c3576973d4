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


def file_and_folder(tmp: Path) -> None:
    full_folder(tmp)
    (tmp / "f").write_text("f")


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
    Scenario("file.absent name={tmp}/d", setup=full_folder),
    Scenario("file.absent", F, plans=False),
    Scenario("file.absent name=/", fails="Refusing"),
    Scenario("file.exists", F, write("f"), plans=False),
    Scenario("file.exists", F, fails="does not exist"),
    Scenario("file.missing", F, plans=False),
    Scenario("file.missing", F, write("f"), fails="exists"),
    Scenario("file.touch", F, write("f"), converges=False),
    Scenario("file.touch makedirs=true atime=5 mtime=6", G, converges=False),
    Scenario("file.touch", G, fails="Directory not present"),
    Scenario("file.symlink name={tmp}/l target=other", setup=linked),
    Scenario(
        "file.symlink name={tmp}/l target=target inherit_user_and_group=true",
        setup=linked,
        plans=False,
    ),
    Scenario("file.symlink target=x makedirs=true atomic=true", {**G, "mode": "0750"}),
    Scenario("file.symlink target=x", G, fails="is not present; `makedirs: true`"),
    Scenario("file.symlink target=x force=true follow_symlinks=false", F, write("f")),
    Scenario("file.symlink name={tmp}/d target=x force=true", setup=full_folder),
    Scenario("file.symlink target=x backupname=kept", F, write("f")),
    Scenario(
        "file.symlink target=x disallow_copy_and_unlink=true", F, write("f"), False, "File exists"
    ),
    Scenario("file.symlink target=x user=no-one-here", F, fails="User no-one-here"),
    Scenario("file.symlink target=x group=no-one-here", F, fails="Group no-one-here"),
    Scenario("file.append", MORE, write("f")),
    Scenario("file.append text=beta ignore_whitespace=false", F, write("f"), plans=False),
    Scenario("file.append text=a makedirs=true", G),
    Scenario("file.append source={tmp}/f template=false", F, write("f", "{{ 1 }}\n"), plans=False),
    Scenario("file.append text=a", G, fails="file not found"),
    Scenario("file.prepend", MORE, write("f")),
    Scenario("file.prepend text=beta header=true", F, write("f")),
    Scenario("file.prepend text=beta", F, write("f"), plans=False),
    Scenario("file.prepend text=a makedirs=true", G),
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
    Scenario("file.replace pattern=BETA repl=b flags=[IGNORECASE] count=1", F, write("f")),
    Scenario("file.replace pattern=x repl=y", F, write("f"), plans=False),
    Scenario("file.replace pattern=x repl=y ignore_if_missing=true", F, plans=False),
    Scenario("file.replace pattern=x repl=y", F, fails="file not found"),
    Scenario("file.replace pattern=x1 repl=y append_if_not_found=true", F, write("f")),
    Scenario(
        "file.replace pattern=x1 repl=y prepend_if_not_found=true not_found_content=z backup=false",
        F,
        write("f"),
    ),
    Scenario(
        "file.replace pattern=beta backslash_literal=true show_changes=false bufsize=file",
        {**F, "repl": "\\1"},
        write("f"),
    ),
    Scenario("file.copy force=true preserve=true", B, two),
    Scenario("file.copy source={tmp}/d force=true makedirs=true", G, full_folder),
    Scenario("file.copy source={tmp}/d force=true", F, file_and_folder),
    Scenario("file.copy", B, two, plans=False),
    Scenario("file.copy name={tmp}/c source={tmp}/a user=0 group=0", {"mode": "0600"}, two),
    Scenario("file.copy source={tmp}/a makedirs=true", {**G, "dir_mode": "0750"}, two),
    Scenario("file.copy name={tmp}/d source={tmp}/d/x subdir=true", setup=full_folder, plans=False),
    Scenario("file.rename force=true", B, two),
    Scenario("file.rename", B, two, plans=False),
    Scenario("file.rename source={tmp}/a makedirs=true", G, two),
    Scenario("file.rename source={tmp}/a", G, two, fails="target directory"),
]
