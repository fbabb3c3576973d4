# SPDX-License-Identifier: Apache-2.0
"""What came of many hosts, equal outcomes together."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from runner.model.places import Source
from runner.model.records import Record
from runner.tools.fleet.records import FAILED, NOT_BEGUN, OK, HostOutcome

CHANGED, WOULD_CHANGE = "changed", "would change"
NAMES = 12  # that a paragraph shows, ranges counted as one


class HostGroup(Record):
    """Hosts that have something in common. title: a state, or nothing; reason: why it failed;
    place: where that state is declared; changes: what it changed, or did before it failed; of_host:
    the host whose changes these are, where the others have other ones.
    """

    title: str
    hosts: tuple[str, ...]
    reason: str = ""
    place: Source | None = None
    changes: Any = None
    of_host: str = ""


def states(outcome: HostOutcome) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The results of a host, in the order in which they ran, by their keys in Salt's JSON."""
    answer = outcome.answer
    if isinstance(answer, dict):
        found = [item for item in answer.items() if _is_state(*item)]
        yield from sorted(found, key=lambda item: number(item[1].get("__run_num__")))


def number(value: object) -> float:
    """A number of an answer, 0 for what is none: a host may say anything.

    >>> number(12.5), number("soon"), number(10**400)
    (12.5, 0.0, 0.0)
    """
    return float(value) if isinstance(value, int | float) and abs(value) < 1e15 else 0.0


def _is_state(key: str, value: object) -> bool:
    return key.count("_|-") >= 3 and isinstance(value, dict) and "result" in value


def is_failure(state: Mapping[str, Any]) -> bool:
    """Return whether a state failed itself, not only for one that it needs."""
    return state["result"] is False and state.get("__state_ran__", True) is not False


def is_change(state: Mapping[str, Any]) -> bool:
    """Return whether a state changed something, or would."""
    return state["result"] is not False and bool(state.get("changes") or state["result"] is None)


def word_of(outcome: HostOutcome, dry: bool) -> str:
    """Return what became of a host, for the line that counts."""
    if outcome.kind != OK:
        return outcome.kind
    words = {_word(state, dry) for _, state in states(outcome) if is_change(state)}
    return next((word for word in (CHANGED, WOULD_CHANGE) if word in words), "unchanged")


def _word(state: Mapping[str, Any], dry: bool) -> str:
    """Return the outcome of a state with changes: a no-op state only would make them."""
    return WOULD_CHANGE if dry or state["result"] is None else CHANGED


def failures(
    outcomes: Iterable[HostOutcome], place: Callable[[str, str], Source | None]
) -> list[HostGroup]:
    """Return what failed, the same failing state with the same comment on several hosts once.
    place: where an SLS file declares an ID.
    """
    collected: dict[tuple[str, str], list[tuple[str, Mapping[str, Any]]]] = {}
    for outcome in outcomes:
        for title, reason, state in _failed(outcome):
            collected.setdefault((title, reason), []).append((outcome.host, state))
    groups = []
    for (title, reason), of in collected.items():
        done = [_lasting(state.get("changes")) for _, state in of]
        example = "" if all(one == done[0] for one in done) else of[0][0]
        hosts = tuple(host for host, _ in of)
        at = _place(of[0][1], place)
        groups.append(HostGroup(_title(title, of), hosts, reason, at, done[0], example))
    return groups


def _lasting(changes: Any) -> Any:
    """Changes without what differs from run to run."""
    if not isinstance(changes, dict):
        return None
    return {key: value for key, value in changes.items() if key != "pid" and value != ""}


def _failed(outcome: HostOutcome) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    """Yield what failed on a host, why, and its result if it is a state."""
    if outcome.kind == OK or outcome.kind == NOT_BEGUN:
        return
    failed = [(key, state) for key, state in states(outcome) if is_failure(state)]
    for key, state in failed:
        yield label(key, state, False), str(state.get("comment", "")).strip(), state
    if failed:
        return
    errors = outcome.answer if isinstance(outcome.answer, list) else ()
    if outcome.kind == FAILED and errors and all(isinstance(error, str) for error in errors):
        yield from (("", error, {}) for error in errors)
    else:
        yield "", outcome.message or outcome.kind, {}


def _title(title: str, of: Sequence[tuple[str, Mapping[str, Any]]]) -> str:
    """The title of a state, with its name where that is another than its ID, and one on all."""
    names = {str(state.get("name", "")) for _, state in of}
    name = names.pop() if len(names) == 1 else ""
    return f"{title} ({name})" if name not in ("", str(of[0][1].get("__id__"))) else title


