# SPDX-License-Identifier: Apache-2.0
"""The pillar as a command sees it: SLS files, external pillars, decryption, the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from command import Machine
from gpg_keys import key_of_runner
from needing import require


def pillar(machine: Machine, *words: str) -> Any:
    return machine.answer("show", "pillar", *words)


def write(machine: Machine, **files: str) -> str:
    """Files of a folder outside the trees; `a__b` is a/b. The folder."""
    for name, text in files.items():
        path = machine.folder / "outside" / name.replace("__", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return str(machine.folder / "outside")


def external(machine: Machine, *entries: Any, **more: Any) -> None:
    machine.config.update({"ext_pillar": list(entries), **more})


# ------------------------------------------------------- what a pillar SLS sees of the pillar


def test_a_pillar_sls_sees_the_pillar_of_a_first_reading(machine: Machine) -> None:
    machine.config["pillar"] = {"z": 1, "a": 0}
    machine.write(
        pillar__top="base: {'*': [x], 'I@role:web': [y]}",
        pillar__x=(
            "a: 5\n{% if pillar.get('role') %}seen: {{ pillar.a }}\n{% else %}role: web\n{%"
            " endif %}"
        ),
        pillar__y="y: {{ salt['pillar.get']('z') }}",
    )
    assert pillar(machine, "--pillar", "{a: 7}") == {
        "z": 1,
        "a": 7,
        "role": "web",
        "seen": 5,
        "y": 1,
    }


@pytest.mark.parametrize(
    ("include", "files", "expected"),
    [
        (".x", ["sub/x"], {"sub/x": 1}),
        (".x", ["x"], {"x": 1}),
        (".x", ["sub/x", "x"], {"x": 1, "sub/x": 1}),
        (".x*", ["sub/x1", "x2"], {"x2": 1, "sub/x1": 1}),
        ("..x", ["sub/x", "x"], {"x": 1}),
        (".sub.x", ["sub/x"], {"sub/x": 1}),
        ("{.x: {key: 'k:m'}}", ["sub/x"], {"k": {"m": {"sub/x": 1}}}),
        ("{.empty: {key: 'k:m'}}", [], {}),
    ],
)
def test_relative_includes(
    machine: Machine, include: str, files: list[str], expected: dict[str, Any]
) -> None:
    """Checked beside Salt: what the name means without its dots is included, too."""
    machine.write(
        pillar__top="base: {'*': [sub.a]}",
        pillar__sub__empty="{}",
        pillar__sub__a=f"include: [{include}]",
        **{f"pillar__{name.replace('/', '__')}": f"{name}: 1\nwins: {name}" for name in files},
    )
    found = pillar(machine)
    if files and "key" not in include:
        assert found.pop("wins") == list(expected)[-1]
    elif files:
        del found["k"]["m"]["wins"]
    assert found == expected


def test_a_relative_include_of_nothing_is_named(machine: Machine) -> None:
    machine.write(pillar__top="base: {'*': [sub.a]}", pillar__sub__a="include: [.x]")
    shown = machine("show", "pillar", code=1).stderr
    assert "Specified SLS sub.x in saltenv base is not available" in shown


def test_includes_win_where_the_top_file_names_what_includes_them(machine: Machine) -> None:
    machine.config["pillar_includes_override_sls"] = True
    machine.write(
        pillar__top="base: {'*': [a]}",
        pillar__a="include: [b]\nx: a",
        pillar__b="include: [c]\nx: b\ny: b",
        pillar__c="x: c\ny: c\nz: c",
    )
    assert pillar(machine) == {"x": "b", "y": "b", "z": "c"}


@pytest.mark.parametrize(("order", "wins"), [(["base", "dev"], "dev"), (["dev", "base"], "base")])
def test_the_last_environment_of_env_order_wins(
    machine: Machine, order: list[str], wins: str
) -> None:
    folder = machine.folder / "outside" / "dev"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "top.sls").write_text("dev: {'*': [x]}")
    (folder / "x.sls").write_text("who: dev")
    machine.write(pillar__top="base: {'*': [x]}", pillar__x="who: base")
    roots = {"base": [str(machine.folder / "pillar")], "dev": [str(folder)]}
    machine.config.update({"pillar_roots": roots, "file_roots": roots, "env_order": order})
    assert pillar(machine) == {"who": wins}
    machine.config["pillar_source_merging_strategy"] = "none"  # reads one environment only
    assert pillar(machine) == {"who": "base"}


def test_test_true_in_the_pillar_makes_a_dry_run(machine: Machine) -> None:
    machine.write(
        pillar__top="base: {'*': [x]}",
        pillar__x="test: true",
        a="x:\n  test.succeed_with_changes: []\n",
    )
    assert machine.results("sls", "a")["x"]["result"] is None


def test_pillar_opts(machine: Machine) -> None:
    machine.config["pillar_opts"] = True
    master = pillar(machine)["master"]
    assert master["id"] == "m1"
    assert "grains" not in master


# ---------------------------------------------------------------- external pillars


def test_commands(machine: Machine) -> None:
    commands = [
        {"cmd_yaml": "printf 'a: 1\\nb: {c: 2}\\n'"},
        {"cmd_json": 'echo \'{"b": {"d": "%s"}}\''},
    ]
    external(machine, *commands)
    machine.write(
        pillar__top="base: {'*': [x]}", pillar__x="b: {c: own, e: {{ pillar.get('a', 'none') }}}"
    )
    assert pillar(machine) == {"a": 1, "b": {"c": 2, "d": "m1", "e": 1}}
    external(machine, *commands, ext_pillar_first=True)
    assert pillar(machine) == {"a": 1, "b": {"c": "own", "d": "m1", "e": 1}}


def test_file_tree(machine: Machine) -> None:
    root = write(
        machine,
        hosts__m1__d__one="1\n\n",
        hosts__m2__no="x",
        nodegroups__g__d__one="0",
        nodegroups__g__two="2",
    )
    external(machine, {"file_tree": {"root_dir": root}}, nodegroups={"g": "m*", "other": "x*"})
    assert pillar(machine) == {"d": {"one": "1\n"}, "two": "2"}
    for glob, kept in (("d/*", "1\n\n"), ("./*", "1\n"), ("one", "1\n"), ("*/one", "1\n\n")):
        options = {"root_dir": root, "keep_newline": [glob]}
        external(machine, {"file_tree": options}, nodegroups={"g": "m*"})
        assert pillar(machine)["d"]["one"] == kept
    link = Path(root, "hosts/m1/link")
    link.symlink_to("d")
    assert pillar(machine)["link"] == {}
    link.unlink()
    write(
        machine,
        hosts__m1__d__one="{{ grains.id }}\n",
        hosts__m1__three="#!jinja|yaml\na: {{ 1 + 1 }}\n",
    )
    options = {"root_dir": root, "template": True, "render_default": "jinja"}
    external(machine, {"file_tree": options})
    assert pillar(machine) == {"d": {"one": "m1"}, "two": "2", "three": {"a": 2}}


STACK = {
    "stack.cfg": "common/*.yml\n\nminions/{{ minion_id }}.yml\nnothing.yml\n",
    "common__a.yml": (
        "l: [1]\nm: {x: 1, y: 2, z: {q: 1}}\nu: {one: 1}\nf: 1\n{% if stack.nothing %}no: 1{% endif"
        " %}\n"
    ),
    "common__b.yml": (
        "l: [2]\nm: {x: 2, z: {r: {{ pillar.p }}}}\nu: {__: overwrite, two: [2]}\nf: {a: 1}"
    ),
    "minions__m1.yml": (
        "l: [{__: merge-first}, 0]\nm: {__: remove, y: }\n"
        "f: {__: merge-first, a: 2, b: {{ stack.l[0] }}}"
    ),
}


def test_stack(machine: Machine) -> None:
    root = write(machine, **STACK)
    machine.write(pillar__top="base: {'*': [x]}", pillar__x="p: 3")
    external(machine, {"stack": f"{root}/stack.cfg"})
    expected = {
        "l": [0, 1, 2],
        "m": {"x": 2, "z": {"q": 1, "r": 3}},
        "u": {"two": [2]},
        "f": {"a": 1, "b": 1},
    }
    assert pillar(machine) == {"p": 3, **expected}
    external(machine, {"cmd_yaml": ["echo 'c: 1'"]}, {"cmd_json": {"command": "echo '{}'"}})
    assert pillar(machine) == {"p": 3, "c": 1}
    external(
        machine,
        {
            "stack": {
                "pillar:p": {3: "/nowhere"},
                "opts:id": {"m1": [f"{root}/stack.cfg"], "m2": "/x"},
            }
        },
    )
    assert pillar(machine) == {"p": 3, **expected}


def test_the_items_of_a_list_of_a_stack_are_as_they_are(machine: Machine) -> None:
    """The `__` of a list's first item says how it is merged; in another item it is data, as in
    Salt.
    """
    first = "l: [1, {__: x}]\nm: [{__: merge-last, a: 1}, [{__: remove}, 2]]\n"
    second = "l: [{__: merge-first}, {__: y, b: {__: z}}]\nm: [{__: remove}, 3]\n"
    root = write(machine, **{"stack.cfg": "*.yml\n", "a.yml": first, "b.yml": second})
    external(machine, {"stack": f"{root}/stack.cfg"})
    assert pillar(machine) == {
        "l": [{"__": "y", "b": {"__": "z"}}, 1, {"__": "x"}],
        "m": [[{"__": "remove"}, 2]],
    }


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ([{"git_pillar": "x"}], "runner has no external pillar 'git_pillar'"),
        ([{"cmd_yml": "x"}], "did you mean cmd_yaml?"),
        ("x", "is not a list"),
        (["x"], "'x' is not a mapping"),
        ([{"cmd_yaml": "echo '[1]'"}], "gives [1]"),
        ([{"cmd_yaml": "echo 'a: [1'"}], "the output of `echo 'a: [1'`:1:4"),
        ([{"cmd_yaml": "exit 3"}], "failed with exit code 3"),
        ([{"cmd_yaml": ["ls", "-l"]}], "takes a command"),
        ([{"cmd_yaml": "exit 3"}], "runner.yaml:1:"),
        ([{"cmd_json": "echo x"}], "prints no JSON"),
        ([{"file_tree": {"root": "/x"}}], "has no option 'root'"),
        ([{"file_tree": {"root_dir": "x"}}], "/x is not a folder"),
        ([{"file_tree": {"root_dir": 5}}], "needs a root_dir, not 5"),
        ([{"file_tree": {"root_dir": "{out}/nope"}}], "/nope is not a folder"),
        ([{"stack": 5}], "takes the path"),
        ([{"stack": {"pilar:x": {}}}], "does not know 'pilar:x'"),
        ([{"stack": "{out}/bad.cfg"}], "bad.yml:2"),
        ([{"stack": "{out}/bad.cfg"}], "'nope' is undefined"),
        ([{"stack": "{out}/deep.cfg"}], "'stack' has no attribute 'nope'"),
        ([{"stack": "{out}/list.cfg"}], "list.yml:1:1"),
        ([{"stack": "{out}/odd.cfg"}], "stack has no strategy 'x'"),
    ],
)
def test_mistakes(machine: Machine, entries: Any, message: str) -> None:
    files = {
        "bad.cfg": "bad.yml",
        "deep.cfg": "deep.yml",
        "deep.yml": "a: 1\nb: {{ stack.nope.x }}\n",
        "list.cfg": "list.yml",
        "list.yml": "- a\n",
        "bad.yml": "a: 1\nb: {{ nope.x }}\n",
        "odd.cfg": "odd.yml\nodd.yml",
        "odd.yml": "{a: {__: x}}",
    }
    root = write(machine, **files)
    machine.config["ext_pillar"] = json.loads(json.dumps(entries).replace("{out}", root))
    assert message in machine("show", "pillar", code=1).stderr


# ---------------------------------------------------------------- decryption


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A key ring, and `secret` encrypted with it, indented."""
    require("gpg")
    home = tmp_path_factory.mktemp("keys")
    home.chmod(0o700)
    with key_of_runner(home) as encrypted:
        yield home, "".join(f"      {line}\n" for line in encrypted("secret").splitlines())


