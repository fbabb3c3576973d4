# SPDX-License-Identifier: Apache-2.0
"""A site's own certificate authority, as openssl sees what was made; keys are nowhere else."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from command import Machine

SITE = """
www certificate:
  x509.certificate_managed:
    - name: {tmp}/www.crt
    - private_key: {tmp}/www.key
    - private_key_passphrase: g3heim
    - signing_policy: www
    - CN: www.example.org
    - O: Example
    - subjectAltName: [DNS:www.example.org, IP:192.0.2.1]
    - append_certs: [{tmp}/ca.crt]
authority:
  x509.certificate_managed:
    - name: {tmp}/ca.crt
    - signing_private_key: {tmp}/ca.key
    - subject: CN=Authority,O=Example
    - basicConstraints: critical CA:true, pathlen:0
    - keyUsage: critical, cRLSign, keyCertSign
    - subjectKeyIdentifier: hash
    - authorityKeyIdentifier: keyid
    - days_valid: 3650
revoked:
  x509.crl_managed:
    - name: {tmp}/ca.crl
    - signing_private_key: {tmp}/ca.key
    - signing_cert: {tmp}/ca.crt
    - revoked: [{serial_number: "AA:BB", reason: keyCompromise}]
    - extensions: {cRLNumber: auto}
keys:
  x509.private_key_managed:
    - names:
      - {tmp}/ca.key
      - {tmp}/www.key:
        - algo: ec
        - passphrase: g3heim
        - mode: '0440'
request:
  x509.csr_managed:
    - name: {tmp}/www.csr
    - private_key: {tmp}/www.key
    - private_key_passphrase: g3heim
    - CN: www.example.org
    - extendedKeyUsage: serverAuth
"""


@pytest.fixture
def site(tmp_path: Path) -> Machine:
    machine = Machine(tmp_path)
    machine.config["x509_signing_policies"] = {
        "www": {
            "signing_private_key": str(tmp_path / "ca.key"),
            "signing_cert": str(tmp_path / "ca.crt"),
            "extendedKeyUsage": "serverAuth",
            "subjectKeyIdentifier": "hash",
            "authorityKeyIdentifier": "keyid",
            "days_valid": 90,
            "O": "The policy",
        }
    }
    machine.write(site=SITE)
    return machine


def openssl(site: Machine, *words: str) -> str:
    done = subprocess.run(
        ["openssl", *words], cwd=site.folder, capture_output=True, text=True, check=True
    )
    return done.stdout + done.stderr


def changes(results: dict[str, Any]) -> dict[str, Any]:
    return {name: result["changes"] for name, result in results.items() if result["changes"]}


def test_an_authority_and_what_it_signs(site: Machine) -> None:
    dry = site.results("sls", "site", "--test")
    assert {result["result"] for result in dry.values()} == {None}
    assert not [path for path in os.listdir(site.folder) if path.endswith((".key", ".crt"))]
    real = site.results("sls", "site")
    assert {result["result"] for result in real.values()} == {True}
    assert real["authority"]["comment"] == "The certificate has been created"
    assert "OK" in openssl(site, "verify", "-x509_strict", "-CAfile", "ca.crt", "www.crt")
    text = openssl(site, "x509", "-in", "www.crt", "-noout", "-text")
    assert "DNS:www.example.org, IP Address:192.0.2.1" in text
    assert "O = The policy, CN = www.example.org" in text
    assert "TLS Web Server Authentication" in text
    assert "verify OK" in openssl(site, "req", "-in", "www.csr", "-verify", "-noout")
    revoked = openssl(site, "crl", "-in", "ca.crl", "-noout", "-text", "-CAfile", "ca.crt")
    assert "verify OK" in revoked and "Key Compromise" in revoked
    assert (site.folder / "www.crt").read_text().count("BEGIN CERTIFICATE") == 2
    assert "valid" in openssl(site, "pkey", "-in", "www.key", "-passin", "pass:g3heim", "-check")
    modes = {name: oct((site.folder / name).stat().st_mode)[-3:] for name in ("ca.key", "www.key")}
    assert modes == {"ca.key": "400", "www.key": "440"}
    assert changes(site.results("sls", "site")) == {}

    site.write(site=SITE.replace("CN=Authority", "CN=New").replace("AA:BB", "AA:BC"))
    dry, real = site.results("sls", "site", "--test"), site.results("sls", "site")
    assert changes(real)["authority"] == {
        "subject_name": "CN=New,O=Example",
        "issuer_name": "CN=New,O=Example",
    }
    assert changes(dry)["authority"] == changes(real)["authority"]
    assert changes(real)["revoked"]["revocations"] == {
        "added": ["AA:BC"],
        "changed": [],
        "removed": ["AA:BB"],
    }
    assert changes(real)["www certificate"] == {
        "additional_certs": True,
        "issuer_name": "CN=New,O=Example",
    }
    assert "CRL Number: \n                2" in openssl(
        site, "crl", "-in", "ca.crl", "-noout", "-text"
    )


def test_a_private_key_is_nowhere_but_in_its_file(site: Machine) -> None:
    """Neither as it was nor as it is, in what a run leaves; and it is nobody else's at any time."""
    site.config["backup_mode"] = "minion"
    site.write(key="{tmp}/a/one.key:\n  x509.private_key_managed: [{algo: ec, makedirs: true}]\n")
    site("sls", "key")
    key = site.folder / "a/one.key"
    first = key.read_text()
    assert oct(key.parent.stat().st_mode)[-3:] == "700"
    site.write(
        key="{tmp}/a/one.key:\n  x509.private_key_managed: [{algo: ed25519, backup: true}]\n"
    )
    done = site("sls", "key", "--out", "json", "-l", "debug")
    assert json.loads(done.stdout)["local"].popitem()[1]["changes"] == {"algo": "ed25519"}
    assert key.read_text() != first
    shown = site("history", "show", "2", "--out", "json").stdout + done.stdout + done.stderr
    kept = [path for path in (site.folder / "cache").rglob("*") if path.is_file()]
    for text in (first, key.read_text()):
        secret = text.splitlines()[1]
        assert secret not in shown
        assert not [path for path in kept if secret.encode() in _unpacked(path)]
    undone = site("undo", "--test", code=None)
    assert "one.key" in undone.stdout + undone.stderr


