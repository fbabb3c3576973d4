# SPDX-License-Identifier: Apache-2.0
"""What a real Salt 3008.3 answered to some hundred expressions, and what it refused; runner does
the same.

Its answers are kept in salt_filters.json: {"answers": {expression or template: text}, "refused":
[...]}.
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest

from runner.model.errors import RunnerError
from runner.pipeline.session import Session

SALT = json.loads((Path(__file__).parent / "salt_filters.json").read_text(encoding="utf-8"))


def template(expression: str) -> str:
    return expression if expression.startswith(("{{", "{%", "{#")) else f"{{{{ {expression} }}}}"


def test_answers(session: Session) -> None:
    given = {text: session.template(template(text), "jinja", {}) for text in SALT["answers"]}
    assert given == {**SALT["answers"], "none|get_uid": str(os.geteuid())}  # Salt was root


@pytest.mark.parametrize("text", SALT["refused"])
def test_what_salt_refuses_is_refused_at_its_place(session: Session, text: str) -> None:
    with pytest.raises(RunnerError) as error:
        session.template(f"one\n{template(text)}\n", "jinja", {}, file="/tree/x.jinja")
    told = str(error.value)
    assert re.search(r"at /tree/x\.jinja:2\b", told)
    assert "Traceback" not in told


def test_what_salt_has_not_is_not_defined(session: Session) -> None:
    text = "{{ salt.nope is defined }} {{ salt.test is defined }} {{ salt.test.nope is defined }}"
    assert session.template(text, "jinja", {}) == "False True False"


def test_moments(session: Session) -> None:
    from datetime import date, timedelta

    day = date.today()
    for text, wanted in {
        "tomorrow": day + timedelta(days=1),
        "yesterday": day - timedelta(days=1),
        "today": day,
        "+1 day": day + timedelta(days=1),
        "-2 weeks": day - timedelta(days=14),
        "1 week ago": day - timedelta(days=7),
        "2002-12-25 +1 day": date(2002, 12, 26),
        "2002-01-31 +1 month": date(2002, 3, 3),
        "2004-02-29 -1 year": date(2003, 3, 1),
        "next monday": day + timedelta(days=7 - day.weekday()),
        "last monday": day - timedelta(days=day.weekday() or 7),
        "@1040814000": date(2002, 12, 25),
        "25 December 2002 10:11:12": date(2002, 12, 25),
        "Wed, 25 Dec 2002 10:00:00 +0000": date(2002, 12, 25),
        "20021225": date(2002, 12, 25),
        "1040814000.5": date(2002, 12, 25),
    }.items():
        assert session.template(f"{{{{ '{text}' | strftime }}}}", "jinja", {}) == str(wanted), text


def test_files(session: Session, tmp_path: Path) -> None:
    files = {
        "zh": "中文 text".encode(),
        "latin": b"\xe9\xe8 text",
        "nul": b"a\0b",
        "bell": b"a\x07b",
        "empty": b"",
    }
    for name, data in files.items():
        (tmp_path / name).write_bytes(data)

    def those(filter_: str) -> set[str]:
        said = {
            name: session.template(f"{{{{ '{tmp_path}/{name}' | {filter_} }}}}", "jinja", {})
            for name in files
        }
        return {name for name in files if said[name] == "True"}

    assert those("is_text_file") == {"zh", "latin", "empty"}
    assert those("is_bin_file") == {"nul"}
    assert those("is_empty") == {"empty"}
    assert session.template(f"{{{{ '{tmp_path}' | list_files | length }}}}", "jinja", {}) == "6"


def test_targets_choose_between_values(session: Session) -> None:
    assert (
        session.template("{{ ifelse('nothing*', 'a', 'G@kernel:Linux', 'b', 'c') }}", "jinja", {})
        == "b"
    )
    assert session.template("{{ ifelse('nothing*', 'a', false, 'b', 'c') }}", "jinja", {}) == "c"
    assert session.template("{{ ifelse('c') }}", "jinja", {}) == "c"
    with pytest.raises(RunnerError, match="odd number of arguments"):
        session.template("{{ ifelse('a', 'b') }}", "jinja", {})


def test_what_a_filter_finds_is_not_kept_in_the_compiled_template(
    session: Session, tmp_path: Path
) -> None:
    text = f"{{{{ '{tmp_path}/x' | is_empty }}}}{{% if '{tmp_path}/x' | is_empty %}}!{{% endif %}}"
    assert session.template(text, "jinja", {}) == "False"
    (tmp_path / "x").touch()
    assert session.template(text, "jinja", {}) == "True!"
