# SPDX-License-Identifier: Apache-2.0
"""A dry run of files says what the real run will not be allowed to do."""

from __future__ import annotations

import json
import os
import subprocess
import tarfile
import tempfile
from pathlib import Path

import pytest
from as_somebody import SOMEBODY
from command import Machine
from needing import may_mount, needs_root
from starting import PATIENCE

from modules import cmd
from runner.api import CommandFailed

pytestmark = needs_root("to be somebody else")
needs_mounts = pytest.mark.skipif(not may_mount(), reason="needs the right to mount")

SLS = """
{tmp}/site/rewritten:
  file.managed: [contents: new]
{tmp}/site/given:
  file.managed: [contents: new, user: root]
{tmp}/site/new/deep/file:
  file.managed: [contents: new, makedirs: true]
{tmp}/site/dir:
  file.directory: [mode: '0700']
{tmp}/site/mode:
  file.managed: [mode: '0600', replace: false]
{tmp}/site/gone:
  file.absent: []
{tmp}/site/appended:
  file.append: [text: more]
{tmp}/site/link:
  file.symlink: [target: /etc/passwd]
{tmp}/site/touched:
  file.touch: []
{tmp}/site/copies:
  file.recurse: [source: 'salt://files']
{tmp}/site/moved:
  file.rename: [source: '{tmp}/site/from']
{tmp}/site/open.ini:
  ini.options_present: [sections: {a: {b: 1}}]
{tmp}/site/theirs:
  file.tidied: [matches: [tidy], rmdirs: false]
{tmp}/site/theirs-kept:
  file.retention_schedule: [retain: {most_recent: 1}, strptime_format: '%Y']
{tmp}/site/theirs/pruned:
  file.pruned: [recurse: true]
{tmp}/own/file:
  file.managed: [contents: new]
{tmp}/own/link:
  file.append: [text: more]
"""
READ_ONLY = 'mount --bind {0} {0}; mount -o remount,ro,bind {0}; exec "$@"'


@pytest.fixture
def site(machine: Machine) -> Path:
    site = machine.folder / "site"
    (site / "dir").mkdir(parents=True)
    for name in ("rewritten", "mode", "gone", "appended", "touched", "from", "open.ini"):
        (site / name).write_text("")
    site.chmod(0o755)
    theirs = """
        theirs theirs-kept theirs-kept/2001 theirs-kept/2002 theirs/pruned theirs/pruned/empty
    """.split()
    for name in theirs:
        (site / name).mkdir()
    (site / "theirs/tidy").touch()
    files = machine.folder / "states/files"
    files.mkdir()
    (files / "one").write_text("1")
    (machine.folder / "own").mkdir()
    (machine.folder / "own/link").symlink_to(machine.folder / "own/linked")
    (machine.folder / "own/linked").write_text("")
    for path in (
        *(site / name for name in theirs),
        site / "theirs/tidy",
        machine.folder / "own",
        machine.folder / "own/linked",
    ):
        os.chown(path, 65534, 65534)
    machine.write(all=SLS)
    return site


def wrapped(machine: Machine, prefix: list[str], *words: str) -> dict[str, bool | None]:
    """The results by name, of a runner that something is put before."""
    # runner keeps its files only where nobody but the caller and root can write
    cache = machine.folder / "cache"
    cache.mkdir(exist_ok=True)
    os.chown(cache, *((65534, 65534) if prefix == SOMEBODY else (0, 0)))
    argv = [*prefix, *machine.argv(*words, "--out", "json")]
    done = subprocess.run(
        argv, capture_output=True, text=True, env=machine.environment, timeout=PATIENCE
    )
    assert "Traceback" not in done.stdout + done.stderr, done.stderr
    found = json.loads(done.stdout)["local"].values()
    return {each["name"].removeprefix(f"{machine.folder}/"): each["result"] for each in found}


def compare(machine: Machine, prefix: list[str]) -> list[str]:
    """The names that a dry run says will fail, and that fail in the real one."""
    dry = wrapped(machine, prefix, "sls", "all", "--test")
    real = wrapped(machine, prefix, "sls", "all")
    refused = [name for name, result in dry.items() if result is False]
    assert refused == [name for name, result in real.items() if result is False]
    return refused


