# SPDX-License-Identifier: Apache-2.0
"""Ways of writing that public trees share: each compiles as with Salt."""

from __future__ import annotations

import os
from collections import OrderedDict
from pathlib import Path
from typing import Any

import pytest
from command import Machine

from runner.sources.config.load import load
from runner.tools.queries import show


def compiled(
    folder: Path, files: dict[str, str], pillar: dict[str, Any] | None = None
) -> list[dict[str, Any]]:
    """The low chunks of `site` in a tree of these files."""
    (folder / "runner.yaml").write_text(
        "id: web1\nfile_roots: {base: [states]}\npillar_roots: {base: [pillar]}\n"
    )
    for name, text in files.items():
        path = folder / "states" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    overrides = {"cachedir": str(folder / "cache"), "pillar": pillar or {}}
    options, _ = load(str(folder / "runner.yaml"), overrides, os.environ)
    found: list[dict[str, Any]] = show.show(options, "low-sls", ["site"], secrets=True)
    return found


def ids(chunks: list[dict[str, Any]]) -> list[str]:
    return [chunk["__id__"] for chunk in chunks]


STACK = """
{%- macro stack(names) %}
{%-   set made = {"values": {}} %}
{%-   for name in names %}
{%-     load_yaml as read %}
{%-       include name ignore missing %}
{%-     endload %}
{%-     if read %}
{%-       set merged = salt["slsutil.merge"](made["values"], read | traverse("values", {})) %}
{%-       do made.update({"values": merged}) %}
{%-     endif %}
{%-   endfor %}
{{ made | yaml }}
{%- endmacro %}
"""


def test_merged_mappings(tmp_path: Path) -> None:
    """A key of its own wins wherever it stands; tags that Python 2 wrote are texts."""
    text = (
        "site: {test.nop: [{a: &a {x: 1, y: 2}}, {b: {x: 5, <<: [*a, {z: 3}]}}, {c:"
        " !!python/unicode text}]}"
    )
    (chunk,) = compiled(tmp_path, {"site.sls": text})
    assert (chunk["b"], chunk["c"]) == ({"x": 5, "y": 2, "z": 3}, "text")


def test_a_macro_that_answers_in_yaml(tmp_path: Path) -> None:
    files = {
        "site/stack.jinja": STACK,
        "site/one.yaml": "values: {name: one, deep: {a: 1}}\n",
        "site/two.yaml": "values: {deep: {b: 2}}\n",
        "site/map.jinja": (
            '{% from tpldir ~ "/stack.jinja" import stack with context %}{% set data ='
            ' (stack(["site/one.yaml", "site/gone.yaml", "site/two.yaml"]) |'
            ' load_yaml)["values"] %}'
        ),
        "site/init.sls": (
            '{% from tpldir ~ "/map.jinja" import data with context %}\n'
            "{{ data.name }}: {test.nop: [deep: {{ data.deep | json }}]}\n"
        ),
    }
    (chunk,) = compiled(tmp_path, files)
    assert (chunk["__id__"], chunk["deep"]) == ("one", {"a": 1, "b": 2})


@pytest.mark.parametrize("form", ["yaml", "json"])
def test_a_macro_s_answer_read_again(tmp_path: Path, form: str) -> None:
    text = (
        '{% macro said() %}{"a": 1}{% endmacro %}{% set x = said() | load_'
        + form
        + " %}\nx{{ x.a }}: test.nop\n"
    )
    assert ids(compiled(tmp_path, {"site.sls": text})) == ["x1"]


def test_functions_named_in_the_list_are_numbered_first(tmp_path: Path) -> None:
    text = (
        "a:\n  pkg.installed: []\n  service: [running]\n  file.absent: [name: /x]\n  cmd: [run,"
        " name: y]\n"
    )
    assert [chunk["state"] for chunk in compiled(tmp_path, {"site.sls": text})] == [
        "service",
        "cmd",
        "pkg",
        "file",
    ]


def test_an_empty_id_is_no_mistake(machine: Machine) -> None:
    machine.write(a="x: {}\ny: test.nop\n")
    assert "warning: ID x in SLS a has no state" in machine("check").stdout


def test_lenient_takes_the_states_that_only_salt_has(machine: Machine) -> None:
    machine.write(a="x:\n  zabbix_host.present: []\n")
    assert "State 'zabbix_host.present' was not found" in machine("check", code=1).stdout
    found = machine("check", "--lenient").stdout
    assert "warning: State 'zabbix_host.present' was not found in SLS 'a'; it will fail" in found


