# SPDX-License-Identifier: Apache-2.0
"""Files of lines that are too large to be held are edited by the lines that an edit asks for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import properties as properties
import pytest
from command import Machine
from harness import HarnessHere, apply
from hypothesis import given, settings
from hypothesis import strategies as st

from modules import _paths, file, hosts, ini, kmod, ssh, sysctl
from modules.file import large_texts
from modules.file._contents import limits, streamed
from modules.firewalls import ufw
from modules.ssh import keys, known_hosts
from runner.api import StateFailed, running
from states import host
from states.file.serialize import serialize

WANTED: list[tuple[dict[str, Any], str]] = [
    ({"a": {"b": "c"}}, "="),
    ({"a": {"x": "y\n z", "b": None}}, "="),
    ({"b": "1", "c": {"d": 1}}, "="),
    ({"a": {"b": "c"}}, ":"),
    ({"a": {}, "b": {"x": "2"}}, "="),
]
LINES = (
    "[a]|[a]|[ a ]|[b]|[c]|b = c|b=d|b: c|x = y|x = y|  go on|  go on|  go on|b|||# b|  |é = [a]"
)


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[pytest.MonkeyPatch]:
    """Blocks of a few characters."""
    monkeypatch.setattr(large_texts, "BLOCK", 12)
    monkeypatch.setattr(streamed, "PIECE", 5)
    here = HarnessHere(tmp_path)
    with running(here):
        yield monkeypatch


def edits(path: str, wanted: dict[str, Any], separator: str) -> Iterator[object]:
    """What an edit looks at, and what each makes of a file."""
    names = [name for name, options in wanted.items() if isinstance(options, dict)]
    yield ini.get_some(path, wanted, separator)
    yield ini.get_sections(path, names, separator)
    yield ini.present_sections(path, names)
    options = {name: [*wanted[name]] if name in names else None for name in wanted}
    unwanted = {name if name in names else "": options[name] or [name] for name in wanted}
    for about, edit in (
        (wanted, lambda text: ini.with_options(text, wanted, separator, True)),
        (options, lambda text: ini.without_options(text, unwanted, separator)),
        ({}, lambda text: ini.with_sections(text, ["new"])),
        (dict.fromkeys(names, ini.ALL), lambda text: ini.without_sections(text, names)),
    ):
        new = edit(ini.text_about(path, about, separator, None))
        yield file.whole(file.contents_of(path, new)).decode()


@pytest.mark.parametrize("number", range(len(WANTED)))
def test_an_abridged_ini_file_becomes_what_the_whole_one_does(
    small: pytest.MonkeyPatch, tmp_path: Path, number: int
) -> None:
    path = tmp_path / "f"

    @settings(max_examples=60)
    @given(
        lines=st.lists(st.sampled_from(LINES.split("|"))),
        ends=st.booleans(),
        line_end=st.sampled_from(["\n", "\r\n"]),
    )
    def compare(lines: list[str], ends: bool, line_end: str) -> None:
        path.write_bytes((line_end.join(lines) + line_end * ends).encode())
        found = []
        for most in (1 << 30, 1):
            small.setattr(large_texts, "LARGE", most)
            small.setattr(limits, "limit_of_tables", lambda: 1 << 30)
            found.append([*edits(str(path), *WANTED[number])])
        assert found[0] == found[1]

    compare()


def test_a_large_ini_file_is_edited_by_a_run(machine: Machine) -> None:
    path, filler = machine.folder / "f", f"[s]\n{'x' * 58} = 1\n" * 150_000
    path.write_text(f"[a]\nb = 1\n\n{filler}[c]\n")
    path.chmod(0o640)
    machine.write(
        a="{tmp}/f:\n  ini.options_present:\n    - sections: {a: {d: 2}, c: {e: 3}}\n"
        "again:\n  ini.options_absent:\n    - name: {tmp}/f\n    - sections: {a: [b]}\n"
    )
    before = path.read_text()
    planned = machine.results("sls", "a", "--test")
    assert planned[f"{machine.folder}/f"]["result"] is None
    assert planned["again"]["result"] is None  # nobody foresees what the other one leaves
    assert path.read_text() == before
    changes = machine.results("sls", "a")["again"]["changes"]
    assert changes == {"a": {"b": "1"}}
    assert path.read_text() == f"[a]\nd = 2\n\n{filler}[c]\ne = 3\n"
    assert path.stat().st_mode & 0o777 == 0o640
    assert not machine.results("sls", "a", "--test")["again"]["changes"]
    machine("undo")
    assert path.read_text() == before


def test_too_many_lines_for_an_edit_are_refused(small: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_text("[a]\n" + "b = c\n" * 20 + "[b]\n")
    small.setattr(large_texts, "LARGE", 20)
    small.setattr(limits, "TABLE", 64)
    assert ini.get_some(str(path), {"b": {"x": 1}}) == {"b": {}}
    with pytest.raises(StateFailed, match=r"at most 6\.104e-05 MiB are read; `edit_size_limit`"):
        ini.get_some(str(path), {"a": {"b": 1}})
    with pytest.raises(StateFailed, match=r"it has 0\.0 MiB, at most"):
        ini.get_ini(str(path))


def test_a_file_that_changes_between_is_not_mixed(
    small: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path = tmp_path / "f"
    path.write_text("first\nsecond\nthird\nlast\n")
    small.setattr(large_texts, "LARGE", 20)
    text = file.text_to_edit(str(path), ["third"])
    assert text.count("\n") == 4
    path.write_text("other\nlines.\nhere.\nlast\n")
    with pytest.raises(StateFailed, match="was changed while it was being read"):
        file.whole(file.contents_of(str(path), text))


def test_names_in_a_large_hosts_file(small: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path, many = (
        tmp_path / "hosts",
        "".join(f"0.0.0.0 ad{number}.example\n" for number in range(50)),
    )
    path.write_text(f"127.0.0.1 localhost\n{many}10.0.0.5 db # main\n{many}10.0.0.55 other")
    small.setattr(hosts, "PATH", str(path))
    small.setattr(large_texts, "LARGE", 200)
    assert len(hosts.list_hosts()["0.0.0.0"]["aliases"]) == 100  # all are held for once
    small.setattr(limits, "TABLE", 300)
    with pytest.raises(StateFailed, match="`edit_size_limit` "):
        hosts.list_hosts()
    small.setattr(limits, "TABLE", 3000)
    assert hosts.get_ip("db") == "10.0.0.5" and hosts.get_alias("10.0.0.55") == ["other"]
    here = HarnessHere(tmp_path)
    apply(host.present, "web", ip=["10.0.0.5", "10.0.0.6"], current=here)
    apply(host.absent, "ad49.example", ip=["0.0.0.0"], current=here)
    many = many.replace("0.0.0.0 ad49.example\n", "")
    end = "10.0.0.55 other\n10.0.0.6\t\tweb\n"
    assert path.read_text() == (
        f"127.0.0.1 localhost\n{many}10.0.0.5\t\tdb web\t\t# main\n{many}{end}"
    )
    apply(host.only, "10.0.0.55", hostnames=["x"], current=here)
    assert path.read_text().endswith("10.0.0.55\t\tx\n10.0.0.6\t\tweb\n")


def test_what_is_read_whole_is_refused_with_its_size(
    small: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path, here = tmp_path / "f", HarnessHere(tmp_path)
    path.write_text("{}" + " " * (2 << 20))
    here.opts["edit_size_limit"] = 1
    refused = r"f: it has 2\.0 MiB, at most 1 MiB are read; `edit_size_limit` \(MiB\) in the"
    with running(here):
        with pytest.raises(StateFailed, match=refused):
            _paths.read_text(str(path))
        with pytest.raises(StateFailed, match=refused):
            file.text_to_edit(str(path))
    with pytest.raises(StateFailed, match=refused):
        options = {"merge_if_exists": True, "serializer": "json"}
        apply(serialize, str(path), current=here, dataset={"a": 1}, **options)


def test_a_file_whose_size_is_not_that_of_its_contents_is_not_cut(
    small: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path = tmp_path / "f"
    path.write_text("[a]\nb = 1\n[c]\nd = 2\n[e]\nf = 3\n")
    small.setattr(large_texts, "LARGE", 20)
    size = path.stat().st_size
    told = streamed.streamed

    def smaller(path: str) -> streamed.Streamed:  # as it is where it grows within a clock tick
        source = told(path)
        return streamed.Streamed(source.path, size - 6, source.identity)

    small.setattr(streamed, "streamed", smaller)
    with pytest.raises(StateFailed, match="was changed while it was being read"):
        file.text_to_edit(str(path), ["d"])


LARGE_TABLES: dict[str, Callable[[str], object]] = {
    "known_hosts": lambda path: known_hosts.entries(path, "a"),
    "known_hosts.write": lambda path: known_hosts.write(path, None, [], []),
    "known_hosts.hash": lambda path: ssh.hash_known_hosts(config=path),
    "authorized_keys": keys.of_source,
    "sysctl": lambda path: sysctl.keep("a.b", "1", path),
    "kmod": kmod._lines,
    "ufw": lambda path: ufw._setting(path, "ENABLED"),
}


@pytest.mark.parametrize("name", LARGE_TABLES)
def test_a_table_is_read_up_to_its_bound(
    small: pytest.MonkeyPatch, tmp_path: Path, name: str
) -> None:
    path = tmp_path / "f"
    path.write_text("#\n" * 40)
    small.setattr(limits, "TABLE", 64)
    small.setattr(ufw, "needs", lambda *_: None)
    with pytest.raises(StateFailed, match="at most 6"):
        LARGE_TABLES[name](str(path))


@pytest.mark.parametrize(("serializer", "fits"), [("json", True), ("yaml", False), ("yml", False)])
def test_json_may_be_larger_than_yaml(
    small: pytest.MonkeyPatch, tmp_path: Path, serializer: str, fits: bool
) -> None:
    path = tmp_path / "f"
    path.write_text('{"a": 1}' + " " * 80)
    small.setattr(limits, "VALUES", 64)
    options = {"merge_if_exists": True, "serializer": serializer, "dataset": {"b": 2}}
    if fits:
        apply(serialize, str(path), current=HarnessHere(tmp_path), **options)
        assert '"b": 2' in path.read_text()
        return
    with pytest.raises(StateFailed, match="at most 6"):
        apply(serialize, str(path), current=HarnessHere(tmp_path), **options)
