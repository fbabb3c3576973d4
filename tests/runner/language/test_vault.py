# SPDX-License-Identifier: Apache-2.0
"""Secrets of Vault: in the pillar, in templates, by sdb; logging in, and what goes wrong.

The answers of the first two tests are those of Salt's own extension (saltext.vault 1.8) on this
server.
"""

from __future__ import annotations

import json
import stat
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from command import Machine
from harness import HarnessHere
from needing import needs
from vault_server import LOGGED_IN, ROLE, SECRET_ID, TOKEN, VaultServer, serving

from modules.secrets import sdb, vault
from runner.api import StateFailed, running

SECRETS: dict[str, Any] = {
    "secret/app": {"password": "the app password", "user": "application", "n": {"a": [1]}},
    "secret/roles/web": {"web": "secret of web", "l": [1], "m": {"a": 1}},
    "secret/roles/db": {"db": "secret of db", "l": [2], "m": {"b": 2}},
    "secret/hosts/m1": {"host": "secret of m1"},
    "secret/gone": "deleted",
    "secret/no/access": {"a": 1},
    "team/kv/x": {"team": "secret of team"},
    "old/app": {"old": "secret of version 1"},
}
APP = SECRETS["secret/app"]


@pytest.fixture
def server() -> Iterator[VaultServer]:
    with VaultServer(SECRETS) as made:
        yield made


@pytest.fixture
def url(server: VaultServer) -> Iterator[str]:
    with serving(server) as address:
        yield address


def test_secrets_in_the_pillar(machine: Machine, url: str, server: VaultServer) -> None:
    machine.write(pillar__top="base: {'*': [p]}", pillar__p="roles: [web, db]\n")
    machine.config |= {
        "vault": {"server": {"url": url}, "auth": {"method": "token", "token": TOKEN}},
        "ext_pillar": [
            {"vault": "path=secret/app"},
            {"vault": {"conf": "path=secret/roles/{pillar[roles]}", "nesting_key": "nested"}},
            {"vault": "secret/hosts/{minion}"},
            {"vault": {"path": "old/app", "nesting_key": "old"}},
            {"vault": "secret/data/app"},
            {"vault": "secret/nothing"},
            {"vault": "secret/gone"},
            {"vault": {"path": "secret/x/{pillar[nope]}", "nesting_key": "none"}},
            {"vault": {"conf": "site=a path=team/kv/x", "nesting_key": "team"}},
            {
                "vault": {
                    "path": "secret/roles/{pillar[roles]}",
                    "nesting_key": "lists",
                    "merge_lists": True,
                }
            },
        ],
    }
    shown = machine("show", "pillar", "--out", "json", "--show-secrets").stdout
    nested = {"web": "secret of web", "db": "secret of db", "m": {"a": 1, "b": 2}}
    assert json.loads(shown)["local"] == {
        "roles": ["web", "db"],
        **APP,
        "nested": {**nested, "l": [2]},
        "host": "secret of m1",
        "old": {"old": "secret of version 1"},
        "none": {},
        "team": {"team": "secret of team"},
        "lists": {**nested, "l": [1, 2]},
    }
    paths = [path for _, path, _ in server.asked]
    assert paths.count("secret/data/roles/web") == 1, "equal questions are asked once"
    assert {headers["x-vault-token"] for *_, headers in server.asked} == {TOKEN}
    text = "{{ pillar.password }} {{ opts.vault.auth.token }}"
    machine.write(a=f"{{tmp}}/out:\n  file.managed:\n    - contents: {text}\n")
    (machine.folder / "out").write_text("before\n")
    done = machine("sls", "a", "-v", "--diff")
    assert (machine.folder / "out").read_text() == f"the app password {TOKEN}\n"
    assert "**********" in done.stdout
    for secret in (TOKEN, "the app password"):
        assert secret not in done.stdout + done.stderr
        grep = ["grep", "-rl", secret, f"{machine.folder}/cache"]
        kept = subprocess.run(grep, check=False, capture_output=True, text=True).stdout.split()
        # but for the contents of files that undo goes by, which their owner alone may read
        assert {Path(path).suffix for path in kept} <= {".contents"}, kept
        assert {stat.S_IMODE(Path(path).stat().st_mode) for path in kept} <= {0o600}


