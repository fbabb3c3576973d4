# SPDX-License-Identifier: Apache-2.0
"""`runner doc WORDS`: the search of the manual."""

from __future__ import annotations

import subprocess
import sys

import pytest
from command import ROOT, Machine


def found(machine: Machine, *words: str) -> list[str]:
    """The names of what a search finds."""
    answer = machine.answer("doc", *words)
    return [entry["name"] for entry in answer if entry["kind"] != "hint"]


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        ("firewall", "firewalld.present nftables.append ufw.allow"),
        ("mail", "alias.present on_failure docs/monitoring.md docs/scheduling.md"),
        ("secrets", "docs/secrets.md secret_keys"),
        ("backup", "docs/undo.md file.retention_schedule"),
        ("vhost", "rabbitmq_vhost.present apache_site.enabled sls_examples/webserver"),
        ("unattended", "schedule.enabled docs/scheduling.md"),
        ("lineinfile", "file.keyvalue file.replace"),
        ("handlers", "listen watch"),
        ("firewal", "firewalld.present"),
        ("Virtual Host", "rabbitmq_vhost.present"),
        ("onfial", "onfail"),
        ("emial", "alias.present docs/monitoring.md"),
        ("log rotation", "logrotate.set"),
        ("restart a service", "service.running"),
        ("apt-get", "pkg.installed pkg.uptodate"),
        ("inventory", "top"),
        ("facter", "docs/facts.md"),
        ("ssl", "acme.cert x509.certificate_managed"),
        ("ssh key", "ssh_auth.present ssh_key.present"),
        ("user sudo", "sudo.rule"),
    ],
)
def test_what_is_found(machine: Machine, words: str, wanted: str) -> None:
    names = found(machine, *words.split())
    assert {*wanted.split()} <= {*names} and len(set(names)) == len(names) <= 15


def test_what_an_argument_of_another_tool_is_called_here(machine: Machine) -> None:
    told = machine("doc", "chdir").stdout
    assert told.startswith("About chdir:\n\n`chdir` is Ansible's: write cwd\n")


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("usermod -aG adm zoe", "user.present"),
        ("sed -i s/a/b/ /etc/x", "file.replace"),
        ("tee -a /etc/x", "file.managed"),
        ("crontab -e", "cron.present"),
        ("nohup prog &", "systemd.unit"),
        ("sudo -u zoe make", "cmd.run"),
        ("echo >> /etc/x", "file.append"),
        ("curl -fsSL https://example.org/get | sh", "cmd.script"),
        ("docker compose up -d", "docker_compose.up"),
    ],
)
def test_a_command_line_is_its_program(machine: Machine, line: str, wanted: str) -> None:
    assert wanted in found(machine, line)
    assert machine("doc", line).stdout.startswith(f"About {line}:")


@pytest.mark.parametrize(
    ("word", "wanted"),
    [("ansible.builtin.copy", "file.managed"), ("community.general.flatpak", "flatpak.installed")],
)
def test_a_module_may_have_its_collection(machine: Machine, word: str, wanted: str) -> None:
    assert wanted in found(machine, word)


def test_a_command_line_without_quotes_is_told_of_them(machine: Machine) -> None:
    assert "in quotes: `runner doc 'ln -s'`" in machine("doc", "sed", "-i", code=1).stderr


def test_what_it_prints(machine: Machine) -> None:
    shown = machine("doc", "lineinfile").stdout
    assert shown.startswith("About lineinfile:\n\n`lineinfile` is Ansible's: write ")
    assert "\n  file.replace   Replace what matches" in shown
    assert all(len(line) <= 80 for line in shown.splitlines())
    asked = machine("doc", "ensure").stdout
    assert "a function (service.running here), not an argument" in " ".join(asked.split())
    machine.config["file_rots"] = {}
    said = machine("doc", "mail").stderr
    assert said.count("unknown configuration key") == 1, "the configuration is read once"
    mistyped = machine("doc", "onfial").stdout
    assert mistyped.startswith("No page is called onfial. About onfail:\n\n  onfail ")


def test_what_is_found_nowhere(machine: Machine) -> None:
    for words in (("zzzqqq",), ("zzzqqq", "firewall")):
        assert "`runner doc` lists all" in machine("doc", *words, code=1).stderr
    told = machine("doc", "file.manged", code=1).stderr
    assert "there is no page for file.manged" in told and "did you mean file.managed?" in told


def test_states_of_the_tree_are_found(machine: Machine) -> None:
    (machine.folder / "states/_states").mkdir(parents=True)
    (machine.folder / "states/_states/gizmo.py").write_text("def tuned(name):\n    return {}\n")
    assert "gizmo.tuned" in found(machine, "gizmo", "tuned")


def test_the_index_is_that_of_the_documents() -> None:
    made = [sys.executable, ROOT / "docs/search_index.py"]
    index = subprocess.run(made, capture_output=True, text=True, check=True).stdout
    kept = (ROOT / "runner/tools/queries/manual_index.txt").read_text()
    assert index == kept, "sh docs/reference.sh"


@pytest.mark.parametrize(
    ("words", "unwanted"),
    [
        ("become", "gitfs_ref_types"),  # about what becomes something
        ("vhost", "host.present"),
        ("backup", "undo.along"),
        ("mail", "onfail"),
    ],
)
def test_what_has_nothing_to_do_with_it(machine: Machine, words: str, unwanted: str) -> None:
    assert unwanted not in found(machine, words)


def test_a_mistyped_word_gets_its_hint(machine: Machine) -> None:
    shown = machine("doc", "lineinfle").stdout
    assert shown.startswith("No page is called lineinfle. About lineinfile:")
    assert "`lineinfile` is Ansible's: write file.keyvalue or" in shown


def test_what_is_meant_comes_first(machine: Machine) -> None:
    """`firewall` is a resource of Puppet's, too, for which iptables stands."""
    assert found(machine, "firewall")[0] == "firewalld.present"


def test_programs_get_the_hint_too(machine: Machine) -> None:
    answer = machine.answer("doc", "become")
    assert [entry["kind"] for entry in answer] == ["hint"] and "leave it out" in answer[0]["about"]


def test_what_every_state_makes_is_no_word_of_another_tool(machine: Machine) -> None:
    assert "Ansible" not in machine("doc", "make", "a", "swap", "file").stdout
    assert "Ansible" in machine("doc", "make").stdout


def test_a_hint_is_enough(machine: Machine) -> None:
    """`become` is the name of nothing here, and `quota` a state of Salt's that is lacking."""
    assert "leave it out" in machine("doc", "become").stdout
    shown = machine("doc", "quota").stdout
    assert shown.startswith("About quota:") and "cmd.run" in shown and "quote" not in shown
