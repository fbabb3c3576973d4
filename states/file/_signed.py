"""Signatures of sources and of their hash files."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from runner.api import Record, StateFailed


class Signed(Record):
    """What has to be signed, and by whom.

    source, hash: True for a signature in the file itself, or the address of one beside it. any_of, all_of:
    fingerprints. keyring, home: where gpg finds the keys.
    """

    source: str | bool | None = None
    hash: str | bool | None = None
    any_of: Sequence[str] | None = None
    all_of: Sequence[str] | None = None
    keyring: str | None = None
    home: str | None = None
    backend: str = "gpg"

    def check(self, what: str, path: str, signature: str | bool | None, fetch: Callable[[str], str]) -> None:
        """Fail where a file's signature is wanted and not good. fetch: the local copy of an address."""
        if not signature:
            return
        if self.backend != "gpg":
            raise StateFailed(f"sig_backend: only gpg can be used, not {self.backend}")
        from modules import gpg

        beside = None if signature is True else fetch(str(signature))
        found, said = gpg.signers(path, beside, self.keyring, self.home)
        if not found:
            raise StateFailed(f"The signature of {what} could not be verified: {said}")
        wanted = [_plain(each) for each in (*(self.any_of or ()), *(self.all_of or ()))]
        missing = [each for each in map(_plain, self.all_of or ()) if each not in found]
        if missing or (self.any_of and not any(_plain(each) in found for each in self.any_of)):
            raise StateFailed(
                f"{what} is signed by {', '.join(found)}, and not by {', '.join(missing or wanted)} as it should be"
            )


def _plain(fingerprint: str) -> str:
    return str(fingerprint).replace(" ", "").upper()
