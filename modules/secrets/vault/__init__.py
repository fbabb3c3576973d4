# SPDX-License-Identifier: Apache-2.0
"""Secrets of a Vault or OpenBao server, from its KV stores (version 1 and 2).

`vault` of the configuration says where the server is and who asks; docs/secrets.md has its keys.
"""

from __future__ import annotations

from typing import Any

from modules._texts.secret_values import hide
from modules.secrets.vault._client import current
from modules.slsutil.merging import MISSING
from runner.api import StateFailed


def read_secret(
    path: str,
    key: str | None = None,
    metadata: bool = False,
    default: Any = MISSING,
    version: int | None = None,
) -> Any:
    """The secret at a path, as a mapping; hidden in reports. Raises StateFailed where there is
    none, and where the server cannot be asked.

    key: the value of this key alone. default: the answer where there is no such secret or key,
    instead of a failure. version: of a secret in a store of version 2. metadata: answer with
    {data, metadata} of such a store.

        {{ salt['vault.read_secret']('secret/app', 'password') }}
    """
    found = current().read(path, version)
    if found is None or (key is not None and key not in found.data):
        if default is not MISSING:
            return default
        what = f" with a key {key!r}" if found is not None else ""
        raise StateFailed(f"vault: there is no secret {path}{what}")
    hide(found.data)
    if key is not None:
        return found.data[key]
    return {"data": found.data, "metadata": found.metadata} if metadata else found.data


def list_secrets(path: str, default: Any = MISSING, keys_only: bool = False) -> Any:
    """The names below a path: {keys: [...]}; those of folders end with a slash. Raises StateFailed
    where there are none, and where the server cannot be asked.

    default: the answer where there are none, instead of a failure. keys_only: answer with the list
    itself.

        {{ salt['vault.list_secrets']('secret/apps', default=[], keys_only=True) }}
    """
    names = current().names(path)
    if names is None:
        if default is not MISSING:
            return default
        raise StateFailed(f"vault: there is nothing below {path}")
    return names if keys_only else {"keys": names}
