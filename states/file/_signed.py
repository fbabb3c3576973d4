# SPDX-License-Identifier: Apache-2.0
"""Signatures of sources and of their hash files."""

from __future__ import annotations

from modules import asymmetric, file, gpg
from runner.api import Annotated, Group, OneOrMany, Record, StateFailed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import TypeAlias

ADDRESSES = ("salt://", "/", "file://", "http://", "https://", "ftp://")
Signature: TypeAlias = "str | bool | Sequence[str] | None"


class Signed(Record):
    """The signatures that are required, and from whom.

    source: The source has to be signed: true for a signature in it, or the address of one beside
      it, or several.
    hash: The hash file has to be signed: true for a signature in it, or the address of one beside
      it, or several.
    any_of: The fingerprints of keys of which one has to have signed (with `sig_backend: asymmetric`
      public keys: paths, addresses or texts).
    all_of: The fingerprints of keys that all have to have signed, or public keys as for
      signed_by_any.
    keyring: The keyring file with the keys that gpg accepts.
    home: The home folder of gpg, where its keys are.
    backend: The kind of signatures: `gpg`, or `asymmetric` for those of the execution module of
      this name.
    """

    source: bool | OneOrMany[str] | None = None
    hash: bool | OneOrMany[str] | None = None
    any_of: OneOrMany[str] | None = None
    all_of: OneOrMany[str] | None = None
    keyring: str | None = None
    home: str | None = None
    backend: str = "gpg"

    def check(
        self, what: str, path: str, signature: Signature, fetch: Callable[[str], str]
    ) -> None:
        """Fail where a file's signature is wanted and not good. fetch: the local copy of an
        address.
        """
        if not signature:
            return
        backends = {"gpg": self._gpg, "asymmetric": self._asymmetric}
        if self.backend not in backends:
            raise StateFailed(f"sig_backend: {self.backend} is none of gpg and asymmetric")
        beside = (
            []
            if signature is True
            else [signature]
            if isinstance(signature, str)
            else list(signature)
        )
        files = [
            fetch(location) if self._is_address(location) else location
            for location in map(str, beside)
        ]
        problem = backends[self.backend](path, files)
        if problem:
            raise StateFailed(
                "Failed checking new file's signature: The file's signature could not be verified:"
                f" {what}: {problem}"
            )

    def _is_address(self, signature: str) -> bool:
        """Return whether a signature is the address of one: it may be base64, which may begin with
        a slash.
        """
        text = (
            self.backend == "asymmetric"
            and signature.startswith("/")
            and not file.exists(signature)
        )
        return not text and (self.backend == "gpg" or signature.startswith(ADDRESSES))

    def _gpg(self, path: str, files: Sequence[str]) -> str:
        """Name what is wrong with the signatures of a file; empty when they are good."""
        signed_by: list[str] = []
        for signature in files or (None,):
            signers, problem = gpg.signers(path, signature, self.keyring, self.home)
            if not signers:
                return problem
            signed_by += signers
        missing = [
            fingerprint
            for fingerprint in map(_normalized, self.all_of or ())
            if fingerprint not in signed_by
        ]
        if not missing and (
            not self.any_of
            or any(_normalized(fingerprint) in signed_by for fingerprint in self.any_of)
        ):
            return ""
        wanted = missing or [_normalized(fingerprint) for fingerprint in self.any_of or ()]
        signed, missed = ", ".join(signed_by), ", ".join(wanted)
        return f"it is signed by {signed}, and not by {missed} as it should be"

    def _asymmetric(self, path: str, files: Sequence[str]) -> str:
        if not files:
            return "the file carries no signature of its own: `signature` has to say where it is"
        answer = asymmetric.verify(
            filename=path, signature=files, signed_by_any=self.any_of, signed_by_all=self.all_of
        )
        return "" if answer["res"] else str(answer["message"])


def _normalized(fingerprint: str) -> str:
    return str(fingerprint).replace(" ", "").upper()


_NAMES = {
    "source_hash_sig": "hash",
    "signed_by_any": "any_of",
    "signed_by_all": "all_of",
    "keyring": "keyring",
    "gnupghome": "home",
    "sig_backend": "backend",
}
Signatures = Annotated[Signed, Group({"signature": "source", **_NAMES})]
HashSignature = Annotated[Signed, Group(_NAMES)]
