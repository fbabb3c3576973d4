# SPDX-License-Identifier: Apache-2.0
"""Keys, certificates, requests and revocation lists as bytes."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.serialization import pkcs7, pkcs12

from modules.certificates.x509.library import explained
from runner.api import CommandFailed

KEY_ENCODINGS = ("der", "pem", "pkcs12")
CERTIFICATE_ENCODINGS = ("der", "pem", "pkcs7_der", "pkcs7_pem", "pkcs12")
PLAIN_ENCODINGS = ("der", "pem")


def valid(value: str, what: str, choices: Sequence[str]) -> None:
    """Raise CommandFailed for a value that is none of the choices."""
    if value not in choices:
        raise CommandFailed(f"Invalid value '{value}' for {what}. Valid: {', '.join(choices)}")


def _encoding(name: str) -> Any:
    return {"pem": serialization.Encoding.PEM, "der": serialization.Encoding.DER}[name]


def private_key(
    key: Any, encoding: str = "pem", passphrase: str | None = None, compatible: bool = False
) -> bytes:
    """A private key. compatible: encrypt PKCS#12 so that old programs read it."""
    valid(encoding, "encoding", KEY_ENCODINGS)
    if encoding == "pkcs12":
        with explained("pkcs12"):
            return bytes(
                pkcs12.serialize_key_and_certificates(
                    None, key, None, None, _box(passphrase, compatible)
                )
            )
    data: bytes = key.private_bytes(
        _encoding(encoding),
        serialization.PrivateFormat.PKCS8,
        serialization.BestAvailableEncryption(passphrase.encode())
        if passphrase
        else serialization.NoEncryption(),
    )
    return data


def _box(passphrase: str | None, compatible: bool) -> serialization.KeySerializationEncryption:
    if not passphrase:
        return serialization.NoEncryption()
    if not compatible:
        return serialization.BestAvailableEncryption(passphrase.encode())
    return (
        serialization.PrivateFormat.PKCS12.encryption_builder()
        .kdf_rounds(50000)
        .key_cert_algorithm(pkcs12.PBES.PBESv1SHA1And3KeyTripleDESCBC)
        .hmac_hash(hashes.SHA1())
        .build(passphrase.encode())
    )


def certificate(
    certificate: x509.Certificate,
    encoding: str = "pem",
    chain: Sequence[x509.Certificate] = (),
    key: Any = None,
    passphrase: str | None = None,
    compatible: bool = False,
    friendly_name: str | None = None,
) -> bytes:
    """A certificate with those beside it. key, passphrase, compatible, friendly_name: of
    PKCS#12.
    """
    valid(encoding, "encoding", CERTIFICATE_ENCODINGS)
    if encoding == "der" and chain:
        raise CommandFailed("Cannot encode a certificate chain in DER")
    if encoding == "pkcs12":
        with explained("pkcs12"):
            box: bytes = pkcs12.serialize_key_and_certificates(
                friendly_name.encode() if friendly_name else None,
                key,
                certificate,
                list(chain) or None,
                _box(passphrase, compatible),
            )
            return box
    kind = _encoding(encoding.rpartition("_")[2])
    if encoding.startswith("pkcs7"):
        return bytes(pkcs7.serialize_certificates([certificate, *chain], kind))
    return b"".join(one.public_bytes(kind) for one in (certificate, *chain))


def plain(thing: Any, encoding: str = "pem") -> bytes:
    """A request or a revocation list."""
    valid(encoding, "encoding", PLAIN_ENCODINGS)
    data: bytes = thing.public_bytes(_encoding(encoding))
    return data


def text(data: bytes, encoding: str) -> str:
    """Encoded bytes as text: PEM as it is, others in base64."""
    if encoding in ("pem", "pkcs7_pem"):
        return data.decode()
    return base64.b64encode(data).decode()
