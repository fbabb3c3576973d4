# SPDX-License-Identifier: Apache-2.0
"""Programs that stand before the machine's own on PATH while tests run: what would change packages
or services of this computer fails loudly. Looks pass, and all in throw-away machines, whose root is
another folder.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

CHANGES = {
    "apt-get": "install|remove|purge|upgrade|dist-upgrade|full-upgrade|autoremove|build-dep",
    "apt": "install|remove|purge|upgrade|full-upgrade|autoremove",
    "dpkg": "-i|--install|-r|--remove|-P|--purge|--configure|--unpack|--set-selections",
    "systemctl": "start|stop|restart|reload|try-restart|enable|disable|mask|unmask|isolate|poweroff"
    "|reboot|halt|kill",
}
ELSEWHERE = "-s|--simulate|--dry-run|--no-act|--root=*|--root|Dir=*|--user"
STUB = """#!/bin/sh
[ "$(stat -c %d:%i /)" = {root} ] || exec {program} "$@"
for word in "$@"; do case "$word" in {elsewhere}) exec {program} "$@";; esac; done
for word in "$@"; do case "$word" in {changes})
    echo "a test may not change this computer: {name} $*" >&2; exit 97;; esac; done
exec {program} "$@"
"""


def put_before(folder: Path) -> None:
    """Put the programs into a folder, and that before all others of PATH."""
    at = os.stat("/")
    root = f"{at.st_dev}:{at.st_ino}"
    for name, changes in CHANGES.items():
        if program := shutil.which(name):
            stub = folder / name
            stub.write_text(
                STUB.format(
                    root=root, elsewhere=ELSEWHERE, program=program, changes=changes, name=name
                )
            )
            stub.chmod(0o755)
    os.environ["PATH"] = f"{folder}:{os.environ['PATH']}"