def _place(state: Mapping[str, Any], place: Callable[[str, str], Source | None]) -> Source | None:
    if not state.get("__sls__"):
        return None
    return place(str(state["__sls__"]), str(state.get("__id__", "")))


def changes(
    outcomes: Iterable[HostOutcome], dry: bool
) -> list[tuple[tuple[str, tuple[str, ...]], list[HostGroup]]]:
    """Return what changed, or would: CHANGED or WOULD_CHANGE and hosts, and the changes that are
    the same on all of these.
    """
    collected: dict[tuple[str, str, str], list[tuple[str, Mapping[str, Any]]]] = {}
    for outcome in outcomes:
        for key, state in states(outcome):
            if is_change(state):
                same = json.dumps(state.get("changes"), sort_keys=True, default=str)
                group = _word(state, dry), label(key, state, False), same
                collected.setdefault(group, []).append((outcome.host, state))
    together: dict[tuple[str, tuple[str, ...]], list[HostGroup]] = {}
    for (word, title, _), of in collected.items():
        hosts = tuple(host for host, _ in of)
        found = of[0][1].get("changes")
        group_of = HostGroup(_title(title, of), hosts, "", None, found if found else {})
        together.setdefault((word, hosts), []).append(group_of)
    return list(together.items())


def answers(outcomes: Iterable[HostOutcome]) -> list[tuple[Any, tuple[str, ...]]]:
    """The answers of an execution function, equal ones once, and the hosts that gave them."""
    collected: dict[str, tuple[Any, list[str]]] = {}
    for outcome in outcomes:
        if outcome.kind == OK:
            same = json.dumps(outcome.answer, sort_keys=True, default=str)
            collected.setdefault(same, (outcome.answer, []))[1].append(outcome.host)
    return [(answer, tuple(hosts)) for answer, hosts in collected.values()]


def label(key: str, state: Mapping[str, Any], with_name: bool = True) -> str:
    """A state for people: function, ID, and its name where that is another and wanted."""
    module, *_, function = key.split("_|-")
    id, name = str(state.get("__id__", "")), str(state.get("name", ""))
    shown = f"{id} ({name})" if with_name and name not in ("", id) else id
    return f"{module}.{function}  {shown}".replace("\n", " ")


# ---------------------------------------------------------------- names of many hosts


def folded(names: Sequence[str]) -> list[str]:
    """Names, those that differ in a number as one range.

    >>> folded(["web1", "web2", "web3", "db1", "web7"])
    ['web[1-3,7]', 'db1']
    >>> folded(["n08.example", "n09.example", "n10.example"])
    ['n[08-10].example']
    """
    families: dict[tuple[str, str, int], list[int]] = {}
    for name in names:
        match = re.fullmatch(r"(.*?)(\d{1,9})(\D*)", name) or re.fullmatch(r"(.*)()()", name)
        assert match is not None, "the second pattern matches all names of one line"
        start, digits, end = match.groups()
        width = len(digits) if digits.startswith("0") or _has_padded(names, start, end) else 0
        families.setdefault((start, end, width if digits else -1), []).append(int(digits or 0))
    return [
        start if width < 0 else f"{start}{_ranges(numbers, width)}{end}"
        for (start, end, width), numbers in families.items()
    ]


def _has_padded(names: Sequence[str], start: str, end: str) -> bool:
    """Return whether names of a family have leading zeros."""
    return any(
        name.startswith(f"{start}0") and name.endswith(end) and name[len(start) + 1 :][:1].isdigit()
        for name in names
    )


def _ranges(numbers: Sequence[int], width: int) -> str:
    spans: list[list[int]] = []
    for number in sorted(set(numbers)):
        if spans and number == spans[-1][1] + 1:
            spans[-1][1] = number
        else:
            spans.append([number, number])
    texts = [
        f"{low:0{max(width, 0)}d}" + ("" if low == high else f"-{high:0{max(width, 0)}d}")
        for low, high in spans
    ]
    return f"[{','.join(texts)}]" if len(numbers) > 1 else texts[0]


def shown_names(names: Sequence[str], most: int = NAMES) -> str:
    """The names of hosts for a paragraph, and how many there are."""
    parts = folded(names)
    more = f", ... ({len(parts) - most} more)" if len(parts) > most else ""
    count = f" ({len(names)} machines)" if len(names) > 1 else ""
    return f"{', '.join(parts[:most])}{more}{count}"
