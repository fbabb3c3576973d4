# SPDX-License-Identifier: Apache-2.0
"""What SLS files compile to is kept between runs: the same states, unless anything that they are
made from has changed.
"""

from __future__ import annotations

import importlib
import json
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from command import ROOT, Machine

from runner.language.render import code_revision
from runner.model.places import PlacedList, PlacedMap
from runner.pipeline import compile_cache
from runner.pipeline.compile import of_requests
from runner.pipeline.compile_cache import CompileCache
from runner.pipeline.session import Session
from runner.sources.config.load import load

MANY = "".join(f"s{number}:\n  test.nop: []\n" for number in range(20))
KEPT = "compiled by an earlier run"


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    made = Machine(tmp_path)
    made.config["log_level"] = "info"  # in all runs: with another one a plan is another one
    return made


def is_kept(machine: Machine, *words: str, code: int | None = 0) -> bool:
    """Run, and say whether the states came from an earlier run."""
    done = machine(*(words or ("sls", "a")), code=code)
    return KEPT in done.stderr


def settle(machine: Machine, *words: str, code: int | None = 0) -> None:
    """Run until the states come from an earlier run."""
    answers = [is_kept(machine, *words, code=code) for _ in range(3)]
    assert answers == [False, False, True]


def test_the_third_run_with_the_same_texts_need_not_compile(machine: Machine) -> None:
    machine.write(a=f"include: [b]\n{MANY}", b="{{ grains.id }}:\n  test.nop: []\n")
    settle(machine)
    first = machine("sls", "a", "--out", "json", "--test").stdout
    (kept,) = (machine.folder / "cache/compiled").iterdir()
    assert kept.stat().st_mode & 0o077 == 0
    whole = kept.read_bytes()
    for damaged in (whole[:-1], whole[:40] + b"\0" + whole[41:], b"", b"tree", b"x" * 100):
        kept.write_bytes(damaged)
        assert not is_kept(machine)
    assert_same(machine("sls", "a", "--out", "json", "--test").stdout, first)


def assert_same(one: str, other: str) -> None:
    """But for what differs between any two runs."""
    varies = r'"(start_time|jid)": "[^"]*"|"duration": [\d.]+'
    assert re.sub(varies, "", one) == re.sub(varies, "", other)


def _text(machine: Machine) -> None:
    machine.write(b="other:\n  test.nop: []\n")


def _other_file(machine: Machine) -> None:
    (machine.folder / "states/b.sls").unlink()
    machine.write(b__init="included:\n  test.nop: []\n")


def _setting(machine: Machine) -> None:
    machine.config["noop"] = True


def _module_of_the_tree(machine: Machine) -> None:
    folder = machine.folder / "states/_states"
    folder.mkdir()
    (folder / "test.py").write_text(
        "def nop(name):\n    return {'name': name, 'result': True, 'changes': {}, 'comment': ''}\n"
    )


def _grain(machine: Machine) -> None:
    machine.config["id"] = "m2"


@pytest.mark.parametrize("change", [_text, _other_file, _setting, _module_of_the_tree, _grain])
def test_a_change_is_seen(machine: Machine, change: Callable[[Machine], None]) -> None:
    machine.write(a=f"include: [b]\n{MANY}", b="included:\n  test.nop: []\n# {{ grains.id }}\n")
    settle(machine)
    change(machine)
    assert not is_kept(machine)


def test_changed_code_of_runner_compiles_anew(machine: Machine, tmp_path: Path) -> None:
    facts = compile_cache.PlanSources(b"s", (), ("/proc/self/stat",), [(1, 1)])
    data = compile_cache._file(facts, b"plan")
    assert compile_cache._parts(data) == (facts, b"plan")
    for name in ("compiler.low", "arguments.bind"):  # a run that compiles has executed them
        vars(import_module(f"runner.language.{name}"))
    code = code_revision.loaded_code()
    for part in ("language/compiler/low.py", "language/arguments/bind.py", "support/yaml/load.py"):
        assert any(file.endswith(part) for file in map(str, map(Path.resolve, map(Path, code))))
    assert not any(file.startswith(sys.prefix + "/lib/python3/os.py") for file in code)


