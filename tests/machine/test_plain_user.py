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
    "user.present": {"new-user": {}, "zoe": {"shell": "/bin/bash"}},
    "user.absent": {"games": {}},
    "host.present": {"own": {"ip": "10.0.0.9"}},
    "sysctl.present": {"vm.swappiness": {"value": "10"}},
    "schedule.present": {"nightly": {"function": "state.highstate", "hours": 6}},
    "file.managed": {"/etc/own": {"contents": "x"}, "/home/zoe/own": {"contents": "x"}},
    "ini.options_present": {"/etc/own.ini": {"sections": {"a": {"b": "c"}}}},
}


ZOE = ("setpriv", "--reuid=zoe", "--regid=zoe", "--init-groups", "env", "HOME=/home/zoe")
TREE = ("--state-tree", "/srv/runner/states")


def as_zoe(machine: Debian, *words: str) -> dict[str, Any]:
    call = [*own_python(MAIN), "sls", "site", *TREE]
    done = machine.run(*ZOE, *call, "--out", "json", *words, code=None)
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
    for name in (each for each in tree if each.startswith(("user.", "group."))):
        assert " needs root, and this is user " in dry[name]["comment"]
        assert " needs root, and this is user " in real[name]["comment"]


def test_the_history_of_root_is_not_taken_for_an_empty_one(debian: Debian) -> None:
    debian.run("useradd -m zoe; chmod 755 /root")
    debian.tree(site="/etc/own: {file.managed: [contents: x]}", top="base: {'*': [site]}")
    debian.runner("sls", "site", "--cachedir", "/srv/kept")

    def said(*words: str, code: int = 1) -> str:
        done = debian.run(*ZOE, *own_python(MAIN), *words, code=code)
        return done.stdout + done.stderr

    for words in (
        "history", "history show", "history file /etc/own", "history --html /home/zoe/pages",
        "undo --test", "undo", "sls site --test", "orphans", "show pending", "forget --all",
    ):  # fmt: skip
        tree = TREE if words.startswith(("sls", "orphans")) else ()
        refused = said(*words.split(), "--cachedir", "/srv/kept", *tree)
        assert "error: the " in refused and ": Permission denied\n" in refused, words
        assert "hint: /srv/kept/state is root's: run this as root (sudo), or with" in refused, words
    for words in ("enable", "disable because"):
        assert "as the user who has the scheduled runs" in (
            said(*words.split(), "--cachedir", "/srv/kept")
        )
    assert "root has its own history: sudo runner history" in said("history", code=0)
    assert "root has its own (sudo)" in said("history", "show")
    assert "file.managed  /etc/own" in said(
        "why", "/etc/own", "--cachedir", "/srv/kept", *TREE, code=0
    )
    assert "No mistakes found" in said("check", "--cachedir", "/srv/kept", *TREE, code=0)
    assert "file.managed" in said("doc", "file.managed", "--cachedir", "/srv/kept", code=0)
