# SPDX-License-Identifier: Apache-2.0
"""Encrypted values in files of the pillar: written, edited, and encrypted anew for others."""

from __future__ import annotations

import os
import re
import stat
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from runner.language.render.renderers import cipher, is_sops_file
from runner.language.render.steps import CIPHERS
from runner.model.errors import RunnerError
from runner.model.places import Source
from runner.model.records import Record
from runner.support.files.text import read_bounded

LARGEST = 16 * 1024 * 1024  # bytes of a file
# a value in an editor: DEC(3)::AGE[plain]! was in the file, DEC::AGE[plain]! is new
_VALUE = re.compile(r"DEC(?:\((\d+)\))?::([A-Z]+)\[(.*?)\]!", re.S)


class SecretKeys(Record):
    """What encrypts and decrypts. program: one of CIPHERS, for new values. ciphers: by program."""

    program: str
    ciphers: Mapping[str, Any]

    @property
    def recipients(self) -> tuple[str, ...]:
        """Who can decrypt what is encrypted now."""
        found: tuple[str, ...] = self.ciphers[self.program].recipients
        return found

    def encrypted(self, text: str, program: str = "") -> str:
        """A message for the recipients. Raises RunnerError."""
        message: str = self.ciphers[program or self.program].encrypt(text)
        return message


class Message(Record):
    """An encrypted value in a file. start, end: where it stands. margin: of its lines."""

    program: str
    text: str
    start: int
    end: int
    margin: str


def keys(opts: Mapping[str, Any], program: str, recipients: Sequence[str] = ()) -> SecretKeys:
    """As the configuration says. recipients: those of the program instead."""
    key = f"{program}_recipients"
    opts = {**opts, key: list(recipients)} if recipients else opts
    return SecretKeys(program, {name: cipher(name, opts) for name in CIPHERS})


def rekey(path: str, keys: SecretKeys) -> int:
    """Encrypt all values of a file anew; how many there were. Raises RunnerError; the file is as it
    was then.
    """
    text = _checked(path, "sops updatekeys")
    messages = _messages(text, keys)
    new = [
        _laid_out(keys.encrypted(_plain(message, path, text, keys), message.program), message)
        for message in messages
    ]
    if messages:
        _write(path, _replaced(text, messages, new))
    return len(messages)


def edit(path: str, keys: SecretKeys, editor: Callable[[str], None]) -> str:
    """Have a file edited with its values decrypted; what was changed, in words, empty for nothing.

    editor: is called with the path of a copy that nobody else can read. A value that was not
    changed stays encrypted as it is. Raises RunnerError; the file is as it was then.
    """
    text = _checked(path, "sops") if os.path.exists(path) else ""
    messages = _messages(text, keys)
    plain = [_plain(message, path, text, keys) for message in messages]
    shown = [
        f"DEC({number})::{message.program.upper()}[{value}]!"
        for number, (message, value) in enumerate(zip(messages, plain, strict=True), 1)
    ]
    before = _replaced(text, messages, shown)
    after = _edited(path, before, editor)
    if after == before:
        return ""
    changed = 0

    def encrypted(match: re.Match[str]) -> str:
        nonlocal changed
        number, program, value = int(match[1] or 0), match[2].lower(), match[3]
        if program not in CIPHERS or number > len(messages):
            raise RunnerError(f"{path}: there is no value {match[0].partition('[')[0]}")
        if number and value == plain[number - 1]:
            return text[messages[number - 1].start : messages[number - 1].end]
        changed += 1
        message = keys.encrypted(value, program)
        return _laid_out(message, messages[number - 1]) if number else _new(message, match)

    _write(path, _VALUE.sub(encrypted, after))
    return f"{changed} value{'s' if changed != 1 else ''} encrypted" if changed else "text changed"


def _messages(text: str, keys: SecretKeys) -> list[Message]:
    found = [
        Message(name, match[0], match.start(), match.end(), _margin(text, match.start()))
        for name, each in keys.ciphers.items()
        for match in each.message.finditer(text)
    ]
    return sorted(found, key=lambda message: message.start)


def _margin(text: str, start: int) -> str:
    line = text[text.rfind("\n", 0, start) + 1 : start]
    return line if not line.strip() else ""


def _plain(message: Message, path: str, text: str, keys: SecretKeys) -> str:
    source = Source(path, text.count("\n", 0, message.start) + 1)
    plain: str = keys.ciphers[message.program].decrypt(message.text, source)
    return plain


def _laid_out(message: str, old: Message) -> str:
    """A new message in the place of an old one: with the same margin, or as one line."""
    end = "\n" + old.margin if "\n" in old.text or "\\n" not in old.text else "\\n"
    return message.strip().replace("\n", end)


def _new(message: str, match: re.Match[str]) -> str:
    """A new message, as YAML: one of several lines needs the margin of the block that it is in, or
    becomes a text in quotes.
    """
    message, margin = message.strip(), _margin(match.string, match.start())
    if "\n" in message and not margin:
        return '"' + message.replace("\n", "\\n") + '"'
    return message.replace("\n", f"\n{margin}")


def _replaced(text: str, messages: Sequence[Message], new: Sequence[str]) -> str:
    parts, end = [], 0
    for message, replacement in zip(messages, new, strict=True):
        parts += [text[end : message.start], replacement]
        end = message.end
    return "".join([*parts, text[end:]])


def _edited(path: str, text: str, editor: Callable[[str], None]) -> str:
    """Return what a person makes of a text, in a file that is gone afterwards; in memory, where
    there is a file system for that.
    """
    memory = "/dev/shm"
    where = memory if os.access(memory, os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="runner-secret-", dir=where) as folder:
        copy = os.path.join(folder, os.path.basename(path))
        with open(os.open(copy, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(text)
        editor(copy)
        return _read(copy)


def _checked(path: str, command: str) -> str:
    """The text of a file that is not of sops, which a command of its own changes."""
    text = _read(path)
    if is_sops_file(text):
        hint = f"`{command} --input-type yaml {path}` changes it"
        raise RunnerError(f"{path} is encrypted by sops", hint=hint)
    return text


def _read(path: str) -> str:
    try:
        return read_bounded(path, LARGEST).decode()
    except OSError as error:
        raise RunnerError(f"{path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise RunnerError(f"{path} is not UTF-8") from None


def _write(path: str, text: str) -> None:
    """Replace a file whole; it keeps its mode and its owner."""
    path = os.path.realpath(path)
    beside = f"{path}.{os.urandom(6).hex()}.new"
    try:
        try:
            status = os.stat(path)
        except FileNotFoundError:
            status = None
        descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with open(descriptor, "w", encoding="utf-8") as file:
            if status:
                if (status.st_uid, status.st_gid) != (os.geteuid(), os.getegid()):
                    os.fchown(descriptor, status.st_uid, status.st_gid)
                os.fchmod(descriptor, stat.S_IMODE(status.st_mode))
            file.write(text)
            file.flush()
            os.fsync(descriptor)
        os.rename(beside, path)
    except OSError as error:
        with suppress(OSError):
            os.unlink(beside)
        raise RunnerError(f"{path}: {error.strerror}; it is as it was") from None
