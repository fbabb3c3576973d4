# SPDX-License-Identifier: Apache-2.0
"""What would shift the columns of a file, or is no key, is refused before anything runs."""

from __future__ import annotations

import json
from typing import Any

import pytest
from command import Machine

FSTAB = {"name": "/dev/vdx", "fs_file": "/mnt", "fs_vfstype": "xfs"}
VALUE = {"name": "vm.swappiness", "value": 20}
HOST = {"name": "db.example", "ip": "10.0.0.5"}
PORT = {"name": "tcp/9080", "sel_type": "http_port_t"}
REPO = {"name": "deb [trusted=yes] file:/srv stable main"}
ANSWERS = {"name": "tzdata", "data": {"tzdata/Areas": {"type": "select", "value": "Asia"}}}
KNOWN = {"name": "h", "key": "QQ==", "enc": "rsa"}


@pytest.mark.parametrize(
    ("function", "usual", "argument", "odd", "told"),
    [
        ("mount.fstab_present", FSTAB, "name", "", "name: expected"),
        ("mount.fstab_present", FSTAB, "fs_file", "", "fs_file: expected"),
        ("mount.fstab_present", FSTAB, "fs_vfstype", "", "expected a type without spaces"),
        ("mount.fstab_present", FSTAB, "fs_vfstype", "x 0", "expected a type without spaces"),
        ("mount.fstab_present", FSTAB, "fs_mntops", 'a"b', "a quote that nothing closes"),
        ("network.managed", {"name": "eth7"}, "name", "eth 7", "there is a blank in it"),
        ("sysctl.present", VALUE, "value", "", "expected a value that is not empty"),
        ("sysctl.present", VALUE, "value", "  ", "expected a value that is not empty"),
        ("host.present", HOST, "name", "db db.example", "there is a blank in it"),
        ("host.present", HOST, "ip", ["10.0.0.5 10.0.0.6"], "there is a blank in it"),
        ("host.absent", HOST, "name", "db\tdb.example", "there is a blank in it"),
        ("selinux.port_policy_present", PORT, "sel_type", "a b", "there is a blank in it"),
        ("pkgrepo.managed", REPO, "dist", "a b", "there is a blank in it"),
        ("pkgrepo.managed", REPO, "architectures", "[amd64]", "expected architectures such as"),
        ("debconf.set", ANSWERS, "name", "tz data", "there is a blank in it"),
        ("debconf.set", ANSWERS, "data", {"a b": {}}, "a b: expected one word"),
        ("debconf.set", ANSWERS, "data", {"a": {"type": "word"}}, "no type 'word' of an answer"),
        ("ssh_known_hosts.present", KNOWN, "key", "a", "expected a key in base64"),
        ("ssh_known_hosts.present", KNOWN, "enc", "../rsa", "expected text like"),
        ("ssh_known_hosts.present", KNOWN, "fingerprint_hash_type", "none", "one of 'sha256'"),
    ],
)
def test_it_is_a_compile_error(
    machine: Machine, function: str, usual: dict[str, Any], argument: str, odd: Any, told: str
) -> None:
    def sls(**arguments: Any) -> str:
        body = [{key: value} for key, value in arguments.items()]
        return "#!json\n" + json.dumps({"it": {function: body}})

    machine.write(good=sls(**usual), a=sls(**{**usual, argument: odd}))
    assert "No mistakes" in machine("check", "good").stdout
    done = machine("sls", "a", "--test", code=1)
    assert told in done.stderr + done.stdout


def test_a_type_that_debconf_has_not_is_no_matter_of_lines(machine: Machine) -> None:
    machine.write(a="a:\n  debconf.set:\n    - data: {a: {type: word, value: x}}\n")
    told = machine("check", "a", code=1).stdout
    assert "no type 'word'" in told and "line end" not in told
    assert "write `- data:`" not in told, "it is a mapping"
