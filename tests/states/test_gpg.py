# SPDX-License-Identifier: Apache-2.0
"""Keys of gpg from a key server; the programs that gpg starts for it end with the state."""

from __future__ import annotations

import http.server
import subprocess
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from command import Machine
from gpg_keys import ADA, ADA_ID, ZOE_ID, armored
from needing import needs
from serving import served
from starting import wait_until

pytestmark = needs("gpg", "dirmngr")
ASKED: list[str] = []


class KeyServer(http.server.BaseHTTPRequestHandler):
    """It gives the key of Ada to everybody."""

    def do_GET(self) -> None:
        ASKED.extend(parse_qs(urlsplit(self.path).query).get("search", []))
        self.send_response(200)
        self.end_headers()
        self.wfile.write(armored(ADA).encode())

    def log_message(self, *args: Any) -> None:
        """Say nothing."""


def test_a_key_server_is_asked_in_a_real_run_and_only_believed_with_the_key(
    tmp_path: Path,
) -> None:
    machine = Machine(tmp_path / ("long-" * 30))  # too long for the path of a socket
    address = served(KeyServer).replace("http", "hkp")
    where = f"{{gnupghome: {machine.folder}/home, keyserver: {address}}}"
    machine.write(
        good=f"{ADA_ID}: {{gpg.present: [{where}]}}", bad=f"{ZOE_ID}: {{gpg.present: [{where}]}}"
    )
    machine("sls", "good", "--test")
    assert not ASKED and not (machine.folder / "home").exists()
    machine("sls", "good")
    assert [f"0x{ADA_ID}"] == ASKED
    listed = ["gpg", "--homedir", f"{machine.folder}/home", "--no-autostart", "--list-keys"]
    assert ADA_ID in subprocess.run(listed, capture_output=True, text=True, check=True).stdout
    assert "Unable to add key to keychain" in machine("sls", "bad", code=2).stdout

    left = [each.name for each in (machine.folder / "cache").glob("scratch-*")]
    assert not left, "what was only asked before a change is gone, too"

    def ended() -> bool:
        ps = subprocess.run(["ps", "-eo", "stat,args"], capture_output=True, text=True, check=True)
        ran = [line for line in ps.stdout.splitlines() if f"{machine.folder}/cache" in line]
        return all(line.startswith("Z") for line in ran)

    wait_until(ended, "the end of dirmngr")
