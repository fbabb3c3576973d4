# SPDX-License-Identifier: Apache-2.0
"""The bounds of rendering."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from contextlib import suppress
from functools import partial
from pathlib import Path

import pytest
import yaml
from command import ROOT, Machine

from runner.language.filters import Filters
from runner.language.render import Renderer
from runner.language.render.jinja import limits as limits_of_rendering
from runner.language.render.jinja.bounded_operations import BoundedEnvironment, checked
from runner.language.render.jinja.limits import TooMuch, allow_parsing, bounded
from runner.model.errors import RenderError
from runner.support.yaml import limits
from runner.support.yaml.rendered_text import Rendered

DEEP = {
    "one line": "[" * 300 + "]" * 300,
    "a line each": "[\n" * 300,
    "a bracket that is a text": '["]",\n' * 300,
    "a bracket in a comment": "[ # ]\n" * 300,
    "more opened than closed": "[[{a: 1},\n" * 300,
    "columns": "".join(" " * level + "a:\n" for level in range(300)),
    "dashes": "- " * 300 + "a",
}


@pytest.mark.parametrize("text", DEEP.values(), ids=DEEP)
def test_what_nests_too_deeply_is_told_before_it_is_read(text: str, machine: Machine) -> None:
    machine.write(a=f"x:\n  {text if text[0] == ' ' else text.replace(chr(10), chr(10) + '  ')}\n")
    done = machine("sls", "a", "--test", code=1)
    assert (
        "a.sls:" in done.stderr
        and "the YAML is nested too deeply (more than 200 levels)" in done.stderr
    )


def test_many_small_brackets_are_not_read_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(yaml, "parse", None)
    limits.check_depth("".join(f"f{number}:\n  l: {{a: b, c: [1, 2]}}\n" for number in range(500)))


def test_a_tick_that_comes_late_ends_nothing() -> None:
    with bounded("a.sls"):
        pass
    os.kill(os.getpid(), signal.SIGPROF)


def test_the_timer_stands_still_afterwards() -> None:
    with bounded("a.sls"), bounded("b.sls"):
        assert signal.getitimer(signal.ITIMER_PROF)[1] > 0
    assert signal.getitimer(signal.ITIMER_PROF) == (0.0, 0.0)


ENDLESS = "{% for i in range(100000) %}{% for j in range(100000) %}{% endfor %}{% endfor %}"
GROWING = (
    "{% set l = [] %}{% for i in range(100000) %}{% do l.append('x' * 10000000 ~ i) %}{% endfor %}"
)


@pytest.mark.parametrize("more", ["", "    - parallel: true\n"])
@pytest.mark.parametrize(
    ("template", "told"),
    [
        (ENDLESS, "this takes more than 1 s of the processor"),
        (GROWING, "this takes more than 512 MB of memory"),
    ],
)
def test_templates_of_states_are_bounded(
    template: str, told: str, more: str, machine: Machine
) -> None:
    machine.config["render_limit"] = 1 if template is ENDLESS else 60
    (machine.folder / "states/t").write_text(template)
    state = "{tmp}/f:\n  file.managed:\n    - source: salt://t\n    - template: jinja\n" + more
    machine.write(a=state + "other:\n  test.nop: []\n")
    results = machine.results("sls", "a", code=2)
    failed = results[f"{machine.folder}/f"]
    assert (
        failed["result"] is False
        and told in failed["comment"]
        and "states/t:1" in failed["comment"]
    )
    assert results["other"]["result"] is True


class Clock:
    """A processor whose time passes only while a text is parsed: speed seconds a character."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.speed = 1e-6
        monkeypatch.setattr(Renderer, "data", self.parse)

    def parse(self, text: Rendered) -> dict[str, str]:
        for _ in range(round(len(text.text) * self.speed / limits_of_rendering.TICK)):
            signal.raise_signal(signal.SIGPROF)
        return {}


