# SPDX-License-Identifier: Apache-2.0
"""The documents are true: code in them runs, tests and files that they name are there."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from command import ROOT, Machine


@pytest.fixture
def tutorial(machine: Machine) -> Machine:
    """A tree with the states of the tutorial."""
    text = (ROOT / "docs/writing-a-state.md").read_text()
    codes = re.findall(r"```python\n(# _states/(\w+).py\n.*?)```", text, re.S)
    assert [name for _, name in codes] == ["flag", "database"]
    (machine.folder / "states/_states").mkdir()
    for code, name in codes:
        (machine.folder / f"states/_states/{name}.py").write_text(code)
        assert len([line for line in code.splitlines() if line.strip()]) <= 120
    machine.config["database.folder"] = str(machine.folder / "databases")
    return machine


def test_the_flag_of_the_tutorial_works(tutorial: Machine) -> None:
    tutorial.write(
        a=(
            "{tmp}/d/up:\n  flag.raised:\n    - reason: x\n    - watch:\n      - test: t\n"
            "{tmp}/d:\n  file.directory: []\nt:\n  test.succeed_with_changes: []\n"
        )
    )
    up = f"{tutorial.folder}/d/up"
    dry = tutorial.results("sls", "a", "--test")
    assert dry[up]["changes"] == {"raised": up}
    assert tutorial.results("sls", "a")[up]["comment"].endswith("was raised")
    assert tutorial.results("sls", "a")[up]["changes"] == {"raised": "again"}
    assert "disks are replaced" in tutorial("doc", "flag.raised").stdout


DATABASES = (
    "shop:\n  database.present:\n    - owner: www\n    - encoding: [utf8, latin1]\n    - vacuum:"
    " yes\nbag:\n  database.present:\n    - provider: folder\n    - owner: www\n    - encoding:"
    " CP850\n"
)


def test_the_database_of_the_tutorial_works(tutorial: Machine) -> None:
    tutorial.write(
        a=DATABASES,
        b=DATABASES.replace("www", "me").replace("[utf8, latin1]", "latin1"),
        c="shop:\n  database.absent: []\nbag:\n  database.absent:\n    - provider: folder\n",
    )
    assert (
        tutorial("sls", "a", "--test", code=1).stderr.count(
            "has to be there before anything is run"
        )
        == 2
    )
    (tutorial.folder / "databases").mkdir()
    made = {"old": "absent", "new": "present"}
    for words in (["--test"], []):
        found = tutorial.results("sls", "a", *words)
        assert [each["changes"] for each in found.values()] == [{"shop": made}, {"bag": made}]
    assert {each["comment"] for each in tutorial.results("sls", "a").values()} == {
        "database shop is in the correct state",
        "database bag is in the correct state",
    }
    found = tutorial.results("sls", "b")
    assert (
        found["shop"]["comment"] == "shop goes from www to me; encoding changed from UTF8 to LATIN1"
    )
    assert found["bag"]["changes"] == {"owner": {"old": "www", "new": "me"}}
    tutorial("sls", "c")
    assert list((tutorial.folder / "databases").iterdir()) == []


@pytest.mark.parametrize(
    ("argument", "message"),
    [
        ("owner: root", "database.present: owner: not root"),
        ("owner: a b", "owner: expected the name of a user, got 'a b'"),
        (
            "encoding: [utf8, cp]",
            r"encoding[1]: expected one of 'utf8', 'latin1' or text like (?i)cp\d+, got 'cp'",
        ),
        ("vacuum: on", "vacuum needs the feature vacuum, which the provider folder lacks"),
    ],
)
def test_the_database_of_the_tutorial_refuses(
    tutorial: Machine, argument: str, message: str
) -> None:
    owner = "" if argument.startswith("owner") else "    - owner: www\n"
    tutorial.write(
        a=f"bag:\n  database.present:\n    - provider: folder\n{owner}    - {argument}\n"
    )
    assert message in tutorial("check", "a", code=1).stdout


def anchors(page: str) -> set[str]:
    """Return what links to the headings of a page end with."""
    headings = re.findall(r"^#+ (.+)$", re.sub(r"```.*?```", "", page, flags=re.S), re.M)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize(
    "path",
    [*sorted((ROOT / "docs").glob("*.md")), *sorted(ROOT.glob("*.md"))],
    ids=lambda path: path.name,
)
def test_links_and_tests_that_documents_name_are_there(path: Path) -> None:
    text = path.read_text()
    assert not re.search(r"^(<{7}|>{7}) ", text, re.M), "a merge that was not ended"
    prose = re.sub(r"```.*?```", "", text, flags=re.S)
    for link, anchor in re.findall(
        r"\]\(([^)#:]*)(?:#([^)]+))?\)", re.sub(r"`[^`\n]*`", "", prose)
    ):
        target = path.parent / link if link else path
        assert target.exists(), link
        assert not anchor or anchor in anchors(target.read_text()), f"{link}#{anchor}"
    for test in re.findall(r"\btests/[\w/]+\.(?:py|sh)\b", prose):
        assert (ROOT / test).exists(), test


@pytest.mark.parametrize("name", ["docs/reliability.md", "CONTRIBUTING.md"])
def test_the_commands_that_a_table_names_select_tests(name: str) -> None:
    text = (ROOT / name).read_text()
    commands = re.findall(r'pytest (\S+) -k (?:"([^"]+)"|([\w.]+))`', text)
    assert commands
    for file, quoted, word in commands:
        body = (ROOT / file).read_text()
        for each in (quoted or word).split(" or "):
            assert file == "tests/test_laws.py" or re.search(rf"def test_\w*{each}", body), (
                file,
                each,
            )


MAP = (ROOT / "docs/architecture.md").read_text()


def unknown_names(text: str) -> list[str]:
    """Return the names of code in backticks that no file of ours has: `Class.field`, `CONSTANT`."""
    named = set(re.findall(r"`@?((?:[A-Z][a-z]+)+(?:\.\w+)?|[A-Z]+(?:_[A-Z]+)+|\w+_\w+)`", text))
    folders = ("runner", "states", "modules", "tests/support", "tests/properties")
    texts = (path.read_text() for name in folders for path in (ROOT / name).rglob("*.py"))
    known = {word for each in texts for word in re.findall(r"\w+", each)}
    return sorted(name for name in named if not {*name.split(".")} <= known)


def test_the_map_names_what_is_there() -> None:
    assert unknown_names(MAP) == []
    gone = ["NO_SUCH_NAME", "Plan.nothing_such", "no_such_word"]
    assert unknown_names("`Plan`, `Plan.nothing_such`, `NO_SUCH_NAME` and `no_such_word`") == gone


def paths_that_are_not_there(text: str) -> list[str]:
    """Files and folders that a text names, from the top or from `runner/`; rooms' parts apart."""
    text = re.sub(r"^\| \d+ \|.*$", "", text, flags=re.MULTILINE)
    named = set(re.findall(r"(?<![\w/])((?:\w+/)+\w*)(?:\.py)?", text))
    tops = [ROOT / top for top in ("", "runner", "tests")]
    return sorted(
        path
        for path in named
        if not any((top / path).exists() or [*top.glob(f"{path}.*")] for top in tops)
    )


