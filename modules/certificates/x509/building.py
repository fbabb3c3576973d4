# SPDX-License-Identifier: Apache-2.0
"""What is to be made of arguments: keys, certificates, requests and revocation lists, before they
are signed; how they differ from those that exist; and the signing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, ed448, ed25519, rsa

from modules.certificates.x509 import describe, extensions, loading, names
from modules.certificates.x509.encoding import valid
from modules.certificates.x509.library import explained
from runner.api import CommandFailed, Record, here

ALGORITHMS = ("rsa", "ec", "ed25519", "ed448")
RSA_SIZES = (2048, 3072, 4096)
CURVES: dict[int, ec.EllipticCurve] = {
    256: ec.SECP256R1(),
    384: ec.SECP384R1(),
    521: ec.SECP521R1(),
}
DIGESTS: dict[str, hashes.HashAlgorithm] = {
    "sha1": hashes.SHA1(),
    "sha224": hashes.SHA224(),
    "sha256": hashes.SHA256(),
    "sha384": hashes.SHA384(),
    "sha512": hashes.SHA512(),
    "sha512_224": hashes.SHA512_224(),
    "sha512_256": hashes.SHA512_256(),
    "sha3_224": hashes.SHA3_224(),
    "sha3_256": hashes.SHA3_256(),
    "sha3_384": hashes.SHA3_384(),
    "sha3_512": hashes.SHA3_512(),
}
DAYS_VALID, DAYS_REMAINING = 365, 90
LIST_DAYS_VALID, LIST_DAYS_REMAINING = 100, 30


# ---------------------------------------------------------------- private keys


def key_size(algo: str, keysize: int | None) -> int | None:
    """The size that a key of an algorithm gets; None where it has one alone.

    Raises CommandFailed for an unknown algorithm, and for a size that it does not have.
    """
    if algo not in ALGORITHMS:
        raise CommandFailed(
            f"Invalid algorithm specified for generating private key: {algo}. Valid:"
            f" {', '.join(ALGORITHMS)}"
        )
    if algo == "rsa":
        size = keysize or RSA_SIZES[0]
        if size not in RSA_SIZES:
            raise CommandFailed("RSA key size must be either 2048, 3072 or 4096 bits.")
        return size
    if algo == "ec":
        size = keysize or 256
        if size not in CURVES:
            raise CommandFailed("EC key size must be either 256, 384, 521 bits.")
        return size
    if keysize is not None:
        raise CommandFailed(f"keysize is an invalid parameter for {algo}")
    return None


def new_key(algo: str, keysize: int | None) -> Any:
    """Generate a private key."""
    size = key_size(algo, keysize)
    match algo:
        case "rsa":
            return rsa.generate_private_key(public_exponent=65537, key_size=size or RSA_SIZES[0])
        case "ec":
            return ec.generate_private_key(CURVES[size or 256])
        case "ed25519":
            return ed25519.Ed25519PrivateKey.generate()
    return ed448.Ed448PrivateKey.generate()


# ---------------------------------------------------------------- signing


def _algorithm(key: Any, digest: str) -> Any:
    """The hash that a key signs with; None for keys that have their own."""
    valid(digest, "digest", tuple(DIGESTS))
    if describe.algorithm_of(key) in ("ed25519", "ed448"):
        return None
    return DIGESTS[digest]


def _digest_change(present: Any, key: Any, digest: str) -> dict[str, Any]:
    wanted = None if _algorithm(key, digest) is None else digest
    used = describe.hash_name(present)
    return {"digest": digest} if wanted and used and wanted != used else {}


def _extension_changes(
    wanted: Iterable[x509.Extension[Any]], present: Iterable[x509.Extension[Any]]
) -> dict[str, Any]:
    new = {describe.extension_name(item): item for item in wanted}
    old = {describe.extension_name(item): item for item in present}
    changes = {
        "added": [name for name in new if name not in old],
        "changed": [
            name
            for name, item in new.items()
            if name in old and (item.critical, item.value) != (old[name].critical, old[name].value)
        ],
        "removed": [name for name in old if name not in new],
    }
    return {"extensions": changes} if any(changes.values()) else {}


class Lifetime(Record):
    """How long something is valid, and when it is to be renewed.

    explicit: the ends are arguments, so that a new one has the same.
    """

    start: datetime
    end: datetime
    renewed_before: timedelta
    explicit: bool

    def is_due(self, end: datetime | None) -> bool:
        """Return whether what ends then is to be renewed: a new one ends later."""
        if end is None:
            return True
        now = datetime.now(UTC)
        return end - now < self.renewed_before and self.end > end + timedelta(seconds=1)


def _lifetime(arguments: Mapping[str, Any], days_valid: int, days_remaining: int) -> Lifetime:
    """The lifetime that arguments ask for. What would be renewed in each run, as it never has so
    many days left, is renewed after two thirds of its time.
    """
    now = datetime.now(UTC).replace(microsecond=0)
    after, before = arguments.get("not_after"), arguments.get("not_before")
    start = extensions.moment(before, "not_before") if before else now
    days = arguments.get("days_valid")
    with explained("days_valid"):
        end = (
            extensions.moment(after, "not_after")
            if after
            else start + timedelta(days=days_valid if days is None else days)
        )
    if end <= start:
        raise CommandFailed(f"not_after ({end:%Y-%m-%d}) is not behind not_before")
    given = arguments.get("days_remaining")
    remaining = timedelta(days=days_remaining if given is None else given)
    lasts = end - start
    if remaining >= lasts:
        if given is not None and not after:
            here.warn(
                f"days_remaining ({given}) is not less than the {lasts.days} days of validity:"
                f" renewed when {lasts.days // 3} are left"
            )
        remaining = lasts / 3
    return Lifetime(start, end, remaining, bool(after))


class Signer(Record):
    """Who signs: a private key and, unless what it signs is its own, a certificate."""

    key: Any
    certificate: x509.Certificate | None

    @property
    def keys(self) -> extensions.ExtensionKeys:
        """The signer's side of what extensions speak of."""
        return extensions.ExtensionKeys(issuer=self.key.public_key(), certificate=self.certificate)

    def signed(self, thing: Any) -> bool:
        """Return whether a certificate or a revocation list has the signer's signature."""
        return signed_by(thing, self.key.public_key())


