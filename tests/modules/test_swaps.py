# SPDX-License-Identifier: Apache-2.0
"""What another user does to a path while it is changed does not become root's deed.

A folder belongs to Mallory (uid 1). She replaces a target, a folder above it, or what is being made
by a link to the victim's files, by a pipe, or by a file of root's that lies in her folder: before a
changer is called, and at each call of the system that it makes. What the link leads to, and root's
file, stay as they are.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import io
import os
import pkgutil
import signal
import stat
import subprocess
import sys
import tarfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from harness import HarnessHere
from needing import needs_root, require
from starting import SCRIPT

import modules
from modules import archive, cp, file, git
from modules.databases.mysql import _server as mysql_server
from modules.formats import augeas, xml
from modules.languages import virtualenv
from modules.storage import disk
from runner.api import CommandFailed, StateFailed, changer, changes_allowed, running
from runner.api.planning import changes_planned
from runner.history import snapshots
from runner.language.salt.utils import files as salt_files
from runner.language.salt.utils.atomicfile import atomic_open
from runner.sources import bundle
from runner.support.own_modules import known_as

pytestmark = needs_root()
MALLORY = 1
# what changes a device: it writes to its last argument, whatever that leads to
WRITES = """#!/bin/sh
for last; do :; done
test "$1" = --parsable || echo formatted > "$last"
"""


@pytest.fixture(autouse=True)
def here(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[HarnessHere]:
    monkeypatch.setattr(os, "fsync", lambda handle: None)  # no power is cut here
    for program in ("mkfs.recorded", "wipefs"):
        (tmp_path / program).write_text(WRITES)
        (tmp_path / program).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    current = HarnessHere()
    with running(current), changes_allowed():
        yield current


class Ground:
    """Mallory's folder with a target in it, and what she is after."""

    def __init__(self, top: Path) -> None:
        self.victim, self.mallory = top / "victim", top / "mallory"
        self.folder = self.mallory / "d"
        self.target = self.folder / "f"
        self.source = top / "source"
        for folder in (self.victim, self.victim / "sub", self.mallory, self.folder):
            folder.mkdir(parents=True)
        for path in (self.victim / "f", self.victim / "sub/f", self.target, self.source):
            path.write_text(f"<a>{path.parent.name}</a>")
        for path in (self.victim / "f", self.source):
            path.chmod(0o600)
        for path in (self.mallory, self.folder, self.target):
            os.chown(path, MALLORY, MALLORY)
        self.secret, self.private = self.folder / "secret", self.folder / "private"
        self.secret.write_text("root's")
        self.private.mkdir(mode=0o700)
        (self.private / "inner").write_text("root's")
        self.secret.chmod(0o600)
        self._roots = {path.stat().st_ino: _facts(path)[:3] for path in (self.secret, self.private)}
        self._before = self._victims()

    def _victims(self) -> list[object]:
        paths = sorted([self.victim, *self.victim.rglob("*")])
        return [
            (path, _facts(path), path.read_bytes() if path.is_file() else b"") for path in paths
        ]

    def harm(self) -> list[object]:
        """Return what has changed of the victim's, and of root's file and folder, wherever they
        have been moved to.
        """
        changed: list[object] = [each for each in self._victims() if each not in self._before]
        if len(self._victims()) < len(self._before):
            changed.append("something was removed")
        for path in self.mallory.rglob("*"):
            was = self._roots.get(path.lstat().st_ino)
            now = _facts(path)[:3]  # the number may be used again, for something else
            if was and was != now and stat.S_IFMT(was[0]) == stat.S_IFMT(now[0]):
                changed.append(path)
        return changed

    # what she does

    def link_target(self) -> None:
        self._away(self.target)
        self._link(self.target, self.victim / "f")

    def dangling_target(self) -> None:
        self._away(self.target)
        self._link(self.target, self.victim / "new")

    def link_folder(self) -> None:
        self._away(self.folder)
        self._link(self.folder, self.victim)

    def link_to_a_folder(self) -> None:
        self._away(self.target)
        self._link(self.target, self.victim / "sub")

    def pipe(self) -> None:
        self._away(self.target)
        os.mkfifo(self.target)

    def links_for_what_is_made(self) -> None:
        for path in self._made():
            self._away(path)
            self._link(path, self.victim / ("sub" if path.is_dir() else "f"))

    def own_file_for_what_is_made(self) -> None:
        for path in self._made():
            if self.secret.exists() and self.private.exists():
                other = self.private if path.is_dir() and not path.is_symlink() else self.secret
                self._away(path)
                other.rename(path)

    def _made(self) -> list[Path]:
        with suppress(OSError):
            return [
                each
                for each in self.folder.iterdir()
                if each.name.startswith(".") or each.name == "made"
            ]
        return []

    def _away(self, path: Path) -> None:
        if os.path.lexists(path):
            path.rename(self.mallory / f"aside-{len(os.listdir(self.mallory))}")

    def _link(self, path: Path, says: Path) -> None:
        path.symlink_to(says)
        os.lchown(path, MALLORY, MALLORY)