def test_the_map_leads_to_files_that_are_there() -> None:
    assert paths_that_are_not_there(MAP) == []
    assert paths_that_are_not_there("see `engine/decide` and engine/nothing") == ["engine/nothing"]


def test_what_newcomers_read_and_follow_is_there_and_as_short_as_the_table_says() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text().partition("\n## Where to begin reading\n")[2]
    text = text.partition("\n## ")[0]
    read = re.findall(r"^\| `([\w./]+)` \| .+ \|$", text, re.M)
    assert len(read) == 10 and all((ROOT / path).is_file() for path in read)
    models = re.findall(r"^\| [\w:,' ]+ \| `([\w./]+)` \| (\d+) \|$", text, re.M)
    assert len(models) > 10
    for path, lines in models:
        file = ROOT / path
        files = [file] if file.is_file() else [*file.glob("*.py")]
        length = sum(len(each.read_text().splitlines()) for each in files)
        assert 0 < length <= int(lines), (path, length)


def test_what_is_touched_for_something_new_has_the_tables_that_the_map_names() -> None:
    rows = MAP.partition("## To add X, touch Y")[2].partition("\n## ")[0]
    tables = re.findall(r"`(\w+)` of\s`([\w/.]+)`", rows)
    assert len(tables) > 4
    for name, path in tables:
        place = next(top / path for top in (ROOT / "runner", ROOT) if (top / path).exists())
        files = [place] if place.is_file() else [*place.glob("*.py")]
        assert any(re.search(rf"\b{name}\b", file.read_text()) for file in files), (name, path)


