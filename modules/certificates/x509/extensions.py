# SPDX-License-Identifier: Apache-2.0
"""Extensions of certificates, requests and revocation lists from what an SLS says."""

from __future__ import annotations

import binascii
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, date, datetime
from typing import Any

from cryptography import x509
from cryptography.x509.oid import AuthorityInformationAccessOID, ExtendedKeyUsageOID

from modules.certificates.x509.library import explained
from modules.certificates.x509.names import distinguished, general, general_names
from runner.api import CommandFailed, Record

KEY_USAGES = {
    "digitalSignature": "digital_signature",
    "nonRepudiation": "content_commitment",
    "keyEncipherment": "key_encipherment",
    "dataEncipherment": "data_encipherment",
    "keyAgreement": "key_agreement",
    "keyCertSign": "key_cert_sign",
    "cRLSign": "crl_sign",
    "encipherOnly": "encipher_only",
    "decipherOnly": "decipher_only",
}
PURPOSES = {
    "serverAuth": ExtendedKeyUsageOID.SERVER_AUTH,
    "clientAuth": ExtendedKeyUsageOID.CLIENT_AUTH,
    "codeSigning": ExtendedKeyUsageOID.CODE_SIGNING,
    "emailProtection": ExtendedKeyUsageOID.EMAIL_PROTECTION,
    "timeStamping": ExtendedKeyUsageOID.TIME_STAMPING,
    "OCSPSigning": ExtendedKeyUsageOID.OCSP_SIGNING,
    "msSmartcardLogin": ExtendedKeyUsageOID.SMARTCARD_LOGON,
    "pkInitKDC": ExtendedKeyUsageOID.KERBEROS_PKINIT_KDC,
    "ipsecIKE": ExtendedKeyUsageOID.IPSEC_IKE,
}
ACCESS = {
    "OCSP": AuthorityInformationAccessOID.OCSP,
    "caIssuers": AuthorityInformationAccessOID.CA_ISSUERS,
}
REASONS = {reason.value: reason for reason in x509.ReasonFlags}
NOT_SUPPORTED = ("nsComment", "nsCertType", "netscapeCertType", "netscapeComment")


class Given(Record):
    """What an SLS says of an extension, however it spells it.

    values: the items of a list or of a text with commas. options: those that have a value.
    """

    critical: bool
    values: list[Any]
    options: dict[str, Any]

    def all(self) -> list[Any]:
        """The items, and the options as mappings."""
        return [*self.values, *({key: value} for key, value in self.options.items())]


class ExtensionKeys(Record):
    """The keys and the certificate that extensions may speak of.

    subject: the public key of what is made. issuer: that of the signer, with its certificate.
    """

    subject: Any = None
    issuer: Any = None
    certificate: x509.Certificate | None = None


def _given(value: Any) -> Given:
    items: list[Any]
    if isinstance(value, Mapping):
        options = {
            str(key): item for key, item in value.items() if key not in ("critical", "value")
        }
        inner = value.get("value", [])
        items = list(inner) if isinstance(inner, list | tuple) else [inner]
        return Given(_truth(value.get("critical", False)), items, options)
    if isinstance(value, str):
        # OpenSSL's own files have a comma behind it, many trees a blank
        text = re.sub(r"^\s*critical\s", "critical,", value)
        items = [part.strip() for part in text.split(",") if part.strip()]
    else:
        items = list(value) if isinstance(value, list | tuple) else [value]
    options = {}
    rest = []
    for item in items:
        if isinstance(item, Mapping):
            options |= {str(key): part for key, part in item.items()}
        elif item != "critical":
            rest.append(item)
    critical = "critical" in items or _truth(options.pop("critical", False))
    return Given(critical, rest, options)


def _truth(value: Any) -> bool:
    return str(value).lower() in ("true", "1", "yes", "always", "on")


def _settings(given: Given) -> dict[str, Any]:
    """Items like `CA:TRUE` and options as one mapping with keys in small letters."""
    settings = {key.lower(): value for key, value in given.options.items()}
    for item in given.values:
        key, colon, value = str(item).partition(":")
        settings[key.strip().lower()] = value.strip() if colon else True
    return settings


def _known(settings: Mapping[str, Any], *names: str) -> None:
    unknown = [key for key in settings if key not in names]
    if unknown:
        raise CommandFailed(f"{', '.join(unknown)} is none of {', '.join(names)}")


def _number(value: Any) -> int | None:
    if value is None:
        return None
    try:
        return int(str(value), 0)
    except ValueError:
        raise CommandFailed(f"{value!r} is not a number") from None


