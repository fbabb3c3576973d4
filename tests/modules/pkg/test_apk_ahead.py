# SPDX-License-Identifier: Apache-2.0
"""What is in planned packages of apk: by packages packed here, as apk's own are (abuild(1))."""

from __future__ import annotations

import base64
import gzip
import hashlib
import io
import tarfile
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from harness import HarnessHere
from needing import needs_root

from modules import _accounts, _paths, file
from modules._machine import fetching
from modules.pkg import _contents, _scripts
from modules.pkg._ahead import PlannedPackage, planned_packages
from modules.pkg._laid import install
from modules.pkg._tar import BadArchive
from modules.pkg.apk import archives as apk_archives
from modules.pkg.apk import provider as apk
from modules.pkg.apk import triggers
from modules.pkg.package_manager import Archive, PackageTarget, Transaction
from modules.pkg.providers import provider
from runner.api import running
from runner.api.planning import changes_planned, in_stand_in


def stream(members: Mapping[str, bytes | None], ends: bool) -> bytes:
    """A gzip stream of tar. None: a folder. ends: with the blocks that end an archive."""
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for name, text in members.items():
            info = tarfile.TarInfo(name)
            info.type = tarfile.DIRTYPE if text is None else tarfile.REGTYPE
            info.mode, info.size = 0o755 if text is None else 0o644, len(text or b"")
            info.uname = info.gname = "root"
            tar.addfile(info, io.BytesIO(text or b""))
        length = tar.offset
    return gzip.compress(data.getvalue() if ends else data.getvalue()[:length], mtime=0)


def packed(
    name: str, version: str, files: Mapping[str, bytes | None], scripts: Mapping[str, bytes]
) -> tuple[bytes, str]:
    """A package with its stanza in a package list."""
    rest = stream(files, ends=True)
    about = f"pkgname = {name}\npkgver = {version}\nsize = 9\narch = x86_64\n"
    about += "triggers = /etc/to* /var +/var/tmp\n"
    about += f"depend = /bin/sh\ndatahash = {hashlib.sha256(rest).hexdigest()}\n"
    control = stream({".PKGINFO": about.encode(), **scripts}, ends=False)
    signature = stream({".SIGN.RSA.somebody.rsa.pub": b"signed"}, ends=False)
    digest = base64.b64encode(hashlib.sha1(control).digest()).decode()
    whole = signature + control + rest
    return whole, f"C:Q1{digest}\nP:{name}\nV:{version}\nA:x86_64\nS:{len(whole)}\nI:9\nT:x\n"


FILES: dict[str, bytes | None] = {
    "etc": None,
    "etc/tool": None,
    "etc/tool/tool.conf": b"port = 1\n",
    "usr/bin/tool": b"#!/bin/sh\n" * 20_000,
}
SCRIPTS = {
    ".pre-install": b"#!/bin/sh\naddgroup -S tool-of-nobody 2>/dev/null\n"
    b"adduser -S -D -H -h /var/lib/tool-of-nobody -s /sbin/nologin -G tool-of-nobody"
    b" -g tool tool-of-nobody 2>/dev/null\nexit 0\n",
    ".post-install": b"#!/bin/sh\nmkdir -p /var/lib/tool-of-nobody\n"
    b"chown tool-of-nobody:tool-of-nobody /var/lib/tool-of-nobody\n",
    ".trigger": b'#!/bin/sh\nfor each; do echo "$each" >>/etc/tool/folders; done\n',
}
# of packages that are installed: one waits for a folder of the package's
TRIGGERS = "Q1abc= /usr/bin /usr/lib\n \nQ1def= /usr/lib\n"
TRIGGERED = {
    f"{name}-1-r0.{digest}.trigger": f"#!/bin/sh\necho $* >/etc/tool/{name}\n".encode()
    for name, digest in (("own", "Q1abc="), ("none", "Q1def="))
}
PLAYED = """#!/bin/sh
echo "$*" >>{tmp}/calls
while case $1 in --no-progress) true;; --wait) shift;; --simulate) ;; *) false;; esac
do shift; done
case $1 in
info) cat {tmp}/world ;;
policy) printf 'tool policy:\\n  1.2-r0:\\n    https://example.org/main\\n' ;;
add) echo '(1/1) Installing tool (1.2-r0)' ;;
fetch) cp {tmp}/tool.apk "$3/tool-1.2-r0.apk" ;;
esac
"""


