# SPDX-License-Identifier: Apache-2.0
"""The external pillar hiera: hierarchies that were made for Puppet.

`hiera/` has two trees with the answers that Puppet 7.23 (its function lookup) gave for their keys.
"""

from __future__ import annotations

import base64
import json
import shutil
import subprocess
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from command import Machine

from runner.language.pillar.external.hiera import look
from runner.language.pillar.external.hiera.facts import FacterFacts
from runner.language.pillar.external.hiera.variables import Scope
from runner.language.pillar.external.hiera.version3 import as_version_5
from runner.model.errors import RenderError, RunnerError
from runner.model.places import Place, Untyped
from runner.support.yaml.load import load, load_plain
from runner.support.yaml.rendered_text import Rendered

TREES = Path(__file__).parent / "hiera"
GRAINS = {
    "role": "web",
    "groups": ["one", "two"],
    "os": "Debian",
    "os_family": "Debian",
    "osrelease": "12.11",
    "osmajorrelease": 12,
}


def pillar(machine: Machine, entry: Any, *words: str) -> Any:
    machine.config |= {"ext_pillar": [{"hiera": entry}], "grains": GRAINS}
    return machine.answer("show", "pillar", *words)


def write(machine: Machine, hiera: str = "version: 5\n", **data: str) -> None:
    """hiera.yaml beside the configuration, and files of data."""
    (machine.folder / "data").mkdir(exist_ok=True)
    (machine.folder / "hiera.yaml").write_text(hiera)
    for name, text in data.items():
        (machine.folder / "data" / f"{name}.yaml").write_text(text)


@pytest.mark.parametrize("name", ["levels", "merging"])
def test_values_are_those_of_puppet(machine: Machine, name: str) -> None:
    wanted = json.loads((TREES / name / "answers.json").read_text())
    found = pillar(machine, str(TREES / name / "hiera.yaml"))
    assert found == wanted
    for key, value in wanted.items():
        assert json.dumps(found[key]) == json.dumps(value), f"{key}: the order, and 1 is not true"


def test_version_3(machine: Machine) -> None:
    """The answers are those of Puppet 7.23: lookup, hiera_include for classes, hiera_hash."""
    wanted = json.loads((TREES / "version3/answers.json").read_text())
    entry = {"config": str(TREES / "version3/hiera.yaml"), "merge": {"use*": "deep"}}
    assert pillar(machine, entry) == wanted


def imported(machine: Machine, kind: str, file: object) -> tuple[int, str]:
    argv = machine.argv("import", kind, str(file))[:-4]  # it takes no configuration
    done = subprocess.run(argv, capture_output=True, text=True, env=machine.environment)
    assert "Traceback" not in done.stderr
    return done.returncode, done.stdout + done.stderr


def test_import_of_version_3(machine: Machine) -> None:
    """The data say the same by what it prints."""
    shutil.copytree(TREES / "version3", machine.folder / "hiera")
    for endings in ("  :datadir: hieradata\n", "  :datadir: hieradata\n  :extension: yml\n"):
        old, new = machine.folder / "hiera/hiera.yaml", machine.folder / "hiera/hiera5.yaml"
        old.write_text(old.read_text().replace("  :datadir: hieradata\n", endings, 1))
        code, text = imported(machine, "hiera3", old)
        new.write_text(text)
        assert code == 0
        assert load_plain(new.read_text())["version"] == 5 and "merge: deep" in new.read_text()
        assert pillar(machine, str(new)) == pillar(machine, str(old)) != {}
    old.write_text(":backends: [foo]\n")
    for kind, file, error in (
        ("hiera3", new, "is no hiera.yaml of version 3"),
        ("hiera3", "/none", "cannot be read"),
        ("hiera3", old, f"{old}:1:13"),
        ("hiera4", old, "no such kind"),
    ):
        code, text = imported(machine, kind, file)
        assert code == 1 and error in text, text


def test_eyaml_of_version_3() -> None:
    text = ":backends: eyaml\n:eyaml:\n  :datadir: d\n  :pkcs7_private_key: /k\n"
    made = as_version_5(load(text, Rendered(text, "hiera.yaml")), Place(Untyped("x"), 1, 1))
    assert made["hierarchy"] == [
        {
            "name": "eyaml",
            "datadir": "d",
            "lookup_key": "eyaml_lookup_key",
            "options": {"pkcs7_private_key": "/k"},
            "paths": ["common.eyaml"],
        }
    ]


