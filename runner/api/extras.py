# SPDX-License-Identifier: Apache-2.0
"""Libraries that few need, the extras of the distribution, and how they are installed."""

from __future__ import annotations

import importlib.metadata
import shlex
import sys


def how_to_install(extra: str) -> str:
    """The command that adds the libraries of an extra to the environment of this Python. The one of
    a package has no pip of its own, and what the system's Python has is not seen in any.
    """
    try:
        lines = importlib.metadata.requires("sls-runner") or []
    except importlib.metadata.PackageNotFoundError:
        lines = []
    marked = (line.replace('"', "'").partition(";") for line in lines)
    needed = [name.strip() for name, _, of in marked if of.strip() == f"extra == '{extra}'"]
    if not needed:
        return f"pip install 'sls-runner[{extra}]'"
    if sys.prefix == sys.base_prefix:  # a bundle: by the system's own packages, or by pip
        return f"install {shlex.join(needed)} for {sys.executable}"
    return shlex.join(["python3", "-m", "pip", "--python", sys.executable, "install", *needed])
