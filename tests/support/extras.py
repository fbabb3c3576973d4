# SPDX-License-Identifier: Apache-2.0
"""What of runner a run does without: parts that few use, each with the doors to it.

Nothing else of the core imports a part, and the core executes none unless it is asked for: who
learns how a run works need not read them. What is no part, nor of a family of states and modules,
is the core.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple


class Extra(NamedTuple):
    """files: its modules and packages. doors: the modules of the core that import it."""

    files: str
    doors: str = ""


COMMANDS, RUNNING = "runner.cli.commands", "runner.cli.running"
EXTRAS: Mapping[str, Extra] = {
    "the language server": Extra(f"runner.tools.lsp {COMMANDS}.lsp"),
    "many machines": Extra(f"runner.tools.fleet {COMMANDS}.fleet {RUNNING}.fleet_driving"),
    "formulas": Extra(
        f"runner.sources.formulas {COMMANDS}.formulas",
        "runner.sources.config.load runner.tools.check",
    ),
    "git repositories as trees": Extra(
        "runner.sources.gitfs runner.pipeline.git_pillar",
        "runner.sources.config.load runner.sources.config.key_manual runner.pipeline.pillar_data",
    ),
    "runner as one file": Extra(f"runner.sources.bundle {COMMANDS}.bundle"),
    "trees that come by themselves": Extra(
        f"{COMMANDS}.pull {RUNNING}.pulling runner.pipeline.pull"
    ),
    "new trees": Extra(f"{COMMANDS}.init {RUNNING}.set_up"),
    "rehearsals, tests of trees": Extra(
        f"runner.engine.rehearsal {COMMANDS}.rehearse runner.output.rehearsal"
        " runner.tools.expectations runner.output.expectations runner.testing"
    ),
    "images": Extra(
        f"{RUNNING}.image_build {RUNNING}.rooted", f"{RUNNING}.options {RUNNING}.shown_run"
    ),
    "saved plans": Extra(
        "runner.history.saved_plan runner.pipeline.saved_plans"
        f" {COMMANDS}.plan {COMMANDS}.apply {RUNNING}.planning",
        f"{COMMANDS}.highstate {COMMANDS}.sls {COMMANDS}.single",
    ),
    "undo": Extra(
        "modules.undo runner.history.undo runner.history.undo_states runner.history.merging"
        f" runner.pipeline.undoing runner.pipeline.undone runner.output.undo {COMMANDS}.undo"
    ),
    "watching": Extra(
        f"runner.tools.watch runner.pipeline.watching {COMMANDS}.watch {RUNNING}.watching"
    ),
    "schedules": Extra(
        f"{COMMANDS}.schedule {RUNNING}.scheduling {RUNNING}.installed_schedule"
        " modules.schedule states.schedule",
        f"{COMMANDS}.disable",
    ),
    "reports": Extra(
        f"runner.history.outbox {COMMANDS}.collect {COMMANDS}.report {RUNNING}.reporting"
        f" {RUNNING}.notifying {RUNNING}.tracing runner.output.traces",
        f"{RUNNING}.shown_run",
    ),
    "pages of runs": Extra(
        "runner.output.run_page runner.tools.queries.run_page runner.tools.queries.fleet_pages"
        f" {RUNNING}.html_report",
        f"{COMMANDS}.history {RUNNING}.shown_run",
    ),
    "drawings": Extra(
        "runner.support.drawing runner.output.cycle_pages",
        "runner.output.formats runner.pipeline.compile runner.tools.queries.explain"
        f" {RUNNING}.shown_run",
    ),
    "outputs for other programs": Extra(
        "runner.output.puppetdb runner.output.prometheus runner.output.junit"
        f" runner.output.annotations {RUNNING}.metrics",
        f"runner.output.formats runner.output.manual.reference {COMMANDS}.disable"
        f" {COMMANDS}.enable {RUNNING}.options {RUNNING}.scheduled_runs {RUNNING}.shown_run",
    ),
    "encrypted values": Extra(f"runner.tools.secrets {COMMANDS}.secret"),
    "external pillars, Hiera": Extra(
        f"runner.language.pillar.external {COMMANDS}.import_", "runner.pipeline.pillar_data"
    ),
    "renderers few use": Extra(
        "runner.language.render.renderers.pydsl runner.language.render.renderers.pyobjects"
        " runner.language.render.renderers.stateconf",
        "runner.language.render.renderers",
    ),
    "modules written for Salt": Extra(
        "runner.language.salt.exceptions runner.language.salt.more runner.language.salt.package"
        " runner.language.salt.returns runner.language.salt.six runner.language.salt.stringio"
        " runner.language.salt.style runner.language.salt.utils",
        "runner.engine.invoke runner.engine.loader.builtin runner.engine.loader.registry"
        " runner.engine.loader.tree_modules runner.language.render.renderers.python",
    ),
    "salt-call and Salt's functions": Extra(
        f"runner.cli.salt_call {RUNNING}.state_functions runner.output.salt_reports"
        " runner.output.salt_forms modules.file._salt modules.mount._salt",
        f"runner.output.formats {COMMANDS}.call {COMMANDS}.doc",
    ),
    "scripts of packages, foreseen": Extra("modules.pkg._scripts", "modules.pkg._stand_ins"),
    "package managers few have": Extra("modules.pkg.apk modules.pkg.pacman modules.pkg.zypper"),
    "service managers few have": Extra(
        "modules.service.openrc modules.service.runit modules.service.s6"
        " modules.service._supervised modules.supervisord states.supervisord"
    ),
    "network tools few have": Extra(
        "modules.ip.ifcfg modules.ip.ifcfg_suse modules.ip.netplan modules.ip.networkmanager"
    ),
    "functions that templates call, and no state": Extra(
        " ".join(
            f"modules.{name}"
            for name in "cp data defaults dig dnsutil hashutil jinja match mine pkg_resource"
            " publish random salt_version saltutil smbios state status sysfs temp".split()
        )
    ),
}


def extra_of(module: str) -> str:
    """The part that a module, or a name in one, belongs to; empty for none."""
    words = f"{module}."
    return next(
        (
            name
            for name, extra in EXTRAS.items()
            if any(words.startswith(f"{file}.") for file in extra.files.split())
        ),
        "",
    )


def passages(imported: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Who of the core imports a part, and which. imported: a module, and what it imports."""
    for module, name in imported:
        if (part := extra_of(name)) and not extra_of(module):
            yield module, part


def lines_of(path: Path) -> int:
    """The lines of a file."""
    return len(path.read_text().splitlines())
