# SPDX-License-Identifier: Apache-2.0
"""Private keys, certificates, signing requests and revocation lists, made on this machine."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Annotated, Any

from modules import file
from modules.certificates import x509
from modules.certificates.x509 import arguments as known_arguments
from modules.certificates.x509 import building, describe, loading
from modules.certificates.x509 import encoding as encoded
from modules.certificates.x509.library import need
from runner.api import (
    AbsolutePath,
    FilePath,
    Group,
    Line,
    Named,
    OneOrMany,
    Plan,
    Planned,
    Record,
    Secret,
    StateFailed,
    folders_above,
)
from runner.api.claims import writes
from states.certificates._x509 import (
    FileArguments,
    ManagedFile,
    manage,
    paths,
    present_data,
    refuse_private_key,
)

owns = writes()
NON_IDEMPOTENT = {"private_key_managed": "with new it makes another key in each run"}
Further = Annotated[Any, Named(known_arguments.known)]
FOR_KEYS = "0400"


def autorequire(name: str, **arguments: object) -> Iterator[tuple[str, str]]:
    """A file comes after the keys and certificates that it is made of, its owner and the folders
    above.
    """
    yield from (("file", folder) for folder in folders_above(name))
    for key in ("user", "group"):
        if arguments.get(key):
            yield key, str(arguments[key])
    sources = ("private_key", "signing_private_key", "signing_cert", "public_key", "csr", "text")
    more = arguments.get("append_certs")
    for path in paths(
        [*map(arguments.get, sources), *(more if isinstance(more, list) else [more])]
    ):
        if path != name:
            yield "x509", path
            yield "file", path


def dry_run_check(
    plan: Plan,
    name: str,
    user: str | int | None = None,
    group: str | int | None = None,
    **arguments: object,
) -> None:
    """Raise StateFailed for a file that the caller may not write, or not give away."""
    path = file.real_path(name) if arguments.get("follow_symlinks", True) else name
    file.refuse_rewrite(path)
    file.refuse_owner(path, user, group)


@file.validated
def private_key_managed(
    name: FilePath,
    algo: Line = "rsa",
    keysize: int | None = None,
    passphrase: Secret[Line] | None = None,
    encoding: Line = "pem",
    new: bool = False,
    overwrite: bool = False,
    pkcs12_encryption_compat: bool = False,
    arguments: ManagedFile = FileArguments(mode=FOR_KEYS),
) -> Planned:
    """Make sure that there is a private key.

    A key whose algorithm or size differs is replaced by a new one; one whose encoding or passphrase
    alone differs stays the same key. It is written with its mode from the start.

    name: The file.
    algo: The kind of key: `rsa`, `ec`, `ed25519` or `ed448`.
    keysize: The size in bits; of rsa 2048 (without it), 3072 or 4096, of ec 256 (without it), 384
      or 521.
    passphrase: The passphrase that it is encrypted with.
    encoding: `pem`, `der` or `pkcs12`.
    new: Make another one in each run, for a state that runs with a prereq on what needs it.
    overwrite: Replace what is there even if it is no key, or one that the passphrase does not open.
    pkcs12_encryption_compat: Encrypt a PKCS#12 file for old programs.
    user, group, attrs, makedirs, create, follow_symlinks, check_cmd, tmp_dir, tmp_ext: As of
      file.managed.
    mode: The rights of the file.
    dir_mode: The rights of the folders that makedirs creates; without it 0700.
    backup: Ignored; an old key is kept nowhere.

        /etc/ssl/private/www.key:
          x509.private_key_managed:
            - algo: ec

    Behaviour: Salt 3008's x509_v2.
    """
    need()
    building.key_size(algo, keysize)
    encoded.valid(encoding, "encoding", encoded.KEY_ENCODINGS)
    arguments = arguments._replace(dir_mode=arguments.dir_mode or "0700")
    writing = arguments.writing(name, private=True)
    data = present_data(writing)
    present = None
    if data is None:
        changes: dict[str, Any] = {"created": name}
    elif new:
        changes = {"replaced": name}
    else:
        present, changes = _key_changes(name, data, algo, keysize, passphrase, encoding, overwrite)

    def make() -> bytes:
        key = present if present is not None else building.new_key(algo, keysize)
        return encoded.private_key(key, encoding, passphrase, pkcs12_encryption_compat)

    return (yield from manage("private key", writing, arguments, changes, make))


def _key_changes(
    name: str,
    data: bytes,
    algo: str,
    keysize: int | None,
    passphrase: str | None,
    encoding: str,
    overwrite: bool,
) -> tuple[Any, dict[str, Any]]:
    """(the key if it stays, how its file differs)."""
    try:
        loaded = loading.private_key(data, passphrase)
        stays = True
    except loading.PassphraseWrong as problem:
        if problem.message == loading.PLAIN:
            loaded = loading.private_key(data)
        elif overwrite:
            return None, {"passphrase": True, "created": name}
        else:
            raise StateFailed(
                "The provided passphrase cannot decrypt the private key. Pass overwrite: true to"
                " force regeneration"
            ) from None
    except loading.PassphraseMissing:
        if overwrite:
            return None, {"passphrase": True, "created": name}
        raise StateFailed(
            "The existing file is encrypted. Pass overwrite: true to force regeneration without"
            " passphrase"
        ) from None
    except loading.NotOfThisKind:
        if overwrite:
            return None, {"replaced": name}
        raise StateFailed(
            "The existing file does not seem to be a private key formatted as DER, PEM or embedded"
            " in PKCS12. Pass overwrite: true to force regeneration"
        ) from None
    changes: dict[str, Any] = {}
    if describe.algorithm_of(loaded.key) != algo:
        changes["algo"] = algo
    elif describe.size_of(loaded.key) != building.key_size(algo, keysize) and algo in ("rsa", "ec"):
        changes["keysize"] = building.key_size(algo, keysize)
    stays = not changes
    if loaded.encoding != encoding:
        changes["encoding"] = encoding
    if loaded.encrypted != bool(passphrase):
        changes["passphrase"] = True
    return loaded.key if stays else None, changes


class CertificateArguments(Record):
    """A certificate that is to be.

    days_remaining: Renew it when it has less; without it 90. What lasts no longer is renewed after
      two thirds of its time.
    ca_server: refused; there is no other machine to ask.
    signing_policy: The name of arguments in x509_signing_policies of the configuration or the
      pillar, which go before those here.
    encoding: `pem`, `der`, `pkcs7_pem`, `pkcs7_der`, or `pkcs12` with private_key in it.
    append_certs: Certificates that follow it in the file.
    digest: The algorithm of the signature: `sha256` and others.
    signing_private_key: The key that signs; without signing_cert the certificate signs itself.
    signing_private_key_passphrase: What signing_private_key is encrypted with.
    signing_cert: The certificate of who signs.
    public_key: The key that it is for.
    private_key: The private key that it is for, instead of public_key.
    private_key_passphrase: What private_key is encrypted with.
    csr: The request that the key comes from, and the extensions that are not given.
    subject: The whole name, as text (CN=www.example.org,O=Example), list or mapping, instead of its
      parts.
    serial_number: The serial number; without it a random one.
    not_before: From when it is valid (2027-01-31 12:00:00, UTC); without it from now on.
    not_after: Until when it is valid, instead of days_valid.
    days_valid: How long it is valid; without it 365.
    pkcs12_passphrase: What a PKCS#12 file is encrypted with.
    pkcs12_encryption_compat: Encrypt a PKCS#12 file for old programs.
    pkcs12_friendlyname: The name of the entry in a PKCS#12 file.
    copypath: A folder for a copy named by the serial number.
    prepend_cn: Begin the name of the copy in copypath with the common name.
    """

    days_remaining: int | None = None
    ca_server: Line | None = None
    signing_policy: Line | None = None
    encoding: Line = "pem"
    append_certs: OneOrMany[str] | None = None
    digest: Line = "sha256"
    signing_private_key: str | None = None
    signing_private_key_passphrase: Secret[Line] | None = None
    signing_cert: str | None = None
    public_key: str | None = None
    private_key: str | None = None
    private_key_passphrase: Secret[Line] | None = None
    csr: str | None = None
    subject: str | list[Any] | dict[str, Any] | None = None
    serial_number: int | Line | None = None
    not_before: Any = None
    not_after: Any = None
    days_valid: int | None = None
    pkcs12_passphrase: Secret[Line] | None = None
    pkcs12_encryption_compat: bool = False
    pkcs12_friendlyname: Line | None = None
    copypath: AbsolutePath | None = None
    prepend_cn: bool = False


Certificate = Annotated[CertificateArguments, Group()]


@file.validated
def certificate_managed(
    name: FilePath,
    certificate: Certificate = CertificateArguments(),
    arguments: ManagedFile = FileArguments(),
    **further: Further,
) -> Planned:
    """Make sure that there is a certificate, and that it is valid for some time yet.

    Keys and certificates are given as a path or a text.

    Any other argument is a part of the subject (C, ST, L, STREET, O, OU, CN, emailAddress, SN, GN,
    UID, SERIALNUMBER) or an extension: basicConstraints, keyUsage, extendedKeyUsage,
    subjectKeyIdentifier, authorityKeyIdentifier, issuerAltName, authorityInfoAccess,
    subjectAltName, crlDistributionPoints, certificatePolicies, policyConstraints, inhibitAnyPolicy,
    nameConstraints, noCheck, tlsfeature; each as a text or a list (`critical` among them), or a
    mapping.

    name: The file.

        /etc/ssl/certs/www.crt:
          x509.certificate_managed:
            - private_key: /etc/ssl/private/www.key
            - signing_private_key: /etc/ssl/private/ca.key
            - signing_cert: /etc/ssl/certs/ca.crt
            - CN: www.example.org
            - subjectAltName: DNS:www.example.org
            - extendedKeyUsage: serverAuth

    Behaviour: Salt 3008's x509_v2.
    """
    need()
    given = known_arguments.with_policy({**certificate._asdict(), **further})
    return (yield from _certificate(name, given, arguments))


def _certificate(name: str, given: dict[str, Any], arguments: FileArguments) -> Planned:
    encoding = given["encoding"]
    encoded.valid(encoding, "encoding", encoded.CERTIFICATE_ENCODINGS)
    wanted = building.certificate(given)
    chain = x509.chain(given.get("append_certs"))
    if chain and encoding == "der":
        raise StateFailed("Cannot encode a certificate chain in DER")
    copies = given.get("copypath")
    if copies and not file.is_dir(copies):
        raise StateFailed(f"copypath: {copies} is not a directory", missing=("file", copies))
    key = None
    if encoding == "pkcs12" and given.get("private_key"):
        key = loading.private_key(given["private_key"], given.get("private_key_passphrase")).key
    writing = arguments.writing(name, private=key is not None)
    data = present_data(writing)
    if data is None:
        changes: dict[str, Any] = {"created": name}
    else:
        changes = _certificate_changes(name, data, given, wanted, chain, key)

    signed: list[Any] = []  # the certificate, once it is made

    def make() -> bytes:
        certificate = wanted.sign()
        signed.append(certificate)
        return encoded.certificate(
            certificate,
            encoding,
            chain,
            key,
            given.get("pkcs12_passphrase"),
            given["pkcs12_encryption_compat"],
            given.get("pkcs12_friendlyname"),
        )

    anew = "replaced" not in changes
    outcome = yield from manage("certificate", writing, arguments, changes, make, anew)
    for certificate in signed if copies else ():
        copy = x509.copy_path(given, certificate)
        file.write(copy, encoded.certificate(certificate), mode=arguments.mode)
    return outcome


def _certificate_changes(
    name: str, data: bytes, given: dict[str, Any], wanted: Any, chain: list[Any], key: Any
) -> dict[str, Any]:
    """The differences between a certificate's file and what it should be."""
    passphrase = given.get("pkcs12_passphrase")
    try:
        loaded = loading.certificate(data, passphrase)
    except loading.PassphraseWrong:
        return {"pkcs12_passphrase": True}
    except loading.NotOfThisKind:
        refuse_private_key(data, name)
        return {"replaced": name}
    changes: dict[str, Any] = {}
    if loaded.encoding != given["encoding"]:
        changes["encoding"] = given["encoding"]
    if loaded.chain != chain:
        changes["additional_certs"] = True
    if given["encoding"] == "pkcs12" == loaded.encoding:
        if loaded.encrypted != bool(passphrase):
            changes["pkcs12_passphrase"] = True
        if (loaded.key is None) != (key is None):
            changes["private_key"] = True
        if loaded.friendly_name != (given.get("pkcs12_friendlyname") or ""):
            changes["pkcs12_friendlyname"] = given.get("pkcs12_friendlyname")
    changes |= wanted.differences(loaded.certificate)
    return changes