def test_a_plain_user(machine: Machine, site: Path) -> None:
    refused = compare(machine, SOMEBODY)
    named = [line[6:-1] for line in SLS.split("\n") if line.startswith("{tmp}/site")]
    assert refused == [name for name in named if "theirs" not in name]


def test_a_plain_user_in_a_folder_of_his_own_with_files_of_others(
    machine: Machine, site: Path
) -> None:
    os.chown(site, 65534, 65534)
    names = {"rewritten", "given", "dir", "mode", "appended", "touched", "open.ini"}
    assert set(compare(machine, SOMEBODY)) == {f"site/{name}" for name in names}


def test_a_plain_user_in_a_sticky_folder(machine: Machine, site: Path) -> None:
    site.chmod(0o1777)
    names = set("rewritten given dir mode gone appended touched moved open.ini".split())
    assert set(compare(machine, SOMEBODY)) == {f"site/{name}" for name in names}


@needs_mounts
def test_a_read_only_mount(machine: Machine, site: Path) -> None:
    refused = compare(machine, ["unshare", "-m", "sh", "-c", READ_ONLY.format(site), "sh"])
    assert len(refused) == 15
    assert all(name.startswith("site/") for name in refused)


def test_immutable_files_and_folders(machine: Machine, site: Path) -> None:
    hard = [site / name for name in ("rewritten", "mode", "gone", "dir")]
    try:
        if subprocess.run(["chattr", "+i", *hard], capture_output=True, check=False).returncode:
            pytest.skip("this file system has no immutable files")
        assert compare(machine, []) == ["site/rewritten", "site/dir", "site/mode", "site/gone"]
    finally:
        subprocess.run(["chattr", "-i", *hard], capture_output=True, check=False)


LOCKED = """
{tmp}/site/theirs:
  file.absent: []
{tmp}/site/appended:
  file.append: [text: more]
{tmp}/site/touched:
  file.touch: []
{tmp}/site/rewritten:
  file.managed: [contents: new, attrs: '']
"""


def test_what_is_locked_in_a_folder_append_only_or_unlocked_by_the_state(
    machine: Machine, site: Path
) -> None:
    locks = {"theirs/tidy": "i", "appended": "a", "touched": "a", "rewritten": "i"}
    try:
        for name, lock in locks.items():
            argv = ["chattr", f"+{lock}", site / name]
            if subprocess.run(argv, capture_output=True, check=False).returncode:
                pytest.skip("this file system has no immutable files")
        machine.write(all=LOCKED)
        assert compare(machine, []) == ["site/theirs", "site/appended", "site/touched"]
    finally:
        for name in locks:
            subprocess.run(["chattr", "-ia", site / name], capture_output=True, check=False)


IN_LOG = """
{tmp}/log/file:
  file.managed: [contents: new]
{tmp}/log/link:
  file.symlink: [target: /x]
{tmp}/log/folder:
  file.directory: []
{tmp}/log/old:
  file.append: [text: new]
"""


@pytest.mark.parametrize(("lock", "kind"), [("i", "immutable"), ("a", "append-only")])
def test_what_nobody_may_change_is_named_with_its_cure(
    machine: Machine, lock: str, kind: str
) -> None:
    """A folder that is append-only takes new folders, and no file that is renamed."""
    log = machine.folder / "log"
    log.mkdir()
    (log / "old").write_text("old\n")
    machine.write(all=IN_LOG)
    try:
        if subprocess.run(["chattr", f"+{lock}", log], capture_output=True, check=False).returncode:
            pytest.skip("this file system has no immutable files")
        fails = ["file", "link", *(["folder"] if lock == "i" else []), "old"]
        cure = f"is {kind} (root can: chattr -{lock} {log})"
        for words in (["--test"], []):
            results = machine.results("sls", "all", *words, code=2)
            failed = {each["name"]: each for each in results.values() if each["result"] is False}
            assert [*failed] == [f"{log}/{name}" for name in fails]
            assert all(each["comment"].endswith(cure) for each in failed.values()), failed
            assert all(len(each.get("warnings", ())) < 2 for each in failed.values())
    finally:
        subprocess.run(["chattr", f"-{lock}", log], capture_output=True, check=False)
    assert {path.name for path in log.iterdir()} == {"file", "link", "folder", "old"}.difference(
        fails
    ) | {"old"}


