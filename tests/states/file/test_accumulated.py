# SPDX-License-Identifier: Apache-2.0
"""file.accumulated: what templates and file.blockreplace read."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

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


def chunk(id_: str, fun: str, *needs: str) -> SimpleNamespace:
    requisites = [SimpleNamespace(kind="require", state="file", target=need) for need in needs]
    return SimpleNamespace(
        id=id_, name=id_, state="file", fun=fun, sls="s", requisites=requisites, args={}
    )


def test_a_block_takes_the_texts_that_were_gathered_for_it(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("")
    chunks = [
        chunk("one", "accumulated"),
        chunk("two", "accumulated"),
        chunk("first", "blockreplace", "one"),
        chunk("second", "blockreplace", "two"),
    ]
    here = HarnessHere()
    here.chunks = chunks
    for at, texts in (("one", ["a\n", "b\n"]), ("two", ["c"])):
        here.chunk = next(each for each in chunks if each.id == at)
        apply(accumulated, at, str(tmp_path / "f"), texts, current=here)
    for at in ("first", "second"):
        here.chunk = next(each for each in chunks if each.id == at)
        apply(
            blockreplace,
            str(tmp_path / "f"),
            f"# {at}",
            f"# /{at}",
            append_if_not_found=True,
            current=here,
        )
    assert (tmp_path / "f").read_text() == "# first\na\n\nb\n# /first\n# second\nc\n# /second\n"
