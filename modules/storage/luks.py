# SPDX-License-Identifier: Apache-2.0
"""Encrypted devices (LUKS), by cryptsetup. A passphrase reaches it by its standard input alone."""

from __future__ import annotations

from collections.abc import Sequence

from modules import _paths, cmd, file
from modules._machine.processes import needs
from modules._texts.lines import plain_name
from modules.storage import blockdev
from runner.api import CommandFailed, Record, StateFailed, changer, for_states
from runner.api.offline import of_running

TYPE = "crypto_LUKS"  # what wipefs and blkid call it
_MAPPED = "/dev/mapper"


class Key(Record):
    """What opens a device: the contents of a file, or a passphrase."""

    file: str | None
    passphrase: str | None

    @property
    def words(self) -> list[str]:
        return ["--key-file", self.file or "-"]

    @property
    def stdin(self) -> str:
        return self.passphrase or ""


class Header(Record):
    """What the header of a device says. type: luks1 or luks2."""

    type: str
    label: str
    uuid: str


@for_states
def key_of(passphrase: str | None, key_file: str | None, prefix: str = "") -> Key:
    """The one of two arguments that is given. Raises StateFailed for none or both, and for a file
    that is not there.
    """
    if (passphrase is None) == (key_file is None):
        raise StateFailed(f"Either `{prefix}passphrase` or `{prefix}key_file` is needed")
    if key_file is not None and not file.is_file(key_file):
        raise StateFailed(f"{key_file} does not exist", missing=("file", key_file))
    return Key(key_file, passphrase)


@for_states
def header(device: blockdev.Device) -> Header | None:
    """The header of a device; None where it holds something else, or nothing."""
    if TYPE not in blockdev.contents_of(device):
        return None
    needs("cryptsetup", "cryptsetup-bin")
    with blockdev.held(device) as path:
        done = cmd.probe(["cryptsetup", "luksDump", "--", path])
    if done.retcode:
        raise StateFailed(f"{device.name}: its header cannot be read: {done.error_text}")
    facts: dict[str, str] = {}
    for line in done.stdout.splitlines():
        name, _, value = line.partition(":")
        facts.setdefault(name.strip(), value.strip())
    label = facts.get("Label", "")
    label = "" if label == "(no label)" else label
    return Header(f"luks{facts.get('Version', '')}", label, facts.get("UUID", ""))


@for_states
def refuse_full(device: blockdev.Device) -> None:
    """Raise StateFailed for a device that somebody uses, or that holds anything at all."""
    needs("cryptsetup", "cryptsetup-bin")
    blockdev.refuse_used(device)
    if kinds := blockdev.contents_of(device):
        raise StateFailed(f"{device.name} holds {', '.join(kinds)}: it is never formatted")


@for_states
def opens(device: blockdev.Device, key: Key) -> bool:
    """Return whether a key is one of a device, which costs the time that trying one key costs.
    Raises CommandFailed where that cannot be tried.
    """
    with blockdev.held(device) as path:
        words = ["cryptsetup", "open", "--test-passphrase", *key.words, "--", path]
        done = cmd.probe(words, stdin=key.stdin)
    if done.retcode not in (0, 2):
        raise _failure(device, done.error_text)
    return done.retcode == 0


@for_states
@changer(touches=["volumes"])
def format_(device: blockdev.Device, key: Key, words: Sequence[str]) -> None:
    """Make a device an encrypted one: what it holds is lost, so it has to be nothing. words:
    options. Raises CommandFailed.
    """
    refuse_full(device)
    _change(device, ["luksFormat", *words, *key.words], key.stdin)


@for_states
@changer(touches=["volumes"])
def set_label(device: blockdev.Device, label: str) -> None:
    """Give a device a label. Raises CommandFailed."""
    _change(device, ["config", "--label", label], "")


@for_states
@changer(touches=["volumes"])
def add_key(device: blockdev.Device, new: Key, by: Key, words: Sequence[str]) -> None:
    """Let one more key open a device. by: one that does. words: options. Raises CommandFailed."""
    known = [] if by.file is None else ["--key-file", by.file]
    stdin = "".join(f"{each.passphrase}\n" for each in (by, new) if each.passphrase is not None)
    _change(device, ["luksAddKey", *words, *known], stdin, *([new.file] if new.file else []))


def _change(device: blockdev.Device, words: Sequence[str], stdin: str, *more: str) -> None:
    with blockdev.held(device) as path:
        argv = ["cryptsetup", "--batch-mode", *words, "--", path, *more]
        done = cmd.execute(argv, stdin=stdin)
    if done.retcode:
        raise _failure(device, done.error_text.replace(path, device.name))


def _failure(device: blockdev.Device, reason: str) -> CommandFailed:
    return CommandFailed(f"{device.name}: cryptsetup: {reason or 'failed without a message'}")


# ---------------------------------------------------------------- what is open


@for_states
def opened(name: str) -> list[str]:
    """What a name below /dev/mapper was opened from: a device, and the image file behind it.
    Raises StateFailed for a name that is something else's.
    """
    plain_name(name, "name")
    if not _paths.exists(f"{_MAPPED}/{name}"):
        return []
    needs("cryptsetup", "cryptsetup-bin")
    done = cmd.probe(["cryptsetup", "status", "--", name])
    facts = dict(line.split(":", 1) for line in done.stdout.splitlines() if ":" in line)
    found = {key.strip(): value.strip() for key, value in facts.items()}
    if done.retcode or "device" not in found:
        raise StateFailed(f"{_MAPPED}/{name} is no encrypted device")
    return [found[key] for key in ("device", "loop") if key in found]


@for_states
@changer(touches=["volumes"])
@of_running
def open_(device: blockdev.Device, name: str, key: Key, words: Sequence[str]) -> None:
    """Open a device: what is in it is /dev/mapper/NAME then. Raises CommandFailed."""
    with blockdev.held(device) as path:
        argv = ["cryptsetup", "open", *words, *key.words, "--", path, plain_name(name, "name")]
        done = cmd.execute(argv, stdin=key.stdin)
    if done.retcode:
        raise _failure(device, done.error_text)


@changer(touches=["volumes"])
@of_running
def close(name: str) -> None:
    """Close what was opened below a name. Raises CommandFailed, such as for one that is in use.

    {% do salt['luks.close']('backup') %}
    """
    cmd.execute(["cryptsetup", "close", "--", plain_name(name, "name")]).or_fail("cryptsetup")
