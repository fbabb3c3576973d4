# SPDX-License-Identifier: Apache-2.0
"""Lines of crontabs and of fstab, options of ini files: what is written is read as it was, and
everything else stays as it is.
"""

from __future__ import annotations

import configparser
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import properties as properties
import pytest
from harness import HarnessHere
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st

from modules import cron, ini, mount
from runner.api import changes_allowed, running

# spaces of Unicode end no field, no line and no value
LETTERS = st.sampled_from("ab0#\\%=@*:;'\"[] \t\xa0\u2003\u3000é")
WORD = st.text(LETTERS, min_size=1, max_size=6)
ONE_FOLDER = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture(autouse=True, scope="module")
def here() -> Iterator[None]:
    with running(HarnessHere()), changes_allowed():
        yield


# ---------------------------------------------------------------- crontabs

TIMES = st.lists(st.text("0123*/,-", min_size=1, max_size=3), min_size=5, max_size=5).map(" ".join)
COMMANDS = WORD.filter(lambda text: text == text.strip(" \t"))
REMARKS = WORD.map(cron.comment_as_read).filter(lambda text: cron.MARK not in text)
ENTRIES = st.builds(
    cron.CronEntry,
    time=TIMES | st.sampled_from(["@daily", "@reboot"]),
    command=COMMANDS,
    identifier=st.just("") | st.text("abc-1", min_size=1, max_size=4),
    comment=st.just("") | REMARKS,
    commented=st.booleans(),
)


@given(st.lists(ENTRIES, max_size=3))
@example([cron.CronEntry("@daily", "true\xa0"), cron.CronEntry("@daily", "x", comment="\xa0#")])
def test_entries_of_a_crontab_are_read_as_they_were_written(entries: list[cron.CronEntry]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        lines = [cron.HEADER, *(line for entry in entries for line in entry.lines())]
        patch.setattr(cron, "read", lambda user: tuple(cron.split("\n".join(lines))))
        assert [entry for _, _, entry in cron.entries("x")] == entries
        for start, end, entry in cron.entries("x"):
            assert lines[start:end] == entry.lines()


# ---------------------------------------------------------------- fstab

FIELDS = st.builds(
    mount.FstabEntry,
    device=WORD,
    name=WORD,
    fstype=st.sampled_from(["ext4", "none"]),
    opts=st.sampled_from([("defaults",), ("ro", "noatime")])
    | WORD.filter(lambda word: "," not in word).map(lambda word: (word,)),
    dump=st.sampled_from("01"),
    pass_num=st.sampled_from("012"),
)


@settings(ONE_FOLDER, max_examples=50)
@given(st.lists(FIELDS, max_size=3, unique_by=lambda entry: entry.name), FIELDS)
@example([], mount.FstabEntry("/dev/sdb1", "/a\xa0b", "ext4", ("x-gvfs-name=My Disk",)))
def test_lines_of_fstab_are_read_as_they_were_written(
    tmp_path: Path, others: list[mount.FstabEntry], entry: mount.FstabEntry
) -> None:
    assume(entry.name not in [other.name for other in others])
    path = tmp_path / "fstab"
    path.write_text("# <file system>\n\n \t\n")
    for other in others:
        mount.put_entry(other, str(path))
    before = path.read_bytes()
    mount.put_entry(entry, str(path))
    assert mount.entries(str(path)) == [*others, entry]
    mount.drop_entry(entry.name, config=str(path))
    assert path.read_bytes() == before


# ---------------------------------------------------------------- ini files

NAMES = st.text("abc.-", min_size=1, max_size=3).filter(lambda text: text[0].isalpha())
VALUES = st.text(LETTERS, max_size=6).filter(lambda text: text == text.strip())
SECTIONS = st.dictionaries(NAMES, st.dictionaries(NAMES, VALUES, max_size=3), max_size=3)
SEPARATORS = st.sampled_from(["=", ":"])


@ONE_FOLDER
@given(SECTIONS, SECTIONS, SEPARATORS, st.booleans())
def test_options_are_read_as_they_were_written(
    tmp_path: Path, old: dict[str, Any], new: dict[str, Any], separator: str, spaces: bool
) -> None:
    text = ini.with_options("# ours\n", {"first": {"x": "1"}, **old}, separator, spaces)
    made = ini.with_options(text, new, separator, spaces)
    assert ini.with_options(made, new, separator, spaces) == made
    path = tmp_path / "x.ini"
    path.write_text(made)
    expected: dict[str, Any] = {"first": {"x": "1"}}
    for section in (*old, *new):
        both = {**old.get(section, {}), **new.get(section, {})}
        if both:
            expected[section] = {**expected.get(section, {}), **both}
    assert ini.get_ini(str(path), separator) == expected
    reader = configparser.RawConfigParser(delimiters=separator, strict=True)
    reader.optionxform = str  # type: ignore[assignment,method-assign]
    reader.read_string(made)
    assert {name: dict(reader[name]) for name in reader.sections()} == expected
    path.write_text(ini.without_options(made, new, separator))
    for section, options in new.items():
        expected[section] = {o: v for o, v in expected.get(section, {}).items() if o not in options}
    left = ini.get_ini(str(path), separator)
    assert {name: options for name, options in left.items() if options} == {
        name: options for name, options in expected.items() if options
    }
