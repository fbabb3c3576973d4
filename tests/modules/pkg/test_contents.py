# SPDX-License-Identifier: Apache-2.0
"""What is in archives of packages: read once, bounded, and refused where it is not plain."""

from __future__ import annotations

import hashlib
import io
import json
import os
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest
from harness import HarnessHere

from modules.pkg import _contents, _tar
from modules.pkg._ahead import PlannedPackage
from modules.pkg._contents import Contents
from modules.pkg._stand_ins import _in_order
from modules.pkg._tar import BadArchive
from modules.pkg.package_manager import Archive, Control, PackageManager
from runner.api import running


class Manager:
    """A package manager whose archives are tar files. read: so often was one read."""

    def __init__(self) -> None:
        self.read = 0

    def control(self, path: str) -> Control:
        return Control({"postinst": "true\n"}, ("/etc/a",))

    def contents_words(self, path: str) -> list[str]:
        self.read += 1
        return ["cat", path]


@pytest.fixture
def manager() -> Iterator[PackageManager]:
    with running(HarnessHere()):
        yield cast(PackageManager, Manager())


def member(name: str, data: bytes = b"", **more: Any) -> tuple[tarfile.TarInfo, bytes]:
    info = tarfile.TarInfo(name)
    info.size = len(data)
    for key, value in more.items():
        setattr(info, key, value)
    return info, data


def archive(folder: Path, *members: tuple[tarfile.TarInfo, bytes]) -> Archive:
    path = folder / "tool.tar"
    with tarfile.open(path, "w") as tar:
        for info, data in members:
            tar.addfile(info, io.BytesIO(data))
    data = path.read_bytes()
    digest = hashlib.sha256(data).hexdigest()
    return Archive("tool", "1", str(path), len(data), f"sha256:{digest}")


PLAIN = (
    member("./", type=tarfile.DIRTYPE),
    member("./etc/", type=tarfile.DIRTYPE, mode=0o755),
    member("./etc/a", b"small", mode=0o640, uname="root", gname="adm"),
    member("./usr/big", b"x" * 300_000),
    member("./etc/odd \udcff", b"odd"),
    member("./etc/again", type=tarfile.LNKTYPE, linkname="./etc/a"),
    member("./etc/link", type=tarfile.SYMTYPE, linkname="/dev/null"),
)


def text_of(contents: _contents.Contents, path: str) -> bytes:
    found = contents.of(contents.by_path[path])
    if not isinstance(found, bytes):
        text = found.text()
        found = Path(found.stored().path).read_bytes() if text is None else text
    return found


def test_an_archive_is_read_once(tmp_path: Path, manager: PackageManager) -> None:
    made = archive(tmp_path, *PLAIN)
    for _ in range(2):
        contents = _contents.contents_of(made, manager)
        paths = ["/etc", "/etc/a", "/usr/big", "/etc/odd \udcff", "/etc/again", "/etc/link"]
        assert [*contents.by_path] == paths
        found = contents.by_path["/etc/a"]
        assert (found.user, found.group, oct(found.mode)) == ("root", "adm", "0o100640")
        assert (contents.by_path["/etc/again"].link, contents.by_path["/etc/link"].link) == (
            "/etc/a",
            "/dev/null",
        )
        assert text_of(contents, "/etc/a") == b"small"
        assert contents.control == {"postinst": "true\n"}
    assert cast(Manager, manager).read == 1
    for _ in range(2):  # what is large is unpacked where it is asked for
        assert text_of(contents, "/usr/big") == b"x" * 300_000
    assert cast(Manager, manager).read == 2
    os.unlink(made.path)
    assert text_of(_contents.contents_of(made, manager), "/usr/big") == b"x" * 300_000