@needs_mounts
def test_an_archive_for_a_read_only_mount(machine: Machine, site: Path) -> None:
    with tarfile.open(machine.folder / "a.tar", "w") as archive:
        archive.add(machine.folder / "own/linked", "new")
    options = "source: '{tmp}/a.tar', enforce_toplevel: false"
    machine.write(all=f"{{tmp}}/site/dir: {{archive.extracted: [{options}]}}")
    refused = compare(machine, ["unshare", "-m", "sh", "-c", READ_ONLY.format(site), "sh"])
    assert refused == ["site/dir"]


def test_root_may(machine: Machine, site: Path) -> None:
    assert compare(machine, []) == []


CHECKED = """
{tmp}/no program:
  file.managed: [contents: x, check_cmd: no-such-program -t]
{tmp}/refused:
  file.managed: [contents: x, check_cmd: grep --count hello]
{tmp}/refused data:
  file.serialize: [dataset: {a: 1}, check_cmd: grep --count hello]
{tmp}/accepted:
  file.managed: [contents: hello, check_cmd: grep --count hello]
{tmp}/no folder:
  file.managed: [contents: hello, check_cmd: 'true', tmp_dir: '{tmp}/none']
{tmp}/refused elsewhere:
  file.managed: [contents: x, check_cmd: test /path -ef, tmp_dir: '{tmp}/own', tmp_ext: .conf]
{tmp}/unchanged:
  file.managed: [contents: x, check_cmd: 'false']
"""
PENDING = """
unrelated:
  file.managed: [name: '{tmp}/unrelated']
included:
  file.managed: [name: '{tmp}/included', contents: x]
{tmp}/no program:
  file.managed: [contents: x, check_cmd: no-such-program -t]
{tmp}/refused:
  file.managed: [contents: x, check_cmd: grep -q hello, require: [file: included]]
{tmp}/checks:
  file.managed: [contents: '#!/bin/sh', mode: '0755']
{tmp}/by a script to come:
  file.managed: [contents: x, check_cmd: '{tmp}/checks']
"""


def test_new_contents_are_checked_in_a_dry_run_too(machine: Machine) -> None:
    (machine.folder / "unchanged").write_text("x\n")
    (machine.folder / "own").mkdir()
    own = (machine.folder / "own").stat().st_mtime_ns
    machine.write(all=CHECKED, after="brings:\n  cmd.run:\n    - name: env true\n" + CHECKED)
    undecided = wrapped(machine, [], "sls", "after", "--test")
    assert (undecided["no program"], undecided["refused"]) == (None, None)
    dry = machine.results("sls", "all", "--test", code=2)
    assert (machine.folder / "own").stat().st_mtime_ns == own, "nothing was made there"
    real = machine.results("sls", "all", code=2)
    comments = {key: (each["result"], each["comment"]) for key, each in real.items()}
    comments = {os.path.basename(key): comment for key, comment in comments.items()}
    assert comments["refused"] == (False, "check_cmd execution failed\n0")
    for key, each in dry.items():
        name = os.path.basename(key)
        if name in ("accepted", "refused elsewhere"):  # the verdict of a tmp_dir may be another
            assert (each["result"], bool(each["changes"])) == (None, True)
        else:
            assert (each["result"], each["comment"]) == comments[name]
    assert comments["accepted"][0] and comments["unchanged"][0]
    assert (comments["no folder"][0], comments["refused elsewhere"][0]) == (False, False)


def test_a_check_that_a_pending_state_may_change_is_undecided(machine: Machine) -> None:
    machine.write(all=PENDING)
    dry = {
        os.path.basename(key): each["comment"].rpartition(" (")[2]
        for key, each in machine.results("sls", "all", "--test", code=2).items()
        if each["result"] is None
    }
    assert dry.keys() == {"unrelated", "included", "checks", "by a script to come"}