def _facts(path: Path) -> tuple[int, int, int, int]:
    at = path.lstat()
    return at.st_mode, at.st_uid, at.st_gid, at.st_mtime_ns


Call = Callable[[Ground], object]
SWAPS: dict[str, Callable[[Ground], None]] = {
    name: getattr(Ground, name)
    for name in """
        link_target dangling_target link_folder link_to_a_folder pipe links_for_what_is_made
        own_file_for_what_is_made
    """.split()
}
CALLS: dict[str, tuple[Call, ...]] = {
    "file.write": (
        lambda g: file.write(str(g.target), b"new", mode="0644", user=MALLORY, group=MALLORY),
        lambda g: file.write(str(g.target), b"new", backup="minion"),
        lambda g: file.write(str(g.folder / "made"), b"new", user=MALLORY),
    ),
    "file.remove": (lambda g: file.remove(str(g.target)), lambda g: file.remove(str(g.folder))),
    "file.discard": (lambda g: file.discard(str(g.target)), lambda g: file.discard(str(g.folder))),
    "file.remove_folder": (lambda g: file.remove_folder(str(g.folder / "private")),),
    "file.mkdir": (
        lambda g: file.mkdir(str(g.folder / "made"), mode="0777", user=MALLORY, group=MALLORY),
        lambda g: file.mkdir(str(g.folder / "made"), mode="0755"),
    ),
    "file.makedirs": (
        lambda g: file.makedirs(str(g.folder / "made/in/it"), mode="0777", user=MALLORY),
    ),
    "file.symlink": (lambda g: file.symlink("/nowhere", str(g.folder / "made")),),
    "file.put_symlink": (lambda g: file.put_symlink("/nowhere", str(g.target), MALLORY, MALLORY),),
    "file.link": (lambda g: file.link(str(g.source), str(g.folder / "made")),),
    "file.set_mode": (
        lambda g: file.set_mode(str(g.target), "0666"),
        lambda g: file.set_mode(str(g.target), "0666", follow=False),
    ),
    "file.chown": (
        lambda g: file.chown(str(g.target), MALLORY, MALLORY),
        lambda g: file.chown(str(g.target), MALLORY, MALLORY, follow=False),
    ),
    "file.utime": (lambda g: file.utime(str(g.target), 1, 1),),
    "file.mknod": (lambda g: file.mknod(str(g.folder / "made"), "p", mode="0666"),),
    "file.set_attributes": (lambda g: file.set_attributes(str(g.target), "+d"),),
    "file.rename": (
        lambda g: file.rename(str(g.target), str(g.folder / "made")),
        lambda g: file.rename(str(g.source), str(g.target)),
    ),
    "file.copy": (
        lambda g: file.copy(str(g.source), str(g.target), preserve=True),
        lambda g: file.copy(str(g.source), str(g.folder / "made"), mode="0644", user=MALLORY),
        lambda g: file.copy(str(g.victim), str(g.folder / "made"), preserve=True),
    ),
    "file.put_back": (
        lambda g: file.put_back(str(g.target), "file", 0o644, MALLORY, MALLORY, data=b"old"),
        lambda g: file.put_back(str(g.folder / "made"), "dir", 0o777, MALLORY, MALLORY),
        lambda g: file.put_back(str(g.target), "link", 0, MALLORY, MALLORY, target="/nowhere"),
        lambda g: file.put_back(str(g.target), "none"),
    ),
    "archive.unpack": (
        lambda g: unpack_and(g, archive.discard),
        lambda g: unpack_and(g, archive.discard, "--exclude=x"),
    ),
    "archive.place": (
        lambda g: unpack_and(
            g, lambda found: archive.place(found, str(g.folder), MALLORY, MALLORY)
        ),
    ),
    "archive.discard": (lambda g: unpack_and(g, archive.discard),),
    "archive.zip_": (lambda g: archive.zip_(str(g.target), [str(g.source)]),),
    "augeas.write": (
        lambda g: augeas.write([augeas.AugeasEdit(str(g.target), b"<a>d</a>", b"new")]),
        lambda g: augeas.write([augeas.AugeasEdit(str(g.target), b"<a>d</a>", None)]),
        lambda g: augeas.write([augeas.AugeasEdit(str(g.folder / "made"), None, b"new")]),
    ),
    "xml.set_value": (lambda g: xml.set_value(str(g.target), ".", "new"),),
    "xml.set_attribute": (lambda g: xml.set_attribute(str(g.target), ".", "b", "new"),),
    "disk.format_": (lambda g: disk.format_(str(g.target), "recorded", force=True),),
    "cp.get_file": (lambda g: cp.get_file(f"file://{g.source}", str(g.target)),),
}


