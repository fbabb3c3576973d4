# SPDX-License-Identifier: Apache-2.0
"""What a pull does beside running: the tree to run, and its coming into use."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from runner.model.errors import RunnerError
from runner.pipeline.lock import held
from runner.sources.config.options import Options
from runner.sources.formulas import install
from runner.sources.trees import Tree, TreeStore
from runner.sources.trees import candidate as candidates
from runner.sources.trees.candidate import Candidate
from runner.sources.trees.store import TREES


@contextmanager
def alone(options: Options) -> Iterator[TreeStore]:
    """The trees of this machine, with nobody else changing them. Raises Locked."""
    with held(os.path.join(options.state_dir, TREES), options.wait):
        yield TreeStore(options.state_dir)


def newest(options: Options, store: TreeStore, allow_rollback: bool) -> Candidate:
    """The tree that the remote has now, with its formulas installed. Raises Unreachable where it
    cannot be fetched, and RunnerError where it may not be used.
    """
    assert options.tree_source is not None, "the caller has looked"
    found = candidates.newest(
        options.tree_source, store, options.cachedir, allow_rollback=allow_rollback
    )
    install(found.tree.folder, options.cachedir, confined=True)
    return found


def last_good(options: Options, store: TreeStore) -> Candidate | None:
    """The tree that was applied last, as it was checked out, with its formulas as far as they can
    be had; None without one.
    """
    assert options.tree_source is not None, "the caller has looked"
    found = candidates.last_good(options.tree_source, store, options.cachedir)
    if found:
        with suppress(RunnerError):  # what is missing is reported by the run
            install(found.tree.folder, options.cachedir, confined=True)
    return found


def take_into_use(store: TreeStore, tree: Tree) -> None:
    """Have a tree used from now on. Raises RunnerError; then the former one still is."""
    now = store.current()
    if now is None or now.name != tree.name:
        store.switch(tree)
    store.note_fetched(tree)
