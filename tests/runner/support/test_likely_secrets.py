# SPDX-License-Identifier: Apache-2.0
"""What `runner resource` takes for a secret in the files of a machine, and what not."""

from __future__ import annotations

import time

import pytest

from runner.support.redaction.likely import likely_key_file, likely_secret

SECRETS = [
    "-----BEGIN OPENSSH PRIVATE KEY-----\nb3Bl",
    "-----BEGIN OpenVPN Static key V1-----",
    "key: AKIAIOSFODNN7EXAMPLE",
    "x ghp_0123456789abcdef",
    "joe:$6$salt$0123456789abcdef",
    "joe:$apr1$abcdefgh$0123456789",
    "userPassword: {SSHA}abcdefghijklmnop",
    "deb https://joe:word@example.com/debian x main",
    "Authorization: token",
    "machine example.com login joe password word",
    "password = hunter22",
    '"db_password": "hunter22",',
    "define('DB_PASSWORD', 'hunter22');",
    "'secret' => 'hunter22',",
    "export PGPASSWORD=hunter22",
    "a: 1\n  API_TOKEN: abcdefgh\n",
    "smtp_pass: word",
    "requirepass word",
    "  auth_pass word",
    "rocommunity public 10.0.0.0/8",
    "psk=word word",
    "PrivateKey = AbCdEf=",
    "<password>word</password>",
    "CREATE USER a IDENTIFIED BY 'word'",
    "curl -u joe:hunter22 https://example.com",
    "mysqldump -pword all",
    "# password=hunter22x",
]
PLAIN = [
    "PasswordAuthentication yes",
    "passwd:         files systemd",
    "password [success=1 default=ignore] pam_unix.so obscure yescrypt",
    "password requisite pam_deny.so",
    "ann ALL=(ALL) NOPASSWD: ALL",
    "proxy_pass http://backend;",
    "fastcgi_pass unix:/run/php.sock;",
    "ssl_certificate_key /etc/ssl/private/x.key;",
    "password_file = /etc/app/password",
    "secret: $SECRET",
    "token = {{ pillar.token }}",
    "password =",
    "password: ''",
    "# password: see the manual",
    "# password = changeme",
    "#requirepass foobared",
    "PermitRootLogin prohibit-password",
    "http://example.com:8080/a@b",
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIBXXXX ann@home",
    "rsync -u a:b c",
    "",
]


@pytest.mark.parametrize("text", SECRETS)
def test_it_is_taken_for_a_secret(text: str) -> None:
    assert likely_secret(text)
    assert likely_secret(f"first\n{text}\nlast\n")


@pytest.mark.parametrize("text", PLAIN)
def test_it_is_not(text: str) -> None:
    assert not likely_secret(text)
    assert not likely_secret(f"first\n{text}\nlast\n")


def test_files_of_keys() -> None:
    assert likely_key_file("/etc/app/x.P12", b"\0")
    assert likely_key_file("/etc/app/x.key", b"\0\1")
    assert not likely_key_file("/etc/apt/keyrings/x.key", b"-----BEGIN PGP PUBLIC KEY BLOCK-----")
    assert not likely_key_file("/etc/apt/keyrings/x.gpg", b"\0")


@pytest.mark.parametrize(
    "piece", ["a", "pass", "passwd", "passwd ", "<passwd", "mysql ", "\n", " ", "://a", "eyJ", "="]
)
def test_a_hostile_file_costs_no_time(piece: str) -> None:
    text = piece * (100_000 // len(piece))
    before = time.process_time()
    likely_secret(text)
    assert time.process_time() - before < 5