def test_a_template_is_rendered_in_each_run(machine: Machine) -> None:
    log = machine.folder / "log"
    machine.write(a=f"# {{{{ salt['cmd.shell']('echo x >> {log}; cat {log}.lines') }}}}\n{MANY}")
    Path(f"{log}.lines").write_text("one")
    settle(machine)
    assert log.read_text().count("x") == 3
    Path(f"{log}.lines").write_text("two")
    assert not is_kept(machine)
    assert log.read_text().count("x") == 4, "what was rendered to compare is not rendered again"


def test_a_file_without_jinja_is_not_rendered_to_compare_it(machine: Machine) -> None:
    machine.write(a=MANY)
    settle(machine)
    assert "rendered" not in machine("sls", "a").stderr
    machine.write(a=MANY + "{{ 'new' }}:\n  test.nop: []\n")
    settle(machine)
    assert machine.results("sls", "a")["new"]["result"] is True
    assert "rendered" not in machine("sls", "a").stderr, "its result is known"


def test_places_are_the_same_where_nothing_is_rendered(machine: Machine) -> None:
    """Those of states, of requisites, and of what a line had become."""
    machine.write(
        a="{% for n in range(2) %}\n# {{ n }}\n{% endfor %}\ninclude: [b]\n"
        "{% macro state(name) %}\n{{ name }}:\n  cmd.run:\n    - name: {{ 'false' }}\n"
        "{% endmacro %}\n{{ state('one') }}\n{{ grains.id }}:\n  test.fail_without_changes: []\n"
        "last:\n  test.nop:\n    - require: [test: {{ grains.id }}]\n",
        b="{% if grains.id %}\n{{ pillar.get('x', 'y') }}:\n  test.fail_without_changes: []\n"
        "{% endif %}\n",
    )
    told = []
    for _ in range(4):
        done = machine("sls", "a", "--out", "json", code=None)
        places = re.findall(r"\S+\.sls:\d+\S*|\d+ \| .*", done.stdout + done.stderr)
        told.append((KEPT in done.stderr, "rendered" in done.stderr, places))
        plain = machine("sls", "a", code=None)
        told[-1][2].extend(re.findall(r"\S+\.sls:\d+\S*|\d+ \| .*", plain.stdout))
    assert told[0][2] == told[-1][2] != []
    assert [kept for kept, _, _ in told] == [False, True, True, True]


def test_a_file_that_renders_to_its_own_text_is_a_template(machine: Machine) -> None:
    machine.write(a="'{{ pillar.x }}':\n  test.nop: []\n", pillar__top="base: {'*': [p]}")
    machine.write(pillar__p="x: '{% raw %}{{ pillar.x }}{% endraw %}'\n")
    settle(machine)
    machine.write(pillar__p="x: other\n")
    assert list(machine.results("sls", "a")) == ["other"]


def test_so_is_one_with_other_marks(machine: Machine) -> None:
    machine.config["jinja_sls_env"] = {"variable_start_string": "[[", "variable_end_string": "]]"}
    machine.write(a="'[[ pillar.x ]]':\n  test.nop: []\n", pillar__top="base: {'*': [p]}")
    machine.write(pillar__p="x: '{% raw %}[[ pillar.x ]]{% endraw %}'\n")
    settle(machine)
    machine.write(pillar__p="x: other\n")
    assert list(machine.results("sls", "a")) == ["other"]


@pytest.mark.parametrize(
    "sls",
    [
        "#!py\ndef run():\n    return {f's{n}': {'test.nop': []} for n in range(30)}\n",
        f"include: ['b*']\n{MANY}",
        MANY + "in home:\n  file.absent: [name: ~/x]\n",
        MANY + "login:\n  test.nop: [x: \"{{ pillar.token | replace('2', '\\\\x32') }}\"]\n",
        MANY + "none:\n  test.missing_function: []\n",
    ],
    ids=["python", "pattern", "home", "secret", "mistake"],
)
def test_what_may_be_otherwise_in_the_next_run_is_not_kept(machine: Machine, sls: str) -> None:
    machine.write(
        a=sls,
        b1="other:\n  test.nop: []\n",
        t="{{ port }}",
        pillar__top="base: {'*': [p]}",
        pillar__p="token: hunter2hunter2",
    )
    assert [is_kept(machine, code=None) for _ in range(4)] == [False] * 4
    for file in machine.folder.glob("cache/compiled/*"):
        assert b"hunter2" not in file.read_bytes()


