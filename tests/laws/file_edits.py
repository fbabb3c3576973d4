# SPDX-License-Identifier: Apache-2.0
"""How the functions of the file state that edit lines are tried."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from laws import Scenario

TEXT = "alpha\n  # beta\n#gamma\n  delta=1\nbeta\n"
BLOCK = "one\n# BEGIN\nold\n# END\nlast\n"
F = {"name": "{tmp}/f"}
M = {**F, "marker_start": "# BEGIN", "marker_end": "# END"}


def text(content: str = TEXT) -> Callable[[Path], None]:
    def setup(tmp: Path) -> None:
        (tmp / "f").write_text(content)
        (tmp / "tree").mkdir()
        (tmp / "tree/src").write_text("from {{ place }}\n")

    return setup


def edit(
    function: str,
    has: str | None = TEXT,
    /,
    plans: bool = True,
    fails: str | None = None,
    **args: Any,
) -> Scenario:
    setup = text(has) if has is not None else (lambda tmp: None)
    base = M if function == "blockreplace" else F
    return Scenario(
        f"file.{function}", {**base, **args}, setup, plans=plans and not fails, fails=fails
    )


def pipe(tmp: Path) -> None:
    os.mkfifo(tmp / "f", 0o600)


def backups(tmp: Path) -> None:
    (tmp / "d").mkdir()
    for day in (1, 2, 3):
        path = tmp / "d" / f"b-2025100{day}"
        path.touch()
        os.utime(path, (day * 86400, day * 86400))


def keep(
    retain: dict[str, Any], plans: bool = True, fails: str | None = None, **args: Any
) -> Scenario:
    return Scenario(
        "file.retention_schedule",
        {"name": "{tmp}/d", "retain": retain, **args},
        backups,
        plans=plans and not fails,
        fails=fails,
    )


SCENARIOS = [
    edit("comment", regex="^alpha"),
    edit("comment", regex="alpha", char="//", backup=False),
    edit("comment", regex="^gamma", plans=False),
    edit("comment", regex="nothing", fails="Pattern not found"),
    edit("comment", regex="nothing", ignore_missing=True, plans=False),
    edit("comment", None, regex="^alpha", fails="file not found"),
    edit("comment", regex="(bad", fails="is not a regular expression"),
    edit("uncomment", regex="gamma", backup=".old"),
    edit("uncomment", "//x\n", regex="x", char="//"),
    edit("uncomment", regex="alpha", plans=False),
    edit("uncomment", regex="zeta", fails="Pattern not found"),
    edit("blockreplace", BLOCK, content="new"),
    edit("blockreplace", BLOCK, content="old", plans=False),
    edit("blockreplace", BLOCK, content="n", append_newline=True, backup=False, show_changes=False),
    edit("blockreplace", "x", content="new", append_if_not_found=True),
    edit("blockreplace", "x", content="new", prepend_if_not_found=True),
    edit("blockreplace", "a\nb\n", content="n", insert_before_match="^b"),
    edit("blockreplace", "a\nb\n", content="n", insert_after_match="^a"),
    edit(
        "blockreplace",
        BLOCK,
        source="salt://src",
        template="jinja",
        context={"place": "here"},
        defaults={"place": 1},
    ),
    edit(
        "blockreplace",
        BLOCK,
        sources=["salt://src"],
        source_hashes=["0" * 32],
        fails="expected hash",
    ),
    edit("blockreplace", BLOCK, source="salt://src", source_hash="0" * 32, fails="expected hash"),
    edit("append", "", sources=[{"salt://src": "0" * 32}], fails="expected hash"),
    edit("blockreplace", "x\n", fails="Markers were not found"),
    edit("blockreplace", "# BEGIN\n", fails="Unterminated"),
    edit(
        "blockreplace",
        BLOCK,
        append_if_not_found=True,
        prepend_if_not_found=True,
        fails="Only one of",
    ),
    edit("keyvalue", "a=1\n", key="a", value=2),
    edit("keyvalue", "a=1\n", key="a", value=1, plans=False),
    edit("keyvalue", "a=1\n", key="a", value=2, search_only=True, plans=False),
    edit(
        "keyvalue",
        "a=1\n#b=2\n",
        key_values={"b": 3, "c": 4},
        uncomment="#",
        append_if_not_found=True,
    ),
    edit(
        "keyvalue",
        "a: 1\n",
        key="z",
        value="1",
        separator=": ",
        prepend_if_not_found=True,
        show_changes=False,
    ),
    edit("keyvalue", "A=1\nA=1\n", key="a", value="X", key_ignore_case=True, count=-1),
    edit("keyvalue", "a=YES\n", key="a", value="yes", value_ignore_case=True, plans=False),
    edit("keyvalue", None, key="a", value="yes", ignore_if_missing=True, plans=False),
    edit("keyvalue", None, key="a", value="yes", fails="unable to open"),
    edit("keyvalue", None, key="a", value="yes", create_if_missing=True, append_if_not_found=True),
    edit("keyvalue", "", fails="not supplied"),
    edit("line", mode="insert", content="new", after="alpha"),
    edit("line", mode="insert", content="new", before="#gamma", show_changes=False),
    Scenario(
        "file.line", {**F, "mode": "insert", "content": "x", "location": "end", "create": True}
    ),
    edit("line", mode="replace", content="ALPHA", match="alpha", backup=True),
    edit("line", mode="delete", match="gamma"),
    edit("line", mode="ensure", content="new", after="alpha", indent=False),
    edit("line", mode="ensure", content="alpha", before="  # beta", quiet=True, plans=False),
    edit("line", mode="ensure", content="x", after="alpha", user=0, group=0, file_mode="0600"),
    edit("line", mode="insert", content="x", location="middle", fails="neither start nor end"),
    edit("line", mode="ensure", content="new", after="zzz", fails="Wrong conditions"),
    edit("line", mode="bogus", content="new", fails="Unknown mode"),
    edit("line", content="new", fails="Mode was not defined"),
    edit("line", None, mode="delete", content="new", fails="file not found"),
    Scenario(
        "file.line",
        {
            **F,
            "mode": "ensure",
            "content": "x",
            "after": "y",
            "create": True,
            "user": 0,
            "group": 0,
            "file_mode": "0600",
        },
        fails="Wrong conditions",
    ),
    Scenario("file.mknod", {**F, "ntype": "p", "mode": "0640", "user": 0, "group": 0}),
    Scenario("file.mknod", {**F, "ntype": "p"}, pipe, plans=False),
    Scenario("file.mknod", {**F, "ntype": "p", "mode": "0640"}, pipe),
    Scenario(
        "file.mknod",
        {**F, "ntype": "c", "major": 1, "minor": 3},
        pipe,
        fails="cannot be overwritten",
    ),
    Scenario("file.mknod", {"name": "{tmp}/no/f", "ntype": "p"}, fails="does not exist"),
    Scenario(
        "file.mknod", {"name": "/srv/null", "ntype": "c", "major": 1, "minor": 3}, machine=True
    ),
    Scenario(
        "file.mknod",
        {"name": "/srv/loop", "ntype": "b", "major": 7, "minor": 9, "mode": "0660"},
        machine=True,
    ),
    keep({"most_recent": 1}),
    keep({"first_of_day": "all"}, plans=False),
    keep({"first_of_month": 1}, strptime_format="b-%Y%m%d", timezone="Europe/Berlin"),
    keep({}, fails="keeps nothing"),
    keep({"first_of_moon": 1}, fails="is not a period"),
    Scenario(
        "file.accumulated", {"name": "a", "filename": "{tmp}/f", "text": ["one"]}, plans=False
    ),
    edit("serialize", None, dataset={"a": [1, None]}, mode="0600", makedirs=True, dir_mode="0700"),
    edit("serialize", "a: 1\n", dataset={"a": 1}, plans=False),
    edit(
        "serialize",
        '{"a": 1}',
        dataset={"b": 2},
        serializer="json",
        merge_if_exists=True,
        backup="minion",
    ),
    edit(
        "serialize",
        None,
        dataset={"a": {"b": 1}},
        formatter="configparser",
        serializer_opts=[{"delimiters": [":"]}],
    ),
    edit(
        "serialize",
        "{}",
        dataset={"b": 1},
        serializer="json",
        deserializer_opts={"parse_int": float},
        show_changes=False,
    ),
    edit(
        "serialize",
        None,
        dataset=(1, 2),
        serializer="plist",
        encoding="utf-8",
        encoding_errors="replace",
    ),
    edit("serialize", None, dataset={"a": 1}, create=False, plans=False),
    edit("serialize", None, fails="was defined"),
    edit("serialize", None, dataset={"a": 1}, dataset_pillar="x", fails="Only one of"),
    edit("serialize", None, dataset={"a": 1}, serializer="nope", fails="could not be found"),
    edit(
        "serialize",
        "{",
        dataset={"a": 1},
        serializer="json",
        merge_if_exists=True,
        fails="Failed to deserialize",
    ),
    edit(
        "serialize",
        None,
        dataset={"a": 1},
        user=0,
        group=0,
        check_cmd="test -s",
        tmp_dir="/tmp",
        tmp_ext=".yaml",
    ),
]
