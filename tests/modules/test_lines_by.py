# SPDX-License-Identifier: Apache-2.0
"""Lines of a file by what they are about."""

from __future__ import annotations

import random

from modules._texts.lines import LinesBy, split


def test_versions_of_a_text_are_told_as_each_by_itself() -> None:
    asked: list[str] = []

    def keys(line: str) -> list[str]:
        asked.append(line)
        return line.split("=")[0].split(",")

    lines_by, rng, text = LinesBy(keys), random.Random(1), ""
    for _ in range(400):
        line = f"{rng.choice('abc')},{rng.choice('def')}={rng.random()}"
        match rng.randrange(6):
            case 0:
                text = text.replace("a", "b", 1)
            case 1:
                text = text[: rng.randrange(len(text) + 1)]  # perhaps in the middle of a line
            case 2:
                text += line
            case _:
                text += f"{line}\n"
        found = lines_by(text)
        assert found == LinesBy(keys)(text)
        assert all(each in split(text) for lines in found.values() for each in lines)
    lines_by("a=1\n" * 50)
    asked.clear()
    lines_by("a=1\n" * 50 + "b=2\n")
    assert asked == ["b=2"]
    lines_by("a=1\nb=2")  # without an end, as editors leave it
    asked.clear()
    lines_by("a=1\nb=2")
    assert asked == []
