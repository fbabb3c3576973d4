# SPDX-License-Identifier: Apache-2.0
"""Templates are compiled once for each shape, and kept between runs."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import jinja2
import pytest
from jinja2 import nodes
from jinja2.lexer import Lexer, Token, TokenStream
from jinja2.parser import Parser

from runner.language.render.jinja import Jinja
from runner.language.render.jinja.codegen import PlacedCodeGenerator
from runner.language.render.jinja.parsing import TokenParser
from runner.language.render.jinja.shared_code import shaped
from runner.model.errors import RenderError
from runner.support.files.trusted_folder import Untrusted

TEMPLATES = [
    "a: {{ b }}\n{% if c == 'x' %}d{% elif c['y'] %}e{% else %}{{ 'f' }}{{ 'g' 'h' }}{% endif %}\n",
    (
        "{% set x = {'a': 'b', 'c': ['d', \"e\"]} %}{% for k, v in x.items() %}{{ loop.index ~ k ~"
        " '=' ~ v }}{% endfor %}"
    ),
    (
        "{% macro m(a, b='x') -%} {{ a|default('y', true) }} {%- endmacro %}{% call(z) m('q')"
        " %}in{{ z }}{% endcall %}"
    ),
    (
        "{% from 'x.jinja' import y, z as w with context %}{% import 'x' ~ '.jinja' as q %}{%"
        " include ['a'] %}{{ y if w }}"
    ),
    (
        "{% import_yaml 'a.yaml' as a %}{% load_yaml as b %}x: {{ 'y' }}\n{% endload %}{%"
        " import_json 'j' as j %}"
    ),
    (
        "{% extends 'base' %}{% block one %}text{{ super() }}{% endblock %}{% raw %}{{ 'as is' }}{%"
        " endraw %}"
    ),
    (
        "{% autoescape 'x' %}<b>{{ 'a' }}</b>{% endautoescape %}{% filter indent(2, 'x') %}a\nb{%"
        " endfilter %}"
    ),
    (
        "{% set a %}captured {{ 'b' }}{% endset %}{# no #}{{ a is sameas 'x' }}{{ 'x' in 'xy' }}{{"
        " 'a%s' % 'b' }}{{ 5 }}"
    ),
]


def code(environment: Any, tree: Any) -> str:
    generator = PlacedCodeGenerator(environment, "name", "file", optimized=False)
    generator.visit(tree)
    made = str(generator.stream.getvalue())  # type: ignore[attr-defined]
    return made.rpartition("debug_info")[0]  # numbers of lines of this code


@pytest.mark.parametrize("text", TEMPLATES)
def test_the_code_of_a_shape_with_its_texts_is_the_code_of_the_template(text: str) -> None:
    environment = Jinja(lambda path, saltenv: None, {}).environment("base", True)
    own = shaped(list(environment.lexer.wrap(environment.lexer.tokeniter(text, "name", "file"))))
    made = code(environment, TokenParser(environment, own.tokens, "name", "file").parse())
    typed = [f"mark({each!r}, placed_file, {line}, True)" for each, line in own.texts]
    made = re.sub(r"placed\[(\d+)\]", lambda found: typed[int(found[1])], made)
    made = re.sub(r"given\[(\d+)\]", lambda found: repr(own.strings[int(found[1])]), made)
    # a string that is put out
    made = re.sub(r"mark\(\(('\w+')\), placed_file", r"mark(\1, placed_file", made)
    assert made == code(environment, environment._parse(text, "name", "file"))


EXPRESSIONS = """
a + 1 | b; not a.b[1:2](c, d=e) in f; -a ** 2 ~ 'b' 'c'; (a, b) if c else d
{'a': b + 1, c: [d or e]}
a is not defined and b is sameas none; a.b.c[d]['e'](*f, **g) | h(i=1) | j; 1.5e3 + 0x1f - 1_0 // .5
a b; a + ; (a; a]; 'a; 1a; {% if %}; a if b else c if d; a < b == c; a[1:]; a.1.b; [1, 2,]
() or (a,)
é + ٣; a\n +\n b; loop.index; 'x'.format(1) % 2; a not b; a is b c; + - a; not not a; a,; ~a
""".replace("\n", ";").split(";")
TAGS = """
{% for a, b in c + d if a is b recursive %}{{ loop(a) }}{% else %}x{% endfor %}
{% for loop in a %}{% endfor %}
{% for a in b %}{% block c scoped %}{{ a }}{% endblock %}{% endfor %}{% extends 'd' ~ e %}
{% block a %}{% endblock %}{% block a %}{% endblock %}
{% set a.b, c = d, 'e' %}{% set f | upper | trim %}{{ g }}{% endset %}{% do h() %}
{% macro a(b, c=d + 1) %}{{ caller(varargs, kwargs) }}{% endmacro %}
{% call(x) a(1) %}{{ x }}{% endcall %}
{% from 'a' import b as c with context %}{% import d + 'e' as f %}
{% include ['g', h] ignore missing %}
{% filter indent(2) %}{% with a = b, c = a %}{{ c }}{% endwith %}{% endfilter %}
{% raw %}{{ a }}{% endraw %}
{% import_yaml 'a' as b with context %}{% load_json as c %}{{ self.d() }}{% endload %}{{ super() }}
""".strip().split("\n")


def outcome(environment: Any, lexer: Lexer, parser: Callable[[list[Token]], Any], text: str) -> Any:
    try:
        tokens = list(lexer.wrap(lexer.tokeniter(text, "name", "file"), "name", "file"))
        return code(environment, parser(tokens))
    except (jinja2.TemplateSyntaxError, SyntaxError) as mistake:
        return type(mistake), str(mistake), mistake.lineno


@pytest.mark.parametrize(
    "options",
    [{}, {"block_end_string": "END", "variable_end_string": "0"}, {"line_statement_prefix": "%"}],
)
def test_lexer_and_parser_are_jinjas_with_less_work(options: dict[str, Any]) -> None:
    environment = Jinja(lambda path, saltenv: None, {"jinja_env": options}).environment(
        "base", False
    )
    end = options.get("variable_end_string", "}}"), options.get("block_end_string", "%}")

    def jinjas(tokens: list[Token]) -> Any:
        parser = Parser(environment, "", "name", "file")
        parser.stream = TokenStream(iter(tokens), "name", "file")
        return parser.parse()

    def own(tokens: list[Token]) -> Any:
        return TokenParser(environment, tokens, "name", "file").parse()

    texts = [f"{{{{ {each} }}}}x{{% set a = {each} %}}" for each in EXPRESSIONS] + TAGS
    for text in [*texts, *TEMPLATES]:
        text = text.replace("}}", end[0]).replace("%}", end[1])
        plain = outcome(environment, Lexer(environment), jinjas, text)
        assert outcome(environment, environment.lexer, own, text) == plain, text


def test_the_compiler_looks_for_nothing_in_a_tree(monkeypatch: pytest.MonkeyPatch) -> None:
    environment = Jinja(lambda path, saltenv: None, {}).environment("base", True)
    asked: list[Any] = []

    def find_all(node: nodes.Node, kind: Any) -> list[nodes.Node]:
        asked.append(kind)
        return []

    monkeypatch.setattr(nodes.Node, "find_all", find_all)
    for text in [*TEMPLATES, *TAGS]:
        with suppress(jinja2.TemplateSyntaxError):
            environment.unit(text, "name", "file")
    assert asked == []


NUMBERED = [  # each with the same in other names
    (
        (
            "{% set a1 = 1 %}{% if not a1 %}{% set a1 = 2 %}{% endif %}{{ a1 if a1 is not odd else"
            " a1.real }}"
        ),
        {"a1": "b2"},
    ),
    (
        "{% for x1, y1 in [(1, 2)] %}{{ x1 ~ y1 }}{% set z1 = x1 %}{{ z1 }}{% endfor %}",
        {"x1": "q9", "y1": "r9"},
    ),
    (
        "{% macro m1(a1, b1=3) %}{{ a1 }}{{ b1 }}{{ n1 }}{% endmacro %}{{ m1(b1=4, a1=n1) }}",
        {"a1": "k7", "m1": "o2"},
    ),
    (
        "{% set s1 = namespace(v1=1) %}{% set s1.v1 = 2 %}{{ s1.v1 }}{{ n1 | default(s1) }}",
        {"s1": "t5"},
    ),
    (
        (
            "{% block b1 %}{{ n1 }}{% endblock %}{% set c1 %}x{% endset %}{{ c1 }}{% from 'm'"
            " import f1 %}{{ f1 }}"
        ),
        {"c1": "d1"},
    ),
]


@pytest.mark.parametrize(("text", "others"), NUMBERED)
def test_numbered_names_are_lifted_too(
    tree: Tree, compiled: list[str], text: str, others: dict[str, str]
) -> None:
    tree.folder.joinpath("m").write_text("{% set f1 = 5 %}")
    other = re.sub(r"\w+", lambda found: others.get(found[0], found[0]), text)
    for _ in range(2):
        jinja = Jinja(lambda path, saltenv: str(tree.folder / path), {}, str(tree.cache))
        shown = [
            jinja.render(each, "x", "x", {"n1": 7}, saltenv="base", sls=True).text
            for each in (text, other)
        ]
        assert (
            shown[0]
            == shown[1]
            == jinja2.Environment(loader=tree.loader).from_string(text).render(n1=7)
        )
        with pytest.raises(RenderError, match=f"{max(others.values())}.*undefined"):
            wrong = f"{{{{ {max(others.values())} }}}}"
            jinja.render(wrong, "x", "x", {}, saltenv="base", sls=True)
    assert compiled.count("x") == 2


class Tree:
    """Templates below a folder, with a cache."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.cache = folder / "cache"
        self.loader = jinja2.FileSystemLoader(folder)

    def render(self, name: str, text: str, **names: Any) -> str:
        (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
        (self.folder / name).write_text(text)
        jinja = Jinja(lambda path, saltenv: str(self.folder / path), {}, str(self.cache))
        return jinja.render(
            text, str(self.folder / name), name, names, saltenv="base", sls=True
        ).text


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    return Tree(tmp_path)


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The files for which code is generated."""
    files: list[str] = []
    made = PlacedCodeGenerator.__init__

    def noted(self: Any, environment: Any, name: Any, file: Any, **options: Any) -> None:
        files.append(Path(file).name)
        made(self, environment, name, file, **options)

    monkeypatch.setattr(PlacedCodeGenerator, "__init__", noted)
    return files


def test_equal_templates_keep_their_own_names_and_places(tree: Tree, compiled: list[str]) -> None:
    text = "{% include './inner' %} {{ missing }}\n"
    for folder in ("one", "two"):
        (tree.folder / folder).mkdir()
        (tree.folder / folder / "inner").write_text(f"{folder}{{# #}}")
        with pytest.raises(RenderError) as caught:
            tree.render(f"{folder}/x.sls", text)
        assert caught.value.source and caught.value.source.file == str(
            tree.folder / folder / "x.sls"
        )
        assert tree.render(f"{folder}/x.sls", text, missing=folder) == f"{folder} {folder}\n"
    assert compiled == ["x.sls", "inner"]


def test_errors_name_the_template_that_is_rendered(tree: Tree) -> None:
    (tree.folder / "m").write_text("{% set x = 1 %}")
    for name in ("first.sls", "second.sls"):
        with pytest.raises(RenderError) as caught:
            tree.render(name, "{% from ('m' if true) import nope %}{{ nope }}")
        assert caught.value.source and caught.value.source.file == str(tree.folder / name)
        assert f"imported on line 1 in '{name}'" in caught.value.message


def test_a_second_run_compiles_nothing(tree: Tree, compiled: list[str]) -> None:
    for _ in range(2):
        assert tree.render("a.sls", "x: {{ a }}\n", a=1) == "x: 1\n"
        assert tree.render("b.sls", "y: {{ a }}\n", a=2) == "y: 2\n"
    assert compiled == ["a.sls"]
    tree.render("a.sls", "x: {{ a }}\n\n{{ a }}", a=1)
    assert compiled == ["a.sls", "a.sls"]


def test_a_head_of_its_own_is_kept_apart(tree: Tree, compiled: list[str]) -> None:
    """With the lines of the file, in the next run too."""
    for _ in range(2):
        for line, head in ((1, ""), (2, "#jinja2: {}\n"), (2, '#jinja2: {"trim_blocks": true}\n')):
            with pytest.raises(RenderError) as caught:
                tree.render("a.sls", head + "{{ nope }}")
            assert caught.value.source and caught.value.source.line == line
    assert len(compiled) < 4


def test_imported_data_is_read_once(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    monkeypatch.setattr("runner.support.yaml.load.check_depth", read.append)
    (tree.folder / "d.yaml").write_text(
        "a: &a {x: 1}\nb: *a\n0644: !!set {c}\nd: !!pairs [e: [f]]\n"
    )
    once = "{% import_yaml 'd.yaml' as d %}{% do d.a.update(x=2) %}{{ d }}"
    for _ in range(2):  # each import its own, each alias too
        assert (
            tree.render("a.sls", once + once)
            == "{'a': {'x': 2}, 'b': {'x': 1}, 644: {'c'}, 'd': [['e', ['f']]]}" * 2
        )
    assert len(read) == 1
    assert "'a: &a" in tree.render("a.sls", "{% import_text 'd.yaml' as d %}{{ [d] }}")
    (tree.folder / "d.yaml").write_text("a: {x: 3}\n")
    assert tree.render("a.sls", once) == "{'a': {'x': 2}}"
    assert len(read) == 2


@pytest.mark.parametrize("damage", ["cut", "changed", "empty", "strange"])
def test_a_damaged_cache_is_made_anew(tree: Tree, compiled: list[str], damage: str) -> None:
    tree.render("a.sls", "x: {{ a }}\n", a=1)
    (pack,) = (tree.cache).iterdir()
    data = pack.read_bytes()
    changed = data[:60] + b"xx" + data[62:]
    pack.write_bytes(
        {"cut": data[:-5], "changed": changed, "empty": b"", "strange": b"something else" * 9}[
            damage
        ]
    )
    for _ in range(3):
        assert tree.render("a.sls", "x: {{ a }}\n", a=1) == "x: 1\n"
    assert 1 < len(compiled) < 4


def test_files_of_other_versions_are_removed(tree: Tree) -> None:
    tree.cache.mkdir(mode=0o700)
    (tree.cache / "older").write_text("x")
    tree.render("a.sls", "{{ 1 }}")
    assert [each.name[:5] for each in tree.cache.iterdir()] == ["pack-"]


def test_a_folder_that_others_can_write_is_refused(tree: Tree) -> None:
    tree.cache.mkdir()
    tree.cache.chmod(0o777)
    with pytest.raises(Untrusted, match="others can write"):
        tree.render("a.sls", "{{ 1 }}")
    assert not list(tree.cache.iterdir())


def test_the_first_mistake_is_told(tree: Tree) -> None:
    with pytest.raises(RenderError, match="syntax error") as caught:
        tree.render("a.sls", "{% if %}\n\n{{ ` }}\n")
    assert caught.value.source and caught.value.source.line == 1


def test_yaml_writes_what_is_shared_once(tree: Tree) -> None:
    loaded = "{% set l = [1] %}{% load_yaml as d %}{a: &x [1], b: *x}{% endload %}"
    assert (
        tree.render("a.sls", loaded + "{{ [l, l, [1], 't', 't'] | yaml }} {{ d | yaml }}")
        == "[&id001 [1], *id001, [1], t, t] {a: [1], b: [1]}"
    )
