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
    on("present iter_time=10", NEW, **KEY),
    on(
        "present key_file=/srv/key type=luks1 cipher=aes-cbc-essiv:sha256 key_size=256"
        " iter_time=10",
        NEW + FILED,
    ),
    on("present", MADE, plans=False, **KEY),
    on("present label=data", MADE, **KEY),
    on("present type=luks1", OLD, plans=False, **KEY),
    on("present type=luks2", OLD, **KEY, fails="is luks1, and is never formatted"),
    on("present", NEW + "mkfs.ext4 -q /srv/image; ", **KEY, fails="holds ext4: it is never"),
    on("present", "echo mine >/srv/image", **KEY, fails="holds data: it is never formatted"),
    on("present", **KEY, fails="/srv/image does not exist"),
    on("present", NEW, fails="Either `passphrase` or `key_file` is needed"),
    on("present key_file=/srv/key", NEW, **KEY, fails="Either `passphrase` or `key_file`"),
    on("present key_file=/srv/key", NEW, fails="/srv/key does not exist"),
    on("present", NEW + "rm $(which cryptsetup); ", **KEY, fails="cryptsetup is missing"),
    on_disks("luks.present iter_time=10", name=A, **KEY),
    on("key passphrase=new", MADE, **BY),
    on("key key_file=/srv/key", OLD + FILED, **BY),
    on("key by_key_file=/srv/key iter_time=10", NEW + FILED + f"{FORMAT} /srv/key", **KEY),
    on("key", MADE, plans=False, **KEY, by_passphrase="no"),
    on("key passphrase=new", MADE, by_passphrase="no", fails="this key does not open it"),
    on("key passphrase=new", NEW, **BY, fails="is no encrypted device"),
    on("opened read_only=true discard=true", MADE + PLAYED, **MAPPED),
    on("opened", OPEN, plans=False, **MAPPED),
    on("opened", OPEN, plans=False, **{**MAPPED, "passphrase": "no"}),
    on(
        "opened name=data device=/srv/image key_file=/srv/key",
        MADE + FILED + PLAYED,
        fails="is none of it",
    ),
    on("opened", f"{OPEN} {FILED} echo /srv/key >/dev/mapper/data;", **MAPPED, fails="close it"),
    on("opened", f"{MADE} mkdir -p /dev/mapper; : >/dev/mapper/data;", **MAPPED, fails="is no enc"),
    on("closed name=data", OPEN),
    on("closed name=data", plans=False),
]
there = on_machine("luks.", layer="volumes", offline=True)
SCENARIOS += [there("opened", plans=False, **MAPPED), there("closed name=data", plans=False)]
