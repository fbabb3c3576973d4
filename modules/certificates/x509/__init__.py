# SPDX-License-Identifier: Apache-2.0
"""Keys, certificates, requests and revocation lists, by the Python package cryptography.

The submodules import it; the functions here do so when they are called.
"""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from typing import Any

from modules import _paths, file
from modules._texts.call_options import options_of
from modules.certificates.x509 import arguments as _arguments
from modules.certificates.x509 import building, describe, loading
from modules.certificates.x509 import encoding as encoded
from modules.certificates.x509.library import need as _need
from runner.api import CommandFailed, for_states, here

Source = str | bytes
PRIVATE = "0600"


def _text(data: bytes, encoding: str, raw: bool) -> Any:
    return data if raw else encoded.text(data, encoding)


def _write(path: str, data: bytes, overwrite: bool = True, private: bool = False) -> str:
    if file.lexists(path) and not overwrite:
        return "The file already exists and overwrite was set to false"
    file.write(path, data, mode=None if file.exists(path) else PRIVATE, private=private)
    return f"PEM written to {path}"


def _secret(text: Any) -> Any:
    """A private key that is returned: a template's output does not show it."""
    if isinstance(text, str) and not here.called_directly:
        here.secret(text)
    return text


def create_private_key(
    algo: str = "rsa",
    keysize: int | None = None,
    passphrase: str | None = None,
    encoding: str = "pem",
    pkcs12_encryption_compat: bool = False,
    path: str | None = None,
    raw: bool = False,
) -> Any:
    """Generate a private key: the key, or with path what was written where.

    algo: rsa, ec, ed25519 or ed448. keysize: of rsa (2048, 3072, 4096) and ec (256, 384, 521).
    encoding: pem, der or pkcs12.

        runner call x509.create_private_key algo=ec path=/etc/ssl/private/www.key
    """
    _need()
    key = building.new_key(algo, keysize)
    data = encoded.private_key(key, encoding, passphrase, pkcs12_encryption_compat)
    if path:
        return _write(path, data, private=True)
    return _secret(_text(data, encoding, raw))


def encode_private_key(
    private_key: Source,
    encoding: str = "pem",
    passphrase: str | None = None,
    private_key_passphrase: str | None = None,
    pkcs12_encryption_compat: bool = False,
    raw: bool = False,
) -> Any:
    """Encode a private key anew. passphrase: of the answer. private_key_passphrase: the present
    one.
    """
    _need()
    key = loading.private_key(private_key, private_key_passphrase).key
    data = encoded.private_key(key, encoding, passphrase, pkcs12_encryption_compat)
    return _secret(_text(data, encoding, raw))


def create_certificate(
    ca_server: str | None = None,
    signing_policy: str | None = None,
    encoding: str = "pem",
    append_certs: Source | Sequence[Source] | None = None,
    pkcs12_passphrase: str | None = None,
    pkcs12_encryption_compat: bool = False,
    pkcs12_friendlyname: str | None = None,
    path: str | None = None,
    overwrite: bool = True,
    raw: bool = False,
    **kwargs: Any,
) -> Any:
    """Create a certificate: the text, or with path what was written where.

    The further arguments are those of the state x509.certificate_managed.

        runner call x509.create_certificate signing_private_key=/etc/ssl/private/ca.key CN=test
    """
    _need()
    given = _arguments.with_policy(
        {"ca_server": ca_server, "signing_policy": signing_policy, **_further(kwargs)}
    )
    made = building.certificate(given).sign()
    key = None
    if encoding == "pkcs12" and given.get("private_key"):
        key = loading.private_key(given["private_key"], given.get("private_key_passphrase")).key
    data = encoded.certificate(
        made,
        encoding,
        chain(append_certs),
        key,
        pkcs12_passphrase,
        pkcs12_encryption_compat,
        pkcs12_friendlyname,
    )
    if given.get("copypath"):
        _write(copy_path(given, made), encoded.certificate(made))
    if path:
        return _write(path, data, overwrite, private=encoding == "pkcs12")
    text = _text(data, encoding, raw)
    return _secret(text) if key is not None else text


CERTIFICATE_ARGUMENTS = tuple(
    """
    digest signing_private_key signing_private_key_passphrase signing_cert public_key private_key
    private_key_passphrase csr subject serial_number not_before not_after days_valid copypath
    prepend_cn
    """.split()
)


def _further(kwargs: Mapping[str, Any], *more: str) -> dict[str, Any]:
    """The further arguments of a function. Raises CommandFailed for an unknown one."""
    given = options_of(kwargs)
    for name in given:
        if name in (*CERTIFICATE_ARGUMENTS, *more) or _arguments.known(name):
            continue
        if name not in _arguments.WITHOUT_EFFECT:
            raise CommandFailed(f"{name} is no part of a subject, and no extension")
        here.warn(f"{name} has no effect")
    return given


