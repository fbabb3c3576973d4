"""file.serialize: scalars, merging and what cannot be read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from harness import apply

from runner.api import StateFailed
from states.file.serialize import serialize


@pytest.mark.parametrize(
    ("data", "kind", "text"),
    [
        ({"b": 1, "a": [None, "x: y"]}, "yaml", "a:\n- null\n- 'x: y'\nb: 1\n"),
        ("x", "yaml", "x\n"),
        (5, "yaml", "5\n"),
        ({"b": 1, "a": "é"}, "json", '{\n  "a": "é",\n  "b": 1\n}\n'),
    ],
)
def test_text(tmp_path: Path, data: Any, kind: str, text: str) -> None:
    apply(serialize, f"{tmp_path}/f", data, serializer=kind)
    assert (tmp_path / "f").read_text() == text


def test_data_that_is_there_already_is_not_written_again(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_text('{"x":2, "y": 1}')
    done = apply(serialize, str(path), {"x": 2}, serializer="json", merge_if_exists=True)
    assert (done.comment, done.changes) == (f"The file {path} is in the correct state", {})
    assert path.read_text() == '{"x":2, "y": 1}'


@pytest.mark.parametrize(("text", "message"), [("{", "Failed to deserialize"), ("[1]", "merges mappings only")])
def test_what_cannot_be_merged_stays(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "f"
    path.write_text(text)
    with pytest.raises(StateFailed, match=message):
        apply(serialize, str(path), {"x": 2}, serializer="json", merge_if_exists=True)
    assert path.read_text() == text
