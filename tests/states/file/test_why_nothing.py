# SPDX-License-Identifier: Apache-2.0
"""Edits that find nothing to do where something was meant say why."""

from __future__ import annotations

from pathlib import Path

import pytest
from harness import HarnessHere, apply

from modules.file import large_texts
from runner.api import StateFailed
from states.file.comment import comment
from states.file.keyvalue import keyvalue
from states.file.replace import replace


@pytest.mark.parametrize("largest", [1 << 20, 1])
def test_lines_with_carriage_returns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, largest: int
) -> None:
    monkeypatch.setattr(large_texts, "LARGE", largest)
    path, here = tmp_path / "f", HarnessHere()
    path.write_bytes(b"a = 1\r\nb = 2\r\n")
    apply(replace, str(path), current=here, pattern="^a = 1$", repl="a = 9")
    assert [text for text in here.warnings if r"write `\r?$`" in text]
    here.warnings.clear()
    apply(replace, str(path), current=here, pattern="^c = 1$", repl="a = 9")
    apply(replace, str(path), current=here, pattern=r"^a = (.)\r?$", repl="a = 9")
    assert not here.warnings
    assert path.read_bytes().startswith(b"a = 9")
    with pytest.raises(StateFailed, match="Pattern not found"):
        apply(comment, str(path), current=here, regex="^b = 2$|c$")
    assert [text for text in here.warnings if r"write `\r?$`" in text]


def test_a_key_that_nobody_adds(tmp_path: Path) -> None:
    path, here = tmp_path / "f", HarnessHere()
    path.write_text("a=1\n")
    apply(keyvalue, str(path), current=here, key_values={"a": 1, "b": 2, "c": 3})
    assert here.warnings == [f"{path} has no b, c: append_if_not_found adds what is missing"]
    here.warnings.clear()
    apply(keyvalue, str(path), current=here, key="b", value=1, search_only=True)
    apply(keyvalue, str(path), current=here, key="b", value=1, append_if_not_found=True)
    assert not here.warnings