@pytest.mark.parametrize(
    ("spoilt", "read"),
    [
        (None, 1),
        ("{", 2),
        ("[]", 2),
        ("[" * 100_000, 2),
        ('{"/usr/share/tool/part": 7}', 2),
        ('{"/usr/share/tool/part": "another size"}', 2),
        ('{"/usr/share/tool/part": "\\ud800...\\n"}', 2),
    ],
)
def test_what_scripts_read_is_kept_as_long_as_it_is_whole(
    tmp_path: Path,
    manager: PackageManager,
    monkeypatch: pytest.MonkeyPatch,
    spoilt: str | None,
    read: int,
) -> None:
    control = Control({"postinst": "#!/bin/sh\n. /usr/share/tool/part\n"}, ())
    monkeypatch.setattr(manager, "control", lambda path: control)
    parts = {
        "share/tool/part": "\u00e4 1\n".encode(),
        "bin/tool": b"\x7fELF\0",
        "share/doc/tool/x": b"x",
    }
    made = archive(tmp_path, *(member(f"./usr/{path}", data) for path, data in parts.items()))
    _contents.contents_of(made, manager)
    [kept] = Path(manager_folder()).glob("sha256-*/texts.json")
    assert [*json.loads(kept.read_text())] == ["/usr/share/tool/part"]
    if spoilt is not None:
        kept.write_text(spoilt)
    assert (
        text_of(_contents.contents_of(made, manager), "/usr/share/tool/part")
        == parts["share/tool/part"]
    )
    assert cast(Manager, manager).read == read


@pytest.mark.parametrize(
    ("control", "kept"),
    [({"postinst": "#!/bin/sh\n"}, ["/usr/a", "/usr/c"]), ({"shlibs": "x"}, None)],
)
def test_so_much_is_kept_for_scripts_where_there_are_some(
    tmp_path: Path,
    manager: PackageManager,
    monkeypatch: pytest.MonkeyPatch,
    control: dict[str, str],
    kept: list[str] | None,
) -> None:
    monkeypatch.setattr(_contents, "MOST_READ", 10)
    monkeypatch.setattr(manager, "control", lambda path: Control(control, ()))
    made = archive(tmp_path, *(member(f"./usr/{name}", b"x" * 5) for name in ("a", "c", "d")))
    _contents.contents_of(made, manager)
    found = [*Path(manager_folder()).glob("sha256-*/texts.json")]
    assert [[*json.loads(path.read_text())] for path in found] == ([kept] if kept else [])


@pytest.mark.parametrize(
    ("hostile", "told"),
    [
        ([member("../etc/passwd")], "would lie elsewhere"),
        ([member("./a/../../etc/passwd")], "would lie elsewhere"),
        ([member("/etc/passwd")], "would lie elsewhere"),
        ([member("./etc/a\nb")], "would lie elsewhere"),
        ([member("./dev/sda", type=tarfile.BLKTYPE)], "is a device, a pipe or a socket"),
        ([member("./run/pipe", type=tarfile.FIFOTYPE)], "is a device, a pipe or a socket"),
        (
            [
                member("./etc/x", type=tarfile.SYMTYPE, linkname="/root"),
                member("./etc/x/authorized_keys"),
            ],
            "lies behind what is no directory",
        ),
        (
            [member("./etc/x", type=tarfile.LNKTYPE, linkname="../../etc/shadow")],
            "would lie elsewhere",
        ),
        (
            [member("./etc/x", type=tarfile.LNKTYPE, linkname="./etc/shadow")],
            "is a further name of what it has not",
        ),
        ([member("./etc/x", type=tarfile.SYMTYPE, linkname="a\nb")], "is a link to"),
    ],
)
def test_a_member_that_is_not_plain_is_refused(
    tmp_path: Path, manager: PackageManager, hostile: list[Any], told: str
) -> None:
    made = archive(tmp_path, *hostile)
    with pytest.raises(BadArchive, match=told):
        _contents.contents_of(made, manager)


def header(name: str, said: int, data: bytes = b"", **pax: str) -> bytes:
    """A member as somebody who means harm writes it. said: the size that it says it has."""
    info = tarfile.TarInfo(name)
    info.size, info.pax_headers = said, {key.replace("_", "."): pax[key] for key in pax}
    form = tarfile.PAX_FORMAT if pax else tarfile.GNU_FORMAT
    return info.tobuf(form) + data + b"\0" * (-len(data) % 512 + 1024)