SYSTEM = """
{tmp}/kept:
  sysctl.present: [name: net.ipv4.ip_default_ttl, value: 65, config: /etc/sysctl.d/65-kept.conf]
somebody-new: group.present
somebody-else: user.present
bash: pkg.purged
Europe/Vaduz: timezone.system
a-name-of-ours: {host.present: [ip: 192.0.2.1]}
"""


def test_what_a_plain_user_may_not_do_to_the_system(machine: Machine, site: Path) -> None:
    machine.write(system=SYSTEM)
    assert set(wrapped(machine, SOMEBODY, "sls", "system", "--test").values()) == {False}


AFTER = """
opens:
  {}
{tmp}/site/rewritten:
  file.managed: [contents: new]
"""


@pytest.mark.parametrize(
    "before",
    ["cmd.run: [name: env true]", "file.directory: [name: '{tmp}/site', mode: '0777']"],
    ids=["cmd", "file"],
)
def test_what_an_earlier_state_may_open_is_not_refused(
    machine: Machine, site: Path, before: str
) -> None:
    os.chown(site / "rewritten", 65534, 65534)
    os.chown(site, 65534, 65534)
    machine.write(after=AFTER.replace("{}", before, 1))
    site.chmod(0o500)
    assert wrapped(machine, SOMEBODY, "sls", "after", "--test")["site/rewritten"] is None, before
    assert wrapped(machine, SOMEBODY, "sls", "all", "--test")["site/rewritten"] is False


def test_a_plain_user_is_told_of_their_own_crontab(machine: Machine) -> None:
    for action, what in (("install", "put a line into"), ("remove", "take the line out of")):
        argv = [*SOMEBODY, *machine.argv("schedule", action)]
        done = subprocess.run(argv, capture_output=True, text=True, env=machine.environment)
        assert (done.returncode, done.stdout) == (1, "")
        assert f"hint: as a user, take --user, or {what} `crontab -e`" in done.stderr


def test_the_runs_of_a_schedule_are_about_what_was_asked(machine: Machine) -> None:
    words = ("--id", "web 1", "--saltenv", "dev", "--pillarenv", "base", "--state-tree", "/a")
    argv = [*SOMEBODY, *machine.argv("schedule", "install", *words, "--pillar-tree", "/b")]
    done = subprocess.run(argv, capture_output=True, text=True, env=machine.environment)
    expected = "--id 'web 1' --saltenv dev --pillarenv base --state-tree /a --pillar-tree /b\n"
    assert expected in done.stderr


def test_a_plain_user_runs_commands_as_nobody_else(machine: Machine, site: Path) -> None:
    machine.write(
        all="{tmp}/a:\n  cmd.run: [name: 'true', runas: root]\n"
        "{tmp}/b:\n  cmd.run: [name: 'echo', group: root]\n"
        "{tmp}/d:\n  cmd.run: [name: 'echo 1', runas: nobody, group: nogroup]\n"
    )
    assert compare(machine, SOMEBODY) == ["true", "echo"]
    with tempfile.TemporaryDirectory() as closed:
        os.seteuid(65534)
        try:
            with pytest.raises(CommandFailed, match='" cannot be entered: Permission denied'):
                cmd.refuse_surroundings(closed, None, None, None)
        finally:
            os.seteuid(0)


def test_a_folder_of_which_only_a_part_can_be_removed(machine: Machine) -> None:
    folder = machine.folder / "d"
    (folder / "sub").mkdir(parents=True)
    for number in range(20):
        (folder / "sub" / str(number)).touch()
    kept = folder / "sub" / os.listdir(folder / "sub")[-1]  # what comes last when it is removed
    if subprocess.run(["chattr", "+i", kept], check=False).returncode:
        pytest.skip("this file system has no immutable files")
    machine.write(a="{tmp}/d: file.absent\n")
    try:
        (dry,) = machine.results("sls", "a", "--test", code=2).values()
        (real,) = machine.results("sls", "a", code=2).values()
        (again,) = machine.results("sls", "a", code=2).values()
    finally:
        subprocess.run(["chattr", "-i", kept], check=True)
    assert dry["result"] is False and dry["changes"] == {}
    assert real["comment"].endswith(f"; part of what {folder} held is removed")
    assert real["changes"] == {"removed": str(folder)} and real["result"] is False
    assert "part of" not in again["comment"] and again["changes"] == {}


