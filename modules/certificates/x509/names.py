# SPDX-License-Identifier: Apache-2.0
"""Names: subjects, and the general names of extensions."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Mapping, Sequence
from typing import Any

from cryptography import x509
from cryptography.x509.oid import NameOID

from modules.certificates.x509.library import explained
from runner.api import CommandFailed, line_problem

# the parts of a subject in the order that they have in it, with the arguments that say them
FIELDS: dict[str, tuple[str, ...]] = {
    "C": ("countryName",),
    "ST": ("SP", "stateOrProvinceName"),
    "L": ("localityName",),
    "STREET": ("streetAddress",),
    "O": ("organizationName",),
    "OU": ("organizationalUnitName", "organizationUnitName"),
    "CN": ("commonName",),
    "MAIL": ("emailAddress", "Email"),
    "SN": ("surname",),
    "GN": ("givenName",),
    "UID": ("userid",),
    "SERIALNUMBER": ("serialNumber",),
}
_OIDS = {
    "C": NameOID.COUNTRY_NAME,
    "ST": NameOID.STATE_OR_PROVINCE_NAME,
    "L": NameOID.LOCALITY_NAME,
    "STREET": NameOID.STREET_ADDRESS,
    "O": NameOID.ORGANIZATION_NAME,
    "OU": NameOID.ORGANIZATIONAL_UNIT_NAME,
    "CN": NameOID.COMMON_NAME,
    "MAIL": NameOID.EMAIL_ADDRESS,
    "SN": NameOID.SURNAME,
    "GN": NameOID.GIVEN_NAME,
    "UID": NameOID.USER_ID,
    "SERIALNUMBER": NameOID.SERIAL_NUMBER,
}
_SPELLED = {spelling: field for field, others in FIELDS.items() for spelling in (field, *others)}
_READ = {spelling: _OIDS[field] for spelling, field in _SPELLED.items()} | {
    "E": NameOID.EMAIL_ADDRESS,
    "DC": NameOID.DOMAIN_COMPONENT,
}


def _line(text: str, what: str) -> str:
    problem = line_problem(text)
    if problem:
        raise CommandFailed(f"{what}: {problem}")
    return text


def parts(arguments: Mapping[str, Any]) -> dict[str, str]:
    """The parts of a subject among arguments, by field."""
    return {
        _SPELLED[key]: str(value)
        for key, value in arguments.items()
        if key in _SPELLED and value is not None
    }


def subject(given: Any, arguments: Mapping[str, Any]) -> x509.Name:
    """A subject.

    given: the whole: an RFC 4514 text, a list of its parts in order, or a mapping; where it is
    None, the parts among the arguments. Raises CommandFailed for what is no name.
    """
    if given is None:
        return _of_fields(parts(arguments))
    if isinstance(given, str):
        return distinguished(given)
    if isinstance(given, Mapping):
        unknown = [key for key in given if key not in _SPELLED]
        if unknown:
            raise CommandFailed(
                f"subject: {', '.join(map(str, unknown))} is none of {', '.join(FIELDS)}"
            )
        return _of_fields(parts(given))
    if isinstance(given, Sequence):
        sets = []
        for part in given:
            name = distinguished(str(part))
            if len(name.rdns) != 1:
                raise CommandFailed(
                    f"subject: {part!r}: Specified string is not a Relative Distinguished Name, but"
                    " a Distinguished Name."
                )
            sets += name.rdns
        return x509.Name(sets)
    raise CommandFailed("subject: expected a text, a list or a mapping")


def distinguished(text: str) -> x509.Name:
    """A name written as in RFC 4514; a space after a comma does no harm."""
    text = re.sub(r"(?<!\\),\s+", ",", _line(text, "subject"))
    try:
        return x509.Name.from_rfc4514_string(text, _READ)
    except ValueError as problem:
        raise CommandFailed(
            f"Failed parsing rfc4514 dirName string {text!r}{': ' * bool(str(problem))}{problem};"
            " it is written like CN=www.example.org,O=Example"
        ) from None


def _of_fields(fields: Mapping[str, str]) -> x509.Name:
    attributes = []
    for field, oid in _OIDS.items():
        if field in fields:
            with explained(f"{field} of the subject"):
                attributes.append(x509.NameAttribute(oid, _line(fields[field], field)))
    return x509.Name(attributes)


def fields_of(name: x509.Name) -> dict[str, Any]:
    """A name as Salt shows it: its parts by field; those without a field by their number."""
    shown = {oid.dotted_string: field for field, oid in _OIDS.items()}
    values: dict[str, Any] = {}
    for attribute in name:
        key = shown.get(attribute.oid.dotted_string, attribute.rfc4514_attribute_name)
        if key in values:
            before = values[key] if isinstance(values[key], list) else [values[key]]
            values[key] = [*before, attribute.value]
        else:
            values[key] = attribute.value
    return values


def general(text: str) -> x509.GeneralName:
    """A general name: `DNS:www.example.org`, `IP:192.0.2.1`, `email:`, `URI:`, `RID:`, `dirName:`.

    Raises CommandFailed for others.
    """
    kind, colon, value = _line(str(text).strip(), "a name").partition(":")
    if not colon:
        raise CommandFailed(f"{text!r} is no general name: expected one like DNS:www.example.org")
    with explained(str(text)):
        match kind.strip().lower():
            case "dns":
                return x509.DNSName(_ascii(value))
            case "ip":
                return x509.IPAddress(_address(value))
            case "email" | "mail":
                local, at, domain = value.rpartition("@")
                return x509.RFC822Name(f"{local}{at}{_ascii(domain)}")
            case "uri":
                return x509.UniformResourceIdentifier(value)
            case "rid":
                return x509.RegisteredID(x509.ObjectIdentifier(value))
            case "dirname":
                return x509.DirectoryName(distinguished(value))
            case "othername":
                raise CommandFailed("otherName is currently not implemented")
    raise CommandFailed(f"GeneralName type {kind} is invalid")


def _ascii(domain: str) -> str:
    """A domain as it stands in certificates: other letters in the form of IDNA."""
    if domain.isascii():
        return domain
    prefix = domain[:2] if domain.startswith("*.") else domain[:1] if domain[:1] == "." else ""
    try:
        return prefix + domain[len(prefix) :].encode("idna").decode()
    except UnicodeError:
        raise CommandFailed(f"{domain!r} is the name of no host") from None


def _address(value: str) -> Any:
    for read in (ipaddress.ip_address, ipaddress.ip_network):
        try:
            return read(value)
        except ValueError:
            continue
    raise CommandFailed(
        f"Provided value {value} does not seem to be an IP address or network range."
    )


def general_names(values: Sequence[Any]) -> list[x509.GeneralName]:
    """General names of texts, and of mappings from a type to one or several values."""
    found: list[x509.GeneralName] = []
    for value in values:
        if isinstance(value, Mapping):
            for kind, texts in value.items():
                several = texts if isinstance(texts, list | tuple) else [texts]
                found += [general(f"{kind}:{text}") for text in several]
        else:
            found.append(general(value))
    return found


def shown(name: x509.GeneralName) -> str:
    """A general name as Salt shows it."""
    match name:
        case x509.DNSName():
            return f"DNS:{name.value}"
        case x509.IPAddress():
            return f"IP:{name.value}"
        case x509.RFC822Name():
            return f"mail:{name.value}"
        case x509.UniformResourceIdentifier():
            return f"URI:{name.value}"
        case x509.RegisteredID():
            return f"RID:{name.value.dotted_string}"
        case x509.DirectoryName():
            return f"dirName:{name.value.rfc4514_string()}"
    return f"otherName:{getattr(name, 'type_id', '')}"
