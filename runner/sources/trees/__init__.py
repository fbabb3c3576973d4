# SPDX-License-Identifier: Apache-2.0
"""The trees that `runner pull` has checked out: which is used, and the folders they are in."""

from __future__ import annotations

from runner.sources.trees.store import Tree, TreeStore, current_tree, revision_at, without_name

__all__ = ["Tree", "TreeStore", "current_tree", "revision_at", "without_name"]