def unpack_and(ground: Ground, then: Callable[[archive.Unpacked], object], *options: str) -> None:
    """Unpack an archive beside a folder of Mallory's, with what she owns in it."""
    packed = ground.victim.parent / "a.tar"
    with tarfile.open(packed, "w") as tar:
        for name, kind, mode in (
            ("sub", tarfile.DIRTYPE, 0o777),
            ("sub/f", tarfile.REGTYPE, 0o666),
        ):
            info = tarfile.TarInfo(name)
            info.type, info.mode, info.uid = kind, mode, MALLORY
            tar.addfile(info)
        for name in ("f", "made"):
            info = tarfile.TarInfo(name)
            info.mode, info.size = 0o666, 3
            tar.addfile(info, io.BytesIO(b"new"))
    then(
        archive.unpack(
            str(packed), str(ground.folder), "tar", user=MALLORY, group=MALLORY, options=options
        )
    )


_hook: list[Callable[[], None]] = []


@sys.addaudithook
def _audited(event: str, args: tuple[object, ...]) -> None:
    """Call the hook of this moment, before a call of the system that is about some file; not for
    imports.
    """
    if _hook and event.startswith(("open", "os.", "shutil.")):
        if not str(args[0] if args else "").endswith((".py", ".pyc", ".so")):
            _hook[0]()


def attempt(
    call: Call, ground: Ground, swap: Callable[[Ground], None] | None = None, at: int = 0
) -> int:
    """Call a changer, which may fail; how many audited calls it made. swap: done at the call of
    this number.
    """
    made = 0

    def count() -> None:
        nonlocal made
        made += 1
        if swap and made == at:
            hooked = _hook.pop()
            swap(ground)
            _hook.append(hooked)

    _hook.append(count)
    signal.signal(signal.SIGALRM, hangs)
    signal.alarm(20)
    try:
        with suppress(StateFailed, CommandFailed, OSError):
            call(ground)
    finally:
        signal.alarm(0)
        _hook.clear()
    return made


def hangs(*_: object) -> None:
    pytest.fail("it hangs")


CASES = [(name, index) for name, calls in CALLS.items() for index in range(len(calls))]


