# SPDX-License-Identifier: Apache-2.0
"""The truth table of requisites."""

from __future__ import annotations

import random

import pytest

from runner.engine.decide import (
    NOT_REACTED,
    SKIPPED,
    decide,
    not_run_result,
    prereq_failed,
    telling,
    verified,
)
from runner.engine.step import Decision, Verdict
from runner.model.chunk import Chunk, Edge
from runner.model.places import Place, Untyped
from runner.model.requisite_kinds import KINDS
from runner.model.result import Result

PLACE = Place(Untyped("t.sls"))


def result(name: str) -> Result:
    """How a target came out. quiet: its change is to set nothing off; unprepared: what should have
    prepared its change failed.
    """
    outcomes = {"fail": False, "failch": False, "stopped": False}
    undone = ("dry", "open", "undecided", "noop", "unprepared")
    outcome = None if name in undone else outcomes.get(name, True)
    changes = {"x": 1} if name in ("ok", "failch", "dry", "noop", "quiet") else {}
    chunk = Chunk("test", "nop", name, name, 1, "t", "base", {}, {}, (), PLACE)
    ran = name not in ("skipped", "stopped")
    return Result(
        chunk,
        outcome,
        "",
        changes,
        ran=ran,
        exact=name != "open",
        undecided=name == "undecided",
        noop=name == "noop",
        extra={"skip_req": True} if name == "quiet" else {},
        cause="root" if name == "unprepared" else None,
    )


FAILED = "One or more requisite failed: "
NO_FAILURE = "State was not run because onfail req did not change"
NO_CHANGE = "State was not run because none of the onchanges reqs changed"


CASES = [
    ("", Verdict.RUN, ""),
    ("require ok", Verdict.RUN, ""),
    ("require dry", Verdict.RUN, ""),
    ("require fail", Verdict.FAIL, FAILED + "t.fail"),
    ("require none; require fail", Verdict.FAIL, FAILED + "t.fail"),
    ("require fail; watch failch", Verdict.FAIL, FAILED + "t.fail, t.failch"),
    ("watch same", Verdict.RUN, ""),
    ("watch ok", Verdict.WATCH, ""),
    ("watch dry", Verdict.WATCH, ""),
    ("onchanges same", Verdict.SKIP, NO_CHANGE),
    ("onchanges ok", Verdict.RUN, ""),
    ("onchanges same; onchanges ok", Verdict.RUN, ""),
    ("onchanges failch", Verdict.SKIP, NO_CHANGE),
    ("onchanges_any same; onchanges_any ok", Verdict.RUN, ""),
    ("onchanges_any same; onchanges_any failch", Verdict.SKIP, NO_CHANGE),
    ("onfail ok", Verdict.SKIP, NO_FAILURE),
    ("onfail dry", Verdict.SKIP, NO_FAILURE),
    ("onfail open", Verdict.OPEN, "It would be run if test: open failed"),
    ("onfail_all ok; onfail_all open", Verdict.SKIP, NO_FAILURE),
    ("require fail; onfail open", Verdict.FAIL, FAILED + "t.fail"),
    ("onfail ok; onfail fail", Verdict.RUN, ""),
    ("onfail_any ok; onfail_any fail", Verdict.RUN, ""),
    ("onfail_all ok; onfail_all fail", Verdict.SKIP, NO_FAILURE),
    ("onfail_all fail; onfail_all failch", Verdict.RUN, ""),
    ("require_any fail; require_any ok", Verdict.RUN, ""),
    ("require_any fail; require_any failch", Verdict.FAIL, FAILED + "t.fail, t.failch"),
    ("watch_any same; watch_any ok; watch_any fail", Verdict.WATCH, ""),
    ("watch_any failch; watch_any fail", Verdict.FAIL, FAILED + "t.failch, t.fail"),
    ("prereq same", Verdict.SKIP, "No changes detected"),
    ("prereq dry", Verdict.RUN, ""),
    ("prereq ok; prereq same; onfail ok", Verdict.RUN, ""),
    ("prereq ok; prereq same; watch ok; onchanges same", Verdict.RUN, ""),
    ("prereq ok; onfail ok", Verdict.SKIP, NO_FAILURE),
    ("prereq fail", Verdict.FAIL, FAILED + "t.fail"),
    ("prereq same; onfail ok", Verdict.SKIP, "No changes detected"),
    ("require fail; onfail failch", Verdict.FAIL, FAILED + "t.fail, t.failch"),
    ("require_any skipped", Verdict.RUN, ""),
    ("require_any skipped; require_any fail", Verdict.FAIL, FAILED + "t.fail"),
    ("onfail_any stopped", Verdict.RUN, ""),
    ("onfail_any stopped; onfail_any ok", Verdict.SKIP, NO_FAILURE),
    ("listen fail", Verdict.RUN, ""),
    ("require fail; onchanges same", Verdict.FAIL, FAILED + "t.fail"),
    ("onchanges ok; onfail ok", Verdict.SKIP, NO_FAILURE),
    ("onchanges ok; onfail ok; watch same", Verdict.SKIP, NO_FAILURE),
    ("watch ok; onfail ok", Verdict.SKIP, NO_FAILURE),
    ("onchanges ok; onfail ok; watch ok", Verdict.WATCH, ""),
    ("onchanges undecided", Verdict.OPEN, "It would be run if test: undecided changed something"),
    ("onchanges undecided; onchanges ok", Verdict.RUN, ""),
    ("watch undecided", Verdict.WATCH, ""),
    ("onchanges noop", Verdict.SKIP, NO_CHANGE),
    ("watch noop", Verdict.RUN, ""),
    ("onchanges quiet", Verdict.SKIP, SKIPPED),
    ("onchanges quiet; onchanges ok", Verdict.RUN, ""),
    ("watch quiet", Verdict.RUN, NOT_REACTED),
    ("watch quiet; watch ok", Verdict.WATCH, ""),
    ("onfail unprepared", Verdict.RUN, ""),
    ("onfail unprepared; onfail ok", Verdict.RUN, ""),
    ("onfail noop", Verdict.SKIP, NO_FAILURE),
]


