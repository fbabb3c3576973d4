# SPDX-License-Identifier: Apache-2.0
"""`runner fleet` as a user types it: hosts that are directories of this machine (`connection:
local`), and hosts that are down.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from contextlib import AbstractContextManager
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree

import pytest
from command import ROOT
from repositories import Repository
from starting import PATIENCE, background, running

from runner.cli.running import fleet_driving
from runner.cli.running.options import Common
from runner.model.errors import RunnerError
from runner.tools.fleet import programs
from runner.tools.fleet.progress import Progress

LOCAL = ("web1", "web2", "db1")
DOWN = ("down1", "down2")
STATES = {
    "top": "base:\n  '*': [app]\n",
    "app": """{% set home = opts.cachedir %}
written:
  file.managed:
    - name: {{ home }}/written
    - contents: {{ pillar.get('word', 'none') }} {{ grains.get('roles', []) | join }}
{% if grains.id.startswith('web') %}
broken:
  file.managed:
    - name: /nonexistent/of/nobody
    - contents: x
after:
  test.nop:
    - require: [{file: broken}]
{% endif %}
""",
    "slow": "slow:\n  cmd.run:\n    - name: touch $STARTED; sleep 86.4\n",
    "exits": "said:\n  cmd.run:\n    - name: echo it is broken >&2; exit 3\n"
    "own:\n  cmd.run:\n    - name: echo $NAME is wrong >&2; exit 4\n"
    "    - env: [{NAME: '{{ grains.id }}'}]\n",
    "noop": "kept:\n  test.succeed_with_changes:\n    - noop: true\n",
    "typo": "a:\n  fiel.managed: []\n",
}
ROSTER = """{% for n in (1, 2) %}
app{{ n }}:
  host: 10.0.0.{{ n }}
  user: deploy
  port: 2222
  sudo: true
  tty: true
  priv: /keys/id
  timeout: 7
  ssh_options: ['ProxyJump=a b']
  minion_opts: {grains: {roles: [app], note: '{{ '{{ 7*7 }}' }}'}}
{% endfor %}
short: 10.0.0.9
"""


class Fleet:
    """A tree, an inventory, and runner on them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        hosts: dict[str, Any] = {
            name: {"ansible_connection": "local", "runner_home": str(folder / "hosts" / name)}
            for name in LOCAL
        }
        hosts |= {name: {"ansible_host": "127.0.0.1", "ansible_port": 1} for name in DOWN}
        hosts["web1"]["grains"] = {"roles": ["front"]}
        hosts["db1"]["grains"] = {"roles": ["rear"]}
        variables = {"ansible_python_interpreter": sys.executable}
        inventory = {"all": {"hosts": hosts, "vars": variables}}
        self.write("hosts.yml", json.dumps(inventory))
        for name, text in STATES.items():
            self.write(f"states/{name}.sls", text.replace("$STARTED", str(folder / "started")))
        self.write("pillar/top.sls", "base:\n  'db*': [words]\n")
        self.write(
            "pillar/words.sls",
            "word: of {{ grains.id }} on {{ grains.kernel }} {{ grains.roles[0] }}\n",
        )
        self.write(
            "runner.yaml",
            "file_roots: {base: [states]}\npillar_roots: {base: [pillar]}\ncachedir: cache\n"
            "fleet: {inventory: hosts.yml, forks: 4}\nnodegroups: {front: 'web* and not web2'}\n",
        )

    def write(self, name: str, text: str) -> None:
        path = self.folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)

    def start(
        self, *words: str, ready: Path | None = None
    ) -> AbstractContextManager[subprocess.Popen[str]]:
        config = ("--config", str(self.folder / "runner.yaml"))
        return self._started("fleet", *config, *words, ready=ready)

    def _started(
        self, *words: str, ready: Path | None = None
    ) -> AbstractContextManager[subprocess.Popen[str]]:
        argv = [sys.executable, "-c", "from runner.cli import main; main()"]
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.folder),
            "TMPDIR": str(self.folder),  # command lines of its programs name it
            "PYTHONPATH": str(ROOT),
            "LC_ALL": "C",  # as cron
            "ANSIBLE_REMOTE_TMP": str(self.folder / "remote"),  # not in root's home
        }
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        return background([*argv, *words], ready, env=environment, **pipes)

    def __call__(self, *words: str, code: int = 0) -> str:
        return self._ended(self.start(*words), code)

    def runner(self, *words: str, code: int = 0) -> str:
        """Return what another command prints."""
        return self._ended(self._started(*words), code)

    @staticmethod
    def _ended(start: AbstractContextManager[subprocess.Popen[str]], code: int) -> str:
        with start as process:
            out, err = process.communicate(timeout=PATIENCE)
        assert process.returncode == code, out + err
        assert "this is a bug" not in err, err
        assert "Traceback" not in out + err, out + err
        return out if code != 1 else out + err


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Fleet:
    return Fleet(tmp_path_factory.mktemp("fleet"))