@for_states
def chain(sources: Source | Sequence[Source] | None) -> list[Any]:
    """The certificates of one or several sources, for states."""
    several = [sources] if isinstance(sources, str | bytes) else list(sources or ())
    found = []
    for source in several:
        loaded = loading.certificate(source)
        found += [loaded.certificate, *loaded.chain]
    return found


@for_states
def copy_path(given: Mapping[str, Any], certificate: Any) -> str:
    """The path of the copy that `copypath` asks for: the serial number, after the common name with
    `prepend_cn`.
    """
    serial = f"{certificate.serial_number:x}"
    name = f"{_common_name(certificate)}-{serial}" if given.get("prepend_cn") else serial
    if "/" in name or name.startswith("."):
        raise CommandFailed(f"prepend_cn: {name!r} cannot be the name of a file")
    return f"{str(given['copypath']).rstrip('/')}/{name}.crt"


def _common_name(certificate: Any) -> str:
    from cryptography.x509.oid import NameOID

    values = certificate.subject.get_attributes_for_oid(NameOID.COMMON_NAME)
    return str(values[0].value) if values else ""


def encode_certificate(
    certificate: Source,
    encoding: str = "pem",
    append_certs: Source | Sequence[Source] | None = None,
    private_key: Source | None = None,
    private_key_passphrase: str | None = None,
    pkcs12_passphrase: str | None = None,
    pkcs12_encryption_compat: bool = False,
    pkcs12_friendlyname: str | None = None,
    raw: bool = False,
) -> Any:
    """Encode a certificate anew: pem, der, pkcs7_pem, pkcs7_der or pkcs12."""
    _need()
    key = loading.private_key(private_key, private_key_passphrase).key if private_key else None
    data = encoded.certificate(
        loading.certificate(certificate).certificate,
        encoding,
        chain(append_certs),
        key,
        pkcs12_passphrase,
        pkcs12_encryption_compat,
        pkcs12_friendlyname,
    )
    text = _text(data, encoding, raw)
    return _secret(text) if key is not None else text


def create_csr(
    private_key: Source,
    private_key_passphrase: str | None = None,
    digest: str = "sha256",
    encoding: str = "pem",
    path: str | None = None,
    raw: bool = False,
    **kwargs: Any,
) -> Any:
    """Create a certificate signing request: the text, or with path what was written where.

    The further arguments are those of the state x509.csr_managed.
    """
    _need()
    given = {
        "private_key": private_key,
        "private_key_passphrase": private_key_passphrase,
        "digest": digest,
        **_arguments.named(_further(kwargs)),
    }
    data = encoded.plain(building.request(given).sign(), encoding)
    return _write(path, data) if path else _text(data, encoding, raw)


def encode_csr(csr: Source, encoding: str = "pem", raw: bool = False) -> Any:
    """Encode a certificate signing request anew: pem or der."""
    _need()
    return _text(encoded.plain(loading.request(csr)[0], encoding), encoding, raw)


def create_crl(
    signing_private_key: Source,
    revoked: Sequence[Mapping[str, Any]],
    signing_cert: Source | None = None,
    signing_private_key_passphrase: str | None = None,
    include_expired: bool = False,
    days_valid: int | None = None,
    digest: str = "sha256",
    encoding: str = "pem",
    extensions: Any = None,
    path: str | None = None,
    raw: bool = False,
) -> Any:
    """Create a certificate revocation list: the text, or with path what was written where.

    The arguments are those of the state x509.crl_managed.
    """
    _need()
    given = {
        "signing_private_key": signing_private_key,
        "signing_private_key_passphrase": signing_private_key_passphrase,
        "signing_cert": signing_cert,
        "revoked": revoked,
        "include_expired": include_expired,
        "days_valid": days_valid,
        "digest": digest,
        "extensions": extensions,
    }
    data = encoded.plain(building.revocation_list(given).sign(None), encoding)
    return _write(path, data) if path else _text(data, encoding, raw)


def encode_crl(crl: Source, encoding: str = "pem", raw: bool = False) -> Any:
    """Encode a certificate revocation list anew: pem or der."""
    _need()
    return _text(encoded.plain(loading.revocation_list(crl)[0], encoding), encoding, raw)


def read_certificate(certificate: Source) -> dict[str, Any]:
    """Describe a certificate: subject, issuer, dates, fingerprints, extensions.

    {{ salt['x509.read_certificate']('/etc/ssl/certs/www.crt').not_after }}
    """
    _need()
    return describe.certificate(loading.certificate(certificate).certificate)


def read_certificates(glob_path: str) -> dict[str, Any]:
    """Describe the certificates whose paths a glob matches; what is none is left out."""
    _need()
    described = {}
    for path in sorted(_paths.glob(glob_path)):
        try:
            described[path] = describe.certificate(loading.certificate(path).certificate)
        except CommandFailed:
            continue
    return described