def signed_by(thing: Any, key: Any) -> bool:
    """Return whether a certificate or revocation list is signed by a public key."""
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric import padding

    if isinstance(thing, x509.CertificateRevocationList):
        try:
            return bool(thing.is_signature_valid(key))
        except TypeError:
            return False
    try:
        if isinstance(key, rsa.RSAPublicKey):
            parameters = thing.signature_algorithm_parameters or padding.PKCS1v15()
            key.verify(
                thing.signature,
                thing.tbs_certificate_bytes,
                parameters,
                thing.signature_hash_algorithm,
            )
        elif isinstance(key, ec.EllipticCurvePublicKey):
            key.verify(
                thing.signature,
                thing.tbs_certificate_bytes,
                ec.ECDSA(thing.signature_hash_algorithm),
            )
        else:
            key.verify(thing.signature, thing.tbs_certificate_bytes)
    except (InvalidSignature, TypeError, ValueError, AttributeError):
        return False
    return True


def signer(arguments: Mapping[str, Any]) -> Signer:
    """The signer that arguments name. Raises CommandFailed where key and certificate do not belong
    together.
    """
    source = arguments.get("signing_private_key")
    if not source:
        raise CommandFailed(
            "signing_private_key is missing: give it, or a signing_policy that has it"
        )
    passphrase = arguments.get("signing_private_key_passphrase")
    key = loading.private_key(source, passphrase, "signing_private_key").key
    given = arguments.get("signing_cert")
    certificate = loading.certificate(given).certificate if given else None
    if certificate is not None and not loading.same_key(certificate.public_key(), key.public_key()):
        raise CommandFailed("Signing private key does not match the signing certificate")
    return Signer(key, certificate)


def _name_changes(key: str, wanted: x509.Name, present: x509.Name) -> dict[str, Any]:
    return {key: wanted.rfc4514_string()} if wanted != present else {}


# ---------------------------------------------------------------- certificates