def test_equal_failures_are_one_paragraph_with_place_and_next_command(fleet: Fleet) -> None:
    out = fleet("highstate", "web* or db1 or down1", code=2)
    assert (
        "failed: file.managed  broken (/nonexistent/of/nobody)\n"
        "    Parent directory not present: /nonexistent/of; `makedirs: true` makes it\n"
        f"    at {fleet.folder}/states/app.sls:7\n"
        "    on web[1-2] (2 machines)\n"
    ) in out
    assert "unreachable: ssh: Connection refused\n    on down1\n" in out
    assert "4 machines: 2 failed, 1 unreachable, 1 changed" in out
    assert "the rest again: runner fleet highstate L@web1,web2,down1 --config" in out
    assert "can they be reached: runner fleet call down1 test.ping" in out
    # each has its own pillar, which needed its own grains
    texts = {name: (fleet.folder / f"hosts/{name}/cache/written").read_text() for name in LOCAL}
    assert texts["db1"] == "of db1 on Linux rear rear\n"
    assert texts["web1"] == "none front\n"


def test_hosts_whose_grains_a_target_needs_are_asked_first(fleet: Fleet) -> None:
    words = ("test.arg", "{{ 7*7 }}", "{% raw %}", "[1, '{{ x }}']", "key={{ y }}")
    target = "( db1 or down2 ) and G@kernel:Linux"
    answers = json.loads(fleet("call", target, *words, "--out", "json", "--refresh", code=2))
    assert answers["db1"] == {
        "args": ["{{ 7*7 }}", "{% raw %}", [1, "{{ x }}"]],
        "kwargs": {"key": "{{ y }}"},
    }
    assert "nobody knows whether" in answers["down2"][0] and "refused" in answers["down2"][0]
    text = fleet("export", "ansible", "db1 and G@kernel:Linux and I@word:of*")  # known by now
    assert "    - db1\n" in text
    kept = [*(fleet.folder / "cache/fleet/grains").iterdir()]
    assert {path.stat().st_mode & 0o777 for path in kept} == {0o600}


def test_max_fail_begins_no_further_batch(fleet: Fleet) -> None:
    """A batch that fails whole ends a play of Ansible's: the others get their turn nevertheless."""
    words = ("sls", "L@web1,down1,down2", "typo", "--serial", "1", "--max-fail", "2")
    suites = ElementTree.fromstring(fleet(*words, "--out", "junit", code=2))
    cases = {suite.get("name"): suite[0][0] for suite in suites}
    assert {case.tag for case in cases.values()} == {"error"}
    assert "did you mean file" in str(cases["web1"].text)
    assert cases["down1"].get("message") == "unreachable: ssh: Connection refused"
    assert cases["down2"].get("message") == "not begun: 2 failed before (--max-fail 2)"


def test_what_a_failed_command_said_is_shown(fleet: Fleet) -> None:
    out = fleet("sls", "web2 or db1", "exits", code=2)
    assert "failed: cmd.run  said (echo it is broken >&2; exit 3)\n" in out
    assert "        retcode: 3\n        stderr: it is broken\n    on web2, db1" in out
    assert "        stderr: web2 is wrong\n    on web2, db1" in out
    assert "    on web2, for example:\n        retcode: 4\n" in out
    assert "it is broken" in fleet("sls", "db1", "exits", "--out", "junit", code=2)


