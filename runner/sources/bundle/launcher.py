# SPDX-License-Identifier: Apache-2.0
"""The program that starts runner from an unpacked bundle, a script for sh and for Python alike."""

from __future__ import annotations

from collections.abc import Iterable

OLDEST, NEWEST = 11, 19  # of the Pythons 3.x that are looked for by name

LAUNCHER = r"""#!/bin/sh
# Starts runner with any Python from 3.11 on: `./runner ...` or `python3.13 runner ...`.
''':'
for python in @PYTHONS@ python3; do
    path=$(command -v "$python") || continue
    first=
    IFS= read -r first 2>/dev/null <"$path"
    case $first in # a script, as of pyenv, stands for Pythons that it does not start, too
        '#!'*) "$path" -ISc '' >/dev/null 2>&1 || continue ;;
    esac
    exec "$path" "$0" "$@"
done
echo "runner: there is no Python here; it needs 3.11 or newer" >&2
exit 1
':'''
import sys

if sys.version_info < (3, 11):
    sys.exit("runner: this is Python %d.%d; it needs 3.11 or newer" % sys.version_info[:2])

import os
from importlib.machinery import EXTENSION_SUFFIXES, PathFinder
from importlib.util import module_from_spec

lib = os.path.join(os.path.dirname(os.path.realpath(__file__)), "@LIBRARIES@")
if not sys.flags.safe_path:
    del sys.path[0]  # the directory of this file


def fits(folder):
    # whether PyYAML's parser in C, ten times as fast as the one in Python, is for this Python
    return any(os.path.exists(folder + "/yaml/_yaml" + suffix) for suffix in EXTENSION_SUFFIXES)


if not fits(lib):
    system = next(filter(fits, sys.path), None)  # that of python3-yaml
    if system:
        spec = PathFinder.find_spec("yaml", [system])
        sys.modules["yaml"] = module_from_spec(spec)
        spec.loader.exec_module(sys.modules["yaml"])
sys.path.insert(0, lib)
from runner.cli import main

main()
"""


def launcher_text(libraries: str, fitting: Iterable[int]) -> str:
    """The text of the launcher.

    libraries: the directory of the packages. fitting: minor versions of the Pythons that its
    extensions in C are for; they come first.
    """
    fitting = [*fitting]
    others = [number for number in range(NEWEST, OLDEST - 1, -1) if number not in fitting]
    pythons = " ".join(f"python3.{number}" for number in (*fitting, *others))
    return LAUNCHER.replace("@PYTHONS@", pythons).replace("@LIBRARIES@", libraries)
