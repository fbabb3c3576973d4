# SPDX-License-Identifier: Apache-2.0
"""Parsed SLS files are kept between runs: the same values and places, and no secrets."""

from __future__ import annotations

import gc
import tracemalloc
from pathlib import Path

import pytest
from command import Machine

from runner.language.render import parsed_forms
from runner.language.render.parsed_forms import ParsedForms
from runner.model.places import Place
from runner.support.redaction import at_once
from runner.support.yaml.load import load
from runner.support.yaml.rendered_text import Rendered

SLS = (
    """
base: &base {test.nop: [{require: [{test: other}]}]}
alias: *base
merged:
  <<: *base
typed: {test.nop: [{octal: 0644, yes: true, when: 2001-01-01, none: ~, of: [1.5, !!binary aGk=]}]}
{% for n in range(3) %}
looped{{ n }}:
  test.nop:
    - require: [{test: missing{{ n }}}]
{% endfor %}
"""
    + "# what makes it long enough to be kept\n" * 120
)


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def parsed(machine: Machine) -> list[Path]:
    return [*(machine.folder / "cache/parsed").iterdir()]


def test_the_second_run_says_what_the_first_said(machine: Machine) -> None:
    machine.write(a=SLS)
    first = [machine("check", "a", "--out", "json", code=1), machine("show", "sls", "a")]
    (kept,) = parsed(machine)
    before = kept.read_bytes()
    second = [machine("check", "a", "--out", "json", code=1), machine("show", "sls", "a")]
    assert [one.stdout for one in first] == [one.stdout for one in second]
    assert '"line": 10' in first[0].stdout  # where missing0 is typed
    assert kept.read_bytes() == before and kept.stat().st_mode & 0o077 == 0
    for damaged in (before[:-1], before[:30] + b"\0" + before[31:], b"", b"sls2"):
        kept.write_bytes(damaged)
        assert machine("show", "sls", "a").stdout == first[1].stdout
        assert kept.read_bytes() == before
    machine.write(a=SLS.replace("0644", "0600"))
    assert '"octal": 600' in machine("show", "sls", "a", "--out", "json").stdout


def test_what_is_kept_is_used(tmp_path: Path) -> None:
    text = Rendered("a: [b, {c: 1}]\nd: &x {e: f}\ng: *x\n", "file.sls")
    forms = ParsedForms(str(tmp_path / "parsed"), at_once)
    first = forms.load(text, "base:a", lambda text: load(text.text, text))
    second = forms.load(text, "base:a", lambda text: pytest.fail("it is parsed again"))
    assert first == second and second["d"] is second["g"]
    assert second.key_place("d") == Place(text, 2, 1) == first.key_place("d")
    assert second["a"].item_place(1) == Place(text, 1, 8)
    other = Rendered(text.text + "h: 1\n", "file.sls")
    assert forms.load(other, "base:a", lambda text: "parsed anew") == "parsed anew"
    secret = ParsedForms(str(tmp_path / "parsed"), lambda text, write: None)
    secret.load(text, "base:a", lambda text: {})
    assert not [*(tmp_path / "parsed").iterdir()], "nor what it was before"


def test_a_large_file_is_kept_in_parts(tmp_path: Path) -> None:
    """Writing it takes memory for what is written, not for each object that was seen."""
    text = Rendered("".join(f"s{n}:\n  test.nop: [a: b{n}]\n" for n in range(4500)), "file.sls")
    forms = ParsedForms(str(tmp_path / "parsed"), at_once)
    first = load(text.text, text)

    def parsed(text: Rendered) -> object:
        tracemalloc.start()
        return first

    forms.load(text, "base:a", parsed)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    (kept,) = (tmp_path / "parsed").iterdir()
    assert peak < 4 * kept.stat().st_size
    second = forms.load(text, "base:a", lambda text: pytest.fail("it is parsed again"))
    assert second == first and list(second) == list(first)
    assert second.at == first.at and second.start == first.start
    assert second["s4321"].value_place("test.nop") == Place(text, 8644, 13)
    assert second["s4321"]["test.nop"].document is text


def test_nothing_of_a_text_with_a_secret_is_kept(machine: Machine) -> None:
    """Be it known only once the text was rendered, as of the files of the pillar themselves."""
    long = "{{ sls }}:\n  test.configurable_test_state:\n" + "# long enough to be kept\n" * 200
    secret = "x7Kp2qLongEnough"
    machine.write(
        a="include: [b, c]\n" + long + "    - comment: none\n",
        b=long + "    - comment: {{ pillar['password'] }}\n",
        c=long + f"    - password: {secret}\n",
        pillar__top="base: {'*': [p]}\n",
        pillar__p=f"{{% set key = 'password' %}}{{{{ key }}}}: {secret}\n",
    )
    machine("sls", "a")
    kept = [*machine.folder.glob("cache/templates/*"), *parsed(machine)]
    assert len(kept) == 2, "the one without a secret, and its template"
    assert not [path for path in kept if secret.encode() in path.read_bytes()]


def test_reading_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The reader remembers all that it has read: it does not wait for the garbage collector."""
    text = Rendered("a: {test.nop: []}\n", "a.sls")
    forms = ParsedForms(str(tmp_path), at_once)
    forms.load(text, "a", lambda text: load(text.text, text))
    freed: list[bool] = []
    monkeypatch.setattr(parsed_forms._FormReader, "__del__", lambda _: freed.append(True), False)
    gc.disable()
    try:
        forms.load(text, "a", lambda text: load(text.text, text))
        assert freed == [True]
    finally:
        gc.enable()