def test_check_of_a_tree_whose_files_do_not_fit_into_one_run(machine: Machine) -> None:
    """install and clean, an old and a new version: states never in one run cannot conflict."""
    machine.write(
        **{
            "app/init": "include: [.install, .extra]\n",
            "app/install": "app: {test.nop: []}\n",
            "app/clean": (
                "app: {test.succeed_without_changes: [require: [test: gone]]}\ngone: {test.nop:"
                " []}\n"
            ),
            "app/extra": "more: {test.nop: [require_in: [test: app]]}\n",
        }
    )
    assert "No mistakes found" in machine("check").stdout
    machine.write(**{"app/init": "include: [.install, .clean]\n"})
    assert "conflicting ID is 'app'" in machine("check", code=1).stdout
    machine.write(**{"app/init": "include: [.extra]\n", "app/install": "other: {test.nop: []}\n"})
    machine.write(**{"app/clean": "gone: {test.nop: []}\n"})
    assert "Cannot extend ID 'app'" in machine("check", code=1).stdout


def test_a_command_of_a_template_needs_no_shell(tmp_path: Path, machine: Machine) -> None:
    """As with Salt: the words are the program's, unless a shell is asked for; `runner call` takes
    one.
    """
    calls = [
        "'cmd.run']('echo a | cat'",
        "'cmd.run_stdout']('echo a | cat', python_shell=True",
        "'cmd.shell']('echo a;'",
    ]
    text = "".join(
        f"{number}-{{{{ salt[{call}) }}}}: test.nop\n" for number, call in enumerate(calls)
    )
    assert ids(compiled(tmp_path, {"site.sls": text})) == ["0-a | cat", "1-a", "2-a"]
    assert machine("call", "cmd.run", "echo a | cat").stdout == "a\n"


def test_mappings_of_the_pillar_keep_their_order(tmp_path: Path) -> None:
    """Written as YAML they have it; operations on texts show that they are such mappings, as with
    Salt.
    """
    (tmp_path / "pillar").mkdir()
    (tmp_path / "pillar/top.sls").write_text("base: {'*': [one, two]}")
    (tmp_path / "pillar/one.sls").write_text("app: {z: 1, b: [{d: 1, c: 2}]}")
    (tmp_path / "pillar/two.sls").write_text("app: {a: 3}")
    text = """
    {%- import_yaml "data.yaml" as data %}
    x:
      test.nop:
        - yaml: {{ pillar.app | yaml | yaml_dquote }}
        - shown: {{ pillar.app }}
        - joined: {{ (pillar.app.b ~ '') | yaml_dquote }}
        - said: {{ ('%s' % pillar.app.b[0]) | yaml_dquote }}
        - data: {{ data | yaml | yaml_dquote }}
    """
    (chunk,) = compiled(tmp_path, {"site.sls": text, "data.yaml": "b: 1\na: 2\n"})
    assert chunk["yaml"] == "{z: 1, b: [{d: 1, c: 2}], a: 3}"
    assert chunk["shown"] == {"z": 1, "b": [{"d": 1, "c": 2}], "a": 3}
    inner = OrderedDict(d=1, c=2)  # whose text is another one from Python 3.12 on
    assert (str(chunk["joined"]), chunk["said"]) == (f"[{inner}]", str(inner))
    assert chunk["data"] == "{a: 2, b: 1}"


def test_arguments_keep_their_order(machine: Machine) -> None:
    """In the templates of files, and for states in Salt's style."""
    machine.write(
        a=(
            "{tmp}/f:\n  file.managed:\n    - source: salt://f.jinja\n    - template: jinja\n    -"
            " context: {app: {z: 1, b: [{d: 1, c: 2}]}}\n    - defaults: {more: {y: 1, x: 2}}\nx:\n"
            "  own.said:\n    - what: {b: 1, a: {d: 1, c: 2}}\n"
        )
    )
    states = machine.folder / "states"
    (states / "f.jinja").write_text("{{ app | yaml }} {{ more | yaml }}\n")
    (states / "_states").mkdir()
    answer = "{'name': name, 'changes': {}, 'result': True, 'comment': str(what)}"
    (states / "_states/own.py").write_text(
        f"def said(name, what=None, **kwargs):\n    return {answer}\n"
    )
    found = machine.results("sls", "a")
    assert (machine.folder / "f").read_text() == "{z: 1, b: [{d: 1, c: 2}]} {y: 1, x: 2}\n"
    assert found["x"]["comment"] == str(OrderedDict(b=1, a=OrderedDict(d=1, c=2)))


