# SPDX-License-Identifier: Apache-2.0
"""How keys, certificates, requests and revocation lists are tried."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from harness import HarnessHere
from laws import Scenario, in_folder

from modules.certificates.x509 import building, encoding
from runner.api import running

FILE: dict[str, Any] = {
    "user": 0,
    "group": 0,
    "mode": "0440",
    "attrs": "",
    "makedirs": True,
    "dir_mode": "0750",
    "backup": "minion",
    "create": True,
    "follow_symlinks": True,
    "check_cmd": "test -s",
    "tmp_dir": "{tmp}",
    "tmp_ext": ".pem",
}
KEY = "{tmp}/ca.key"
WHO: dict[str, Any] = {"signing_private_key": KEY, "signing_cert": "{tmp}/ca.crt"}
WWW: dict[str, Any] = {**WHO, "private_key": "{tmp}/www.key", "CN": "www"}
CA = {"CN": "CA", "basicConstraints": "critical, CA:true", "subjectKeyIdentifier": "hash"}


def authority(tmp: Path) -> None:
    """A key with its certificate, another key, an encrypted one, and a request."""
    with running(HarnessHere()):
        _authority(tmp)


def _authority(tmp: Path) -> None:
    keys = {name: building.new_key("ec", None) for name in ("ca", "www", "locked")}
    for name, key in keys.items():
        passphrase = "open" if name == "locked" else None
        (tmp / f"{name}.key").write_bytes(encoding.private_key(key, passphrase=passphrase))
    signer = {"signing_private_key": str(tmp / "ca.key")}
    made = building.certificate({**signer, **CA}).sign()
    (tmp / "ca.crt").write_bytes(encoding.certificate(made))
    asked = building.request({"private_key": str(tmp / "www.key"), "CN": "www"})
    (tmp / "www.csr").write_bytes(encoding.plain(asked.sign()))


def present(kind: str, **arguments: Any) -> Any:
    """A setup in which the thing is there already. arguments: those of its making."""

    def prepare(tmp: Path) -> None:
        with running(HarnessHere()):
            prepare_in_run(tmp)

    def prepare_in_run(tmp: Path) -> None:
        authority(tmp)
        given = {**WWW, "CN": "www", "revoked": [], **arguments}
        filled = {
            key: value.replace("{tmp}", str(tmp)) if isinstance(value, str) else value
            for key, value in given.items()
        }
        match kind:
            case "key":
                data = encoding.private_key(building.new_key("ec", None), **arguments)
            case "crt":
                data = encoding.certificate(building.certificate(filled).sign())
            case "csr":
                data = encoding.plain(building.request(filled).sign())
            case "crl":
                data = encoding.plain(building.revocation_list(filled).sign(None))
            case _:
                data = b"neither\n"
        (tmp / "thing").write_bytes(data)
        (tmp / "thing").chmod(0o400 if kind == "key" else 0o644)

    return prepare


on = in_folder("x509.", authority)


def key(setup: Any = authority, **given: Any) -> Scenario:
    return on("private_key_managed", setup, **{"algo": "ec", **given})


def crt(setup: Any = authority, **args: Any) -> Scenario:
    return on("certificate_managed", setup, **args)


def csr(setup: Any = authority, **args: Any) -> Scenario:
    return on("csr_managed", setup, **{"private_key": "{tmp}/www.key", **args})


def crl(setup: Any = authority, **args: Any) -> Scenario:
    return on("crl_managed", setup, **{**WHO, "revoked": [], **args})


SCENARIOS = [
    key(name="{tmp}/a/b/key", keysize=384, passphrase="x", encoding="pkcs12", **FILE),
    key(algo="ed25519", new=False, overwrite=False),
    key(present("key"), plans=False),
    key(present("key"), mode="0600"),
    key(present("key"), keysize=521, backup=True),
    key(present("key"), algo="ed448"),
    key(present("key"), passphrase="x"),
    key(present("key"), encoding="der"),
    key(present("key", passphrase="y"), passphrase="y", plans=False),
    key(present("key", passphrase="y"), fails="The existing file is encrypted"),
    key(present("key", passphrase="y"), passphrase="x", fails="cannot decrypt the private key"),
    key(present("key", passphrase="y"), passphrase="x", overwrite=True),
    key(present("junk"), fails="does not seem to be a private key"),
    key(present("junk"), overwrite=True, pkcs12_encryption_compat=True),
    key(algo="dsa", fails="Invalid algorithm specified for generating private key: dsa"),
    key(algo="rsa", keysize=1024, fails="RSA key size must be either 2048, 3072 or 4096 bits"),
    key(encoding="jks", fails="Invalid value 'jks' for encoding. Valid: der, pem, pkcs12"),
    key(name="{tmp}/no/key", fails="Parent directory not present"),
    key(create=False, plans=False),
    Scenario(
        "x509.private_key_managed", {"algo": "ec", "new": True}, present("key"), converges=False
    ),
    crt(name="{tmp}/a/b/crt", **WWW, **FILE, copypath="{tmp}", prepend_cn=True, days_valid=90),
    crt(
        **WWW,
        encoding="pkcs12",
        pkcs12_passphrase="x",
        pkcs12_encryption_compat=True,
        pkcs12_friendlyname="me",
        append_certs="{tmp}/ca.crt",
        digest="sha512",
        serial_number="0A:0B",
        not_before="2026-01-01",
        not_after="2050-01-01 00:00:00",
        days_remaining=30,
    ),
    crt(signing_private_key=KEY, subject=["C=DE", "CN=me"], public_key="{tmp}/ca.crt", keyUsage=""),
    crt(
        **WHO,
        csr="{tmp}/www.csr",
        subject={"CN": "x"},
        subjectAltName="DNS:www.x, IP:192.0.2.1, email:a@x.org, URI:http://x, RID:1.2.3",
        keyUsage="critical, digitalSignature",
        extendedKeyUsage="serverAuth, 1.3.6.1.5.5.7.3.17",
        authorityKeyIdentifier="keyid,issuer",
    ),
    crt(
        signing_private_key="{tmp}/locked.key",
        signing_private_key_passphrase="open",
        private_key="{tmp}/locked.key",
        private_key_passphrase="open",
        CN="me",
    ),
    crt(present("crt"), **WWW, plans=False),
    crt(present("crt"), **{**WWW, "CN": "other"}),
    crt(present("crt", days_valid=80), **WWW),
    crt(present("crt", days_valid=80), **WWW, days_remaining=60, plans=False),
    crt(
        present("crt"), **{**WWW, "private_key": "{tmp}/locked.key"}, private_key_passphrase="open"
    ),
    crt(present("junk"), **WWW),
    crt(present("key"), **WWW, fails="holds a private key, which is not replaced"),
    crt(**WWW, ca_server="ca", fails="ca_server: a machine without a master cannot"),
    crt(**WWW, signing_policy="www", fails="there is no www in x509_signing_policies"),
    crt(CN="x", fails="signing_private_key is missing"),
    crt(
        CN="x",
        signing_private_key=KEY,
        authorityKeyIdentifier="keyid,issuer:always",
        fails="has no other issuer, so write `keyid`",
    ),
    crt(**{**WWW, "CN": "a\nb"}, fails="CN: expected one line"),
    crt(**WWW, subjectAltName="DNS:a\nb", fails="subjectAltName: a name: expected one line"),
    crt(**WWW, keyUsage="nonsense", fails="keyUsage: 'nonsense' is none of"),
    crt(**WHO, CN="x", fails="This certificate is not self-signed"),
    crt(signing_private_key="{tmp}/locked.key", CN="x", fails="Please provide a password"),
    crt(signing_private_key="{tmp}/ca.crt", CN="x", fails="Could not load PEM-encoded private"),
    csr(name="{tmp}/a/b/csr", **FILE, digest="sha384", encoding="der", subject="CN=x"),
    csr(private_key="{tmp}/locked.key", private_key_passphrase="open", emailAddress="a@b.org"),
    csr(present("csr"), CN="www", plans=False),
    csr(present("csr"), CN="www", basicConstraints="CA:false"),
    csr(private_key="{tmp}/locked.key", private_key_passphrase="no", fails="Bad decrypt"),
    csr(present("key"), fails="holds a private key, which is not replaced"),
    csr(C="Germany", fails="C of the subject"),
    crl(
        name="{tmp}/a/b/crl",
        **FILE,
        encoding="der",
        digest="sha512",
        days_valid=30,
        days_remaining=3,
        include_expired=True,
        extensions={"cRLNumber": "auto"},
        revoked=[{"serial_number": "AA:BB", "reason": "superseded", "not_after": "2020-01-01"}],
    ),
    crl(present("crl"), plans=False),
    crl(present("crl"), revoked=[{"certificate": "{tmp}/ca.crt"}]),
    crl(revoked=[{"serial_number": 1, "reason": "x"}], fails="is not a valid ReasonFlags"),
    crl(
        signing_private_key="{tmp}/locked.key",
        signing_private_key_passphrase="open",
        fails="Signing private key does not match the signing certificate",
    ),
    on("pem_managed", name="{tmp}/a/b/pem", text="{tmp}/ca.crt", **FILE),
    on("pem_managed", text="{tmp}/www.key"),
    on("pem_managed", text="no PEM at all!", fails="Could not load provided source"),
]