def test_parsing_takes_time_in_proportion_to_the_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A text ends, however long it is; a parser that takes far longer is stopped."""
    clock = Clock(monkeypatch)
    (tmp_path / "a.sls").write_text("# " + "x" * 10_000_000)

    def none() -> dict[str, str]:
        return {}

    renderer = Renderer(
        lambda path, saltenv: None, {}, none, none, {"render_limit": 2}, lambda *path: None
    )
    sls = partial(renderer.sls, str(tmp_path / "a.sls"), sls="a", saltenv="base", context={})
    assert sls() == {}
    clock.speed *= 3
    with pytest.raises(RenderError, match=r"more than 22 s of the processor"):
        sls()


@pytest.mark.parametrize("in_thread", [False, True])
def test_texts_that_are_parsed_without_end_are_stopped(in_thread: bool) -> None:
    """The time of each does not add up."""

    def work() -> None:
        with suppress(RenderError), bounded("a.sls", 0.2):
            while True:
                allow_parsing(1_000_000)
        ended.append(True)

    ended: list[bool] = []
    if in_thread:
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    else:
        work()
    assert ended


@pytest.mark.parametrize(
    "doubling",
    [
        "{% do l.extend(l) %}",
        "{% set _ = l.extend(l) %}",
        "{% do n.update({'l': n.l + n.l}) %}",
        "{% do l.extend(l * 9) %}",
    ],
)
def test_a_list_that_a_loop_doubles(doubling: str, machine: Machine) -> None:
    setup = "{% set l = [0] %}{% set n = {'l': l} %}"
    machine.write(a=setup + "{% for i in range(60) %}" + doubling + "{% endfor %}")
    assert "would be far too large" in machine("sls", "a", code=1).stderr


def test_a_thread_that_ends_in_time_is_left_alone() -> None:
    def work() -> None:
        for _ in range(50):
            with bounded("a.sls", 0.001), suppress(RenderError):
                sum(range(2000))
        ended.append(True)

    ended: list[bool] = []
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert ended


STOPPED = """
import faulthandler, sys, threading
from contextlib import suppress
from runner.language.render.jinja.limits import TooMuch, allow_parsing, bounded

def work():
    with suppress(TooMuch), bounded("a.sls", 0.2):
        while True:
            allow_parsing(1_000_000)

thread = threading.Thread(target=work)
thread.start()
thread.join()
faulthandler.dump_traceback_later(60, exit=True)
sys.settrace(lambda *event: None)
(lambda: None)()
"""


def test_a_thread_that_was_stopped_leaves_the_others_alone() -> None:
    """Python 3.11 would look for an error that was taken back for ever, and begin no traced
    function any more.
    """
    done = subprocess.run([sys.executable, "-c", STOPPED], capture_output=True, text=True, cwd=ROOT)
    assert (done.returncode, done.stderr) == (0, "")


PLAIN = {
    "{{ '^(|#)%s(.*)$' % 'Port' }}": "^(|#)Port(.*)$",
    "{{ '0 */%s * * *' % 4 }}": "0 */4 * * *",
    "{{ '%s*'|format('x') }}": "x*",
    "{{ '%s-2026112615' % 'v' }}": "v-2026112615",
    "{{ '%d'|format(1795000000) }}": "1795000000",
    "{{ '%(a)s 99999999' % {'a': 'x'} }}": "x 99999999",
    "{{ '%*d|%-.*f' % (4, 7, 1, 2.55) }}": "   7|2.5",
    "{{ '{} 123456789 *'.format(1795000000) }}": "1795000000 123456789 *",
    "{{ '{:>{w}}{:,}'.format('x', 1795000000, w=3) }}": "  x1,795,000,000",
    "{{ '{a[b]:*^5}'.format_map({'a': {'b': 'x'}}) }}": "**x**",
    "{{ 'a.b.c'.split('.', 1795000000)|join }}": "abc",
    "{{ 'aaa'.replace('a', 'b', 1795000000) }}": "bbb",
    "{{ '100%% %5.2f' % 2 }}": "100%  2.00",
}
LARGE = [
    "[1]|tojson(indent=1000000000)",
    "[1]|json(indent=1000000000)",
    "'%1000000000s' % 1",
    "'%.1000000000f' % 1",
    "'%*d' % (1000000000, 1)",
    "'%.*f' % (1000000000, 1.0)",
    "'%.*f'|format(1000000000, 1.0)",
    "'%(a)1000000000s' % {'a': 1}",
    "'%(a(b))1000000000s' % {'a(b)': 1}",
    "'%(a)1000000000s'|format(a=1)",
    "'%s%40000000s%40000000s' % (1, 2, 3)",
    "('%(a)s' * 1000) % {'a': 'x' * 1000000}",
    "'{:>1000000000}'.format(1)",
    "'{:.1000000000f}'.format(1.0)",
    "'{:>{w}}'.format(1, w=1000000000)",
    "'{:{w}}'.format(1, w='000000000000000000000001000000000')",
    "'{a:*>1000000000}'.format_map({'a': 1})",
    "('{0}' * 1000).format('x' * 1000000)",
    "'x'.center(1000000000)",
    "'x'.zfill(1000000000)",
    "'x'|center(1000000000)",
]


def test_formats_are_limited_by_their_widths_and_not_by_what_they_print(machine: Machine) -> None:
    ids = [f"{{{{ ({written[2:-2]})|json }}}}: test.nop\n" for written in PLAIN]
    machine.write(a="".join(ids))
    assert [*machine.results("sls", "a")] == [*PLAIN.values()]


@pytest.mark.parametrize("expression", LARGE)
def test_a_format_that_would_be_far_too_large(expression: str) -> None:
    environment = BoundedEnvironment(extensions=[])
    environment.filters = Filters(environment.filters, checked)
    with pytest.raises(TooMuch, match="would be far too large"):
        environment.from_string(f"{{{{ {expression} }}}}").render()