def test_classes_are_merged_as_hiera_include_does(machine: Machine) -> None:
    hierarchy = "version: 5\nhierarchy:\n- name: a\n  paths: [node.yaml, common.yaml]\n"
    for node, common, wanted in (
        ("classes: [web, ntp]", "classes: [ntp, base]", ["web", "ntp", "base"]),
        ("classes: web", "classes: [base]", ["web", "base"]),
        ("classes: {web: 1}", "classes: [base]", {"web": 1}),  # not what hiera_include takes
        ("classes: [web]", "lookup_options: {classes: {merge: first}}\nclasses: [base]", ["web"]),
        ("other: [web]", "classes: [base]", ["base"]),
    ):
        write(machine, hierarchy, node=f"{node}\n", common=f"{common}\n")
        assert pillar(machine, "hiera.yaml")["classes"] == wanted
    write(machine, hierarchy, node="classes: [a]\nx: [1]\n", common="classes: [b]\nx: [2]\n")
    entry = {"config": "hiera.yaml", "merge": {"classes": "first", "x": "unique"}}
    assert pillar(machine, entry) == {"classes": ["a"], "x": [1, 2]}
    write(machine, hierarchy, node="x: [1]\n", common="x: {a: 2}\n")
    machine.config["ext_pillar"] = [{"hiera": entry}]
    error = machine("show", "pillar", code=1).stderr
    assert "x is a mapping, and `unique` merges" in error and "merge of ext_pillar" in error


def test_options_and_secrets(machine: Machine) -> None:
    write(
        machine,
        "version: 5\nhierarchy:\n- name: a\n"
        "  paths: ['%{tier}-%{environment}.yaml', common.yaml]\n",
        **{
            "gold-prod": "profile::db::user: ann\n",
            "common": (
                "lookup_options:\n  profile::db::pw: {convert_to: Sensitive}\n"
                "profile::db::pw: swordfish\nprofile::web: {port: 80}\nother: '%{pillar.known}'\n"
            ),
        },
    )
    machine.write(pillar__top="base: {'*': [p]}", pillar__p="known: 5\n")
    entry = {"config": "hiera.yaml", "environment": "prod", "scope": {"tier": "gold"}}
    profile = {"db": {"user": "ann", "pw": "swordfish"}, "web": {"port": 80}}
    more = {"nesting_key": "hiera", "split_keys": True}
    assert pillar(machine, {**entry, **more}, "--show-secrets") == {
        "known": 5,
        "hiera": {"profile": profile, "other": "5"},
    }
    found = pillar(machine, {**entry, "keys": ["profile::db::*"]})
    assert found == {"known": 5, "profile::db::user": "ann", "profile::db::pw": "**********"}


def test_eyaml(machine: Machine) -> None:
    write(
        machine,
        "version: 5\nhierarchy:\n- name: a\n  lookup_key: eyaml_lookup_key\n  path: s.eyaml\n"
        "  options: {pkcs7_private_key: key.pem, pkcs7_public_key: crt.pem}\n",
    )
    words = "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=x -keyout key.pem"
    run = {"cwd": machine.folder, "check": True, "capture_output": True}
    subprocess.run([*words.split(), "-out", "crt.pem"], **run)  # type: ignore[call-overload]
    encrypt = "openssl cms -encrypt -aes-256-cbc -binary -outform DER -out m crt.pem".split()
    subprocess.run(encrypt, input=b"swordfish", **run)  # type: ignore[call-overload]
    message = f"ENC[PKCS7,{base64.encodebytes((machine.folder / 'm').read_bytes()).decode()}]"
    folded = "\n".join("    " + line for line in message.splitlines())
    path = machine.folder / "data/s.eyaml"
    text = json.dumps(f"a {message} b")
    path.write_text(f"plain: 1\ndb:\n  pw: >\n{folded}\ntext: {text}\n")
    wanted = {"plain": 1, "db": {"pw": "swordfish"}, "text": "a swordfish b"}
    assert pillar(machine, "hiera.yaml", "--show-secrets") == wanted
    assert pillar(machine, "hiera.yaml")["db"] == {"pw": "**********"}
    (machine.folder / "key.pem").unlink()
    error = machine("show", "pillar", code=1).stderr
    assert "an encrypted value cannot be decrypted" in error and "s.eyaml:3" in error


