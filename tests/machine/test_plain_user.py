# SPDX-License-Identifier: Apache-2.0
"""What a user without rights is refused, a dry run says, too."""

from __future__ import annotations

import json
from typing import Any

from debian import Debian

from runner.api.own_program import MAIN, own_python

STATES: dict[str, dict[str, dict[str, Any]]] = {
    "locale.present": {"de_DE.UTF-8": {}},
    "locale.system": {"de_DE.UTF-8": {}},
    "alias.present": {"zoe": {"target": "root"}},
    "alias.absent": {"postmaster": {}},
    "group.present": {"new-group": {}},
    "group.absent": {"games": {}},
    "user.present": {"new-user": {}},
    "host.present": {"own": {"ip": "10.0.0.9"}},
    "sysctl.present": {"vm.swappiness": {"value": "10"}},
    "schedule.present": {"nightly": {"function": "state.highstate", "hours": 6}},
    "file.managed": {"/etc/own": {"contents": "x"}, "/home/zoe/own": {"contents": "x"}},
    "ini.options_present": {"/etc/own.ini": {"sections": {"a": {"b": "c"}}}},
}


def as_zoe(machine: Debian, *words: str) -> dict[str, Any]:
    argv = ["setpriv", "--reuid=zoe", "--regid=zoe", "--init-groups", "env", "HOME=/home/zoe"]
    call = [*own_python(MAIN), "sls", "site", "--state-tree", "/srv/runner/states"]
    done = machine.run(*argv, *call, "--out", "json", *words, code=None)
    return {each["__id__"]: each for each in json.loads(done.stdout)["local"].values()}


def test_what_a_user_may_not_do_fails_in_a_dry_run(debian: Debian) -> None:
    debian.run("useradd -m zoe; chmod 755 /root; echo 'postmaster: root' >/etc/aliases")
    debian.run("apt-get -q -y install locales", code=None)
    tree: dict[str, Any] = {
        f"{function} {name}": {function: [{"name": name}, *({k: v} for k, v in given.items())]}
        for function, states in STATES.items()
        for name, given in states.items()
    }
    debian.tree(site=json.dumps(tree))
    dry, real = as_zoe(debian, "--test"), as_zoe(debian)
    failed = {name for name, each in real.items() if each["result"] is False}
    assert failed == {*tree} - {"file.managed /home/zoe/own"}
    assert not [name for name in dry if "An exception" in dry[name]["comment"]]
    assert not [name for name in dry if ".planned" in dry[name]["comment"]], "a name of runner's"
    said = {name: each for name, each in dry.items() if each["result"] is False}
    assert {*said} == failed, {name: dry[name]["comment"] for name in failed ^ {*said}}
