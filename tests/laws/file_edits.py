# SPDX-License-Identifier: Apache-2.0
"""How the functions of the file state that edit lines are tried."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from laws import Scenario, scenario

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


def edit(function: str, has: str | None = TEXT, /, **given: Any) -> Scenario:
    setup = text(has) if has is not None else (lambda tmp: None)
    base = M if function.startswith("blockreplace") else F
    return scenario(f"file.{function}", setup, **{**base, **given})


def pipe(tmp: Path) -> None:
    os.mkfifo(tmp / "f", 0o600)


def backups(tmp: Path) -> None:
    (tmp / "d").mkdir()
    for day in (1, 2, 3):
        path = tmp / "d" / f"b-2025100{day}"
        path.touch()
        os.utime(path, (day * 86400, day * 86400))


def keep(retain: dict[str, Any], **given: Any) -> Scenario:
    return scenario("file.retention_schedule name={tmp}/d", backups, retain=retain, **given)


SCENARIOS = [
    edit("comment regex=^alpha"),
    edit("comment regex=alpha char=// backup=false"),
    edit("comment regex=^gamma", plans=False),
    edit("comment regex=nothing", fails="Pattern not found"),
    edit("comment regex=nothing ignore_missing=true", plans=False),
    edit("comment regex=^alpha", None, fails="file not found"),
    edit("comment regex=(bad", fails="is not a regular expression"),
    edit("uncomment regex=gamma backup=.old"),
    edit("uncomment regex=x char=//", "//x\n"),
    edit("uncomment regex=alpha", plans=False),
    edit("uncomment regex=zeta", fails="Pattern not found"),
    edit("blockreplace content=new", BLOCK),
    edit("blockreplace content=old", BLOCK, plans=False),
    edit("blockreplace content=n append_newline=true backup=false show_changes=false", BLOCK),
    edit("blockreplace content=new append_if_not_found=true", "x"),
    edit("blockreplace content=new prepend_if_not_found=true", "x"),
    edit("blockreplace content=n insert_before_match=^b", "a\nb\n"),
    edit("blockreplace content=n insert_after_match=^a", "a\nb\n"),
    edit(
        "blockreplace source=salt://src template=jinja context='{place: here}'"
        " defaults='{place: 1}'",
        BLOCK,
    ),
    edit(
        "blockreplace sources=[salt://src]", BLOCK, source_hashes=["0" * 32], fails="expected hash"
    ),
    edit("blockreplace source=salt://src", BLOCK, source_hash="0" * 32, fails="expected hash"),
    edit("append", "", sources=[{"salt://src": "0" * 32}], fails="expected hash"),
    edit("blockreplace", "x\n", fails="Markers were not found"),
    edit("blockreplace", "# BEGIN\n", fails="has '# END' in it"),
    edit(
        "blockreplace append_if_not_found=true prepend_if_not_found=true",
        BLOCK,
        fails="Only one of",
    ),
    edit("keyvalue key=a value=2", "a=1\n"),
    edit("keyvalue key=a value=1", "a=1\n", plans=False),
    edit("keyvalue key=a value=2 search_only=true", "a=1\n", plans=False),
    edit("keyvalue key_values='{b: 3, c: 4}' uncomment=# append_if_not_found=true", "a=1\n#b=2\n"),
    edit(
        "keyvalue key=z separator=': ' prepend_if_not_found=true show_changes=false",
        "a: 1\n",
        value="1",
    ),
    edit("keyvalue key=a value=X key_ignore_case=true count=-1", "A=1\nA=1\n"),
    edit("keyvalue key=a value=1 count=0 append_if_not_found=true", "b=1\n", plans=False),
    edit("keyvalue key=a value_ignore_case=true", "a=YES\n", value="yes", plans=False),
    edit("keyvalue key=a ignore_if_missing=true", None, value="yes", plans=False),
    edit("keyvalue key=a", None, value="yes", fails="unable to open"),
    edit("keyvalue key=a create_if_missing=true append_if_not_found=true", None, value="yes"),
    edit("keyvalue", "", fails="not supplied"),
    edit("line mode=insert content=new", after="alpha"),
    edit("line mode=insert content=new before=#gamma show_changes=false"),
    Scenario("file.line mode=insert content=x location=end create=true", F),
    edit("line mode=replace content=ALPHA match=alpha backup=true"),
    edit("line mode=delete match=gamma"),
    edit("line mode=delete match=a"),
    edit("line mode=ensure content=new indent=false", after="alpha"),
    edit("line mode=ensure content=alpha before='  # beta' quiet=true", plans=False),
    edit("line mode=ensure content=x user=0 group=0", after="alpha", file_mode="0600"),
    edit("line mode=insert content=x location=middle", fails="neither start nor end"),
    edit("line mode=ensure content=new", after="zzz", fails="Wrong conditions"),
    edit("line mode=bogus content=new", fails="Unknown mode"),
    edit("line content=new", fails="Mode was not defined"),
    edit("line mode=delete content=new", None, fails="file not found"),
    Scenario(
        "file.line mode=ensure content=x after=y create=true user=0 group=0",
        {**F, "file_mode": "0600"},
        fails="Wrong conditions",
    ),
    Scenario("file.mknod ntype=p user=0 group=0", {**F, "mode": "0640"}),
    Scenario("file.mknod ntype=p", F, pipe, plans=False),
    Scenario("file.mknod ntype=p", {**F, "mode": "0640"}, pipe),
    Scenario("file.mknod ntype=c major=1 minor=3", F, pipe, fails="cannot be overwritten"),
    Scenario("file.mknod name={tmp}/no/f ntype=p", fails="does not exist"),
    Scenario("file.mknod name=/srv/null ntype=c major=1 minor=3", machine=True),
    Scenario("file.mknod name=/srv/loop ntype=b major=7 minor=9", {"mode": "0660"}, machine=True),
    keep({"most_recent": 1}),
    keep({"first_of_day": "all"}, plans=False),
    keep({"first_of_month": 1}, strptime_format="b-%Y%m%d", timezone="Europe/Berlin"),
    keep({}, fails="keeps nothing"),
    keep({"first_of_moon": 1}, fails="is not a period"),
    Scenario("file.accumulated name=a filename={tmp}/f text=[one]", plans=False),
    edit("serialize dataset='{a: [1,null]}' makedirs=true", None, mode="0600", dir_mode="0700"),
    edit("serialize dataset='{a: 1}'", "a: 1\n", plans=False),
    edit(
        "serialize dataset='{b: 2}' serializer=json merge_if_exists=true backup=minion", '{"a": 1}'
    ),
    edit(
        "serialize dataset='{a: {b: 1}}' formatter=configparser",
        None,
        serializer_opts=[{"delimiters": [":"]}],
    ),
    edit(
        "serialize dataset='{b: 1}' serializer=json show_changes=false",
        "{}",
        deserializer_opts={"parse_int": float},
    ),
    edit("serialize serializer=plist encoding=utf-8 encoding_errors=replace", None, dataset=(1, 2)),
    edit("serialize dataset='{a: 1}' create=false", None, plans=False),
    edit("serialize", None, fails="was defined"),
    edit("serialize dataset='{a: 1}' dataset_pillar=x", None, fails="Only one of"),
    edit("serialize dataset='{a: 1}' serializer=nope", None, fails="could not be found"),
    edit(
        "serialize dataset='{a: 1}' serializer=json merge_if_exists=true",
        "{",
        fails="Failed to deserialize",
    ),
    edit(
        "serialize dataset='{a: 1}' user=0 group=0 check_cmd='test -s' tmp_dir=/tmp tmp_ext=.yaml",
        None,
    ),
]
