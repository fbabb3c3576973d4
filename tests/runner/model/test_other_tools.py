# SPDX-License-Identifier: Apache-2.0
"""The table of other tools' words: what it says to write is there, and hints say it."""

from __future__ import annotations

import re
import runpy
from collections import Counter

import pytest
from command import ROOT, Machine
from jinja2.defaults import DEFAULT_FILTERS

from runner.engine.loader import unsupported
from runner.engine.loader.registry import Registry
from runner.language.arguments.bind import known
from runner.language.arguments.hints import meant
from runner.language.filters import WHERE
from runner.model import other_tools
from runner.model.global_arguments import GLOBAL_ARGUMENTS
from runner.model.other_tools import (
    ARGUMENT,
    COMMAND,
    FILTER,
    FUNCTION,
    IDEA,
    KINDS,
    SUBJECT,
    VALUE,
    module_of,
)
from runner.tools.queries import search

LIBRARY = Registry({})
STATES = {f"{m}.{name}" for m in LIBRARY.state_modules() for name in LIBRARY.state_functions(m)}
FUNCTIONS = {f"{m}.{name}" for m in LIBRARY.modules() for name in LIBRARY.functions(m)}
TABLE = other_tools.table()
# what stands in code of texts and is no argument of a state
NO_ARGUMENTS = {"include"}


def words(kind: str) -> list[str]:
    return [word for row in TABLE if row.kind == kind for word in row.all_words]


def names(*kinds: str) -> set[str]:
    return {name for row in TABLE if row.kind in kinds for name in row.names}


def test_each_row_has_words_and_says_something() -> None:
    for row in TABLE:
        assert row.kind in KINDS and (row.names or row.text), row
        assert row.words.keys() <= {"Ansible", "Puppet", "Chef", "shell", "-"}, row
        assert all(word == word.strip() and word for word in row.all_words), row


@pytest.mark.parametrize("kind", KINDS)
def test_a_word_is_in_one_row(kind: str) -> None:
    assert [word for word, times in Counter(words(kind)).items() if times > 1] == []


def test_states_that_are_to_be_written_are_there() -> None:
    assert names(FUNCTION, VALUE) - STATES == set()
    texts = " ".join(row.text for row in TABLE if row.kind not in (IDEA, COMMAND))
    said = set(re.findall(r"(?<![\w/.{])[a-z]\w*\.[a-z]\w*", texts))
    grains = {word for word in said if word.startswith("grains.")}
    assert said - grains - STATES - FUNCTIONS == set()


def test_arguments_that_are_to_be_written_are_there() -> None:
    arguments = {name for state in STATES for name in known(LIBRARY.state(state).function)}
    assert names(ARGUMENT) - arguments - GLOBAL_ARGUMENTS.keys() == set()
    texts = " ".join(row.text for row in TABLE)
    said = {*re.findall(r"`-? ?([a-z_]+):[ `]", texts)} - NO_ARGUMENTS
    arguments |= known(LIBRARY.state("service.running").mod_watch)
    keys = {e.name.rpartition(".")[2] for e in search.entries() if e.kind == "key"}
    assert said - arguments - GLOBAL_ARGUMENTS.keys() - keys == set()


def test_pages_that_are_to_be_read_are_there() -> None:
    entries = {entry.name for entry in search.entries()}
    assert names(IDEA, COMMAND, SUBJECT) - entries - GLOBAL_ARGUMENTS.keys() == set()


def test_words_are_not_our_own() -> None:
    """But where both tools call it the same, for the tables of pages."""
    own = [
        word
        for word in words(FUNCTION)
        if word in STATES or (LIBRARY.has_state(word) and other_tools.function_word(word))
    ]
    assert own == ["systemd"]  # Ansible's starts services
    assert [word for word in words(ARGUMENT) if word in GLOBAL_ARGUMENTS] == ["runas", "state"]


