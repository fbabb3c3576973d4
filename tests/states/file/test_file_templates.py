# SPDX-License-Identifier: Apache-2.0
"""What templates of managed files are told, and what they become, byte for byte."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from command import Machine

ASKED = "sls slspath tpldir tplfile tplpath tpldot tplroot env template context".split()
PROBE = "".join(f"{{{{ {name} | default('-') }}}}" for name in ASKED)
LIBRARY = "{% macro where() %}{{ tpldir }} {{ tplfile }}{% endmacro %}"
PROGRAM = "def run():\n    return repr((context, name, mode, extra, i))\n"

BESIDE = b"1None{'x': True}"

# source -> (its bytes, more arguments, the file's bytes)
CASES: dict[str, tuple[bytes, dict[str, Any], bytes]] = {
    "places": (PROBE.encode(), {}, b"-" * len(ASKED)),
    "after_import": (b"{% import 'd/lib' as m %}{{ tpldir | default('-') }}\n", {}, b"-\n"),
    "imported": (b"{% from './lib' import where %}{{ where() }}\n", {}, b"d ./lib\n"),
    "absolute": (
        b"{% import 'salt://d/lib' as m %}{% import '/d/lib' as n %}{{ n.where() }}\n",
        {},
        b"/d /d/lib\n",
    ),
    "keep": (b"{{ mode }}\n", {"mode": "keep"}, b"None\n"),
    "mode": (b"{{ mode }}\n", {"mode": 640}, b"0640\n"),
    "none": (b"{{ i }}\n", {"template": False}, b"{{ i }}\n"),
    "crlf": (b"a\r\n{% if 1 %}\r\nb {{ i }}\r\n{% endif %}\r\n", {}, b"a\n\nb 3\n\n"),
    "bom": (b"\xef\xbb\xbf{{ i }}\n", {}, b"\xef\xbb\xbf3\n"),
    "no_end": (b"{{ i }}", {}, b"3"),
    "shadows": (b"{{ source }} {{ user }}", {"context": {"source": "S", "user": None}}, b"S None"),
    "beside": (
        b"{{ a }}{{ b }}{{ d }}",
        {"defaults": {"a": 1, "b": 2}, "context": {"b": None, "d": {"x": True}}},
        BESIDE,
    ),
    "program": (
        PROGRAM.encode(),
        {"template": "py", "context": {"i": 3, "name": "n"}, "defaults": {"j": 4}},
        b"",
    ),
    "bytes": (b"def run():\n    return b'x'\n", {"template": "py"}, b"x"),
}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files of all cases, made by one run; what fails stands in results.json."""
    folder = tmp_path_factory.mktemp("templates")
    machine = Machine(folder)
    (folder / "states/d").mkdir()
    (folder / "states/d/lib").write_text(LIBRARY)
    (folder / "states/d/number").write_text("def run():\n    return 5\n")
    high: dict[str, Any] = {}
    for name, (text, more, _) in {**CASES, "number": (b"", {"template": "py"}, b"")}.items():
        if text:
            (folder / "states/d" / name).write_bytes(text)
        arguments = {
            "name": f"{folder}/{name}",
            "source": f"salt://d/{name}",
            "template": "jinja",
            "context": {"i": 3},
        }
        more = {**more, "extra": "e"} if name == "program" else more
        high[name] = {
            "file.managed": [{key: value} for key, value in {**arguments, **more}.items()]
        }
    machine.write(all="#!json\n" + json.dumps(high))
    (folder / "results.json").write_text(json.dumps(machine.results("sls", "all", code=2)))
    return folder


@pytest.mark.parametrize("name", sorted(CASES))
def test_bytes(made: Path, name: str) -> None:
    program = repr(({"j": 4, "i": 3, "name": "n"}, f"{made}/program", None, "e", 3)).encode()
    assert (made / name).read_bytes() == (program if name == "program" else CASES[name][2])