def read_csr(csr: Source) -> dict[str, Any]:
    """Describe a certificate signing request."""
    _need()
    return describe.request(loading.request(csr)[0])


def read_crl(crl: Source) -> dict[str, Any]:
    """Describe a certificate revocation list."""
    _need()
    return describe.revocation_list(loading.revocation_list(crl)[0])


def get_public_key(key: Source, passphrase: str | None = None, asObj: bool | None = None) -> str:
    """The public key of a private or public key, a certificate or a request, as PEM. asObj: Salt's
    argument for its own use, without effect.
    """
    _need()
    return describe.public_text(loading.public_key(key, passphrase))


def get_private_key_size(private_key: Source, passphrase: str | None = None) -> int | None:
    """The bits of a private key; none for ed25519 and ed448."""
    _need()
    return describe.size_of(loading.private_key(private_key, passphrase).key)


def get_signing_policy(signing_policy: str, ca_server: str | None = None) -> dict[str, Any]:
    """A signing policy of the configuration; empty where there is none."""
    if ca_server:
        _arguments.with_policy({"ca_server": ca_server})
    try:
        return _arguments.policy(signing_policy)
    except CommandFailed:
        return {}


def expires(certificate: Source, days: int = 0) -> bool:
    """Return whether a certificate has expired, or will in so many days.

    {% if salt['x509.expires']('/etc/ssl/certs/www.crt', days=30) %}...{% endif %}
    """
    _need()
    end = loading.certificate(certificate).certificate.not_valid_after_utc
    return bool(end <= datetime.datetime.now(datetime.UTC) + datetime.timedelta(days=days))


def expired(certificate: Source) -> dict[str, Any]:
    """Return whether a certificate has expired: {path, cn, expired}."""
    return {**_identity(certificate), "expired": expires(certificate)}


def will_expire(certificate: Source, days: int) -> dict[str, Any]:
    """Return whether a certificate will have expired in so many days: {check_days, path, cn,
    will_expire}.
    """
    return {"check_days": days, **_identity(certificate), "will_expire": expires(certificate, days)}


def _identity(certificate: Source) -> dict[str, Any]:
    _need()
    path = (
        {"path": certificate} if isinstance(certificate, str) and file.is_file(certificate) else {}
    )
    return {**path, "cn": _common_name(loading.certificate(certificate).certificate)}


def verify_private_key(
    private_key: Source, public_key: Source, passphrase: str | None = None
) -> bool:
    """Return whether a private key belongs to a public key, a certificate or a request."""
    _need()
    key = loading.private_key(private_key, passphrase).key
    return loading.same_key(key.public_key(), loading.public_key(public_key))


def verify_signature(
    certificate: Source,
    signing_pub_key: Source | None = None,
    signing_pub_key_passphrase: str | None = None,
) -> bool:
    """Return whether a certificate is signed by a key, which may be given as a certificate; without
    one, by its own.
    """
    _need()
    key = loading.public_key(signing_pub_key or certificate, signing_pub_key_passphrase)
    return building.signed_by(loading.certificate(certificate).certificate, key)


def verify_crl(crl: Source, cert: Source) -> bool:
    """Return whether a revocation list is signed by the key of a certificate."""
    _need()
    return building.signed_by(loading.revocation_list(crl)[0], loading.public_key(cert))


def get_pem_entry(text: Source, pem_type: str | None = None) -> str:
    """The PEM entry of a text or a file, with its lines in order.

    pem_type: CERTIFICATE, for example. Raises CommandFailed unless there is exactly one.
    """
    _need()
    found = loading.entries(loading.data_of(text).decode("utf-8", "replace"))
    entries = [entry for kind, entry in found if pem_type in (None, kind)]
    if len(entries) != 1 and not (entries and pem_type is None):
        raise CommandFailed(
            f"{loading.named(text)}PEM does not contain a single entry of type {pem_type or 'any'}"
        )
    text = "".join(entries)
    return str(_secret(text)) if "PRIVATE KEY-----" in text else text


def get_pem_entries(glob_path: str) -> dict[str, str]:
    """The PEM entries of the files whose paths a glob matches; what has none is left out."""
    found = {}
    for path in sorted(_paths.glob(glob_path)):
        try:
            found[path] = get_pem_entry(path)
        except CommandFailed:
            continue
    return found


def write_pem(text: Source, path: str, overwrite: bool = True, pem_type: str | None = None) -> str:
    """Write the PEM entry of a text or a file. Salt's answer says where."""
    entry = get_pem_entry(text, pem_type)
    return _write(path, entry.encode(), overwrite, private="PRIVATE KEY-----" in entry)
