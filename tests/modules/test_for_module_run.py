# SPDX-License-Identifier: Apache-2.0
"""Execution functions that trees call with module.run or in templates: git, data, status, jinja,
what is not here.
"""

from __future__ import annotations

from typing import Any

import pytest
from command import Machine


def answer(machine: Machine, *words: str) -> Any:
    return machine.answer("call", *words)


def test_data_lasts_and_a_dry_run_keeps_none(machine: Machine) -> None:
    machine.write(
        data="""
{% do salt['data.update']('token', [1, 'é']) %}
seen:
  test.configurable_test_state:
    - comment: {{ salt['data.get']('token') | join }} {{ salt['data.keys']() | join }}
"""
    )
    assert machine.results("sls", "data", "--test", code=0)["seen"]["comment"].startswith(
        "1é token"
    )
    assert answer(machine, "data.load") == {}
    machine("sls", "data")
    assert answer(machine, "data.items") == {"token": [1, "é"]}
    assert answer(machine, "data.cas", "token", "b", "a") is False
    assert answer(machine, "data.cas", "token", "b", "[1, é]") is True
    assert answer(machine, "data.get", "[token, none]") == ["b"]
    assert answer(machine, "data.pop", "none", "7") == 7
    assert answer(machine, "data.pop", "token") == "b"
    assert answer(machine, "data.dump", '{"q": 1}') is True
    assert answer(machine, "data.has_key", "q") is True
    assert answer(machine, "data.clear") is True
    assert answer(machine, "data.values") == []
    assert "is not a mapping" in machine("call", "data.dump", "nonsense", code=1).stderr


def test_git_is_configured(machine: Machine) -> None:
    folder = str(machine.folder / "repository")
    assert answer(machine, "git.init", folder).startswith("Initialized empty Git repository in")
    cwd = f"cwd={folder}"
    assert answer(machine, "git.config_set", "user.name", "x y", cwd) == ["x y"]
    assert answer(machine, "git.config_set", "user.name", "multivar=[a, b]", cwd) == ["a", "b"]
    assert "Multiple values" in machine("call", "git.config_unset", "user.name", cwd, code=1).stderr
    assert answer(machine, "git.config_unset", "user.name", "all=true", cwd) is True
    assert "does not exist" in machine("call", "git.config_unset", "user.name", cwd, code=1).stderr
    assert "global" in machine("call", "git.config_set", "user.name", "x", code=1).stderr
    words = ("git.remote_set", folder, "https://x.example/y", "up")
    assert answer(machine, *words) == {
        "fetch": "https://x.example/y",
        "push": "https://x.example/y",
    }
    assert answer(machine, *words, "push_url=ssh://p/q") == {
        "fetch": "https://x.example/y",
        "push": "ssh://p/q",
    }


PIP = """#!/bin/sh
echo "$@" >>{folder}/asked
test "$1" = list && echo '[{{"name": "My_Demo", "version": "1"}}]'
case "$*" in *broken*) echo no such thing >&2; exit 1;; esac
"""


def test_pip_is_asked_and_its_answer_returned(machine: Machine) -> None:
    pip = machine.folder / "pip"
    pip.write_text(PIP.format(folder=machine.folder))
    pip.chmod(0o755)
    place = f"bin_env={pip}"
    assert answer(machine, "pip.is_installed", "my-demo", place) is True
    assert answer(machine, "pip.install", place) == {
        "retcode": 0,
        "stdout": "No packages to install.",
    }
    assert (
        answer(machine, "pip.install", "a,b==1", "upgrade=true", "no_index=true", place)["retcode"]
        == 0
    )
    assert (
        answer(machine, "pip.install", "requirements=[/r]", "find_links=/w", "timeout=3", place)[
            "stdout"
        ]
        == ""
    )
    assert answer(machine, "pip.uninstall", "pkgs=[a]", place)["stderr"] == ""
    asked = (machine.folder / "asked").read_text().splitlines()
    assert asked[1:] == [
        "install --no-index --upgrade -- a b==1",
        "install --requirement /r --find-links /w --timeout 3 --",
        "uninstall -y -- a",
    ]
    machine.write(
        pip=f"ran:\n  module.run:\n    - pip.install:\n      - broken\n      - bin_env: {pip}\n"
    )
    failed = machine.results("sls", "pip", code=2)["ran"]
    assert failed["result"] is False and failed["comment"].startswith("'pip.install' failed")
    assert (
        "salt://no.txt does not exist"
        in machine("call", "pip.install", "requirements=salt://no.txt", place, code=1).stderr
    )


def test_the_machine_tells_of_itself(machine: Machine) -> None:
    machine.write(
        status="""
{% set up, memory = salt['status.uptime'](), salt['status.meminfo']() %}
{% set disk = salt['status.diskusage']('/', '/no/such') %}
seen:
  test.configurable_test_state:
    - comment: {{ [up.seconds > 0, up.days == up.seconds // 86400,
        disk['/'].total > disk['/'].available, disk | length, memory.MemTotal.unit,
        salt['status.loadavg']() | length, salt['status.nproc']() > 0,
        'processor' in salt['status.cpuinfo'](), salt['status.version']()[:5],
        '/' in salt['status.diskusage']()]
        | tojson | tojson }}
"""
    )
    comment = machine.results("sls", "status")["seen"]["comment"]
    assert comment.startswith('[true, true, true, 1, "kB", 3, true, true, "Linux", true]')


def test_maps_are_loaded(machine: Machine) -> None:
    machine.write(top_map="{% set m = {'id': grains.id, 'l': [1]} %}", defaults="a: {{ 1 + 1 }}")
    assert answer(machine, "jinja.load_map", "top_map.sls", "m") == {"id": "m1", "l": [1]}
    assert answer(machine, "jinja.import_yaml", "defaults.sls") == {"a": 2}
    assert "has: m" in machine("call", "jinja.load_map", "top_map.sls", "n", code=1).stderr


@pytest.mark.parametrize(
    ("function", "hint"),
    [
        ("tomcat.status", "cmd.run"),
        ("docker.login", "`docker` or `podman`"),
        ("vault.write_secret", "`vault` or `bao`"),
    ],
)
def test_what_is_not_here_is_told_with_what_to_write(
    machine: Machine, function: str, hint: str
) -> None:
    assert hint in machine("call", function, code=1).stderr
    machine.write(calls=f"ran:\n  module.run:\n    - {function}: []\n")
    assert hint in machine("sls", "calls", "--test", code=None).stderr


def test_a_reboot_is_only_planned_in_a_dry_run(machine: Machine) -> None:
    machine.write(boot="again:\n  module.run:\n    - name: system.reboot\n    - at_time: 1\n")
    assert machine.results("sls", "boot", "--test")["again"]["result"] is None
    assert "a dry run does not call it" in machine("call", "system.reboot", "--test", code=1).stderr
