# SPDX-License-Identifier: Apache-2.0
"""file.accumulated: what templates and file.blockreplace read."""

from __future__ import annotations

from pathlib import Path

from command import Machine
from harness import HarnessHere, apply

from states.file.accumulated import accumulated
from states.file.blockreplace import blockreplace
from states.file.managed import managed


def test_texts_reach_the_template_and_the_block_once(tmp_path: Path) -> None:
    here = HarnessHere()
    f, g = str(tmp_path / "f"), str(tmp_path / "g")
    (tmp_path / "g").write_text("# B\n# E\n")
    told = f"Accumulator one for file {f} was charged by text"
    assert apply(accumulated, "one", f, ["b", {"k": "v"}], current=here).comment == told
    assert apply(accumulated, "one", f, ["b"], current=here).comment == ""
    apply(accumulated, "two", g, ["x", "", 5], current=here)
    apply(managed, f, contents="{{ accumulator }}", template="jinja", current=here)
    apply(blockreplace, g, "# B", "# E", content="c", current=here)
    assert (tmp_path / "f").read_text().strip() == "{'one': ['b', {'k': 'v'}]}"
    assert (tmp_path / "g").read_text() == "# B\nc\nx\n5\n# E\n"


GATHERED = """
one: {file.accumulated: [filename: '{tmp}/f', text: ["a\\n", "b\\n"], require_in: [file: first]]}
two: {file.accumulated: [filename: '{tmp}/f', text: [c], require_in: [file: second]]}
"""
BLOCK = (
    "{at}: {{file.blockreplace: [name: '{{tmp}}/f', marker_start: '# {at}', marker_end: '# /{at}'"
)
BLOCK += ", append_if_not_found: true]}}\n"


def test_a_block_takes_the_texts_that_were_gathered_for_it(machine: Machine) -> None:
    (machine.folder / "f").touch()
    machine.write(a=GATHERED + BLOCK.format(at="first") + BLOCK.format(at="second"))
    machine("sls", "a")
    text = (machine.folder / "f").read_text()
    assert text == "# first\na\n\nb\n# /first\n# second\nc\n# /second\n"