def test_a_program_that_returns_no_text(made: Path) -> None:
    result = json.loads((made / "results.json").read_text())["number"]
    assert result["result"] is False and not (made / "number").exists()
    assert "has to return the text of the file, not int" in result["comment"]
    assert f"{made}/states/d/number:1" in result["comment"]


MIB = 1 << 20
EDGE = b"x" * (256 * 1024 - 1)  # up to the last byte of a piece
# source -> (its bytes, whether they are the file's)
LARGE: dict[str, tuple[bytes, bool]] = {
    "text": (b"line\n" * MIB, True),
    "text without an end": (b"line\n" * MIB + b"end", True),
    "picture": (b"\xff\x00{{ 1 }}" * MIB, True),
    "zeros": (bytes(2 * MIB), True),
    "a tag between two pieces": (EDGE + b"{{ 1 }}" + EDGE * 8, False),
    "lines of another system": (b"line\r\n" * MIB, False),
    "options": (b'#jinja2: {"trim_blocks": true}\n' + EDGE * 8, False),
    "another encoding": (b"caf\xe9\n" * MIB, False),
}


@pytest.fixture(scope="module")
def of_large(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    """The files of large templates, where one MiB is rendered, and the results."""
    folder = tmp_path_factory.mktemp("large")
    machine = Machine(folder)
    machine.config["edit_size_limit"] = 1
    high = {}
    for name, (data, _) in LARGE.items():
        (folder / f"states/{name}").write_bytes(data)
        high[name] = {
            "file.managed": [
                {"name": f"{folder}/{name}"},
                {"source": f"salt://{name}"},
                {"template": "jinja"},
            ]
        }
    machine.write(all="#!json\n" + json.dumps(high))
    return folder, machine.results("sls", "all", code=2)


@pytest.mark.parametrize("name", LARGE)
def test_a_large_template_without_jinja_is_copied(
    of_large: tuple[Path, dict[str, Any]], name: str
) -> None:
    folder, results = of_large
    data, is_copied = LARGE[name]
    if is_copied:
        assert results[name]["result"] is True
        assert (folder / name).read_bytes() == data
    else:
        assert "at most 1 MiB are read; `edit_size_limit`" in results[name]["comment"]
        assert not (folder / name).exists()


def test_with_other_marks_of_jinja_a_large_template_is_refused(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    machine.config |= {"edit_size_limit": 1, "jinja_env": {"variable_start_string": "<<"}}
    (tmp_path / "states/t").write_bytes(b"line\n" * MIB)
    machine.write(a="{tmp}/f:\n  file.managed:\n    - source: salt://t\n    - template: jinja\n")
    comment = machine.results("sls", "a", code=2)[f"{tmp_path}/f"]["comment"]
    assert "at most 1 MiB are read" in comment


def test_what_a_template_puts_out_is_bounded(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    loop = "{% set big = 'y' * 1000000 %}{% for _ in range(70) %}{{ big }}{% endfor %}"
    (tmp_path / "states/t").write_text(loop)
    machine.write(a="{tmp}/f:\n  file.managed:\n    - source: salt://t\n    - template: jinja\n")
    comment = machine.results("sls", "a", code=2)[f"{tmp_path}/f"]["comment"]
    assert "this puts out more than 64 MiB" in comment
    assert f"{tmp_path}/states/t" in comment


def test_what_only_sls_files_have_is_handed_over(machine: Machine) -> None:
    (machine.folder / "states/t").write_text("{{ tpldir }}\n")
    text = "{tmp}/f:\n  file.managed:\n    - source: salt://t\n    - template: jinja\n"
    machine.write(a=text)
    comment = machine.results("sls", "a", code=2)[f"{machine.folder}/f"]["comment"]
    given = "- context: {tpldir: '{{ tpldir }}'}"
    assert f"SLS files have it, and a template of a file if its state says `{given}`" in comment
    machine.write(a=f"{text}    {given}\n")
    machine("sls", "a")
    assert (machine.folder / "f").read_text() == ".\n"
