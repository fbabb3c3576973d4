# SPDX-License-Identifier: Apache-2.0
"""A part of a compiled tree is what the tree compiles to when only those states are asked for."""

from __future__ import annotations

import importlib
import json
import random
from functools import partial
from pathlib import Path

import pytest
from command import ROOT

from runner.model.chunk import Edge
from runner.model.errors import CompileError
from runner.model.places import Place
from runner.pipeline.compile import Compiled, compile_chunks, owes
from runner.pipeline.gathering import gather
from runner.pipeline.node_scope import top_requests
from runner.pipeline.parts import Parts
from runner.pipeline.session import Session
from runner.sources.config.load import load


def compiled(folder: Path, only: tuple[str, ...] = ()) -> tuple[Session, Compiled | None]:
    config = folder.with_suffix(".yaml")
    own = {"file_roots": {"base": [str(folder)]}, "id": "m", "cachedir": f"{folder}.cache"}
    config.write_text(json.dumps(own))
    session = Session(load(str(config), {}, {})[0]._replace(only=only))
    with session.opened():
        return session, compile_chunks(session, gather(session, top_requests(session)), False)[0]


def plain(edge: Edge) -> tuple[object, ...]:
    """A relation without the text that it stands in."""
    return tuple(
        (value.line, value.column) if isinstance(value, Place) else str(value) for value in edge
    )


def relations(of: Compiled) -> dict[str, object]:
    """What counts of a tree but its order, in a form that can be compared."""
    found = of.relations
    return {
        "states": [chunk.tag for chunk in of.chunks],
        "left out": {chunk.tag for chunk in of.left_out},
        "edges": sorted(map(plain, found.edges)),
        "by holder": {holder: [*map(plain, edges)] for holder, edges in found.by_holder.items()},
        "unanswered": {holder: {*map(plain, edges)} for holder, edges in found.unanswered.items()},
        "absent": {
            (tag, *plain(edge)) for tag, who in found.absent_reactors for edge in who.edges()
        },
    }


def test_of_random_trees(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "bench"))
    trees = importlib.import_module("random_trees")
    tried = related = looked = 0
    for seed in range(30):
        dice = random.Random(seed)
        folder = tmp_path / str(seed)
        folder.mkdir()
        (trees.RichTree if seed % 2 else trees.FullTree)(seed, False).write(folder)
        try:
            session, whole = compiled(folder)
        except CompileError:
            continue
        if whole is None:
            continue
        ids = sorted({(chunk.state, chunk.id) for chunk in whole.chunks})
        if any(set("*?[") & set(id_) for _, id_ in ids):
            continue
        asked = dice.sample(ids, dice.randint(1, len(ids)))
        tags = [chunk.tag for chunk in whole.chunks if (chunk.state, chunk.id) in asked]
        with session.opened():
            part = Parts(whole).of(tags, partial(owes, session))
        _, other = compiled(folder, tuple(f"{state}: {id_}" for state, id_ in asked))
        assert other is not None
        assert relations(part) == relations(other), f"seed {seed}"
        ran = [part.steps[position].chunk.tag for position in part.order]
        in_whole = [whole.steps[position].chunk.tag for position in whole.order]
        assert ran == [tag for tag in in_whole if tag in tags], f"seed {seed}"
        tried += 1
        related += bool(part.relations.unanswered or part.relations.absent_reactors)
        looked += bool(part.relations.looks)
    assert min(tried, related, looked) > 2
