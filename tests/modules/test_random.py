# SPDX-License-Identifier: Apache-2.0
"""random.*, environ.*, test.* and log.*."""

from __future__ import annotations

import logging
import string
from collections.abc import Iterator
from typing import Any

import pytest
from harness import HarnessHere

from modules import environ, log, random, test
from runner.api import CommandFailed, RunnerError, running


@pytest.fixture(autouse=True)
def here() -> Iterator[HarnessHere]:
    current = HarnessHere(opts={"id": "m1"}, grains={"saltversion": "3008.3"})
    with running(current):
        yield current


@pytest.mark.parametrize(
    ("options", "wanted"),
    [
        ({}, string.ascii_letters + string.digits + string.punctuation),
        ({"punctuation": False}, string.ascii_letters + string.digits),
        ({"lowercase": False, "punctuation": False}, string.ascii_uppercase + string.digits),
        ({"uppercase": False, "punctuation": False}, string.ascii_lowercase + string.digits),
        ({"digits": False, "punctuation": False}, string.ascii_letters),
        ({"whitespace": True}, string.printable),
        ({"printable": True}, string.printable),
        ({"chars": "ab", "lowercase": False}, "ab"),
    ],
)
def test_get_str(options: dict[str, Any], wanted: str) -> None:
    found = random.get_str(2000, **options)
    assert (len(found), set(found)) == (2000, set(wanted))


def test_a_seed_gives_what_it_gives_in_salt() -> None:
    assert random.shuffle([1, 2, 3, 4, 5], "x") == [4, 3, 1, 5, 2]
    assert random.shuffle([1, 2, 3, 4, 5], "y") == [1, 2, 3, 4, 5]
    assert random.sample(["a", "b", "c"], 2, "x") == random.sample("abc", 2, "x") == ["b", "c"]
    assert random.rand_int(1, 100, "x") == random.rand_int(1, 100, "x")
    assert random.seed(1000) == random.seed(1000) == random.seed(1000, "m1")
    assert len({random.rand_int(1, 10**9) for _ in range(3)}) == 3


def test_codes() -> None:
    assert random.hash_("abc", "md5") == "900150983cd24fb0d6963f7d28e17f72"
    assert len(random.hash_("abc")) == 128
    assert [random.str_encode("ü", code) for code in ("base64", "hex", "rot13")] == [
        "w7w=",
        "c3bc",
        "ü",
    ]
    assert "\n" not in random.str_encode("x" * 100)


@pytest.mark.parametrize(
    ("call", "problem", "message"),
    [
        (lambda: random.hash_("abc", "nope"), CommandFailed, "no hash algorithm 'nope'"),
        (lambda: random.str_encode("abc", "nope"), RunnerError, "expected base64, hex or rot13"),
        (
            lambda: random.get_str(
                1, lowercase=False, uppercase=False, digits=False, punctuation=False
            ),
            RunnerError,
            "no characters",
        ),
        (lambda: random.rand_int(5, 1), ValueError, "range"),
        (lambda: random.sample([1], 2), ValueError, "larger"),
        (lambda: test.assertion(0), RunnerError, "does not hold"),
        (lambda: test.exception("boom"), RunnerError, "boom"),
        (lambda: test.fib(-1), ValueError, "Negative"),
    ],
)
def test_wrong_arguments_are_named(call: Any, problem: type[Exception], message: str) -> None:
    with pytest.raises(problem, match=message):
        call()


def test_a_hash_for_shadow() -> None:
    assert random.shadow_hash(crypt_salt="abcdefgh", password="pw") == (
        "$6$abcdefgh$KQeXafAQAaOoKTevphVU215RvJdgzyfASRasIOuh12hO8u0r1bGW92Zn"
        "TmC9IjsiQ8VPiTXBiZF49dFL1U4wX/"
    )


def test_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("THERE", "x")
    monkeypatch.delenv("MISSING", raising=False)
    assert [environ.get("THERE"), environ.get("MISSING"), environ.get("MISSING", "d")] == [
        "x",
        "",
        "d",
    ]
    assert environ.get(1) is environ.has_value(1) is False  # type: ignore[arg-type]
    assert [environ.has_value(*each) for each in (("THERE",), ("THERE", "y"), ("MISSING",))] == [
        True,
        False,
        False,
    ]
    assert environ.item(["THERE", "MISSING"], "d") == {"THERE": "x", "MISSING": "d"}
    assert environ.item("THERE") == {"THERE": "x"}
    assert environ.items()["THERE"] == "x"


@pytest.mark.parametrize(
    ("found", "wanted"),
    [
        (lambda: test.ping(), True),
        (lambda: test.true_(), True),
        (lambda: test.false_(), False),
        (lambda: test.echo([1]), [1]),
        (lambda: test.outputter("x"), "x"),
        (lambda: test.arg(1, a=2), {"args": [1], "kwargs": {"a": 2}}),
        (lambda: test.arg_repr(1, a=2), {"args": "(1,)", "kwargs": "{'a': 2}"}),
        (
            lambda: test.arg_type(1, a="x"),
            {"args": ["<class 'int'>"], "kwargs": {"a": "<class 'str'>"}},
        ),
        (lambda: test.args(1), [1]),
        (lambda: test.kwarg(a=1), {"a": 1}),
        (lambda: test.sleep(0), True),
        (lambda: [test.fib(number)[0] for number in range(8)], [0, 1, 1, 2, 3, 5, 8, 13]),
        (lambda: test.assertion("x"), None),
        (lambda: test.get_opts(), {"id": "m1"}),
        (lambda: test.version(), "3008.3"),
    ],
)
def test_the_functions_that_do_nothing(found: Any, wanted: Any) -> None:
    assert found() == wanted


@pytest.mark.parametrize("level", ["debug", "info", "warning", "error", "critical"])
def test_log(level: str, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG, "runner.template"):
        assert getattr(log, level)("hello") is True
    assert [(record.levelname.lower(), record.message) for record in caplog.records] == [
        (level, "hello")
    ]
