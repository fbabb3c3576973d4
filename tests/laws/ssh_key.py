# SPDX-License-Identifier: Apache-2.0
"""How pairs of keys of ssh are tried: by ssh-keygen, on a throw-away copy of the machine."""

from __future__ import annotations

from laws import on_machine

MADE = "ssh-keygen -q -t rsa -b 2048 -N '' -f /root/key; "
SECRET = "ssh-keygen -q -t ed25519 -N hidden -f /root/key; rm /root/key.pub; "
on = on_machine("ssh_key.", name="/root/key")
SCENARIOS = [
    on("present"),
    on("present", type="rsa", bits=2048, comment="a b", passphrase="$x 'y' \\n"),
    on("present", "useradd -m zoe; ", name="~zoe/.ssh/id_ecdsa", type="ecdsa", user="zoe"),
    on("present", MADE, plans=False, type="rsa"),
    on("present", MADE, plans=False, type="rsa", bits=2048, passphrase="other"),
    on("present", MADE + "chmod 644 /root/key; ", type="rsa"),
    on("present", MADE + "rm /root/key.pub; ", type="rsa"),
    on("present", MADE + "useradd zoe; ", type="rsa", user="zoe"),
    on("present", MADE, fails="is a key of type rsa with 2048 bits, and is never overwritten"),
    on("present", MADE, type="rsa", bits=4096, fails="is never overwritten"),
    on("present", MADE + "rm /root/key; ", fails="is there without its private key"),
    on("present", "date >/root/key", fails="finds no private key in it"),
    on("present", "mkfifo /root/key", fails="is no plain file, and is left alone"),
    on("present", bits=77, fails="There is no key of type ed25519 with 77 bits"),
    on("present", type="rsa", bits=77, fails="There is no key of type rsa with 77 bits"),
    on("present", SECRET, passphrase="hidden"),
    on("present", SECRET, passphrase="other", fails="incorrect passphrase"),
    on("present", user="zoe", fails="User zoe is not available"),
    on(
        "present",
        "rm $(which ssh-keygen); date >/root/key",
        fails="ssh-keygen is missing: it comes with openssh-client",
    ),
]
