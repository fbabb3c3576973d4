# SPDX-License-Identifier: Apache-2.0
"""The packages that are not to be removed because this machine, or runner itself, works by them."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import re
import sys

from modules import _paths, cmd
from modules.pkg._queries import owners
from modules.pkg.providers import provider
from runner.api import for_states

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

KERNEL = ("/boot/vmlinuz-{}", "/lib/modules/{}/vmlinuz", "/lib/modules/{}/modules.builtin")


@for_states
def indispensable() -> set[str]:
    """Return the installed packages that are vital to the system or its package manager or held at
    their version, and those that the running kernel, the shell, runner, its Python with the
    libraries and its package manager come from.
    """
    manager = provider()
    names = {*manager.vital()}
    if manager.has("holdable"):
        names |= {*manager.held()}
    names |= {manager.normal(name) for name in owners([*_own_files()]).values()}
    return names & {*manager.list_pkgs()}


def _own_files() -> Iterator[str]:
    """Generate a file of each thing that this machine and runner need now."""
    kernels = (path.format(os.uname().release) for path in KERNEL)
    tools = (cmd.which(name) for name in (*provider().NAMES, "sh"))
    paths = {*kernels, *filter(None, tools), sys.executable, os.__file__, *_libraries()}
    for path in sorted(paths):
        own = _paths.realpath(path).startswith(f"{_paths.realpath(sys.prefix)}{os.sep}")
        if _paths.exists(path) and not (own and sys.prefix != sys.base_prefix):
            yield path


def _libraries() -> Iterator[str]:
    """Generate a file of runner and of each library that it needs."""
    names = {"runner", "yaml"}  # PyYAML's name is not that of its module
    for requirement in importlib.metadata.requires("sls-runner") or ():
        if "extra ==" not in requirement:
            names.add(re.split(r"[^\w.-]", requirement)[0].lower())
    for name in sorted(names):
        spec = importlib.util.find_spec(name)
        if spec and spec.origin:
            yield spec.origin
