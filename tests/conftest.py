# SPDX-License-Identifier: Apache-2.0
"""Fixtures of all tests."""

import gc
import os
import random
import shutil
import signal
import tempfile
import time
from collections.abc import Generator, Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import guard_host
import passed
import pytest
from command import ROOT, Machine
from starting import running

OWN = [Path("/var/cache/runner"), Path("/var/lib/runner")]


LEFT_OUT = """\
Left out ({places} places of tests/slow.txt), and what passes it:
  what takes long                       sh tests/run.sh --rest -n 3 --ignore tests/machine
  throw-away machines: root on Debian   sh tests/run.sh --rest -n 3 tests/machine
Both use real servers (PostgreSQL, Prometheus ...), and say what they skip where one is missing."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--fast", action="store_true", help="leave out what tests/slow.txt names")
    parser.addoption("--rest", action="store_true", help="only what --fast leaves out")
    parser.addoption(
        "--record", action="store_true", help="note in tests/passed.txt which of its files pass"
    )
    parser.addoption("--shuffle-seed", metavar="N", help="in an order that N decides: files, tests")


@cache
def _slow() -> frozenset[Path]:
    """The files and directories that take long, and `FILE::TEST` of single tests."""
    lines = (ROOT / "tests/slow.txt").read_text().splitlines()
    return frozenset(ROOT / "tests" / line for line in lines if not line.startswith("#"))


@cache
def _passed_before() -> frozenset[Path]:
    """The files of tests/passed.txt that need not run again."""
    return passed.unchanged(ROOT)


def pytest_report_header(config: pytest.Config) -> str | None:
    seed = config.getoption("--shuffle-seed")
    return f"in the order of --shuffle-seed {seed}" if seed else None


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out what is slow, unless the command line names it, or what is not. None leaves it to
    pytest.
    """
    if config.getoption("--fast"):
        return True if collection_path in _slow() else None
    if config.getoption("--rest") and collection_path.is_file() and not _lies_in(collection_path):
        some = any(str(path).startswith(f"{collection_path}::") for path in _slow())
        return None if some else True
    return True if config.getoption("--rest") and collection_path in _passed_before() else None


def _lies_in(path: Path) -> bool:
    """Return whether all of a file is slow."""
    return not _slow().isdisjoint((path, *path.parents))


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """Name bytes by their argument: what is packed when tests are collected may have the time in
    it, and each process has to give the same names.
    """
    return argname if isinstance(val, bytes) else None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the single tests that are slow, or those that are not; shuffle the others."""
    if seed := config.getoption("--shuffle-seed"):
        random.Random(seed).shuffle(items)
        files = [*dict.fromkeys(item.path for item in items)]
        # what a file's tests share is made once
        items.sort(key=lambda item: files.index(item.path))
    fast, rest = config.getoption("--fast"), config.getoption("--rest")
    if not fast and not rest:
        return
    names = {str(path) for path in _slow()}
    wanted, others = [], []
    for item in items:
        slow = f"{item.path}::{item.name.split('[')[0]}" in names or _lies_in(item.path)
        (wanted if slow == rest else others).append(item)
    config.hook.pytest_deselected(items=others)
    items[:] = wanted


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Say what a fast run left out, or one of the rest; note what passed."""
    if config.getoption("--fast"):
        terminalreporter.write_line(LEFT_OUT.format(places=len(_slow())))
    if config.getoption("--rest"):
        names = " ".join(sorted(path.name for path in _passed_before()))
        terminalreporter.write_line(f"Left out, as they passed with what they test: {names}")
    if config.getoption("--record"):
        files = {
            outcome: {config.rootpath / report.nodeid.partition("::")[0] for report in reports}
            for outcome, reports in terminalreporter.stats.items()
            if outcome in ("passed", "failed", "error", "skipped")
        }
        passed.record(ROOT, files.pop("passed", set()).difference(*files.values()))


@pytest.hookimpl(wrapper=True)
def pytest_report_to_serializable() -> Generator[None, object, object]:
    """What a process of pytest sends is UTF-8: one test that fails with other texts ended all."""
    return _utf8((yield))


def _utf8(value: Any) -> Any:
    match value:
        case str():
            return value.encode("utf-8", "backslashreplace").decode()
        case dict():
            return {_utf8(key): _utf8(each) for key, each in value.items()}
        case list() | tuple():
            return type(value)(map(_utf8, value))
    return value


def pytest_configure(config: pytest.Config) -> None:
    """Tests expect the usual umask, and Salt's answers of the time are those of UTC. A background
    job of a shell ignores SIGINT, and so would every runner that a test starts and interrupts.
    """
    os.umask(0o022)
    os.environ["TZ"] = "UTC"
    time.tzset()
    _give_temporary_folder(config)
    folder = Path(tempfile.mkdtemp(prefix="guard-"))
    config.add_cleanup(lambda: shutil.rmtree(folder, ignore_errors=True))
    folder.chmod(0o755)
    guard_host.put_before(folder)
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


# what is there until the session ends, or a module's tests
HELD = tuple("guard- engine- harness- hypothesis- laws-git- laws-gpg- runner-postgres-".split())


ROOM = 500 << 20  # what the temporary files of a session take


def _room() -> str:
    """Return the temporary directory, which has room for what the tests write."""
    try:
        folder = tempfile.gettempdir()
    except FileNotFoundError as problem:
        raise pytest.UsageError(f"{problem}: name one in TMPDIR") from None
    if (free := shutil.disk_usage(folder).free) < ROOM:
        left = f"{folder} has {free >> 20} MB left, and the tests need {ROOM >> 20}"
        raise pytest.UsageError(f"{left}: name another directory in TMPDIR")
    return folder


def _give_temporary_folder(config: pytest.Config) -> None:
    """Temporary files of all that the tests start lie in a folder of this process, where one that
    stays is seen; pytest's own ones stay where they are.
    """
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", _room())
    os.environ["TMPDIR"] = tempfile.tempdir = folder = tempfile.mkdtemp(prefix="tests-")
    os.chmod(folder, 0o1777)
    config.add_cleanup(lambda: shutil.rmtree(folder, ignore_errors=True))
    if not config.getoption("numprocesses", None):  # nor those that tests run in: workers have none
        config.add_cleanup(lambda: _end_programs(folder))


def _end_programs(folder: str) -> None:
    """End what tests have left running on purpose: children of a run that they killed."""
    for pid in {*running(f"TMPDIR={folder}", "environ")} - {os.getpid()}:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


@pytest.fixture(autouse=True)
def _own_folders() -> Iterator[None]:
    """A test leaves no temporary file, and root's no history and no cache where this computer's own
    runner has them.
    """
    absent = [path for path in OWN if not path.exists()]
    before = {*os.listdir(tempfile.gettempdir())}
    yield
    assert not [path for path in absent if path.exists()], "made by this test or one beside it"
    left = {*os.listdir(tempfile.gettempdir())} - before
    assert not [name for name in left if not name.startswith(HELD)], "left in TMPDIR"


@pytest.fixture(scope="module", autouse=True)
def _collected() -> Iterator[None]:
    """Files that a run of this process left open are closed: at its end runner leaves garbage to
    the system.
    """
    yield
    gc.unfreeze()
    gc.collect()


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)
