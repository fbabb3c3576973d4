# SPDX-License-Identifier: Apache-2.0
"""Lines that a file has to have: file.append, file.prepend and file.keyvalue as whole states, on
plain texts.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import properties as properties
from harness import HarnessHere, apply, look
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from runner.api import Plan
from states.file.append import append
from states.file.keyvalue import keyvalue
from states.file.prepend import prepend

HERE = HarnessHere()
FEW = settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
TEXT = st.text("ab# \t\n", max_size=8)
CHUNKS = st.lists(TEXT, min_size=1, max_size=3)


def after(tmp: Path, state: Callable[..., Any], old: str, **given: Any) -> str:
    """What a state makes of a text; a second run has nothing to do."""
    path = tmp / "f"
    path.write_text(old)
    apply(state, str(path), current=HERE, **given)
    again = look(state, str(path), current=HERE, **given)
    assert not isinstance(again, Plan), f"{path.read_text()!r} has not converged: {again}"
    return path.read_text()


def breaks(text: str) -> set[int]:
    """Where white space stands, counted in what is none."""
    return {len("".join(text[:at].split())) for at in range(len(text)) if text[at].isspace()}


def has(text: str, chunk: str) -> bool:
    """Whether some lines are the chunk, but for white space between its words."""
    lines, bare = text.split("\n"), "".join(chunk.split())
    words = {0, len(bare)}
    for word in re.findall(r"\w+|[^\w\s]", chunk):
        words.add(max(at for at in words if at < len(bare)) + len(word) if bare else 0)
    parts = ("\n".join(lines[i:j]) for i in range(len(lines)) for j in range(i + 1, len(lines) + 1))
    return any("".join(part.split()) == bare and breaks(part) <= words for part in parts)


def lacking(old: str, chunks: list[str]) -> str:
    lines = [line for chunk in chunks if not has(old, chunk) for line in chunk.splitlines()]
    return "".join(f"{line}\n" for line in lines)


@FEW
@given(TEXT, CHUNKS)
def test_texts_that_are_lacking_come_to_the_end_or_the_start(
    tmp_path: Path, old: str, chunks: list[str]
) -> None:
    new = lacking(old, chunks)
    gap = "\n" if new and old and not old.endswith("\n") else ""
    assert after(tmp_path, append, old, text=chunks) == old + gap + new
    assert after(tmp_path, prepend, old, text=chunks) == new + old


@FEW
@given(TEXT, CHUNKS)
def test_a_header_is_what_a_file_begins_with(tmp_path: Path, old: str, chunks: list[str]) -> None:
    head = [line for chunk in chunks for line in chunk.splitlines()]
    there = old.splitlines()[: len(head)] == head
    new = "" if there else "".join(f"{line}\n" for line in head)
    assert after(tmp_path, prepend, old, text=chunks, header=True) == new + old


SEPARATORS = st.sampled_from(["=", " ", ": "])
KEYS = st.text("aB# =", min_size=1, max_size=3).filter(lambda text: text == text.strip())
LINE = st.builds(
    "{}{}{}{}".format,
    st.sampled_from(["", "", "#", " ", "# "]),
    KEYS,
    SEPARATORS | st.just(""),
    st.sampled_from(["", "1", " 1", "2 ", "1=2"]),
)
SETTINGS = st.dictionaries(KEYS, st.sampled_from([1, 2, "1", "a b", ""]), min_size=1, max_size=2)


def is_setting(line: str, key: str, separator: str) -> bool:
    return line.startswith(f"{key}{separator}")


@FEW
@given(
    st.lists(LINE, max_size=5),
    SETTINGS,
    SEPARATORS,
    st.sampled_from([None, "#", "# "]),
    st.sampled_from([-1, 1, 2]),
    st.sampled_from(["", "append_if_not_found", "prepend_if_not_found"]),
    st.booleans(),
)
def test_keys_have_their_values_and_other_lines_stay(
    tmp_path: Path,
    lines: list[str],
    wanted: dict[str, Any],
    separator: str,
    sign: str | None,
    count: int,
    where: str,
    prune: bool,
) -> None:
    assume(
        not any(
            is_setting(f"{one}{separator}", other, separator)
            for one in wanted
            for other in wanted
            if one != other
        )
    )
    given: dict[str, Any] = {where: True} if where else {}
    given |= {"key_values": wanted, "separator": separator, "uncomment": sign}
    given |= {"count": count, "prune": prune}
    old = "".join(f"{line}\n" for line in lines)
    made = after(tmp_path, keyvalue, old, **given).splitlines()
    for key, value in wanted.items():
        there = [line for line in made if is_setting(line, key, separator)]
        assert all(line[len(key + separator) :].strip() == str(value) for line in there)
        assert there or not where, "what was not there has been added"
        assert len(there) <= count or count < 0

    def others(all_lines: list[str]) -> list[str]:
        signs = f" \t{sign or ''}"
        bare = [line.lstrip(signs) for line in all_lines]
        return [
            line
            for line, text in zip(all_lines, bare, strict=True)
            if not any(is_setting(each, key, separator) for each in (line, text) for key in wanted)
        ]

    assert others(made) == ([] if prune else others(lines))