def decided(text: str) -> Decision:
    """The decision of requisites; the target `none` is left out of the run."""
    parts = [part.split() for part in text.split("; ") if part]
    edges = [Edge(0, KINDS[kind], number, PLACE) for number, (kind, _) in enumerate(parts)]
    results = [None if name == "none" else result(name) for _, name in parts]
    return decide([*zip(edges, results, strict=True)])


@pytest.mark.parametrize(
    ("text", "postponed", "cause"),
    [
        ("onchanges none", True, None),
        ("onchanges same", False, None),
        ("onchanges same; onchanges none", True, None),
        ("onchanges failch", True, result("failch").tag),
        ("onchanges none; onchanges unprepared", True, "root"),
        ("onfail none", True, None),
        ("onfail ok", False, None),
        ("require fail; onchanges same", False, result("fail").tag),
        ("require fail; watch ok", True, result("fail").tag),
    ],
)
def test_what_was_not_done_for_a_failure_stays_pending(
    text: str, postponed: bool, cause: str | None
) -> None:
    decision = decided(text)
    assert (decision.postponed, decision.cause) == (postponed, cause)


@pytest.mark.parametrize(("text", "verdict", "comment"), CASES)
def test_decide(text: str, verdict: Verdict, comment: str) -> None:
    decision = decided(text)
    assert (decision.verdict, decision.comment) == (verdict, comment)


def test_a_state_that_cannot_react_says_nothing_of_what_it_watches() -> None:
    edge = Edge(0, KINDS["watch"], 1, PLACE, ordering=KINDS["require"])
    assert decide([(edge, result("ok"))]) == Decision(Verdict.RUN)


def test_a_debt_counts_as_a_change() -> None:
    kinds = ["watch", "onchanges"]
    seen = [(Edge(0, KINDS[kind], 1, PLACE), result("same")) for kind in kinds]
    assert decide(seen, kinds).verdict is Verdict.WATCH


