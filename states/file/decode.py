# SPDX-License-Identifier: Apache-2.0
"""file.decode: a file has contents that the SLS or the pillar gives encoded."""

from __future__ import annotations

import base64
import binascii
from typing import Literal

from modules import file
from runner.api import FilePath, Plan, Planned, StateFailed, here
from states.file import _lines


@file.validated
def decode(
    name: FilePath,
    encoded_data: str | None = None,
    contents_pillar: str | None = None,
    encoding_type: Literal["base64"] = "base64",
    checksum: Literal["md5", "sha1", "sha224", "sha256", "sha384", "sha512"] = "md5",
) -> Planned:
    """Make sure that a file has contents that are given in base64: a binary file, say.

    name: The file; its folder has to be there.
    encoded_data: The contents, in base64.
    contents_pillar: The pillar's key that has the contents, in base64, instead of encoded_data.
    encoding_type: The encoding of the text; there is only `base64`.
    checksum: The algorithm by which the old and the new contents are compared.

        /etc/app/key.bin:
          file.decode:
            - contents_pillar: app:key

    Behaviour: Salt 3008's file.decode; text that is not base64 fails.
    """
    data = _decoded(encoded_data, contents_pillar)
    old = None
    if file.lexists(name):
        if not file.is_file(name):
            raise StateFailed(f"Specified target {name} is not a regular file")
        old = file.get_hash(name, checksum)
    elif missing := _lines.parent_lacking(name, makedirs=False):
        raise StateFailed(f"Parent directory not present for {name}", missing=missing)
    new = file.hash_of(data, checksum)
    if old == new:
        return "File is in the correct state."
    yield Plan({"old": old, "new": new}, "File is set to be updated.", provides=[("file", name)])
    file.write(name, data)
    return "File was updated."


def _decoded(encoded: str | None, key: str | None) -> bytes:
    if encoded is not None and key is not None:
        raise StateFailed("Specify only one 'encoded_data' or 'contents_pillar' argument.")
    if encoded is None and key is None:
        raise StateFailed("Specify either the 'encoded_data' or 'contents_pillar' argument.")
    text = encoded if encoded is not None else here.call("pillar.get", key, None)
    if text is None:
        raise StateFailed("Pillar data not found.")
    if not text:
        raise StateFailed("No contents given.")
    try:
        return base64.b64decode("".join(str(text).split()), validate=True)
    except (binascii.Error, ValueError) as problem:
        raise StateFailed(f"this is not base64: {problem}") from None