def test_secrets_in_templates(machine: Machine, url: str) -> None:
    machine.config |= {
        "vault": {"url": url, "auth": {"method": "approle", "role_id": ROLE}},
        "stored": {"driver": "vault"},
        "environment_variables": {"driver": "env"},
    }
    machine.config["vault"]["auth"]["secret_id"] = "sdb://environment_variables/SECRET_ID"
    machine.environment["SECRET_ID"] = SECRET_ID
    asked = {
        "salt['vault.read_secret']('secret/app')": APP,
        "salt['vault.read_secret']('secret/app', 'password')": APP["password"],
        "salt['vault.read_secret']('secret/app', 'nope', default='D')": "D",
        "salt['vault.read_secret']('secret/nope', default='D')": "D",
        "salt['vault.read_secret']('secret/app', version=1)": {"password": "the one before"},
        "salt['vault.read_secret']('secret/app', metadata=True)": {
            "data": APP,
            "metadata": {"version": 2},
        },
        "salt['vault.list_secrets']('secret/roles')": {"keys": ["db", "web"]},
        "salt['vault.list_secrets']('old/', keys_only=True)": ["app"],
        "salt['vault.list_secrets']('secret/nope', default=[])": [],
        "salt['sdb.get']('sdb://stored/secret/app/password')": APP["password"],
        "salt['sdb.get']('sdb://stored/secret/app?password')": APP["password"],
        "salt['sdb.get']('sdb://stored/secret/app')": APP,
        "salt['sdb.get']('sdb://stored/secret/nope/x')": None,
    }
    answers = ", ".join(f"({call})" for call in asked)
    path = machine.folder / "answers.json"
    machine.write(a=f"{path}:\n  file.managed:\n    - contents: '{{{{ [{answers}] | json }}}}'\n")
    done = machine("sls", "a")
    assert json.loads(path.read_text()) == list(asked.values())
    assert "the app password" not in done.stdout


def test_what_goes_wrong_stops_the_run_with_its_place(machine: Machine, url: str) -> None:
    def error(entry: Any, **auth: str) -> str:
        machine.config |= {
            "vault": {"server": {"url": url}, "auth": {"token": TOKEN, **auth}},
            "ext_pillar": [{"vault": entry}],
        }
        return " ".join(machine("show", "pillar", code=1).stderr.split())

    denied = error("secret/app", token="hvs.nonsense")
    assert "answers 403 for" in denied and "permission denied" in denied
    assert "runner.yaml:1:" in denied and "hvs.nonsense" not in denied
    assert "403 for secret/data/no/access" in error("secret/no/access")
    assert "has no option 'pth'" in error({"pth": "x"})
    assert "needs a path" in error({"conf": "site=x"})
    assert "no pattern of paths: there is no {minion.x}" in error("secret/{minion.x}")
    assert "no merge_strategy 'x'" in error({"path": "secret/app", "merge_strategy": "x"})
    assert "takes a path, not 5" in error(5)


# ------------------------------------------------------- the client alone


@contextmanager
def configured(config: dict[str, Any], **more: Any) -> Iterator[HarnessHere]:
    here = HarnessHere(opts={"config_dir": "/", **more, "vault": config})
    with running(here):
        yield here


def test_who_asks(tmp_path: Path, url: str, server: VaultServer) -> None:
    (tmp_path / "token").write_text(f"{TOKEN}\n")
    with configured({"server": {"url": url}, "auth": {"token_file": f"{tmp_path}/token"}}) as here:
        assert vault.read_secret("secret/app", "user") == "application"
        assert TOKEN in here.secrets and "application" in here.secrets
        vault.read_secret("secret/app").clear()
        assert vault.read_secret("secret/app") == APP
        with pytest.raises(StateFailed, match="'last' is no number"):
            vault.read_secret("secret/app", version="last")  # type: ignore[arg-type]
    server.namespace = "team/one"
    approle = {"method": "approle", "role_id": ROLE, "secret_id": SECRET_ID}
    with configured({"server": {"url": url, "namespace": "/team/one/"}, "auth": approle}) as here:
        assert vault.read_secret("old/app") == {"old": "secret of version 1"}
        assert {LOGGED_IN, SECRET_ID, ROLE} <= set(here.secrets)
    wrong = {"server": {"url": url, "namespace": "team/one"}, "auth": {**approle, "role_id": "x"}}
    with configured(wrong), pytest.raises(StateFailed, match="are role_id and secret_id right"):
        vault.read_secret("old/app")