@file.validated
def csr_managed(
    name: FilePath,
    private_key: str,
    private_key_passphrase: Secret[Line] | None = None,
    digest: Line = "sha256",
    encoding: Line = "pem",
    subject: str | list[Any] | dict[str, Any] | None = None,
    arguments: ManagedFile = FileArguments(),
    **further: Further,
) -> Planned:
    """Make sure that there is a certificate signing request.

    Any other argument is a part of the subject or an extension, as of x509.certificate_managed.

    name: The file.
    private_key: The key that a certificate is asked for.
    private_key_passphrase, digest, subject: As of x509.certificate_managed.
    encoding: The form of the file, `pem` or `der`.

        /etc/ssl/www.csr:
          x509.csr_managed:
            - private_key: /etc/ssl/private/www.key
            - CN: www.example.org
            - subjectAltName: DNS:www.example.org

    Behaviour: Salt 3008's x509_v2.
    """
    need()
    encoded.valid(encoding, "encoding", encoded.PLAIN_ENCODINGS)
    wanted = building.request(
        {
            "private_key": private_key,
            "private_key_passphrase": private_key_passphrase,
            "digest": digest,
            "subject": subject,
            **known_arguments.named(further),
        }
    )
    return (
        yield from _signed(
            name,
            "certificate signing request",
            encoding,
            arguments,
            loading.request,
            wanted.differences,
            lambda _: wanted.sign(),
        )
    )