def test_decrypt_pillar(machine: Machine, keys: tuple[Path, str]) -> None:
    machine.config.update(
        gpg_keydir=str(keys[0]),
        decrypt_pillar=["a|b", {"l": "gpg"}, "not|there", {"other": "none"}],
    )
    machine.config["decrypt_pillar_delimiter"] = "|"
    machine.write(
        pillar__top="base: {'*': [x]}",
        pillar__x=(
            f"a:\n  b:\n    c: |\n{keys[1]}l:\n  - plain\n  - |\n{keys[1]}other: |\n{keys[1]}"
        ),
        a=(
            "x:\n  test.show_notification:\n    - text: {{ (pillar.a.b.c ~ pillar.l[1]) | length"
            " }}\n"
        ),
    )
    assert machine.results("sls", "a")["x"]["comment"] == "12"
    found = pillar(machine)
    assert found["a"] == {"b": {"c": "**********"}}
    assert found["other"].startswith("-----BEGIN PGP MESSAGE-----")
    machine.config["decrypt_pillar"] = {"other": "gpg", "l": "none"}
    told = machine("show", "pillar", code=1).stderr
    assert "a:b:c: a PGP message that was not decrypted" in told and "pillar/x.sls:3:8" in told
    assert "l:1" not in told and "decrypt_pillar: [{'a|b|c': none}]" in told
    machine.config["decrypt_pillar"] = {"other": "gpg", "l": "none", "a|b": "none"}
    assert pillar(machine)["other"] == "**********"


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ([{"a": "nacl"}], "'nacl' is not a valid decryption renderer"),
        ("a", "decrypt_pillar"),
        ([{"a": "gpg", "b": "gpg"}], "decrypt_pillar config option is malformed"),
    ],
)
def test_mistakes_of_decrypt_pillar(machine: Machine, said: Any, message: str) -> None:
    machine.config["decrypt_pillar"] = said
    assert message in machine("show", "pillar", code=1).stderr


def test_merged_mappings_keep_their_order_where_they_are_written(machine: Machine) -> None:
    machine.config["pillar_merge_lists"] = True
    machine.write(
        pillar__top="base: {'*': [a, b]}\n",
        pillar__a="m: {z: 1, inner: {y: 1, b: 2}}\nl: [{z: 1, a: {y: 1, b: 2}}]\n",
        pillar__b="m: {c: 3, inner: {a: 3}}\nl: [{b: 1}]\n",
        a="x:\n  test.configurable_test_state:\n"
        "    - comment: {{ (pillar.m | yaml ~ pillar.l | yaml) | tojson }}\n",
    )
    (result,) = machine.results("sls", "a", code=None).values()
    first = "{z: 1, inner: {y: 1, b: 2, a: 3}, c: 3}"
    assert result["comment"] == first + "[{z: 1, a: {y: 1, b: 2}}, {b: 1}]"
