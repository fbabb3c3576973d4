"""The documents are true: code in them runs, tests and files that they name are there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from command import Machine

ROOT = Path(__file__).parent.parent


def test_the_state_of_the_tutorial_works(machine: Machine) -> None:
    text = (ROOT / "docs/writing-a-state.md").read_text()
    code = re.search(r"```python\n(.*?)```", text, re.S)
    assert code
    (machine.folder / "states/_states").mkdir()
    (machine.folder / "states/_states/flag.py").write_text(code[1])
    machine.write(
        a="{tmp}/d/up:\n  flag.raised:\n    - reason: x\n    - watch:\n      - test: t\n"
        "{tmp}/d:\n  file.directory: []\nt:\n  test.succeed_with_changes: []\n"
    )
    dry = machine.results("sls", "a", "--test")
    assert dry[f"{machine.folder}/d/up"]["changes"] == {"raised": f"{machine.folder}/d/up"}
    real = machine.results("sls", "a")
    assert real[f"{machine.folder}/d/up"]["comment"].endswith("was raised")
    assert machine.results("sls", "a")[f"{machine.folder}/d/up"]["changes"] == {"raised": "again"}
    assert "disks are replaced" in machine("doc", "flag.raised").stdout


@pytest.mark.parametrize("name", sorted(path.name for path in (ROOT / "docs").glob("*.md")) + ["README.md"])
def test_links_and_tests_that_documents_name_are_there(name: str) -> None:
    path = ROOT / name if name == "README.md" else ROOT / "docs" / name
    text = path.read_text()
    for link in re.findall(r"\]\(([^)#:]+)\)", text):
        assert (path.parent / link).exists(), link
    for test in re.findall(r"\btests/[\w/]+\.py\b", text):
        assert (ROOT / test).exists(), test


def test_the_commands_of_the_reliability_table_select_tests() -> None:
    text = (ROOT / "docs/reliability.md").read_text()
    commands = re.findall(r'`pytest (\S+) -k (?:"([^"]+)"|(\w+))`', text)
    assert commands
    for file, quoted, word in commands:
        body = (ROOT / file).read_text()
        for each in (quoted or word).split(" or "):
            assert file == "tests/test_laws.py" or re.search(rf"def test_\w*{each}", body), (file, each)