CRONTAB = """#!/bin/sh
# as cron's: a plain user may only use his own, and where it lies he may not write
own={folder}/cache/tab
if [ "$1" = -u ]; then
  [ $(id -u) = 0 ] || {{ echo "must be privileged to use -u" >&2; exit 1; }}
  shift 2
fi
case $1 in
  -l) cat $own 2>/dev/null || {{ echo "no crontab for $(id -un)" >&2; exit 1; }} ;;
  -h) exit 1 ;;
  *) cat >$own ;;
esac
"""
CRON = """
job:
  cron.present: [name: /bin/true]
own job:
  cron.present: [name: /bin/false, user: nobody]
variable:
  cron.env_present: [name: MAILTO, value: ann]
old:
  cron.absent: [name: /bin/old]
"""


def test_the_crontab_of_a_plain_user_is_his_own(machine: Machine) -> None:
    tools = machine.folder / "tools"
    tools.mkdir()
    (tools / "crontab").write_text(CRONTAB.format(folder=machine.folder))
    (tools / "crontab").chmod(0o755)
    machine.environment["PATH"] = f"{tools}:{machine.environment['PATH']}"
    machine.write(all=CRON)
    dry = wrapped(machine, SOMEBODY, "sls", "all", "--test")
    assert dry == {"/bin/true": None, "/bin/false": None, "MAILTO": None, "/bin/old": True}
    assert set(wrapped(machine, SOMEBODY, "sls", "all").values()) == {True}
    assert "MAILTO=ann" in (machine.folder / "cache/tab").read_text()
    assert set(wrapped(machine, SOMEBODY, "sls", "all", "--test").values()) == {True}
    machine.write(all="other:\n  cron.present: [name: /bin/x, user: root]\n")
    assert wrapped(machine, SOMEBODY, "sls", "all", "--test") == {"/bin/x": False}


BEHIND = """
pending:
  cmd.run: [name: '{command}']
{tmp}/site/theirs:
  file.managed: [contents: new]
{tmp}/own/mine:
  file.managed: [contents: new]
{tmp}/own/locked/mine:
  file.managed: [contents: new]
{tmp}/own/given:
  file.managed: [contents: new, user: root]
net.ipv4.ip_default_ttl:
  sysctl.present: [value: 65, persist: false]
{tmp}/own:
  mount.mounted: [device: none, fstype: tmpfs, persist: false]
"""


@pytest.mark.parametrize(
    ("command", "denied"),
    [
        ("sh deploy", {"site/theirs", "own/given", "net.ipv4.ip_default_ttl", "own"}),
        ("sudo chown nobody /srv", set()),
    ],
)
def test_rights_that_no_pending_command_can_give(
    machine: Machine, command: str, denied: set[str]
) -> None:
    (machine.folder / "site").mkdir()
    (machine.folder / "own/locked").mkdir(parents=True)
    os.chown(machine.folder / "own", 65534, 65534)
    machine.write(all=BEHIND.replace("{command}", command))
    dry = wrapped(machine, SOMEBODY, "sls", "all", "--test")
    assert {name for name, result in dry.items() if result is False} == denied


READ_ONLY_SYS = (
    "mount -t proc proc /proc; mount --bind /proc/sys /proc/sys;"
    ' mount -o remount,ro,bind /proc/sys; exec "$@"'
)


@needs_mounts
def test_a_read_only_proc_sys(machine: Machine) -> None:
    machine.write(all="net.ipv4.ip_default_ttl:\n  sysctl.present: [value: 65, persist: false]\n")
    unshared = ["unshare", "-m", "--fork", "sh", "-c", READ_ONLY_SYS, "sh"]
    assert compare(machine, unshared) == ["net.ipv4.ip_default_ttl"]


def test_a_file_in_the_place_of_a_folder(machine: Machine) -> None:
    (machine.folder / "states/d").mkdir()
    (machine.folder / "states/d/a").write_text("a")
    (machine.folder / "out/a").mkdir(parents=True)
    machine.write(all="{tmp}/out:\n  file.recurse: [source: 'salt://d', clean: true]\n")
    assert compare(machine, []) == []
