# SPDX-License-Identifier: Apache-2.0
"""Keys of archives: where they come from and the shape that apt wants."""

from __future__ import annotations

import base64
import http.server
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from harness import HarnessHere

from modules.pkg.apt import keys
from runner.api import StateFailed, running

# an Ed25519 key made for this test; its packet is all that a fingerprint is made from
PACKET = bytes.fromhex(
    "98330461234567160924062b06010401da470f01010740000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"
)
PACKET = PACKET[:1] + bytes([len(PACKET) - 2]) + PACKET[2:]
ARMOUR = (
    b"-----BEGIN PGP PUBLIC KEY BLOCK-----\nVersion: x\n\n%s\n=abcd\n-----END PGP PUBLIC KEY"
    b" BLOCK-----\n"
)
ARMOURED = ARMOUR % base64.b64encode(PACKET)


@pytest.fixture
def server() -> Iterator[str]:
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            known = "/pks/lookup?op=get&options=mr&search=0x" in self.path
            self.send_response(200 if known else 404)
            self.end_headers()
            self.wfile.write(ARMOURED)

        def log_message(self, *_: object) -> None:
            """Nothing on stderr."""

    served = http.server.HTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=served.serve_forever, args=(0.01,), daemon=True).start()
    yield f"hkp://127.0.0.1:{served.server_port}"
    served.shutdown()
    served.server_close()


def test_armour_is_for_asc_alone() -> None:
    assert keys.shaped(ARMOURED, "/etc/apt/keyrings/x.asc") == ARMOURED
    assert keys.shaped(ARMOURED, "/etc/apt/keyrings/x.gpg") == PACKET
    assert keys.shaped(PACKET, "/etc/apt/keyrings/x.gpg") == PACKET


def test_damaged_armour_is_told() -> None:
    with pytest.raises(StateFailed, match="is damaged"):
        keys.shaped(ARMOUR % b"abc", "/x.gpg")
    for path in ("/x.gpg", "/x.asc"):
        with pytest.raises(StateFailed, match="it ends before its armour does"):
            keys.shaped(ARMOURED.partition(b"-----END")[0], path)


def test_a_binary_key_is_armoured_where_apt_expects_armour() -> None:
    put = keys.shaped(PACKET, "/etc/apt/keyrings/x.asc")
    assert keys.is_openpgp(put) and keys.shaped(put, "x.gpg") == PACKET


def test_a_key_server_is_asked(server: str) -> None:
    wanted = keys.fingerprint(PACKET)
    with running(HarnessHere()):
        assert keys.from_server(wanted[-16:].lower(), server) == ARMOURED
        assert keys.from_server(f"0x{wanted}", server) == ARMOURED


def test_another_key_than_the_one_asked_for_is_refused(server: str) -> None:
    with running(HarnessHere()), pytest.raises(StateFailed, match=r"it sent [0-9A-F]{40}"):
        keys.from_server("DEADBEEF", server)


@pytest.mark.parametrize("key", [b"", b"<html>no such key</html>", PACKET[:20]])
def test_what_is_no_key_has_no_fingerprint(key: bytes) -> None:
    assert keys.fingerprint(key) == ""


def test_fingerprint_is_that_of_gpg() -> None:
    # gpg --show-keys says this of the archive key of Debian 12 that comes with every Debian
    path = Path("/etc/apt/trusted.gpg.d/debian-archive-bookworm-stable.asc")
    if not path.exists():
        pytest.skip("no Debian 12 here")
    found = keys.fingerprint(keys.shaped(path.read_bytes(), "x.gpg"))
    assert found == "4D64FEC119C2029067D6E791F8D2585B8783D481"


def test_a_key_without_a_place_is_trusted_for_all() -> None:
    assert (
        keys.place("https://x.example/keys/Release Key.asc", True)
        == "/etc/apt/trusted.gpg.d/Release-Key.asc"
    )
    assert keys.place("https://x.example/", False) == "/etc/apt/trusted.gpg.d/runner.gpg"