def test_lines_of_a_printed_mapping_are_kept(tmp_path: Path) -> None:
    """A mapping that is put out as it is keeps its line breaks; YAML would not read them in single
    quotes.
    """
    pillar = {
        "vpn": {
            "key": "a\nb\n",
            "list": [{"tab\t'": '"x"\ty'}, "plain\\n"],
            "rest": [None, True, 1.5, "it's"],
        }
    }
    text = "site:\n  test.nop:\n    - vpn: {{ pillar['vpn'] }}\n"
    (chunk,) = compiled(tmp_path, {"site.sls": text}, pillar)
    assert chunk["vpn"]["key"] == "a\nb\n"
    assert chunk["vpn"]["list"] == [{"tab\t'": '"x"\ty'}, "plain\\\\n"]
    assert chunk["vpn"]["rest"] == ["None", True, 1.5, "it's"]
    text = '"x{{ 2 ~ pillar.vpn }}": test.nop\n'
    assert ids(compiled(tmp_path, {"site.sls": text}, {"vpn": {"a": 1}})) == ["x2{'a': 1}"]


def test_an_unknown_test_is_named_where_it_stands(machine: Machine) -> None:
    machine.write(a="x: test.nop\n{% if grains is maping %}\n{% endif %}\n")
    shown = machine("check", code=1).stdout
    assert "no test is named 'maping'" in shown
    assert "a.sls:2" in shown


def test_check_takes_what_another_part_of_the_tree_declares(machine: Machine) -> None:
    machine.write(top="base: {'*': [web, tls]}\n", web="w: test.nop\n", tls="t: test.nop\n")
    machine.write(
        part="p: {test.nop: [require_in: [sls: tls]]}\n",
        other="o: {test.nop: [require: [sls: web]]}\n",
    )
    assert "error" not in machine("check").stdout


def test_what_a_template_left_empty_was_not_forgotten(machine: Machine) -> None:
    text = "/tmp/x:\n  file.managed:\n    - mode: {{ pillar.get('mode', '') }}\n      user: root\n"
    machine.write(a=text)
    assert "is empty" not in machine("check").stdout


def test_a_variable_of_a_template_is_none_of_the_mistakes_beside_it(machine: Machine) -> None:
    text = "x:\n  file.managed:\n    - {name: , source: salt://x.j2, template: jinja, port: 1}\n"
    machine.write(a=text)
    (machine.folder / "states/x.j2").write_text("{{ port }}\n")
    shown = machine("check", code=1).stdout
    assert "x is not an absolute path" in shown
    assert "port" not in shown.replace(text.splitlines()[2].strip(), "")


def test_a_command_that_needs_a_shell_says_so(machine: Machine) -> None:
    machine.write(a="{{ salt['cmd.run']('no-such-program | cat') }}: test.nop\n")
    shown = machine("check", code=1).stdout
    assert "Unable to run command 'no-such-program'" in shown
    assert "salt['cmd.shell']" in shown


def test_the_sls_that_declares_it_comes_before_what_is_spelt_alike(machine: Machine) -> None:
    machine.write(**{"web/config": "web.config: {test.nop: [require_in: [test: web.service]]}\n"})
    machine.write(**{"web/service": "web.service: test.nop\n"})
    shown = machine("check", "web.config", code=1).stdout
    assert "web.service is declared in the SLS web.service: include it" in shown


def test_a_file_below_two_roots_has_its_shorter_name(machine: Machine) -> None:
    machine.config["file_roots"] = {"base": ["states", "."]}
    machine.write(user="x: {test.nop: [require: [test: y]]}\n", zero="y: {test.nop: [odd: 1]}\n")
    assert "y is declared in the SLS zero: include it" in machine("sls", "user", code=1).stderr
    assert "more from this line" not in machine("check", code=1).stdout, "checked once"


def test_a_template_may_declare_what_is_required(machine: Machine) -> None:
    machine.write(
        user="x: {test.nop: [require: [test: mount_home]]}\n",
        disks="{% for name in ['home'] %}\n{{ name }}_e:\n  test.nop: []\nmount_{{ name }}:\n"
        "  test.nop: []\n{{ name }}:\n  test.nop: []\n{% endfor %}\n",
    )
    hint = "the SLS disks declares mount_{{ name }}: include it, if it is that"
    assert hint in machine("sls", "user", code=1).stderr
    machine.write(one="{{ sls }} made: test.nop\n", two="{{ sls }} made: test.nop\n")
    machine.write(user="x: {test.nop: [require: [test: two made]]}\n")
    assert "two made is declared in the SLS two" in machine("sls", "user", code=1).stderr
    machine.write(user="x: {test.nop: [require: [test: mount_/etc/home]]}\n")
    assert "the SLS disks" not in machine("sls", "user", code=1).stderr
    machine.write(user="include: [disks]\nx: {test.nop: [require: [test: mount_hme]]}\n")
    assert "did you mean mount_home?" in machine("sls", "user", code=1).stderr


def test_a_command_of_several_lines_is_named_by_its_id(machine: Machine) -> None:
    machine.write(
        a="x:\n  cmd.run:\n    - name: |\n        a\n        b\n    - require: [test: y]\n"
    )
    assert "(test: y)] in state [x] in SLS [a]" in machine("sls", "a", code=1).stderr


