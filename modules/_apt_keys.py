"""Keys of package archives: from a file, a text or a key server, as files that apt reads."""

from __future__ import annotations

import base64
import binascii
import os
import re

from modules import cmd, file
from runner.api import StateFailed, fetcher, here

KEYRINGS = "/etc/apt/keyrings"
TRUSTED = "/etc/apt/trusted.gpg.d"


def from_url(url: str) -> bytes:
    """The key at salt://, /path, http(s)://. Raises StateFailed when it is not there."""
    if url.startswith(("http://", "https://", "ftp://")):
        path, problem = file.download(url, use_etag=True)
        if problem:
            raise StateFailed(f"the key {url} cannot be fetched: {problem}")
        return file.read_bytes(path)
    found = here.tree.fetch(url, here.saltenv)
    if found is None:
        raise StateFailed(f"the key {url} is not there", lacks=("file", url) if url.startswith("/") else None)
    return file.read_bytes(found)


@fetcher
def from_server(keyid: str, keyserver: str | None) -> bytes:
    """A key by its ID. Raises StateFailed when gpg cannot fetch it."""
    home = here.scratch()
    server = keyserver or "keyserver.ubuntu.com"
    if "://" not in server:
        server = f"hkps://{server}"
    options = ["gpg", "--homedir", home, "--batch", "--no-tty"]
    done = cmd.probe([*options, "--keyserver", server, "--recv-keys", keyid], timeout=60)
    if done.retcode:
        raise StateFailed(f"key {keyid} cannot be fetched from {server}: {done.stderr.strip() or done.stdout.strip()}")
    return cmd.probe([*options, "--armor", "--export", keyid]).stdout.encode() + b"\n"


def shaped(key: bytes, path: str) -> bytes:
    """The key as apt wants it at a path: ASCII armour at *.asc, binary elsewhere."""
    armoured = key.lstrip().startswith(b"-----BEGIN PGP")
    if not armoured or path.endswith(".asc"):
        return key
    blocks = re.findall(rb"-----BEGIN PGP[^\n]*\n(?:[^\n]+:[^\n]*\n)*\s*(.*?)-----END PGP", key, re.S)
    try:
        return b"".join(base64.b64decode(re.sub(rb"(?m)^=\S{4}\s*$", b"", block)) for block in blocks)
    except binascii.Error as problem:
        raise StateFailed(f"the key for {path} is damaged: {problem}") from None


def place(name: str, armoured: bool) -> str:
    """Where a key goes that no entry names: apt trusts it for all archives."""
    stem = re.sub(r"[^\w.-]+", "-", os.path.basename(name).rpartition(".")[0] or os.path.basename(name)) or "runner"
    return f"{TRUSTED}/{stem}.{'asc' if armoured else 'gpg'}"
