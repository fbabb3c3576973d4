# SPDX-License-Identifier: Apache-2.0
"""rpm's rules of versions, and what runner makes of what rpm 4.18 printed."""

from __future__ import annotations

import itertools
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from harness import HarnessHere
from needing import require

from modules import cmd
from modules.pkg.package_manager import Archive
from modules.pkg.rpm import lists as rpm_lists
from modules.pkg.rpm import packages as rpm
from runner.api import CommandFailed, running

# oldest first; tests/machine/test_dnf.py asks rpm itself
OLDEST_FIRST = ["A", "a", "b", "fc4", "0.9", "1.0~~", "1.0~", "1.0~rc1", "1.0", "1.0^"]
OLDEST_FIRST += ["1.0^git1~x", "1.0^git1", "1.0^20", "1.0a", "1.0.1", "1.0.20", "2.0.1a"]
OLDEST_FIRST += ["9", "10", "1:0.5", "2:0.1"]
OLDEST_FIRST_RELEASES = ["1.0~1-9", "1.0-a", "1.0-1~a", "1.0-1", "1.0-1^a", "1.0-1.el9"]
OLDEST_FIRST_RELEASES += ["1.0-2", "1.0-10", "1.0.1-1", "1:0.1-1"]


@pytest.mark.parametrize("versions", [OLDEST_FIRST, OLDEST_FIRST_RELEASES])
def test_versions_are_ordered_as_rpm_does(versions: list[str]) -> None:
    for (i, left), (j, right) in itertools.product(enumerate(versions), repeat=2):
        assert rpm.compare(left, right) == (i > j) - (i < j), (left, right)


@pytest.mark.parametrize(
    ("left", "right"),
    [("1.0", "01_0."), ("1.0a", "1.0.a"), ("0:1.0", "1.0"), ("1.2", "1.2-3"), ("fc4", "fc.4")],
)
def test_versions_that_are_the_same(left: str, right: str) -> None:
    assert rpm.compare(left, right) == rpm.compare(right, left) == 0


ANSWERS = {
    ("rpm", "--eval"): "x86_64\n",
    ("rpm", "-qa"): (
        "kernel\x1f(none)\x1f5.14.0\x1f10.el9\x1fx86_64\x1e"
        "kernel\x1f(none)\x1f5.14.0\x1f9.el9\x1fx86_64\x1e"
        "gpg-pubkey\x1f(none)\x1f8483c65d\x1f5ccc5b19\x1f(none)\x1e"
        "glibc\x1f(none)\x1f2.34\x1f100.el9\x1fi686\x1e"
        "warning: something\nbind-libs\x1f32\x1f9.16.23\x1f1.el9\x1fx86_64\x1e"
        "tzdata\x1f0\x1f2024a\x1f1.el9\x1fnoarch\x1e"
    ),
    ("rpm", "-qf"): "coreutils\x1fx86_64\x1e",
    ("rpm", "-ql"): "/etc/x\n(contains no files)\n/usr/share/x\n",
}


@pytest.fixture
def answered(monkeypatch: pytest.MonkeyPatch) -> Any:
    table: dict[tuple[str, ...], cmd.Completed] = {}

    def probe(argv: Sequence[str], **_: Any) -> cmd.Completed:
        return table.get(tuple(argv[:2]), cmd.Completed(0, ANSWERS.get(tuple(argv[:2]), ""), "", 1))

    monkeypatch.setattr(cmd, "probe", probe)
    with running(HarnessHere()):
        yield table


def test_what_is_installed(answered: Any) -> None:
    assert rpm.list_pkgs() == {
        "bind-libs": "32:9.16.23-1.el9",
        "glibc.i686": "2.34-100.el9",
        "kernel": "5.14.0-9.el9,5.14.0-10.el9",
        "tzdata": "2024a-1.el9",
    }


def test_a_foreign_architecture_stays_in_the_name(answered: Any) -> None:
    names = ["glibc.x86_64", "glibc.i686", "tzdata.noarch", "python3.11"]
    assert [*map(rpm.normal, names)] == ["glibc", "glibc.i686", "tzdata", "python3.11"]


def test_files_and_their_packages(answered: Any) -> None:
    assert rpm.owner("/usr/bin/ls") == "coreutils"
    assert rpm.file_list("x") == ["/etc/x", "/usr/share/x"]
    answered["rpm", "-qf"] = cmd.Completed(1, "file /nowhere is not owned by any package\n", "", 1)
    assert rpm.owner("/nowhere") == ""