def _basic_constraints(given: Given, keys: ExtensionKeys) -> x509.ExtensionType:
    settings = _settings(given)
    _known(settings, "ca", "pathlen")
    ca = _truth(settings.get("ca", False))
    return x509.BasicConstraints(ca, _number(settings.get("pathlen")) if ca else None)


def _key_usage(given: Given, keys: ExtensionKeys) -> x509.ExtensionType:
    wanted = [str(item) for item in given.values]
    wanted += [key for key, value in given.options.items() if _truth(value)]
    unknown = [name for name in [*wanted, *given.options] if name not in KEY_USAGES]
    if unknown:
        raise CommandFailed(f"{unknown[0]!r} is none of {', '.join(KEY_USAGES)}")
    return x509.KeyUsage(**{field: name in wanted for name, field in KEY_USAGES.items()})


def _purposes(given: Given, keys: ExtensionKeys) -> x509.ExtensionType:
    oids = []
    for item in given.values:
        name = str(item)
        if name in PURPOSES:
            oids.append(PURPOSES[name])
        elif re.fullmatch(r"\d+(\.\d+)+", name):
            oids.append(x509.ObjectIdentifier(name))
        else:
            raise CommandFailed(f"{name!r} is none of {', '.join(PURPOSES)}, and no OID")
    return x509.ExtendedKeyUsage(oids)


def _subject_key(given: Given, keys: ExtensionKeys) -> x509.ExtensionType:
    (value,) = given.values or ["hash"]
    if value == "hash":
        return x509.SubjectKeyIdentifier.from_public_key(keys.subject)
    return x509.SubjectKeyIdentifier(_digits(value))


def _digits(value: Any) -> bytes:
    try:
        return binascii.unhexlify(re.sub(r"[\s:]", "", str(value)))
    except ValueError:
        raise CommandFailed(f"{value!r} is neither `hash` nor hexadecimal digits") from None


def _authority_key(given: Given, keys: ExtensionKeys) -> x509.ExtensionType:
    settings = _settings(given)
    _known(settings, "keyid", "issuer")
    identifier = None
    if "keyid" in settings:
        identifier = _identifier(keys)
    issuer, serial = None, None
    always = str(settings.get("issuer")) == "always"
    if settings.get("issuer") and (always or identifier is None):
        if keys.certificate is not None:
            issuer = [x509.DirectoryName(keys.certificate.issuer)]
            serial = keys.certificate.serial_number
        elif always:
            raise CommandFailed(
                "Could not add authority_cert_issuer and authority_cert_serial_number, but was set"
                " to always: a certificate that signs itself has no other issuer, so write `keyid`"
            )
    return x509.AuthorityKeyIdentifier(identifier, issuer, serial)


def _identifier(keys: ExtensionKeys) -> bytes | None:
    if keys.certificate is not None:
        try:
            extension = keys.certificate.extensions.get_extension_for_class(
                x509.SubjectKeyIdentifier
            )
            return bytes(extension.value.digest)
        except x509.ExtensionNotFound:
            pass
    return bytes(x509.SubjectKeyIdentifier.from_public_key(keys.issuer).digest)


def _alternative(given: Given, keys: ExtensionKeys) -> x509.ExtensionType:
    return x509.SubjectAlternativeName(general_names(given.all()))


def _issuer_alternative(given: Given, keys: ExtensionKeys) -> x509.ExtensionType:
    names = []
    for item in given.all():
        if item != "issuer:copy":
            names += general_names([item])
        elif keys.certificate is None:
            raise CommandFailed("Need CA certificate to copy to issuerAltName")
        else:
            try:
                names += keys.certificate.extensions.get_extension_for_class(
                    x509.SubjectAlternativeName
                ).value
            except x509.ExtensionNotFound:
                raise CommandFailed("the signing certificate has no subjectAltName") from None
    return x509.IssuerAlternativeName(names)


def _access(given: Given, keys: ExtensionKeys) -> x509.ExtensionType:
    pairs = [
        (method, place)
        for method, value in given.options.items()
        for place in (value if isinstance(value, list | tuple) else [value])
    ]
    for item in given.values:
        method, mark, place = str(item).partition(";")
        if not mark:
            raise CommandFailed(f"{item!r}: expected one like OCSP;URI:http://ocsp.example.org")
        pairs.append((method, place))
    descriptions = []
    for method, place in pairs:
        if method not in ACCESS:
            raise CommandFailed(f"{method!r} is none of {', '.join(ACCESS)}")
        descriptions.append(x509.AccessDescription(ACCESS[method], general(place)))
    return x509.AuthorityInformationAccess(descriptions)


