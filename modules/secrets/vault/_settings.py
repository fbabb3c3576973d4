# SPDX-License-Identifier: Apache-2.0
"""Where the server is and who asks: `vault` of the configuration, in Salt's form of today, its
older flat one, or by the variables that the programs vault and bao read.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from modules import _paths
from runner.api import Record, StateFailed, here, key_folder

SECONDS = 10.0  # that an answer may take
LARGEST_TOKEN = 65536  # bytes of a file with one
# what Salt has besides, for masters that give tokens to minions and for caches of them
_OF_MASTERS = set(
    """
    issue issue_params policies cache keys metadata role_name config_location
    """.split()
)
_SERVER = {"url", "verify", "namespace", "timeout"}
_AUTH = set(
    """
    method token token_file role_id role_id_file secret_id secret_id_file approle_mount approle_name
    token_lifecycle token_backend ttl uses allow_minion_override
    """.split()
)
METHODS = ("token", "approle")


class Settings(Record):
    """A server, and how to log in. verify: a file or folder of certificates, the text of one, or
    whether to verify. token: empty for AppRole.
    """

    url: str
    verify: Any
    namespace: str
    timeout: float
    token: str
    role_id: str
    secret_id: str
    approle_mount: str


def settings() -> Settings:
    """As the configuration says, or the environment. Raises StateFailed for what is missing or
    wrong there.
    """
    configured = here.opts.get("vault") or {}
    if not isinstance(configured, Mapping):
        raise StateFailed(
            "`vault` of the configuration is not a mapping: write `server: {url: ...}`"
        )
    server = _part(configured, "server", _SERVER)
    for name in _SERVER:
        if name in configured:  # the older form
            server.setdefault(name, configured[name])
    auth = _part(configured, "auth", _AUTH)
    _refuse_unknown("vault", configured, {"server", "auth", *_SERVER, *_OF_MASTERS})
    url = str(server.get("url") or _variable("ADDR")).rstrip("/")
    if not url.startswith(("http://", "https://")):
        wrong = f"{url!r} is no http(s) address" if url else "nothing says where the server is"
        raise StateFailed(f"vault: {wrong}; write `vault: {{server: {{url: https://...}}}}`")
    verify = server.get("verify")
    if isinstance(verify, str) and "-----BEGIN" not in verify:
        verify = _beside(verify)
    made = Settings(
        url=url,
        verify=(_variable("CACERT") or True) if verify is None else verify,
        namespace=str(server.get("namespace") or _variable("NAMESPACE")).strip("/"),
        timeout=_seconds(server.get("timeout")),
        token="",
        role_id=_secret(auth, "role_id"),
        secret_id=_secret(auth, "secret_id"),
        approle_mount=str(auth.get("approle_mount") or "approle").strip("/"),
    )
    method = str(auth.get("method") or "token")
    if method not in METHODS:
        raise StateFailed(f"vault: there is no auth method {method}; there are token and approle")
    if method == "approle":
        if not made.role_id:
            raise StateFailed("vault: the auth method approle needs `role_id` (or `role_id_file`)")
        return made
    token = _secret(auth, "token") or _variable("TOKEN")
    if not token:
        raise StateFailed("vault: nothing says the token: `auth: {token: ...}`, or `token_file`")
    here.secret(token)
    return made._replace(token=token)


def _part(configured: Mapping[str, Any], name: str, known: set[str]) -> dict[str, Any]:
    part = configured.get(name) or {}
    if not isinstance(part, Mapping):
        raise StateFailed(f"vault: `{name}` is not a mapping")
    _refuse_unknown(f"vault: {name}", part, known)
    return dict(part)


def _refuse_unknown(where: str, part: Mapping[str, Any], known: set[str]) -> None:
    for name in part:
        if name not in known:
            raise StateFailed(f"{where} has no {name!r}; it has {', '.join(sorted(known))}")


def _beside(path: str) -> str:
    """A path, relative to the configuration."""
    return os.path.join(key_folder(here.opts, "vault"), path)


def _variable(name: str) -> str:
    return os.environ.get(f"VAULT_{name}") or os.environ.get(f"BAO_{name}") or ""


def _seconds(configured: Any) -> float:
    try:
        seconds = SECONDS if configured is None else float(configured)
    except (TypeError, ValueError):
        seconds = 0.0
    if seconds <= 0:
        raise StateFailed(f"vault: the timeout is not a number of seconds: {configured!r}")
    return seconds


def _secret(auth: Mapping[str, Any], name: str) -> str:
    """A credential: as it is written, or from its file."""
    value = auth.get(name) or ""
    if isinstance(value, Mapping):
        raise StateFailed(f"vault: a wrapped {name} is not supported; unwrap it into a file")
    path = auth.get(f"{name}_file")
    if not value and path:
        full = _beside(str(path))
        try:
            with _paths.open_text(full, "ascii") as file:
                value = file.read(LARGEST_TOKEN).strip()
        except (OSError, UnicodeDecodeError) as problem:
            why = problem.strerror if isinstance(problem, OSError) else "it is not ASCII"
            raise StateFailed(f"vault: {name}_file {full} cannot be used: {why}") from None
    text = str(value)
    if not all(33 <= ord(character) < 127 for character in text):
        raise StateFailed(f"vault: the {name} has characters other than visible ASCII")
    if text:
        here.secret(text)
    return text