class Certificate(Record):
    """A certificate to be."""

    subject: x509.Name
    issuer: x509.Name
    public_key: Any
    signer: Signer
    extensions: list[x509.Extension[Any]]
    digest: str
    serial: int | None
    lifetime: Lifetime

    def differences(self, present: x509.Certificate) -> dict[str, Any]:
        """The changes that Salt reports for a certificate that is not like this one."""
        changes: dict[str, Any] = {}
        if self.lifetime.is_due(present.not_valid_after_utc):
            changes["expiration"] = True
        elif self.lifetime.explicit and present.not_valid_after_utc != self.lifetime.end:
            changes["not_after"] = f"{self.lifetime.end:%Y-%m-%d %H:%M:%S}"
        changes |= _digest_change(present, self.signer.key, self.digest)
        if self.serial is not None and present.serial_number != self.serial:
            changes["serial_number"] = self.serial
        if not loading.same_key(present.public_key(), self.public_key):
            changes["private_key"] = True
        if not self.signer.signed(present) and "private_key" not in changes:
            changes["signing_private_key"] = True
        changes |= _name_changes("subject_name", self.subject, present.subject)
        changes |= _name_changes("issuer_name", self.issuer, present.issuer)
        return changes | _extension_changes(self.extensions, present.extensions)

    def sign(self) -> x509.Certificate:
        """Make the certificate."""
        with explained("the certificate"):
            builder = (
                x509.CertificateBuilder()
                .subject_name(self.subject)
                .issuer_name(self.issuer)
                .public_key(self.public_key)
                .serial_number(self.serial or x509.random_serial_number())
                .not_valid_before(self.lifetime.start)
                .not_valid_after(self.lifetime.end)
            )
            for extension in self.extensions:
                builder = builder.add_extension(extension.value, extension.critical)
            return builder.sign(self.signer.key, _algorithm(self.signer.key, self.digest))


def certificate(arguments: Mapping[str, Any]) -> Certificate:
    """The certificate that arguments ask for. Raises CommandFailed for what cannot be one."""
    who = signer(arguments)
    request = arguments.get("csr")
    asked = loading.request(request)[0] if request else None
    if asked is not None and not asked.is_signature_valid:
        raise CommandFailed(f"{loading.named(request)}its signature is wrong")
    key = _public_key(arguments, who, asked)
    if who.certificate is None and not loading.same_key(key, who.key.public_key()):
        raise CommandFailed("Signing private key does not match the certificate's public key")
    subject = names.subject(arguments.get("subject"), arguments)
    keys = who.keys._replace(subject=key)
    wanted = extensions.make(extensions.IN_CERTIFICATES, arguments, keys)
    if asked is not None:
        own = {extension.oid for extension in wanted}
        wanted += [extension for extension in asked.extensions if extension.oid not in own]
    digest = str(arguments.get("digest") or "sha256")
    _algorithm(who.key, digest)
    return Certificate(
        subject,
        who.certificate.subject if who.certificate is not None else subject,
        key,
        who,
        wanted,
        digest,
        serial_number(arguments.get("serial_number")),
        _lifetime(arguments, DAYS_VALID, DAYS_REMAINING),
    )


def _public_key(
    arguments: Mapping[str, Any], who: Signer, request: x509.CertificateSigningRequest | None
) -> Any:
    if arguments.get("public_key"):
        return loading.public_key(arguments["public_key"])
    if arguments.get("private_key"):
        passphrase = arguments.get("private_key_passphrase")
        key = loading.private_key(arguments["private_key"], passphrase, "private_key").key
        return key.public_key()
    if request is not None:
        return request.public_key()
    if who.certificate is not None:
        raise CommandFailed(
            "This certificate is not self-signed (signing_cert is set) and thus needs public_key,"
            " private_key or csr to derive public key to sign"
        )
    return who.key.public_key()


def serial_number(value: Any) -> int | None:
    """A serial number: a number, or hexadecimal digits with colons. Raises CommandFailed for
    others.
    """
    if value is None:
        return None
    text = str(value).strip()
    try:
        number = int(text.replace(":", ""), 16) if ":" in text or not text.isdigit() else int(text)
    except ValueError:
        raise CommandFailed(f"serial_number: {value!r} is not a number") from None
    if not 0 < number < 1 << 159:
        raise CommandFailed(f"serial_number: {value!r} is not between 1 and 2^159")
    return number


