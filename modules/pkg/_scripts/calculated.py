# SPDX-License-Identifier: Apache-2.0
"""What programs make of words and a text, and of nothing else: asked once, and kept between runs
for as long as the program is the same file.
"""

from __future__ import annotations

# os in this file: it is the program of the machine that is run
import hashlib
import json
import os
import shutil
from collections.abc import Mapping, MutableMapping, Sequence
from contextlib import suppress
from typing import Any

from modules._machine import processes
from modules.pkg._contents import FOLDER, read_kept
from modules.pkg._scripts.run import Outcome
from modules.pkg._scripts.words import PROGRAM, TooMuchWork, spend
from runner.api import CommandFailed, fetcher, here

FILE = "calculated.json"  # in the cache folder, beside what is in packages
MOST_SECONDS = 10.0
MOST = 1 << 20  # characters of all answers that are kept: the newest
MOST_TEXT = MOST // 8  # of one
# what these say does not go by the hour, by chance or by files of their own
STEADY = frozenset(
    "cut dpkg egrep expr fgrep grep head printf sed seq sort tail tr uniq wc".split()
)
_STORE = "what words and texts make of themselves"


def said(argv: Sequence[str], text: str = "") -> Outcome:
    """What a program says that reads a text and nothing else, and writes nothing. Raises
    TooMuchWork.
    """
    spend(PROGRAM + len(text))
    known: MutableMapping[str, Any] = here.store(_STORE)
    key = _key(argv, text)
    if "kept" not in known:
        known["kept"] = _read()
    if key in known["kept"]:
        return Outcome(*known["kept"][key])
    variables = {"PATH": os.environ.get("PATH", os.defpath), **processes.LOCALE}
    try:  # it need not see what is planned
        done = processes.run_to_end(
            [*argv], env=variables, cwd="/", stdin=text, timeout=MOST_SECONDS, rstrip=False
        )
    except CommandFailed:
        return Outcome(None, None)
    if done.timed_out:
        raise TooMuchWork(f"{argv[0]} does not end within {MOST_SECONDS:g} seconds")
    outcome = Outcome(done.retcode, done.stdout)
    if done.retcode >= 0:
        known["kept"][key] = [outcome.status, outcome.output]
        if argv[0] in STEADY and len(done.stdout) <= MOST_TEXT:
            known.setdefault("new", []).append(key)
    return outcome


def _key(argv: Sequence[str], text: str) -> str:
    """Return what tells a question from every other one, with the program that is asked."""
    program = shutil.which(argv[0]) or ""
    asked: list[object] = [program, argv, text]
    with suppress(OSError):
        at = os.stat(program)
        asked += [at.st_dev, at.st_ino, at.st_size, at.st_mtime_ns]
    return hashlib.sha256(json.dumps(asked).encode()).hexdigest()


def _read() -> dict[str, list[Any]]:
    """The answers of earlier runs."""
    kept = read_kept(here.cache_folder(FOLDER), FILE)
    return dict(filter(_is_answer, kept.items())) if isinstance(kept, dict) else {}


def _is_answer(item: tuple[str, Any]) -> bool:
    match item[1]:
        case [int(), str()]:
            return True
    return False


def keep() -> None:
    """Keep the answers of this run for later ones."""
    known = here.store(_STORE)
    if new := known.pop("new", ()):
        answers = {key: known["kept"][key] for key in new}
        with suppress(OSError):  # they are asked for again
            _keep(answers)


@fetcher
def _keep(answers: Mapping[str, list[Any]]) -> None:
    kept, room = [], MOST
    for key, answer in reversed([*{**_read(), **answers}.items()]):
        room -= len(key) + len(answer[1])
        if room < 0:
            break
        kept.append((key, answer))
    here.cache_folder(FOLDER).write(FILE, json.dumps(dict(reversed(kept))).encode())