LEVEL = "version: 5\nhierarchy:\n  - name: a\n    "


@pytest.mark.parametrize(
    ("hiera", "common", "message", "place"),
    [
        (":backends: [yaml]\n", "", "no folder hieradata with data", "hiera.yaml:1"),
        (":backends: [foo]\n", "", "no backend foo", "hiera.yaml:1:13"),
        (":backends: yaml\n:hirarchy: a\n", "", "no ':hirarchy' here", "hiera.yaml:2:1"),
        (":hierarchy:\n- [a]\n", "", "`:hierarchy` is not a text", "hiera.yaml:2:3"),
        (":yaml: data\n", "", "`:yaml` is not a mapping", "hiera.yaml:1:8"),
        (":yaml:\n  :datadir: 5\n", "", "`:datadir` is not a text", "hiera.yaml:2:13"),
        (":yaml:\n  :datadir: [a]\n", "", "`:datadir` is not a text", "hiera.yaml:2:13"),
        (
            ":hierarchy: [a, '%{facts.uptime}']\n:yaml:\n  :datadir: data\n",
            "",
            "Facter's fact uptime",
            "hiera.yaml:1:17",
        ),
        ("version: 3\n", "", "hiera.yaml of version 5", "hiera.yaml:1:10"),
        ("- 1\n", "", "is a mapping", "hiera.yaml:1"),
        ("version: 5\nhirarchy: []\n", "", "no 'hirarchy' here", "hiera.yaml:2:1"),
        ("version: 5\ndefault_hierarchy: []\n", "", "of a module", "hiera.yaml:2:1"),
        (LEVEL + "pth: x\n", "", "no 'pth' here", "hiera.yaml:4:5"),
        (LEVEL + "uri: http://x\n", "", "has no uri", "hiera.yaml:4:5"),
        (LEVEL + "datadir: d\n", "", "has one of path, paths", "hiera.yaml:3:5"),
        (LEVEL + "path: [a]\n", "", "`path` is not a text", "hiera.yaml:4:11"),
        (LEVEL + "glob: 'a{b,c}'\n", "", "has no {a,b}", "hiera.yaml:4:11"),
        (LEVEL + "mapped_paths: [a]\n", "", "[VARIABLE, NAME, PATH]", "hiera.yaml:4:19"),
        (LEVEL + "path: \"%{lookup('x')}\"\n", "", "not possible in a path", "hiera.yaml:4:11"),
        (LEVEL + "path: '%{facts.uptime}'\n", "", "Facter's fact uptime", "hiera.yaml:4:11"),
        (LEVEL + "data_hash: hocon_data\n", "", "`data_hash: hocon_data`", "hiera.yaml:4:16"),
        (LEVEL + "lookup_key: vault_lookup\n", "", "cannot read by", "hiera.yaml:4:17"),
        ("version: 5\n", "- 1\n", "a file of Hiera is a mapping", "common.yaml:1"),
        ("version: 5\n", "a: [1\n", "", "common.yaml:"),
        ("version: 5\n", "a: 1\nb: \"%{alias('a')}x\"\n", "be the whole text", "common.yaml:2:4"),
        ("version: 5\n", "b: \"%{eval('a')}\"\n", "no function eval", "common.yaml:1:4"),
        ("version: 5\n", "a: [1]\nb: \"%{lookup('a')}\"\n", "is a list", "common.yaml:2:4"),
        (
            "version: 5\n",
            "a: \"%{lookup('b')}\"\nb: \"%{lookup('a')}\"\n",
            "looked up for each other: a -> b -> a",
            "common.yaml:2:4",
        ),
        (
            "version: 5\n",
            "lookup_options:\n  a: {merge: hash}\na: x\n",
            "a is 'x', and `hash` merges mappings",
            "common.yaml:3:4",
        ),
        ("version: 5\n", "lookup_options:\n  a: {merge: x}\na: 1\n", "no merge 'x'", "yaml:2:3"),
        ("version: 5\n", "lookup_options:\n  ^(: {}\na: 1\n", "no regular expression", "yaml:2:3"),
        ("version: 5\n", "lookup_options:\n  a: {mrge: 1}\na: 1\n", "have `merge`", "yaml:2:3"),
        (
            "version: 5\n",
            "lookup_options:\n  a: {merge: {strategy: deep, knockout: x}}\na: 1\n",
            "no option 'knockout'",
            "yaml:2:3",
        ),
        (
            "version: 5\n",
            "lookup_options:\n  a: {convert_to: Regexp}\na: 1\n",
            "cannot be converted to Regexp",
            "yaml:3:4",
        ),
    ],
)
def test_mistakes(tmp_path: Path, hiera: str, common: str, message: str, place: str) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "hiera.yaml").write_text(hiera)
    (tmp_path / "data/common.yaml").write_text(common)

    def problem(message: str, hint: str | None = None) -> RunnerError:
        return RunnerError(message, None, hint)

    tools: Any = SimpleNamespace(
        id="m1",
        folder=str(tmp_path),
        grains=GRAINS,
        seen=lambda path: None,
        parsed=lambda text, file: load(text, Rendered(text, file)),
        problem=problem,
    )
    with pytest.raises(RunnerError) as error:
        look(tools, {}, "hiera.yaml")
    assert message in str(error.value) and place in str(error.value)


