# SPDX-License-Identifier: Apache-2.0
"""The HTTP API of Vault, which OpenBao shares: logging in, and reading KV stores.

The certificate is verified unless `verify: false` says otherwise, and no redirection is followed,
so that the token is sent to nobody else.
"""

from __future__ import annotations

import http.client
import json
import ssl
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Mapping
from copy import deepcopy
from typing import Any

from modules import _paths
from modules._machine import resolver
from modules._texts.url import failure_of
from modules.file._contents.download import context_of
from modules.secrets.vault._settings import Settings, settings
from runner.api import Record, StateFailed, here, refuse_unforeseen

TRUST = "`verify` names who signed it"
LARGEST = 16 * 1024 * 1024  # bytes of an answer


class Secret(Record):
    """A secret that was read. metadata: of a store of version 2."""

    data: dict[str, Any]
    metadata: Any


class Mount(Record):
    """A KV store. prefix: of its paths, with a slash at its end."""

    prefix: str
    version: int


class Client:
    """A server that is asked in the name of one token; equal questions once a run."""

    def __init__(self, configured: Settings) -> None:
        self._settings = configured
        self._token = configured.token
        self._mounts: dict[str, Mount] = {}
        self._secrets: dict[tuple[str, int | None], Secret | None] = {}

    def read(self, path: str, version: int | None = None) -> Secret | None:
        """The secret at a path; None where there is none. Raises StateFailed."""
        path = _clean(path)
        if version is not None and not str(version).isdecimal():
            raise StateFailed(f"vault: {version!r} is no number of a version")
        if (path, version) not in self._secrets:
            self._secrets[path, version] = self._read(path, version)
        return deepcopy(self._secrets[path, version])  # templates may change what they get

    def _read(self, path: str, version: int | None) -> Secret | None:
        mount = self._mount(path)
        query = f"?version={int(version)}" if version and mount.version == 2 else ""
        answer = self._ask("GET", _below(mount, path, "data") + query)
        data = (answer or {}).get("data")
        if mount.version == 2 and isinstance(data, Mapping):
            metadata, data = data.get("metadata"), data.get("data")
        else:
            metadata = None
        if data is None:
            return None
        if not isinstance(data, Mapping):
            raise StateFailed(f"vault: {path} is no secret of a KV store")
        return Secret(dict(data), metadata)

    def names(self, path: str) -> list[str] | None:
        """Return what lies below a path; None where nothing does. Raises StateFailed."""
        path = _clean(path)
        answer = self._ask("GET", _below(self._mount(path), path, "metadata") + "?list=true")
        data = (answer or {}).get("data")
        names = data.get("keys") if isinstance(data, Mapping) else None
        return [str(name) for name in names] if isinstance(names, list) else None

    def _mount(self, path: str) -> Mount:
        """The store that has a path. One that the server does not tell is of version 1."""
        for mount in self._mounts.values():
            if f"{path}/".startswith(mount.prefix):
                return mount
        try:
            answer = self._ask("GET", f"sys/internal/ui/mounts/{_quoted(path)}")
        except Denied:
            answer = None
        data = (answer or {}).get("data")
        if not isinstance(data, Mapping):
            return Mount(path.partition("/")[0] + "/", 1)
        options = data.get("options")
        version = 2 if isinstance(options, Mapping) and str(options.get("version")) == "2" else 1
        mount = Mount(str(data.get("path") or path).strip("/") + "/", version)
        self._mounts[mount.prefix] = mount
        return mount

    # -------------------------------------------------- HTTP

    def _ask(self, method: str, path: str) -> Mapping[str, Any] | None:
        """The answer; None for what is not there."""
        if not self._token:
            self._token = self._logged_in()
        return self._answer(method, path, None, {"X-Vault-Token": self._token})

    def _logged_in(self) -> str:
        """A token for the AppRole."""
        role = {"role_id": self._settings.role_id}
        if self._settings.secret_id:
            role["secret_id"] = self._settings.secret_id
        path = f"auth/{_quoted(self._settings.approle_mount)}/login"
        try:
            answer = self._answer("POST", path, role, {})
        except Denied as problem:
            raise StateFailed(f"{problem.message}: are role_id and secret_id right?") from None
        auth = (answer or {}).get("auth")
        token = auth.get("client_token") if isinstance(auth, Mapping) else None
        if not token:
            mount = self._settings.approle_mount
            raise StateFailed(f"vault: nobody can log in at {mount}: is approle_mount right?")
        here.secret(str(token))
        return str(token)

    def _answer(
        self, method: str, path: str, body: Mapping[str, Any] | None, headers: Mapping[str, str]
    ) -> Mapping[str, Any] | None:
        sent = {"X-Vault-Request": "true", "User-Agent": "runner", **headers}
        if self._settings.namespace:
            sent["X-Vault-Namespace"] = self._settings.namespace
        data = None if body is None else json.dumps(body).encode()
        status, text = self._send(method, f"{self._settings.url}/v1/{path}", data, sent)
        try:
            answer = json.loads(text) if text.strip() else {}
        except ValueError:
            answer = None
        if not isinstance(answer, Mapping):
            raise StateFailed(f"vault: {self._settings.url} answers {status}, and no JSON")
        if status == 404:
            return None if not answer.get("data") else answer
        if 200 <= status < 300:
            return answer
        raise self._problem(status, path.partition("?")[0], answer.get("errors"))

    def _problem(self, status: int, path: str, errors: Any) -> StateFailed:
        why = " ".join(" ".join(map(str, errors)).split()) if isinstance(errors, list) else ""
        what = f"vault: {self._settings.url} answers {status} for {path}" + (
            f": {why}" if why else ""
        )
        if status == 403 or (status == 400 and path.endswith("/login")):
            return Denied(what)
        return StateFailed(what)

    def _send(
        self, method: str, url: str, data: bytes | None, headers: Mapping[str, str]
    ) -> tuple[int, bytes]:
        class NoRedirect(urllib.request.HTTPRedirectHandler):
            def redirect_request(self, *words: Any) -> None:
                return None

        refuse_unforeseen(url)
        limit = self._settings.timeout
        host = urllib.parse.urlsplit(url).hostname or ""
        # asked here: opening an address would wait as long as the resolver does
        if not urllib.request.getproxies() and not resolver.resolve(host):
            raise StateFailed(f"vault: no address of {host} is known")
        request = urllib.request.Request(url, data, dict(headers), method=method)
        opener = urllib.request.build_opener(
            NoRedirect, urllib.request.HTTPSHandler(context=_trust(self._settings.verify))
        )
        end = time.monotonic() + limit
        try:
            with opener.open(request, timeout=limit) as answer:
                return answer.status, _read(answer, end)
        except urllib.error.HTTPError as problem:
            with problem:
                if 300 <= problem.code < 400:
                    to = urllib.parse.urlsplit(problem.headers.get("Location") or "").netloc
                    raise StateFailed(
                        f"vault: {self._settings.url} sends to {to or 'elsewhere'}, which is not"
                        " followed: write the address that answers itself"
                    ) from None
                return problem.code, _read(problem, end)
        except (OSError, ValueError, http.client.HTTPException) as problem:
            raise StateFailed(
                f"vault: {self._settings.url}: {failure_of(problem, limit, TRUST)}"
            ) from None


