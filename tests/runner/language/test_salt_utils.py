# SPDX-License-Identifier: Apache-2.0
"""What tree code imports of Salt. The expected answers are those of Salt 3008.3's own modules,
recorded once.
"""

from __future__ import annotations

import importlib
import json
from pathlib import Path

import pytest
from command import Machine

from runner.language.salt.package import SERIALIZERS, UTILS, provide_salt

ANSWERS: dict[str, str] = json.loads((Path(__file__).parent / "salt_utils.json").read_text())


@pytest.fixture(scope="module")
def names() -> dict[str, object]:
    provide_salt()
    return {name: importlib.import_module(f"salt.utils.{name}") for name in UTILS}


@pytest.mark.parametrize("expression", ANSWERS)
def test_answers_are_salts(expression: str, names: dict[str, object]) -> None:
    try:
        answer = repr(eval(expression, dict(names)))  # noqa: S307
    except Exception as error:
        answer = f"raises {type(error).__name__}"
    assert answer == ANSWERS[expression]


def test_files(names: dict[str, object], tmp_path: Path) -> None:
    import salt.utils.files as files  # type: ignore[import-not-found]

    path = str(tmp_path / "a")
    with files.fpopen(path, "w", mode=0o600) as file:
        file.write("ä")
    assert (Path(path).read_text(encoding="utf-8"), Path(path).stat().st_mode & 0o777) == (
        "ä",
        0o600,
    )
    with files.set_umask(0o77):
        assert files.get_umask() == 0o77
        (tmp_path / "private").touch()
    assert (tmp_path / "private").stat().st_mode & 0o777 == 0o600
    (tmp_path / "d/e").mkdir(parents=True)
    (tmp_path / "d/e/f").touch()
    files.recursive_copy(str(tmp_path / "d"), str(tmp_path / "g"))
    assert (tmp_path / "g/e/f").exists()
    files.copyfile(str(tmp_path / "private"), path)
    assert Path(path).stat().st_mode & 0o777 == 0o600 and Path(path).read_text() == ""
    made = files.mkstemp(dir=str(tmp_path))
    files.rename(made, str(tmp_path / "h"))
    (tmp_path / "d/e/loop").symlink_to(tmp_path / "d")
    assert len(list(files.safe_walk(str(tmp_path / "d")))) == 2
    with files.flopen(path) as file:
        assert file.read() == ""
    files.rm_rf(str(tmp_path / "d"))
    assert not (tmp_path / "d").exists()


