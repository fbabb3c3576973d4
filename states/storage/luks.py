# SPDX-License-Identifier: Apache-2.0
"""Encrypted devices (LUKS): made, with their keys, and opened. crypttab.present has a start open
them.

Salt has nothing like it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

from modules.storage import blockdev, luks
from runner.api import AbsolutePath, Line, Name, NonEmptyLine, Pattern, Planned, Secret, StateFailed
from runner.api.kinds import Kind, Property, Wording
from runner.api.offline import offline_as
from states._rights import only_root
from states.storage._mapped import MappedName

dry_run_check = only_root("cryptsetup")
DECIDES = {"opened": "device"}
OPPOSITE = {"opened": "closed"}
Passphrase = Secret[NonEmptyLine]
Mapped = Annotated[
    MappedName,
    Pattern(r"[A-Za-z0-9_+:@][A-Za-z0-9_.+:@-]*", "the name that it gets below /dev/mapper"),
]
DEVICE = Kind(
    "encrypted device {name}",
    Wording(
        "{Title} is in the correct state",
        "{Title} is set to be made",
        "{Title} was made",
        changes={"{name}": {"old": "empty", "new": "encrypted"}},
        provides={"luks": "{name}"},
    ),
)
KEY = Kind(
    "key of {name}",
    Wording(
        "{Title} is there",
        "{Title} is set to be added",
        "{Title} was added",
        changes={"{name}": {"old": "without this key", "new": "with this key"}},
    ),
)
OPENED = Kind(
    "{name}",
    Wording(
        "{Title} is open",
        "{Title} is set to be opened from {device}",
        "{Title} was opened from {device}",
        changes={"{name}": {"old": "closed", "new": "open"}},
        provides={"file": "/dev/mapper/{name}"},
    ),
    removed=Wording(
        "{Title} is not open",
        "{Title} is set to be closed",
        "{Title} was closed",
        changes={"{name}": {"old": "open", "new": "closed"}},
    ),
)


def present(
    name: AbsolutePath,
    passphrase: Passphrase | None = None,
    key_file: AbsolutePath | None = None,
    type_: Literal["luks1", "luks2"] | None = None,
    label: Line | None = None,
    cipher: Name | None = None,
    key_size: int | None = None,
    iter_time: int | None = None,
) -> Planned:
    """Make sure that a device is an encrypted one (LUKS).

    Only one that holds nothing is formatted: a file system, a partition table, a member of an array
    or data in an image file are an error, in any case. The key of one that is encrypted already is
    not looked at (luks.key does). Undo removes no encryption.

    name: The device, or an image file.
    passphrase: What opens it, from the pillar; it is on no command line and in no log.
    key_file: A file whose whole contents open it instead.
    type: luks2 or luks1; without it, luks2 where it is made, and either will do.
    label: Its label, for LABEL= in crypttab (luks2).
    cipher: As cryptsetup names it, such as aes-xts-plain64; only where it is made.
    key_size: The bits of its key (512); only where it is made.
    iter_time: The milliseconds that trying a key takes; only where it is made.

        /dev/disk/by-id/virtio-data:
          luks.present:
            - key_file: /etc/keys/data
            - label: data
    """
    key = luks.key_of(passphrase, key_file)
    device = blockdev.resolve(name, images=True)
    header = luks.header(device)
    if header is None:
        luks.refuse_full(device)
    elif type_ not in (None, header.type):
        raise StateFailed(f"{name} is {header.type}, and is never formatted")
    options = {
        "--type": type_ or "luks2",
        "--label": label or None,
        "--cipher": cipher,
        "--key-size": key_size,
        "--iter-time": iter_time,
    }
    words = [f"{option}={value}" for option, value in options.items() if value is not None]
    labelled = Property("label", label, set=lambda text: luks.set_label(device, text))
    now = header and {"label": header.label}
    return DEVICE.present(now, lambda: luks.format_(device, key, words), [labelled], name=name)


def key(
    name: AbsolutePath,
    passphrase: Passphrase | None = None,
    key_file: AbsolutePath | None = None,
    by_passphrase: Passphrase | None = None,
    by_key_file: AbsolutePath | None = None,
    iter_time: int | None = None,
) -> Planned:
    """Make sure that a key opens an encrypted device (LUKS); others that do stay.

    Each run tries the key, which takes a second or two.

    name: as of luks.present.
    passphrase, key_file: as of luks.present.
    by_passphrase: What opens it already; it is only looked at where the key does not.
    by_key_file: A file with that.
    iter_time: as of luks.present.

        second key of the data:
          luks.key:
            - name: /dev/disk/by-id/virtio-data
            - passphrase: {{ pillar['rescue'] }}
            - by_key_file: /etc/keys/data
    """
    new = luks.key_of(passphrase, key_file)
    by = luks.key_of(by_passphrase, by_key_file, "by_")
    device = _encrypted(name)
    there = luks.opens(device, new)
    if not there and not luks.opens(device, by):
        raise StateFailed(f"{name}: this key does not open it, and the one to add it by neither")
    words = [] if iter_time is None else [f"--iter-time={iter_time}"]
    return KEY.present(there, lambda: luks.add_key(device, new, by, words), name=name)


@offline_as(lambda name, *_, **__: f"{name} is not opened: this system does not run")
def opened(
    name: Mapped,
    device: AbsolutePath,
    passphrase: Passphrase | None = None,
    key_file: AbsolutePath | None = None,
    read_only: bool = False,
    discard: bool = False,
) -> Planned:
    """Make sure that an encrypted device (LUKS) is open now; crypttab.present has each start do it.

    name: The name that what is in it gets below /dev/mapper.
    device: The device, or an image file.
    passphrase, key_file: as of luks.present.
    read_only: Nobody may write to it; only where it is opened.
    discard: It hands on which blocks are free; only where it is opened.

        data:
          luks.opened:
            - device: /dev/disk/by-id/virtio-data
            - key_file: /etc/keys/data

    Salt has cryptdev.mapped.
    """
    opens = luks.key_of(passphrase, key_file)
    found = _encrypted(device)
    sources = luks.opened(name)
    if sources and found.path not in [blockdev.resolve(each, images=True).path for each in sources]:
        raise StateFailed(f"/dev/mapper/{name} was opened from {sources[-1]}: close it first")
    if not sources:
        if found.is_image is False:
            blockdev.refuse_used(found)
        if not luks.opens(found, opens):
            raise StateFailed(f"{device}: the passphrase or key file is none of it")
    given = (("--readonly", read_only), ("--allow-discards", discard))
    words = [word for word, wanted in given if wanted]
    open_it = lambda: luks.open_(found, name, opens, words)  # noqa: E731
    return OPENED.present(bool(sources), open_it, name=name, device=device)


@offline_as(lambda name, *_, **__: f"{name} is not closed: this system does not run")
def closed(name: Mapped) -> Planned:
    """Make sure that an encrypted device is not open. One that is in use stays: that is an error.

    name: Its name below /dev/mapper.

        data:
          luks.closed: []

    Salt has cryptdev.unmapped.
    """
    return OPENED.absent(bool(luks.opened(name)), lambda: luks.close(name), name=name)


def _encrypted(name: str) -> blockdev.Device:
    """A device that is encrypted. Raises StateFailed for another one."""
    device = blockdev.resolve(name, images=True)
    if luks.header(device) is None:
        raise StateFailed(f"{name} is no encrypted device", missing=("luks", name))
    return device


def autorequire(
    name: str, device: str = "", key_file: str = "", **_: object
) -> Iterator[tuple[str, str]]:
    """They come after cryptsetup, their device and the file of their key."""
    yield "pkg", "cryptsetup-bin"
    yield "pkg", "cryptsetup"
    for each in (device or name, key_file):
        if each:
            yield "file", each
            yield "raid", each
            yield "lvm", each.rpartition("/")[2]
