# SPDX-License-Identifier: Apache-2.0
"""Values that eyaml encrypted (`ENC[PKCS7,...]`), decrypted by openssl with the key of a level."""

from __future__ import annotations

import base64
import binascii
import os
import re
import subprocess
from collections.abc import Mapping
from typing import Any

from runner.language.pillar.external.hiera.hierarchy import DataFile
from runner.language.pillar.external.tools import Tools
from runner.model.errors import RenderError, reason_of
from runner.model.places import Place

KIND = "eyaml_lookup_key"
SECONDS = 30
_MESSAGE = re.compile(r"ENC\[(\w+),([A-Za-z0-9+/=\s]*)\]")


def decrypted(value: Any, file: DataFile, tools: Tools, place: Place) -> Any:
    """Data of a level with its messages decrypted, and hidden. Raises RenderError."""
    if file.kind != KIND:
        return value
    if isinstance(value, Mapping):
        return {key: decrypted(item, file, tools, place) for key, item in value.items()}
    if isinstance(value, list):
        return [decrypted(item, file, tools, place) for item in value]
    if not isinstance(value, str) or "ENC[" not in value:
        return value
    return _MESSAGE.sub(lambda match: _plain(match, file, tools, place), value).strip()


def _plain(match: re.Match[str], file: DataFile, tools: Tools, place: Place) -> str:
    if match[1] != "PKCS7":
        what = f"a value is encrypted by {match[1]}, and runner decrypts PKCS7"
        raise RenderError(what, place.source, code="hiera")
    key = file.options.get("pkcs7_private_key")
    if not key:
        what = "a value is encrypted, and no `options: {pkcs7_private_key: FILE}` says with what"
        raise RenderError(what, file.place.source, code="hiera")
    folder = os.path.dirname(file.place.source.file)
    certificate = file.options.get("pkcs7_public_key")
    words = ["-recip", os.path.join(folder, str(certificate))] if certificate else []
    argv = ["openssl", "cms", "-decrypt", "-inform", "DER", "-binary", *words]
    try:
        data = base64.b64decode("".join(match[2].split()), validate=True)
        done = subprocess.run(
            [*argv, "-inkey", os.path.join(folder, str(key))],
            input=data,
            capture_output=True,
            timeout=SECONDS,
            check=False,
        )
    except binascii.Error:
        raise RenderError("an encrypted value is damaged", place.source, code="hiera") from None
    except (OSError, subprocess.TimeoutExpired) as problem:
        raise RenderError(f"openssl does not work: {reason_of(problem)}", place.source) from None
    if done.returncode:
        lines = done.stderr.decode("utf-8", "replace").strip().splitlines() or ["no reason given"]
        what = f"an encrypted value cannot be decrypted: {lines[0]}"
        raise RenderError(what, place.source, f"the key is {key}", "hiera")
    plain = done.stdout.decode("utf-8", "replace")
    tools.hide(plain)
    return plain
