# SPDX-License-Identifier: Apache-2.0
"""What a template rendered to is known to later runs, without rendering, unless anything that it is
made from has changed, or may be another thing each time.
"""

from __future__ import annotations

import json
import os
import random
from collections.abc import Mapping
from copy import deepcopy
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from command import Machine

from runner.language.render import kept_results
from runner.language.render.jinja import Jinja
from runner.model.errors import RunnerError
from runner.model.places import Later
from runner.pipeline.compile import of_requests
from runner.pipeline.compile_cache import CompileCache
from runner.pipeline.session import Session
from runner.sources.config.load import load

# answered by variables, imports, grains and pillar alone
SAME = """
{{ x }}{% for port in ports %} listen {{ port }};{% endfor %}
{{ settings.a }} {{ settings | tojson }} {{ settings.items() | list | length }}
{{ x | upper | md5 }} {{ ports | union([1]) | join(',') }} {{ ports | map('string') | join }}
{% set own = namespace(n=0) %}{% for _ in ports %}{% set own.n = own.n + 1 %}{% endfor %}{{ own.n }}
{% macro m(a) %}<{{ a }}>{% endmacro %}{{ m(x) }}
{% import 'lib.jinja' as lib %}{{ lib.m(x) }} {{ lib.role }}
{% from 'below/lib.jinja' import n with context %}{{ n() }}
{% include 'part.jinja' ignore missing %}.
{% include ['nothing.jinja', 'lib.jinja'] %}.
{% extends 'base.jinja' %}{% block body %}{{ super() }}{{ x }}{% endblock %}
{% import_yaml 'data.yaml' as data %}{{ data.k }}
{% import_json 'data.json' as data %}{{ data }}
{% load_yaml as data %}{k: {{ x }}}{% endload %}{{ data.k }}
{{ grains.id }} {{ grains['role'] }} {{ grains.get('other', 'none') }}
{% if 'other' in grains %}{{ grains.other }}{% endif %}.
{{ pillar.a }} {{ pillar.get('deep', {}).b }}
{{ salt['pillar.get']('deep:b', 0) }} {{ salt.grains.get('role') }}
{{ salt['grains.filter_by']({'web': {'v': 1}, 'default': {'v': 2}}, grain='role').v }}
{{ salt['config.get']('role') }} {{ salt['config.get']('deep:b') }}
{{ salt['slsutil.merge']({'a': 1}, pillar.deep) }} {{ salt['grains.has_value']('other') }}
{{ salt['file.dirname']('/a/b') }} {{ salt['file.join']('/a', x) }}
{{ salt['slsutil.serialize']('yaml', pillar.deep) }}
{% set own1 = {'a': 1} %}{% do own1.update({'b': pillar.a}) %}{{ own1.b }}
{% set own2 = [] %}{% for port in ports %}{% do own2.append(port) %}{% endfor %}{{ own2 }}
{% import_yaml 'data.yaml' as data %}{% if x %}{% do data.update({'k': x}) %}{% endif %}{{ data.k }}
{% set own4 = salt['grains.filter_by']({'default': {}}) %}{% do own4.update(x=x) %}{{ own4 }}
{% set own3 = {} %}{% set alias = own3 %}{% do alias.update({'a': x}) %}{{ own3 }}
{% set own5 = salt['slsutil.merge']({'a': 1}, pillar.deep) %}{% do own5.pop('a') %}{{ own5 }}
{% block body %}{% set own6 = {} %}{% do own6.update({'b': 2}) %}{{ own6 }}{% endblock %}
{% set s1 = settings %}{% set own7 = {} %}{% set s1 = own7 %}{% do s1.update({'b': 2}) %}{{ own7 }}
{% set own8 = {'d': pillar.deep | tojson | load_json} %}{% do own8.d.update({'b': 7}) %}{{ own8 }}
{% macro m2(own) %}{% do own.append(x) %}{% endmacro %}{% set l = [] %}{{ m2(l) }}{{ l }}
{% do pillar.deep.update(pillar.deep) %}{{ pillar.deep.b }}
{% if x is sameas true %}{% else %}{{ x }}{% endif %}{{ '__a__' }} {{ opts.id }}
"""
# these ask execution functions, whose answers are compared
LOOKS = """
{{ salt['cmd.run']('echo x') }}
{{ salt['file.file_exists']('/nowhere') }}
{{ salt['test.echo']('x') }}{% set s = salt %}{{ s['cmd.run']('echo x') }}
{{ salt[x and 'cmd.run']('echo x') }} {{ salt.own.look() }} {{ salt['own.look']() }}
{% import 'looks.jinja' as looks %}{{ looks.x }} {{ salt['own.look'](ports, deep=pillar.deep) }}
{% for port in ports %}{{ salt['test.echo'](port) }}{% set p = port %}{% endfor %}
{% set own9 = salt['own.look']() %}{% if own9 %}{{ salt['own.look'](own9) }}{% endif %}.
{% do salt['log.debug'](pillar.deep | yaml) %}{{ x }}
{{ salt['config.get']('role') }}{{ salt['own.look']() }}{{ pillar.a }}{{ grains.role }}
{% set call = salt['own.look'] %}{{ call() }}{{ call(1) }}
"""
# each may be something else in the next run, or alters what others see
OTHERWISE = """
{{ day.today().year }} {{ day['now']().year }}
{{ 'cmd.run' in salt }}
{{ salt['own.look'] is defined }}
{{ salt.own.none is defined }}
{{ salt.nothing is defined }}
{{ salt.get('own.none', 'none') }}
x{% for name in salt %}{% break %}{% endfor %}
{{ salt['own.seconds']() and 'x' }}
{{ salt['own.odd']() and 'x' }}
{{ ['b', 'a'] | map('ran' ~ 'dom') | list | length }}
{% filter random %}x{% endfilter %}
x{% set y | random %}x{% endset %}{{ y }}
{{ salt.own is defined }}
{{ x.upper }}
x{% do salt['own.kept']().append(1) %}{{ salt['own.fresh']() }}
x{% do salt['own.fill'](settings) %}
x{% set own = {} %}{% do salt['own.fill'](own) %}{{ own }}
x{% do salt['own.alter']() %}
x{% do salt['slsutil.update'](settings, {'c': 1}) %}
x{% do salt['own.kept']().append(1) %}
x{% do dict.update(settings, {'c': 1}) %}
x{% do dict.pop(pillar, 'a') %}
x{% do grains.tags.append(1) %}
x{% do opts.update({'late': 1}) %}
x{% do salt['config.get']('late', opts).update({'late': 1}) %}
{{ day[('to', 'day') | join]().year }}
{{ salt['slsutil.merge']({'a': 1}, {}, 'smrt') }}
{{ [1] | random }} {{ [1] | map('random') | list }}
{{ (5 | rand_str) | length }} {{ 'now' | strftime('%C') }}
{{ lipsum(n=0) | length }} {{ '/etc' | list_files | length }}
{{ grains | length }}
x{% for name in grains %}{{ '' }}{% endfor %}
{% do settings.update({'b': 2}) %}{{ settings.b }}
{% do pillar.update({'late': 2}) %}{{ pillar.late }}
{{ settings.setdefault('c', 1) }}
x{% set own = settings %}{% do own.update({'b': 2}) %}
x{% set own = pillar.get('deep') %}{% do own.update({'b': 3}) %}
x{% set own = {'s': settings} %}{% do own.s.update({'b': 2}) %}
x{% set own = salt['pillar.get']('deep') %}{% do own.update({'b': 3}) %}
x{% if not x %}{% set settings = {} %}{% endif %}{% do settings.update({'b': 2}) %}
x{% do settings.update({'b': 2}) %}{% set settings = {} %}
x{% set own = {} %}{% for own in [settings] %}{% do own.update({'b': 2}) %}{% endfor %}
x{% set own = {} %}{% macro m(own) %}{% do own.update({'b': 2}) %}{% endmacro %}{{ m(settings) }}
x{% set own = {} %}{% if x %}{% set own = settings %}{% do own.update({'b': 2}) %}{% endif %}
x{% set own = {} %}{% with own = settings %}{% do own.update({'b': 2}) %}{% endwith %}
x{% set own = {} %}{% from 'hands.jinja' import deep as own with context %}{% do own.update(c=3) %}
x{% set own = {} %}{% set other = own %}{% set own = settings %}{% do own.update({'b': 2}) %}
x{% set own = settings %}{% set other = own %}{% do other.update({'b': 2}) %}
x{% set own, other = settings, {} %}{% do own.update({'b': 2}) %}
x{% block body %}{% set own = settings %}{% do own.update({'b': 2}) %}{% endblock %}
{{ settings['pop']('a') }}
x{% set f = settings['p' ~ 'op'] %}{% do f('b', 0) %}
x{% for f in [settings] | map(attribute='p' ~ 'op') %}{% do f('b', 0) %}{% endfor %}
x{{ grains }}
{{ day.timestamp() }}
{% set f = 'pop' %}{{ settings[f]('a') }}
{{ x.__class__.__name__ }} {{ x | attr('upper') is defined }}
{{ show_full_context() | length }}
{% profile as 'x' %}{{ x }}{% endprofile %}
"""
FILES = {
    "lib.jinja": "{% macro m(a) %}[{{ a }}]{% endmacro %}{% set role = grains.role %}",
    "below/lib.jinja": (
        "{% import './near.jinja' as near %}{% macro n() %}{{ near.v }}{% endmacro %}"
    ),
    "below/near.jinja": "{% set v = salt['pillar.get']('a') %}",
    "base.jinja": "base {% block body %}{{ pillar.a }}{% endblock %}",
    "looks.jinja": "{% set x = salt['cmd.run']('echo x') %}",
    "hands.jinja": "{% set deep = pillar.deep %}",
    "data.yaml": "k: 1\n",
    "data.json": "[1]",
    "_modules/own.py": """
import time
from pathlib import Path

import jinja2

MACHINE = Path(__file__).parents[2] / "machine"
KEPT = []


def look(*arguments, **named):
    return [MACHINE.read_text() if MACHINE.exists() else "", *arguments, named]


def note(text):
    with MACHINE.with_name("notes").open("a") as notes:
        notes.write(text)
    return MACHINE.read_text() if MACHINE.exists() else ""


def seconds():
    return time.time_ns()


def fill(mapping):
    mapping["filled"] = True


def fill_some(mapping):
    if MACHINE.exists():
        mapping["filled"] = True


def alter():
    __pillar__["altered"] = True


def take():
    note("taken ")
    __pillar__["a"] = MACHINE.read_text()
    return ""


def kept():
    return KEPT


def fresh():
    return []


def boom(text):
    if note(text) == "broken":
        raise ValueError("it is broken")
    return text


@jinja2.pass_context
def told(context):
    return context["x"]


class Odd:
    pass


def odd():
    return Odd()
""",
}
CONTEXT = {"x": "one", "ports": [80, 8000], "settings": {"a": True}, "day": datetime(2000, 1, 1)}


