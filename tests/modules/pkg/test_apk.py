# SPDX-License-Identifier: Apache-2.0
"""apk by an executable that plays apk-tools 2.14, and its files; there is no apk on Debian."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from harness import HarnessHere, apply, look

from modules import pkg
from modules.pkg.apk import database as apk_database
from modules.pkg.apk import provider as apk
from modules.pkg.apk import repositories as apk_repositories
from runner.api import Plan, StateFailed, changes_allowed, running
from states import pkg as states
from states import pkgrepo

# the packages are lines of a file; nginx needs pcre; the lock is a file
PLAYED = """#!/bin/sh
echo "$*" >>{tmp}/calls
while case $1 in --no-progress) true;; --wait) shift;; --simulate) dry=1;; *) false;; esac
do shift; done
action=$1; shift
if test -e {tmp}/locked; then
    echo 'ERROR: Unable to lock database: temporary error (try again later)' >&2
    echo 'ERROR: Failed to open apk database: temporary error (try again later)' >&2; exit 99
fi
there() {{ grep -q "^$1-[0-9]" {tmp}/world; }}
case $action in
info) cat {tmp}/world ;;
update) echo 'OK: 2 distinct packages available' ;;
policy) for name; do case $name in nginx|pcre)
    printf '%s policy:\\n  1.26.2-r0:\\n    https://example.org/main\\n' $name
    esac; done ;;
add) for word; do case $word in
    --|--upgrade) ;;
    nginx) for name in pcre nginx; do if ! there $name; then
        echo "(1/1) Installing $name (1.26.2-r0)"
        test "$dry" || echo $name-1.26.2-r0 >>{tmp}/world
        elif grep -q $name-1.26.1-r0 {tmp}/world; then
        echo "(1/1) Upgrading $name (1.26.1-r0 -> 1.26.2-r0)"
        test "$dry" || sed -i s/$name-1.26.1-r0/$name-1.26.2-r0/ {tmp}/world
        fi; done ;;
    *) echo 'ERROR: unable to select packages:' >&2; echo "  $word (no such package):" >&2
        echo "    required by: world[$word]" >&2; exit 1 ;;
    esac; done ;;
del) for name; do if test $name = pcre && there nginx; then
    echo 'World updated, but the following packages are not removed due to:'
    echo '  pcre: nginx'
    elif there $name; then
    echo "(1/1) Purging $name (1.26.2-r0)"
    test "$dry" || sed -i /^$name-/d {tmp}/world
    fi; done ;;
esac
"""


@pytest.fixture
def played(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    (tmp_path / "bin").mkdir()
    (tmp_path / "world").write_text("busybox-1.36.1-r28\n")
    program = tmp_path / "bin/apk"
    program.write_text(PLAYED.format(tmp=tmp_path))
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:/usr/bin:/bin")
    monkeypatch.setattr(apk, "DATABASE", str(tmp_path / "world"))
    yield tmp_path


def here(dry: bool = False) -> HarnessHere:
    return HarnessHere(
        opts={"test": dry, "config_dir": "/nowhere", "providers": {"pkg": "apkpkg"}}, dry=dry
    )


def both(function: Any, **arguments: Any) -> Any:
    """The changes of the real run, which are those of the dry run; a second run plans nothing."""
    plan = look(function, **arguments, current=here(dry=True))
    done = apply(function, **arguments, current=here())
    assert plan.changes == done.changes
    assert not isinstance(look(function, **arguments, current=here(dry=True)), Plan)
    return done.changes


def test_packages_come_and_go(played: Path) -> None:
    new = {"old": "", "new": "1.26.2-r0"}
    assert both(states.installed, name="nginx") == {"pcre": new, "nginx": new}
    refused = "not removed due to: pcre: nginx"
    for current in (here(dry=True), here()):
        with pytest.raises(StateFailed, match=refused):
            apply(states.removed, name="pcre", current=current)
    gone = {"nginx": {"old": "1.26.2-r0", "new": ""}}
    assert both(states.removed, name="nginx") == gone
    assert (played / "world").read_text() == "busybox-1.36.1-r28\npcre-1.26.2-r0\n"


def test_what_the_world_has_beside_the_declared_goes(
    played: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The world asks for busybox, which is vital, pcre, which nginx needs, and for old."""
    (played / "world").write_text(
        "busybox-1.36.1-r28\nnginx-1.26.2-r0\npcre-1.26.2-r0\nold-1.0-r0\n"
    )
    (played / "asked").write_text("busybox\npcre>1.0\nold@edge\n")
    monkeypatch.setattr(apk, "WORLD", str(played / "asked"))
    with running(here()), changes_allowed():
        manager = pkg.provider()
        assert manager.manually_installed() == ["busybox", "pcre", "old"]
        simulated = manager.simulate_marks(("old", "pcre"), ("nginx",))
        assert simulated.changes == {"old": {"old": "1.26.2-r0", "new": ""}}
        assert "pcre" in manager.list_pkgs()
        manager.mark(("old", "pcre"), ("nginx",))
        assert [*manager.list_pkgs()] == ["busybox", "nginx", "pcre"]
    assert "add -- nginx\n" in (played / "calls").read_text()


