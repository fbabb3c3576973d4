# SPDX-License-Identifier: Apache-2.0
"""From paths to watches of the kernel, and from events back to who is interested."""

from __future__ import annotations

import os
import select
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from runner.model.paths import lies_in
from runner.tools.watch import interests as tried
from runner.tools.watch.fanotify import Authors
from runner.tools.watch.inotify import OVERFLOW, Inotify, NoMoreWatches, Told
from runner.tools.watch.interests import Interests
from runner.tools.watch.mounts import Polled
from runner.tools.watch.watched_by import Look, watched_by

LATER = time.time() + 1e6  # nothing is news


class Watching:
    """Interests in paths, with what the kernel tells."""

    def __init__(self) -> None:
        self.watches, self.authors = Inotify(), Authors()
        self.interests = Interests(self.watches, self.authors)

    def take(self, **looks: Look) -> None:
        self.interests.update({who: [look] for who, look in looks.items()}, LATER)

    def touched(self) -> set[str]:
        """Whose looks were touched since this was asked last. The kernel tells at once."""
        return {*self.interests.touched(self.watches.events())}


@pytest.fixture
def watching() -> Iterator[Watching]:
    made = Watching()
    yield made
    made.watches.close()
    made.authors.close()


def test_each_way_to_alter_a_file_is_told(tmp_path: Path, watching: Watching) -> None:
    file = tmp_path / "file"
    (tmp_path / "near").touch()
    watching.take(a=("path", str(file)), b=("path", str(tmp_path / "near")))
    file.write_text("made")
    assert watching.touched() == {"a"}
    watching.take(a=("path", str(file)))
    for alter in (
        lambda: file.write_text("more"),
        lambda: file.chmod(0o600),
        lambda: (tmp_path / "near").replace(file),
    ):
        alter()
        assert watching.touched() == {"a"}
        watching.take(a=("path", str(file)))
    file.unlink()
    assert watching.touched() == {"a"}
    (tmp_path / "elsewhere").touch()
    assert watching.touched() == set()


def test_links_on_the_way_are_watched_with_what_they_lead_to(
    tmp_path: Path, watching: Watching
) -> None:
    for name in "one", "two":
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").touch()
    (tmp_path / "link").symlink_to("one")
    (tmp_path / "round").symlink_to("round")
    watching.take(a=("path", f"{tmp_path}/link/file"), b=("path", f"{tmp_path}/round/x"))
    (tmp_path / "two/file").write_text("nobody's")
    assert watching.touched() == set()
    (tmp_path / "one/file").write_text("a's")
    assert watching.touched() == {"a"}
    (tmp_path / "new").symlink_to("two")
    os.replace(tmp_path / "new", tmp_path / "link")
    assert watching.touched() == {"a"}


def test_folders_tell_of_their_names_and_trees_of_all_below(
    tmp_path: Path, watching: Watching
) -> None:
    (tmp_path / "below/.git").mkdir(parents=True)
    (file := tmp_path / "below/file").touch()
    place = str(tmp_path)
    watching.take(
        folder=("folder", place), below=("folder", f"{place}/below"), tree=("tree", place)
    )
    file.write_text("contents")
    assert watching.touched() == {"tree"}
    (tmp_path / "below/new").touch()
    assert watching.touched() == {"tree", "below"}
    (tmp_path / "below/.git/index").touch()
    assert watching.touched() == set()
    (tmp_path / "new").touch()
    assert watching.touched() == {"tree", "folder"}


def test_of_a_state_tree_the_names_count(tmp_path: Path, watching: Watching) -> None:
    for name in "own", "below":
        (tmp_path / name).mkdir()
    (file := tmp_path / "below/log").touch()
    watching.interests.own = frozenset([f"{tmp_path}/own"])
    watching.take(tree=("sources", str(tmp_path)))
    file.write_text("more")
    for passing in ".web.sls.swp", "4913", "web.sls~", "#web.sls#", ".#web.sls", "__pycache__":
        (tmp_path / "below" / passing).touch()
    (tmp_path / "own/lock").touch()
    assert watching.touched() == set()
    (tmp_path / "below/new.sls").touch()
    assert watching.touched() == {"tree"}
    (tmp_path / "below/new.sls").unlink()
    assert watching.touched() == {"tree"}


