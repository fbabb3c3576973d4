# SPDX-License-Identifier: Apache-2.0
"""What `runner check` says of files that a program could judge."""

from __future__ import annotations

from command import Machine

TREE = """
/etc/sudoers:
  file.append: [text: ola]
/etc/sudoers.d:
  file.recurse: [source: 'salt://files']
/etc/ssh/sshd_config:
  file.managed: [contents: x, mode: '0600']
/etc/fstab:
  file.managed: [mode: '0644']
/etc/crontab:
  file.line: [mode: ensure, content: x, after: y, validate: 'crontab -n']
/etc/cron.d/a:
  file.managed: [contents: x, check_cmd: crontab -n]
/etc/systemd/system/a.service:
  file.absent: []
/etc/motd:
  file.append: [text: hello]
late:
  file.replace: [name: /etc/fstab, pattern: a, repl: b, check_cmd: findmnt --verify]
none:
  cmd.run: [name: 'true', creates: /etc/sudoers, check_cmd: 'true']
"""


def test_a_known_file_is_a_hint_and_a_late_check_a_warning(machine: Machine) -> None:
    machine.write(all=TREE, top="base: {'*': [all]}")
    (machine.folder / "states/files").mkdir()
    (machine.folder / "states/files/ola").write_text("x")
    said = machine.document("check")["diagnostics"]
    assert [(each["severity"], each["code"], each["message"]) for each in said] == [
        ("info", "validate", "nothing judges /etc/sudoers before it takes its place"),
        ("info", "validate", "nothing judges /etc/sudoers.d before it takes its place"),
        ("info", "validate", "nothing judges /etc/ssh/sshd_config before it takes its place"),
        (
            "warning",
            "check-too-late",
            "check_cmd of /etc/fstab comes too late: the file has changed by then",
        ),
    ]
    assert said[0]["hint"] == "add `- validate: visudo -cf`"


LATE = """
{tmp}/f:
  file.append: [text: broken, check_cmd: 'echo line 1 is broken; false']
other:
  test.nop: [check_cmd: 'echo not this; false']
"""


def test_check_cmd_of_a_state_that_writes_a_file_says_its_output(machine: Machine) -> None:
    machine.write(all=LATE)
    results = machine.results("sls", "all", code=2)
    failed = "check_cmd determined the state failed"
    assert results[f"{machine.folder}/f"]["comment"] == f"{failed}\nline 1 is broken"
    assert results["other"]["comment"] == failed
    assert (machine.folder / "f").read_text() == "broken\n"  # as with Salt