class World:
    """A tree, a pillar and grains, and what runs make of templates."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder = folder
        self.files = dict(FILES)
        self.config: dict[str, Any] = {"id": "m", "grains": {"role": "web", "tags": ["t"]}}
        self.pillar: dict[str, Any] = {"a": 1, "deep": {"b": 2}}
        self.rendered = 0
        self.dry = False
        render = Jinja.render

        def counted(*args: Any, **options: Any) -> Any:
            self.rendered += not options["sls"]
            return render(*args, **options)

        monkeypatch.setattr(Jinja, "render", counted)

    def written(self) -> None:
        for name, text in self.files.items():
            path = self.folder / "tree" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            if not path.exists() or path.read_text() != text:
                path.write_text(text)
        for path in (self.folder / "tree").rglob("*.jinja"):
            if str(path.relative_to(self.folder / "tree")) not in self.files:
                path.unlink()
        roots = {"file_roots": {"base": [str(self.folder / "tree")]}}
        (self.folder / "runner.yaml").write_text(json.dumps(self.config | roots))

    def run(
        self, texts: list[str], context: dict[str, Any], probably: Mapping[str, str]
    ) -> list[str]:
        """What the templates render to in one run; what is wrong where they do not."""
        self.written()
        given = {"cachedir": str(self.folder / "cache"), "pillar": json.dumps(self.pillar)}
        options, _ = load(str(self.folder / "runner.yaml"), given, os.environ)
        session = Session(options)
        made = []
        if self.dry:
            session.only_look()
        with session.opened():
            session.run.facts.pillar = json.loads(json.dumps(self.pillar))
            for text in texts:
                variables = deepcopy(context)
                try:
                    made.append(
                        session.template(
                            text,
                            "jinja",
                            variables,
                            probably=probably.get(text, "").encode("utf-8", "surrogatepass"),
                        )
                    )
                except RunnerError as error:
                    made.append(str(error))
            session.keep_results()
        return made

    def states(self, cache: str) -> list[Any]:
        """The states that the SLS `a` compiles to, and where they were typed."""
        self.written()
        given = {"cachedir": str(self.folder / cache)}
        options, _ = load(str(self.folder / "runner.yaml"), given, os.environ)
        session = Session(options)
        with session.opened():
            session.run.facts.pillar = json.loads(json.dumps(self.pillar))
            made, problems = of_requests(session, ["a"])()
            session.keep_results()
            if made is None:
                return [problem.message for problem in problems]
            chunks = [made.steps[position].chunk for position in made.order]
            return [(chunk.low, str(chunk.place), chunk.place.source[:3]) for chunk in chunks]

    def count(self, texts: list[str], probably: Mapping[str, str]) -> int:
        """How many templates a run renders."""
        before = self.rendered
        self.run(texts, CONTEXT, probably)
        return self.rendered - before


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    return World(tmp_path, monkeypatch)


def _texts(lines: str) -> list[str]:
    return lines.strip().split("\n")


def test_what_answers_the_same_is_rendered_until_it_is_found_in_place(world: World) -> None:
    texts = _texts(SAME) + _texts(LOOKS)
    made = dict(zip(texts, world.run(texts, CONTEXT, {}), strict=True))
    assert world.count(texts, dict.fromkeys(texts, "another")) == len(texts)
    assert world.count(texts, made) == len(texts)
    assert world.count(texts, made) == 0
    assert world.count(texts, dict.fromkeys(texts, "another")) == len(texts)
    kept = world.folder / "cache/results/results"
    assert kept.stat().st_mode & 0o077 == 0
    whole = kept.read_bytes()
    for damaged in (whole[:-1], b"", whole[:9] + bytes([whole[9] ^ 1]) + whole[10:]):
        kept.write_bytes(damaged)
        assert world.count(texts[:1], made) == 1


def test_a_large_pillar_is_not_looked_at_again_and_again(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As it is behind each template that may have altered it."""
    alters = "{% do settings.update({'b': 2}) %}x"
    texts = ["{{ pillar.a }} first", alters, "{{ pillar.a }} second"]
    made = dict(zip(texts, world.run(texts, CONTEXT, {}), strict=True))
    assert [world.count(texts, made) for _ in range(2)] == [3, 1]
    monkeypatch.setattr(kept_results, "MOST_LOOKED_AT", 1)
    assert world.count(texts, made) == 2
    world.pillar["a"] = 5
    assert world.run(texts, CONTEXT, made) == ["5 first", "x", "5 second"]


