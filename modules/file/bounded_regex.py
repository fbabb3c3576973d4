# SPDX-License-Identifier: Apache-2.0
"""Regular expressions in bounded time: one such as `(a+)+$` may search for years.

The main thread is interrupted after `render_limit`. No other thread can be, and while it searches
nothing else works: a state with `parallel: True` has another process search, which ends by itself.
"""

from __future__ import annotations

import json
import re
import sys

from modules._machine.processes import probe
from runner.api import StateFailed, here, in_main_thread

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any, TypeVar

    Answer = TypeVar("Answer")

# It is given the work on its standard input, so that no text shows in the list of processes. The
# timer counts its seconds of the processor, and its signal ends it.
_PROGRAM = """
import json, re, signal, sys
work = json.load(sys.stdin)
signal.setitimer(signal.ITIMER_PROF, work["seconds"])
try:
    expression = re.compile(work["pattern"], work["flags"])
    if "repl" in work:
        answer = [expression.sub(work["repl"], part, work["count"]) for part in work["parts"]]
    else:
        test = expression.match if work["from_start"] else expression.search
        answer = [test(part) is not None for part in work["parts"]]
except (re.error, IndexError) as problem:
    answer = str(problem)
json.dump(answer, sys.stdout)
"""


# what each match begins with; what may be repeated is no part of it
_LITERAL = re.compile(r"(\^?)([\w \t\-=/,:;'\"@%&~`<>!#]+)(?![*?+{])")
_PLAIN = re.ASCII | re.UNICODE | re.MULTILINE | re.DOTALL


def substituted(
    expression: re.Pattern[str], repl: str, parts: Sequence[str], count: int
) -> list[str]:
    """Texts in which what an expression matches is replaced. Raises re.error and IndexError for a
    replacement that does not fit it, StateFailed when it takes too long.
    """
    return _bounded(
        expression,
        parts,
        {"repl": repl, "count": count},
        lambda: [expression.sub(repl, part, count) for part in parts],
    )


def matching(
    expression: re.Pattern[str], parts: Sequence[str], from_start: bool = False
) -> list[bool]:
    """Return whether an expression is in each of some texts. from_start: at the beginning of the
    text. Raises StateFailed when it takes too long.
    """
    test = expression.match if from_start else expression.search
    return _bounded(
        expression,
        parts,
        {"from_start": from_start},
        lambda: [test(part) is not None for part in parts],
    )


def matches(expression: re.Pattern[str], text: str) -> bool:
    """Return whether an expression is in a text. Raises StateFailed when that takes too long."""
    at = first_place(expression, text)
    return at is not None and matching(expression, [text[at:]])[0]


def first_place(expression: re.Pattern[str], text: str) -> int | None:
    """The beginning of a text, or the first line that an expression may match; None where it
    matches nothing. Of many states that each look for a line of one file, few have to search.
    """
    literal = None if expression.flags & ~_PLAIN else _LITERAL.match(expression.pattern)
    if literal is None or "|" in expression.pattern or "(?" in expression.pattern:
        return 0
    anchor, word = literal.groups()
    if not (anchor and expression.flags & re.MULTILINE):
        return 0 if word in text else None
    return 0 if text.startswith(word) else text.find(f"\n{word}") + 1 or None


def _bounded(
    expression: re.Pattern[str],
    parts: Sequence[str],
    options: dict[str, Any],
    work: Callable[[], Answer],
) -> Answer:
    what = f"the regular expression {expression.pattern!r}"
    with here.limited(what, sum(map(len, parts))) as seconds:
        if not seconds or in_main_thread():
            return work()
        request = {
            "pattern": expression.pattern,
            "flags": expression.flags,
            "parts": parts,
            "seconds": seconds,
            **options,
        }
        done = probe([sys.executable, "-I", "-S", "-c", _PROGRAM], stdin=json.dumps(request))
    if done.retcode:
        raise StateFailed(f"{what}: this takes more than {seconds:g} s of the processor")
    answer: Answer = json.loads(done.stdout)
    if isinstance(answer, str):
        raise re.error(answer)
    return answer