def test_what_requires_an_excluded_state_is_an_error(machine: Machine) -> None:
    machine.write(
        a="include: [b]\nexclude: [{id: x}]\ny:\n  test.nop:\n    - require: [test: x]\n",
        b="x: {test.nop: []}\n",
    )
    shown = machine("sls", "a", code=1).stderr
    assert "hint: x is declared in the SLS b: an `exclude` leaves it out" in shown


def test_names_of_sls_files_with_slashes(tmp_path: Path) -> None:
    """As with Salt: what is asked for as a/b is called so, by the requisites of its states, too."""
    files = {
        "site.sls": (
            "include: [roles/core, .more]\n"
            "x: {test.nop: [{require: [{sls: roles/core}, {sls: roles/core.deep}]}]}"
        ),
        "roles/core/init.sls": "include: [.deep]\n'{{ sls }}': test.nop\n",
        "roles/core/deep.sls": "'{{ sls }} {{ slspath }}': test.nop\n",
        "more.sls": "include: [/roles/other]\n",
        "roles/other.sls": "'{{ sls }}': test.nop\n",
    }
    found = [(chunk["__id__"], chunk["__sls__"]) for chunk in compiled(tmp_path, files)]
    assert found == [
        ("roles/core.deep roles/core", "roles/core.deep"),
        ("roles/core", "roles/core"),
        ("/roles/other", "/roles/other"),
        ("x", "site"),
    ]


def test_templates_ask_for_the_tree(tmp_path: Path) -> None:
    exists = "{{ [salt['state.sls_exists']('a,b.c'), salt['state.sls_exists'](['a', 'b.d'])] }}"
    files = {
        "top.sls": "base: {'*': [site], 'web*': [b/c]}\n",
        "site.sls": (
            "x: {test.nop: [{top: {{ salt['state.show_top']() | json }}}, {exists: "
            + exists
            + "}]}\n"
        ),
        "a.sls": "{}",
        "b/c/init.sls": "{}",
    }
    (chunk,) = compiled(tmp_path, files)
    assert (chunk["top"], chunk["exists"]) == ({"base": ["site", "b/c"]}, [True, False])


def test_modules_import_any_exception_of_salt(tmp_path: Path) -> None:
    module = "from salt.exceptions import CommandExecutionError, SaltCloudConfigError\n"
    module += (
        "def get():\n    try:\n        raise CommandExecutionError(SaltCloudConfigError('not"
        " declared'))\n"
    )
    module += "    except CommandExecutionError as error:\n        return str(error)\n"
    files = {
        "_modules/node.py": module,
        "site.sls": "x: {test.nop: [{got: {{ salt['node.get']() }}}]}",
    }
    assert compiled(tmp_path, files)[0]["got"] == "not declared"


def test_templates_are_imported_by_absolute_paths_and_by_their_path_below_the_formula(
    machine: Machine,
) -> None:
    names = {
        "absolute": "{tmp}/states/web/map.jinja",
        "outside": "{tmp}/more.jinja",
        "root": "web/map.jinja",
        "slash": "/web/map.jinja",
        "relative": "./../map.jinja",
        "formula": "map.jinja",
        "below": "sub/map.jinja",
    }
    code = "{% set x = tpldir %}{% macro file() %}{{ tplfile }}{% endmacro %}"
    for name in ("states/web/map.jinja", "states/web/sub/map.jinja", "more.jinja"):
        (machine.folder / name).parent.mkdir(parents=True, exist_ok=True)
        (machine.folder / name).write_text(code)
    text = "  test.show_notification: [{text: '{{ x }} {{ m.file() }}'}]\n"
    for key, name in names.items():
        imports = f"{{% from '{name}' import x %}}{{% import '{name}' as m %}}"
        machine.write(**{f"web__sub__{key}": f"{imports}\n{key}:\n{text}"})
    machine.write(all="include: [" + ", ".join(f"web.sub.{key}" for key in names) + "]\n")
    done = machine.results("sls", "all")
    folder = str(machine.folder)
    assert {key: done[key]["comment"].replace(folder, "") for key in names} == {
        "absolute": "/states/web /states/web/map.jinja",
        "outside": " /more.jinja",
        "root": "web web/map.jinja",
        "slash": "/web /web/map.jinja",
        "relative": "web/sub ./../map.jinja",
        "formula": "web web/map.jinja",
        "below": "web/sub web/sub/map.jinja",
    }
    machine.write(web__bad="{% from 'nope/map.jinja' import x %}")
    assert (
        "the template nope/map.jinja does not exist"
        in machine("show", "sls", "web.bad", code=1).stderr
    )