@file.validated
def crl_managed(
    name: FilePath,
    signing_private_key: str,
    revoked: list[dict[str, Any]],
    days_remaining: int | None = None,
    signing_cert: str | None = None,
    signing_private_key_passphrase: Secret[Line] | None = None,
    include_expired: bool = False,
    days_valid: int | None = None,
    digest: Line = "sha256",
    encoding: Line = "pem",
    extensions: list[dict[str, Any]] | dict[str, Any] | None = None,
    arguments: ManagedFile = FileArguments(),
) -> Planned:
    """Make sure that there is a certificate revocation list, and that it is valid for some time
    yet.

    name: The file.
    signing_private_key: The key that signs.
    revoked: The entries, each with serial_number or certificate (its path), and revocation_date,
      not_after, reason (keyCompromise, superseded, ...) or extensions (CRLReason, invalidityDate,
      certificateIssuer).
    days_remaining: Renew it when it has less; without it 30. What lasts no longer is renewed after
      two thirds of its time.
    signing_cert: The certificate of who signs.
    signing_private_key_passphrase, digest: As of x509.certificate_managed.
    include_expired: List what has expired, too.
    days_valid: How long it is valid; without it 100.
    encoding: The form of the file, `pem` or `der`.
    extensions: cRLNumber (auto: one more than the last), deltaCRLIndicator, authorityKeyIdentifier,
      issuerAltName, authorityInfoAccess, issuingDistributionPoint, freshestCRL.

        /etc/ssl/ca.crl:
          x509.crl_managed:
            - signing_private_key: /etc/ssl/private/ca.key
            - signing_cert: /etc/ssl/certs/ca.crt
            - revoked:
              - serial_number: D6:D2:DC:D8:4D:5C:C0:F4
                reason: keyCompromise
            - extensions:
                cRLNumber: auto

    Behaviour: Salt 3008's x509_v2.
    """
    need()
    encoded.valid(encoding, "encoding", encoded.PLAIN_ENCODINGS)
    wanted = building.revocation_list(
        {
            "signing_private_key": signing_private_key,
            "signing_private_key_passphrase": signing_private_key_passphrase,
            "signing_cert": signing_cert,
            "revoked": revoked,
            "extensions": extensions,
            "include_expired": include_expired,
            "days_valid": days_valid,
            "days_remaining": days_remaining,
            "digest": digest,
        }
    )
    return (
        yield from _signed(
            name,
            "certificate revocation list",
            encoding,
            arguments,
            loading.revocation_list,
            wanted.differences,
            wanted.sign,
        )
    )


