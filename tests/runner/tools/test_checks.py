# SPDX-License-Identifier: Apache-2.0
"""The page of codes has every code that `runner check` gives, with examples that give it and that
do not.
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest
from command import ROOT, Machine

from runner.model.diagnostics import Diagnostic
from runner.model.errors import RunnerError
from runner.output.manual import codes
from runner.sources.config import load
from runner.tools import check

PAGE = codes.page()
SECTIONS = {part.partition("`")[0]: part for part in PAGE.split("### `")[1:]}
WARNINGS = {part.partition("`")[0] for part in PAGE.partition("## Warnings")[2].split("### `")[1:]}
# a difference: with its lines of `-` it is reported, with those of `+` it is not
EXAMPLES = [
    (code, kind, "".join(line[1:] for line in lines if line[0] in f" {sign}"))
    for code, part in SECTIONS.items()
    for lines in [text.splitlines(True) for text in re.findall(r"```diff\n(.*?)```", part, re.S)]
    for kind, sign in (("Reported", "-"), ("Not reported", "+"))
]


def checked(text: str, folder: Path, lenient: bool = False) -> list[Diagnostic]:
    """Return what is said of an example: lines like `# name.sls` begin another file."""
    name = "web.sls"
    files: dict[str, list[str]] = {}
    for line in text.splitlines():
        marker = re.fullmatch(r"# (\S+)", line)
        name = marker[1] if marker else name
        if not marker:
            files.setdefault(name, []).append(line)
    if files and not any(path.endswith(".sls") for path in files):
        files["some.sls"] = ["some: test.nop"]
    for path, lines in files.items():
        target = (
            folder / path
            if path.startswith(("pillar/", "runner.yaml", "formulas.yml"))
            else folder / "states" / path
        )
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text("\n".join(lines) + "\n")
    usual = {"file_roots": {"base": ["states"]}, "pillar_roots": {"base": ["pillar"]}, "id": "m1"}
    if "runner.yaml" not in files:
        (folder / "runner.yaml").write_text(json.dumps(usual))
    try:
        options, warnings = load.load(
            str(folder / "runner.yaml"), {"cachedir": str(folder / "cache")}, {}
        )
        return check.check(options, lenient=lenient, configuration=warnings)
    except RunnerError as error:
        return list(error.diagnostics)


@pytest.mark.parametrize(
    ("code", "kind", "text"), EXAMPLES, ids=[f"{code} {kind}" for code, kind, _ in EXAMPLES]
)
def test_the_examples_of_the_page(code: str, kind: str, text: str, tmp_path: Path) -> None:
    (tmp_path / "states").mkdir()
    found = checked(text, tmp_path)
    said = [str(problem) for problem in found]
    if kind == "Not reported":
        assert code not in [problem.code for problem in found], said
        assert not [problem for problem in found if problem.severity == "error"], said
        return
    (problem,) = [problem for problem in found if problem.code == code] or pytest.fail(str(said))
    assert problem.severity == ("warning" if code in WARNINGS else "error")
    assert problem.source and problem.source.line, said
    assert problem.hint, said


def test_every_code_of_a_warning_is_ignored_on_its_line(tmp_path: Path) -> None:
    for code, kind, text in EXAMPLES:
        if kind == "Not reported" or code not in WARNINGS:
            continue
        folder = tmp_path / code
        (folder / "states").mkdir(parents=True)
        (problem,) = [problem for problem in checked(text, folder) if problem.code == code]
        assert problem.source
        path = Path(problem.source.file)
        lines = path.read_text().split("\n")
        lines[problem.source.line - 1] += f"  # runner: ignore[other, {code}]"
        copy = tmp_path / f"{code}-ignored" / "states" / path.name
        copy.parent.mkdir(parents=True)
        for other in (folder / "states").iterdir():
            (copy.parent / other.name).write_text(other.read_text())
        copy.write_text("\n".join(lines))
        assert code not in [each.code for each in checked("", copy.parent.parent)], code


def test_a_value_of_a_template_is_quoted_where_it_was_typed(tmp_path: Path) -> None:
    (tmp_path / "states").mkdir()
    text = "/f:\n  file.directory:\n    - mode: {{ pillar.get('mode', '0755') }}\n"
    (problem,) = [each for each in checked(text, tmp_path) if each.code == "yaml-octal"]
    assert problem.hint == ("""put it in quotes: `- mode: "{{ pillar.get('mode', '0755') }}"`""")


def test_values_that_become_text_are_looked_at_at_any_depth(tmp_path: Path) -> None:
    (tmp_path / "states").mkdir()
    text = """
    /f:
      file.managed:
        - contents: [on, 0644, 1:30, 1.10, 1_000, fine, 12, 1.5, 'on', {port: x}]
    /g:
      ini.options_present:
        - sections:
            s: {errors: off, mask: 022, n: 1, quoted: "022"}
            u: {heartbeat: None, beat: True}
            t:
              x: true
    /h:
      file.append:
        - text:
          - no
          - 12:30
          - {{ 'yes' }}
    /i:
      file.serialize:
        - serializer: yaml
        - dataset: {mode: 1.10, on: off}
    """
    said = [f"{each.message} [{each.code}]" for each in checked(dedent(text), tmp_path)]
    truth = "YAML reads {} as {}, which becomes the text {} [yaml-truth]"
    number = "YAML reads {} as the number {} [yaml-number]"
    octal = "{} without quotes is a number, for most YAML readers an octal one [yaml-octal]"
    contents, sections, lines = (
        "file.managed: contents",
        "ini.options_present: sections",
        "file.append: text",
    )
    assert sorted(said) == sorted(
        [
            "file.managed: contents: YAML reads a mapping, and \"{'port': 'x'}\" is written [trap]",
            f"{contents}: {truth.format('on', 'true', 'True')}",
            f"{contents}: {octal.format('0644')}",
            f"{contents}: {number.format('1:30', '90 (base 60)')}",
            f"{contents}: {number.format('1.10', '1.1')}",
            f"{contents}: {number.format('1_000', '1000')}",
            f"{sections}: s: errors: {truth.format('off', 'false', 'False')}",
            f"{sections}: s: mask: {octal.format('022')}",
            f"{sections}: t: x: true becomes the text True [yaml-truth]",
            f"{lines}: {truth.format('no', 'false', 'False')}",
            f"{lines}: {number.format('12:30', '750 (base 60)')}",
            f"{lines}: {truth.format('yes', 'true', 'True')}",
        ]
    )


def test_a_hardware_address_that_yaml_reads_as_a_number_is_told_wherever_it_stands(
    tmp_path: Path,
) -> None:
    (tmp_path / "states").mkdir()
    text = """
    /tmp/ifcfg:
      file.managed:
        - source: ~
        - contents: x
        - defaults:
            device: {mac: 52:54:00:42:25:43, mtu: 1500, up: yes}
    """
    said = [each for each in checked(dedent(text), tmp_path) if each.code == "yaml-number"]
    assert [(each.message, each.hint) for each in said] == [
        (
            "file.managed: defaults: device: mac: YAML reads 52:54:00:42:25:43 as the number"
            " 41135192743 (base 60)",
            "put it in quotes: `mac: '52:54:00:42:25:43'`",
        )
    ]


def test_only_what_becomes_text_is_told_below_a_list_or_a_mapping(tmp_path: Path) -> None:
    (tmp_path / "states").mkdir()
    text = """
    guarded:
      cmd.run:
        - name: echo
        - onlyif: [{fun: cmd.run, cmd: echo, python_shell: true}]
        - env: [{A: off}, {B: 1.10}]
    given:
      cmd.run:
        - name: echo
        - creates: /c
        - env: {C: no}
    /i:
      file.serialize:
        - serializer: json
        - dataset: {a: 1}
        - serializer_opts: [{sort_keys: true}]
    vim:
      pkg.installed:
        - pkgs: [{vim: 9.10}]
    """
    said = {each.message for each in checked(dedent(text), tmp_path) if "yaml" in each.code}
    assert said == {
        "cmd.run: env: A: YAML reads off as false, which becomes the text False",
        "cmd.run: env: B: YAML reads 1.10 as the number 1.1",
        "cmd.run: env: C: YAML reads no as false, which becomes the text False",
        "pkg.installed: pkgs: vim: YAML reads 9.10 as the number 9.1",
    }


def test_every_code_has_its_section() -> None:
    """Codes of mistakes that the library names: everything that is handed to a Diagnostic or an
    error.
    """
    used = {"error", "compile"}  # bases, never given themselves
    for path in (ROOT / "runner").rglob("*.py"):
        if path.parent.name in ("output", "history", "grains") or "cli" in path.parts:
            continue
        text = path.read_text()
        used |= set(re.findall(r'^\s+code = "([a-z-]+)"', text, re.M))
    missing = (
        used
        - set(SECTIONS)
        - {"error", "compile", "locked", "unavailable", "interrupted", "state-failed"}
        - {"no-lock", "no-sandbox", "plan"}  # of commands that check nothing
        - {"git", "report", "unreachable", "untrusted"}  # of repositories and deliveries, likewise
    )
    assert not missing, f"runner/output/manual/checks.md has no section for {sorted(missing)}"


def test_the_manual_shows_each_code(machine: Machine) -> None:
    page = machine("doc", "cmd-unguarded").stdout
    assert page.startswith("cmd-unguarded  (check)\n") and "+    - creates: /opt/app" in page
    assert "check-too-late" not in page
    assert "unknown-argument" in machine("doc", "checks").stdout
    assert machine("doc", "chain").stdout.startswith("chain  (language)")
    (part,) = machine.answer("doc", "undone")
    assert (part["name"], part["kind"]) == ("undone", "check")


def test_lenient_gives_warnings_for_what_salt_compiles(tmp_path: Path) -> None:
    (tmp_path / "states").mkdir()
    for code in ("unknown-argument", "ignored", "missing-file", "unknown-state", "match"):
        (text,) = [text for name, kind, text in EXAMPLES if (name, kind) == (code, "Reported")]
        folder = tmp_path / code
        (folder / "states").mkdir(parents=True)
        found = checked(text, folder, lenient=True)
        assert code in [problem.code for problem in found]
        assert {problem.severity for problem in found} == {"warning"}, [str(each) for each in found]


def test_what_templates_run_is_told(machine: Machine) -> None:
    machine.write(web="a:\n  test.nop:\n    - name: x{{ salt['cmd.run']('echo hello') }}\n")
    out = machine("check").stdout
    assert "info: the template runs a command: cmd.run 'echo hello'" in out
    assert "web.sls:3" in out
    assert out.endswith("No mistakes found.\n")


def test_pillar_and_modules_that_this_machine_does_not_use_are_checked(machine: Machine) -> None:
    machine.write(
        web="a: {test.nop: []}\n",
        pillar__top="base:\n  other:\n  - broken\n  - gone\n",
        pillar__broken="a: [1\n",
    )
    (machine.folder / "states/_modules").mkdir()
    (machine.folder / "states/_modules/box.py").write_text("def get(:\n")
    found = machine.document("check", code=1)["diagnostics"]
    places = {
        (each["code"], each["file"].removeprefix(f"{machine.folder}/"), each["line"])
        for each in found
    }
    assert places == {
        ("yaml", "pillar/broken.sls", 1),
        ("missing-sls", "pillar/top.sls", 4),
        ("module", "states/_modules/box.py", 1),
    }


def test_a_file_that_several_environments_or_names_reach(machine: Machine) -> None:
    """dev falls back on the folder of base; the top file writes a name with a slash."""
    states = str(machine.folder / "states")
    machine.config["file_roots"] = {"base": [states], "dev": [str(machine.folder / "dev"), states]}
    machine.write(
        top="base: {'*': [a, roles/web]}",
        a="a: test.nop",
        roles__web="'{{ sls }}': test.nop",
        lost="c: test.nop",
    )
    told = machine.document("check")["diagnostics"]
    assert {(each["code"], each["file"]) for each in told} == {("unreached", f"{states}/lost.sls")}
    assert len(told) == 1


def test_what_an_include_names_in_a_condition_is_used(machine: Machine) -> None:
    machine.write(
        top="base: {'*': [a]}",
        a__init="{% if false %}\ninclude:\n  - .users\n  - b.{{ x }}\n{% endif %}\na: test.nop",
        a__users="include:\n  - .deep.x\nb: test.nop",
        a__deep__x="{% import 'a/macros.sls' as m %}\nc: test.nop",
        a__macros="{% from './more.sls' import x %}",
        a__more="{% set x = 1 %}",
        b__Plan9="d: test.nop",
        lost="include: [lost2]",
        lost2="- b.x",
    )
    told = machine.document("check", code=1)["diagnostics"]
    unreached = {each["message"].partition(": ")[0] for each in told if each["code"] == "unreached"}
    assert unreached == {
        "nothing uses the SLS lost",
        "nothing uses the SLS lost2",
    }


def test_what_a_broken_pillar_lacks_is_no_mistake_of_the_top_file(machine: Machine) -> None:
    machine.write(
        pillar__top="base: {'*': [p]}",
        pillar__p="secret: 'ENC[PKCS7,MIIBeQYJKoZI'",
        top="{% if pillar.peers.x %}{% endif %}\nbase: {'*': [a]}",
        a="a: test.nop",
    )
    told = machine.document("check", code=1)["diagnostics"]
    assert [each["code"] for each in told] == ["undecrypted"]


def test_a_pillar_file_is_read_with_the_defaults_of_its_include(machine: Machine) -> None:
    machine.write(
        pillar__top="base: {'*': [one]}",
        pillar__one="include: [sub: {key: a, defaults: {q: 5}}]",
        pillar__sub="value: {{ q }}",
        a="a: test.nop",
    )
    told = machine.document("check")["diagnostics"]
    assert {each["code"] for each in told} <= {"unreached"}, told
    machine.write(pillar__sub="value: {{ q }}\nsecret: 'ENC[PKCS7,MIIBeQYJKoZI'")
    told = machine.document("check", code=1)["diagnostics"]
    (only,) = [each for each in told if each["code"] != "unreached"]
    assert (only["code"], only["file"]) == ("undecrypted", f"{machine.folder}/pillar/sub.sls")


def test_what_a_tree_does_not_use_of_a_formula_is_one_warning(machine: Machine) -> None:
    parts = {
        f"nginx__{part}": "{}" for part in ("pkg", "conf", "logs", "certs", "users", "snippets")
    }
    machine.write(top="base: {'*': [web, nginx.ng]}", web="a: test.nop", nginx__ng="b: test.nop")
    machine.write(**parts, lost="c: test.nop", redis__init="d: test.nop", old__one="e: test.nop")
    machine.write(old__two="f: test.nop", old__three="# runner: ignore[unreached]\ng: test.nop")
    told = machine.document("check")["diagnostics"]
    assert {each["code"] for each in told} == {"unreached"}
    assert sorted(each["message"] for each in told) == [
        "nothing uses 2 SLS files of old: old.one, old.two: no line of the top file, no include",
        "nothing uses 6 SLS files of nginx: nginx.certs, nginx.conf, nginx.logs, nginx.pkg,"
        " nginx.snippets and 1 more: no line of the top file, no include",
        "nothing uses the SLS lost: no line of the top file, no include",
        "nothing uses the SLS redis: no line of the top file, no include",
    ]


def test_a_state_that_there_is_not_has_its_place_whatever_its_source_is(machine: Machine) -> None:
    machine.write(
        a="/x:\n  nobody.has:\n    - source: salt://y\nb:\n  test.nop:\n    - nonsense: 1\n"
    )
    told = machine.document("check", code=1)["diagnostics"]
    assert [(each["code"], each["line"]) for each in told] == [
        ("unknown-state", 2),
        ("missing-file", 3),
        ("unknown-argument", 6),
    ]


def test_forms_for_programs(machine: Machine) -> None:
    machine.write(web="/etc/motd:\n  file.managed:\n    - moed: '0644'\n\n    - mode: 0644\n")
    sarif = json.loads(machine("check", "--out", "sarif", code=1).stdout)["runs"][0]
    rules = {rule["id"]: rule for rule in sarif["tool"]["driver"]["rules"]}
    assert rules["unknown-argument"]["helpUri"].endswith(
        "docs/reference/checks.md#unknown-argument"
    )
    where = [each["locations"][0]["physicalLocation"] for each in sarif["results"]]
    assert [each["region"]["startLine"] for each in where] == [3, 5]
    lines = machine("check", "--out", "github", code=1).stdout.splitlines()
    assert lines[0].startswith(
        f"::error file={machine.folder}/states/web.sls,line=3,col=7,title=unknown-argument::"
    )
    assert lines[1].startswith("::warning ")
    shown = machine("check", code=1).stdout
    assert "warning: file.managed: mode: 0644 without quotes" in shown
    assert "[yaml-octal]" in shown
    assert shown.splitlines()[-1] == "1 error, 1 warning."


def test_the_hook_for_pre_commit_calls_a_command_that_there_is(machine: Machine) -> None:
    import yaml

    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    program, *words = hook["entry"].split()
    assert (program, hook["language"], hook["pass_filenames"]) == ("runner", "python", False)
    assert hook["always_run"] and "files" not in hook, "a deleted file is among none that changed"
    machine.write(web="a:\n  test.nop: []\n")
    assert machine(*words).stdout == "No mistakes found.\n"


def test_variables_of_a_template_among_the_arguments(machine: Machine) -> None:
    """As with Salt, other arguments are variables of the template; one that it does not use is a
    mistake.
    """
    state = (
        "{tmp}/out:\n  file.managed:\n    - source: salt://t.sls\n    - template: jinja\n    -"
        " zone: a.example\n"
    )
    machine.write(web=state, t="zone {{ zone }}\n")
    assert machine("check", "web").stdout == "No mistakes found.\n"
    machine("sls", "web")
    assert (machine.folder / "out").read_text() == "zone a.example\n"
    machine.write(web=state + "    - moed: '0600'\n")
    assert "did you mean 'mode'?" in machine("check", "web", code=1).stdout


def test_an_open_argument_near_a_requisite_is_none(machine: Machine) -> None:
    machine.write(web="a:\n  iptables.append:\n    - chain: INPUT\n    - match: [conntrack, tcp]\n")
    assert machine("check", "web").stdout == "No mistakes found.\n"


def test_a_secret_in_a_value_is_hidden_however_long_the_value_is(machine: Machine) -> None:
    words = "".join(f"  key{n}: {n}\n" for n in range(10))
    machine.write(
        pillar__top="base: {'*': [x]}\n",
        pillar__x=f"app:\n{words}  password: hunter2-hunter2\n",
        web="{% set app = pillar['app'] %}\na:\n  test.nop:\n    - name: {{ app.prot }}\n",
    )
    shown = machine("check", code=1).stdout
    assert "with app = {'key0'" in shown
    assert "hunter2" not in shown + machine("check", "--out", "json", code=1).stdout


def test_a_run_that_does_not_compile_tells_its_errors_in_salts_shape(machine: Machine) -> None:
    machine.write(web="/x:\n  file.managed:\n    - moed: '0644'\n    - makedirs: perhaps\n")
    (said,) = machine.answer("sls", "web", code=1)
    assert said.startswith("file.managed: makedirs: expected true or false")
    assert "web.sls:4:7" in said


def test_a_folder_that_may_not_be_read_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hidden = str(tmp_path / "states/hidden")
    scan = os.scandir

    def scandir(path: str) -> Any:
        if path.rstrip("/") == hidden:
            raise PermissionError(13, "Permission denied", path)
        return scan(path)

    monkeypatch.setattr(os, "scandir", scandir)
    (problem,) = checked(
        "# top.sls\nbase: {'*': [a]}\n# a.sls\nx: test.nop\n# hidden/b.sls\ny: {", tmp_path
    )
    assert (problem.severity, problem.message) == (
        "error",
        f"{hidden} cannot be read: Permission denied",
    )


def test_a_check_of_nothing_is_an_error(machine: Machine, tmp_path: Path) -> None:
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    done = machine("check", code=1)  # a tree without a file
    assert (
        f"error: there is no tree to check: no SLS file below {machine.folder}/states\n"
        in done.stdout
    )
    machine.config["file_roots"] = {"base": [str(folder / "nope")]}
    done = machine("check", code=1)
    assert "--state-tree" in done.stdout
    assert (
        f"below {folder}/nope (there is no such folder)" in done.stdout
        and "runner.yaml:1:" in done.stdout
    )
    machine.write(a="x: test.nop\n", pillar__top="base: {'*': []}")
    assert "no such folder" in machine("check", code=1).stdout  # mistyped, beside a pillar
    machine.config["file_roots"] = {"base": ["states"]}
    assert machine("check").stdout == "No mistakes found.\n"
    assert "no such folder" in machine("check", "--state-tree", f"{folder}/nope", code=1).stdout
    told = machine("check", "--saltenv", "prod", code=1).stdout
    assert told.startswith(
        "error: there is no environment 'prod' in file_roots\n  hint: there is: base\n"
    )


def test_trees_that_a_repository_brings_for_its_tests_are_left_out(machine: Machine) -> None:
    data = "web:\n  lookup: {a: 1}\n"
    machine.write(
        web__init="a: test.nop\n",
        web__bad="a: test.nope\n",
        test__salt__pillar__web=data,
        pillar__x=data,
        pillar__y=data,
        _pillar__z=data,
    )
    for name in ("web", "other"):
        machine.write(
            **{
                f"other__states__{name}": "b: test.nope\n",
                "other__states__top": "base: {'*': [web]}\n",
            }
        )
        machine.write(**{f"states__test__{name}": data})
    # all of it lies below one root, as in a clone of a formula
    machine.config["file_roots"] = {"base": [str(machine.folder)]}
    (machine.folder / "FORMULA").touch()
    (machine.folder / "test").mkdir()
    (machine.folder / "test/default.sls").write_text(data)
    machine.config["pillar_roots"] = {"base": [str(machine.folder / "no-pillar")]}
    problems = machine.document("check", code=1)["diagnostics"]
    (left,) = [each for each in problems if each["code"] == "left-out"]
    counted = dict(re.findall(rf"{machine.folder}/([\w/]+) \((\d+)\)", left["message"]))
    pillars = {"pillar": "2", "states/_pillar": "1", "states/test/salt/pillar": "1"}
    assert counted == {**pillars, "states/other/states": "3", "test": "1"}
    assert (
        left["message"].startswith("8 SLS files are left out, because they are of")
        and left["severity"] == "info"
    )
    files = {
        each["file"].removeprefix(f"{machine.folder}/")
        for each in problems
        if each["severity"] == "error"
    }
    assert files == {
        "states/web/bad.sls",
        "states/states/test/other.sls",
        "states/states/test/web.sls",
    }
    machine("check", "pillar.x", code=1)  # by its name it is looked at
    machine.write(web__init="include: [pillar.x]\n")
    found = machine.document("check", code=1)["diagnostics"]
    assert f"{machine.folder}/pillar/x.sls" in [each["file"] for each in found]


def test_a_pipe_in_the_tree_is_no_file(machine: Machine) -> None:
    os.mkfifo(machine.folder / "states/pipe")
    machine.write(web="/etc/f: {file.managed: [source: 'salt://pipe']}\n")
    told = machine("check", "web", code=1).stdout
    assert "source: salt://pipe is no regular file" in told
    assert f"looked at {machine.folder}/states/pipe" in told


def test_a_single_file_that_is_left_out(machine: Machine) -> None:
    machine.write(web="a: test.nop\n", states__pillar__x="web:\n  lookup: {a: 1}\n")
    machine.config["file_roots"] = {"base": [str(machine.folder / "states")]}
    done = machine("check")
    assert "1 SLS file is left out, because it is of another tree" in done.stdout
    assert done.stdout.endswith("No mistakes found.\n")


def test_a_part_of_a_template_is_checked_with_it(machine: Machine) -> None:
    machine.write(
        app="{% set port = 1 %}\n{% include 'parts/conf.sls' %}\n{% include 'more/init.sls' %}\n",
        parts__conf="x{{ port }}: test.nop\n",
        more__init="y{{ port }}: {test.nop: [odd: 1]}\n",
    )
    shown = machine("check", code=1).stdout
    assert "undefined" not in shown and "no argument 'odd'" in shown
    machine.write(top="base: {'*': [parts.conf]}\n")
    assert "'port' is undefined" in machine("check", code=1).stdout