# ---------------------------------------------------------------- requests


class SigningRequest(Record):
    """A certificate signing request to be."""

    subject: x509.Name
    key: Any
    extensions: list[x509.Extension[Any]]
    digest: str

    def differences(self, present: x509.CertificateSigningRequest) -> dict[str, Any]:
        """The changes that Salt reports for a request that is not like this one."""
        changes = _digest_change(present, self.key, self.digest)
        if not loading.same_key(present.public_key(), self.key.public_key()):
            changes["private_key"] = True
        changes |= _name_changes("subject_name", self.subject, present.subject)
        return changes | _extension_changes(self.extensions, present.extensions)

    def sign(self) -> x509.CertificateSigningRequest:
        """Make the request."""
        with explained("the certificate signing request"):
            builder = x509.CertificateSigningRequestBuilder().subject_name(self.subject)
            for extension in self.extensions:
                builder = builder.add_extension(extension.value, extension.critical)
            return builder.sign(self.key, _algorithm(self.key, self.digest))


def request(arguments: Mapping[str, Any]) -> SigningRequest:
    """The request that arguments ask for. Raises CommandFailed for what cannot be one."""
    passphrase = arguments.get("private_key_passphrase")
    key = loading.private_key(arguments["private_key"], passphrase, "private_key").key
    digest = str(arguments.get("digest") or "sha256")
    _algorithm(key, digest)
    keys = extensions.ExtensionKeys(subject=key.public_key())
    return SigningRequest(
        names.subject(arguments.get("subject"), arguments),
        key,
        extensions.make(extensions.IN_REQUESTS, arguments, keys),
        digest,
    )


# ---------------------------------------------------------------- revocation lists


class Revoked(Record):
    """An entry of a revocation list. date: None for now."""

    serial: int
    date: datetime | None
    extensions: list[x509.Extension[Any]]

    def like(self, present: x509.RevokedCertificate) -> bool:
        """Return whether an entry that exists says the same."""
        if self.date is not None and present.revocation_date_utc != self.date:
            return False
        return not _extension_changes(self.extensions, present.extensions)


class RevocationList(Record):
    """A certificate revocation list to be. counted: its number is one more than that before."""

    issuer: x509.Name
    signer: Signer
    revoked: list[Revoked]
    extensions: list[x509.Extension[Any]]
    counted: bool
    digest: str
    lifetime: Lifetime

    def differences(self, present: x509.CertificateRevocationList) -> dict[str, Any]:
        """The changes that Salt reports for a list that is not like this one."""
        changes: dict[str, Any] = {}
        if self.lifetime.is_due(present.next_update_utc):
            changes["expiration"] = True
        changes |= _digest_change(present, self.signer.key, self.digest)
        changes |= _name_changes("issuer_name", self.issuer, present.issuer)
        if not self.signer.signed(present):
            changes["public_key"] = True
        old = {entry.serial_number: entry for entry in present}
        new = {entry.serial: entry for entry in self.revoked}
        entries = {
            "added": [describe.number(serial) for serial in new if serial not in old],
            "changed": [
                describe.number(serial)
                for serial, entry in new.items()
                if serial in old and not entry.like(old[serial])
            ],
            "removed": [describe.number(serial) for serial in old if serial not in new],
        }
        if any(entries.values()):
            changes["revocations"] = entries
        kept = [
            item
            for item in present.extensions
            if not (self.counted and isinstance(item.value, x509.CRLNumber))
        ]
        return changes | _extension_changes(self.extensions, kept)

    def sign(
        self, present: x509.CertificateRevocationList | None
    ) -> x509.CertificateRevocationList:
        """Make the list. present: the one before, for dates that stay and the number."""
        old = {entry.serial_number: entry for entry in present or ()}
        with explained("the certificate revocation list"):
            builder = (
                x509.CertificateRevocationListBuilder()
                .issuer_name(self.issuer)
                .last_update(self.lifetime.start)
                .next_update(self.lifetime.end)
            )
            for extension in self.extensions:
                builder = builder.add_extension(extension.value, extension.critical)
            if self.counted:
                builder = builder.add_extension(x509.CRLNumber(_number(present) + 1), False)
            for entry in self.revoked:
                before = old.get(entry.serial)
                date = before.revocation_date_utc if before else self.lifetime.start
                builder = builder.add_revoked_certificate(_entry(entry, date))
            return builder.sign(self.signer.key, _algorithm(self.signer.key, self.digest))