def test_a_file_that_gets_a_private_key_is_readable_by_all_no_longer(site: Machine) -> None:
    site.write(
        key="{tmp}/a.key:\n  x509.private_key_managed: [{algo: ec}]\n"
        "{tmp}/b.pem:\n  x509.pem_managed: [{text: '{tmp}/a.key'}]\n"
    )
    (site.folder / "b.pem").write_text("old")
    (site.folder / "b.pem").chmod(0o644)
    assert changes(site.results("sls", "key"))
    assert (site.folder / "b.pem").stat().st_mode & 0o777 == 0o600
    assert changes(site.results("sls", "key")) == {}


def _unpacked(path: Path) -> bytes:
    import zlib

    data = path.read_bytes()
    return zlib.decompress(data) if path.suffix == ".z" else data


def test_functions_in_templates(site: Machine) -> None:
    site.write(
        keys="{% set key = salt['x509.create_private_key']('ec') %}\n"
        "{tmp}/out:\n  file.managed:\n    - contents: |\n        {{ key | indent(8) }}\n"
    )
    done = site("sls", "keys", "-v")
    inside = (site.folder / "out").read_text().splitlines()[1]
    assert inside not in done.stdout + done.stderr
    out = str(site.folder / "out")
    site.write(
        keys="{% set key = salt['x509.get_pem_entry']('{tmp}/out') %}\n"
        "{tmp}/more:\n  file.managed:\n    - contents: |\n        {{ key | indent(8) }}\n"
    )
    done = site("sls", "keys", "-v")
    assert inside in (site.folder / "more").read_text()
    assert inside not in done.stdout + done.stderr
    assert site.document("call", "x509.get_private_key_size", out) == {"local": 256}
    failed = site("call", "x509.read_certificate", out, code=None)
    assert failed.returncode and "Could not load PEM-encoded certificate" in failed.stderr


def test_without_the_package(site: Machine) -> None:
    (site.folder / "cryptography.py").write_text("raise ImportError\n")
    site.environment["PYTHONPATH"] = f"{site.folder}:{site.environment['PYTHONPATH']}"
    results = site.results("sls", "site", code=2)
    assert re.search(
        r"Python package cryptography: .*pip.* install ", results["request"]["comment"]
    )


def test_older_names_of_arguments_mean_the_same(site: Machine) -> None:
    site.write(
        old="{tmp}/old.key:\n  x509.private_key_managed: [{bits: 4096}]\n"
        "{tmp}/old.crt:\n  x509.certificate_managed:\n"
        "    [{signing_private_key: '{tmp}/old.key'}, {CN: a}, {algorithm: sha512}]\n"
        "{tmp}/old.csr:\n"
        "  x509.csr_managed: [{private_key: '{tmp}/old.key'}, {CN: a}, {algorithm: sha384}]\n"
    )
    done = site("sls", "old")
    assert "has no argument" not in done.stderr
    assert "4096 bit" in openssl(site, "pkey", "-in", "old.key", "-noout", "-text")
    assert "sha512With" in openssl(site, "x509", "-in", "old.crt", "-noout", "-text")
    assert "sha384With" in openssl(site, "req", "-in", "old.csr", "-noout", "-text")
    assert changes(site.results("sls", "old")) == {}
    site.write(old="{tmp}/old.key:\n  x509.private_key_managed: [{bits: many}]\n")
    assert "bits: expected" in site("sls", "old", code=None).stderr