def test_what_is_too_large_to_be_looked_at_may_have_been_altered(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept_results, "MOST_LOOKED_AT", 0)
    text = "x{% do salt['own.alter']() %}"
    assert [world.count([text], {text: "x"}) for _ in range(3)] == [1, 1, 1]


@pytest.mark.parametrize("text", _texts(OTHERWISE))
def test_what_may_answer_otherwise_is_rendered_in_each_run(world: World, text: str) -> None:
    (made,) = world.run([text], CONTEXT, {})
    assert made, "what renders to nothing is not kept"
    assert [world.count([text], {text: made}) for _ in range(3)] == [1, 1, 1], made


def _part(world: World, chance: random.Random) -> None:
    world.files["part.jinja"] = f"part {chance.random()} {{{{ grains.id }}}}"


def _no_part(world: World, chance: random.Random) -> None:
    world.files.pop("part.jinja", None)


def _library(world: World, chance: random.Random) -> None:
    world.files["below/near.jinja"] = f"{{% set v = pillar.a + {chance.randrange(3)} %}}"


def _data(world: World, chance: random.Random) -> None:
    world.files["data.yaml"] = f"k: {chance.randrange(3)}\n"


def _pillar(world: World, chance: random.Random) -> None:
    world.pillar["deep"] = {"b": chance.randrange(3)}


