# SPDX-License-Identifier: Apache-2.0
"""Line ends, marks and spaces that editors of other systems write: SLS, pillar, top files and the
configuration with them work, or the message names the cure.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
from command import Machine, prestarted_server
from starting import PATIENCE

FILES = {
    "states/top.sls": "base:\n  '*':\n    - web\n",
    "states/web.sls": "a:\n  test.nop:\n    - name: x\n",
    "pillar/top.sls": "base:\n  '*':\n    - p\n",
    "pillar/p.sls": "k:\n  v: 1\n",
    "runner.yaml": "file_roots:\n  base: [states]\npillar_roots:\n  base: [pillar]\ncachedir: c\n",
}
WORK: dict[str, Callable[[bytes], bytes]] = {
    "CRLF": lambda text: text.replace(b"\n", b"\r\n"),
    "CR": lambda text: text.replace(b"\n", b"\r"),
    "a BOM": lambda text: b"\xef\xbb\xbf" + text,
    "a BOM and CRLF": lambda text: b"\xef\xbb\xbf" + text.replace(b"\n", b"\r\n"),
    "a mixture": lambda text: text.replace(b"\n", b"\r\n", 1),
    "a tab at the end": lambda text: text.replace(b"\n", b"\t\n", 1),
}
TOLD: dict[str, tuple[Callable[[bytes], bytes], str]] = {
    "UTF-16": (lambda text: text.decode().encode("utf-16"), "save it as UTF-8"),
    "Latin-1": (lambda text: text + b"# caf\xe9\n", "save it as UTF-8"),
    "a form feed": (lambda text: text + b"# \f\n", "remove it; it does not show"),
    "a NUL": (lambda text: text + b"\0\n", "remove it"),
    "a tab": (lambda text: text.replace(b"  ", b"\t", 1), "replace the tab with spaces"),
    "a space that is none": (
        lambda text: text.replace(b"  ", b"\xc2\xa0\xc2\xa0", 1),
        "replace it with a plain space",
    ),
}


def answer(machine: Machine, odd: str, how: Callable[[bytes], bytes]) -> tuple[str, str]:
    """What a dry run of the tree with one odd file prints, and tells."""
    for name, text in FILES.items():
        path = machine.folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(how(text.encode()) if name == odd else text.encode())
    words = ["highstate", "--test", "--config", str(machine.folder / "runner.yaml")]
    done = prestarted_server().run(words, machine.environment, PATIENCE)
    assert "Traceback" not in done.stdout + done.stderr
    return done.stdout, done.stderr


@pytest.mark.parametrize("odd", FILES)
def test_what_editors_write_works(machine: Machine, odd: str) -> None:
    for name, how in WORK.items():
        shown, told = answer(machine, odd, how)
        assert "1 state: 1 unchanged" in shown, (name, told)


@pytest.mark.parametrize("odd", FILES)
def test_what_cannot_work_is_told_with_the_cure(machine: Machine, odd: str) -> None:
    for name, (how, cure) in TOLD.items():
        if (name, odd) == ("a space that is none", "pillar/p.sls"):
            continue  # data: a text may begin so
        _, told = answer(machine, odd, how)
        assert cure in told and odd in told, (name, told)


def test_a_file_that_git_crypt_has_locked(machine: Machine) -> None:
    """What is compiled, and what a state would write as it is."""
    locked = b"\0GITCRYPT\0\xd8\x01\n"
    _, told = answer(machine, "states/web.sls", lambda _: locked)
    assert "the file is encrypted by git-crypt" in told
    assert "git-crypt unlock" in told
    (machine.folder / "states/key").write_bytes(locked)
    text = b"/tmp/key:\n  file.managed:\n    - source: salt://key\n"
    _, told = answer(machine, "states/web.sls", lambda _: text)
    assert "warning: file.managed: source: salt://key is encrypted by git-crypt" in told