def _signed(
    name: str,
    what: str,
    encoding: str,
    arguments: FileArguments,
    read: Callable[[bytes], tuple[Any, str]],
    differences: Callable[[Any], dict[str, Any]],
    sign: Callable[[Any], Any],
) -> Planned:
    """Bring a request or a revocation list about.

    what: it in words. read: (the present one, its encoding). differences: those of the present one.
    sign: the new one, made with the present one (None where there is none).
    """
    writing = arguments.writing(name)
    data = present_data(writing)
    present = None
    changes: dict[str, Any] = {"created": name}
    if data is not None:
        try:
            present, form = read(data)
            changes = {"encoding": encoding} if form != encoding else {}
            changes |= differences(present)
        except loading.NotOfThisKind:
            refuse_private_key(data, name)
            changes = {"replaced": name}

    def make() -> bytes:
        return encoded.plain(sign(present), encoding)

    anew = "replaced" not in changes
    return (yield from manage(what, writing, arguments, changes, make, anew))


@file.validated
def pem_managed(name: FilePath, text: str, arguments: ManagedFile = FileArguments()) -> Planned:
    """Make sure that a file holds PEM entries, with their lines in order.

    name: The file.
    text: The entries, whose lines may have been joined, or the path of a file with them.
    mode: The rights; without it as they are, and a new file with a private key is its owner's
      alone.

        /etc/ssl/certs/partner.crt:
          x509.pem_managed:
            - text: /srv/partner.pem

    Behaviour: Salt 3008's x509_v2.
    """
    entry = x509.get_pem_entry(text)
    private = "PRIVATE KEY-----" in entry
    if private and arguments.mode is None and not file.exists(name):
        arguments = arguments._replace(mode="0600")
    writing = arguments.writing(name, private)
    if writing.new and not arguments.create:
        return f"File {name} is not present and is not set for creation"
    changes, _ = writing.difference(entry.encode(), show=False, new_file=False)
    changes |= writing.permission_changes()
    return (yield from writing.write(entry.encode(), changes, {}))