def test_a_database_that_cannot_be_read_is_a_failure(answered: Any) -> None:
    answered["rpm", "-qa"] = cmd.Completed(1, "", "error: cannot open Packages database", 1)
    with pytest.raises(CommandFailed, match="cannot open Packages database"):
        rpm.list_pkgs()


@pytest.mark.parametrize(
    ("printed", "ignored", "altered"),
    [
        ("S.5....T.  c /etc/x.conf\n", [], ["x"]),
        ("S.5....T.  c /etc/x.conf\n", ["config"], []),
        ("missing     /usr/bin/x\n", ["config", "doc"], ["x"]),
        ("missing   d /usr/share/doc/x\n", ["d"], []),
        ("package x is not installed\n", [], []),
        ("", [], []),
    ],
)
def test_altered_files(answered: Any, printed: str, ignored: list[str], altered: list[str]) -> None:
    answered["rpm", "-V"] = cmd.Completed(1 if printed else 0, printed, "", 1)
    assert rpm.verify(("x",), ignored) == altered


LIST = """<metadata packages="3">
<package type="rpm"><name>a+b</name><arch>noarch</arch><version epoch="1" ver="2" rel="3"/>
<checksum type="sha256" pkgid="YES">aa11</checksum><size package="70" installed="9"/>
<location href="noarch/a%2B&amp;b.rpm"/><format><rpm:entry name="words" ver="9"/></format></package>
<package type="rpm"><name>words</name><arch>noarch</arch><version epoch="0" ver="1" rel="1"/>
<checksum type="sha" pkgid="YES">bb22</checksum><size package="71"/><location href="w.rpm"/>
</package>
<package type="rpm"><name>rude</name><arch>noarch</arch><version epoch="0" ver="1" rel="1"/>
<checksum type="sha512" pkgid="YES">cc33</checksum><size package="72"/><location href="../r.rpm"/>
</package></metadata>"""


DIGEST = '<checksum type="sha256">aa11</checksum><location href="w.rpm"/>'
ABOUT = '<name>words</name><arch>noarch</arch><version epoch="0" ver="1" rel="1"/>' + DIGEST
HOSTILE = {
    "a size that is none": f'<package >{ABOUT}<size package="{"9" * 5000}"/></package>',
    "no end": "<package ><name>words</name>" + "<arch><version type='" * 1_000_000,
    "entities": '<!DOCTYPE m [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]><package >'
    f"{ABOUT.replace('>noarch<', '>&b;<')}<size package='70'/></package>",
    "no text": f"<package >{ABOUT}<size package='70'/>\xff</package>",
    "no XML": f"<package >{ABOUT}<size package=70></package>",
    "no digest": f"<package >{ABOUT.replace(DIGEST, '')}<size package='70'/></package>",
    "no place": f"<package >{ABOUT.replace('w.rpm', '')}<size package='70'/></package>",
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_lists_that_mean_harm_tell_of_no_archive(
    answered: Any, tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rpm_lists, "MOST_OF_ONE", 1 << 20)
    folder = tmp_path / "lists/repodata"
    folder.mkdir(parents=True)
    whole = HOSTILE[kind] + f"<package >{ABOUT}<size package='70'/></package>" * (kind == "no end")
    (folder / "0a-primary.xml").write_text(whole, "latin-1")
    with running(HarnessHere()):
        found = rpm_lists.find([("words", "1-1")], [(str(tmp_path / "lists"), "/cache")])
    assert [archive.size for archive in found.values()] == [0] * (kind == "a size that is none")


@pytest.mark.parametrize("kind", ["gz", "xz", "zst"])
def test_archives_are_found_in_the_lists(answered: Any, tmp_path: Path, kind: str) -> None:
    folder = tmp_path / "lists/repodata"
    folder.mkdir(parents=True)
    program = {"gz": "gzip", "xz": "xz", "zst": "zstd"}[kind]
    require(program)
    packed = subprocess.run([program, "-c"], input=LIST.encode(), capture_output=True, check=True)
    (folder / f"0a-primary.xml.{kind}").write_bytes(packed.stdout)
    asked = [("a+b", "1:2-3"), ("words", "1-1"), ("rude", "1-1"), ("a", "1-1")]
    with running(HarnessHere()):
        found = rpm_lists.find(asked, [(str(tmp_path / "lists"), "/cache")])
    archive = Archive("a+b", "1:2-3", "/cache/noarch/a%2B&b.rpm", 70, "sha256:aa11")
    assert found == {"a+b": archive}, "a digest is too weak, and a place lies outside"
