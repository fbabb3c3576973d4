# SPDX-License-Identifier: Apache-2.0
"""Diagnostics in words: what is reported of several that are alike, and what was probably meant."""

from __future__ import annotations

import difflib

from runner.model.errors import Diagnostic as Diagnostic
from runner.model.records import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

IGNORED = "; it is ignored"  # what a lenient reader does with a mistake ends its message so


def refused(problem: Diagnostic) -> Diagnostic:
    """The same as an error: what was to be ignored is a mistake."""
    return problem._replace(message=problem.message.removesuffix(IGNORED), severity="error")


def deduplicated(problems: Iterable[Diagnostic]) -> list[Diagnostic]:
    """One mistake, one error: what a loop or a macro repeats is reported once, with a count."""
    first: dict[object, Diagnostic] = {}
    more: dict[object, int] = {}
    for problem in problems:
        source = problem.source
        if source is None or not source.line:
            first.setdefault(problem, problem)
            continue
        place = (source.file, source.line, source.column)
        key = (problem.code, problem.severity, *place, _repeated(problem))
        if problem != first.setdefault(key, problem):
            more[key] = more.get(key, 0) + 1 + problem.more
    return [_counted(problem, more.get(key, 0)) for key, problem in first.items()]


def _repeated(problem: Diagnostic) -> object:
    """The parts that distinguish two mistakes at one place, without the values that a loop gave."""
    if problem.code == "argument":
        return problem.argument or problem.message
    return problem.message if problem.code == "structure" else ""


def _counted(problem: Diagnostic, more: int) -> Diagnostic:
    message = problem.message.removesuffix(_of_more(problem.more))
    more += problem.more
    return problem._replace(message=f"{message}{_of_more(more)}", more=more)


def _of_more(more: int) -> str:
    return f" (and {more} more from this line)" if more else ""


# ---------------------------------------------------------------- did you mean


class Hint(Record):
    """A hint, and the names in it if it is nothing but a suggestion of them."""

    text: str | None = None
    candidates: tuple[str, ...] = ()


ODD_SPACES = tuple("\u00a0\u2007\u202f\u3000\u200b")


def odd_space_hint(key: object) -> str | None:
    """The cure for a key that begins with a space that YAML takes for a letter."""
    if not str(key).startswith(ODD_SPACES):
        return None
    number = ord(str(key)[0])
    return f"it begins with a space that is none (U+{number:04X}): replace it with a plain space"


def similar(word: str, words: Iterable[str], most: int = 1, alike: float = 0.6) -> list[str]:
    """The words that are like one, the nearest first. alike: how much, from 0 to 1; with 0 any."""
    near = difflib.get_close_matches(word, list(words), most + TRIED, alike)
    return [other for other in near if not alike or _mistyped(word, other)][:most]


def closest(word: str, words: Iterable[str], alike: float = 0.6) -> str | None:
    """The word that has most letters in common with another one, whether they are likely to be
    taken for one another or not; None where none has enough. alike: how much, from 0 to 1.

    >>> closest("ngix", ["apache2", "nginx"]), closest("ngix", ["apache2"])
    ('nginx', None)
    """
    return next(iter(difflib.get_close_matches(word, list(words), 1, alike)), None)


TRIED = 6  # words with many letters in common that nobody takes for one another
SHORT = 5  # a word of three letters with its two margins
_MARKS = str.maketrans("._/-", "    ")


def _mistyped(word: str, other: str) -> bool:
    """Return whether one was perhaps meant by the other: each part of a name differs in few
    letters, be it that the first parts are lacking, or one is the other with a word more.
    """
    parts, others = (name.replace("/", ".").split(".")[::-1] for name in (word, other))
    short, long = (f" {name.translate(_MARKS)} " for name in sorted((word, other), key=len))
    return (len(short) > SHORT and short in long) or all(map(_few_letters_differ, parts, others))


def _few_letters_differ(word: str, other: str) -> bool:
    changes = difflib.SequenceMatcher(None, word, other, autojunk=False).get_opcodes()
    letters = sum(max(b - a, d - c) for kind, a, b, c, d in changes if kind != "equal")
    longest = max(len(word), len(other))
    return sorted(word) == sorted(other) or letters <= max(longest > 1, (longest - 1) // 3)


def likeness(word: str, other: str) -> float:
    """Return how much two words are alike, from 0 to 1."""
    return difflib.SequenceMatcher(None, other, word).ratio()


def nearest(word: str, words: Iterable[str], alike: float = 0.6) -> str | None:
    """The word that was probably meant. alike: how much it has to look like it, from 0 to 1."""
    words = similar(word, words, 3, alike)
    swapped = (other for other in words if sorted(other) == sorted(word))  # letters exchanged
    return next(swapped, words[0] if words else None)


def suggestion(*names: str) -> str:
    """The question whether these were meant.

    >>> suggestion("nginx", "nginx-light")
    'did you mean nginx or nginx-light?'
    """
    return f"did you mean {' or '.join(names)}?"


def names_suggested(problem: Diagnostic) -> tuple[str, ...]:
    """The names that the hint of a problem asks for.

    >>> names_suggested(Diagnostic("", hint="did you mean 'source' or mode? Or neither"))
    ('source', 'mode')
    """
    if problem.candidates:
        return tuple(problem.candidates)
    _, asked, rest = (problem.hint or "").partition(suggestion("").removesuffix("?"))
    names = rest.partition("?")[0].split(" or ") if asked else []
    return tuple(name.strip("'`\"").removesuffix(":") for name in names)


def items_written(problem: Diagnostic) -> list[tuple[str, str]]:
    """The arguments that the hint of a problem writes out, as they are to be typed: key and value.

    >>> items_written(Diagnostic("", hint="put it in quotes: `- mode: '0644'`"))
    [('mode', "'0644'")]
    """
    texts = (problem.hint or "").split("`")[1::2]
    pairs = (text[2:].partition(": ") for text in texts if text.startswith("- "))
    return [
        (key, value) for key, _, value in pairs if value and not value.isupper() and value != "..."
    ]


def suggested(names: Iterable[str]) -> Hint:
    """The hint that asks for them; without a text where there are none."""
    names = tuple(names)
    return Hint(suggestion(*names), names) if names else Hint()


def other_name(sls: str) -> str:
    """`x` and `x.init` are one file with two names."""
    return sls.removesuffix(".init") if sls.endswith(".init") else f"{sls}.init"


def near_sls(name: str, known: Iterable[str]) -> Hint:
    """The hint of an SLS that is not in a run."""
    known = list(known)
    other = other_name(name)
    # one beside it is likely another
    near = [other] if other in known else similar(name, known, 2, 0.8)
    missing = Hint("that SLS is not in this run: include it")
    return suggested(f"sls: {sls}" for sls in near) if near else missing


def did_you_mean(word: str, words: Iterable[str], alike: float = 0.6) -> str | None:
    """The hint that names the nearest word; None when nothing is near."""
    near = nearest(word, words, alike)
    return suggestion(near) if near else None


def bug(error: BaseException) -> Diagnostic:
    """The diagnostic of a defect of runner's own."""
    return Diagnostic(f"this is a bug in runner: {type(error).__name__}: {error}", code="bug")