def test_what_a_template_uses_is_looked_up_in_each_run(machine: Machine) -> None:
    """Of an argument that the function does not have: whether it is one for the template."""
    state = "file.managed: [source: 'salt://t.jinja', template: jinja, port: 1]"
    machine.write(a=f"{MANY}{{tmp}}/f:\n  {state}\n")
    template = machine.folder / "states/t.jinja"

    def run() -> tuple[bool, bool]:
        said = machine("sls", "a").stderr
        return "has no argument 'port'" in said, KEPT in said

    template.write_text("{{ port }}\n")
    assert [run() for _ in range(3)] == [(False, False), (False, False), (False, True)]
    template.write_text("no variable\n")
    assert [run() for _ in range(2)] == [(True, False), (True, True)]
    template.write_text("{{ port }}\n")
    assert [run() for _ in range(2)] == [(False, False), (False, True)]


def test_warnings_are_kept(machine: Machine) -> None:
    machine.write(a=MANY + "odd:\n  test.nop: [unknwon: {{ 1 + 1 }}]\n")
    runs = [machine("sls", "a", "--test").stderr for _ in range(3)]
    assert [KEPT in run for run in runs] == [False, False, True]
    said = [re.sub(r"(?m)^\[INFO.*\n", "", run) for run in (runs[0], runs[2])]
    assert said[0] == said[1] and "a.sls:42:" in said[0] and "unknwon: 2" in said[0]
    assert "has no argument 'unknwon'" in said[0]


def test_parts_of_a_run_and_other_requests_are_others(machine: Machine) -> None:
    machine.write(a=MANY, b=MANY.replace("s", "t", 1), top="base: {'*': [a]}")
    settle(machine, "highstate")
    assert is_kept(machine, "highstate", "--test"), "of a dry run and of a real one"
    assert not is_kept(machine, "highstate", "--only", "s1")
    assert not is_kept(machine, "sls", "a"), "opts.saltenv is another one"
    assert not is_kept(machine, "sls", "b", code=None)


def test_what_the_states_refer_to_is_looked_up_in_each_run(machine: Machine) -> None:
    machine.write(a=MANY + "{tmp}/f:\n  file.managed: [source: 'salt://src']\n")
    source = machine.folder / "states/src"
    source.write_text("text")
    settle(machine)
    source.unlink()
    done = machine("sls", "a", "--test", code=None)
    assert KEPT in done.stderr
    assert "warning: file.managed: source: salt://src is not in the tree" in done.stderr


def test_secrets_among_the_arguments_are_masked_in_each_run(machine: Machine) -> None:
    machine.write(a=MANY + "key:\n  test.configurable_test_state: [password: opensesame123]\n")
    for _ in range(4):
        shown = machine("sls", "a", "--out", "json", code=None)
        assert "opensesame123" not in shown.stdout + shown.stderr
    machine.write(
        a=f"{MANY}key:\n  test.nop:\n    - password: {{{{ pillar.token }}}}\n"
        "says:\n  test.configurable_test_state:\n    - comment: it is {{ pillar.token }}\n"
        "u:\n  user.present: [password: qzx, hash_password: true, unless: 'true']\n"
        "unknown:\n  test.nop: [odd: '{{ pillar.token }}']\n",
        pillar__top="base: {'*': [p]}",
        pillar__p="token: hunter2hunter2",
    )
    words = ("sls", "a", "--out", "json")
    runs = [machine(*words, code=None) for _ in range(3)]
    (machine.folder / "cache/state/former-secrets").unlink()
    shown = machine(*words, code=None)
    assert [KEPT in run.stderr for run in (*runs, shown)] == [False, False, True, True]
    assert "**********" in shown.stdout
    (kept,) = machine.folder.glob("cache/compiled/*")
    for secret in ("hunter2hunter2", "qzx"):
        assert secret not in shown.stdout + shown.stderr
        assert secret.encode() not in kept.read_bytes()
    machine.write(pillar__p="token: another one")
    assert not is_kept(machine, *words, code=None)


# ---------------------------------------------------------------- the same as compiled anew