def _points(given: Given) -> list[x509.DistributionPoint]:
    plain = {key: value for key, value in given.options.items() if key not in _POINT}
    items = [*given.values, *([given.options] if len(plain) < len(given.options) else [plain])]
    return [_point(item) for item in items if item]


_POINT = ("fullname", "relativename", "crlissuer", "reasons")


def _point(item: Any) -> x509.DistributionPoint:
    if not isinstance(item, Mapping) or not set(item) & set(_POINT):
        return x509.DistributionPoint(general_names([item]), None, None, None)
    full, relative = _place(item)
    issuer = item.get("crlissuer")
    return x509.DistributionPoint(
        full,
        relative,
        _reasons(item.get("reasons")),
        general_names(_several(issuer)) if issuer else None,
    )


def _several(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else [value]


def _place(
    item: Mapping[str, Any],
) -> tuple[list[x509.GeneralName] | None, x509.RelativeDistinguishedName | None]:
    full, relative = item.get("fullname"), item.get("relativename")
    return (
        general_names(_several(full)) if full else None,
        distinguished(relative).rdns[0] if relative else None,
    )


def _reasons(values: Any) -> frozenset[x509.ReasonFlags] | None:
    return frozenset(reason(value) for value in _several(values)) if values else None


def reason(value: Any) -> x509.ReasonFlags:
    """The reason of a revocation by its name. Raises CommandFailed for an unknown one."""
    if value not in REASONS:
        raise CommandFailed(f"{value!r} is not a valid ReasonFlags: {', '.join(REASONS)}")
    return REASONS[value]


def _distribution(given: Given, keys: ExtensionKeys) -> x509.ExtensionType:
    return x509.CRLDistributionPoints(_points(given))


def _freshest(given: Given, keys: ExtensionKeys) -> x509.ExtensionType:
    return x509.FreshestCRL(_points(given))


def _issuing_point(given: Given, keys: ExtensionKeys) -> x509.ExtensionType:
    options = given.options
    settings = {key.lower(): value for key, value in options.items()}
    full, relative = _place(settings)
    return x509.IssuingDistributionPoint(
        full_name=full,
        relative_name=relative,
        only_contains_user_certs=_truth(settings.get("onlyuser", False)),
        only_contains_ca_certs=_truth(settings.get("onlyca", False)),
        only_some_reasons=_reasons(settings.get("onlysomereasons")),
        indirect_crl=_truth(settings.get("indirectcrl", False)),
        only_contains_attribute_certs=_truth(settings.get("onlyaa", False)),
    )


def _policies(given: Given, keys: ExtensionKeys) -> x509.ExtensionType:
    policies = [(str(item), None) for item in given.values] + list(given.options.items())
    return x509.CertificatePolicies(
        [
            x509.PolicyInformation(
                x509.ObjectIdentifier(oid),
                [_qualifier(item) for item in _several(qualifiers)] if qualifiers else None,
            )
            for oid, qualifiers in policies
        ]
    )


def _qualifier(item: Any) -> str | x509.UserNotice:
    if not isinstance(item, Mapping):
        return str(item)
    reference = None
    if item.get("organization"):
        numbers = [int(number) for number in item.get("noticeNumbers", [])]
        reference = x509.NoticeReference(str(item["organization"]), numbers)
    return x509.UserNotice(reference, item.get("text"))


def _policy_constraints(given: Given, keys: ExtensionKeys) -> x509.ExtensionType:
    settings = _settings(given)
    _known(settings, "requireexplicitpolicy", "inhibitpolicymapping")
    return x509.PolicyConstraints(
        _number(settings.get("requireexplicitpolicy")),
        _number(settings.get("inhibitpolicymapping")),
    )


def _inhibit(given: Given, keys: ExtensionKeys) -> x509.ExtensionType:
    return x509.InhibitAnyPolicy(_number(_only(given)) or 0)


def _only(given: Given) -> Any:
    if len(given.values) != 1:
        raise CommandFailed("expected one value")
    return given.values[0]


def _name_constraints(given: Given, keys: ExtensionKeys) -> x509.ExtensionType:
    sides: dict[str, list[Any]] = {"permitted": [], "excluded": []}
    for side, values in given.options.items():
        if side not in sides:
            raise CommandFailed(f"{side!r} is none of permitted, excluded")
        sides[side] += _several(values)
    for item in given.values:
        side, _, rest = str(item).partition(";")
        if side not in sides:
            raise CommandFailed(f"{item!r}: expected one like permitted;DNS:example.org")
        sides[side].append(rest)
    return x509.NameConstraints(
        *(general_names(values) if values else None for values in sides.values())
    )


def _no_check(given: Given, keys: ExtensionKeys) -> x509.ExtensionType:
    return x509.OCSPNoCheck()


def _tls_feature(given: Given, keys: ExtensionKeys) -> x509.ExtensionType:
    features = {feature.name: feature for feature in x509.TLSFeatureType}
    unknown = [item for item in given.values if item not in features]
    if unknown:
        raise CommandFailed(f"{unknown[0]!r} is none of {', '.join(features)}")
    return x509.TLSFeature([features[item] for item in given.values])


def _list_number(given: Given, keys: ExtensionKeys) -> x509.ExtensionType:
    return x509.CRLNumber(_number(_only(given)) or 0)


def _delta(given: Given, keys: ExtensionKeys) -> x509.ExtensionType:
    return x509.DeltaCRLIndicator(_number(_only(given)) or 0)


def _reason(given: Given, keys: ExtensionKeys) -> x509.ExtensionType:
    return x509.CRLReason(reason(_only(given)))


def _invalidity(given: Given, keys: ExtensionKeys) -> x509.ExtensionType:
    return x509.InvalidityDate(moment(_only(given), "invalidityDate").replace(tzinfo=None))


def _certificate_issuer(given: Given, keys: ExtensionKeys) -> x509.ExtensionType:
    return x509.CertificateIssuer(general_names(given.all()))


Maker = Callable[[Given, ExtensionKeys], x509.ExtensionType]
IN_CERTIFICATES: dict[str, Maker] = {
    "basicConstraints": _basic_constraints,
    "keyUsage": _key_usage,
    "extendedKeyUsage": _purposes,
    "subjectKeyIdentifier": _subject_key,
    "authorityKeyIdentifier": _authority_key,
    "issuerAltName": _issuer_alternative,
    "authorityInfoAccess": _access,
    "subjectAltName": _alternative,
    "crlDistributionPoints": _distribution,
    "certificatePolicies": _policies,
    "policyConstraints": _policy_constraints,
    "inhibitAnyPolicy": _inhibit,
    "nameConstraints": _name_constraints,
    "noCheck": _no_check,
    "tlsfeature": _tls_feature,
}
# what tells of the issuer is not known when a request is made
IN_REQUESTS = {
    name: maker
    for name, maker in IN_CERTIFICATES.items()
    if name not in ("authorityKeyIdentifier", "issuerAltName")
}
IN_LISTS: dict[str, Maker] = {
    "authorityKeyIdentifier": _authority_key,
    "issuerAltName": _issuer_alternative,
    "authorityInfoAccess": _access,
    "issuingDistributionPoint": _issuing_point,
    "cRLNumber": _list_number,
    "deltaCRLIndicator": _delta,
    "freshestCRL": _freshest,
}
IN_ENTRIES: dict[str, Maker] = {
    "CRLReason": _reason,
    "certificateIssuer": _certificate_issuer,
    "invalidityDate": _invalidity,
}


def make(
    table: Mapping[str, Maker], wanted: Mapping[str, Any], keys: ExtensionKeys
) -> list[x509.Extension[Any]]:
    """The extensions of a table that arguments ask for. Raises CommandFailed with the name of one
    that is wrong.
    """
    for name in NOT_SUPPORTED:
        if wanted.get(name) is not None:
            raise CommandFailed(f"{name} is currently not implemented.")
    extensions = []
    for name, maker in table.items():
        value = wanted.get(name)
        if value is None or value is False:
            continue
        try:
            with explained(name):
                given = _given(value)
                made = maker(given, keys)
        except CommandFailed as problem:
            text = problem.message
            raise CommandFailed(text if name in text else f"{name}: {text}") from None
        extensions.append(x509.Extension(made.oid, given.critical, made))
    return extensions


def listed(values: Sequence[Any] | Mapping[str, Any] | None) -> dict[str, Any]:
    """Extensions as a mapping, from a mapping or a list of mappings."""
    if isinstance(values, Mapping):
        return dict(values)
    merged: dict[str, Any] = {}
    for item in values or ():
        if not isinstance(item, Mapping):
            raise CommandFailed(f"extensions: {item!r} is no mapping")
        merged |= item
    return merged


def moment(value: Any, what: str) -> datetime:
    """A time of UTC, written like 2027-01-31 12:00:00. Raises CommandFailed for other texts."""
    if isinstance(value, datetime):
        return value.replace(tzinfo=UTC)
    if isinstance(value, date):
        return datetime(value.year, value.month, value.day, tzinfo=UTC)
    for form in ("%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d"):
        try:
            return datetime.strptime(str(value), form).replace(tzinfo=UTC)
        except ValueError:
            continue
    raise CommandFailed(f"{what}: {value!r} is not a time like 2027-01-31 12:00:00")