@pytest.fixture
def played(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A machine whose apk knows one package, and a cache of runner's."""
    for name in ("bin", "lists"):
        (tmp_path / name).mkdir()
    (tmp_path / "world").write_text("busybox-1.36.1-r28\n")
    (tmp_path / "bin/apk").write_text(PLAYED.format(tmp=tmp_path))
    (tmp_path / "bin/apk").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:/usr/bin:/bin")
    monkeypatch.setattr(apk, "DATABASE", str(tmp_path / "world"))
    monkeypatch.setattr(fetching, "has_network", lambda: True)
    monkeypatch.setattr(fetching.Allowance, "seconds", lambda _: 60.0)
    monkeypatch.setattr(apk, "LISTS", (str(tmp_path / "lists"),))
    whole, stanza = packed("tool", "1.2-r0", FILES, SCRIPTS)
    (tmp_path / "tool.apk").write_bytes(whole)
    (tmp_path / "triggers").write_text(TRIGGERS)
    monkeypatch.setattr(triggers, "FOLDERS", str(tmp_path / "triggers"))
    (tmp_path / "scripts").write_bytes(stream(TRIGGERED, ends=True))
    monkeypatch.setattr(apk_archives, "INSTALLED_SCRIPTS", (str(tmp_path / "scripts"),))
    listed = stream({"DESCRIPTION": b"own", "APKINDEX": f"{stanza}\n".encode()}, ends=True)
    (tmp_path / "lists/APKINDEX.67f2ce64.tar.gz").write_bytes(listed)
    yield tmp_path


def here() -> HarnessHere:
    opts = {"test": True, "config_dir": "/nowhere", "providers": {"pkg": "apkpkg"}}
    return HarnessHere(opts=opts, dry=True)


def archive() -> Archive:
    return apk.find_archives((("tool", "1.2-r0"), ("none", "1")))["tool"]


def test_an_archive_is_what_the_package_list_says(played: Path) -> None:
    with running(here()):
        manager = provider()
        found = archive()
        apk.fetch_archives((("tool", "1.2-r0"),), None, 9)  # type: ignore[arg-type]
        _contents.verify(found, manager)
        contents = _contents.contents_of(found, manager)
        paths = {member.path for member in contents.members}
        assert {"/etc/tool/tool.conf", "/usr/bin/tool"} < paths
        assert contents.configuration == {"/etc/tool/tool.conf"}
        big = contents.of(contents.by_path["/usr/bin/tool"])
        assert not isinstance(big, bytes)
        assert Path(big.stored().path).read_bytes() == FILES["usr/bin/tool"]
        whole = Path(found.path).read_bytes()
        for wrong in (
            whole[:-9] + bytes(9),  # its files
            whole.replace(b"\x1f\x8b", b"\x1f\x8c", 1),
            packed("tool", "1.2-r0", FILES, {})[0].ljust(len(whole), b"\0"),
            bytes(len(whole)),
        ):
            Path(found.path).write_bytes(wrong[: len(whole)])
            with pytest.raises(BadArchive):
                _contents.verify(found, manager)


def test_the_oldest_archives_that_were_fetched_go(
    played: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """But none that is needed now, and nothing else."""
    with running(here()):
        found = Path(archive().path)
        found.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        old = [found.with_name(f"old-{number}.apk") for number in range(3)]
        note = found.with_name("note")
        note.write_bytes(bytes(99))

        def left() -> list[bool]:
            for path in old:
                if not path.exists():
                    path.write_bytes(bytes(10))
            apk.fetch_archives((("tool", "1.2-r0"),), None, 9)  # type: ignore[arg-type]
            assert found.exists() and note.exists()
            return [path.exists() for path in old]

        assert left() == [True, True, True]
        monkeypatch.setattr(apk_archives, "MOST_KEPT", found.stat().st_size + 20)
        times = sorted(old, key=lambda path: path.stat().st_ctime_ns)
        assert left() == [path != times[0] for path in old]
        monkeypatch.setattr(apk_archives, "MOST_KEPT", 5)
        assert left() == [False, False, False]


@needs_root("to fetch packages")
def test_what_a_planned_package_brings_is_there_for_what_follows(played: Path) -> None:
    transaction = Transaction("install", (PackageTarget("tool"),))
    changes = {"tool": {"old": "", "new": "1.2-r0"}}

    def planned() -> list[PlannedPackage]:
        packages = planned_packages(provider(), changes, transaction)
        assert packages is not None
        return packages

    with running(here()):
        with changes_planned(), in_stand_in():
            packages = planned()
            opened = [*_scripts.follow(packages, "preinst")]
            install(provider(), packages, replaces_configuration=False)
            opened += _scripts.follow(packages, "postinst")
            for hook in provider().hooks(packages):
                opened += _scripts.follow_hook(hook)
        assert file.read_bytes("/etc/tool/tool.conf") == FILES["etc/tool/tool.conf"]
        assert file.read_bytes("/usr/bin/tool") == FILES["usr/bin/tool"]
        assert not _paths.lexists("/.PKGINFO")
        account = _accounts.user("tool-of-nobody")
        assert (account.pw_dir, account.pw_shell) == ("/var/lib/tool-of-nobody", "/sbin/nologin")
        assert _paths.stat("/var/lib/tool-of-nobody").st_uid == account.pw_uid
        assert [each.told for each in opened] == []
        assert file.read_bytes("/etc/tool/folders") == b"/etc/tool\n/var\n"
        assert file.read_bytes("/etc/tool/own") == b"/usr/bin\n"
        assert not _paths.lexists("/etc/tool/none")
        calls = (played / "calls").read_text()
        assert planned() and calls == (played / "calls").read_text(), "nothing is fetched again"


def test_configuration_that_was_changed_here_stays(tmp_path: Path) -> None:
    database = tmp_path / "installed"
    sha1 = base64.b64encode(hashlib.sha1(b"port = 0\n").digest()).decode()
    database.write_text(
        f"P:tool\nV:1\nF:etc/tool\nR:tool.conf\na:0:0:644\nZ:Q1{sha1}\nF:usr/bin\nR:tool\n\n"
        "P:other\nV:1\nF:etc/tool\nF:etc/other\n"
    )
    placement = apk_archives.ApkPlacement(str(database), ["tool"])
    found = placement.configuration["/etc/tool/tool.conf"]
    assert found == "sha1:" + hashlib.sha1(b"port = 0\n").hexdigest()
    assert placement.path("tool", "/.PKGINFO") == ""
    assert list(placement.configuration) == ["/etc/tool/tool.conf"], "no folder is"
    paths = ["/etc/tool", "/usr/bin"]
    assert apk_archives.kept_by_others(str(database), "tool", paths) == {"/etc/tool"}


@pytest.mark.parametrize(("is_packed", "sign"), [(False, "Q"), (True, "X")])
def test_scripts_of_installed_packages_are_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_packed: bool, sign: str
) -> None:
    """As apk 2 keeps them, and apk 3."""
    text = b"#!/bin/sh\nrm -f /run/tool\n"
    names = (f"tool-1-r0.{sign}1abc.post-deinstall", f"tool-doc-1-r0.{sign}1abc.pre-install")
    data = stream(dict.fromkeys(names, text), ends=True)
    path = tmp_path / "scripts"
    path.write_bytes(data if is_packed else gzip.decompress(data))
    monkeypatch.setattr(apk_archives, "INSTALLED_SCRIPTS", (str(path), str(tmp_path / "none")))
    found = apk_archives.installed_scripts("tool", "1-r0")
    assert [*found] == ["postrm"] and "rm -f /run/tool" in found["postrm"]
