# SPDX-License-Identifier: Apache-2.0
"""What other users of the machine can write is not believed: runner's own folders, trees,
repositories, checkouts.

What needs a second user is tried on a throw-away machine (tests/machine/test_trust.py).
"""

from __future__ import annotations

import os
import struct
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from command import Machine
from needing import require_root

from runner.cli.commands.completion import candidates
from runner.support.files.permissions import flaw
from runner.support.files.trusted_folder import UntrustedFile, trusted_folder

MARK = "x:\n  file.managed:\n    - name: {tmp}/made\n    - contents: '1'\n"


def writable(folder: Path) -> list[str]:
    """Return what others could write there."""
    found = [folder, *folder.rglob("*")]
    return [str(each) for each in found if not each.is_symlink() and each.stat().st_mode & 0o022]


# ---------------------------------------------------------------- runner's own folders


@pytest.mark.parametrize("umask", [0, 0o22, 0o77])
def test_what_runner_makes_is_its_own_whatever_the_umask(machine: Machine, umask: int) -> None:
    machine.write(a=MARK, b="{% do salt['data.update']('a', 1) %}\n")
    where = machine.folder / "new/and/below"
    argv = machine.argv("sls", "a,b")[:-1]
    subprocess.run(
        [*argv, str(where)], env=machine.environment, umask=umask, check=True, capture_output=True
    )
    assert (where / "data.json").exists()
    assert (where / "templates").is_dir()
    assert (where / "state/history.sqlite").exists()
    assert writable(machine.folder / "new") == []
    assert (where / "state").stat().st_mode & 0o777 == 0o700


KEPT_FORMS = ("cache/templates", "cache/parsed", "cache/compiled")


@pytest.mark.parametrize("open_to_others", ["cache", "cache/state", *KEPT_FORMS, "."])
def test_folders_that_others_can_write_are_refused(machine: Machine, open_to_others: str) -> None:
    machine.write(
        a=f"{MARK}{{% for n in range(20) %}}\ns{{{{ n }}}}: test.nop\n{{% endfor %}}"
        + "# as long as what is kept\n" * 200
    )
    machine("sls", "a")
    (machine.folder / "made").unlink()
    folder = (machine.folder / open_to_others).resolve()
    folder.chmod(0o777)
    for command in (("sls", "a"), ("sls", "a", "--test")):
        told = machine(*command, code=1).stderr
        assert f"others can write {folder}" in told
        assert f"chmod go-w {folder}" in told
    assert not (machine.folder / "made").exists()
    if open_to_others not in KEPT_FORMS:
        # what others may have written there is not shown as true, nor undone
        assert f"others can write {folder}" in machine("history", code=1).stderr
        assert f"others can write {folder}" in machine("undo", code=1).stderr
        assert f"others can write {folder}" in machine("show", "pending", code=None).stderr
    folder.chmod(0o755)
    machine("sls", "a")


def test_a_sticky_folder_is_passed_through_but_not_used(machine: Machine) -> None:
    machine.write(a=MARK)
    machine.folder.chmod(0o1777)
    machine("sls", "a")
    (machine.folder / "cache/state").chmod(0o1777)
    assert "others can write" in machine("sls", "a", code=1).stderr


def test_links_to_the_folders_are_followed_where_nobody_else_can_make_them(
    machine: Machine,
) -> None:
    machine.write(a=MARK)
    (machine.folder / "real").mkdir()
    (machine.folder / "cache").symlink_to("real")
    machine("sls", "a")
    assert (machine.folder / "real/state/history.sqlite").exists()
    for number in range(41):
        (machine.folder / f"link{number}").symlink_to(f"link{number - 1}" if number else "real")
    for number, code in ((39, 0), (40, 1)):  # as the kernel counts
        argv = [*machine.argv("sls", "a")[:-1], str(machine.folder / f"link{number}")]
        done = subprocess.run(argv, env=machine.environment, capture_output=True, text=True)
        assert done.returncode == code, done.stderr
    assert "the lock cannot be taken" in done.stderr


