# SPDX-License-Identifier: Apache-2.0
"""States that do nothing: for trying requisites, for showing text, for checking pillar."""

from __future__ import annotations

import random
from typing import Any, Literal

from modules import pillar
from runner.api import Changes, Done, OneOrMany, Plan, Planned, StateFailed, here, refuse_unforeseen

NON_IDEMPOTENT = {
    "succeed_with_changes": "it pretends to change something in each run",
    "fail_with_changes": "it pretends to change something in each run",
    "configurable_test_state": "it pretends to change something in each run",
}
Comment = str | dict[Any, Any] | list[Any]
PRETENDED: Changes = {"testing": {"old": "Unchanged", "new": "Something pretended to change"}}


def nop(name: str) -> str:
    """Succeed without doing anything.

    name: Names the state.

        anchor:
          test.nop: []
    """
    return "Success!"


def succeed_without_changes(name: str, comment: Comment = "Success!") -> str:
    """Succeed without doing anything.

    name: As of test.nop.
    comment: What the result says; of a list each item in a line, a mapping as text.

        always:
          test.succeed_without_changes: []
    """
    return _text(comment)


def fail_without_changes(name: str, comment: Comment = "Failure!") -> str:
    """Fail without doing anything.

    name: As of test.nop.
    comment: As of test.succeed_without_changes.

        stop here:
          test.fail_without_changes:
            - comment: this machine is not supported
    """
    raise StateFailed(_text(comment))


def succeed_with_changes(name: str, comment: Comment = "Success!") -> Planned:
    """Pretend to change something.

    name: As of test.nop.
    comment: As of test.succeed_without_changes.

        changed:
          test.succeed_with_changes: []
    """
    yield Plan(PRETENDED, "If we weren't testing, this would be successful with changes")
    return _text(comment)


def fail_with_changes(name: str, comment: Comment = "Failure!") -> Planned:
    """Pretend to change something, then fail.

    name: As of test.nop.
    comment: As of test.succeed_without_changes.

        broken:
          test.fail_with_changes: []
    """
    yield Plan(PRETENDED, "If we weren't testing, this would be failed with changes")
    refuse_unforeseen("a failure")
    raise StateFailed(_text(comment), changes=PRETENDED)


def configurable_test_state(
    name: str,
    changes: bool | Literal["Random"] = True,
    result: bool | Literal["Random"] = True,
    comment: Comment = "",
    warnings: OneOrMany[str] | None = None,
    allow_test_mode_failure: bool = False,
) -> Planned:
    """Succeed or fail, with or without changes, as asked.

    name: As of test.nop.
    changes: Whether it changes something; Random tosses a coin.
    result: Whether it succeeds; Random tosses a coin for that, too.
    comment: As of test.succeed_without_changes.
    warnings: Warnings of the result.
    allow_test_mode_failure: A dry run fails, too, if the state is to fail.

        try it:
          test.configurable_test_state:
            - changes: False
            - result: Random
    """
    dry = here.dry  # dry: one of its arguments is about it
    message = _text(comment) or ("This is a test" if dry else "")
    succeeds = _coin() if result == "Random" else result
    changing = _coin() if changes == "Random" else changes
    for warning in warnings or ():
        here.warn(warning)
    failing = not succeeds and (allow_test_mode_failure or not dry)
    if not changing:
        if failing:
            raise StateFailed(message)
        return message
    if dry and failing:
        raise StateFailed(message, changes=PRETENDED)
    yield Plan(PRETENDED, message)
    refuse_unforeseen("a failure")
    if not succeeds:
        raise StateFailed(message, changes=PRETENDED)
    return message


def _text(comment: Comment) -> str:
    return "\n".join(map(str, comment)) if isinstance(comment, list) else str(comment)


def show_notification(name: str, text: str) -> str:
    """Show a text in the results.

    name: As of test.nop.
    text: What to show.

        note:
          test.show_notification:
            - text: the database is set up by hand
    """
    if not text:
        raise StateFailed("Text not given")
    return text


def check_pillar(
    name: str,
    present: OneOrMany[str] | None = None,
    boolean: OneOrMany[str] | None = None,
    integer: OneOrMany[str] | None = None,
    string: OneOrMany[str] | None = None,
    listing: OneOrMany[str] | None = None,
    dictionary: OneOrMany[str] | None = None,
    verbose: bool = False,
) -> str:
    """Fail when keys of the pillar are missing or have the wrong type.

    name: Names the state.
    present: Keys that have to be there.
    boolean: Keys that have to be true or false.
    integer: Keys that have to be whole numbers.
    string: Keys that have to be texts.
    listing: Keys that have to be lists.
    dictionary: Keys that have to be mappings.
    verbose: Name the keys that are right, too.

        pillar is complete:
          test.check_pillar:
            - present: nginx:port
            - integer: nginx:port
    """
    kinds: list[tuple[list[str] | None, type | None]] = [
        (present, None),
        (boolean, bool),
        (integer, int),
        (string, str),
        (listing, list),
        (dictionary, dict),
    ]
    wanted = {key: kind for keys, kind in kinds for key in keys or ()}
    if not wanted:
        raise StateFailed("Missing required argument text.")
    problems = {key: problem for key, kind in wanted.items() if (problem := _problem(key, kind))}
    report = "".join(f"{problem}\n" for problem in problems.values())
    passed = "".join(
        f"- {key} ({_shown(kind)})\n" for key, kind in wanted.items() if key not in problems
    )
    if verbose and passed:
        report += f"Those keys passed the check:\n{passed}"
    if problems:
        raise StateFailed(report)
    return report


def _problem(key: str, kind: type | None) -> str:
    value = pillar.get(key, None)
    if value is None:
        return f'Pillar key "{key}" is missing.'
    fits = kind is None or (type(value) is kind if kind in (bool, int) else isinstance(value, kind))
    return "" if fits else f'Pillar key "{key}" is not {_shown(kind)}.'


def _shown(kind: type | None) -> str:
    """A type as Salt writes it."""
    return "(<class 'str'>,)" if kind is str else str(kind)


def mod_watch(
    name: str,
    sfun: str = "",
    result: Any = True,
    comment: Comment = "Watch statement fired.",
    changes: Any = None,
) -> Planned:
    """Report which watched states changed.

    sfun: the state function that watches. result: whether to succeed. comment: what the result
    says. changes: the changes to report, a mapping, instead of the watched states.
    """
    if not isinstance(changes, dict):  # as configurable_test_state takes it: whether to change
        changes = {"Requisites with changes": list(here.changed_requisites)}
    message = _text(comment)
    yield Plan(changes, message)
    refuse_unforeseen("a failure")
    if not result:
        raise StateFailed(message, changes=changes)
    return Done(message, changes)


def _coin() -> bool:
    return random.choice([True, False])
