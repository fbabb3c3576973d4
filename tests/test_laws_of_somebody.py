# SPDX-License-Identifier: Apache-2.0
"""The laws for a user who is not root, and for values that nobody means: no exception's text is a
comment, what the real run is denied a dry run foresees, and what it did a second run finds done.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from as_somebody import SOMEBODY
from command import ROOT
from needing import needs, needs_root
from trying import CLASS, wrong

from runner.engine.partial_changes import apology

PARTS = 8


@needs("setpriv")
@needs_root("to be somebody else")
@pytest.mark.parametrize("part", range(PARTS))
def test_laws_of_a_plain_user(part: int) -> None:
    folder = Path(tempfile.mkdtemp(prefix="laws-"))
    inside = folder / "so/deep"  # hostile values go up two folders
    inside.mkdir(parents=True)
    for path in (folder, inside.parent, inside):
        os.chown(path, 65534, 65534)
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "TMPDIR": str(inside),
        "PYTHONDONTWRITEBYTECODE": "1",
        "RUNNER_LAWS": os.environ.get("RUNNER_LAWS", ""),
        "PYTHONPATH": f"{ROOT}:{ROOT / 'tests/support'}",
    }
    script = str(ROOT / "tests/support/as_somebody.py")
    words = [*SOMEBODY, sys.executable, script, str(part), str(PARTS)]
    done = subprocess.run(words, env=environment, capture_output=True, text=True)
    shutil.rmtree(folder, ignore_errors=True)
    assert done.returncode == 0, done.stderr
    results = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(results) > 60, "most scenarios need no root"
    broken = [(why, result) for result in results for why in wrong(result)]
    assert not broken


# ---------------------------------------------------------------- what the system says


ERRORS = tuple(
    """
    EACCES EPERM EROFS ENOSPC EDQUOT EIO ELOOP ENAMETOOLONG ENOTDIR EISDIR ENOENT EEXIST
    ENOTEMPTY EXDEV EBUSY ETXTBSY EMFILE EINVAL
    """.split()
)


@pytest.mark.parametrize("name", ERRORS)
def test_an_error_of_the_system_is_a_sentence_with_its_path(name: str) -> None:
    import errno

    number = getattr(errno, name)
    said = apology(OSError(number, os.strerror(number), "/srv/a"), is_built_in=True)
    assert said.startswith(f"/srv/a: {os.strerror(number)}") and not CLASS.search(said)
    assert "exception" not in said.lower() and "Errno" not in said
    moved = apology(OSError(number, os.strerror(number), "/srv/a", None, b"/b"), is_built_in=True)
    assert moved.startswith("/b: ")
    assert apology(OSError(number, os.strerror(number)), True).startswith("the system: ")
    own = apology(OSError(number, os.strerror(number), "/c/scratch-a_1b2c3d/units/a"), True)
    assert own.startswith("units/a: ")


@pytest.mark.parametrize(
    ("error", "part"),
    [
        (ValueError("embedded null byte"), "a NUL character"),
        (UnicodeEncodeError("utf-8", "\ud800", 0, 1, "surrogates"), "half a character"),
        (UnicodeDecodeError("utf-8", b"a\xff", 1, 2, "invalid"), "is not UTF-8: byte 2"),
        (RecursionError("maximum recursion depth exceeded"), "too deep"),
        (MemoryError(), "not enough memory"),
        (KeyError("x"), "a mistake of runner"),
    ],
)
def test_other_exceptions_are_sentences_too(error: Exception, part: str) -> None:
    said = apology(error, is_built_in=True)
    assert part in said and not CLASS.search(said)
