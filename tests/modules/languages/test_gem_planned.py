# SPDX-License-Identifier: Apache-2.0
"""What a dry run sees of gems that it only plans."""

from __future__ import annotations

from pathlib import Path

from command import Machine

GEM = """#!/bin/sh
case "$*" in
*--explain*) printf 'Gems to install:\\n  helper-2.0\\n  my-demo-1.2.0\\n  my-old-2.0\\n' ;;
list*) echo 'old (1.0)'; echo 'my-old (1.0)' ;;
esac
"""
PLANNED = """
my-demo: {gem.installed: []}
again: {gem.installed: [{name: my-demo}]}
exact: {gem.installed: [{name: my-demo, version: 1.2.0}]}
range: {gem.installed: [{name: my-demo, version: "~> 1.1"}]}
gone: {gem.removed: [{name: my-demo}]}
gone again: {gem.removed: [{name: my-demo}]}
beside: {gem.installed: [{name: my-old, version: "1.0"}]}
newer: {gem.installed: [{name: my-old, version: "2.0"}]}
both: {gem.installed: [{name: my-old, version: "1.0"}]}
old: {gem.removed: []}
old again: {gem.removed: [{name: old}]}
"""


def test_planned_gems_are_seen(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    machine.program("gem", GEM)
    machine.write(planned=PLANNED)
    dry = machine.results("sls", "planned", "--test")
    assert {name: result["result"] for name, result in dry.items()} == {
        "my-demo": None,
        "again": True,
        "exact": True,
        "range": None,
        "gone": None,
        "gone again": True,
        "beside": True,
        "newer": None,
        "both": True,
        "old": None,
        "old again": True,
    }
    said = "Whether gem takes what is planned of my-demo for ~> 1.1"
    assert dry["range"]["comment"] == said
