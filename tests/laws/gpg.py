# SPDX-License-Identifier: Apache-2.0
"""How keyrings of gpg are tried: with a real gpg, and keys of nobody."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

from gpg_keys import ADA, ADA_ID, FRESH, OLD, OLD_ID, ZOE, ZOE_ID, armored
from laws import Scenario, in_folder, on_machine

BOTH = armored(ADA) + armored(ZOE)
FILES = {"ada": armored(ADA), "both": BOTH, "old": armored(OLD), "fresh": armored(FRESH)}
TRUSTED = {"keys": [ADA_ID, ZOE_ID[-16:]], "source": "{tmp}/both", "trust": "marginally"}


def files(tmp: Path) -> None:
    for name, text in FILES.items():
        (tmp / name).write_text(text)


def gpg(tmp: Path, *words: str, stdin: str | None = None) -> None:
    argv = ["gpg", "-q", "--batch", "--no-autostart", "--homedir", f"{tmp}/home", *words]
    subprocess.run(argv, input=stdin, text=True, check=True, capture_output=True)


def there(*names: str, trust: str = "") -> Any:
    def setup(tmp: Path) -> None:
        files(tmp)
        (tmp / "home").mkdir(0o700)
        gpg(tmp, "--import", *(f"{tmp}/{name}" for name in names))
        if trust:
            gpg(tmp, "--import-ownertrust", stdin=f"{ADA_ID}:{trust}:\n{ZOE_ID}:{trust}:\n")

    return setup


def own_ring(tmp: Path) -> None:
    there("ada")(tmp)
    (tmp / "home/pubring.kbx").rename(tmp / "ring.gpg")


def with_secret(tmp: Path) -> None:
    """As if the secret key were there: gpg's agent keeps it in a file of the key's grip."""
    there("ada")(tmp)
    listed = ["gpg", "--homedir", f"{tmp}/home", "--with-colons", "--with-keygrip", "--list-keys"]
    done = subprocess.run(listed, check=True, capture_output=True, text=True)
    grip = next(line.split(":")[9] for line in done.stdout.splitlines() if line[:3] == "grp")
    (tmp / "home/private-keys-v1.d").mkdir()
    (tmp / f"home/private-keys-v1.d/{grip}.key").write_text("x")


on = in_folder("gpg.", files, name=ADA_ID, gnupghome="{tmp}/home")


FROM = {"source": "{tmp}/both"}
USER = {"name": ADA_ID, "user": "zoe", "text": FILES["ada"], "trust": "fully"}
SCENARIOS = [
    on("present", **FROM),
    on("present", there("ada"), plans=False, **FROM),
    on("present", there("ada"), plans=False, source="/no/such/file", name=f"0x{ADA_ID[-8:]}"),
    on("present", **TRUSTED),
    on("present", there("ada"), **TRUSTED),
    on("present", there("both", trust="6"), **TRUSTED),
    on("present", there("both", trust="4"), plans=False, **TRUSTED),
    on("present", text=BOTH, keyring="{tmp}/ring.gpg", skip_keyserver=True),
    on("present", own_ring, plans=False, text=BOTH, keyring="{tmp}/ring.gpg"),
    on("present", own_ring, keyring="{tmp}/ring.gpg", name=ZOE_ID, **FROM, trust="expired"),
    on("present", there("old"), name=OLD_ID, source=["{tmp}/ada", "{tmp}/fresh"]),
    on("present", there("old"), name=OLD_ID, source="{tmp}/old", fails="(unexpired) key"),
    on("present", source=["/no/such/file", "{tmp}/ada", "http://[::1]:1/none"]),
    on("present", there("old"), name=OLD_ID, source=["/no/such/file", "{tmp}/old", "{tmp}/fresh"]),
    on("present", source=["/no/file", "{tmp}/old"], fails="Local file source /no/file does not"),
    on("present", name=OLD_ID, **FROM, fails="none of the specified sources were found or"),
    on("present", name=OLD_ID, skip_keyserver=True, fails="none of the specified sources"),
    on("present", source="/no/such/file", fails="Local file source /no/such/file"),
    Scenario(
        "gpg.present",
        {"name": ADA_ID, "gnupghome": "{tmp}/home", "keyserver": "hkp://127.0.0.1:1"},
        breaks="Unable to add key to keychain",
    ),
    on("present", user="nobody-of-this-name", **FROM, fails="is not available"),
    on("absent", there("both")),
    on("absent", there("ada"), keys=[ADA_ID, ZOE_ID]),
    on("absent", there("ada"), plans=False, name=ZOE_ID),
    on("absent", plans=False),
    on("absent", own_ring, keyring="{tmp}/ring.gpg"),
    on("absent", own_ring, keyring="{tmp}/ring.gpg", keyring_absent_if_empty=True),
    on("absent", with_secret, fails="Secret key exists, delete it first"),
]
on_users = on_machine("gpg.", "useradd -m zoe; ")
SCENARIOS += [
    on_users("present", **USER),
    on_users("present", "useradd zoe; ", fails="/home/zoe does not exist", **USER),
    on_users("present", "", fails="User zoe is not available", **USER),
    on_users("present", "useradd -m zoe; rm $(which gpg); ", fails="gpg is missing", **USER),
    on_users("absent", plans=False, name=ADA_ID, user="zoe"),
]