def test_a_link_in_such_a_folder_is_told(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(".")
    with pytest.raises(UntrustedFile) as error:
        trusted_folder(str(tmp_path)).below("link")
    assert str(error.value) == f"{tmp_path}/link: it is a link, which is not followed; remove it"


@pytest.mark.parametrize("kind", ["link", "hard link", "pipe", "folder", "0666"])
@pytest.mark.parametrize(
    "name", ["lock", "history.sqlite", "debts.sqlite", "temporaries", "history.sqlite-wal"]
)
def test_what_was_planted_in_a_folder_is_not_used(machine: Machine, name: str, kind: str) -> None:
    """Such as when others could write it for a time."""
    victim = machine.folder / "victim"
    victim.write_text("precious\n")
    machine.write(a=MARK)
    machine("test.nop", code=None)
    path = machine.folder / "cache/state" / name
    path.parent.mkdir(parents=True, mode=0o700)
    plant: dict[str, Callable[[], object]] = {
        "link": lambda: path.symlink_to(victim),
        "hard link": lambda: path.hardlink_to(victim),
        "pipe": lambda: os.mkfifo(path),
        "folder": path.mkdir,
        "0666": lambda: (path.touch(), path.chmod(0o666)),
    }
    plant[kind]()
    done = machine("sls", "a", code=None)
    assert victim.read_text() == "precious\n"
    assert done.returncode in ((1,) if name == "lock" else (0, 2))
    if name.startswith(("lock", "history")):
        assert f"{path}: " in done.stderr
    assert (machine.folder / "made").exists() is (name != "lock")


def test_a_log_is_written_in_a_folder_that_others_can_write(machine: Machine) -> None:
    """Unless it is another file of ours that one of them may have given this name."""
    machine.write(a=MARK)
    machine("test.nop", code=None)
    (machine.folder / "shared").mkdir()
    (machine.folder / "shared").chmod(0o777)
    log = machine.folder / "shared/log"
    words = ["single", "test.nop", "x", "--log-level", "debug", "--log-file", str(log)]
    for _ in range(2):
        machine(*words)
    size = log.stat().st_size
    (machine.folder / "other").hardlink_to(log)
    assert "it has a second name (a hard link)" in machine(*words, code=1).stderr
    assert log.stat().st_size == size


def test_templates_of_others_are_not_loaded(machine: Machine) -> None:
    machine.write(a="x:\n  file.managed:\n    - name: {{ '{tmp}/made' }}\n    - contents: '1'\n")
    machine("sls", "a")
    (pack,) = (machine.folder / "cache/templates").iterdir()
    pack.chmod(0o666)
    before = pack.read_bytes()
    machine("sls", "a")
    assert pack.read_bytes() == before
    pack.chmod(0o600)
    pack.rename(pack.parent / "elsewhere")
    pack.symlink_to("elsewhere")
    machine("sls", "a")


# ---------------------------------------------------------------- the history's revision

GIT = ["git", "-c", "user.name=a", "-c", "user.email=a@example.org"]


@pytest.fixture
def repository(machine: Machine, tmp_path: Path) -> Path:
    """A git repository above the tree, whose configuration has git run a program that leaves a
    mark.
    """
    machine.write(a="x:\n  test.nop: []\n")
    for words in (["init", "-q"], ["add", "states"], ["commit", "-qm", "x"]):
        subprocess.run([*GIT, *words], cwd=tmp_path, check=True)
    for key in ("filter.mark.clean", "core.fsmonitor"):
        program = f"touch {tmp_path}/ran-{key.split('.')[1]}; cat"
        subprocess.run([*GIT, "config", key, program], cwd=tmp_path, check=True)
    (tmp_path / ".git/info/attributes").write_text("* filter=mark\n")
    os.utime(tmp_path / "states/a.sls", (1, 1))  # git reads the file again, through the filter
    return tmp_path


def last_run(machine: Machine) -> tuple[object, object]:
    run, *_ = machine.answer("history")
    return run["revision"], run["dirty"]


def test_the_revision_of_ones_own_tree(machine: Machine, repository: Path) -> None:
    head = subprocess.run(
        [*GIT, "rev-parse", "HEAD"], cwd=repository, capture_output=True, text=True
    ).stdout.strip()
    machine("sls", "a")
    assert last_run(machine)[0] == head
    assert list(repository.glob("ran-*")), "or else the tests below could not fail"
    subprocess.run([*GIT, "pack-refs", "--all"], cwd=repository, check=True)
    subprocess.run([*GIT, "config", "--remove-section", "filter.mark"], cwd=repository, check=True)
    machine("sls", "a", "--test")
    assert last_run(machine) == (head, False)
    machine.write(a="y:\n  test.nop: []\n")
    machine("sls", "a")
    assert last_run(machine) == (head, True)


@pytest.mark.parametrize(
    ("path", "mode"),
    [
        (".", 0o1777),  # as /tmp is; with another one runner would keep no files there
        ("states", 0o1777),
        ("states", 0o777),
        (".git", 0o777),
        (".git", 0o1777),
        (".git/config", 0o666),
    ],
)
def test_git_is_not_asked_where_others_can_write(
    machine: Machine, repository: Path, path: str, mode: int
) -> None:
    (repository / path).chmod(mode)
    machine("sls", "a", "--test")
    assert not list(repository.glob("ran-*"))
    assert last_run(machine)[1] is None


# ---------------------------------------------------------------- completion

MODULE = """
import os
open({mark!r}, "w").close()
__func_alias__ = {{"list_": "list"}}
def greet(name, often=1, **kwargs):
    '''Greet somebody.

    More.'''
    os.abort()
def list_():
    pass
def _private():
    pass
def resources(name):
    pass
"""


@pytest.mark.parametrize(
    ("typed", "wanted"),
    [
        (["single", "+", "hos"], {"host.", "hostile."}),
        (["single", "+", "hostile."], {"hostile.greet", "hostile.list"}),
        (["single", "+", "hostile.greet", ""], {"name=", "often="}),
        (["call", "+", "hostile."], {"hostile.greet", "hostile.list", "hostile.resources"}),
        (["call", "+", "hostile.greet", "n"], {"name="}),
        (["call", "+", "renamed."], {"renamed.greet"}),
        (["doc", "+", "hostile.g"], {"hostile.greet"}),
        (["resource", "+", "hos"], {"host", "hostile"}),
    ],
)
def test_completion_runs_nothing_of_a_checkout(
    machine: Machine, typed: list[str], wanted: set[str]
) -> None:
    mark = machine.folder / "ran"
    for kind in ("_states", "_modules", "_grains", "_utils", "_renderers"):
        folder = machine.folder / "states" / kind
        folder.mkdir(parents=True)
        (folder / "hostile.py").write_text(MODULE.format(mark=str(mark)))
        (folder / "broken.py").write_text("def x(:\n")
    renamed = "__virtualname__ = 'renamed'\n__all__ = ['greet']\n" + MODULE.format(mark=str(mark))
    (machine.folder / "states/_modules/other.py").write_text(renamed)
    where = machine.argv()[-4:]
    words = [part for word in typed for part in (where if word == "+" else [word])]
    assert {value for value, _ in candidates(words)} == wanted
    assert not mark.exists()
    for broken in (machine.folder / "states").rglob("broken.py"):
        broken.unlink()
    machine("call", "renamed.greet", code=None)
    assert mark.exists(), "a module whose function is called runs"


# ---------------------------------------------------------------- what a run reads

FILES = {
    "states/a.sls": (
        "{% set given = grains['ours'] %}\n{% import 'lib.jinja' as lib %}\n{% import_yaml"
        " 'data.yaml' as data %}\ninclude:\n  - b\nx:\n  file.managed:\n    - name: {tmp}/made\n   "
        " - source: salt://motd.jinja\n    - template: jinja\ny:\n  ours.done: []\nz:\n "
        " test.nop:\n    - name: {{ salt['ours.name']() }}\n"
    ),
    "states/b.sls": "b:\n  test.nop: []\n",
    "states/lib.jinja": "{% macro x() %}{% endmacro %}\n",
    "states/data.yaml": "a: 1\n",
    "states/motd.jinja": "hello\n",
    "states/_modules/ours.py": "def name():\n    return 'z'\n",
    "states/_states/ours/__init__.py": (
        "from .inner import answer\ndef done(name):\n    return answer(name)\n"
    ),
    "states/_states/ours/inner.py": (
        "def answer(name):\n"
        "    return {'name': name, 'changes': {}, 'result': True, 'comment': ''}\n"
    ),
    "states/_grains/ours.py": "def ours():\n    return {'ours': 1}\n",
    "pillar/top.sls": "base:\n  '*':\n    - p\n",
    "pillar/p.sls": "p: 1\n",
    "runner.d/more.yaml": "failhard: true\n",
    "grains": "roles: []\n",
    "runner.yaml": "",
}


@pytest.fixture
def whole(machine: Machine) -> Machine:
    for path, text in FILES.items():
        file = machine.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text.replace("{tmp}", str(machine.folder)))
    return machine