def test_what_only_would_change_is_called_so(fleet: Fleet) -> None:
    out = fleet("sls", "db1", "noop")
    assert "would change on db1:\n    test.succeed_with_changes  kept\n" in out
    assert "1 machine: 1 would change" in out
    assert "1 machine: 1 would change" in fleet("call", "db1", "state.sls", "noop", "test=true")
    made = fleet.folder / "made"
    out = fleet("call", "db1", "cmd.run", f"touch {made}", "--test")
    assert "cmd.run changes the machine: a dry run does not call it\n" in out
    assert not made.exists()


def test_max_fail_counts_those_that_could_not_be_asked(fleet: Fleet) -> None:
    target = ("highstate", "( db1 or L@down1,donw2 ) and not G@kernel:Other")
    out = fleet(*target, "--refresh", "--max-fail", "1", "--serial", "1", code=2)
    assert "not begun: 1 failed before (--max-fail 1)\n    on db1\n" in out
    [line] = [line for line in out.splitlines() if line.startswith("the rest again: ")]
    assert line.endswith("--serial 1 --max-fail 1")
    with fleet.start("call", "L@db1,donw2", "test.ping") as process:
        _, err = process.communicate(timeout=PATIENCE)
    assert "is called donw2; did you mean down2?" in err


def test_an_interrupted_run_ends_its_children(fleet: Fleet) -> None:
    with fleet.start("sls", "db1", "slow", ready=fleet.folder / "started") as process:
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 143, out + err
    assert "no answer: interrupted by SIGTERM; it may still be at work\n    on db1\n" in out
    assert not {*running("ansible-playbook")} & {*running(str(fleet.folder))}


@pytest.mark.parametrize(
    "words, message",
    [
        (("highstate", "wbe1"), "did you mean web1?"),
        (("highstate", "web*", "db*"), "takes a target only"),
        (("call", "*"), "no function is named"),
        (("highstate", "*", "-i", "none.ini"), "there is no inventory"),
        (("highstate", "*", "--serial", "x"), "expected a number or a percentage"),
        (("export", "chef"), "one of ansible, salt"),
    ],
)
def test_mistakes(fleet: Fleet, words: tuple[str, ...], message: str) -> None:
    assert message in fleet(*words, code=1)


@pytest.mark.parametrize("value", ["3", "[3]", "{a: b}"])
def test_an_inventory_that_is_no_file(fleet: Fleet, tmp_path: Path, value: str) -> None:
    config = tmp_path / "runner.yaml"
    config.write_text(f"fleet: {{inventory: {value}}}\n")
    out = fleet.runner("fleet", "call", "*", "test.ping", "--config", str(config), code=1)
    assert "inventory has to be a text or a list of texts" in out


@pytest.mark.parametrize("how", ["formulas", "gitfs", "pull"])
def test_a_tree_below_the_directories_of_runner_reaches_the_hosts(
    fleet: Fleet, tmp_path: Path, how: str
) -> None:
    """Formulas, exports of gitfs and pulled trees lie in cachedir and state_dir."""
    origin = Repository(tmp_path / "origin")
    origin.commit({"FORMULA": "name: far\n", "far/init.sls": "x: {test.nop: []}\n"})
    origin.commit({"top.sls": "base: {'*': [far]}\n", "runner.yaml": "file_roots: {base: [.]}\n"})
    inventory = f"fleet: {{inventory: {fleet.folder}/hosts.yml}}\n"
    settings = {
        "formulas": "file_roots: {base: [states]}\ncachedir: cache\n",
        "gitfs": "fileserver_backend: [gitfs]\ngitfs_base: main\ncachedir: cache\n"
        f"gitfs_remotes: ['{origin.url}']\n",
        "pull": f"tree: {{remote: '{origin.url}'}}\ncachedir: cache\n",
    }
    config = tmp_path / "runner.yaml"
    config.write_text(inventory + settings[how])
    entry = f"{{src: '{origin.url}', version: main}}"
    (tmp_path / "formulas.yml").write_text(f"formulas: [{entry}]\n" if how == "formulas" else "")
    if how == "formulas":
        fleet.runner("formulas", "install", "--config", str(config))
    else:
        (tmp_path / "formulas.yml").unlink()
    if how == "pull":
        fleet.runner("pull", "--config", str(config))
    out = fleet.runner("fleet", "sls", "db1", "far", "--config", str(config), "--out", "json")
    assert [state["__sls__"] for state in json.loads(out)["db1"].values()] == ["far"]


