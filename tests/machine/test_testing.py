# SPDX-License-Identifier: Apache-2.0
"""Tests of a tree, as people write them: expectations, and the fixture `machine` of the plug-in."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from debian import Debian
from debian_layer import lacking
from starting import PATIENCE

from runner.tools.expectations import evaluation, reading

ROOT = Path(__file__).parent.parent.parent
GUIDE = (ROOT / "docs/testing-a-tree.md").read_text()
STATES = (ROOT / "docs/writing-a-state.md").read_text()


def run_pytest(folder: Path, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """pytest on the tests of a folder, with the plug-in as an installed runner brings it."""
    command = [sys.executable, "-m", "pytest", "-p", "runner.testing.plugin", "-q", "-ra"]
    return subprocess.run(
        [*command, "-p", "no:cacheprovider", *words],
        cwd=folder,
        env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", **environment},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """The files of the guide."""
    blocks = re.findall(r"```\w+\n# (\S+)\n(.*?)```", GUIDE, re.S)
    assert [name for name, _ in blocks] == [
        "states/copies.sls",
        "copies.expect.yaml",
        "test_copies.py",
        "test_flags.py",
    ]
    (tmp_path / "states/_states").mkdir(parents=True)
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    (flag,) = re.findall(r"```python\n# _states/flag.py\n(.*?)```", STATES, re.S)
    for name, text in [*blocks, ("states/_states/flag.py", flag)]:
        (tmp_path / name).write_text(text)
    return tmp_path


def test_the_example_of_the_guide_passes(project: Path) -> None:
    """And so does a test that looks at what the example leaves out: failures and mistakes."""
    (project / "more/_states").mkdir(parents=True)
    (project / "more/broken.sls").write_text("a:\n  file.managd: []\n")
    (project / "more/_states/pennant.py").write_text(UNLAWFUL)
    (project / "test_more.py").write_text(MORE)
    done = run_pytest(project, "--runner-tree", "more")
    if "skipped" in done.stdout:
        lacking(done.stdout.partition("SKIPPED")[2].strip())
    assert done.returncode == 1 and "1 failed, 6 passed" in done.stdout, done.stdout + done.stderr
    assert "failed  file /etc/hosts.new: exists: expected true, it is false" in done.stdout
    assert "machine.py" not in done.stdout  # the traceback ends in the test
    assert not Path("/usr/local/bin/make-copy").exists()


UNLAWFUL = """
def raised(name):
    open(name + ".seen", "a").write("x")
    plan = {"name": name, "result": None, "changes": {"flag": "up"}, "comment": "is set up"}
    if __opts__["test"]:
        return plan
    open(name, "a").write("x")
    return {**plan, "result": True, "changes": {"raised": "up"}, "comment": "is up"}
"""
MORE = """
import pytest

from runner.testing import Machine, check_laws


def test_laws(machine):
    check_laws(machine, "file.managed", "/opt/x", contents="a")
    with pytest.raises(AssertionError) as raised:
        check_laws(machine, "pennant.raised", "/opt/up")
    assert str(raised.value).splitlines() == [
        "pennant.raised /opt/up breaks the laws:",
        "  the dry run wrote /opt/up.seen",
        "  the dry run plans changes of flag, the real run reports raised",
        "  the second dry run has something to do: is set up",
        "  the second run has something to do: is up",
        "  the second run wrote /opt/up",
        "  the second run wrote /opt/up.seen",
    ]
    with pytest.raises(AssertionError, match="it fails: Failure!"):
        check_laws(machine, "test.fail_without_changes", "no")
    with pytest.raises(AssertionError, match="it has to fail with 'luck': Success!"):
        check_laws(machine, "test.nop", "no", fails="luck", converges=False)


def test_failures(machine: Machine):
    run = machine.sls("broken", check=False)
    assert run.exit_code == 1
    with pytest.raises(AssertionError, match="did you mean file.managed"):
        run.check()
    run = machine.single("test.fail_without_changes", "no", check=False)
    with pytest.raises(AssertionError, match="test.fail_without_changes no: Failure!"):
        run.check()
    assert run.exit_code == 2 and run.failed == [run["no"]] and "other" not in run
    with pytest.raises(LookupError, match="'other' has no state in this run: 'no'"):
        run["other"]


@pytest.mark.runner(pillar={"a": [1, "\u00e9"]}, id="web1")
def test_files_and_options(machine):
    machine.write("/opt/new/script", "#!/bin/sh\\necho $0 $1\\n", mode="0750")
    machine.command("ln -s /opt/new/script /etc/link; ln -s nowhere /etc/lost")
    link, lost = machine.file("/etc/link"), machine.file("/etc/lost")
    assert (link.kind, link.mode, link.owner) == ("file", "0750", "root")
    assert link.target == "/opt/new/script"
    assert (lost.exists, lost.kind, lost.target) == (True, "symlink", "nowhere")
    assert machine.file("/etc").is_dir and not machine.file("/none").exists
    assert machine.command(["/etc/link", "a b"]).stdout == "/etc/link a b\\n"
    assert "web1" in machine.runner("call", "config.get", "id", "--id", "web1").stdout
    text = "{{ pillar['a'] | join(' ') }} {{ grains['id'] }}"
    machine.single("file.managed", "/opt/x", contents=text, template="jinja")
    assert machine.file("/opt/x").text == "1 \u00e9 web1\\n"


def test_that_fails(machine):
    machine.expect({"user": {"root": {"exists": True}}, "file": {"/etc/hosts.new": None}})
"""


EXPECTED = """
package:
  cron: {versions: ['3.*', '[1-9]*']}
  nginx-extras: {installed: false}
service:
  cron: {enabled: true, running: true}
  nothing-such: {running: false}
  later: {running: true}
port:
  tcp:8080: {ip: 127.0.0.1}
http:
  http://127.0.0.1:8080/etc/hostname: {body: machine}
"""


def test_services_packages_and_ports_of_a_machine(debian: Debian) -> None:
    """What was just started is waited for."""

    def run(
        argv: Sequence[str], *, input: str | None = None, timeout: float | None = None
    ) -> subprocess.CompletedProcess[str]:
        return debian.run(*argv, stdin=input or "", code=None)

    server = f"{shlex.quote(sys.executable)} -m http.server --bind 127.0.0.1 --directory / 8080"
    debian.run("systemd-run", "-q", "--unit", "later", "sh", "-c", f"sleep 1; exec {server}")
    outcomes = evaluation.evaluate(reading.of_text(EXPECTED, "e.yaml"), run)
    assert [str(outcome) for outcome in outcomes if not outcome.ok] == []
    wrong = "service: {nothing-such: {running: true}, cron: {enabled: false}}\n"
    wrong += "package: {cron: {versions: ['9.*']}, nothing-such: {}}"
    outcomes = evaluation.evaluate(reading.of_text(wrong, "e.yaml"), run, patience=0)
    version = debian.read("dpkg-query", "-W", "-f", "${Version}", "cron")
    assert {str(outcome) for outcome in outcomes if not outcome.ok} == {
        "service nothing-such: running: there is no such service",
        "service cron: enabled: expected false, it is true",
        f"package cron: versions: expected 9.*, it is {version}",
        "package nothing-such: installed: expected true, it is false",
    }