def compiled(folder: Path, **settings: Any) -> str:
    """Return what the SLS files of a folder compile to, in a form that can be compared."""
    config = folder.with_suffix(".yaml")
    own = {"file_roots": {"base": [str(folder)]}, "id": "m", "cachedir": f"{folder}.cache"}
    config.write_text(json.dumps(own | settings))
    session = Session(load(str(config), {}, {})[0])
    with session.opened():
        made, problems = of_requests(session)()
    if made is None:
        return repr([problem.message for problem in problems])
    places = [*_places([(step.chunk.low, step.chunk.args) for step in made.steps])]
    shared = [(dict(step.chunk.low), *step.chunk.requisites) for step in made.steps]
    edges = [*made.relations.edges]
    whole = made.steps, made.relations, made.order, sorted(made.sls_files), problems, places
    shown = re.sub(r"<\S+(Rendered|Written) object at 0x\w+>", "TEXT", repr((whole, shared, edges)))
    return re.sub(r"<\S+\.(\w+) object at 0x\w+>", r"\1", shown)


def _places(value: Any) -> Iterator[tuple[Any, ...]]:
    """What mappings and lists know of where they were typed."""
    if isinstance(value, PlacedMap | PlacedList):
        at = value.at if isinstance(value, PlacedMap) else value.items_at
        yield type(value), value.document, value.start, at, getattr(value, "places", None)
    if isinstance(value, Mapping | list | tuple):
        for item in value.values() if isinstance(value, Mapping) else value:
            yield from _places(item)


@pytest.fixture
def recalled(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What runs had from those before them."""
    plans = []
    recall = CompileCache.recall

    def spied(self: CompileCache) -> Any:
        plans.append(recall(self))
        return plans[-1]

    monkeypatch.setattr(CompileCache, "recall", spied)
    return plans


def test_random_trees_are_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, recalled: list[Any]
) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "bench"))
    trees = importlib.import_module("random_trees")
    used = 0
    for seed in range(60):
        folder = tmp_path / str(seed)
        folder.mkdir()
        (trees.RichTree if seed % 2 else trees.FullTree)(seed, False).write(folder)
        first, _, third = compiled(folder), compiled(folder), compiled(folder)
        assert first == third
        used += recalled[-1] is not None
    assert used > 20


@pytest.mark.parametrize("own", ["[]", "[require: [{test: own}], x: 1]"])
def test_what_states_are_given_by_others_is_the_same(
    tmp_path: Path, recalled: list[Any], own: str
) -> None:
    """What an SLS file is given as a whole its states share, and so do their rows."""
    given = "[require_in: [{sls: many}], watch_in: [{sls: many}]]"
    texts = {
        "top": "base: {'*': [a]}\n",
        "a": "include: [many]\n" + "".join(f"g{n}:\n  test.nop: {given}\n" for n in range(3)),
        "many": MANY.replace("[]", own) + "own:\n  test.nop: []\ntools:\n  pkg.installed: []\n",
    }
    (tmp_path / "tree").mkdir()
    for name, text in texts.items():
        (tmp_path / f"tree/{name}.sls").write_text(text)
    first, _, third = (compiled(tmp_path / "tree", state_aggregate=True) for _ in range(3))
    assert recalled[-1] is not None
    assert first == third
    for shared in ("SpreadLow", "Requisites", "JoinedList", "mod_aggregate"):
        assert shared in third


def test_a_requisite_on_an_sls_file_takes_no_room_for_each_state_of_it(tmp_path: Path) -> None:
    """50 states that each require 50."""
    sizes = {}
    for name, requisite in (("a", ""), ("b", ", {sls: many}")):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "many.sls").write_text("".join(f"m{n}: test.nop\n" for n in range(50)))
        states = "".join(
            f"s{n}:\n  test.nop:\n    - require: [{{test: m1}}{requisite}]\n" for n in range(50)
        )
        (folder / "top.sls").write_text("base: {'*': [many, all]}\n")
        (folder / "all.sls").write_text(f"include: [many]\n{states}")
        first, _, third = compiled(folder), compiled(folder), compiled(folder)
        assert first == third
        (kept,) = (tmp_path / f"{name}.cache/compiled").iterdir()
        sizes[name] = kept.stat().st_size
    assert sizes["b"] - sizes["a"] < 50 * 200
