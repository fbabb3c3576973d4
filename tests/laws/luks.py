# SPDX-License-Identifier: Apache-2.0
"""How encrypted devices are tried: by cryptsetup on image files and a loop device. The machines
have no device-mapper, so that what is open is played.
"""

from __future__ import annotations

from typing import Any

from laws import on_machine
from loop_devices import A, on_disks

NEW = "truncate -s 20M /srv/image; "
QUICK = "--pbkdf=pbkdf2 --pbkdf-force-iterations=1000"  # nothing has to be kept secret
FORMAT = f"cryptsetup -q luksFormat {QUICK} /srv/image --key-file"
MADE = f"{NEW} printf %s 'old $x' | {FORMAT} -; "
OLD = f"{NEW} printf %s 'old $x' | {FORMAT} - --type=luks1; "
FILED = "printf 'a\\nb' >/srv/key; chmod 600 /srv/key; "
# a cryptsetup that knows what is open by files
PLAYED = r"""mkdir -p /dev/mapper
cat >/usr/local/sbin/cryptsetup <<'X'
#!/bin/sh
for last; do :; done
at=/dev/mapper/$last
case "$*" in
*--test-passphrase*) ;;
status*) test -s "$at" || exit 4; echo "  type: LUKS2"; echo "  device:  $(cat "$at")"; exit;;
open*) for word; do from=$by by=$word; done; cat >/dev/null; readlink -f "$from" >"$at"; exit;;
close*) exec rm "$at";;
esac
exec /sbin/cryptsetup "$@"
X
chmod 755 /usr/local/sbin/cryptsetup
"""
OPEN = f"{MADE} {PLAYED} echo /srv/image >/dev/mapper/data; "
on = on_machine("luks.", layer="volumes", name="/srv/image")
KEY = {"passphrase": "old $x"}
BY: dict[str, Any] = {"by_passphrase": "old $x", "iter_time": 10}
MAPPED: dict[str, Any] = {"name": "data", "device": "/srv/image", **KEY}
SCENARIOS = [
    on("present", NEW, **KEY, iter_time=10),
    on(
        "present",
        NEW + FILED,
        key_file="/srv/key",
        type="luks1",
        cipher="aes-cbc-essiv:sha256",
        key_size=256,
        iter_time=10,
    ),
    on("present", MADE, plans=False, **KEY),
    on("present", MADE, label="data", **KEY),
    on("present", OLD, plans=False, type="luks1", **KEY),
    on("present", OLD, type="luks2", **KEY, fails="is luks1, and is never formatted"),
    on("present", NEW + "mkfs.ext4 -q /srv/image; ", **KEY, fails="holds ext4: it is never"),
    on("present", "echo mine >/srv/image", **KEY, fails="holds data: it is never formatted"),
    on("present", **KEY, fails="/srv/image does not exist"),
    on("present", NEW, fails="Either `passphrase` or `key_file` is needed"),
    on("present", NEW, **KEY, key_file="/srv/key", fails="Either `passphrase` or `key_file`"),
    on("present", NEW, key_file="/srv/key", fails="/srv/key does not exist"),
    on("present", NEW + "rm $(which cryptsetup); ", **KEY, fails="cryptsetup is missing"),
    on_disks("luks.present", name=A, **KEY, iter_time=10),
    on("key", MADE, passphrase="new", **BY),
    on("key", OLD + FILED, key_file="/srv/key", **BY),
    on("key", NEW + FILED + f"{FORMAT} /srv/key", by_key_file="/srv/key", **KEY, iter_time=10),
    on("key", MADE, plans=False, **KEY, by_passphrase="no"),
    on("key", MADE, passphrase="new", by_passphrase="no", fails="this key does not open it"),
    on("key", NEW, passphrase="new", **BY, fails="is no encrypted device"),
    on("opened", MADE + PLAYED, **MAPPED, read_only=True, discard=True),
    on("opened", OPEN, plans=False, **MAPPED),
    on("opened", OPEN, plans=False, **{**MAPPED, "passphrase": "no"}),
    on(
        "opened",
        MADE + FILED + PLAYED,
        name="data",
        device="/srv/image",
        key_file="/srv/key",
        fails="is none of it",
    ),
    on("opened", f"{OPEN} {FILED} echo /srv/key >/dev/mapper/data;", **MAPPED, fails="close it"),
    on("opened", f"{MADE} mkdir -p /dev/mapper; : >/dev/mapper/data;", **MAPPED, fails="is no enc"),
    on("closed", OPEN, name="data"),
    on("closed", plans=False, name="data"),
]
there = on_machine("luks.", layer="volumes", offline=True)
SCENARIOS += [there("opened", plans=False, **MAPPED), there("closed", plans=False, name="data")]
