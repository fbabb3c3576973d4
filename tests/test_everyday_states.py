# SPDX-License-Identifier: Apache-2.0
"""States of the library as a user meets them: what one does, the next sees; errors are reported."""

from __future__ import annotations

from pathlib import Path

import pytest
from command import Machine


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


STATIC = """
roles:
  grains.list_present:
    - value: [web]
more:
  grains.append:
    - name: roles
    - value: cache
env:
  environ.setenv:
    - value: {ZOE: 'yes'}
say:
  cmd.run:
    - name: echo $ZOE
"""


def test_what_a_state_sets_the_next_ones_see(machine: Machine) -> None:
    machine.write(a=STATIC)
    dry = machine.results("sls", "a", "--test")
    assert [each["result"] for each in dry.values()] == [None, None, None, None]
    real = machine.results("sls", "a")
    assert real["more"]["changes"] == {"added": "cache"}
    assert real["say"]["changes"]["stdout"] == "yes"
    assert (machine.folder / "grains").read_text() == "roles:\n- web\n- cache\n"
    again = machine.results("sls", "a")
    assert not again["roles"]["changes"] and not again["more"]["changes"]
    assert '"cache"' in machine("call", "grains.get", "roles", "--out", "json").stdout


def test_an_execution_function_that_cannot_do_it_says_so(machine: Machine) -> None:
    (machine.folder / "grains").write_text("a: [1]\n")
    done = machine("call", "grains.delkey", "a", code=1)
    assert "The key 'a' exists but is a dict or a list" in done.stderr


@pytest.mark.parametrize("name", ["a b", "a:b", "/home/a", "+a"])
def test_a_dry_run_refuses_names_that_no_tool_makes_accounts_of(
    machine: Machine, name: str
) -> None:
    for kind in ("user", "group"):
        result = machine.results("single", f"{kind}.present", f"name={name}", "--test", code=2)
        assert "cannot be the name of a new" in str(result)


@pytest.mark.parametrize(
    "words",
    [
        ("user.present", "name="),
        ("group.present", "name="),
        ("host.only", "::1", "hostnames=[' ']"),
    ],
)
def test_an_empty_name_is_refused_before_anything_runs(
    machine: Machine, words: tuple[str, ...]
) -> None:
    done = machine("single", *words, "--test", code=1)
    assert "expected a value that is not empty" in done.stderr


def test_the_hint_for_an_empty_path_does_not_name_the_root(machine: Machine) -> None:
    machine.write(a="x:\n  file.absent:\n    - name: ''\n")
    done = machine("check", "a", code=1)
    said = done.stdout + done.stderr
    assert "not an absolute path" in said and "may be empty" in said and "name: /" not in said


def test_a_dry_run_refuses_what_is_no_package_of_cargo(machine: Machine) -> None:
    for name in ("/tmp/x", "git+https://x/y", "a@1.0.0"):
        done = machine("single", "cargo.installed", f"name={name}", "--test", code=None)
        assert "expected the name of a package" in done.stdout + done.stderr


def test_names_of_things_may_not_be_empty(machine: Machine) -> None:
    tree = {
        "pkg.installed: [name: '']": "name",
        "pkg.installed: [pkgs: ['', vim]]": "pkgs[0]",
        "alias.present: [name: '', target: x]": "name",
        "alias.present: [name: x, target: '']": "target",
        "service.running: [name: ' ']": "name",
    }
    for number, state in enumerate(tree):
        machine.write(**{f"s{number}": f"x{number}:\n  {state}\n"})
    done = machine("check", *(f"s{number}" for number in range(len(tree))), code=1)
    text = done.stdout + done.stderr
    for state, argument in tree.items():
        assert f"{state.partition(':')[0]}: {argument}: expected a value that is not empty" in text
    assert "a variable of a template may be empty" in text


def test_what_is_no_name_of_a_thing_may_be_empty(machine: Machine) -> None:
    machine.write(
        a="""
        a: {test.nop: [name: '']}
        b: {cmd.run: [name: '', unless: 'true']}
        c: {mysql_user.absent: [name: '', host: localhost]}
        d: {pkg.installed: [name: vim, version: '', fromrepo: '']}
        e: {acl.present: [name: /, acl_type: user, acl_name: '', perms: rwx]}
        """
    )
    machine("check", "a")


def test_a_dry_run_refuses_what_cannot_be_a_variable_or_a_locale(machine: Machine) -> None:
    for name in ("a=b", ""):
        result = machine.results(
            "single", "environ.setenv", f"name={name}", "value=x", "--test", code=2
        )
        assert f"{name!r} cannot be the name of a variable" in str(result)
    result = machine.results("single", "locale.present", "name=xx_YY.UTF-8", "--test", code=2)
    assert "Failed to generate locale xx_YY.UTF-8: there is no " in str(result)


def test_a_failure_names_argument_cause_and_cure(machine: Machine) -> None:
    def comment(*words: str) -> str:
        return str(machine.results("single", *words, "--test", code=2))

    key = "private_key=/nosuch.key"
    request = comment("x509.csr_managed", f"name={machine.folder}/x.csr", key, "CN=x")
    assert "private_key: /nosuch.key: there is no such file" in request
    host = comment("ssh_known_hosts.present", "name=127.0.0.1", "port=9", "timeout=1")
    assert "host keys: " in host and "at port 9?" in host
    rights = comment("postgres_privileges.present", "name=x", "object_name=x", "object_type=table")
    assert "privileges is missing or empty" in rights


def test_a_missing_program_names_its_package(machine: Machine) -> None:
    machine.environment["PATH"] = str(machine.folder)
    for function, package in (("cron.present", "cron"), ("kmod.present", "kmod")):
        result = machine.results("single", function, "name=x", "--test", code=2)
        assert f"it comes with the package {package}" in str(result)


def test_only_a_dry_run_asks_the_registry_of_npm_once(machine: Machine) -> None:
    npm = machine.folder / "npm"
    npm.write_text(
        '#!/bin/sh\ntest "$1" = ls || echo retries=$npm_config_fetch_retries >&2\n'
        'test "$1" = ls && echo "{}"\n'
    )
    npm.chmod(0o755)
    machine.environment["PATH"] = f"{machine.folder}:{machine.environment['PATH']}"
    for words, retries in ((("--test",), "retries=0"), ((), "retries=")):
        done = machine.results("single", "npm.installed", "name=x", *words, code=2)
        assert [result["comment"].split()[-1] for result in done.values()] == [retries]


@pytest.mark.parametrize("words", [("user.present", "groups"), ("group.present", "members")])
def test_names_with_commas_between_them_are_no_list(
    machine: Machine, words: tuple[str, str]
) -> None:
    state, argument = words
    done = machine("single", state, "name=own", f"{argument}=root,daemon", "--test", code=2)
    assert "root,daemon" in done.stdout and "has no comma: write a list" in done.stdout


def test_an_alternative_is_told_whose_link_is_a_file(machine: Machine) -> None:
    machine.program("update-alternatives", "exit 2\n")
    link = machine.folder / "tool"
    words = ["single", "alternatives.install", "tool", f"link={link}", "path=/bin/sh", "priority=1"]
    link.touch()
    assert f"{link} is no link" in machine(*words, "--test", code=None).stdout
    link.unlink()
    link.symlink_to("/etc/alternatives/tool")
    assert "is no link" not in machine(*words, "--test", code=None).stdout