def _entry(entry: Revoked, otherwise: datetime) -> x509.RevokedCertificate:
    builder = (
        x509.RevokedCertificateBuilder()
        .serial_number(entry.serial)
        .revocation_date(entry.date or otherwise)
    )
    for extension in entry.extensions:
        builder = builder.add_extension(extension.value, extension.critical)
    return builder.build()


def _number(present: x509.CertificateRevocationList | None) -> int:
    if present is None:
        return 0
    try:
        return int(present.extensions.get_extension_for_class(x509.CRLNumber).value.crl_number)
    except x509.ExtensionNotFound:
        return 0


def revocation_list(arguments: Mapping[str, Any]) -> RevocationList:
    """The revocation list that arguments ask for. Raises CommandFailed for what cannot be one."""
    who = signer(arguments)
    if who.certificate is None:
        raise CommandFailed("signing_cert is missing: a revocation list needs an issuer name")
    wanted = extensions.listed(arguments.get("extensions"))
    counted = wanted.get("cRLNumber") == "auto"
    unknown = [name for name in wanted if name not in extensions.IN_LISTS]
    if unknown:
        raise CommandFailed(f"extensions: {unknown[0]} is none of {', '.join(extensions.IN_LISTS)}")
    made = {key: value for key, value in wanted.items() if not (counted and key == "cRLNumber")}
    digest = str(arguments.get("digest") or "sha256")
    _algorithm(who.key, digest)
    expired = bool(arguments.get("include_expired"))
    revoked = [
        entry
        for item in arguments.get("revoked") or ()
        if (entry := _revoked(item, expired)) is not None
    ]
    return RevocationList(
        who.certificate.subject,
        who,
        revoked,
        extensions.make(extensions.IN_LISTS, made, who.keys),
        counted,
        digest,
        _lifetime(arguments, LIST_DAYS_VALID, LIST_DAYS_REMAINING),
    )


def _revoked(given: Any, expired: bool) -> Revoked | None:
    """An entry that an SLS asks for; None for what has expired and is left out."""
    item = _flat(given)
    end = None
    if item.get("certificate"):
        certificate = loading.certificate(item["certificate"]).certificate
        serial: int | None = certificate.serial_number
        end = certificate.not_valid_after_utc
    else:
        serial = serial_number(item.get("serial_number"))
    if serial is None:
        raise CommandFailed("revoked: each entry needs serial_number or certificate")
    if item.get("not_after"):
        end = extensions.moment(item["not_after"], "not_after")
    if end is not None and end < datetime.now(UTC) and not expired:
        return None
    wanted = extensions.listed(item.get("extensions"))
    if item.get("reason"):
        wanted.setdefault("CRLReason", item["reason"])
    unknown = [name for name in wanted if name not in extensions.IN_ENTRIES]
    if unknown:
        raise CommandFailed(f"revoked: {unknown[0]} is none of {', '.join(extensions.IN_ENTRIES)}")
    date = item.get("revocation_date")
    return Revoked(
        serial,
        extensions.moment(date, "revocation_date") if date else None,
        extensions.make(extensions.IN_ENTRIES, wanted, extensions.ExtensionKeys()),
    )


_ENTRY = ("serial_number", "certificate", "not_after", "revocation_date", "reason", "extensions")


def _flat(item: Any) -> dict[str, Any]:
    """An entry as a mapping; also the old form {name: [{key: value}, ...]}."""
    if isinstance(item, Mapping) and len(item) == 1:
        (inner,) = item.values()
        if isinstance(inner, Sequence) and not isinstance(inner, str):
            item = extensions.listed(inner)
    if not isinstance(item, Mapping):
        raise CommandFailed(f"revoked: {item!r} is no mapping")
    unknown = [key for key in item if key not in _ENTRY]
    if unknown:
        raise CommandFailed(f"revoked: {unknown[0]} is none of {', '.join(_ENTRY)}")
    return dict(item)