def _grain(world: World, chance: random.Random) -> None:
    world.config["grains"] = {"role": chance.choice(["web", "db"])}


def _other_grain(world: World, chance: random.Random) -> None:
    world.config["grains"]["other"] = chance.randrange(3)


def _option(world: World, chance: random.Random) -> None:
    world.config["jinja_trim_blocks"] = chance.choice([True, False])


def _machine(world: World, chance: random.Random) -> None:
    """What functions of the tree look at."""
    (world.folder / "machine").write_text(f"machine {chance.randrange(3)}")


CHANGES = [_part, _no_part, _library, _data, _pillar, _grain, _other_grain, _option, _machine]


def test_a_result_is_that_of_rendering_anew(world: World) -> None:
    chance = random.Random(0)
    lines = _texts(SAME) + _texts(LOOKS)
    plain = [line for line in lines if "extends" not in line]
    texts = lines + ["\n".join(chance.sample(plain, 3)) for _ in range(10)]
    last: dict[str, str] = {}
    context = dict(CONTEXT)
    for _ in range(12):
        for change in chance.sample(CHANGES, chance.randrange(3)):
            change(world, chance)
        if chance.random() < 0.2:
            context["x"] = chance.choice(["one", "two"])
            context["ports"] = chance.sample([80, True, "80", 1.0, None], 3)
        anew = world.run(texts, context, {})
        former = dict(last)
        last = dict(zip(texts, anew, strict=True))
        assert world.run(texts, context, former) == anew
        assert world.run(texts, context, last) == anew
        before = world.rendered
        assert world.run(texts, context, last) == anew
        assert world.rendered == before