def test_the_variables_of_vault(
    url: str, server: VaultServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VAULT_ADDR", url)
    monkeypatch.setenv("BAO_TOKEN", TOKEN)
    with configured({}):
        assert sdb.get("sdb://nowhere/x") == "sdb://nowhere/x"
        assert vault.read_secret("secret/app", "user") == "application"


@needs("openssl")
def test_tls(tmp_path: Path, server: VaultServer) -> None:
    pem = tmp_path / "both.pem"
    words = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=vault"
    name = ["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", pem, "-out", tmp_path / "crt"]
    subprocess.run(["openssl", *words.split(), *name], check=True, capture_output=True)
    certificate = (tmp_path / "crt").read_text()
    pem.write_text(pem.read_text() + certificate)
    with serving(server, str(pem)) as url:
        assert url.startswith("https:")
        for verify in ("crt", str(tmp_path / "crt"), certificate, False):
            config = {"server": {"url": url, "verify": verify}, "auth": {"token": TOKEN}}
            with configured(config, config_dir=str(tmp_path)):
                assert vault.read_secret("secret/app") == APP
        asked = len(server.asked)
        for verify, why in ((None, "certificate is not trusted"), ("/nope", "has no certificates")):
            config = {"server": {"url": url, "verify": verify}, "auth": {"token": TOKEN}}
            with configured(config), pytest.raises(StateFailed, match=why):
                vault.read_secret("secret/app")
        assert len(server.asked) == asked, "nobody else gets the token"


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ((307, {"Location": "https://elsewhere.example/v1"}, b""), "sends to elsewhere.example"),
        ((503, {}, b'{"errors": ["Vault is sealed"]}'), "answers 503 for .*: Vault is sealed"),
        ((200, {}, b"<html>a portal"), "answers 200, and no JSON"),
        ((200, {}, b'{"data": 5}'), "is no secret"),
    ],
)
def test_odd_answers(
    url: str, server: VaultServer, answer: tuple[int, dict[str, str], bytes], message: str
) -> None:
    server.broken = answer
    config = {"server": {"url": url}, "auth": {"token": TOKEN}}
    with configured(config), pytest.raises(StateFailed, match=message):
        vault.read_secret("secret/app")


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({}, "nothing says where the server is"),
        ({"url": "vault.example"}, "'vault.example' is no http"),
        ({"url": "http://127.0.0.1:1"}, "nothing says the token"),
        ({"url": "http://127.0.0.1:1", "auth": {"token": "x" * 9}}, "Connection refused"),
        ({"url": "http://127.0.0.1:1", "auth": {"token": "x y"}}, "other than visible ASCII"),
        ({"url": "http://127.0.0.1:1", "auth": {"token_file": "/nope"}}, "/nope cannot be used"),
        ({"url": "http://127.0.0.1:1", "auth": {"method": "ldap"}}, "no auth method ldap"),
        ({"url": "http://127.0.0.1:1", "auth": {"method": "approle"}}, "needs `role_id`"),
        ({"url": "http://127.0.0.1:1", "auth": {"tokn": "x"}}, "auth has no 'tokn'"),
        ({"server": {"url": "http://x", "timeout": "soon"}}, "not a number of seconds"),
        ({"server": "x"}, "`server` is not a mapping"),
        ({"sever": {}}, "vault has no 'sever'"),
        ("x", "is not a mapping"),
    ],
)
def test_mistakes_in_the_configuration(config: Any, message: str) -> None:
    with configured(config), pytest.raises(StateFailed, match=message):
        vault.read_secret("secret/app")


def test_a_server_that_does_not_answer(tmp_path: Path) -> None:
    import socket

    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        config = {"server": {"url": url, "timeout": 0.2}, "auth": {"token": TOKEN}}
        with configured(config), pytest.raises(StateFailed, match=r"not answer in 0.2 s"):
            vault.read_secret("secret/app")
