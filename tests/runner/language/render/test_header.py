# SPDX-License-Identifier: Apache-2.0
"""`#jinja2: {...}` at the head of a template: options for this file, and places as written."""

from __future__ import annotations

from pathlib import Path

import pytest

from runner.model.errors import RunnerError
from runner.pipeline.session import Session

TRIMMED = '#jinja2: {"trim_blocks": true, "lstrip_blocks": true}\n'
BRACKETS = '#jinja2: {"variable_start_string": "[[", "variable_end_string": "]]"}\n'


@pytest.mark.parametrize(
    ("text", "made"),
    [
        (TRIMMED + "{% if 1 %}\na\n  {% endif %}\nb\n", "a\nb\n"),
        (TRIMMED + "{%- if 1 %}\na\n{% endif %}\nb\n", "a\nb\n"),
        (TRIMMED + "\n\na{{ 1 }}\n", "\n\na1\n"),
        (TRIMMED, "\n"),
        (TRIMMED + "a\n", "a\n"),
        (BRACKETS + "[[ 1 ]]{{ 2 }}\n", "1{{ 2 }}\n"),
        ("#!jinja\n" + BRACKETS + "[[ 1 ]]\n", "#!jinja\n1\n"),
        ("#!/bin/sh\n" + BRACKETS + "[[ 1 ]]\n", "#!/bin/sh\n" + BRACKETS + "[[ 1 ]]\n"),
        ("\n\n" + BRACKETS + "[[ 1 ]]\n", "\n\n" + BRACKETS + "[[ 1 ]]\n"),
        ("#jinja2: is what this is\n{{ 1 }}\n", "#jinja2: is what this is\n1\n"),
        ('#jinja2: {"keep_trailing_newline": true}\na{{ 1 }}\n', "a1\n"),
    ],
)
def test_what_comes_of_it(session: Session, text: str, made: str) -> None:
    assert session.template(text, "jinja", {}) == made


@pytest.mark.parametrize(
    ("text", "told", "place"),
    [
        ('#jinja2: {"trim_blocks": \n', "the options after #jinja2: are no JSON", "1:10"),
        ('#jinja2: {"trim_block": true}\n', "Jinja has no option 'trim_block'", "1:10"),
        (
            '#!jinja\n#jinja2: {"trim_blocks": "x"}\n',
            "trim_blocks is true or false, not 'x'",
            "2:10",
        ),
        ('#jinja2: {"newline_sequence": 5}\n', "newline_sequence is a text, not 5", "1:10"),
        ('#jinja2: {"variable_start_string": "{%"}\n', "start strings must be different", "1:10"),
        (TRIMMED + "a\n{{ nosuch }}\n", "Jinja variable 'nosuch' is undefined", "3:4"),
        (TRIMMED + "{%- set x = 1 %}\n\n{{ x + '' }}\n", "unsupported operand", "4:1"),
        (TRIMMED + "a\n{{ 1 + }}\n", "Jinja syntax error", "3:1"),
        (TRIMMED + "a\n{{ 1\n", "Jinja syntax error", "3:1"),
    ],
)
def test_mistakes_are_told_where_they_were_typed(
    session: Session, tmp_path: Path, text: str, told: str, place: str
) -> None:
    path = tmp_path / "x.conf"
    path.write_text(text)
    with pytest.raises(RunnerError) as error:
        session.template(text, "jinja", {}, file=str(path))
    assert told in error.value.message
    assert str(error.value.source).startswith(f"{path}:{place}")


def test_options_of_the_configuration_are_told_with_their_line(tmp_path: Path) -> None:
    from runner.language.render.jinja import Jinja

    conf = tmp_path / "runner.yaml"
    conf.write_text("id: x\njinja_env:\n  newline_sequence: 5\n")
    opts = {
        "conf_file": str(conf),
        "jinja_env": {"newline_sequence": 5},
        "jinja_sls_env": {"newline_sequence": "x"},
    }
    for sls, place in ((False, "2:1"), (True, "")):
        with pytest.raises(RunnerError) as error:
            Jinja(lambda name, env: None, opts).render(
                "{{ 1 }}", "x", "x", {}, saltenv="base", sls=sls
            )
        assert str(error.value.source).startswith(f"{conf}:{place}".rstrip(":"))


def test_in_an_sls_the_lines_are_those_of_the_file(session: Session, tmp_path: Path) -> None:
    path = tmp_path / "a.sls"
    path.write_text("#!jinja|yaml\n" + BRACKETS + "x:\n  test.nop:\n    - a: [[ 1 ]]\n")
    value = session.renderer.sls(str(path), sls="a", saltenv="base", context={})
    assert value == {"x": {"test.nop": [{"a": 1}]}}
    assert value["x"].key_place("test.nop").source.line == 4
