# SPDX-License-Identifier: Apache-2.0
"""What small states say, in a dry run and in a real one: other people's tools read it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from command import Machine

INI = "{tmp}/a.ini"
NAMED = {"grains.present": [{"name": "g:is:deep"}, {"value": {"k": 1}}]}
SAME = "Unchanged key x in section s.\n"
IS_NESTED = "exists but is a dict or a list. Use 'force=True' to overwrite."
CASES: dict[str, tuple[dict[str, Any], str, str]] = {
    "ini same": (
        {"ini.options_present": [{"name": INI}, {"sections": {"s": {"x": 1}}}]},
        SAME,
        "No anomaly detected",
    ),
    "ini nothing": ({"ini.options_present": [{"name": INI}]}, "", "No anomaly detected"),
    "ini no such option": (
        {"ini.options_absent": [{"name": INI}, {"sections": {"s": ["q"], "top": None}}]},
        "Key q in section s does not exist.\nKey top does not exist.\n",
        "No anomaly detected",
    ),
    "ini some option": (
        {"ini.options_absent": [{"name": INI}, {"sections": {"s": ["q", "y"]}}]},
        "Key q in section s does not exist.\nDeleted key y in section s.\n",
        "Changes take effect",
    ),
    "ini no options": (
        {"ini.options_absent": [{"name": INI}]},
        "No changes detected.",
        "No anomaly detected",
    ),
    "ini sections": (
        {"ini.sections_present": [{"name": INI}, {"sections": ["s", "t"]}]},
        "Section unchanged s.\nCreated new section t.\n",
        "Changes take effect",
    ),
    "ini no section": (
        {"ini.sections_absent": [{"name": INI}, {"sections": ["z"]}]},
        "Section z does not exist.\n",
        "No anomaly detected",
    ),
    "ini null": (
        {"ini.options_present": [{"name": INI}, {"sections": {"n": {"v": None}}}]},
        "Changed key v in section n.\n",
        "Changes take effect",
    ),
    "grains path": (
        {"grains.present": [{"name": "m/n"}, {"value": 1}, {"delimiter": "/"}]},
        "Grain m:n is set to be added",
        "Set grain m:n to 1",
    ),
    "grains value to key": (
        NAMED,
        "Grain g:is:deep is set to be added",
        "Set grain g:is:deep to {'k': 1}",
    ),
    "grains in a list": (
        {"grains.absent": [{"name": "l:is:a"}]},
        "Value for grain l:is:a is set to be deleted (None)",
        "Value for grain l:is:a was set to None",
    ),
    "grains mapping of a list": (
        {"grains.absent": [{"name": "l:is"}]},
        f"The key 'l:is' {IS_NESTED}",
        f"The key 'l:is' {IS_NESTED}",
    ),
    "grains destructive": (
        {"grains.absent": [{"name": "l:is:b"}, {"destructive": True}]},
        "Grain l:is:b is set to be deleted",
        "Grain l:is:b was deleted",
    ),
    "environ": (
        {"environ.setenv": [{"value": {"SENTENCES_A": ""}}]},
        "Environ values are already set with the correct values",
        "Environ values were already set with the correct values",
    ),
    "environ false": (
        {"environ.setenv": [{"value": {"SENTENCES_A": False}}]},
        "Environ values will be changed",
        "Environ values were set",
    ),
    "test quiet": ({"test.configurable_test_state": [{"changes": False}]}, "This is a test", ""),
    "test pillar": (
        {"test.check_pillar": [{"present": "p"}, {"string": ["q", "none"]}, {"verbose": True}]},
        *(
            [
                'Pillar key "none" is missing.\nThose keys passed the check:\n- p (None)\n- q'
                " ((<class 'str'>,))\n"
            ]
            * 2
        ),
    ),
}


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], dict[str, Any], str]:
    machine = Machine(tmp_path_factory.mktemp("sentences"))
    (machine.folder / "a.ini").write_text("[s]\nx = 1\ny = 2\n")
    (machine.folder / "grains").write_text("g: is\nl: [x, {is: {a: 1, b: 2}}]\n")
    machine.write(a=json.dumps({key: case[0] for key, case in CASES.items()}))
    words = ("sls", "a", "--pillar", '{"p": 1, "q": "text"}')
    dry = machine.results(*words, "--test", code=2)
    real = machine.results(*words, code=2)
    return (
        dry,
        real,
        (machine.folder / "a.ini").read_text() + (machine.folder / "grains").read_text(),
    )


@pytest.mark.parametrize("key", CASES)
def test_what_states_say(results: tuple[dict[str, Any], dict[str, Any], str], key: str) -> None:
    dry, real, _ = results
    assert dry[key]["comment"] == CASES[key][1]
    assert real[key]["comment"] == CASES[key][2]


def test_what_they_leave(results: tuple[dict[str, Any], dict[str, Any], str]) -> None:
    ini = "[s]\nx = 1\n\n[t]\n\n[n]\nv\n"
    assert (
        results[2]
        == ini + "g:\n  is:\n    deep:\n      k: 1\nl:\n- x\n- is:\n    a: null\nm:\n  n: 1\n"
    )
