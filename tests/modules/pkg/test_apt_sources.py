# SPDX-License-Identifier: Apache-2.0
"""Lists of sources: what is written over keeps what else the file said."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from harness import HarnessHere

from modules.pkg import repo_files
from modules.pkg.apk import repositories
from modules.pkg.apt import sources as apt
from modules.pkg.pacman import conf
from runner.api import StateFailed, running

ENTRY = "deb http://deb.example.org/debian bookworm main"
STANZA = """\
# Debian
Types: deb
URIs: http://deb.example.org/debian
Suites: bookworm bookworm-updates
Components: main
Signed-By: /k.gpg
X-Mine: yes
"""


@pytest.fixture(autouse=True)
def here() -> Iterator[None]:
    with running(HarnessHere()):
        yield


def source(text: str) -> apt.AptSource:
    found = apt.parsed(text)
    assert found
    return found


@pytest.mark.parametrize(
    "line",
    [
        ENTRY,
        "# deb http://deb.example.org/debian bookworm main contrib",
        "deb-src [arch=amd64 signed-by=/k.gpg] https://deb.example.org/d ./",
        "deb cdrom:[Debian]/ bookworm main #from the shelf",
    ],
)
def test_an_entry_is_written_as_it_was_read(line: str) -> None:
    assert source(line).line == line


@pytest.mark.parametrize("line", ["", "# a remark about deb files", "nonsense", "deb only-a-word"])
def test_other_lines_are_no_entries(line: str) -> None:
    assert apt.parsed(line) is None


def test_one_archive_of_a_stanza_changes_alone(tmp_path: Path) -> None:
    path = tmp_path / "x.sources"
    path.write_text(STANZA)
    path.write_text(apt.with_source(str(path), source(f"{ENTRY} contrib")))
    assert [(each.dist, each.comps) for each in apt.sources(str(path))] == [
        ("bookworm", ("main", "contrib")),
        ("bookworm-updates", ("main",)),
    ]
    first, second = path.read_text().split("\n\n")
    assert "X-Mine: yes" in first and "Signed-By" not in first and first.startswith("# Debian\n")
    assert "X-Mine: yes" in second and "Signed-By: /k.gpg" in second


def test_one_archive_of_a_stanza_goes_alone(tmp_path: Path) -> None:
    path = tmp_path / "x.sources"
    path.write_text(STANZA.replace("Types: deb", "Types: deb deb-src"))
    path.write_text(apt.without_source(str(path), source(ENTRY)))
    assert [(each.type, each.dist) for each in apt.sources(str(path))] == [
        ("deb-src", "bookworm"),
        ("deb-src", "bookworm-updates"),
        ("deb", "bookworm-updates"),
    ]


def test_a_stanza_may_say_more_than_an_entry(tmp_path: Path) -> None:
    path = tmp_path / "x.sources"
    path.write_text(STANZA.replace(" bookworm-updates", "") + "Architectures: amd64 i386\n")
    (found,) = apt.sources(str(path))
    wanted = source(f"{ENTRY.replace('deb ', 'deb [arch=amd64,i386 signed-by=/k.gpg] ')}")
    assert found.says(wanted, stanza=True)
    assert not found.says(wanted, stanza=False)
    assert not found.says(source(ENTRY), stanza=True)


def test_lines_of_others_stay(tmp_path: Path) -> None:
    path = tmp_path / "x.list"
    path.write_text(f"# mine\n{ENTRY}\ndeb http://other.example/d s c\n{ENTRY} contrib")
    assert apt.with_source(str(path), source(f"{ENTRY} non-free")) == (
        f"# mine\n{ENTRY} non-free\ndeb http://other.example/d s c\n"
    )
    assert (
        apt.without_source(str(path), source(ENTRY)) == "# mine\ndeb http://other.example/d s c\n"
    )


def test_list_repos_answers_as_salt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from modules import pkg

    (tmp_path / "a.sources").write_text(STANZA)
    (tmp_path / "b.list").write_text(
        f"# {ENTRY}\ndeb-src [arch=amd64,i386] http://other.example.org x y z\n"
    )
    monkeypatch.setattr(apt, "MAIN", str(tmp_path / "none"))
    monkeypatch.setattr(apt, "PARTS", str(tmp_path))
    with running(HarnessHere(providers={"pkg": "apt"})):  # whatever this computer has
        found = pkg.list_repos()
    first, second, off = found["http://deb.example.org/debian"]
    assert (first["dist"], second["dist"]) == ("bookworm", "bookworm-updates")
    assert first["suites"] == second["suites"] == ["bookworm", "bookworm-updates"]
    assert (first["signedby"], first["comps"], first["enabled"]) == ("/k.gpg", ["main"], True)
    assert (off["file"], off["disabled"], off["suites"]) == (
        str(tmp_path / "b.list"),
        True,
        ["bookworm"],
    )
    (other,) = found["http://other.example.org"]
    assert (other["type"], other["architectures"], other["comps"]) == (
        "deb-src",
        ["amd64", "i386"],
        ["y", "z"],
    )


@pytest.mark.parametrize("read", [apt.read, repo_files.read, conf.read, repositories._lines])
def test_a_list_of_repositories_that_is_too_large_is_refused(
    tmp_path: Path, read: Callable[[str], object]
) -> None:
    path = tmp_path / "x.list"
    path.touch()
    os.truncate(path, 33 << 20)
    with pytest.raises(StateFailed, match="at most 32 MiB are read"):
        read(str(path))
