# SPDX-License-Identifier: Apache-2.0
"""The JSON Schema of SLS files: no false alarm on what compiles, an error where binding has one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from command import ROOT, Machine

from runner.engine.loader.registry import Registry
from runner.output.manual import pages
from runner.pipeline.gathering import all_requests
from runner.pipeline.pillar_data import read_pillar
from runner.pipeline.session import Session
from runner.sources.config import load
from runner.tools.queries import explain


@pytest.fixture(scope="session")
def schema() -> dict[str, Any]:
    options = load.load(str(ROOT / "sls_examples/runner.yaml"), {}, {})[0]
    found = explain.schema(options)
    jsonschema.Draft7Validator.check_schema(found)
    return found


def wrong(schema: dict[str, Any], value: Any) -> list[str]:
    plain = json.loads(json.dumps(value, default=str))
    errors = jsonschema.Draft7Validator(schema).iter_errors(plain)
    return [jsonschema.exceptions.best_match([error]).message for error in errors]


@pytest.mark.parametrize("pillar", [{}, {"scratch": "/tmp/x"}], ids=["real", "scratch"])
def test_no_false_alarm_on_the_rendered_examples(
    schema: dict[str, Any], pillar: dict[str, str], tmp_path: Path
) -> None:
    over = {"pillar": pillar, "cachedir": str(tmp_path)}
    session = Session(load.load(str(ROOT / "sls_examples/runner.yaml"), over, {})[0])
    with session.opened():
        read_pillar(session)
        found = {
            request.sls: session.read(request.sls, request.env).value
            for request in all_requests(session)
        }
    assert "webserver.config" in found
    assert "pillar.webserver" not in found, "a pillar inside of the tree is none of its states"
    assert {sls: errors for sls, value in found.items() if (errors := wrong(schema, value))} == {}


def test_no_false_alarm_on_the_examples_of_the_manual(schema: dict[str, Any]) -> None:
    library = Registry({})
    for module, names in pages.contents(library).items():
        for name in names:
            for example in pages.state_page(library, f"{module}.{name}").examples:
                if "{{" not in example and "{%" not in example:
                    assert wrong(schema, yaml.safe_load(example)) == [], example
    assert wrong(schema, yaml.safe_load(pages.everywhere().examples[0])) == []


GOOD = """
include: [base, .map, {dev: other}]
exclude: [x, {sls: y}, {id: z}]
chain: ['pkg: a -> file: b']
defaults: {file: {mode: 0640}, pkg.installed: {refresh: true}}
extend:
  y:
    file: [{mode: 0644}]
    service.running: [{watch: [{file: /etc/motd}]}]
    pkg.installed: []
/etc/motd:
  file.managed:
    - source: [salt://a, {salt://b: md5=0}]
    - mode: 644
    - makedirs: 'true'
    - replace: 0
    - user: 0
    - backup:
    - contents: __slot__:salt:test.ping()
    - context: [{a: 1}]
    - onlyif: test -e /x
    - unless: [{fun: file.exists, path: /x}, 'false']
    - retry: {attempts: 3}
    - require: [{pkg: nginx}, web, {sls: x}]
    - before: [{service: nginx}]
nginx:
  pkg.installed:
  service: [running, enable: True, reload: true, watch: [{file: /etc/motd}]]
x: file.absent
many: {user.present: [names: [a, b: [uid: '3']]]}
quoted: {file.managed: [name: '{{ path }}', makedirs: '{{ deep }}']}
chain2: {file: [absent]}
"""
BAD = {
    "an unknown argument": ("a: {file.managed: [modee: '0644']}", "modee"),
    "in the other form": ("a: {service: [running, enabel: true]}", "enabel"),
    "a state that does not exist": ("a: {fiel.managed: []}", "fiel.managed"),
    "a value that is not a boolean": ("a: {file.managed: [makedirs: perhaps]}", "perhaps"),
    "a relative path": ("a: {file.managed: [name: etc/motd]}", "etc/motd"),
    "a mapping for the list": ("a: {file.managed: {mode: '0644'}}", "0644"),
    "a requisite that is not a list": ("a: {test.nop: [require: {pkg: x}]}", "pkg"),
    "an include that is not a list": ("include: base", "base"),
    "an option that retry has not": ("a: {test.nop: [retry: {attemps: 3}]}", "attemps"),
    "a word that is not a choice": (
        "a: {file.serialize: [serializer: 3, dataset: []], git.latest: [branchh: x]}",
        "branchh",
    ),
}


def test_what_the_binder_accepts_is_accepted(schema: dict[str, Any]) -> None:
    assert wrong(schema, yaml.safe_load(GOOD)) == []
    assert wrong(schema, None) == []


@pytest.mark.parametrize("case", BAD)
def test_a_mistake_is_an_error(schema: dict[str, Any], case: str) -> None:
    text, named = BAD[case]
    errors = wrong(schema, yaml.safe_load(text))
    assert len(errors) == 1
    assert named in errors[0]


def test_what_editors_show(schema: dict[str, Any]) -> None:
    managed = schema["definitions"]["arguments_file.managed"]["properties"]
    assert managed["makedirs"]["default"] is False
    assert "Create missing parent folders" in managed["makedirs"]["description"]
    assert "source_hash" in managed["use_etag"]["description"]
    service = schema["definitions"]["arguments_service.running"]["properties"]
    assert "instead of restarting" in service["reload"]["description"]
    assert next(iter(managed)) == "name", "a state's own arguments come first"
    assert managed["require_in"] == {"$ref": "#/definitions/every_require_in"}
    assert "Random" in json.dumps(schema["definitions"]["arguments_test.configurable_test_state"])
    assert "succeed before" in schema["definitions"]["every_require"]["description"]
    told = [
        value
        for name, each in schema["definitions"].items()
        if name.startswith("arguments_")
        for value in each["properties"].values()
    ]
    silent = [
        value for value in told if value and "$ref" not in value and "description" not in value
    ]
    assert len(silent) < len(told) / 100, "nearly every argument has a description"


def test_the_states_of_the_tree_are_known(machine: Machine) -> None:
    (machine.folder / "states/_states").mkdir()
    (machine.folder / "states/_states/box.py").write_text(
        "from typing import Literal\nfrom runner.api import Planned\n"
        "def made(name: str, size: int = 3, lid: Literal['open', 'shut'] = 'open') -> Planned:\n"
        "    '''Make a box.\n\n    size: in metres.\n    '''\n    return 'x'\n"
    )
    (machine.folder / "states/_states/old.py").write_text(
        "__virtualname__ = 'older'\ndef __virtual__():\n    return __virtualname__\n"
        "def done(name, mood='fine', **kwargs):\n    '''Old style.'''\n    return {}\n"
    )
    (machine.folder / "states/_states/later.py").write_text(
        "def __virtual__():\n    return False, 'no client'\n"
    )
    schema = json.loads(machine("schema").stdout)
    assert (
        schema["definitions"]["arguments_box.made"]["properties"]["size"]["description"]
        == "In metres."
    )
    assert wrong(schema, {"a": {"box.made": [{"size": 4}, {"lid": "shut"}]}}) == []
    assert wrong(schema, {"a": {"box.made": [{"lid": "ajar"}]}})
    assert wrong(schema, {"a": {"older.done": [{"mood": []}, {"anything": 1}]}}) == []
    assert wrong(schema, {"a": {"old.done": []}})
    assert (
        wrong(
            schema,
            {
                "a": {"later.done": [{"b": 1}]},
                "c": "later.done",
                "extend": {"d": {"later": [{"e": 1}]}},
            },
        )
        == []
    )
