# SPDX-License-Identifier: Apache-2.0
"""The keys that a state wants rpm to trust."""

from __future__ import annotations

from modules.pkg.apt import keys as apt_keys
from modules.pkg.package_manager import RepositorySettings
from modules.pkg.rpm import packages as rpm
from runner.api import StateFailed


def new_keys(settings: RepositorySettings) -> tuple[bytes, ...]:
    """Return the keys that rpm does not know yet. Raises StateFailed where one cannot be had."""
    if not settings.allow_insecure_key and any(
        url.startswith("http://") for url in settings.key_url
    ):
        raise StateFailed("Cannot have 'key_url' using http with 'allow_insecure_key' set to True")
    keys = [apt_keys.from_url(url) for url in settings.key_url]
    keys += [settings.key_text.encode()] if settings.key_text else []
    known = rpm.key_ids() if keys or settings.keyid else []
    keys += [
        apt_keys.from_server(keyid, settings.keyserver)
        for keyid in settings.keyid
        if keyid.lower()[-8:] not in known
    ]
    return tuple(key for key in keys if _fingerprint(key)[-8:] not in known)


def _fingerprint(key: bytes) -> str:
    digits = apt_keys.fingerprint(apt_keys.shaped(key, "binary"))
    if not digits:
        raise StateFailed("the key of the repository is no PGP key")
    return digits.lower()