def test_what_most_roles_use_is_there() -> None:
    """Arguments of the same name need no row."""
    ours = {name for state in STATES for name in known(LIBRARY.state(state).function)}
    ours |= {*GLOBAL_ARGUMENTS, *known(LIBRARY.state("service.running").mod_watch)}
    kinds = {"module": {*words(FUNCTION)}, "keyword": ours | {*words(ARGUMENT)}}
    kinds["argument"] = kinds["keyword"]
    kinds["module"] |= {"include"}  # called so here, but beside IDs
    lines = (ROOT / "tests/data/words_of_roles.txt").read_text().splitlines()
    counted = [line.split() for line in lines if not line.startswith("#")]
    assert [word for word, kind, *_ in counted if word not in kinds[kind]] == []


def test_pages_have_the_tables_as_they_are() -> None:
    program = runpy.run_path(str(ROOT / "docs/other_tools.py"))
    pages = {path.stem: path.read_text() for path in (ROOT / "docs").glob("coming-from-*.md")}
    assert {name: program["page"](page) for name, page in pages.items()} == pages, (
        "sh docs/reference.sh"
    )
    rows = [
        (row, tool)
        for row in TABLE
        for tool in {*row.words} - {"-"}
        if program["listed"](row, tool)
    ]
    assert len(rows) > 140
    for row, tool in rows:
        shown = pages[f"coming-from-{tool.lower()}"]
        assert all(word in shown for word in row.words[tool]), row


def test_a_module_is_known_by_its_first_state() -> None:
    assert (module_of("apt"), module_of("pkg"), module_of("stat")) == ("pkg", "pkg", "stat")


def hints(machine: Machine, text: str) -> list[tuple[int, str]]:
    machine.write(web=text)
    said = machine.document("check", "web", code=1)["diagnostics"]
    return [(each["line"], each["hint"] or "") for each in said if each["severity"] == "error"]


def test_each_function_is_answered(machine: Machine) -> None:
    """A word alone says what a module is called, so a function is written behind it."""
    rows = [
        (row, word)
        for row in TABLE
        if row.kind == FUNCTION
        for word in row.all_words
        if re.fullmatch(r"[a-z_][\w.]*", word) and not LIBRARY.has_state(word)
    ]
    typed = [word if "." in word else f"{word}.xyz" for _, word in rows]
    text = "".join(f"i{n}: {{{word}: []}}\n" for n, word in enumerate(typed))
    answers = dict(hints(machine, text))
    assert len(answers) == len(rows)
    for line, (row, word) in enumerate(rows, 1):
        if unsupported.of_state(typed[line - 1]) is None:
            for part in (*row.names, row.text):
                assert part in answers[line], (word, answers[line])


def test_each_argument_is_answered(machine: Machine) -> None:
    """Of a text; what an argument of the same sense is called depends on the function."""
    rows = [
        (row, word)
        for row in TABLE
        if row.kind == ARGUMENT and row.text and not row.names
        for word in row.all_words
    ]
    text = "/x:\n  file.managed:\n" + "".join(f"    - {word}: x\n" for _, word in rows)
    answers = dict(hints(machine, text))
    for line, (row, word) in enumerate(rows, 3):
        assert row.text.replace("{function}", "file.managed") in answers[line], word


def test_filters_that_are_to_be_written_are_there() -> None:
    """And what the words are about is no filter here."""
    filters = {*WHERE, *DEFAULT_FILTERS}
    said = set(re.findall(r"VALUE\|(\w+)", " ".join(row.text for row in TABLE)))
    assert (names(FILTER) | said) - filters == set()
    assert filters & {*words(FILTER)} == set()


