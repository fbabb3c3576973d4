# SPDX-License-Identifier: Apache-2.0
"""Certificates, requests and revocation lists as mappings, in Salt's form."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed448, ed25519, rsa

from modules.certificates.x509.extensions import (
    ACCESS,
    IN_CERTIFICATES,
    IN_ENTRIES,
    IN_LISTS,
    KEY_USAGES,
    PURPOSES,
)
from modules.certificates.x509.names import fields_of, shown


def digits(data: bytes) -> str:
    """Bytes as hexadecimal digits with colons."""
    return data.hex(":").upper()


def number(serial: int) -> str:
    """A serial number as hexadecimal digits with colons."""
    return digits(serial.to_bytes(max(1, (serial.bit_length() + 7) // 8), "big"))


def _time(moment: datetime | None) -> str | None:
    return moment.strftime("%Y-%m-%d %H:%M:%S") if moment else None


def algorithm_of(key: Any) -> str:
    """The algorithm of a public or private key, as `algo` says it."""
    for name, kinds in {
        "rsa": (rsa.RSAPublicKey, rsa.RSAPrivateKey),
        "ec": (ec.EllipticCurvePublicKey, ec.EllipticCurvePrivateKey),
        "ed25519": (ed25519.Ed25519PublicKey, ed25519.Ed25519PrivateKey),
        "ed448": (ed448.Ed448PublicKey, ed448.Ed448PrivateKey),
    }.items():
        if isinstance(key, kinds):
            return name
    return "unknown"


def size_of(key: Any) -> int | None:
    """The bits of a key; None where its algorithm has one size alone."""
    return getattr(key, "key_size", None)


def signature_algorithm(thing: Any) -> str:
    """The name of the algorithm that signed a certificate, request or list."""
    oid = thing.signature_algorithm_oid
    name: str = oid._name
    return name


def hash_name(thing: Any) -> str | None:
    """The digest of a signature; None for algorithms that have their own."""
    used: hashes.HashAlgorithm | None = thing.signature_hash_algorithm
    return used.name.replace("-", "_").replace("/", "_") if used else None


def public_text(key: Any) -> str:
    """A public key as PEM."""
    data: bytes = key.public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    return data.decode()


def _name_hash(name: x509.Name) -> str:
    """The short hash of a name, as Salt computes it."""
    digest = hashlib.sha1(name.public_bytes(), usedforsecurity=False).digest()
    return digits(digest[3::-1])


def certificate(certificate: x509.Certificate) -> dict[str, Any]:
    """Describe a certificate."""
    key = certificate.public_key()
    return {
        "version": certificate.version.value + 1,
        "key_size": size_of(key),
        "key_type": algorithm_of(key),
        "serial_number": number(certificate.serial_number),
        "fingerprints": {
            name: digits(certificate.fingerprint(kind))
            for name, kind in {
                "sha1": hashes.SHA1(),
                "sha256": hashes.SHA256(),
                "md5": hashes.MD5(),
            }.items()
        },
        "subject": fields_of(certificate.subject),
        "subject_hash": _name_hash(certificate.subject),
        "subject_str": certificate.subject.rfc4514_string(),
        "issuer": fields_of(certificate.issuer),
        "issuer_hash": _name_hash(certificate.issuer),
        "issuer_str": certificate.issuer.rfc4514_string(),
        "not_before": _time(certificate.not_valid_before_utc),
        "not_after": _time(certificate.not_valid_after_utc),
        "public_key": public_text(key),
        "extensions": extensions(certificate.extensions, IN_CERTIFICATES),
        "signature_algorithm": signature_algorithm(certificate),
    }


def request(request: x509.CertificateSigningRequest) -> dict[str, Any]:
    """Describe a certificate signing request."""
    key = request.public_key()
    return {
        "key_size": size_of(key),
        "key_type": algorithm_of(key),
        "subject": fields_of(request.subject),
        "subject_hash": _name_hash(request.subject),
        "subject_str": request.subject.rfc4514_string(),
        "public_key_hash": digits(x509.SubjectKeyIdentifier.from_public_key(key).digest),
        "extensions": extensions(request.extensions, IN_CERTIFICATES),
    }


def revocation_list(revoked: x509.CertificateRevocationList) -> dict[str, Any]:
    """Describe a certificate revocation list."""
    return {
        "issuer": fields_of(revoked.issuer),
        "last_update": _time(revoked.last_update_utc),
        "next_update": _time(revoked.next_update_utc),
        "revoked_certificates": {
            number(entry.serial_number).replace(":", ""): {
                "revocation_date": _time(entry.revocation_date_utc),
                "extensions": extensions(entry.extensions, IN_ENTRIES),
            }
            for entry in revoked
        },
        "extensions": extensions(revoked.extensions, IN_LISTS),
        "signature_algorithm": signature_algorithm(revoked),
    }


def extensions(present: Iterable[x509.Extension[Any]], order: Iterable[str]) -> dict[str, Any]:
    """Describe extensions by the names that arguments have; those of an order first."""
    described = {
        extension_name(extension): {
            "critical": extension.critical,
            **_VALUES.get(type(extension.value), _unknown)(extension.value),
        }
        for extension in present
    }
    first = {name: described[name] for name in order if name in described}
    return first | described


def extension_name(extension: x509.Extension[Any]) -> str:
    """The name of an extension as arguments say it; its OID for one that has no argument."""
    return _NAMES.get(type(extension.value), str(extension.oid.dotted_string))


def _unknown(value: Any) -> dict[str, Any]:
    data = value.value if isinstance(value, x509.UnrecognizedExtension) else value.public_bytes()
    return {"value": digits(data)}


def _names(values: Iterable[x509.GeneralName] | None) -> list[str]:
    return [shown(name) for name in values or ()]


def _usage(value: x509.KeyUsage) -> dict[str, Any]:
    agreement = ("encipher_only", "decipher_only")
    return {
        name: bool((value.key_agreement or field not in agreement) and getattr(value, field))
        for name, field in sorted(KEY_USAGES.items())
    }


def _purposes(value: x509.ExtendedKeyUsage) -> dict[str, Any]:
    spelled = {oid: name for name, oid in PURPOSES.items() if name != "ipsecIKE"}
    return {"value": [spelled.get(oid, oid.dotted_string) for oid in value]}


def _authority(value: x509.AuthorityKeyIdentifier) -> dict[str, Any]:
    serial = value.authority_cert_serial_number
    return {
        "keyid": digits(value.key_identifier) if value.key_identifier else None,
        "issuer": _names(value.authority_cert_issuer) or None,
        "issuer_sn": number(serial) if serial is not None else None,
    }


def _access(value: x509.AuthorityInformationAccess) -> dict[str, Any]:
    spelled = {oid: name for name, oid in ACCESS.items()}
    return {
        "value": [
            {
                spelled.get(item.access_method, item.access_method.dotted_string): shown(
                    item.access_location
                ).removeprefix("URI:")
            }
            for item in value
        ]
    }


def _points(value: Iterable[x509.DistributionPoint]) -> dict[str, Any]:
    return {
        "value": [
            {
                "crlissuer": _names(point.crl_issuer),
                "fullname": _names(point.full_name),
                "reasons": sorted(reason.value for reason in point.reasons or ()),
                "relativename": point.relative_name.rfc4514_string()
                if point.relative_name
                else None,
            }
            for point in value
        ]
    }


def _issuing(value: x509.IssuingDistributionPoint) -> dict[str, Any]:
    return {
        "fullname": _names(value.full_name),
        "onysomereasons": sorted(reason.value for reason in value.only_some_reasons or ()),
        "relativename": value.relative_name.rfc4514_string() if value.relative_name else None,
        "onlyuser": value.only_contains_user_certs,
        "onlyCA": value.only_contains_ca_certs,
        "onlyAA": value.only_contains_attribute_certs,
        "indirectCRL": value.indirect_crl,
    }


def _policies(value: x509.CertificatePolicies) -> dict[str, Any]:
    return {
        "value": [
            {
                policy.policy_identifier.dotted_string: list(
                    map(_qualifier, policy.policy_qualifiers or ())
                )
            }
            for policy in value
        ]
    }


def _qualifier(value: str | x509.UserNotice) -> dict[str, Any]:
    if isinstance(value, str):
        return {"practice_statement": value}
    reference = value.notice_reference
    return {
        "organizataion": reference.organization if reference else None,  # Salt's spelling
        "notice_numbers": list(reference.notice_numbers) if reference else [],
        "explicit_text": value.explicit_text,
    }


_NAMES: dict[type, str] = {
    x509.BasicConstraints: "basicConstraints",
    x509.KeyUsage: "keyUsage",
    x509.ExtendedKeyUsage: "extendedKeyUsage",
    x509.SubjectKeyIdentifier: "subjectKeyIdentifier",
    x509.AuthorityKeyIdentifier: "authorityKeyIdentifier",
    x509.IssuerAlternativeName: "issuerAltName",
    x509.AuthorityInformationAccess: "authorityInfoAccess",
    x509.SubjectAlternativeName: "subjectAltName",
    x509.CRLDistributionPoints: "crlDistributionPoints",
    x509.CertificatePolicies: "certificatePolicies",
    x509.PolicyConstraints: "policyConstraints",
    x509.InhibitAnyPolicy: "inhibitAnyPolicy",
    x509.NameConstraints: "nameConstraints",
    x509.OCSPNoCheck: "noCheck",
    x509.TLSFeature: "tlsfeature",
    x509.CRLNumber: "cRLNumber",
    x509.DeltaCRLIndicator: "deltaCRLIndicator",
    x509.FreshestCRL: "freshestCRL",
    x509.IssuingDistributionPoint: "issuingDistributionPoint",
    x509.CRLReason: "CRLReason",
    x509.InvalidityDate: "invalidityDate",
    x509.CertificateIssuer: "certificateIssuer",
}
_VALUES: dict[type, Callable[[Any], dict[str, Any]]] = {
    x509.BasicConstraints: lambda value: {"ca": value.ca, "pathlen": value.path_length},
    x509.KeyUsage: _usage,
    x509.ExtendedKeyUsage: _purposes,
    x509.SubjectKeyIdentifier: lambda value: {"value": digits(value.digest)},
    x509.AuthorityKeyIdentifier: _authority,
    x509.IssuerAlternativeName: lambda value: {"value": _names(value)},
    x509.AuthorityInformationAccess: _access,
    x509.SubjectAlternativeName: lambda value: {"value": _names(value)},
    x509.CRLDistributionPoints: _points,
    x509.CertificatePolicies: _policies,
    x509.PolicyConstraints: lambda value: {
        "inhibitPolicyMapping": value.inhibit_policy_mapping,
        "requireExplicitPolicy": value.require_explicit_policy,
    },
    x509.InhibitAnyPolicy: lambda value: {"value": value.skip_certs},
    x509.NameConstraints: lambda value: {
        "excluded": _names(value.excluded_subtrees),
        "permitted": _names(value.permitted_subtrees),
    },
    x509.OCSPNoCheck: lambda value: {"value": True},
    x509.TLSFeature: lambda value: {"value": [feature.name for feature in value]},
    x509.CRLNumber: lambda value: {"value": value.crl_number},
    x509.DeltaCRLIndicator: lambda value: {"value": value.crl_number},
    x509.FreshestCRL: _points,
    x509.IssuingDistributionPoint: _issuing,
    x509.CRLReason: lambda value: {"value": value.reason.value},
    x509.InvalidityDate: lambda value: {"value": _time(value.invalidity_date)},
    x509.CertificateIssuer: lambda value: {"value": _names(value)},
}
