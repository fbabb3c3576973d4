"""file.accumulated: what templates and file.blockreplace read."""

from __future__ import annotations

from pathlib import Path

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