@pytest.mark.parametrize(
    ("expression", "cure"),
    [
        ("{} | combine({'a': 1})", r"write `salt\['slsutil.merge'\]\(A, B\)`"),
        ("{} | ansible.builtin.dict2items", "did you mean to_entries"),
        ("'[]' | from_json", "did you mean load_json"),
        ("[] | community.general.json_query('x')", "did you mean json_query"),
        ("1 if '1.2' is version('1.1', '>') else 2", "pkg.version_cmp"),
        ("fqdn_rand(60)", "salt.'random.seed'"),
        ("x if x is changed else omit", "onchanges"),
        ("{'a': omit}", "around the line of the argument"),
    ],
)
def test_a_template_of_theirs_is_answered(machine: Machine, expression: str, cure: str) -> None:
    ((line, hint),) = hints(machine, f"a:\n  test.nop:\n    - name: {{{{ {expression} }}}}\n")
    assert line == 3 and re.search(cure, hint), hint


@pytest.mark.parametrize(
    ("function", "argument", "own"),
    [
        ("cmd.run", "chdir", "cwd"),
        ("cmd.run", "become_user", "runas"),
        ("file.managed", "become_user", "user"),
        ("git.latest", "version", "rev"),
        ("file.replace", "regexp", "pattern"),
        ("file.line", "regexp", "match"),
        ("user.present", "managehome", "createhome"),
        ("pkg.installed", "when", "onlyif"),
        ("pkg.installed", "not_if", "unless"),
        ("cron.present", "environment", None),  # env would be that of its guards
        ("file.managed", "chdir", None),
    ],
)
def test_the_argument_that_the_function_has(function: str, argument: str, own: str | None) -> None:
    arguments = known(LIBRARY.state(function).function)
    assert meant(argument, sorted(arguments), sorted(GLOBAL_ARGUMENTS)) == own


@pytest.mark.parametrize(
    ("text", "cure"),
    [
        ("- name: Web server\n  apt: {name: nginx}\n", "write `Web server:`.*`pkg.installed:`"),
        ("a:\n  copy:\n    - src: x\n", "write `file.managed:`"),
        ("a:\n  copy:\n    src: x\n", "write `file.managed:`"),
        ("a:\n  ansible.builtin.copy:\n    - src: x\n", "^write `file.managed:`"),
        ("a:\n  community.general.ufw:\n    - rule: allow\n", "^write ufw.allow or"),
        ("a:\n  test.nop:\n    - notify: restart web\n", "handler of Ansible's.*`- listen:`"),
        ("a:\n  test.nop:\n    - notify: [restart web]\n", "handler of Ansible's.*`- listen:`"),
        ("a:\n  test.nop: []\n  when: x\n", "write onlyif or"),
        ("a:\n  test.nop: []\n  become: true\n", "leave it out"),
        ("tasks:\n  - name: x\n", "include"),
        ("a:\n  pkg.installed:\n    - state: latest\n", "a function .pkg.latest here"),
        ("a:\n  pkg.installed:\n    - ensure: absent\n", "a function .pkg.removed here"),
        ("/a:\n  file.managed:\n    - ensure: directory\n", "a function .file.directory here"),
        ("a:\n  service.running:\n    - action: stop\n", "a function .service.dead here"),
        ("a:\n  pkg.installed:\n    - ensure: '1.2'\n", "a function .pkg.installed here"),
        ("a:\n  mail.sent: []\n", "`runner doc mail` finds"),
        ("a:\n  firewalld.zone: []\n", "firewalld has: present, service"),
        ("a:\n  test.nop:\n    - name: {{ ansible_hostname }}\n", "write grains.host"),
        ("a:\n  test.nop:\n    - name: {{ ansible_eth0 }}\n", "runner show grains"),
        ("a:\n  test.nop:\n    - name: {{ salt['apt.install']('x') }}\n", "pkg.install"),
    ],
)
def test_words_in_other_places(text: str, cure: str, machine: Machine) -> None:
    ((_, hint),) = hints(machine, text)
    assert re.search(cure, hint), hint


def test_underscores_are_forgotten_before_letters() -> None:
    assert meant("username", ["usernames", "user_name"], []) == "user_name"
    assert meant("user-name", ["user_names"], ["username"]) == "username"
