# SPDX-License-Identifier: Apache-2.0
"""Mistakes that people make, and what a good message says: the data in tests/mistakes, for
test_mistakes.py.
"""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

HERE = (
    "«"  # stands in a text where the message has to point; it is taken out before the text is used
)


@dataclass(frozen=True)
class Mistake:
    """One mistake.

    files: path below the tree's folder ("web.sls" is states/web.sls, "pillar/x.sls", "runner.yaml")
    -> its text, with one HERE. cause, cure: words of the message and of its hint, in any order and
    case. also: words that stand anywhere in what a person sees (the second place of a conflict, the
    value that a loop had). config: more configuration. names: what is checked; nothing for the
    whole tree. check_only: what a run does not refuse.
    """

    name: str
    files: str | Mapping[str, str | bytes]
    cause: str
    cure: str
    also: tuple[str, ...] = ()
    config: Mapping[str, object] = field(default_factory=dict)
    names: tuple[str, ...] = ("web",)
    check_only: bool = False
    column: bool = True  # whether the column is known

    def written(self, folder: Path) -> tuple[str, int, int]:
        """Write the tree; the place where the message has to point."""
        place = ("", 0, 0)
        files = {"web.sls": self.files} if isinstance(self.files, str) else self.files
        for name, content in files.items():
            path = folder / (
                name if name.startswith("pillar/") or name == "runner.yaml" else f"states/{name}"
            )
            path.parent.mkdir(parents=True, exist_ok=True)
            data = content if isinstance(content, bytes) else content.encode()
            before, mark, after = data.partition(HERE.encode())
            if mark:
                line = before.rpartition(b"\n")[2].decode("utf-8", "replace").removeprefix("\ufeff")
                place = (str(path), before.count(b"\n") + 1, len(line) + 1)
            path.write_bytes(before + after)
        return place

    def configuration(self, folder: Path) -> Path:
        """The configuration file; its text is the case's own where that has one."""
        path = folder / "runner.yaml"
        usual = {
            "file_roots": {"base": ["states"]},
            "pillar_roots": {"base": ["pillar"]},
            "id": "m1",
            "grains": {},
        }
        if not path.exists():
            path.write_text(json.dumps({**usual, **self.config}))
        return path


def all_mistakes() -> list[Mistake]:
    """Those of every file in tests/mistakes."""
    found: list[Mistake] = []
    for path in sorted((Path(__file__).parent.parent / "mistakes").glob("*.py")):
        spec = importlib.util.spec_from_file_location(f"mistakes_{path.stem}", path)
        assert spec and spec.loader
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        found += module.MISTAKES
    return found