def test_mistakes_in_the_configuration(machine: Machine) -> None:
    for entry, message in (
        ({"path": "x"}, "has no option 'path'"),
        (5, "takes the path of a hiera.yaml"),
        ({"config": "hiera.yaml", "merge": {"a": "uniq"}}, "each with how it is merged"),
        ({"config": "hiera.yaml", "merge": "deep"}, "each with how it is merged"),
        ("nope.yaml", "nope.yaml cannot be read: No such file"),
        ({"config": "hiera.yaml", "split_keys": True}, "a::b lies below a, which has a value"),
    ):
        write(machine, common="a: 1\na::b: 2\n")
        machine.config["ext_pillar"] = [{"hiera": entry}]
        assert message in machine("show", "pillar", code=1).stderr


def test_facts() -> None:
    grains = {
        "os": "Ubuntu",
        "os_family": "Debian",
        "osrelease": "22.04",
        "osarch": "amd64",
        "virtual": "container",
        "virtual_subtype": "Docker",
        "host": "web1",
        "id": "x",
        "ip_interfaces": {"lo": ["127.0.0.1"], "eth0": ["10.0.0.7", "fe80::1"]},
        "hwaddr_interfaces": {"eth0": "02:00"},
        "kernelrelease": "6.1.0-18-amd64",
        "mem_total": 2,
        "num_cpus": 2,
        "timezone": "UTC",
        "domain": "example.org",
    }
    ubuntu = FacterFacts(grains)
    assert ubuntu["os"]["release"] == {"full": "22.04", "major": "22.04"}
    assert (ubuntu["osfamily"], ubuntu["operatingsystemmajrelease"]) == ("Debian", "22.04")
    networking = ubuntu["networking"]
    assert (networking["ip"], networking["primary"], networking["mac"]) == (
        "10.0.0.7",
        "eth0",
        "02:00",
    )
    assert (ubuntu["virtual"], ubuntu["is_virtual"]) == ("docker", True)
    assert (ubuntu["kernelversion"], ubuntu["kernelmajversion"]) == ("6.1.0", "6.1")
    assert FacterFacts({"os": "Arch", "os_family": "Arch"})["os"]["family"] == "Archlinux"
    place = Place(Untyped("x"), 1, 1)
    scope = Scope("web1.example.org", "production", grains, {"own": [{"a b": 1}]})
    for name, value in {
        "trusted.domain": "example.org",
        "::trusted.hostname": "web1",
        "own.0.'a b'": 1,
        "own.1": None,
        "timezone": "UTC",
        "server_facts.environment": "production",
    }.items():
        assert scope.value(name, place) == value
    for unknown in ("uptime", "networking.netmask", "processors.physicalcount", "ipaddress_eth0"):
        for name in (unknown, f"facts.{unknown}"):
            with pytest.raises(RenderError, match=f"Facter's fact {unknown}"):
                scope.value(name, place)
    for name in ("facts.role", "own.uptime", "networking.interfaces.eth9.ip", "os.release.minor"):
        assert scope.value(name, place) is None
