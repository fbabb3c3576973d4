# SPDX-License-Identifier: Apache-2.0
"""Keys of gpg: public ones, of nobody, that tests import, and one that is made."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

ADA_ID = "9B2087A53B133AA05A7A336544C6422A0ABCE911"
ZOE_ID = "E09B3B8036F6AF096CC29D17A39491AC04DF93FC"
OLD_ID = "AA86616C6112C8A48A5A4B7B7A9E16182C975129"
ADA = """
mDMEXgvhABYJKwYBBAHaRw8BAQdA6iKGwwOvXWC4cGpLSX81tOBtRlNaUz6Ju/nW
RgcAtDi0FWFkYSA8YWRhQGV4YW1wbGUub3JnPoiQBBMWCAA4FiEEmyCHpTsTOqBa
ejNlRMZCKgq86REFAl4L4QACGwMFCwkIBwIGFQoJCAsCBBYCAwECHgECF4AACgkQ
RMZCKgq86RH6agEAqNrtsxarqq4RYitWgZ10gaKKOyTn1tkV9QkFt23vLkoA/1M0
m83KQSKfp88er7KA1nuI9kXMedtlD+/Y3GBINIYN
=hANH
"""
ZOE = """
mDMEXgvhABYJKwYBBAHaRw8BAQdANcncJFNO7QW1/7C7Ug7x4c1s7+f8Op0ebTGD
mSWX/pG0FXpvZSA8em9lQGV4YW1wbGUub3JnPoiQBBMWCAA4FiEE4Js7gDb2rwls
wp0Xo5SRrATfk/wFAl4L4QACGwMFCwkIBwIGFQoJCAsCBBYCAwECHgECF4AACgkQ
o5SRrATfk/wSDgEAzoP/du/3JtkDVnctwnz5WFHWIbk2LAuSkMXoeGjdjFYA/jYm
AgsMPPgW5R0Tml218yHLGPHtInwCYz1Hk2+ji/YF
=iYlL
"""
# one key, which was prolonged when it had expired
OLD = """
mDMEXgvhABYJKwYBBAHaRw8BAQdAS1AWBEUGbLrYJq898lFv8My0GjXXbnhifoY9
KFeyokW0FW9sZCA8b2xkQGV4YW1wbGUub3JnPoiWBBMWCAA+FiEEqoZhbGESyKSK
Wkt7ep4WGCyXUSkFAl4L4QACGwMFCQABUYAFCwkIBwIGFQoJCAsCBBYCAwECHgEC
F4AACgkQep4WGCyXUSnlogD+KEvpy99LJ+0TGxZyVZAk6SuG2+qQZJbCQ75uNR9j
BE0A/2p/+6h4tChHwT3qd63of8ZUoO0eMbYUuFk+ysnb0AEC
=CpjW
"""
FRESH = """
mDMEXgvhABYJKwYBBAHaRw8BAQdAS1AWBEUGbLrYJq898lFv8My0GjXXbnhifoY9
KFeyokW0FW9sZCA8b2xkQGV4YW1wbGUub3JnPoiQBBMWCAA4AhsDBQsJCAcCBhUK
CQgLAgQWAgMBAh4BAheAFiEEqoZhbGESyKSKWkt7ep4WGCyXUSkFAl/uZgAACgkQ
ep4WGCyXUSkzMAD+KI+pRUpXKBdKhq5C7f2+qr4tQbNT92D/fJYCb9SItyUBAMYW
61xOGysXCUWSrcgpCY32gx1IQSpP2fk9JWS2aK4E
=mwcZ
"""


def armored(key: str) -> str:
    head, tail = (f"-----{word} PGP PUBLIC KEY BLOCK-----\n" for word in ("BEGIN", "END"))
    return f"{head}\n{key.lstrip()}{tail}"


@contextmanager
def key_of_runner(home: Path) -> Iterator[Callable[[str], str]]:
    """A key ring with a key of `runner`; what encrypts a text for it, armoured."""
    home.mkdir(mode=0o700, exist_ok=True)
    gpg = ["gpg", "--homedir", str(home), "--batch", "--quiet", "--passphrase", ""]
    gpg += ["--pinentry-mode", "loopback"]

    def run(*words: str, text: str = "") -> str:
        argv = [*gpg, *words]
        return subprocess.run(argv, input=text, capture_output=True, text=True, check=True).stdout

    run("--quick-generate-key", "runner", "default", "default")
    encrypt = ("--trust-model", "always", "--armor", "--encrypt", "--recipient", "runner")
    yield lambda text: run(*encrypt, text=text)
    subprocess.run(["gpgconf", "--homedir", str(home), "--kill", "all"], check=False)