# ---------------------------------------------------------------- SLS files

HEAD = "{% set x = 'one' %}{% set ports = [80, 8000] %}{% set settings = {'a': true} %}\n"
# each leaves what the files after it see
BEFORE_OTHERS = """
{% do pillar.update({'a': pillar.a + 1}) %}
{% if grains.kind == 1 %}{% do pillar.update({'a': 7}) %}{% endif %}
{% if salt['own.look']()[0] == 'machine 1' %}{% do pillar.update({'a': 8}) %}{% endif %}
{{ salt['own.seconds']() and 'x' }}
"""


def _sls(chance: random.Random) -> str:
    """An SLS of states that say what lines make, some only on some machines."""
    lines = [line for line in [*_texts(SAME), *_texts(LOOKS)] if "{% block" not in line]
    lines += ["{{ grains.kind }}", "{{ grains['kind'] + pillar.a }}"] * 3
    made = [HEAD]
    for _ in range(chance.randrange(3, 7)):
        number = chance.randrange(10**9)
        line = chance.choice(lines if chance.random() < 0.9 else _texts(BEFORE_OTHERS))
        state = f"{{% set made %}}{line}{{% endset %}}\ns{number}:\n  test.nop:\n"
        state += "    - x: {{ made | json }}\n"
        if chance.random() < 0.5:
            condition = chance.choice(["grains.kind == 1", "pillar.a == 1", "'other' in grains"])
            state = f"{{% if {condition} %}}\n{state}\n{{% endif %}}\n"
        made.append(state)
    return "".join(made)


def _kind(world: World, chance: random.Random) -> None:
    file = world.folder / "kind"  # the code of the tree stays as it is
    file.write_text(str(chance.randrange(3)))
    world.files["_grains/own.py"] = (
        "from pathlib import Path\n\n\ndef own():\n"
        f"    return {{'kind': int(Path({str(file)!r}).read_text())}}\n"
    )


def _a(world: World, chance: random.Random) -> None:
    world.pillar["a"] = chance.randrange(3)


def _another_sls(world: World, chance: random.Random) -> None:
    world.files["b.sls"] = _sls(chance)


# those that the kept plan itself does not know of
CHANGES_OF_SLS = [_part, _no_part, _library, _data, _pillar, _another_sls]
CHANGES_OF_SLS += [_a, _kind, _machine] * 3