def test_what_changed_before_it_was_watched_is_told(tmp_path: Path, watching: Watching) -> None:
    looked = time.time() - 1
    (tmp_path / "there").touch()
    looks: dict[str, list[Look]] = {
        "there": [("path", f"{tmp_path}/there")],
        "gone": [("path", f"{tmp_path}/gone")],
        "old": [("path", str(tmp_path))],
    }
    assert {*watching.interests.update(looks, looked)} == {"there", "gone"}
    assert not watching.interests.update(looks, looked)  # it is watched since


def test_a_kernel_that_lost_events_touches_everybody(watching: Watching) -> None:
    watching.take(a=("path", "/a/b"), b=("folder", "/"))
    assert watching.interests.touched([Told(-1, OVERFLOW, "")]).keys() == {"a", "b"}


def test_what_there_are_no_watches_for_is_named(
    tmp_path: Path, watching: Watching, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()

    def few(self: Inotify, path: str, mask: int) -> int | None:
        if path == f"{tmp_path}/file":
            raise NoMoreWatches
        return 1

    monkeypatch.setattr(Inotify, "watch", few)
    watching.take(a=("path", f"{tmp_path}/file"), b=("path", f"{tmp_path}/other"))
    assert watching.interests.unwatched == {"a"}


def test_watches_that_are_given_back_go_to_who_had_none(
    tmp_path: Path, watching: Watching, monkeypatch: pytest.MonkeyPatch
) -> None:
    (file := tmp_path / "file").touch()
    watch, most = Inotify.watch, len(file.parts)

    def few(self: Inotify, path: str, mask: int) -> int | None:
        number = watch(self, path, mask)
        told = Path(f"/proc/self/fdinfo/{self.descriptor}").read_text()
        if number is not None and told.count("inotify wd:") > most:
            self.forget(number)
            raise NoMoreWatches
        return number

    monkeypatch.setattr(Inotify, "watch", few)
    (tmp_path / "one").touch()
    watching.take(a=("path", str(tmp_path / "one")), b=("path", str(file)))
    (lacking,) = watching.interests.unwatched
    other = {"a": "b", "b": "a"}[lacking]
    name = {"a": "one", "b": "file"}[lacking]
    watching.take(**{lacking: ("path", str(tmp_path / name))})
    assert other not in watching.interests.unwatched
    watching.take(**{lacking: ("path", str(tmp_path / name))})
    assert not watching.interests.unwatched
    (tmp_path / name).write_text("more")
    assert watching.touched() == {lacking}


def test_what_is_mounted_over_is_followed_when_it_is_said_where(
    tmp_path: Path, watching: Watching, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in "below", "new":
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").touch()
    looks: dict[str, list[Look]] = {
        "a": [("path", f"{tmp_path}/below/file")],
        "b": [("path", f"{tmp_path}/other")],
    }
    watching.interests.update(looks, LATER)
    watch, place = Inotify.watch, f"{tmp_path}/below"

    def mounted(self: Inotify, path: str, mask: int) -> int | None:
        return watch(self, path.replace(place, f"{tmp_path}/new"), mask)

    monkeypatch.setattr(Inotify, "watch", mounted)
    assert not watching.interests.update(looks, LATER)
    watching.interests.look_again([place])
    assert {*watching.interests.update(looks, LATER)} == {"a"}
    (tmp_path / "new/file").write_text("more")
    assert watching.touched() == {"a"}


def test_only_folders_that_come_or_go_in_a_tree_have_it_followed_anew(
    tmp_path: Path, watching: Watching, monkeypatch: pytest.MonkeyPatch
) -> None:
    walked = []
    folders = Interests._folders
    monkeypatch.setattr(
        Interests, "_folders", lambda *args: (walked.append(args), folders(*args))[1]
    )
    watching.take(a=("tree", str(tmp_path)))
    (tmp_path / "file").touch()
    assert watching.touched() == {"a"}
    watching.take(a=("tree", str(tmp_path)))
    assert len(walked) == 1
    (tmp_path / "folder").mkdir()
    assert watching.touched() == {"a"}
    watching.take(a=("tree", str(tmp_path)))
    assert len(walked) == 2
    (tmp_path / "folder/file").touch()
    assert watching.touched() == {"a"}


def test_a_tree_that_is_too_large_is_named(
    tmp_path: Path, watching: Watching, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tried, "MOST_FOLDERS", 3)
    for name in "abc":
        (tmp_path / name).mkdir()
    watching.take(a=("tree", str(tmp_path)))
    assert watching.interests.unwatched == {"a"}


def test_who_changes_a_file_is_named(tmp_path: Path, watching: Watching) -> None:
    """To root alone; to others nobody is."""
    file, folder, authors = tmp_path / "file", tmp_path / "folder", watching.authors
    file.touch()
    folder.mkdir()
    watching.take(a=("path", str(file)), b=("folder", str(folder)), c=("tree", str(tmp_path / "t")))
    here = f" by pid {os.getpid()} ({Path('/proc/self/comm').read_text().rstrip()})"
    is_named = authors.descriptor >= 0

    def by(path: Path) -> str:
        authors.read()
        return authors.of([str(path)])

    def changed_by_another(line: str) -> str:
        words = ["sh", "-c", f"echo $$; {line}"]
        done = subprocess.run(words, cwd=tmp_path, check=True, stdout=subprocess.PIPE, text=True)
        return f" by pid {done.stdout.strip()}"

    file.write_text("other")
    (folder / "new").touch()
    assert by(file) == by(folder / "new") == (here if is_named else "")
    assert by(file) == ""  # it is told once
    for line in ("exec chmod 600 file", "exec mv folder/new file"):
        assert changed_by_another(line) == by(file) or not is_named
    watching.take()
    file.write_text("more")
    assert by(file) == ""


def test_what_was_moved_away_wakes_nobody(tmp_path: Path, watching: Watching) -> None:
    """A log that is rotated, say, and written on."""
    file, elsewhere, authors = tmp_path / "log", tmp_path / "elsewhere", watching.authors
    elsewhere.mkdir()
    look = ("path", str(file))

    def is_told() -> bool:
        poll = select.poll()
        poll.register(watching.watches.descriptor, select.POLLIN)
        if authors.descriptor >= 0:
            poll.register(authors.descriptor, select.POLLIN)
        told = bool(poll.poll(0))
        watching.touched()
        authors.read()
        return told

    for place in (tmp_path / "log.1", elsewhere / "log.2"):
        with file.open("w") as log:
            watching.take(a=look)
            file.rename(place)
            assert is_told()
            watching.take(a=look)
            log.write("more")
            log.flush()
            is_told()  # at most once
            log.write("more")
            log.flush()
            assert not is_told()
    file.write_text("new")
    assert is_told()
    watching.take(a=look)
    authors.of([str(file)])
    file.write_text("other")
    authors.read()
    assert authors.descriptor < 0 or authors.of([str(file)]), "it is marked again"


def test_of_folders_that_come_and_go_nothing_is_kept(tmp_path: Path, watching: Watching) -> None:
    look = ("tree", str(tmp_path))
    watching.take(a=look)
    for number in range(100):
        folder = tmp_path / str(number)
        folder.mkdir()
        watching.touched()
        watching.take(a=look)
        folder.rmdir()
        watching.touched()
        watching.take(a=look)
    kept = len([*tmp_path.parents]) + 1
    for named in (watching.authors._keys, watching.authors._masks, watching.interests._numbers):
        assert len(named) <= kept


def test_what_no_kernel_tells_of_is_polled(tmp_path: Path, watching: Watching) -> None:
    file, tree = tmp_path / "file", tmp_path / "tree"
    file.touch()
    tree.mkdir()
    watching.take(a=("path", str(file)), b=("tree", str(tree)))

    def polled(folder: Path = tmp_path) -> set[str]:
        return {*watching.interests.poll(lambda path: lies_in(path, str(folder)))}

    assert polled() == set()
    assert watching.interests.polls
    for change, who in (
        (lambda: file.write_text("1"), {"a"}),
        (lambda: file.chmod(0o600), {"a"}),
        (lambda: (tree / "new").touch(), {"b"}),
        (lambda: (tree / "new").write_text("12"), {"b"}),
        ((tree / "new").unlink, {"b"}),
        ((tmp_path / "near").touch, set()),
        (file.unlink, {"a"}),
    ):
        change()
        assert (polled(), polled()) == (who, set())
    assert polled(tmp_path / "elsewhere") == set()
    assert not watching.interests.polls


@pytest.mark.parametrize(
    ("kind", "options", "is_polled"),
    [
        ("nfs4", "rw,addr=10.0.0.1", True),
        ("fuse.sshfs", "rw", True),
        ("9p", "rw", True),
        ("fuseblk", "rw", False),
        ("ext4", "rw", False),
        ("overlay", "rw,lowerdir={here}/low:/usr,upperdir=/u,workdir=/w", True),
        ("overlay", "rw,lowerdir+={here}/low", True),
        ("overlay", "rw,lowerdir=/var/lib/containers/1:/x,upperdir=/u,workdir=/w", False),
        ("overlay", "rw,lowerdir=/srv:/x,upperdir=/u,workdir=/w", False),  # what lies in itself
    ],
)
def test_file_systems_that_others_change_are_polled(
    tmp_path: Path, kind: str, options: str, is_polled: bool
) -> None:
    (tmp_path / "low").mkdir()
    lines = [
        "20 1 8:1 / / rw - ext4 /dev/sda1 rw",
        "21 20 0:8 / /srv rw - nfs server:/ rw",
        f"22 21 0:9 / /srv rw shared:1 - {kind} name {options.format(here=tmp_path)}",
    ]
    polled = Polled(line.encode() for line in lines)
    assert (polled.has("/srv/a"), polled.has("/usr")) == (is_polled, False)
    kinds = watched_by([("path", "/srv/a"), ("program", "sh")], polled.has).kinds
    assert ("polled" in kinds) is is_polled


def test_what_lies_below_a_mount_is_no_more_where_it_was() -> None:
    lines = [
        "20 1 8:1 / / rw - ext4 /dev/sda1 rw",
        "21 20 8:2 / /srv/data rw - ext4 /dev/sda2 rw",
        "22 21 8:3 / /srv/data/deep rw - ext4 /dev/sda3 rw",
        "23 20 0:8 / /srv rw - nfs server:/ rw",
        "24 23 8:4 / /srv/own rw - ext4 /dev/sda4 rw",
    ]
    polled = Polled(line.encode() for line in lines)
    paths = ("/srv/data/a", "/srv/data/deep/a", "/srv/a", "/srv/own/a", "/srv2")
    assert [polled.has(path) for path in paths] == [True, True, True, False, False]


def test_watches_and_memory_do_not_grow(tmp_path: Path, watching: Watching) -> None:
    file = tmp_path / "file"
    for number in range(2000):
        (tmp_path / "new").write_text(str(number))
        os.replace(tmp_path / "new", file)
        assert watching.touched() == ({"a"} if number else set())
        watching.take(a=("path", str(file)))
    number = watching.watches.descriptor
    info = Path(f"/proc/self/fdinfo/{number}").read_text()
    assert info.count("inotify wd:") == len(file.parts)


@pytest.mark.parametrize(
    ("looks", "kinds"),
    [
        ([], ("timer",)),
        ([("path", "/etc/motd")], ("paths",)),
        ([("path", "/etc/passwd"), ("program", "getent")], ("accounts",)),
        ([("program", "dpkg-query")], ("packages",)),
        ([("program", "systemctl nginx.service")], ("units",)),
        ([("program", "systemctl list-units")], ("units",)),
        ([("path", "/proc/self/mountinfo")], ("mounts",)),
        ([("path", "/sys/class/net/lo/flags"), ("path", "/proc/net/route")], ("network",)),
        ([("program", "ip")], ("network", "timer")),
        ([("path", "/proc/sys/net"), ("path", "/a")], ("paths", "timer")),
        ([("program", "psql"), ("server", "/run/x.sock")], ("timer",)),
    ],
)
def test_what_tells_of_what_looks_asked_for(looks: list[Look], kinds: tuple[str, ...]) -> None:
    by = watched_by(looks)
    assert by.kinds == kinds
    assert by.is_certain is ("timer" not in kinds)
    assert by.network is ("network" in kinds)
    assert by.mounts is ("mounts" in kinds)


def test_settings_of_the_kernel_are_told_in_part() -> None:
    """What programs write to them, and not what the kernel does by itself."""
    by = watched_by(
        [("path", "/proc/sys/vm/swappiness"), ("tree", "/sys"), ("path", "/proc/swaps")]
    )
    assert by.places == (("path", "/proc/sys/vm/swappiness"),)
    assert by.kinds == ("timer",)
