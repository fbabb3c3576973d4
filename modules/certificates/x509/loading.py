# SPDX-License-Identifier: Apache-2.0
"""Keys, certificates, requests and revocation lists from files and texts."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable
from typing import Any

from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.serialization import pkcs7, pkcs12

from modules import file
from runner.api import CommandFailed, Record

NO_SOURCE = (
    "Could not load provided source. You need to pass an existing file, (PEM|hex|base64)-encoded"
    " string or raw bytes."
)
ENCRYPTED = "Private key is encrypted. Please provide a password."
WRONG = "Bad decrypt - is the password correct?"
PLAIN = "A passphrase is given, but the private key is not encrypted."
_PEM = re.compile(r"-----BEGIN ([A-Z0-9 ]+)-----(.*?)-----END \1-----", re.DOTALL)
_REFUSED = (ValueError, TypeError, UnsupportedAlgorithm)


class PassphraseWrong(CommandFailed):
    """The passphrase does not open a private key, or there is one without need."""


class PassphraseMissing(CommandFailed):
    """A private key is encrypted, and there is no passphrase."""


class NotOfThisKind(CommandFailed):
    """The data is something else than what was expected."""


class LoadedKey(Record):
    """A private key. encoding: der, pem or pkcs12. encrypted: whether it had a passphrase."""

    key: Any
    encoding: str
    encrypted: bool


class LoadedCertificate(Record):
    """A certificate with those beside it.

    encoding: pem, der, pkcs7_pem, pkcs7_der or pkcs12. friendly_name, key (with it), encrypted
    (whether it has a passphrase): of pkcs12.
    """

    certificate: x509.Certificate
    chain: list[x509.Certificate]
    encoding: str
    friendly_name: str = ""
    key: Any = None
    encrypted: bool = False


def data_of(source: str | bytes, argument: str = "") -> bytes:
    """The bytes of a file, or of a text: PEM, hexadecimal digits or base64.

    argument: what messages call it. Raises CommandFailed where it is none of these.
    """
    if isinstance(source, bytes):
        return source
    if not isinstance(source, str):
        raise CommandFailed(NO_SOURCE)
    if "-----BEGIN " in source:
        return _tidy(source).encode("utf-8", "surrogateescape")
    if source.startswith("/"):
        if not file.is_file(source):
            where = f"{argument}: {source}" if argument else source
            raise CommandFailed(f"{where}: there is no such file", missing=("file", source))
        return file.read_bytes(source)
    text = "".join(source.split())
    try:
        if re.fullmatch(r"[0-9A-Fa-f:]+", text) and text:
            return binascii.unhexlify(text.replace(":", ""))
        if text:
            return base64.b64decode(text, validate=True)
    except ValueError:
        pass
    raise CommandFailed(NO_SOURCE)


def entries(text: str) -> list[tuple[str, str]]:
    """The PEM entries of a text as (type, tidy entry)."""
    return [(match[1], _entry(match[1], match[2])) for match in _PEM.finditer(text)]


def _entry(kind: str, body: str) -> str:
    if ":" in body:  # headers, as in encrypted keys of old
        lines = body.strip("\n")
    else:
        joined = "".join(body.split())
        lines = "\n".join(joined[at : at + 64] for at in range(0, len(joined), 64))
    return f"-----BEGIN {kind}-----\n{lines}\n-----END {kind}-----\n"


def _tidy(text: str) -> str:
    return "".join(entry for _, entry in entries(text)) or text


def is_pem(data: bytes) -> bool:
    """Return whether data has a PEM entry."""
    return b"-----BEGIN " in data


def named(source: object) -> str:
    """The name of a source for messages: its path, or nothing of a text."""
    return f"{source}: " if isinstance(source, str) and source.startswith("/") else ""


def private_key(
    source: str | bytes, passphrase: str | None = None, argument: str = ""
) -> LoadedKey:
    """A private key of PEM, DER or PKCS#12. argument: what messages call it.

    Raises PassphraseMissing, PassphraseWrong, and NotOfThisKind for other data.
    """
    data = data_of(source, argument)
    where = named(source)
    secret = passphrase.encode() if passphrase else None
    if is_pem(data):
        try:
            key = serialization.load_pem_private_key(data, secret)
            return LoadedKey(key, "pem", secret is not None)
        except _REFUSED as problem:
            raise _refusal(problem, where, "Could not load PEM-encoded private key") from None
    try:
        key = serialization.load_der_private_key(data, secret)
        return LoadedKey(key, "der", secret is not None)
    except _REFUSED as problem:
        failure = _refusal(problem, where, "")
    if not isinstance(failure, NotOfThisKind):
        raise failure
    return _from_pkcs12(data, secret, where)


def _from_pkcs12(data: bytes, secret: bytes | None, where: str) -> LoadedKey:
    neither = "Could not deserialize binary data, neither as DER nor PKCS#12."
    try:
        key = pkcs12.load_pkcs12(data, secret).key
    except _REFUSED as problem:
        if "password" in str(problem).lower():
            kind = PassphraseWrong if secret else PassphraseMissing
            raise kind(where + (WRONG if secret else ENCRYPTED)) from None
        raise NotOfThisKind(where + neither) from None
    if key is None:
        raise NotOfThisKind(f"{where}there is no private key in it")
    if secret and _opens_without(data):
        raise PassphraseWrong(where + PLAIN)
    return LoadedKey(key, "pkcs12", secret is not None)


def _opens_without(data: bytes) -> bool:
    try:
        pkcs12.load_pkcs12(data, None)
    except _REFUSED:
        return False
    return True


def _refusal(problem: Exception, where: str, otherwise: str) -> CommandFailed:
    """The failure for what the package says of a private key."""
    text = str(problem).lower()
    if "password was not given" in text:
        return PassphraseMissing(where + ENCRYPTED)
    if "password was given but" in text:
        return PassphraseWrong(where + PLAIN)
    if "decrypt" in text or "incorrect password" in text:
        return PassphraseWrong(where + WRONG)
    return NotOfThisKind(where + otherwise)


def certificate(source: str | bytes, passphrase: str | None = None) -> LoadedCertificate:
    """A certificate of PEM, DER, PKCS#7 or PKCS#12, with those beside it.

    Raises PassphraseWrong for a PKCS#12 that does not open, and NotOfThisKind for other data.
    """
    data = data_of(source)
    where = named(source)
    if is_pem(data):
        return _pem_certificates(data, where)
    try:
        return LoadedCertificate(x509.load_der_x509_certificate(data), [], "der")
    except _REFUSED:
        pass
    try:
        first, *others = pkcs7.load_der_pkcs7_certificates(data)
        return LoadedCertificate(first, others, "pkcs7_der")
    except _REFUSED:
        pass
    neither = "Could not deserialize binary data, neither as DER nor PKCS#7, PKCS#12."
    try:
        box = pkcs12.load_pkcs12(data, passphrase.encode() if passphrase else None)
    except _REFUSED as problem:
        if "password" in str(problem).lower():
            raise PassphraseWrong(where + WRONG) from None
        raise NotOfThisKind(where + neither) from None
    if box.cert is None:
        raise NotOfThisKind(f"{where}there is no certificate in it")
    beside = [other.certificate for other in box.additional_certs]
    name = (box.cert.friendly_name or b"").decode("utf-8", "replace")
    locked = not _opens_without(data)
    return LoadedCertificate(box.cert.certificate, beside, "pkcs12", name, box.key, locked)


def _pem_certificates(data: bytes, where: str) -> LoadedCertificate:
    try:
        if b"-----BEGIN PKCS7-----" in data:
            first, *others = pkcs7.load_pem_pkcs7_certificates(data)
            return LoadedCertificate(first, others, "pkcs7_pem")
        first, *others = x509.load_pem_x509_certificates(data)
    except _REFUSED:
        raise NotOfThisKind(f"{where}Could not load PEM-encoded certificate.") from None
    return LoadedCertificate(first, others, "pem")


def _one(
    source: str | bytes, what: str, pem: Callable[[bytes], Any], der: Callable[[bytes], Any]
) -> tuple[Any, str]:
    data = data_of(source)
    encoding = "pem" if is_pem(data) else "der"
    try:
        return (pem if encoding == "pem" else der)(data), encoding
    except _REFUSED:
        raise NotOfThisKind(
            f"{named(source)}Could not load {encoding.upper()}-encoded {what}."
        ) from None


def request(source: str | bytes) -> tuple[x509.CertificateSigningRequest, str]:
    """A certificate signing request and its encoding."""
    return _one(
        source, "certificate signing request", x509.load_pem_x509_csr, x509.load_der_x509_csr
    )


def revocation_list(source: str | bytes) -> tuple[x509.CertificateRevocationList, str]:
    """A certificate revocation list and its encoding."""
    return _one(
        source, "certificate revocation list", x509.load_pem_x509_crl, x509.load_der_x509_crl
    )


def public_key(source: str | bytes, passphrase: str | None = None) -> Any:
    """The public key of a public or private key, a certificate or a request.

    Raises CommandFailed where the source is none of them.
    """
    data = data_of(source)
    kinds: list[Callable[[], Any]] = [
        lambda: _one(
            data, "public key", serialization.load_pem_public_key, serialization.load_der_public_key
        )[0],
        lambda: certificate(data, passphrase).certificate.public_key(),
        lambda: request(data)[0].public_key(),
        lambda: private_key(data, passphrase).key.public_key(),
    ]
    for kind in kinds:
        try:
            return kind()
        except (NotOfThisKind, PassphraseWrong):
            continue
    raise CommandFailed(
        f"{named(source)}there is no public key, certificate, request or private key in it"
        " that can be read"
    )


def same_key(one: Any, other: Any) -> bool:
    """Return whether two public keys are equal."""
    return key_bytes(one) == key_bytes(other)


def key_bytes(key: Any) -> bytes:
    """A public key as DER."""
    encoded: bytes = key.public_bytes(
        serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    return encoded