HOLES = {"GNU_sparse_map": "0,0", "GNU_sparse_numblocks": "1"}


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (header("./usr/a", 1 << 50), "far larger than itself"),
        (header("./usr/a", 0, GNU_sparse_size=str(1 << 50), **HOLES), "far larger than itself"),
        (
            header("./usr/a", (8 << 30) - 1, GNU_sparse_size="1", **HOLES),
            "ends within what it says|unexpected end of data",
        ),
        (header("./usr/a", 0, GNU_sparse_size="1", **HOLES | {"GNU_sparse_map": "a,0"}), "number"),
        (header("./usr/a", 0, size="-100000"), "cannot be read"),
        (header("./usr/a", 0)[:512] + b"x" * 1024, "cannot be read"),
        (header("./usr/a", 0)[:512] + b"x" * 100, "cannot be read"),
        (header("./usr/a", 0, mtime="inf"), "time that is none"),
        (header("./usr/a", 0, mtime="nan"), "time that is none"),
        (header("./usr/a", 0, uid="99999999999"), "has an owner"),
        (header("./usr/a", 0, gid="-1"), "has an owner"),
        (header("./usr/a", 0, uname="a\0b"), "has an owner"),
    ],
)
def test_a_member_that_lies_about_itself_is_refused(
    tmp_path: Path, manager: PackageManager, data: bytes, told: str
) -> None:
    """At once, and without filling a disk: what it says is not walked through, nor written."""
    path = tmp_path / "tool.tar"
    path.write_bytes(data)
    digest = f"sha256:{hashlib.sha256(data).hexdigest()}"
    with pytest.raises(BadArchive, match=told):
        _contents.contents_of(Archive("tool", "1", str(path), len(data), digest), manager)


def test_endless_members_and_contents_are_refused(
    tmp_path: Path, manager: PackageManager, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = archive(tmp_path, *PLAIN)
    monkeypatch.setattr(_contents, "MOST_MEMBERS", 3)
    with pytest.raises(BadArchive, match="more than 3 members"):
        _contents.contents_of(made, manager)
    monkeypatch.undo()
    with (
        pytest.raises(BadArchive, match="far larger than itself"),
        _tar.opened_tar(["sh", "-c", f"cat {made.path} /dev/zero"], 1 << 20) as tar,
    ):
        info = next(found for found in tar if found.name.endswith("big"))
        info.size = 1 << 40
        taken = tar.opened(info)
        assert taken is not None
        while taken.read(1 << 16):
            pass
    with pytest.raises(BadArchive, match="cannot be read"), _tar.opened_tar(["true"], 1 << 20):
        pass


def test_an_archive_that_is_another_or_that_others_can_write_is_refused(
    tmp_path: Path, manager: PackageManager
) -> None:
    made = archive(tmp_path, *PLAIN)
    for other in (made._replace(digest="sha256:00"), made._replace(size=1)):
        with pytest.raises(BadArchive, match="is not what the package lists say"):
            _contents.contents_of(other, manager)
    tmp_path.chmod(0o777)
    with pytest.raises(BadArchive, match="others can"):
        _contents.contents_of(made, manager)
    tmp_path.chmod(0o755)
    os.chmod(made.path, 0o666)
    with pytest.raises(BadArchive, match="others can"):
        _contents.contents_of(made, manager)
    os.chmod(made.path, 0o644)
    assert _contents.contents_of(made, manager).members


def test_what_is_kept_is_read_anew_where_it_is_damaged(
    tmp_path: Path, manager: PackageManager
) -> None:
    made = archive(tmp_path, *PLAIN)
    _contents.contents_of(made, manager)
    [kept] = Path(manager_folder()).glob("sha256-*/contents.json")
    whole = json.loads(kept.read_text())
    spoilt = [json.dumps(whole | part) for part in ({"form": 0}, {"members": [[1]]})]
    for text in ("", "{}", "[]", "[" * 100_000, *spoilt):
        kept.write_text(text)
        assert _contents.contents_of(made, manager).members
    assert cast(Manager, manager).read == 7


def manager_folder() -> str:
    from runner.api import here

    return here.cache_folder(_contents.FOLDER).path


def test_scripts_run_behind_those_of_what_is_needed(manager: PackageManager) -> None:
    def package(name: str, needs: str = "", provides: str = "") -> PlannedPackage:
        kept = {"control": {"needs": needs, "provides": provides}, "members": [], "texts": {}}
        archive = Archive(name, "1", f"/{name}", 1, "sha256:0")
        contents = Contents(archive, {**kept, "configuration": [], "replaced": []}, manager)
        return PlannedPackage(name, "1", "", contents)

    server = package("a", "words\nlib\nelsewhere")
    words, library = package("b", "a", "words"), package("c", "", "lib\nwords")
    ordered = _in_order([server, words, library])
    assert [each.name for each in ordered] == ["b", "c", "a"], "a circle is left somewhere"