def test_the_playbook_can_be_taken_away(fleet: Fleet) -> None:
    text = fleet("export", "ansible", "N@front", "sls", "a,{{ b }}", "--test", "--max-fail", "3")
    assert (
        text
        == f"""---
- name: runner sls
  hosts:
    - web1
  gather_facts: false
  serial: 4
  tasks:
    - name: stop after 3 failed
      ansible.builtin.meta: end_play
      when: ansible_play_hosts_all | length - ansible_play_hosts | length >= 3
    - name: sls
      runner.runner.sls:
        name: !unsafe "a,{{{{ b }}}}"
        config: {fleet.folder}/runner.yaml
      check_mode: true
"""
    )


def unmarked(value: dict[str, Any]) -> Any:
    return value["__ansible_unsafe"] if value.keys() == {"__ansible_unsafe"} else value


def test_a_roster_is_an_inventory(fleet: Fleet, tmp_path: Path) -> None:
    fleet.write("etc/roster", ROSTER)
    roster = str(fleet.folder / "etc/roster")
    assert "hosts:\n    - app1\n" in fleet(
        "export", "ansible", "app* and G@roles:app and not *2", "-i", roster
    )
    argv = [programs.program("ansible-inventory", os.environ), "-i", roster, "--list"]
    more = {"ANSIBLE_INVENTORY_ENABLED": "runner.runner.salt_roster"}
    environ = {**os.environ, "HOME": str(tmp_path)}
    environment = programs.environment(environ, str(tmp_path), more)
    listed = subprocess.run(argv, env=environment, capture_output=True, check=True).stdout
    variables = json.loads(listed, object_hook=unmarked)["_meta"]["hostvars"]
    assert variables["short"] == {"ansible_host": "10.0.0.9"}
    assert variables["app2"] == {
        "ansible_host": "10.0.0.2",
        "ansible_user": "deploy",
        "ansible_port": 2222,
        "ansible_become": True,
        "ansible_timeout": 7,
        "ansible_ssh_private_key_file": "/keys/id",
        "ansible_ssh_use_tty": True,
        "ansible_pipelining": False,
        "ansible_ssh_common_args": "-o 'ProxyJump=a b'",
        "grains": {"roles": ["app"], "note": "{{ 7*7 }}"},
    }
    fleet.write("etc/roster", "app1: {host: 10.0.0.1, proxy: x}\n")
    with fleet.start("export", "ansible", "app*", "-i", roster) as process:
        _, told = process.communicate(timeout=PATIENCE)
    assert f"warning: {roster}: app1: proxy: not used" in told
    fleet.write("etc/roster", "app1: {host: 10.0.0.1, passwd: hunter2}\n")
    told = fleet("export", "ansible", "app*", "-i", roster, code=1)
    assert "app1 has its password in clear (passwd); use a key (priv)" in told
    assert "hunter2" not in told


def test_without_ansible_the_message_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/nonexistent/python")
    with pytest.raises(RunnerError) as raised:
        programs.program("ansible-playbook", {"PATH": "/nonexistent"})
    assert "ansible-playbook is not installed" in raised.value.message
    assert f"pip --python {sys.executable} install 'ansible-core>=" in str(raised.value.hint)


def test_colours_in_a_pipe_draw_no_line_that_is_replaced(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    request: Any = SimpleNamespace(common=Common())
    assert type(fleet_driving._progress(request, 3)) is Progress
