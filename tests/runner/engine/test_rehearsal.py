# SPDX-License-Identifier: Apache-2.0
"""What a rehearsal compares, and what its command line takes."""

from __future__ import annotations

import os
import re
import socket
from typing import Any

import pytest
from command import ROOT, Machine

from runner.cli.parsing.option_spec import plain_call
from runner.engine.rehearsal import observation
from runner.engine.rehearsal.comparison import differences
from runner.engine.rehearsal.observation import FileChange, Observed
from runner.engine.rehearsal.runs import Rehearsal, RehearsedRun
from runner.output import rehearsal as output

DOCUMENT = ROOT / "docs/rehearsal.md"


def state(result: bool | None, exact: bool = True, ran: bool = True, **changes: Any) -> Any:
    facts = {"result": result, "changes": changes, "comment": "said"}
    return facts | ({} if exact else {"exact": False}) | ({} if ran else {"__state_ran__": False})


@pytest.mark.parametrize(
    ("dry", "real", "expected"),
    [
        (state(None, diff="a"), state(True, diff="a"), None),
        (state(True), state(True), None),
        (state(None), state(False), None),
        (state(None, uid=""), state(True, uid=1000), None),
        (state(None, exact=False, cmd="x"), state(True, pid=1), None),
        (None, state(True), None),
        (state(None, diff="a"), state(True, diff="b"), ("changed", "changed", "diff: other")),
        (state(None, a=1), state(True, b=1), ("changed", "changed", "b: not announced; a: ann")),
        (state(None, a=1), state(False), ("changed", "failed", "said")),
        (state(False), state(True, a=1), ("failed", "changed", "said")),
        (state(True), state(True, a=1), ("unchanged", "changed", "said")),
        (state(None, a=1), state(False, ran=False), ("changed", "skipped", "said")),
        (None, state(True, a=1), ("not run", "changed", "said")),
        (state(True), None, ("unchanged", "not run", "said")),
    ],
)
def test_a_dry_run_that_said_otherwise(dry: Any, real: Any, expected: Any) -> None:
    runs = [{"key": item} if item else {} for item in (dry, real)]
    found = list(differences(*runs))
    if expected is None:
        assert not found
    else:
        assert [(item.dry_run, item.real) for item in found] == [expected[:2]]
        assert found[0].details.startswith(expected[2])


def test_the_report_shortens_what_is_long() -> None:
    run = RehearsedRun(0, {"file_|-a_|-/a_|-managed": state(True, diff="x")}, "", "")
    diff = "\n".join(f"+{number}" for number in range(100))
    files = [FileChange(f"/srv/{number}", "added", "file", diff) for number in range(60)]
    files += [FileChange("/usr/bin/x", "added", "file", "", "x")]
    done = Rehearsal(run, run, Observed(tuple(files)), Observed(), run, Observed())
    lines = [line for line, _ in output.lines(done, (), verbose=False)]
    assert "Files: 61 added" in lines and "  ... and 10 more: -v shows all" in lines
    assert lines.count("      ... 92 more lines: -v shows all") == 50
    assert "  + 1 path of the package x" in lines
    assert "The second run changed or failed 1 state:" in lines
    assert not any("more" in line for line, _ in output.lines(done, (), verbose=True))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["rehearse"], "nothing to rehearse"),
        (["rehearse", "call"], "rehearse call: there is no such run"),
        (["rehearse", "highstate", "web"], "runner rehearse sls web"),
        (["rehearse", "sls", "web", "--network", "lan"], "none or host"),
        (["rehearse", "sls", "web", "--size", "big"], "such as 512M or 2G"),
        (["rehearse", "--shell"], "no copy is kept"),
    ],
)
def test_a_line_that_begins_nothing(machine: Machine, words: list[str], message: str) -> None:
    assert message in machine(*words, code=1).stderr


def test_the_lines_of_the_document_are_right() -> None:
    lines = re.findall(r"^    runner rehearse (.*?)(?:  .*)?$", DOCUMENT.read_text(), re.MULTILINE)
    assert len(lines) > 5
    for line in lines:
        assert plain_call("rehearse", line.split()), line


@pytest.mark.parametrize("is_shared", [False, True])
def test_ports_of_no_program_of_a_copy_are_the_machines(
    is_shared: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where both have one network, as with `--network host`."""
    monkeypatch.setattr(observation, "_listeners", lambda pid, sockets: ())
    monkeypatch.setattr(observation.os.path, "samefile", lambda one, other: is_shared)
    with socket.create_server(("127.0.0.1", 0)) as server:
        name = f"tcp 127.0.0.1:{server.getsockname()[1]}"
        ports = observation._ports(os.getpid())
    assert ports.get(name) == (None if is_shared else "?")
