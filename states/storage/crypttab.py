# SPDX-License-Identifier: Apache-2.0
"""Encrypted devices that a start opens: lines of /etc/crypttab. None is opened, formatted or closed
now.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Annotated

from modules import file
from modules.storage import crypttab
from runner.api import Check, FilePath, Line, Name, Plan, Planned
from runner.api.claims import PART, Claim
from runner.api.kinds import Kind, Property
from states.storage._mapped import MappedName

OPPOSITE = {"present": "absent"}
SWITCHES = frozenset(
    "bitlk discard force header-less initramfs loud luks no-read-workqueue no-write-workqueue"
    " noauto nofail noearly plain quiet read-only readonly same-cpu-crypt"
    " submit-from-crypt-cpus swap tcrypt tcrypt-hidden tcrypt-system tcrypt-veracrypt verify"
    " _netdev password-echo headless".split()
)
NUMBERS = frozenset(
    "key-slot keyfile-offset keyfile-size keyslot offset sector-size size skip tries"
    " tcrypt-veracrypt-pim".split()
)
TEXTS = frozenset(
    "check checkargs cipher fido2-cid fido2-device fido2-rp hash header keyfile-timeout keyscript"
    " link-volume-key password-cache password-echo pkcs11-uri tcrypt-keyfile timeout tmp"
    " token-timeout tpm2-device tpm2-measure-pcr tpm2-pcrs tpm2-pin tpm2-signature type"
    " try-empty-password veracrypt-pim".split()
)


def _word_problem(word: str) -> str | None:
    if re.fullmatch(r"[^\s#]\S*", word):
        return None
    return "a field of crypttab has no space: write \\x20 in the name of a device"


def _mapped_problem(name: str) -> str | None:
    if re.fullmatch(r"[^\s#/\\]+", name):
        return None
    return "expected the name that the device gets below /dev/mapper"


def _options_problem(options: Mapping[str, object]) -> str | None:
    for option, value in options.items():
        words = option in TEXTS or re.fullmatch(r"x-[\w.-]+", option)
        if not (words or option in SWITCHES | NUMBERS):
            return f"crypttab knows no option {option}; one of your own begins with x-"
        switch = isinstance(value, bool)
        if switch and (option in SWITCHES or words):
            continue
        if option in NUMBERS and (switch or not str(value).isdecimal()):
            return f"{option}: expected a number"
        if option in SWITCHES and not (words and not switch):
            return f"{option}: expected true or false"
        if not re.fullmatch(r"[^\s,]+", str(value)):
            return f"{option}: expected a value without spaces and commas"
    return None


Listed = Annotated[Name, Check(_mapped_problem)]
Mapped = Annotated[MappedName, Check(_mapped_problem)]
Field = Annotated[Name, Check(_word_problem)]
Options = Annotated[dict[Name, bool | int | Line], Check(_options_problem)]
ENTRY = Kind("entry {name} of {config}")


def dry_run_check(plan: Plan, name: str, config: str = crypttab.PATH, **_: object) -> None:
    """Raise StateFailed when the caller may not change the file."""
    file.refuse_put(config)


@file.validated
def present(
    name: Mapped,
    device: Field,
    key_file: Field | None = None,
    options: Options | None = None,
    config: FilePath = crypttab.PATH,
) -> Planned:
    """Make sure that a start opens an encrypted device: that crypttab has its line, and no other of
    that name. Nothing is opened now. The first file systems need `update-initramfs -u` after it.

    name: The name that it gets below /dev/mapper.
    device: The device: a path, or UUID=, LABEL=, PARTUUID=.
    key_file: The file with its key; without it a person is asked.
    options: Options of crypttab(5) with their values; true for those without one, false leaves one
      out. Other options go.
    config: The file.

        data:
          crypttab.present:
            - device: UUID=2505567a-9e27-4efe-a4d5-15ad146c258b
            - key_file: /etc/keys/data
            - options:
                luks: true
                nofail: true
                tries: 3

    Salt has cryptdev.mapped, which opens it, too.

    Salt has nothing like it.
    """
    words = {
        option if value is True else f"{option}={value}"
        for option, value in (options or {}).items()
        if value is not False
    }
    key = "none" if key_file is None or key_file in crypttab.NO_KEY else key_file
    wanted = crypttab.CrypttabEntry(name, device, key, tuple(sorted(words)))
    found = crypttab.find(name, config)
    now = (
        {
            "device": found[0].device,
            "key_file": found[0].key or "none",
            "options": ",".join(sorted(found[0].options)),
            "lines": len(found),
        }
        if found
        else None
    )
    properties = [
        Property("device", device),
        Property("key_file", key),
        Property("options", ",".join(wanted.options)),
        Property("lines", 1),
    ]

    def write() -> None:
        crypttab.put(wanted, config)

    return ENTRY.present(now, write, properties, lambda _: write(), name=name, config=config)


@file.validated
def absent(name: Listed, config: FilePath = crypttab.PATH) -> Planned:
    """Make sure that no start opens an encrypted device of this name. One that is open stays so.

    name: Its name below /dev/mapper.
    config: As of crypttab.present.

        data:
          crypttab.absent: []

    Salt has cryptdev.unmapped, which closes it, too.

    Salt has nothing like it.
    """
    found = crypttab.find(name, config)
    return ENTRY.absent(bool(found), lambda: crypttab.drop(name, config), name=name, config=config)


def owns(fun: str, name: str, config: str = crypttab.PATH, **_: object) -> Iterator[Claim]:
    """The line of a name."""
    yield Claim(PART, config, name, removes=fun == "absent")