CODE = """
import salt.exceptions
import salt.utils
import salt.utils.files
import salt.utils.platform, salt.utils.json
from salt.utils.odict import OrderedDict
from salt.utils.decorators import depends, memoize
from salt.serializers import yaml as own_yaml, json as own_json, configparser
from salt.exceptions import CommandExecutionError

HAS = False

def __virtual__():
    return "box" if salt.utils.platform.is_linux() else False

def which():
    return bool(salt.utils.path.which("sh"))

@depends("HAS")
def lacks():
    return 1

def read(path):
    with salt.utils.files.fopen(path) as file:
        return salt.utils.json.load(file)

def utils(path):
    return __utils__["files.is_text"](path), __utils__["dictupdate.update"]({"a": 1}, {"b": 2})["b"]

def forms():
    data = OrderedDict([("b", {"x": "1"}), ("a", {"y": "2"})])
    ini = configparser.serialize({"s": {"a": 1}})
    texts = own_yaml.serialize(data), own_json.serialize({"a": [1]}), ini
    return [*texts, own_yaml.deserialize("a: 1"), own_json.deserialize("[1]")]

def bad():
    own_json.deserialize("{")

def rendered():
    import salt.utils.templates
    return salt.utils.templates.render_jinja_tmpl("{{ a + 1 }}", {"a": 1, "saltenv": "base"})

def addresses():
    import salt.utils.network
    return salt.utils.network.in_subnet("127.0.0.0/8"), bool(salt.utils.network.interfaces())

def fails():
    raise CommandExecutionError("no good")

def other():
    import salt.cloud

import salt.config, salt.loader, salt.modules.cmdmod, salt.version, salt._compat
import salt.utils.atomicfile, salt.utils.context, salt.utils.functools, salt.utils.http
import salt.utils.compat
from salt.ext import six
from salt.ext.six.moves import configparser as parser, range, zip
from salt.ext.six.moves.urllib.parse import urlparse
from salt.utils.decorators.path import which as needs
from salt.utils.validate.net import mac

salt.utils.compat.pack_dunder(__name__)
WORD = 1

def word():
    return WORD

copied = salt.utils.functools.namespaced_function(word, {"WORD": 2})

@needs("no-such-program")
def needing():
    return 1

def more(path):
    with salt.utils.atomicfile.atomic_open(path) as file:
        file.write("whole")
    with salt.utils.context.func_globals_inject(word, WORD=3):
        injected = word()
    return {
        "command": salt.modules.cmdmod._run_quiet("echo hi"),
        "code": salt.modules.cmdmod._run_all_quiet("false")["retcode"],
        "six": [sorted(six.iteritems({"a": 1})), isinstance("", six.string_types), list(range(2))],
        "path": urlparse("http://a/b").path,
        "id": salt.config.minion_config("/etc/salt/minion")["id"],
        "functions": salt.loader.minion_mods({})["test.echo"]("x"),
        "grain": salt.loader.grains({})["kernel"],
        "version": salt.version.__version__.split(".")[0],
        "former": [salt.utils.is_windows(), salt.utils.to_str(b"x"), bool(salt.utils.which("sh"))],
        "reason": __salt__.missing_fun_string("boto.exists"),
        "words": [word(), copied(), injected, mac("x"), bool(parser.ConfigParser)],
        "wrapped": dict(salt.utils.context.NamespacedDictWrapper({"a": {"b": 1}}, "a")),
    }
"""
GRAIN = """
import salt.modules.cmdmod
__salt__ = {"cmd.run": salt.modules.cmdmod._run_quiet}

def battery():
    return {"battery": __salt__["cmd.run"]("echo full")}
"""


def test_code_of_a_tree_uses_them(machine: Machine) -> None:
    folder = machine.folder / "states/_modules"
    folder.mkdir()
    (folder / "mine_box.py").write_text(CODE)
    (machine.folder / "data.json").write_text('{"a": 1}')

    def called(*words: str) -> object:
        return machine.answer("call", *words)

    path = str(machine.folder / "data.json")
    assert called("box.which") is True
    assert called("box.read", path) == {"a": 1}
    assert called("box.utils", path) == [True, 2]
    assert called("box.forms") == [
        "{b: {x: '1'}, a: {y: '2'}}",
        '{"a": [1]}',
        "[s]\na = 1\n\n",
        {"a": 1},
        [1],
    ]
    assert called("box.rendered") == "2"
    assert called("box.addresses") == [True, True]
    assert called("box.more", str(machine.folder / "whole")) == {
        "command": "hi",
        "code": 1,
        "six": [[["a", 1]], True, [0, 1]],
        "path": "/b",
        "id": "m1",
        "functions": "x",
        "grain": "Linux",
        "version": "3008",
        "former": [False, "x", True],
        "reason": "'boto.exists' is not available.",
        "words": [1, 2, 3, False, True],
        "wrapped": {"b": 1},
    }
    assert (machine.folder / "whole").read_text() == "whole"
    (machine.folder / "states/_grains").mkdir()
    (machine.folder / "states/_grains/battery.py").write_text(GRAIN)
    assert called("grains.get", "battery") == "full"
    for function, told in {
        "box.needing": "'no-such-program' could not be found in the PATH",
        "box.fails": "no good",
        "box.bad": "Expecting property name",
        "box.lacks": "lacks lacks what it depends on",
        "box.other": "runner is not Salt",
    }.items():
        assert told in machine("call", function, code=1).stderr


@pytest.mark.parametrize("kind", SERIALIZERS)
def test_every_serializer_is_there(kind: str) -> None:
    provide_salt()
    found = importlib.import_module(f"salt.serializers.{kind}")
    assert callable(found.serialize) and callable(found.deserialize)