class Denied(StateFailed):
    """The server refuses an answer."""


def current() -> Client:
    """The client of this run. Raises StateFailed for what is wrong in the configuration."""
    store = here.store("vault")
    configured = settings()
    if configured not in store:
        store[configured] = Client(configured)
    client: Client = store[configured]
    return client


def _clean(path: str) -> str:
    """A path of the API, which begins without a slash. Raises StateFailed."""
    clean = str(path).strip("/")
    if not clean or any(part in ("", ".", "..") for part in clean.split("/")):
        raise StateFailed(f"vault: {path!r} is no path of a secret")
    return clean


def _quoted(path: str) -> str:
    return urllib.parse.quote(path)


def _below(mount: Mount, path: str, kind: str) -> str:
    """The address of a secret; `data/` that somebody typed is no part of its name."""
    if mount.version == 1:
        return _quoted(path)
    inner = f"{path}/".removeprefix(mount.prefix).rstrip("/")
    return _quoted(f"{mount.prefix}{kind}/{inner.removeprefix('data/')}".rstrip("/"))


def _trust(verify: Any) -> Any:
    """The certificates that are trusted. Raises StateFailed."""
    if verify is False:
        return context_of(False)
    text = "" if verify is True else str(verify)
    try:
        if "-----BEGIN" in text:
            return ssl.create_default_context(cadata=text)
        if _paths.isdir(text):
            return ssl.create_default_context(capath=text)
        return ssl.create_default_context(cafile=text or None)
    except (OSError, ssl.SSLError, ValueError) as problem:
        why = getattr(problem, "strerror", None) or problem
        raise StateFailed(f"vault: verify: {text[:60]} has no certificates: {why}") from None


def _read(answer: Any, end: float) -> bytes:
    """The body of an answer that comes before a time."""
    parts: list[bytes] = []
    while part := answer.read1(65536):
        parts.append(part)
        if time.monotonic() > end:
            raise TimeoutError
        if sum(map(len, parts)) > LARGEST:
            raise ValueError("the answer is too large")
    return b"".join(parts)