def test_a_tree_of_ones_own_gets_no_warning(whole: Machine) -> None:
    whole.config["strict_permissions"] = True
    assert whole("sls", "a").stderr == ""
    assert (whole.folder / "made").read_text() == "hello\n"


@pytest.mark.parametrize("path", FILES)
@pytest.mark.parametrize("how", ["mode", "owner", "acl", "folder"])
def test_each_file_that_is_read_is_looked_at(whole: Machine, path: str, how: str) -> None:
    file = whole.folder / path
    whole.argv()  # writes runner.yaml
    if how == "folder":
        file = file.parent
        if file == whole.folder:
            pytest.skip("runner's own files lie below it")
    open_to_others(file, how)
    argv = whole.argv
    whole.argv = lambda *words: _unwritten(whole, argv, file, how, *words)  # type: ignore[method-assign]
    told = whole("sls", "a").stderr
    assert f"others can write {file}, which this run trusts" in told
    assert told.count("which this run trusts") == 1
    (whole.folder / "made").unlink()
    whole.config["strict_permissions"] = True
    refused = whole("sls", "a", code=1)
    assert f"others can write {file}, which this run trusts" in refused.stdout + refused.stderr
    assert not (whole.folder / "made").exists()


def _unwritten(
    machine: Machine, argv: Callable[..., list[str]], file: Path, how: str, *words: str
) -> list[str]:
    found = argv(*words)  # writes runner.yaml anew
    if file.name == "runner.yaml":
        open_to_others(file, how)
    return found


