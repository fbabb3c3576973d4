# SPDX-License-Identifier: Apache-2.0
"""Signatures by RSA, ECDSA and Ed25519 keys, verified by openssl."""

from __future__ import annotations

import base64
import binascii
import os
from collections.abc import Sequence
from typing import Any

from modules import _paths, cmd, file
from modules._machine import processes
from runner.api import StateFailed, here

Some = str | Sequence[str] | None


def verify(
    text: str | None = None,
    filename: str | None = None,
    pubkey: str | None = None,
    signature: Some = None,
    digest: str = "sha256",
    signed_by_any: Some = None,
    signed_by_all: Some = None,
    **_: Any,
) -> dict[str, Any]:
    """Check whether a text or a file is signed by keys: {res, message}. Raises StateFailed when the
    text, the signature or the keys are missing.

    pubkey, signed_by_any, signed_by_all: public keys as PEM, base64 or hexadecimal digits, a path
    or an address. signature: base64, a path or an address, several for several keys. digest: of RSA
    and ECDSA signatures.

        {{ salt['asymmetric.verify'](filename='/srv/x', signature='/srv/x.sig',
        pubkey='/srv/key.pem').res }}
    """
    processes.needs("openssl", "openssl")
    if (text is None) == (filename is None):
        raise StateFailed("give either text or filename, whose signature is to be verified")
    signatures = [_stored(_signature(item), "signature") for item in _several(signature)]
    if not signatures:
        raise StateFailed("Missing `signature` parameter")
    wanted = [*_several(signed_by_all), *([pubkey] if pubkey else [])]
    accepted = _several(signed_by_any)
    if not wanted and not accepted:
        raise StateFailed("Missing pubkey(s) to check against")
    path = filename if filename is not None else _stored((text or "").encode(), "text")

    def signed(key: str) -> bool:
        public_key = _stored(_key(key), "key")
        return any(
            _is_good(path, public_key, stored_signature, digest) for stored_signature in signatures
        )

    if accepted and not any(map(signed, accepted)):
        message = "None of the public keys listed in signed_by_any provided a valid signature"
        return {"res": False, "message": message}
    for key in wanted:
        if not signed(key):
            return {"res": False, "message": f"Invalid signature for key {_shown(key)}"}
    return {"res": True, "message": "All required keys have provided a signature"}


def _several(value: Some) -> list[str]:
    return (
        []
        if value is None
        else [value]
        if isinstance(value, str)
        else [str(item) for item in value]
    )


def _is_good(path: str, key: str, signature: str, digest: str) -> bool:
    kind = cmd.probe(["openssl", "pkey", "-pubin", "-in", key, "-noout", "-text_pub"])
    if kind.retcode:
        raise StateFailed(f"this is no public key that openssl can read: {kind.stderr.strip()}")
    if kind.stdout.upper().startswith("ED"):
        argv = [
            "openssl",
            "pkeyutl",
            "-verify",
            "-pubin",
            "-inkey",
            key,
            "-rawin",
            "-in",
            path,
            "-sigfile",
            signature,
        ]
        return cmd.probe(argv).retcode == 0
    argv = ["openssl", "dgst", f"-{digest}", "-verify", key, "-signature", signature]
    if kind.stdout.startswith(("RSA", "Public-Key")) and "Modulus" in kind.stdout:
        argv += ["-sigopt", "rsa_padding_mode:pss", "-sigopt", "rsa_pss_saltlen:-2"]
    return cmd.probe([*argv, path]).retcode == 0


def _key(key: str) -> bytes:
    """A public key as PEM or DER."""
    if "-----BEGIN" in key:
        return key.encode()
    data = _read(key)
    return _decoded(key) if data is None else data


def _signature(signature: str) -> bytes:
    data = _read(signature)
    if data is None:
        return _decoded(signature)
    try:
        return base64.b64decode(b"".join(data.split()), validate=True)
    except binascii.Error:
        return data


def _read(place: str) -> bytes | None:
    """Read a path or an address; None for what is neither."""
    if place.startswith("/") and _paths.isfile(place):
        return file.read_bytes(place)
    if "://" not in place:
        return None
    local = file.fetched(place) if place.startswith(("salt://", "file://")) else None
    if local is None and place.startswith(("http://", "https://", "ftp://")):
        local, problem = file.download(place)
        if problem:
            raise StateFailed(problem)
    if local is None:
        raise StateFailed(f"Failed fetching '{place}'")
    return file.read_bytes(local)


def _decoded(text: str) -> bytes:
    digits = "".join(text.split())
    try:
        return bytes.fromhex(digits)
    except ValueError:
        pass
    try:
        return base64.b64decode(digits, validate=True)
    except (binascii.Error, ValueError):
        raise StateFailed(
            f"{_shown(text)} is neither a file nor base64 nor hexadecimal digits"
        ) from None


def _shown(key: str) -> str:
    return key if len(key) <= 60 else f"{key.strip().splitlines()[-1][:20]}..."


def _stored(data: bytes, name: str) -> str:
    """Data in a file that openssl can read."""
    folder = here.scratch()
    path = os.path.join(folder, f"{name}-{len(_paths.listdir(folder))}")
    with open(path, "xb") as target:
        target.write(data)
    return path
