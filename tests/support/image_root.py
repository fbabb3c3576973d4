# SPDX-License-Identifier: Apache-2.0
"""A small image for tests of `--root`: a shell and a few programs of this machine, with accounts
and a name of its own.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

PROGRAMS = "sh cat ls id sleep useradd usermod userdel groupadd groupmod groupdel".split()
FOLDERS = "proc sys dev run tmp etc usr/bin usr/sbin usr/lib usr/lib64 root home var/lib".split()
LINKS = "bin sbin lib lib64".split()
FILES = {
    "etc/passwd": "root:x:0:0:root:/root:/bin/sh\nimaged:x:4321:4321::/home:/bin/sh\n",
    "etc/group": "root:x:0:\nimaged:x:4321:\n",
    "etc/shadow": "root:*:::::::\nimaged:*:::::::\n",
    "etc/gshadow": "root:*::\nimaged:*::\n",
    "etc/os-release": 'ID=debian\nVERSION_ID="99"\nNAME="Debian GNU/Linux"\n',
    "etc/hostname": "imagehost\n",
    "etc/login.defs": "USERGROUPS_ENAB yes\n",
}


def image_root(folder: Path) -> Path:
    """Make the image in a folder that is to be."""
    for name in FOLDERS:
        (folder / name).mkdir(parents=True)
    for name in LINKS:
        (folder / name).symlink_to(f"usr/{name}")
    for name, text in FILES.items():
        (folder / name).write_text(text)
    for name in PROGRAMS:
        path = shutil.which(name)
        assert path, name
        program = os.path.realpath(path)
        shutil.copy(program, folder / "usr/bin" / name)
        listed = subprocess.run(["ldd", program], capture_output=True, text=True, check=True)
        for library in (word for word in listed.stdout.split() if word.startswith("/")):
            target = folder / library.lstrip("/")
            target.parent.mkdir(parents=True, exist_ok=True)
            if not target.exists():
                shutil.copy(library, target)
    return folder


def entries(folder: Path) -> set[str]:
    """The paths below an image, without those that runner keeps its own files in."""
    own = ("var/lib/runner", "var/cache")
    paths = (str(path.relative_to(folder)) for path in folder.rglob("*"))
    return {path for path in paths if not path.startswith(own)}