def test_the_newest_version_is_not_fixed_in_the_world(played: Path) -> None:
    (played / "world").write_text("nginx-1.26.1-r0\npcre-1.26.2-r0\n")
    changes = both(states.latest, name="nginx")
    assert changes == {"nginx": {"old": "1.26.1-r0", "new": "1.26.2-r0"}}
    assert "add --upgrade -- nginx\n" in (played / "calls").read_text()


def test_failures_say_what_to_do(played: Path) -> None:
    with running(here()):
        told = (
            pkg.provider().simulate(pkg.Transaction("install", (pkg.PackageTarget("no"),))).refusal
        )
    assert told == (
        "errors:\n    - unable to select packages: no (no such package): required by: world[no]"
        "\n    - no repository has it: renew the package lists (refresh: True), or add the"
        " repository that has it (community, say) with pkgrepo.managed"
    )
    (played / "locked").touch()
    with running(here()):
        told = (
            pkg.provider()
            .simulate(pkg.Transaction("install", (pkg.PackageTarget("nginx"),)))
            .refusal
        )
    assert "another apk has the database (waited 300 seconds)" in told


def test_it_has_no_holds(played: Path) -> None:
    problem = "needs the feature holdable, which the provider apk"
    with running(here()), pytest.raises(StateFailed, match=problem):
        pkg.hold("nginx")


@pytest.fixture
def files(played: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(apk_repositories, "MAIN", str(played / "repositories"))
    monkeypatch.setattr(apk_repositories, "FOLDER", str(played / "repositories.d"))
    monkeypatch.setattr(apk_repositories, "KEYS", str(played / "keys"))
    (played / "repositories").write_text("# mine\nhttps://example.org/main\n#/media/usb/apks\n")
    (played / "key.rsa.pub").write_text("a key\n")
    return played / "repositories"


def test_repositories_are_lines_and_keys_are_files(files: Path) -> None:
    key = f"{files.parent}/key.rsa.pub"
    both(pkgrepo.managed, name="@edge https://example.org/edge", key_url=[key])
    assert files.read_text().endswith("#/media/usb/apks\n@edge https://example.org/edge\n")
    assert (files.parent / "keys/key.rsa.pub").read_text() == "a key\n"
    changed = both(pkgrepo.managed, name="/media/usb/apks", disabled=False)
    assert changed == {"line": {"old": "#/media/usb/apks", "new": "/media/usb/apks"}}
    both(pkgrepo.managed, name="https://example.org/main", disabled=True)
    assert "#https://example.org/main\n" in files.read_text()
    with running(here()):
        known = apk_repositories.list_repos()["https://example.org/edge"][0]
    assert (known["tag"], known["enabled"]) == ("edge", True)
    apply(pkgrepo.absent, name="https://example.org/edge", current=here())
    assert "edge" not in files.read_text()
    assert files.read_text().startswith("# mine\n")


def test_what_is_no_repository_is_refused(files: Path) -> None:
    for arguments, problem in (
        ({"name": "nonsense"}, "no repository of apk"),
        ({"name": "/x", "key_text": "a"}, "key_text needs signedby"),
    ):
        with pytest.raises(StateFailed, match=problem):
            look(pkgrepo.managed, **arguments, current=here(dry=True))


def test_details_come_from_the_database(tmp_path: Path) -> None:
    database = tmp_path / "installed"
    database.write_text(
        "C:Q1abc=\nP:musl\nV:1.2.5-r0\nA:x86_64\nI:667648\nT:the C library\nL:MIT\n"
        "t:1720000000\nF:lib\nR:ld.so\n\nP:zlib\nV:1.3.1-r1\n\n"
    )
    with running(HarnessHere()):
        known = apk_database.read(str(database))
    assert known["zlib"] == {"name": "zlib", "version": "1.3.1-r1"}
    assert known["musl"]["build_date"] == "2024-07-03T09:46:40Z"
    assert known["musl"]["description"] == "the C library"