def test_states_are_those_of_rendering_anew(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of SLS files, while what they are made from changes between runs."""
    chance = random.Random(0)
    seen: list[int] = []
    recall = CompileCache.recall

    def spied(self: CompileCache) -> Any:
        found = recall(self)
        documents = (
            {id(step.chunk.place.document): step for step in found[0].steps} if found else {}
        )
        seen.append(sum(type(step.chunk.place.document) is Later for step in documents.values()))
        return found

    monkeypatch.setattr(CompileCache, "recall", spied)
    known = 0
    for tree in range(5):
        world.pillar = {"a": 1, "deep": {"b": 2}}
        world.files |= {f"{name}.sls": _sls(chance) for name in "abc"}
        world.files["a.sls"] += "include: [b, c]\n"
        _kind(world, chance)
        for change in range(8):
            for alter in chance.sample(CHANGES_OF_SLS, chance.randrange(1, 3)):
                alter(world, chance)
            anew = world.states(f"new-{tree}-{change}")
            for _ in range(3):
                assert world.states("cache") == anew
            known += seen[-1]
    assert known > 30


def test_what_a_template_alters_is_seen_by_those_behind_it(world: World) -> None:
    state = "{{ 's' ~ pillar.a }}%s: test.nop\n"
    alters = "{% if grains.kind == 1 %}{% do pillar.update({'a': 7}) %}{% endif %}b: test.nop\n"
    world.files |= {"a.sls": state % "a" + "include: [b, c]\n", "b.sls": alters}
    world.files["c.sls"] = state % "c"
    for kind in ([0], [1]):
        _kind(world, random.Random(0))
        (world.folder / "kind").write_text(str(*kind))
        for _ in range(3):
            assert world.states("cache") == world.states(f"new-{kind}")


def test_what_a_template_altered_before_it_failed_is_seen_by_those_behind_it(world: World) -> None:
    before, behind = "{{ pillar.a }}", "x{{ pillar.a }}"
    fails = "{% do pillar.update({'a': 9}) %}{{ raise('no') }}"
    found = {before: "1", behind: "x9"}
    for _ in range(2):
        assert world.run([before, fails, behind], {}, found)[2] == "x9"
    assert world.run([behind], {}, found) == ["x1"]


def test_a_look_by_a_function_that_is_none_itself_is_seen(world: World) -> None:
    """What `config.get` finds may be an address in a store of secrets."""
    text = "{{ salt['config.get']('secret') }}"
    profile = {"driver": "yaml", "files": [str(world.folder / "store.yaml")]}
    world.config |= {"own": profile, "secret": "sdb://own/key"}
    for value in ("one", "two"):
        (world.folder / "store.yaml").write_text(f"key: {value}\n")
        assert [world.run([text], {}, {text: "one"}) for _ in range(3)] == [[value]] * 3


def test_whether_a_run_only_looks_is_asked_in_each_run(world: World) -> None:
    """The configuration may say so, and the pillar."""
    text = "{{ salt['config.get']('test') }}"
    for world.config["test"], world.dry in ((True, True), (False, False), (False, True)):
        assert [world.run([text], {}, {text: "True"}) for _ in range(2)] == [[str(world.dry)]] * 2
    for world.dry in (False, True):
        assert [world.run([text], {}, {text: "False"}) for _ in range(2)] == [[str(world.dry)]] * 2


def test_a_look_that_is_not_asked_for_is_none(world: World) -> None:
    text = "{% if grains.role == 'db' %}{{ salt['own.seconds']() and 'y' }}{% else %}y{% endif %}"
    assert [world.count([text], {text: "y"}) for _ in range(3)] == [1, 0, 0]
    world.config["grains"] = {"role": "db"}
    assert [world.count([text], {text: "y"}) for _ in range(3)] == [1, 1, 1]


def test_functions_are_called_as_often_as_by_rendering(world: World) -> None:
    """Whether what they answer is as before or not: they may do more than to look."""
    text = "{{ salt['own.note']('1') }}{{ salt['own.note']('2') }}{{ pillar.a }}"
    world.files["a.sls"] = f"a: {{test.nop: [x: '{text}']}}\ninclude: [b, c]\n"
    world.files["b.sls"] = "b: {test.nop: [x: \"{{ pillar.a ~ salt['own.look']()[0] }}\"]}\n"
    world.files["c.sls"] = "c: test.nop\n"
    machine, notes = world.folder / "machine", world.folder / "notes"
    for look, world.pillar["a"], c in (
        *[("1", 1, "c")] * 4,
        *[("2", 1, "c")] * 3,
        *[("2", 2, "c")] * 3,
        *[("2", 2, "d")] * 3,
    ):
        machine.write_text(look)
        notes.write_text("")
        assert world.run([text], {}, {text: "111"}) == [f"{look * 2}{world.pillar['a']}"]
        assert notes.read_text() == "12"
        notes.write_text("")
        world.files["c.sls"] = f"{c}: test.nop\n"
        assert f"{look * 2}{world.pillar['a']}" in str(world.states("cache"))
        assert notes.read_text() == "12"


def test_a_function_that_alters_the_pillar_is_called_once(world: World) -> None:
    """It answers as before, and what stands behind it is another one."""
    text, world.pillar["a"] = "{{ salt['own.take']() }}{{ pillar.a }}", "1"
    for machine in "1121":
        (world.folder / "machine").write_text(machine)
        assert world.run([text], {}, {text: "1"}) == [machine]
    assert (world.folder / "notes").read_text() == "taken " * 4


def test_a_function_that_fails_is_called_as_often_as_by_rendering(world: World) -> None:
    """And the mistake has the same place."""
    text = "{{ salt['own.boom']('1') }}\n{{ salt['own.boom']('2') }}"
    world.files["a.sls"] = "# {{ salt['own.boom']('3') }}\na: test.nop\ninclude: [b]\n"
    world.files["b.sls"] = "# {{ salt['own.boom']('4') }}\nb: test.nop\n"
    machine, notes = world.folder / "machine", world.folder / "notes"
    for machine_is in ("well", "broken", "well"):
        machine.write_text(machine_is)
        made = [world.run([text], {}, {}), world.states(f"new-{machine_is}")]
        called = "13" if machine_is == "broken" else "1234"
        for _ in range(4):
            notes.write_text("")
            assert [world.run([text], {}, {text: "1\n2"}), world.states("cache")] == made
            assert notes.read_text() == called


def test_a_function_that_alters_what_it_is_given_is_noticed(world: World) -> None:
    """It answers nothing, as before."""
    text = "x{% set own = {} %}{% do salt['own.fill_some'](own) %}{{ own }}"
    assert [world.count([text], {text: "x{}"}) for _ in range(2)] == [1, 0]
    (world.folder / "machine").write_text("")
    made = [world.run([text], CONTEXT, {text: "x{}"}) for _ in range(2)]
    assert made == [["x{'filled': True}"]] * 2


def test_a_function_that_gets_the_variables_is_no_look(world: World) -> None:
    text = "{{ salt['own.told']() }}"
    assert [world.run([text], CONTEXT, {text: "one"}) for _ in range(3)] == [["one"]] * 3


def test_a_variable_may_be_called_like_the_functions(world: World) -> None:
    text = "{{ salt }} {{ grains }} {{ pillar }} {{ opts }}"
    names = {"salt": "1", "grains": "2", "pillar": "3", "opts": "4"}
    assert [world.run([text], names, {text: "1 2 3 4"}) for _ in range(3)] == [["1 2 3 4"]] * 3


def test_an_answer_is_not_used_for_a_later_look(tmp_path: Path) -> None:
    """What a state has written since is seen."""
    machine = Machine(tmp_path)
    note, other = tmp_path / "note", tmp_path / "other"
    (tmp_path / "states/t.jinja").write_text(f"{{{{ salt['file.read']('{note}') }}}}\n")
    managed = "file.managed: [source: 'salt://t.jinja', template: jinja]"
    machine.write(
        a=f"{other}: {{{managed}}}\n{note}: {{file.managed: [contents: new]}}\n"
        f"{{tmp}}/third: {{{managed}}}\n"
    )
    for _ in range(3):
        note.write_text("old\n")
        (tmp_path / "third").unlink(missing_ok=True)
        machine("sls", "a")
        assert (other.read_text().strip(), (tmp_path / "third").read_text().strip()) == (
            "old",
            "new",
        )


def test_what_templates_say_in_the_log_is_said_in_each_run(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    machine.write(
        a="{% do salt['log.debug']('low') %}{% do salt['log.warning']('high') %}a: test.nop\n"
    )
    for options in ([], [], [], ["-l", "debug"], ["-l", "debug"], ["-l", "debug"], []):
        log = machine("sls", "a", *options).stderr
        assert ("high" in log, "low" in log) == (True, bool(options))


def test_a_function_of_the_tree_answers_for_itself(world: World) -> None:
    text = "{{ salt['pillar.get']('a') }}"
    assert [world.count([text], {text: "1"}) for _ in range(2)] == [1, 0]
    for answer in ("one", "two"):
        world.files["_modules/pillar.py"] = f"def get(*keys):\n    return {answer!r}\n"
        assert [world.run([text], {}, {text: "1"}) for _ in range(3)] == [[answer]] * 3


def test_nothing_of_a_text_is_kept(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    target = tmp_path / "target"
    (tmp_path / "states").mkdir(exist_ok=True)
    asked = "{% do salt['test.echo'](pillar.password) %}{% do salt['cmd.run']('echo ' ~ x) %}"
    (tmp_path / "states/t.jinja").write_text("password={{ pillar.password }} {{ x }}\n")
    (tmp_path / "states/u.jinja").write_text(asked + "x\n")
    machine.write(
        a=f"{target}:\n  file.managed:\n    - source: salt://t.jinja\n    - template: jinja\n"
        "    - context: {x: also-hidden}\n"
        f"{target}-2:\n  file.managed:\n    - source: salt://u.jinja\n    - template: jinja\n"
        "    - context: {x: no-secret}\n"
    )
    machine.config["pillar"] = {"password": "S3cret-of-the-pillar"}
    given = ("--pillar", '{"password": "S3cret-of-the-pillar"}')
    for _ in range(3):
        machine("sls", "a", *given)
    (kept,) = (tmp_path / "cache/results").iterdir()
    assert b"S3cret" not in kept.read_bytes() and b"also-hidden" not in kept.read_bytes()
    target.write_text("altered\n")
    assert "would change" in machine("sls", "a", *given, "--test", code=None).stdout
    machine("sls", "a", *given)
    assert target.read_text() == "password=S3cret-of-the-pillar also-hidden\n"
    machine("sls", "a", "--pillar", '{"password": "An0ther"}')
    assert target.read_text() == "password=An0ther also-hidden\n"


def test_options_of_jinja_are_part_of_what_a_result_is_made_from(world: World) -> None:
    text = "{% if x %}\nx{% endif %}"
    for _ in range(2):
        assert world.run([text], CONTEXT, {text: "\nx"}) == ["\nx"]
    world.config["jinja_trim_blocks"] = True
    assert world.run([text], CONTEXT, {text: "\nx"}) == ["x"]


def test_what_an_earlier_state_has_written_is_imported(tmp_path: Path) -> None:
    """Whether a result is known or not; and a file of the tree that was not there before."""
    machine = Machine(tmp_path)
    states = tmp_path / "states"
    (states / "t.jinja").write_text(
        "{% import 'lib.jinja' as lib %}{% import_yaml 'data.yaml' as data %}"
        "{{ lib.v }} {{ data.v }} {% include 'part.jinja' ignore missing %}\n"
    )
    template = "{file.managed: [source: 'salt://t.jinja', template: jinja]}\n"
    written = "{tmp}/states/%s: {file.managed: [contents: '%s']}\n"
    library = "{% raw %}{% set v = VALUE %}{% endraw %}"

    def run(value: int) -> str:
        sls = "{tmp}/before: " + template + written % ("lib.jinja", library)
        sls += written % ("data.yaml", "v: VALUE")
        sls += written % ("part.jinja", "part") if value > 2 else ""
        machine.write(a=sls.replace("VALUE", str(value)) + "{tmp}/after: " + template)
        machine("sls", "a")
        return (tmp_path / "before").read_text() + (tmp_path / "after").read_text()

    (states / "lib.jinja").write_text("{% set v = 0 %}")
    (states / "data.yaml").write_text("v: 0")
    assert run(1).split() == ["0", "0", "1", "1"]
    assert [run(1).split() for _ in range(2)] == [["1"] * 4] * 2
    assert run(2).split() == ["1", "1", "2", "2"]
    run(2)
    assert run(3).split() == ["2", "2", "3", "3", "part"]


def test_half_a_character_is_known_as_it_was_written(world: World) -> None:
    world.pillar["half"] = "\udcff"
    probably = {"{{ pillar.half }}": b"\xed\xb3\xbf".decode("utf-8", "surrogatepass")}
    assert [world.run([*probably], {}, probably) for _ in range(3)] == [["\udcff"]] * 3


def test_a_folder_of_results_that_others_can_write_is_told_of_each_template(
    tmp_path: Path,
) -> None:
    """And what a run did is told to its end where it became so meanwhile."""
    machine = Machine(tmp_path)
    (tmp_path / "states/t.jinja").write_text("{{ grains.id }}\n")
    managed = "file.managed: [source: 'salt://t.jinja', template: jinja]"
    machine.write(a=f"{{tmp}}/one: {{{managed}}}\n{{tmp}}/two: {{{managed}}}\n")
    results = tmp_path / "cache/results"
    machine("sls", "a")
    machine("sls", "a")
    results.chmod(0o777)
    for result in machine.results("sls", "a", code=2).values():
        assert "others can write" in result["comment"], result
    machine.write(b=f"{{tmp}}/one: {{{managed}}}\n{results}: {{file.directory: [mode: '0777']}}\n")
    results.chmod(0o700)
    (results / "results").unlink()
    assert len(machine.results("sls", "b")) == 2


def test_what_code_of_the_tree_does_to_the_pillar_is_noticed(machine: Machine) -> None:
    modules = machine.folder / "states/_modules"
    modules.mkdir()
    (modules / "own.py").write_text(
        f"def alter():\n    __pillar__['p'] = open({str(machine.folder / 'value')!r}).read()\n"
    )
    (machine.folder / "states/t").write_text("{{ pillar.p }}")
    machine.write(
        a="{tmp}/first: {file.managed: [source: 'salt://t', template: jinja]}\n"
        "alter: {module.run: [name: own.alter]}\n"
        "{tmp}/second: {file.managed: [source: 'salt://t', template: jinja]}\n",
        pillar__top="base: {'*': [p]}",
        pillar__p="p: one",
    )
    for value in ("two", "two", "three"):
        (machine.folder / "value").write_text(value)
        machine("sls", "a")
        assert (machine.folder / "first").read_text() == "one"
        assert (machine.folder / "second").read_text() == value
