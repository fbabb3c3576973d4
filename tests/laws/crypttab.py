# SPDX-License-Identifier: Apache-2.0
"""How lines of crypttab are tried."""

from __future__ import annotations

from pathlib import Path

from laws import in_folder

TEXT = "# mine\nother /dev/vdz none luks\ndata\t/dev/vdx  /etc/key luks,tries=3\n"


def written(tmp: Path) -> None:
    (tmp / "f").write_text(TEXT)


def twice(tmp: Path) -> None:
    (tmp / "f").write_text(f"{TEXT}data /dev/vdy\n")


on = in_folder("crypttab.", written, name="data", config="{tmp}/f")


AS_IT_IS = {"device": "/dev/vdx", "key_file": "/etc/key", "options": {"tries": 3, "luks": True}}
SCENARIOS = [
    on("present", **AS_IT_IS, plans=False),
    on("present", twice, **AS_IT_IS),
    on("present", lambda tmp: None, device="UUID=abc"),
    on("present", name="new", device="/dev/vda5", options={"luks": True, "nofail": False}),
    on("present", **{**AS_IT_IS, "options": {"x-systemd.device-timeout": "10s"}}),
    on("present", **{**AS_IT_IS, "key_file": None}),
    on("present", **{**AS_IT_IS, "key_file": "none"}),
    on("absent"),
    on("absent", twice),
    on("absent", name="none", plans=False),
    on("absent", lambda tmp: None, plans=False),
]