@pytest.mark.parametrize(
    ("kind", "verdict"), [("watch", Verdict.WATCH), ("onchanges", Verdict.RUN)]
)
def test_a_debt_is_paid_where_its_source_is_not_part_of_the_run(
    kind: str, verdict: Verdict
) -> None:
    assert decide((), [kind]) == Decision(verdict)


def test_nothing_more_is_asked_when_only_a_part_of_what_is_prepared_will_change() -> None:
    looks = [(Edge(0, KINDS["prereq"], 1, PLACE), result(name)) for name in ("ok", "same")]
    assert decide(looks, ["watch"]).verdict is Verdict.RUN


def test_a_debt_does_not_pay_for_a_failed_requisite() -> None:
    seen = [(Edge(0, KINDS["watch"], 1, PLACE), result("fail"))]
    assert decide(seen, ["watch"]).verdict is Verdict.FAIL


def test_the_cause_is_the_root() -> None:
    first = result("fail")
    middle = Result(first.chunk, False, "", ran=False, cause="root")
    assert decide([(Edge(0, KINDS["require"], 1, PLACE), middle)]).cause == "root"


def test_many_states_that_a_requisite_stands_for_decide_as_one_by_one() -> None:
    names = ["ok", "same", "fail", "failch", "skipped", "stopped", "quiet", "dry", "open", "noop"]
    names += ["undecided", "unprepared"]
    dice = random.Random(1)
    for _ in range(3000):
        whole, brief, named = [], [], []
        some = dice.sample(names, dice.randint(1, 4))
        for kind in dice.sample([kind for kind in KINDS.values() if kind.orders], 2):
            results = [result(dice.choice(some)) for _ in range(6)]
            seen = [(Edge(0, kind, each, PLACE), one) for each, one in enumerate(results)]
            told = telling(results)
            whole += seen
            brief += [seen[place] for place, _ in told.first]
            named += [seen[place] for place, _ in told.named]
        decision = decide(whole)
        assert len(brief) <= 2 * len(some)
        assert decide(named) == decision
        names_all = decision.verdict in (Verdict.FAIL, Verdict.WATCH)
        assert decide(brief).verdict == decision.verdict
        assert names_all or decide(brief) == decision


def test_what_did_not_run_has_the_cause_of_a_failure_only() -> None:
    chunk = result("same").chunk
    shown = {
        verdict: not_run_result(chunk, Decision(verdict, "why", cause="root"))
        for verdict in (Verdict.FAIL, Verdict.SKIP, Verdict.OPEN)
    }
    assert {verdict: (each.result, each.cause) for verdict, each in shown.items()} == {
        Verdict.FAIL: (False, "root"),
        Verdict.SKIP: (True, None),
        Verdict.OPEN: (None, None),
    }
    assert not any(each.ran for each in shown.values())
    assert {each.comment for each in shown.values()} == {"why"}
    undecided = [verdict for verdict, each in shown.items() if each.undecided and not each.exact]
    assert undecided == [Verdict.OPEN]


def test_a_change_that_was_not_prepared_is_not_shown() -> None:
    looked, failed = result("dry"), result("fail")
    shown = prereq_failed(looked, failed)
    assert (shown.result, shown.changes, shown.cause) == (None, {}, failed.tag)
    assert prereq_failed(looked, failed._replace(cause="root")).cause == "root"
    for name in ("ok", "same"):
        assert prereq_failed(result(name), failed) == result(name)


def test_a_second_plan_is_a_failure() -> None:
    done = result("ok")._replace(comment="Done")
    assert verified(done, result("same")) == done
    again = verified(done, result("dry"))
    assert again.result is False
    assert again.comment == "Done\nThis did not converge: it would change x again"
    failed = verified(done, result("fail")._replace(comment="broken"))
    assert failed.comment == "Done\nThis did not converge: broken"