def open_to_others(path: Path, how: str) -> None:
    if how == "mode":
        path.chmod(0o666)
    elif how == "folder":
        path.chmod(0o777)
    elif how == "acl":
        acl(path, [(1, 6, 0), (2, 6, 12345), (4, 4, 0), (0x10, 6, 0), (0x20, 4, 0)])
    else:
        require_root("to give files away")
        os.chown(path, 65534, -1)


def acl(path: Path, entries: list[tuple[int, int, int]]) -> None:
    data = struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *entry) for entry in entries)
    try:
        os.setxattr(path, "system.posix_acl_access", data)
    except OSError as error:
        pytest.skip(f"no ACLs here: {error}")


def test_a_template_outside_of_the_tree(machine: Machine) -> None:
    lib = machine.folder / "lib.jinja"
    lib.write_text("{% set x = 1 %}")
    lib.chmod(0o666)
    machine.write(a="{% import '{tmp}/lib.jinja' as lib %}x:\n  test.nop: []\n")
    assert f"others can write {lib}," in machine("sls", "a").stderr
    machine.config["strict_permissions"] = True
    assert f"others can write {lib}," in machine("sls", "a", code=1).stderr


def test_check_warns_too(whole: Machine) -> None:
    (whole.folder / "states/b.sls").chmod(0o666)
    assert f"others can write {whole.folder}/states/b.sls" in whole("check", code=None).stdout


def test_many_warnings_are_counted(machine: Machine) -> None:
    machine.write(**{f"s{number}": "" for number in range(30)})
    for each in (machine.folder / "states").iterdir():
        each.chmod(0o666)
    told = machine("sls", ",".join(f"s{number}" for number in range(30))).stderr
    assert told.count("which this run trusts") == 10
    assert "(and 20 more)" in told


def test_a_link_is_as_good_as_where_it_leads(machine: Machine) -> None:
    machine.write(a="x:\n  test.nop: []\n")
    elsewhere = machine.folder / "open"
    elsewhere.mkdir()
    elsewhere.chmod(0o777)
    (machine.folder / "states/a.sls").rename(elsewhere / "a.sls")
    (machine.folder / "states/a.sls").symlink_to(elsewhere / "a.sls")
    assert f"others can write {elsewhere}," in machine("sls", "a").stderr


USER, GROUP_OF_FILE, GROUP, MASK = 2, 4, 8, 0x10


