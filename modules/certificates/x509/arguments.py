# SPDX-License-Identifier: Apache-2.0
"""Which arguments certificates, requests and revocation lists take beside those of a signature, and
what a signing policy adds to them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from runner.api import CommandFailed, here

SUBJECT = tuple(
    """
    C countryName ST SP stateOrProvinceName L localityName STREET streetAddress O organizationName
    OU organizationalUnitName organizationUnitName CN commonName MAIL emailAddress Email SN surname
    GN givenName UID userid SERIALNUMBER serialNumber
    """.split()
)
EXTENSIONS = tuple(
    """
    basicConstraints keyUsage extendedKeyUsage subjectKeyIdentifier authorityKeyIdentifier
    issuerAltName authorityInfoAccess subjectAltName crlDistributionPoints certificatePolicies
    policyConstraints inhibitAnyPolicy nameConstraints noCheck tlsfeature nsComment nsCertType
    """.split()
)
_SPELLED = {name.lower(): name for name in EXTENSIONS} | {
    "x509v3 basic constraints": "basicConstraints",
    "x509v3 key usage": "keyUsage",
    "x509v3 extended key usage": "extendedKeyUsage",
    "x509v3 subject key identifier": "subjectKeyIdentifier",
    "x509v3 authority key identifier": "authorityKeyIdentifier",
    "x509v3 issuer alternative name": "issuerAltName",
    "x509v3 subject alternative name": "subjectAltName",
    "x509v3 crl distribution points": "crlDistributionPoints",
    "x509v3 certificate policies": "certificatePolicies",
    "authority information access": "authorityInfoAccess",
    "algorithm": "digest",  # its older name
}
# those of `x509` before `x509_v2`, which no longer say anything
WITHOUT_EFFECT = ("version", "text", "testrun", "subject_hash", "issuer_hash")


def known(name: str) -> bool:
    """Return whether a further argument is a part of a subject, an extension or an older name."""
    return name in SUBJECT or name.lower() in _SPELLED


def named(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments by the names that extensions have here."""
    return {_SPELLED.get(key.lower(), key): value for key, value in arguments.items()}


def policy(name: str | None) -> dict[str, Any]:
    """A signing policy of the configuration or the pillar (x509_signing_policies), by its name.

    Raises CommandFailed where there is none.
    """
    if not name:
        return {}
    policies = here.call("config.get", "x509_signing_policies") or {}
    if name not in policies:
        there = ", ".join(map(str, policies)) or "none is configured"
        raise CommandFailed(
            f"signing_policy: there is no {name} in x509_signing_policies ({there})"
        )
    values = policies[name] or {}
    if not isinstance(values, Mapping):
        values = {key: value for item in values for key, value in item.items()}
    return {key: value for key, value in values.items() if key != "minions"}


def with_policy(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments of a certificate with those of its signing policy, which take precedence.

    Raises CommandFailed for an unknown policy, and for one of another machine.
    """
    if arguments.get("ca_server"):
        raise CommandFailed(
            "ca_server: a machine without a master cannot have another one sign; sign where the"
            " key of the authority is, or get certificates with acme.cert"
        )
    given = {key: value for key, value in arguments.items() if value is not None}
    rules = named(policy(given.get("signing_policy")))
    return {**named(given), **rules}