def test_each_dependency_has_its_reason() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    wanted = [
        *project["dependencies"],
        *(one for name in extras if name != "dev" for one in extras[name]),
    ]
    table = MAP.partition("## Dependencies")[2]
    names = [re.split(r"[<>=\[]", one)[0] for one in wanted]
    for name in names:  # an exporter of OpenTelemetry is in the row of its SDK
        assert f"| {name}" in table or name.startswith("opentelemetry-exporter"), name


def test_what_the_fast_part_of_the_tests_leaves_out_is_there() -> None:
    lines = (ROOT / "tests/slow.txt").read_text().splitlines()
    paths = [line for line in lines if not line.startswith("#")]
    assert paths == sorted(set(paths))
    for path in paths:
        file, _, test = path.partition("::")
        assert (ROOT / "tests" / file).exists(), path
        assert not test or f"def {test}(" in (ROOT / "tests" / file).read_text(), path


def test_the_page_of_commands_names_each() -> None:
    from runner.cli.parsing.option_spec import COMMANDS

    text = (ROOT / "docs/reference/commands.md").read_text()
    assert [name for name in COMMANDS if f"\n## runner {name}\n" not in text] == []


def test_the_differences_are_in_tables_by_subject_and_each_is_there_once() -> None:
    text = (ROOT / "tests/differences-from-salt.md").read_text()
    rows = re.findall(r"^\| (?!what \|)(.+?) \| .+ \| (.+) \|$", text, re.MULTILINE)
    subjects = [subject for subject, _ in rows]
    assert len(subjects) > 150
    assert sorted(set(subjects)) == sorted(subjects), "merged twice?"
    headings = re.findall(r"^## (.+)$", text, re.MULTILINE)
    assert text.count("| what | Salt | runner | why | test |") == len(headings) > 10
    assert all("tests/" in test for _, test in rows)


def test_the_page_of_differences_has_the_rows_that_bite() -> None:
    made = [sys.executable, ROOT / "docs/differences.py"]
    page = subprocess.run(made, capture_output=True, text=True, check=True).stdout
    shown = (ROOT / "docs/differences-from-salt.md").read_text()
    assert shown == page, "sh docs/reference.sh"
    rows = page.count("\n| ") - page.count("| what | Salt |")
    assert 30 <= rows <= 50


README = (ROOT / "README.md").read_text()


def test_the_readme_is_read_in_five_minutes() -> None:
    assert len(README.splitlines()) <= 150


def test_each_row_of_the_comparison_says_where_it_is_shown() -> None:
    table = [[cell.strip() for cell in line.split("|")[1:-1]] for line in README.splitlines()]
    head, _, *rows = [cells for cells in table if len(cells) == 8]
    assert head[-1] == "shown in" and len(rows) > 5
    assert [row for row in rows if not re.fullmatch(r"\[.+\]\(docs/.+\)", row[-1])] == []
    figures = (ROOT / "docs/performance.md").read_text()
    figures = figures.partition("\n## Beside ")[2].partition("\n## ")[0]
    loads = re.findall(r"^\| ([^|]+?) \| [\d.]+ s \|(.+)\|$", figures, re.M)
    times = [
        re.findall(r"([\d.]+)x,|( -)", costs)[1:] for load, costs in loads if "first" not in load
    ]
    salt, cfengine = (
        [float(each[0]) for each in column if each[0]] for column in zip(*times, strict=True)
    )
    (cpu,) = (row for row in rows if "CPU" in row[0])
    assert cpu[2] == f"{min(salt):.0f} to {max(salt):.0f}"
    assert cpu[6] == f"{min(cfengine):.1f} to {max(cfengine):.1f}"


def test_the_documents_stay_short() -> None:
    """All but the reference, which is generated. One page for one purpose: what is more is said
    elsewhere already, is history, or is obvious.
    """
    words = sum(len(path.read_text().split()) for path in (ROOT / "docs").glob("*.md"))
    assert words < 28_000


def test_the_changelog_is_read_in_two_minutes() -> None:
    _, *releases = re.split(r"^## ", (ROOT / "CHANGELOG.md").read_text(), flags=re.MULTILINE)
    for release in releases:
        assert re.match(r"Unreleased\n|\d+\.\d+\.\d+ - \d{4}-\d\d-\d\d\n", release)
        assert len(release.split()) < 900, "one line a capability; details are for docs"
        headings = re.findall(r"^### .+", release, re.MULTILINE)
        assert sorted(set(headings)) == sorted(headings), "merged twice?"