@pytest.mark.parametrize(
    ("entries", "others"),
    [
        ([(USER, 6, 12345), (GROUP_OF_FILE, 4, 0), (MASK, 6, 0)], True),
        ([(USER, 6, 12345), (GROUP_OF_FILE, 4, 0), (MASK, 4, 0)], False),
        ([(USER, 4, 12345), (GROUP_OF_FILE, 4, 0), (MASK, 6, 0)], False),
        ([(USER, 6, os.geteuid()), (GROUP_OF_FILE, 4, 0), (MASK, 6, 0)], False),
        ([(GROUP_OF_FILE, 4, 0), (GROUP, 6, 12345), (MASK, 6, 0)], True),
        ([(GROUP_OF_FILE, 4, 0), (GROUP, 6, 0), (MASK, 6, 0)], False),
    ],
)
def test_acls(tmp_path: Path, entries: list[tuple[int, int, int]], others: bool) -> None:
    file = tmp_path / "f"
    file.write_text("")
    acl(file, [(1, 6, 0), *entries, (0x20, 4, 0)])
    assert (flaw(str(file), os.lstat(file), str(file)) is not None) is others
    descriptor = os.open(file, os.O_RDONLY)
    assert (flaw(str(file), os.fstat(descriptor), descriptor) is not None) is others
    os.close(descriptor)


NOBODYS = 4_242_424  # a number of a user and a group that there are none of


@pytest.mark.parametrize(
    ("mode", "owner", "group", "passed", "others"),
    [
        (0o100644, 0, NOBODYS, False, False),
        (0o100664, 0, NOBODYS, False, True),
        (0o100664, 0, 0, False, False),
        (0o100646, 0, 0, False, True),
        (0o100600, NOBODYS, 0, False, True),
        (0o100600, NOBODYS, 0, True, True),
        (0o041777, 0, 0, False, True),
        (0o041777, 0, 0, True, False),
        (0o040777, 0, 0, True, True),
        (0o101666, 0, 0, True, True),  # a file is nothing that is passed through
        (0o120777, 0, 0, False, False),
        (0o120777, NOBODYS, 0, False, True),
    ],
)
def test_the_rule_for_files_and_folders(
    mode: int, owner: int, group: int, passed: bool, others: bool
) -> None:
    status = os.stat_result((mode, 1, 1, 1, owner, group, 0, 0, 0, 0))
    assert (flaw("/nowhere", status, "/nowhere", passed) is not None) is others
    assert flaw("/nowhere", status, "/nowhere", owners=(NOBODYS,)) is None or owner != NOBODYS


def test_what_the_checks_cost(machine: Machine) -> None:
    """Each folder on the way is looked at once a run, and no program is started for it."""
    trace = (
        "import os, sys, collections; opened = collections.Counter()\nsys.addaudithook(lambda"
        " event, args: opened.update([args[0]]) if event == 'open' else None)\nfrom"
        " runner.support.files.trusted_folder import trusted_folder\nheld ="
        f" trusted_folder({str(machine.folder / 'cache/state')!r})\nfirst = sum(opened.values());"
        f" opened.clear()\ntrusted_folder({str(machine.folder / 'cache/state')!r})\nprint(first,"
        " sum(opened.values()))"
    )
    done = subprocess.run(
        [sys.executable, "-c", trace], env=machine.environment, capture_output=True, text=True
    )
    first, again = map(int, done.stdout.split())
    assert again == 0, done.stderr
    assert first < 60


@pytest.mark.parametrize(
    ("link_owner", "folder_owner", "folder_mode", "others"),
    [
        (1234, 0, 0o755, False),  # root has put it there
        (1234, 0, 0o1777, True),
        (1234, 0, 0o775, True),
        (1234, 1234, 0o700, True),
        (0, 1234, 0o700, False),
        (0, 0, 0o1777, False),
    ],
)
def test_the_rule_for_links(
    link_owner: int, folder_owner: int, folder_mode: int, others: bool
) -> None:
    from runner.support.files.permissions import link_of_others

    link = os.stat_result((0o120777, 1, 1, 1, link_owner, 0, 0, 0, 0, 0))
    folder = os.stat_result((0o40000 | folder_mode, 1, 1, 1, folder_owner, 0, 0, 0, 0, 0))
    assert link_of_others(link, folder) is others


def test_the_name_of_a_file_makes_no_line_of_a_report(machine: Machine) -> None:
    folder = machine.folder / "theirs"
    folder.mkdir()
    (folder / "a\n      failed  file.managed  forged").touch()
    machine.write(a="{tmp}/theirs:\n  file.directory:\n    - clean: true\n")
    commands = "sls a --test", "sls a", "history show last", "undo --test", "undo"
    for words in commands:
        shown = machine(*words.split()).stdout
        assert "a\\n      failed" in shown
        assert not [line for line in shown.splitlines() if line.strip().startswith("failed")], shown
