# SPDX-License-Identifier: Apache-2.0
"""ansible-core's programs: where they are, and the environment that they are started in."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Mapping

from runner.api.extras import how_to_install
from runner.model.errors import RunnerError
from runner.tools.fleet import collection

OLDEST = "ansible-core 2.19"


def program(name: str, environ: Mapping[str, str]) -> str:
    """The path of one of ansible-core's programs: beside this Python, else in PATH. Raises
    RunnerError where there is none.
    """
    beside = os.path.join(os.path.dirname(sys.executable), name)
    found = beside if os.access(beside, os.X_OK) else shutil.which(name, path=environ.get("PATH"))
    if not found:
        raise RunnerError(
            f"{name} is not installed: many machines are reached through ansible-core",
            hint=f"`{how_to_install('fleet')}`, or {OLDEST} or newer in PATH",
            code="no-ansible",
        )
    return found


def environment(environ: Mapping[str, str], folder: str, more: Mapping[str, str]) -> dict[str, str]:
    """The environment of those programs. folder: a private one of this run; more: further
    variables.
    """
    paths = [collection.path(folder), environ.get("ANSIBLE_COLLECTIONS_PATH")]
    if not paths[1]:
        paths[1] = "~/.ansible/collections:/usr/share/ansible/collections"
    return {
        **environ,
        **_locale(environ),
        "ANSIBLE_COLLECTIONS_PATH": ":".join(path for path in paths if path),
        "ANSIBLE_NOCOLOR": "1",
        "ANSIBLE_FORCE_COLOR": "0",
        "ANSIBLE_DEPRECATION_WARNINGS": "0",
        "ANSIBLE_LOCALHOST_WARNING": "0",
        "ANSIBLE_RETRY_FILES_ENABLED": "0",
        # a source that cannot be read would silently leave out its hosts
        "ANSIBLE_INVENTORY_ANY_UNPARSED_IS_FAILED": "1",
        **more,
    }


def _locale(environ: Mapping[str, str]) -> dict[str, str]:
    """Return variables for UTF-8, without which Ansible does not start (cron has none)."""
    said = environ.get("LC_ALL") or environ.get("LC_CTYPE") or environ.get("LANG") or ""
    return {} if "utf" in said.lower() else {"LC_ALL": "C.UTF-8"}


def complaint(stderr: str) -> str:
    """Return what such a program says is wrong, without its warnings."""
    unread = re.search(r"Failed to parse inventory with '\w+' plugin: (.+)", stderr)
    if unread:  # those that follow are of plugins that were not meant
        return unread[1]
    lines = [line.strip() for line in stderr.splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith(("[ERROR]", "ERROR"))]
    first = next(iter(errors), lines[-1] if lines else "it says nothing")
    return first.removeprefix("[ERROR]:").removeprefix("ERROR!").strip()
