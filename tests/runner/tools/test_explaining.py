# SPDX-License-Identifier: Apache-2.0
"""why, doc, schema, init and the forms of check, through the command line."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
import yaml
from command import Machine

from runner.output import why
from runner.sources.config import load
from runner.tools.queries import explain

WEB = (
    "defaults:\n  file: {mode: '0640'}\ninclude: [base]\nconf:\n  file.managed:\n    - name:"
    " {tmp}/conf\n    - contents: x\nreload:\n  cmd.wait:\n    - name: 'true'\n    - watch:\n     "
    " - file: conf\n"
)


def test_why(machine: Machine) -> None:
    machine.write(
        top="base:\n  'm*':\n    - web\n", web=WEB, base="{tmp}/d:\n  file.directory: []\n"
    )
    machine("highstate")
    (found,) = machine.answer("why", "conf", "--run")
    assert found["declared"].endswith("web.sls:5:3")
    assert found["top"].startswith("m* at ")
    assert found["arguments"]["mode"]["place"].endswith("web.sls:2:16"), "a default has its place"
    assert found["waited_for_by"][0]["state"] == "cmd: reload"
    assert found["last_run"]["result"] is True
    (below,) = machine.answer("why", f"file: {machine.folder}/d")
    assert below["included_by"] == ["web"]
    text = machine("why", "reload", "web").stdout
    assert "depends on file: conf (watch" in text
    assert "did you mean conf?" in machine("why", "cnof", code=1).stderr
    assert "`runner why ID NAME`" in machine("why", "elsewhere", code=1).stderr


SITE = {
    "top": "base:\n  'm*':\n    - web\n",
    "web__init": (
        "defaults:\n  file: {mode: '0640'}\ninclude:\n  - .conf\nchain:\n  - 'file: {tmp}/out ~>"
        " cmd: reload'\n{tmp}/out:\n  file.directory: []\nreload:\n  cmd.wait:\n    - name:"
        " 'true'\nlate:\n  cmd.run:\n    - name: exit 1\n    - order: 1\n    - require:\n      -"
        " test: pinned\npinned:\n  test.nop: []\nafter late:\n  cmd.run:\n    - name: 'true'\n    -"
        " require: [{cmd: late}]\nguarded:\n  cmd.run:\n    - name: 'true'\n    - unless: 'true'\n"
    ),
    "web__conf": (
        "base file:\n  file.managed:\n    - name: {tmp}/out/base\n    - contents: a\n    -"
        " makedirs: true\nweb conf:\n  file.managed:\n    - name: {tmp}/out/conf\n    - use:"
        " [{file: base file}]\n    - require_in:\n      - cmd: reload\nextend:\n  web conf:\n   "
        " file:\n      - makedirs: false\n      - listen: [{test: pinned}]\nlooker:\n  cmd.run:\n  "
        "  - name: 'true'\n    - prereq: [{file: web conf}]\n"
    ),
}


@pytest.fixture
def site(machine: Machine) -> Machine:
    machine.config["defaults"] = {"cmd": {"cwd": "/"}}  # type: ignore[assignment]
    machine.write(**SITE)
    return machine


def told(site: Machine, wanted: str, with_run: bool = False) -> str:
    site.argv()
    options = load.load(
        str(site.folder / "runner.yaml"), {"cachedir": str(site.folder / "cache")}, {}
    )[0]
    return why.text(explain.why(options, wanted, (), with_run)).replace(f"{site.folder}/", "")


def test_why_tells_where_each_argument_comes_from(site: Machine) -> None:
    lines = told(site, "web conf").splitlines()
    assert "    web.conf is included by web at states/web/init.sls:4:5" in lines
    assert "  in this run because of m* at states/top.sls:3:7" in lines
    assert "    name: out/conf   (at states/web/conf.sls:8:7)" in lines
    assert "    makedirs: false   (extend in web.conf, at states/web/conf.sls:15:9)" in lines
    assert "    contents: a   (use of file: base file, at states/web/conf.sls:4:7)" in lines
    assert '    mode: "0640"   (defaults of web, at states/web/init.sls:2:16)' in lines
    cwd = told(site, "looker")
    assert "    cwd: /   (defaults of the configuration" in cwd
    assert "    name: pinned   (the ID, at " in told(site, "pinned")


def test_why_tells_why_a_state_stands_where_it_does(site: Machine) -> None:
    text = told(site, "web conf")
    assert "  runs as number 6 of 9 (order 10001, by its place in the tree)\n" in text
    assert (
        "    moved after what it depends on: cmd: looker (prereq), file: out (autorequire)\n"
        in text
    )
    assert (
        "comes after cmd: looker, which checks it (prereq, states/web/conf.sls:20:16), number 5"
        in text
    )
    assert (
        "reacts at the end of the run to test: pinned (listen, states/web/conf.sls:16:18), number 1"
        in text
    )
    written = "states/web/conf.sls:11:9, written as require_in of file: web conf), number 7"
    assert f"required by cmd: reload (require, {written}" in text
    assert "written as a chain), number 4" in told(site, "reload")
    text = told(site, "pinned")
    assert "moved before what depends on it: cmd: late (require)" in text
    assert "(order 1, typed at " in told(site, "late")


def test_why_tells_what_became_of_a_state(site: Machine) -> None:
    assert "in no run that the history knows" in told(site, "late", with_run=True)
    site("highstate", code=2)
    site("highstate", "--test", code=None)
    assert "it ran and failed\n" in told(site, "late", with_run=True)
    skipped = told(site, "after late", with_run=True)
    assert "it could not run\n" in skipped
    assert "because of cmd: late (`runner why 'cmd: late' --run` says more)" in skipped
    guarded = told(site, "guarded", with_run=True)
    assert "it had nothing to do\n    unless condition is true\n" in guarded
    conf = told(site, "file: web conf", with_run=True)
    assert "it ran and changed diff, mode\n" in conf
    assert "the tree changed since the run before" in conf
    assert "it reacted to a change of another state" in told(site, "reload", with_run=True)


def test_init_makes_a_tree_that_passes_check_and_applies(machine: Machine, tmp_path: Path) -> None:
    folder = tmp_path / "new tree"
    argv = machine.argv()[:3]

    def run(*words: str, code: int = 0, where: Path = folder) -> str:
        environment = machine.environment | {"PWD": str(where)}
        done = subprocess.run(
            [*argv, *words], env=environment, capture_output=True, text=True, cwd=where
        )
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout + done.stderr

    said = run("init", "new tree", where=tmp_path)
    assert "cd 'new tree' && runner check" in said
    for path in (*folder.rglob("*.yaml"), *folder.rglob("*.yml")):
        assert yaml.safe_load(path.read_text()), path
    pillar = [
        "--pillar",
        f"{{motd: {{path: {tmp_path}/motd, text: Hello}}}}",
        "--cachedir",
        str(tmp_path / "c"),
    ]
    assert "No mistakes found" in run("check", *pillar)
    run("highstate", "--test", *pillar)
    assert not (tmp_path / "motd").exists()
    run("highstate", *pillar)
    assert (tmp_path / "motd").read_text() == "Hello\n"
    assert "changed" not in run("highstate", *pillar, "--detailed-exitcodes").replace(
        "unchanged", ""
    )
    assert "already exists" in run("init"), "an unaltered tree is left alone"
    (folder / "pillar/motd.sls").unlink()
    (folder / "states/top.sls").write_text("mine")
    assert "already there: ./states/top.sls; nothing was written" in run("init", code=1)
    assert not (folder / "pillar/motd.sls").exists()
    assert "not a directory" in run("init", "runner.yaml", code=1)


LINT = (
    "a:\n  cmd.run:\n    - name: 'true'\nb:\n  cmd.run: # runner: ignore[cmd-unguarded]\n    -"
    " name: 'true'\n/etc/x.pem:\n  file.managed:\n    - watch:\n      - cmd: a\nc:\n  test.nop:\n  "
    "  - order: 1\n    - require:\n      - test: d\nd:\n  test.nop:\n    - order: 5\n"
    "e:\n  service.enabled:\n    - watch:\n      - cmd: a\n"
    "f:\n  service.running:\n    - watch:\n      - cmd: a\n"
)


def test_check_warns_of_what_is_probably_not_meant(machine: Machine) -> None:
    machine.write(a=LINT)
    found = machine.document("check")["diagnostics"]
    places = {(each["code"], each["line"]) for each in found}
    assert places == {
        ("cmd-unguarded", 2),
        ("secret-mode", 8),
        ("watch-no-reaction", 10),
        ("order-overridden", 13),
        ("watch-no-reaction", 22),
    }
    assert {each["severity"] for each in found} == {"warning"}


@pytest.mark.parametrize("form", ["sarif", "github", "json", "pretty"])
def test_check_speaks_to_programs(machine: Machine, form: str) -> None:
    machine.write(a="x:\n  file.managed:\n    - name: /x\n    - modee: '0644'\n")
    out = machine("check", "--out", form, code=1).stdout
    assert "modee" in out
    if form == "sarif":
        (result,) = json.loads(out)["runs"][0]["results"]
        assert result["locations"][0]["physicalLocation"]["region"]["startLine"] == 4
    if form == "github":
        assert out.startswith(
            f"::error file={machine.folder}/states/a.sls,line=4,col=7,title=unknown-argument::"
        )
    assert machine("check", "--out", form, "--lenient").stdout


def test_check_for_another_machine(machine: Machine, tmp_path: Path) -> None:
    machine.write(a="{% if grains['os'] == 'Plan9' %}\nx:\n  nosuch.state: []\n{% endif %}\n")
    machine("check")
    (tmp_path / "grains.yaml").write_text("os: Plan9\n")
    assert (
        "nosuch.state" in machine("check", "--grains", str(tmp_path / "grains.yaml"), code=1).stdout
    )
    assert "--grains /none" in machine("check", "--grains", "/none", code=1).stderr


def test_only_what_may_hold_a_key_needs_a_mode() -> None:
    from runner.tools.check.secret_files import is_named_so

    public = (
        "/etc/ssl/certs/x.pem",
        "/etc/nginx/dhparams.pem",
        "/a/fullchain.pem",
        "/a/ca-bundle.pem",
        "/a/web.cert.pem",
        "/etc/passwd",
        "/etc/pam.d/common-password",
    )
    secret = (
        "/etc/ssl/private/web.pem",
        "/a/privkey.pem",
        "/a/site.key",
        "/etc/haproxy/certs/site.pem",
        "/a/local.pem",
    )
    assert not any(map(is_named_so, public)) and all(map(is_named_so, secret))


SECRET_FILES = """
/srv/a.key: {file.managed: [contents: x, mode: '0600']}
/srv/b.key: {file.managed: [contents: x, mode: 0o600]}
/srv/c.key: {file.managed: [contents: x, mode: 640, group: ssl]}
/srv/d.key: {file.managed: [contents: x, umask: '077']}
/srv/e.key: {file.managed: [contents: x]}
/srv/f.key: {file.managed: [contents: x, mode: 0o644]}
/srv/g.conf: {file.managed: [contents: 'pw={{ pillar.db.password }}']}
/srv/h.conf: {file.managed: [contents_pillar: db:password]}
/srv/i.conf: {file.managed: [source: salt://t.conf, template: jinja]}
/srv/j.conf: {file.managed: [source: salt://t.conf, template: jinja, mode: '0640']}
/srv/k.conf: {file.managed: [source: salt://plain.conf, template: jinja]}
/srv/l.conf: {file.managed: [contents: 'host={{ pillar.db.host }}']}
/srv/m.conf:
  file.managed: [source: salt://t.conf, template: jinja, context: {x: 1}, mode: 604]
/srv/n.conf:
  file.managed:
    - source: [salt://nosuch.conf, salt://plain.conf]
    - template: jinja
    - context: {all: {{ pillar.db | json }}}
/srv/o.conf:
  file.managed:
    - source: [salt://nosuch.conf, salt://word.conf]
    - template: jinja
    - context: {word: {{ pillar.db.password }}}
/srv/p.conf: {file.managed: [contents: '{{ pillar.db.password }}', mode: '0755']}
/usr/share/keyrings/q.key: {file.managed: [contents: x]}
/etc/ssl/mydhparam1.pem: {file.managed: [contents: x]}
"""


def test_a_file_that_a_secret_goes_into_needs_a_mode(machine: Machine) -> None:
    machine.write(top="base: {'*': [a]}\n", a=SECRET_FILES, pillar__top="base: {'*': [p]}\n")
    machine.write(pillar__p="db: {password: Correct0Horse, host: db1.example.org}\n")
    (machine.folder / "states/t.conf").write_text("pw = {{ pillar['db']['password'] }}\n")
    (machine.folder / "states/plain.conf").write_text(
        "# the password is elsewhere\nhost = {{ pillar['db']['host'] }}\n"
    )
    (machine.folder / "states/word.conf").write_text("{{ word }}\n")
    found = machine.document("check")["diagnostics"]
    told = {each["message"].split()[0][5]: each["message"] for each in found}
    assert {each["code"] for each in found} == {"secret-mode"} and len(found) == len(told)
    assert set(told) == set("efghimop")
    hints = {each["message"].split()[0][5]: each["hint"] for each in found}
    assert hints["e"] == hints["m"] == "`- mode: '0600'`, or '0640' with a group"
    assert hints["p"] == "`- mode: '0700'`, or '0750' with a group"
    assert told["e"] == "/srv/e.key looks like a secret and has no mode"
    assert told["f"] == "/srv/f.key looks like a secret, and everybody may read it (mode 0o644)"
    assert (
        told["g"] == told["h"].replace("h", "g", 1) == "/srv/g.conf holds a secret and has no mode"
    )
