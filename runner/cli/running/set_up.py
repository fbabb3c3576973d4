# SPDX-License-Identifier: Apache-2.0
"""A machine that is new: its configuration, and its first pull."""

from __future__ import annotations

import json
import os
import sys

from runner.cli.running import pulling
from runner.cli.running.options import Common
from runner.model.errors import RunnerError, UsageError
from runner.sources.config import load
from runner.sources.trees import source
from runner.support.files.text import read_bounded
from runner.support.files.trusted_folder import trusted_folder

SIGNERS = {"ssh": "allowed_signers", "gpg": "keyring.gpg"}  # as they are called beside it
LARGEST = 1024 * 1024  # bytes of them


def set_up(url: str, ref: str | None, verify: str | None) -> int:
    """Write the configuration with a `tree`, and pull it; the exit code of the pull. Raises
    UsageError where there is another configuration, and RunnerError where nothing was run.
    """
    if os.path.exists(url):
        url = os.path.abspath(url)
    kind, signers = _signers(verify)
    file = load.own_file(os.environ)
    files = {os.path.basename(file): _configuration(url, ref, kind).encode()}
    if kind:
        files[SIGNERS[kind]] = signers
    _write(os.path.dirname(file), files)
    try:
        return pulling.pulled(Common(config=file))
    except RunnerError:
        print(f"runner: {file} is written; `runner pull` goes on from here", file=sys.stderr)
        raise


def _signers(verify: str | None) -> tuple[str, bytes]:
    """The kind of signatures and the contents of the file of signers; both empty for none."""
    if verify is None:
        return "", b""
    kind, _, path = verify.partition(":")
    if kind not in SIGNERS or not path:
        raise UsageError(f"--verify {verify}: it has to be ssh:FILE or gpg:FILE")
    try:
        return kind, read_bounded(path, LARGEST)
    except OSError as error:
        raise UsageError(f"--verify {verify}: {path}: {error.strerror}") from None


def _configuration(url: str, ref: str | None, kind: str) -> str:
    tree = {"remote": url, "ref": ref or "main", "verify": kind and {kind: SIGNERS[kind]}}
    tree = {key: value for key, value in tree.items() if value}
    for mistake in source.mistakes(tree):
        if mistake.severity == "error":
            raise UsageError(mistake.message, hint=mistake.hint)
    lines = [f"  {key}: {json.dumps(value)}" for key, value in tree.items()]
    text = "# Written by `runner init --from`; `runner pull --help` explains what it is for."
    return "\n".join([text, "tree:", *lines, ""])


def _write(folder: str, files: dict[str, bytes]) -> None:
    """Write files that are not there. Raises UsageError for one that is there, and is another."""
    for name, data in files.items():
        path = os.path.join(folder, name)
        if os.path.lexists(path) and not _has(path, data):
            hint = "write `tree:` into it yourself, or move it away"
            raise UsageError(f"{path} is there already; nothing was written", hint=hint)
    try:
        os.makedirs(folder, exist_ok=True)
        trusted = trusted_folder(folder)
        for name, data in reversed(files.items()):  # the configuration last
            secret = b"@" in data and name not in SIGNERS.values()  # perhaps a password
            trusted.write(name, data, 0o600 if secret else 0o644)
    except OSError as error:
        raise RunnerError(f"{folder} cannot be written: {error.strerror}") from None


def _has(path: str, data: bytes) -> bool:
    try:
        return read_bounded(path, LARGEST) == data
    except (OSError, RunnerError):
        return False