@pytest.mark.parametrize("swap", SWAPS)
@pytest.mark.parametrize(("name", "index"), CASES, ids=[f"{name}-{index}" for name, index in CASES])
def test_a_swap_does_not_reach_what_is_not_hers(
    tmp_path: Path, name: str, index: int, swap: str
) -> None:
    call = CALLS[name][index]
    calls = attempt(call, Ground(tmp_path / "count"))
    assert calls > 0
    for at in range(0, calls + 1, 1 + calls // 40):
        ground = Ground(tmp_path / str(at))
        if at == 0:
            SWAPS[swap](ground)
        attempt(call, ground, SWAPS[swap], at)
        assert not ground.harm(), f"at call {at} of {calls}"


def test_the_attacks_would_be_seen(tmp_path: Path) -> None:
    """A changer that goes by the path alone is caught by them."""
    naive: dict[str, Call] = {
        "link_target": lambda g: g.target.chmod(0o666),
        "link_folder": lambda g: g.target.write_text("new"),
        "dangling_target": lambda g: g.target.write_text("new"),
    }
    for swap, call in naive.items():
        ground = Ground(tmp_path / swap)
        attempt(call, ground, SWAPS[swap], 1)
        assert ground.harm(), swap
    ground = Ground(tmp_path / "made")

    def make(ground: Ground) -> None:
        (ground.folder / "made").mkdir()
        (ground.folder / "made").chmod(0o777)

    attempt(make, ground, SWAPS["own_file_for_what_is_made"], 2)
    assert ground.harm()


# ---------------------------------------------------------------- which links are followed


def linked(
    tmp_path: Path,
    link_owner: int,
    target_owner: int,
    folder_owner: int = MALLORY,
    mode: int = 0o755,
) -> Path:
    """A link in a folder, and a file that it leads to."""
    folder, target = tmp_path / "hers", tmp_path / "target"
    folder.mkdir()
    target.write_text("old")
    os.chown(target, target_owner, 0)
    (folder / "link").symlink_to(target)
    os.lchown(folder / "link", link_owner, 0)
    os.chown(folder, folder_owner, 0)
    folder.chmod(mode)
    return folder / "link"


@pytest.mark.parametrize(
    ("link_owner", "target_owner", "folder_owner", "mode", "follows"),
    [
        (MALLORY, 0, MALLORY, 0o755, False),
        (MALLORY, 2, MALLORY, 0o755, False),
        (MALLORY, MALLORY, MALLORY, 0o755, True),
        (0, 0, MALLORY, 0o755, True),
        (0, 2, MALLORY, 0o755, True),
        (MALLORY, 0, 0, 0o755, True),
        (MALLORY, 0, 0, 0o1777, False),
        (MALLORY, 0, 0, 0o775, False),
    ],
)
def test_a_link_is_followed_when_its_owner_could_write_there_himself(
    tmp_path: Path, link_owner: int, target_owner: int, folder_owner: int, mode: int, follows: bool
) -> None:
    link = linked(tmp_path, link_owner, target_owner, folder_owner, mode)
    changes: list[Callable[[], object]] = [
        lambda: file.write(str(link), b"new"),
        lambda: file.set_mode(str(link), "0640"),
        lambda: file.chown(str(link), 3, 3),
    ]
    if not follows:
        for change in [
            lambda: file.read_bytes(str(link)),
            lambda: file.real_path(str(link)),
            *changes,
        ]:
            with pytest.raises(
                StateFailed, match=rf"{link} is a symbolic link of daemon to .*: it is not followed"
            ):
                change()
        assert _facts(tmp_path / "target")[:3] == (stat.S_IFREG | 0o644, target_owner, 0)
        return
    assert file.real_path(str(link)) == str(tmp_path / "target")
    for change in changes:
        change()
    assert (tmp_path / "target").read_text() == "new"
    assert _facts(tmp_path / "target")[:3] == (stat.S_IFREG | 0o640, 3, 3)


def test_a_dangling_link_is_followed_into_a_folder_of_its_owner_only(tmp_path: Path) -> None:
    home, other = tmp_path / "home", tmp_path / "other"
    for folder in (home, home / "own", other):
        folder.mkdir()
    for folder in (home, home / "own"):
        os.chown(folder, MALLORY, MALLORY)
    for name, says in (("in", home / "own/new"), ("out", other / "new")):
        (home / name).symlink_to(says)
        os.lchown(home / name, MALLORY, MALLORY)
    file.write(str(home / "in"), b"x")
    assert (home / "own/new").read_bytes() == b"x"
    with pytest.raises(StateFailed, match="not followed"):
        file.write(str(home / "out"), b"x")
    assert not (other / "new").exists()


def test_a_link_in_the_middle_and_one_behind_another(tmp_path: Path) -> None:
    home = tmp_path / "home"
    (home / "a/b").mkdir(parents=True)
    (home / "a/b/f").write_text("old")
    (home / "one").symlink_to("a")
    (home / "a/two").symlink_to("../one/b/../b")
    for path in (home, home / "a", home / "a/b", home / "a/b/f", home / "one", home / "a/two"):
        os.lchown(path, MALLORY, MALLORY)
    assert file.real_path(f"{home}/one/two/f") == f"{home}/a/b/f"
    assert file.real_path(f"{home}/one/two/new/../er") == f"{home}/a/b/er"
    assert file.read_bytes(f"{home}/one/two/f") == b"old"
    os.chown(home / "a/b", 2, 2)
    with pytest.raises(StateFailed, match=f"{home}/a/two is a symbolic link of daemon"):
        file.read_bytes(f"{home}/one/two/f")


def test_links_in_a_circle_end(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(StateFailed, match="Too many levels of symbolic links"):
        file.set_mode(f"{tmp_path}/a/f", "0644")


def test_a_hard_link_to_the_file_of_somebody_else_is_not_given_away(tmp_path: Path) -> None:
    protected = Path("/proc/sys/fs/protected_hardlinks")
    if protected.exists() and protected.read_text().strip() == "1":
        pytest.skip("the kernel lets nobody make such links")
    (tmp_path / "secret").write_text("root's")
    (tmp_path / "hers").mkdir()
    os.chown(tmp_path / "hers", MALLORY, MALLORY)
    os.link(tmp_path / "secret", tmp_path / "hers/f")
    with pytest.raises(StateFailed, match="2 hard links"):
        file.chown(f"{tmp_path}/hers/f", MALLORY, MALLORY)
    assert (tmp_path / "secret").stat().st_uid == 0


# ---------------------------------------------------------------- all of them


# the changers without an attack, by the reason: a new one has to be put into CALLS or here
WITHOUT: dict[str, str] = {
    "no path of a file": (
        """
        alternatives.change apache.act at.add at.atrm cron.remove cron.write debconf.set_answer
        debconf.forget_answer debconf.put_back locale.regenerate
        environ.setenv
        firewalld.change group.add_member group.groupadd group.groupdel group.groupmod
        group.remove_member group.set_members ip.run_tool ipset.change
        iptables.change kmod.load kmod.remove mount.swapoff mount.swapon nftables.change
        mysql.alter_db network.wol mysql.change mysql.db_create mysql.db_remove mysql.grant_add
        mysql.grant_revoke mysql.query mysql.user_chpass mysql.user_create mysql.user_remove
        pkg.download pkg.hold pkg.import_key pkg.mark pkg.patch pkg.renew_db
        pkg.run pkg.set_module_stream rabbitmq.change rabbitmq.change_plugin
        redis.bgrewriteaof redis.bgsave redis.config_set redis.delete
        redis.expire redis.expireat redis.flushall redis.flushdb redis.hdel redis.hincrby redis.hset
        redis.hsetnx redis.save redis.set_key redis.slaveof
        pkg.trust_repository postgres.change postgres.cluster_create
        postgres.cluster_remove postgres.db_create postgres.db_remove postgres.group_create
        postgres.user_create postgres.user_remove postgres.user_update ps._send selinux.remove_semod
        selinux.port_change_policy selinux.setsebools selinux.setsemod service.act
        service.read_anew service.reload_units shadow.del_password
        supervisord._change
        shadow.lock_password shadow.put_password shadow.set_days shadow.set_password
        shadow.unlock_password
        sysctl.assign system._shutdown timezone.set_hwclock ufw.change user.set_linger
        user.useradd user.userdel
        user.usermod"""
    ),
    "only attributes of the kernel below /sys": "sysfs._set",
    "only files of root in /etc, with file.write": (
        "aliases._write ip.configure ip.put ip.put_source locale.drop_locale locale.gen_locale"
        " network.mod_hostname"
        " raid._forget raid.save_config"
    ),
    "calls another changer of this list for each file": (
        "augeas.execute cp._copy cp.get_dir cp.get_template pkg.override ssh.generate swap.remove"
    ),
    "only root's own database, by its program": "dconf.update pkg.drop_override pkg.undivert",
    "where others could replace it, it refuses": "file.set_capabilities swap.make",
    "goes by blockdev.held, as disk.format_ does": (
        "luks.add_key luks.format_ luks.open_ luks.set_label"
        " disk.make_file_system disk.resize2fs disk.wipe"
    ),
    "devices by their nodes in /dev, where only root makes any": (
        "disk.tune luks.close lvm.carry_out raid.carry_out"
    ),
    "in a mount of its own, where no link is followed": (
        "btrfs.change btrfs.create btrfs.set_properties"
    ),
    "the user's own command, or a program that finds its own way below a folder": (
        """
        acme.cert
        _machine.change archive._run cmd.execute cmd.execute_shell composer.change dconf.reset
        dconf.write docker.act file.apply_patch pkg.divert
        fonts.refresh git.change gpg._import gpg.create_key gpg.delete_key
        gpg.receive gpg.receive_keys service.carry_out
        gpg.trust_key mount.mount mount.remount mount.umount npm._change npm.cache_clean
        pip._answer pip.change postgres.datadir_init sdb.change virtualenv.create"""
    ),
    "a program that only reads a file": (
        "apparmor.load apparmor.unload"
        " debconf.set_file mysql.file_query mysql.run_script selinux.install_semod"
    ),
    "a request to the engine, which finds its own way": (
        """
        docker.build docker.connect_container_to_network docker.create docker.create_network
        docker.create_volume docker.disconnect_container_from_network docker.kill docker.load
        docker.make docker.pause docker.pull docker.put_in_place docker.remove_network
        docker.remove_volume docker.rename docker.restart docker.retcode docker.rm docker.rmi
        docker.run docker.run_all docker.run_container docker.run_made docker.run_stderr
        docker.run_stdout docker.signal docker.start docker.stop docker.tag docker.unpause"""
    ),
    "needs setfacl, tried on the throw-away machine": "acl.delfacl acl.modfacl acl.wipefacls",
}


def changers() -> set[str]:
    """The names of all functions in `modules` that change the machine, as module.function."""
    return {name for name, _ in functions_of_changers()}


def functions_of_changers() -> Iterator[tuple[str, Callable[..., object]]]:
    for found in pkgutil.walk_packages(modules.__path__, "modules."):
        for value in vars(importlib.import_module(found.name)).values():
            if (
                getattr(type(value), "__name__", "") == "function"
                and "changes_the_machine" in value.__dict__
            ):
                inner = inspect.unwrap(value)
                module = known_as(inner.__module__).partition(".")[0]
                yield f"{module}.{value.__name__}", inner


def test_every_changer_has_its_attacks() -> None:
    without = {name for names in WITHOUT.values() for name in names.split()}
    assert not without & set(CALLS)
    assert changers() == set(CALLS) | without


def test_the_history_names_what_a_changer_changes_and_not_the_contents(here: HarnessHere) -> None:
    secret = "hunter2"

    @changer
    def change(target: object, password: str = "") -> None: ...

    edit = augeas.AugeasEdit("/etc/f", b"", secret.encode())
    server = mysql_server.MysqlServer("db", password=secret)
    for target in ("/f", {"PASSWORD": secret}, [edit], edit, server, ["git", "clone"]):
        change(target)
        change(password=secret, target=target)
    names = [event.target for event in here.events]
    assert names[::2] == names[1::2]
    assert names[::2] == ["/f", "PASSWORD", "/etc/f", "/etc/f", "db", "['git', 'clone']"]
    unnamed = {"text", "contents", "content", "data", "instr", "password", "value", "query"}
    assert not {name for name, first in first_arguments() if first in unnamed}


def first_arguments() -> Iterator[tuple[str, str]]:
    """Each changer with the name of its first argument, which an event shows."""
    for name, function in functions_of_changers():
        yield name, next(iter(inspect.signature(function).parameters), "")


def test_a_source_that_others_can_change_is_copied_before_it_is_verified(tmp_path: Path) -> None:
    ground = Ground(tmp_path)
    assert file.unchangeable(str(ground.source)) == str(ground.source)
    for hers in (ground.target, ground.secret):  # what is root's in her folder can be replaced, too
        text = hers.read_text()
        copy = file.unchangeable(str(hers))
        hers.write_text("another")
        assert Path(copy).read_text() == text
        assert Path(copy).stat().st_uid == 0


def test_a_dry_run_reads_nothing_through_a_link_made_since(tmp_path: Path) -> None:
    ground = Ground(tmp_path)
    with running(HarnessHere(dry=True)), changes_planned():
        file.set_mode(str(ground.target), "0644")
        ground.link_folder()
        with pytest.raises(StateFailed, match="symbolic link"):
            file.read_bytes(str(ground.target))


def test_the_history_gives_no_contents_of_one_file_to_the_owner_of_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ground, opened = Ground(tmp_path), snapshots._regular
    assert snapshots.at(str(ground.target)).content

    def swapped(path: str) -> int:
        ground.link_folder()
        return opened(path)

    monkeypatch.setattr(snapshots, "_regular", swapped)
    former = snapshots.at(str(ground.target))
    assert (former.uid, former.content) == (MALLORY, "")


def _fpopened(ground: Ground) -> None:
    with salt_files.fpopen(str(ground.folder / "made"), "w", uid=MALLORY, mode=0o644):
        pass


def _replaced(ground: Ground) -> None:
    with atomic_open(str(ground.target)) as made:
        made.write("new")


# what writes into a folder that somebody has named, and is no changer
WRITERS: dict[str, Call] = {
    "bundle": lambda g: bundle.build(str(g.folder / "runner.tar")),
    "fpopen": _fpopened,
    "atomic_open": _replaced,
    "copyfile": lambda g: salt_files.copyfile(str(g.source), str(g.target)),
}


@pytest.mark.parametrize("name", WRITERS)
def test_what_is_made_for_a_folder_of_others_may_be_swapped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(bundle, "contents", dict)
    for at in range(attempt(WRITERS[name], Ground(tmp_path / "count")) + 1):
        ground = Ground(tmp_path / str(at))
        present = {*ground.folder.iterdir()}

        def swap(ground: Ground, present: set[Path] = present) -> None:
            for path in {*ground.folder.iterdir()} - present:
                ground._away(path)
                ground._link(path, ground.victim / "f")

        attempt(WRITERS[name], ground, swap, at)
        assert not ground.harm(), f"at call {at}"


SSH = """{script}
import os
os.chdir("{folder}")
for name in os.listdir():
    if name not in ("f", "secret", "private"):
        os.rename(name, f"../{{name}}-aside")
        os.symlink("{victim}", name)
        os.lchown(name, 1, 1)
raise SystemExit(1)
"""


@pytest.mark.parametrize("there", [False, True])
def test_a_clone_that_fails_removes_nothing_else(tmp_path: Path, there: bool) -> None:
    """git removes all that is at the path of a clone then, wherever that leads meanwhile."""
    ground = Ground(tmp_path / "ground")
    if there:
        (ground.folder / "made").mkdir()
    ssh = SSH.format(script=SCRIPT, folder=ground.folder, victim=ground.victim)
    (tmp_path / "ssh").write_text(ssh)
    (tmp_path / "ssh").chmod(0o755)
    with pytest.raises(CommandFailed, match="Could not read from remote repository") as failure:
        git.change(["clone", "--", "ssh://host/repository", f"{ground.folder}/made"])
    assert not ground.harm()
    assert "Cloning into" in failure.value.message and "/proc/" not in failure.value.message


def test_a_clone_into_a_folder_of_others_is_what_git_makes(tmp_path: Path) -> None:
    ground = Ground(tmp_path / "ground")
    made = repository(tmp_path / "origin")
    clones = ground.folder / "new", ground.folder / "there"
    clones[1].mkdir(mode=0o750)
    for clone in clones:
        os.chown(ground.folder, MALLORY, 2)
        ground.folder.chmod(0o2755)
        assert f"Cloning into '{clone}'" in git.change(["clone", "--", str(made), str(clone)])
        assert git.look(["rev-parse", "HEAD"], str(clone)) == git.look(
            ["rev-parse", "HEAD"], str(made)
        )
        assert git.look(["config", "core.worktree"], str(clone)) is None
    assert (clones[0].stat().st_gid, stat.S_IMODE(clones[0].stat().st_mode)) == (2, 0o2755)
    assert stat.S_IMODE(clones[1].stat().st_mode) == 0o750
    assert {path.name for path in ground.folder.iterdir()} == {
        "f",
        "secret",
        "private",
        "new",
        "there",
    }
    with pytest.raises(CommandFailed, match="already exists and is not an empty directory"):
        git.change(["clone", "--", str(made), str(clones[0])])


def test_git_works_on_the_repository_that_was_looked_at(tmp_path: Path) -> None:
    def tag(ground: Ground) -> None:
        repository(ground.folder / "made")
        hers.append(repository(ground.victim / "repository"))
        git.change(["tag", "new"], str(ground.folder / "made"))

    def swap(ground: Ground) -> None:
        if hers:
            ground._away(ground.folder / "made")
            ground._link(ground.folder / "made", ground.victim / "repository")

    hers: list[Path] = []
    for at in range(attempt(tag, Ground(tmp_path / "count")) + 1):
        hers.clear()
        attempt(tag, Ground(tmp_path / str(at)), swap, at)
        assert not git.look(["tag"], str(hers[0])), f"at call {at}"


def test_an_environment_is_emptied_where_it_was_looked_at(tmp_path: Path) -> None:
    ground = Ground(tmp_path / "ground")
    ssh = SSH.format(script=SCRIPT, folder=ground.folder, victim=ground.victim)
    (tmp_path / "swap").write_text(ssh)
    python = tmp_path / "python"
    python.write_text(
        f'#!/bin/sh\nset -- "{sys.executable}" "$@"\n'
        f'"$1" {tmp_path}/swap\nexec "$@" --without-pip\n'
    )
    python.chmod(0o755)
    (ground.folder / "made").mkdir()
    (ground.folder / "made/old").touch()
    with suppress(StateFailed):
        virtualenv.create(f"{ground.folder}/made", str(python), clear=True)
    assert (ground.victim / "f").exists() and (ground.victim / "sub/f").exists()
    assert not [*ground.mallory.rglob("old")]


def repository(path: Path) -> Path:
    """A repository of root's with one commit."""
    require("git")
    path.mkdir()
    who = ("-c", "user.name=a", "-c", "user.email=a@example.com")
    for words in (["init", "-q"], [*who, "commit", "-q", "--allow-empty", "-m", "one"]):
        subprocess.run(["git", *words], cwd=path, check=True)
    return path


WRITING = {
    "os": (
        "chmod chown lchmod lchown link makedirs mkdir mkfifo mknod remove removedirs removexattr"
        " rename renames replace rmdir setxattr symlink truncate unlink utime"
    ),
    "shutil": "chown copy copy2 copyfile copymode copystat copytree move rmtree",
}
# files of `modules` that may call these: the mechanism itself, and what is written where nobody
# else can
BY_PATH = {
    "_paths.py": "copies in private folders",
    "_planned/files.py": "the memory of a planned file",
    "file/_paths/private_folder.py": "a private folder",
    "_planned/view.py": "a file system that only a command of a dry run has",
    "file/_paths/place.py": "the mechanism",
    "file/_patching.py": "a private folder",
    "file/_validation/judge.py": "copies in private folders",
    "file/_paths/closed_folders.py": "private folders",
    "file/_unchangeable.py": "a private folder",
    "git/_run.py": "a private folder",
    "asymmetric.py": "a private folder",
    "file/_contents/write.py": "the backups below the state folder",
    "file/_contents/download.py": "the cache folder",
    "file/_validation/check.py": "a temporary file with a name of its own",
    "archive/_extract.py": "a private folder",
    "_machine/scripts.py": "a private folder",
    "pkg/apt/provider.py": "a private folder",
    "pkg/apt/status.py": "a private folder",
    "pkg/rpm/packages.py": "a private folder",
    "pkg/pacman/keys.py": "a private folder",
    "pkg/zypper/provider.py": "a private folder",
    "chrony.py": "a private folder",
    "logrotate.py": "a private folder",
    "languages/virtualenv.py": "the private folder of a dry run",
    "formats/augeas.py": "copies for augtool in a private folder",
    **{
        f"pkg/{manager}/marks.py": "copies of root's notes in a private folder"
        for manager in ("dnf", "pacman", "zypper")
    },
    "service/unit_files.py": "a private folder",
    "service/declared.py": "a private folder",
    "service/quadlets.py": "a private folder",
    "firewalls/_own_network.py": "a private folder",
    "gpg/store.py": "a private folder",
    "ssh/pairs.py": "a private folder",
    "sudo.py": "a private folder",
    "ip/ifupdown.py": "a private folder",
    "ip/netplan.py": "a private folder, and what netplan generates below /run/systemd",
}


def test_paths_are_changed_by_the_one_mechanism() -> None:
    """Whatever else changes a path by its name could be swapped: it uses a place
    (modules/file/_paths/place.py).
    """
    top = Path(modules.__file__).parent
    calls: dict[str, set[str]] = {}
    for path in top.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if name := _writes(node):
                calls.setdefault(str(path.relative_to(top)), set()).add(name)
    assert not {name: found for name, found in calls.items() if name not in BY_PATH}
    assert not BY_PATH.keys() - calls.keys()


def _writes(node: ast.AST) -> str:
    """The library function that changes something at a path; empty for any other line."""
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        return node.attr if node.attr in WRITING.get(node.value.id, "").split() else ""
    if (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "open"
        and len(node.args) > 1
    ):
        mode = node.args[1].value if isinstance(node.args[1], ast.Constant) else ""
        return "open" if set(str(mode)) & set("wax+") else ""
    return ""
