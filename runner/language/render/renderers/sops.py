# SPDX-License-Identifier: Apache-2.0
"""SLS files that sops encrypted, decrypted by the program of that name.

A file is sops's when it is a mapping with `sops:` at its top, which holds the keys and a checksum
of all values; a first line that names the renderer sops says so, too. Its values are data and no
templates. A file that sops encrypted as a whole (`data:` beside `sops:`) is an SLS file when it is
decrypted, with a first line of its own.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from runner.language.render.renderers.age import cipher as age_keys
from runner.language.render.renderers.gpg import cipher as gpg_keys
from runner.language.render.steps import SOPS
from runner.model.errors import RenderError, reason_of
from runner.model.places import Source
from runner.model.plain_values import texts_in
from runner.support.yaml.load import load
from runner.support.yaml.rendered_text import Rendered

if TYPE_CHECKING:
    from runner.language.render import Scope

Secret = Callable[[str], None]
SECONDS = 60.0  # that sops may take: it may have to ask a key service
_VALUE = "ENC["  # what an encrypted value begins with
_SSH_KEY = b"-----BEGIN OPENSSH PRIVATE KEY-----"


def decrypted(text: Rendered, scope: Scope) -> Any:
    """The data of a file; a text for one that is encrypted as a whole. Raises RenderError."""
    document = load(text.text, text)
    if not isinstance(document, dict) or not isinstance(document.get(SOPS), Mapping):
        raise RenderError(
            "the file is not encrypted by sops: it has no `sops:`",
            Source(scope.path, 1),
            "encrypt it with `sops --encrypt --input-type yaml --output-type yaml`",
        )
    del document[SOPS]
    if list(document) == ["data"] and isinstance(document["data"], str):
        return Rendered(_plain(text.text, scope, "binary", "binary"), scope.path)
    form = "json" if text.text.lstrip().startswith("{") else "yaml"
    try:
        plain = json.loads(_plain(text.text, scope, form, "json"))
    except ValueError as error:
        raise RenderError(f"sops gives no JSON: {error}", Source(scope.path, 1)) from None
    return _fill(document, plain, scope.renderer.secret)


def hide(value: Any, secret: Secret) -> None:
    """Take all values for secrets: of a file that was encrypted as a whole."""
    for item in texts_in(value):
        secret(item)


def _fill(value: Any, plain: Any, secret: Secret) -> Any:
    """The encrypted data with the plain values in it, in place: its places are those of the file.

    Only encrypted values are secrets: sops leaves some of them as they are when it is told so.
    """
    if isinstance(value, dict) and isinstance(plain, dict):
        for key in value:
            value[key] = _fill(value[key], plain.get(str(key)), secret)
        return value
    if isinstance(value, list) and isinstance(plain, list) and len(value) == len(plain):
        for index, item in enumerate(plain):
            value[index] = _fill(value[index], item, secret)
        return value
    if not isinstance(value, str) or not value.startswith(_VALUE):
        return value
    hide(plain, secret)
    return plain


def _plain(text: str, scope: Scope, form: str, wanted: str) -> str:
    """Return what sops makes of a file, once. form, wanted: how it is written, and is to be."""
    known = scope.renderer.decrypted
    if (text, form) not in known:
        known[text, form] = _decrypted(text, scope, form, wanted)
    return known[text, form]


def _decrypted(text: str, scope: Scope, form: str, wanted: str) -> str:
    place = Source(scope.path, 1)
    try:
        done = subprocess.run(
            ["sops", "--decrypt", "--input-type", form, "--output-type", wanted, "/dev/stdin"],
            input=text.encode(),
            capture_output=True,
            timeout=SECONDS,
            check=False,
            env=environment(scope.renderer.opts),
            start_new_session=True,  # it asks nobody for a passphrase
        )
    except FileNotFoundError:
        raise RenderError(
            "the file is encrypted by sops, which is not installed", place, "install sops"
        ) from None
    except (OSError, subprocess.TimeoutExpired) as problem:
        raise RenderError(f"sops does not work: {reason_of(problem)}", place) from None
    if done.returncode:
        lines = [line.strip() for line in done.stderr.decode("utf-8", "replace").splitlines()]
        why = "; ".join(line for line in lines if line)[:300] or f"exit code {done.returncode}"
        hint = "its key is one of age_identities, in gpg_keydir, or where sops itself looks"
        raise RenderError(f"sops cannot decrypt the file: {why}", place, hint)
    return done.stdout.decode("utf-8", "replace")


def environment(opts: Mapping[str, Any]) -> dict[str, str]:
    """The variables for sops: with the keys of age and gpg here, unless it is told others."""
    variables = dict(os.environ)
    for path in age_keys(opts).identities:
        try:
            with open(path, "rb") as file:
                is_ssh = file.read(100).startswith(_SSH_KEY)
        except OSError:
            continue
        name = "SOPS_AGE_SSH_PRIVATE_KEY_FILE" if is_ssh else "SOPS_AGE_KEY_FILE"
        variables.setdefault(name, path)
    keydir = gpg_keys(opts).keydir
    if os.path.isdir(keydir):
        variables.setdefault("GNUPGHOME", keydir)
    return variables
