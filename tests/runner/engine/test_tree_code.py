# SPDX-License-Identifier: Apache-2.0
"""What the Python code of a tree may do wrong: told with its line."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest
from command import Machine

from runner.model.errors import RunnerError
from runner.pipeline import calling, stages
from runner.sources.config.load import load
from runner.sources.config.options import Options


@pytest.fixture
def options(tmp_path: Path) -> Options:
    (tmp_path / "states" / "_modules").mkdir(parents=True)
    (tmp_path / "runner.yaml").write_text(
        json.dumps({"file_roots": {"base": ["states"]}, "id": "m"})
    )
    found, _ = load(
        str(tmp_path / "runner.yaml"), {"cachedir": str(tmp_path / "cache")}, os.environ
    )
    return found


def written(options: Options, name: str, text: str) -> str:
    path = Path(options.file_roots["base"][0]) / name
    path.write_text(text)
    return str(path)


@pytest.mark.parametrize(
    ("code", "told", "line"),
    [
        ("def f():\n    return 1 / 0\n", "tree.f: ZeroDivisionError: division by zero", 2),
        (
            "def f():\n    return open('/none').read()\n",
            "tree.f: /none: No such file or directory",
            2,
        ),
        ("def f():\n    return {}['x']\n", "tree.f: KeyError: 'x'", 2),
        ("def f():\n    import nosuch\n", "tree.f: ModuleNotFoundError", 2),
        (
            "import sys\nsys.exit(4)\ndef f(): pass\n",
            "tree.py fails while it is loaded: SystemExit: 4",
            2,
        ),
        (
            "def __virtual__():\n    return 1 / 0\ndef f(): pass\n",
            "tree.py fails while it is loaded: ZeroDivisionError",
            2,
        ),
        (
            "def __init__(opts):\n    raise ValueError('x')\ndef f(): pass\n",
            "tree.py fails while it is loaded: ValueError: x",
            2,
        ),
    ],
)
def test_a_module_that_fails_is_named_with_its_line(
    options: Options, code: str, told: str, line: int
) -> None:
    path = written(options, "_modules/tree.py", code)
    with pytest.raises(RunnerError) as error:
        calling.call(options, "tree.f", [], {})
    assert error.value.message.startswith(told)
    assert error.value.source is not None
    assert (error.value.source.file, error.value.source.line) == (path, line)


def test_an_exception_of_the_library_stays_a_bug(
    options: Options, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(text: str) -> str:
        raise ZeroDivisionError(text)

    broken.__module__ = "modules.test"
    monkeypatch.setattr("modules.test.echo", broken)
    with pytest.raises(ZeroDivisionError):
        calling.call(options, "test.echo", ["x"], {})
    with pytest.raises(RunnerError, match=r"config\.get: key: expected text, got 1"):
        calling.call(options, "config.get", [1], {})


def test_slsutil_renderer_takes_every_pipe(options: Options) -> None:
    (Path(options.file_roots["base"][0]) / "_renderers").mkdir()
    written(
        options,
        "_renderers/own.py",
        "def render(d, saltenv='base', sls='', **k):\n    return {'own': d.read()}\n",
    )
    written(options, "p.sls", "#!py\ndef run():\n    return {'a': x}\n")

    def rendered(**given: object) -> object:
        return calling.call(options, "slsutil.renderer", [], given)[0]

    assert rendered(path="salt://p.sls", x=5) == {"a": 5}
    assert rendered(string="q", default_renderer="jinja|own") == {"own": "q"}
    assert rendered(string="#!yamlex\na: !aggregate [1]") == {"a": [1]}
    for text, told in {
        "#!nosuch\nx": "there is no renderer 'nosuch'",
        "#!py\nrun = 5": "has to define run()",
    }.items():
        with pytest.raises(RunnerError, match=re.escape(told)):
            rendered(string=text)


@pytest.mark.parametrize("shebang", ["#!py", "#!pyobjects"])
def test_a_program_for_an_sls_that_ends_itself(options: Options, shebang: str) -> None:
    path = written(options, "a.sls", f"{shebang}\nimport sys\ndef run():\n    sys.exit(0)\nrun()\n")
    with pytest.raises(RunnerError, match="SystemExit: 0") as error:
        stages.sls(options, ["a"], ())
    assert error.value.diagnostics[0].source is not None
    assert str(error.value.diagnostics[0].source).startswith(f"{path}:4")


@pytest.mark.parametrize(
    "state",
    [
        "test.nop: [{onlyif: [{fun: box.read, args: [/none]}]}]",
        "test.nop: [{unless: [{fun: box.read, args: [/none]}]}]",
        "file.managed: [{name: '{tmp}/f'}, {contents: '__slot__:salt:box.read(/none)'}]",
    ],
)
def test_what_the_system_refuses_to_a_guard_or_a_slot_has_no_words_of_python(
    machine: Machine, state: str
) -> None:
    code = machine.folder / "states/_modules/box.py"
    code.parent.mkdir(parents=True)
    code.write_text("def read(path):\n    return open(path).read()\n")
    machine.write(a=f"x: {{{state}}}")
    for words in (["--test"], []):
        (result,) = machine.results("sls", "a", *words, code=2).values()
        assert result["comment"].startswith("box.read: /none: No such file or directory")
        assert "Error" not in result["comment"] and "Errno" not in result["comment"]
