# SPDX-License-Identifier: Apache-2.0
"""How archives are tried: good ones, and those that would write outside their folder."""

from __future__ import annotations

import io
import os
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from laws import Scenario, scenario


def tar(tmp: Path, name: str, *members: tuple[str, bytes, str]) -> None:
    """members: (name, contents or link target, kind)."""
    kinds = {
        "file": tarfile.REGTYPE,
        "dir": tarfile.DIRTYPE,
        "link": tarfile.SYMTYPE,
        "pipe": tarfile.FIFOTYPE,
    }
    kinds |= {"hard": tarfile.LNKTYPE, "setuid": tarfile.REGTYPE}
    with tarfile.open(tmp / name, "w:gz") as archive:
        for member, data, kind in members:
            info = tarfile.TarInfo(member)
            info.type = kinds[kind]
            info.mode = {"dir": 0o755, "setuid": 0o4755}.get(kind, 0o640)
            info.linkname = data.decode() if kind in ("link", "hard") else ""
            info.size = len(data) if kind == "file" else 0
            archive.addfile(info, io.BytesIO(data))


TOP = (
    ("top", b"", "dir"),
    ("top/a", b"a\n", "file"),
    ("top/sub", b"", "dir"),
    ("top/sub/b", b"b\n", "file"),
)


def made(then: Callable[[Path], None] = lambda tmp: None) -> Callable[[Path], None]:
    def setup(tmp: Path) -> None:
        tar(tmp, "one.tgz", *TOP, ("top/l", b"a", "link"))
        tar(tmp, "many.tgz", ("a", b"1", "file"), ("b", b"2", "file"))
        tar(tmp, "up.tgz", ("../evil", b"x", "file"))
        tar(tmp, "root.tgz", ("/evil", b"x", "file"))
        tar(tmp, "through.tgz", ("top", b"/else", "link"), ("top/evil", b"x", "file"))
        tar(tmp, "inside.tgz", *TOP, ("top/l", b"sub", "link"), ("top/l/c", b"c", "file"))
        tar(tmp, "pipe.tgz", ("top", b"", "dir"), ("top/p", b"", "pipe"))
        tar(tmp, "out.tgz", *TOP, ("top/l", b"../../etc", "link"))
        tar(tmp, "setuid.tgz", *TOP, ("top/su", b"", "setuid"))
        tar(tmp, "hard.tgz", *TOP, ("top/h", b"top/a", "hard"))
        tar(tmp, "implied.tgz", ("top/x/b", b"2", "file"))
        with zipfile.ZipFile(tmp / "z.zip", "w") as archive:
            archive.writestr("top/", "")
            archive.writestr("top/a", "a\n")
        (tmp / "bad.tgz").write_text("junk")
        (tmp / "there").touch()
        then(tmp)

    return setup


def unpacked(tmp: Path) -> None:
    with tarfile.open(tmp / "one.tgz") as archive:
        archive.extractall(
            tmp / "out", **({"filter": "tar"} if hasattr(tarfile, "tar_filter") else {})
        )  # type: ignore[arg-type]


def blocked(tmp: Path) -> None:
    (tmp / "out/top/a").mkdir(parents=True)


def linked_folder(to: str) -> Callable[[Path], None]:
    def setup(tmp: Path) -> None:
        (tmp / "out/top").mkdir(parents=True)
        (tmp / "out/top/x").symlink_to(to)
        (tmp / "out/top" / to).mkdir()

    return setup


def blocked_folder(tmp: Path) -> None:
    (tmp / "out/top").mkdir(parents=True)
    (tmp / "out/top/x").touch()


def partly(tmp: Path) -> None:
    unpacked(tmp)
    (tmp / "out/top/a").unlink()
    (tmp / "out/top/extra").touch()


def arc(source: str, setup: Callable[[Path], None] = made(), **given: Any) -> Scenario:
    usual = {"name": "{tmp}/out", "converges": not given.get("overwrite")}
    return scenario("archive.extracted", setup, source=f"{{tmp}}/{source}", **{**usual, **given})


ME = {"user": os.getuid(), "group": os.getgid()}
SCENARIOS = [
    arc(
        "one.tgz",
        skip_verify=True,
        keep_source=False,
        use_etag=True,
        list_options="z",
        use_cmd_unzip=False,
    ),
    arc("one.tgz", made(unpacked), plans=False),
    arc(
        "one.tgz",
        made(unpacked),
        overwrite=True,
        skip_files_list_verify=True,
        source_hash_update=True,
    ),
    arc("one.tgz", made(partly)),
    arc("one.tgz", made(partly), clean=True),
    arc("one.tgz", made(partly), clean_parent=True),
    arc("one.tgz", made(blocked), fails="are the incorrect type"),
    arc("one.tgz", made(blocked), force=True),
    arc("one.tgz", options="--strip-components=1", enforce_toplevel=False),
    arc("one.tgz", options="xz --exclude=nothing", trim_output=1),
    arc("one.tgz", options="--strip 1 --exclude=top/sub", enforce_toplevel=False),
    arc("one.tgz", options="--no-such-option", fails="tar failed"),
    arc("hard.tgz"),
    arc("inside.tgz"),
    arc("implied.tgz", made(linked_folder("../elsewhere"))),
    arc("implied.tgz", made(linked_folder("../../elsewhere")), fails="are the incorrect type"),
    arc("implied.tgz", made(linked_folder("../../elsewhere")), force=True),
    arc("implied.tgz", made(blocked_folder), fails="are the incorrect type"),
    arc("one.tgz", **ME),
    arc("one.tgz", **ME, enforce_ownership_on="{tmp}/out"),
    arc("one.tgz", user="nobody-here", fails="does not exist"),
    arc("one.tgz", plans=False, if_missing="{tmp}/there"),
    arc("one.tgz", source_hash="0" * 64, fails="does not match the desired source_hash"),
    arc("one.tgz", source_hash="{tmp}/none", source_hash_name="x", fails="not found"),
    arc("many.tgz", fails="single top-level directory"),
    arc("z.zip", archive_format="zip", password="unused", extract_perms=False),
    arc("one.tgz", archive_format="rar", fails="rar is not supported"),
    arc("bad.tgz", fails="Unable to list contents"),
    arc("none.tgz", fails="does not exist"),
    arc("up.tgz", fails="outside its folder"),
    arc("root.tgz", fails="outside its folder"),
    arc("through.tgz", fails="lies behind the link"),
    arc("pipe.tgz", fails="is a device, pipe or socket"),
    arc("out.tgz"),
    arc("one.tgz", **ME, enforce_ownership_on="{tmp}/there", fails="must be within"),
    arc("setuid.tgz", fails="set-user-ID"),
]
