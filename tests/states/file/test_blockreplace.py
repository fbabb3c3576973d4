# SPDX-License-Identifier: Apache-2.0
"""file.blockreplace: where the block begins, ends and goes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from harness import apply

from states.file.blockreplace import blockreplace

APPEND = {"append_if_not_found": True}


@pytest.mark.parametrize(
    ("before", "arguments", "after"),
    [
        ("1\n# B\nold\n# E\n2\n", {}, "1\n# B\nnew\n# E\n2\n"),
        ("1\n# B\nnew\n# E\n2\n", {}, None),
        ("# B\nold\nx # E rest\n", {}, "# B\nnew\n# E rest\n"),
        ("# B\nold\n# E", {}, "# B\nnew\n# E\n"),
        ("# B\nkept\n# B\nold\n# E\n", {}, "# B\nkept\n# B\nnew\n# E\n"),
        ("# B\n1\n# E\n# B\n2\n# E\n", {}, "# B\nnew\n# E\n# B\nnew\n# E\n"),
        ("1\r\n# B\r\nold\r\n# E\r\n", {}, "1\r\n# B\r\nnew\r\n# E\r\n"),
        ("1\r\n# B\r\nnew\r\n# E\r\n", {}, None),
        ("1\r\n", APPEND, "1\r\n# B\r\nnew\r\n# E\r\n"),
        ("1", APPEND, "1\n# B\nnew\n# E\n"),
        ("a\fb\n# B\n# E\n", {}, "a\fb\n# B\nnew\n# E\n"),
        ("1\n2", {"insert_after_match": "2"}, "1\n2\n# B\nnew\n# E\n"),
        ("1\n2\n", {"insert_before_match": "2"}, "1\n# B\nnew\n# E\n2\n"),
        ("# B\nold\n# E\n", {"append_newline": True, "content": "n\n"}, "# B\nn\n\n# E\n"),
        ("# B\nold\n# E\n", {"append_newline": False}, "# B\nnew# E\n"),
    ],
)
def test_blockreplace(
    tmp_path: Path, before: str, arguments: dict[str, Any], after: str | None
) -> None:
    path = tmp_path / "f"
    path.write_bytes(before.encode())
    done = apply(blockreplace, str(path), "# B", "# E", **{"content": "new", **arguments})
    assert path.read_bytes() == (before if after is None else after).encode()
    assert done.comment == (
        "No changes needed to be made" if after is None else "Changes were made"
    )
    assert (tmp_path / "f.bak").exists() == (after is not None)
