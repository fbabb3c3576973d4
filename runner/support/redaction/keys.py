# SPDX-License-Identifier: Apache-2.0
"""The names of values that are secret, in one table: keys of the pillar, arguments of states, what
is assigned in a text; and which values under them are none.
"""

from __future__ import annotations

import fnmatch
from functools import cache, lru_cache
from itertools import groupby

from runner.model.stdlib import pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

FORMER = "former-secrets"  # the file of the state folder, which former_secrets.py reads

# Under such keys, at any depth, strings are secrets (`secret_keys` of the configuration): globs, of
# which the last one that matches decides. `!` in front of one takes keys away.
KEYS = (
    "*password",
    "*passwd",
    "*passphrase",
    "pass",
    "*_pass",
    "*pwd",
    "psk",
    "*_psk",
    "*token",
    "*api_key",
    "*apikey",
    "*private_key",
    "*privkey",
    "*credentials",
    "*auth_key*",
    "*authkey",
    "*secret*",
    # of people and services, and where a secret lies or what it is called
    "!*secretar*",
    "!*secretsmanager*",
    "!*secrets_manager*",
    "!*secret*_name",
    "!*secret*_file",
    "!*secret*_path",
    "!*secret*_dir",
    "!*secret*_user",
    "!fastcgi_pass",
    "!uwsgi_pass",
    "!scgi_pass",
    "!grpc_pass",
    "!memcached_pass",  # of nginx
)
HIDDEN = "**********"
LOGIN = pattern(r"://[^\s:/@'\"]*:([^\s/@'\"]{4,})@")  # the password in a URL
WORDS = frozenset(key.strip("*") for key in KEYS if key[0] != "!")  # which a key may be called
# what stands beside a secret below such a key (`credentials: {user: x, host: y, ...}`) and is none
_BESIDE = pattern(r"(.*_)?(user|user_?name|login|name|host|host_?name|port|e?mail)$")
# values that are none under any key: where a secret lies, the address of a server, a public key, a
# switch (`nopasswd=True` of a command line)
_NONE = pattern(
    r"salt:/(/[\w.@-]{1,255})+(\?saltenv=[\w-]+)?|(/[\w.@-]{1,32}){2,}"
    r"|(/[\w.@-]{1,255})+\.(key|pem|der|p12|pfx|crt)"
    r"|https?://[\w.:-]+/?|unix:/[\w./-]+|(ssh|ecdsa|sk)-[\w.@-]+ AAAA[\w+/=]+( .*)?"
    r"|(?i:true|false|yes|no)"
)

_PRIVATE_KEY = pattern(
    r"(?s)-----BEGIN (?:[A-Z ]*PRIVATE KEY|OpenVPN Static key V1)-----.*?(?:-----END|\Z)"
)


def is_none(value: str) -> bool:
    """Return whether a value is no secret, although its key says so."""
    return _NONE.fullmatch(value) is not None


def holds_key(value: object) -> bool:
    """Return whether a value has a private key in it, which is a secret under any name."""
    return isinstance(value, str) and ("PRIVATE KEY-----" in value or "Static key V1-----" in value)


def private_keys(text: str) -> list[str]:
    """The private keys that a text holds."""
    return _PRIVATE_KEY.findall(text) if holds_key(text) else []


def is_beside(key: object) -> bool:
    """Return whether a key says that its value only belongs to a secret, such as its user."""
    return _BESIDE.match(plain_key(key)) is not None


def plain_key(key: object) -> str:
    """A key as globs are compared with it."""
    return str(key).lower().replace("-", "_")


@cache
def matcher(keys: tuple[str, ...]) -> Callable[[object], bool]:
    """Return whether globs say of a name that it is a secret's."""
    steps = [
        (takes, _any_of([key.lower().removeprefix("!") for key in run]))
        for takes, run in groupby(keys, lambda key: key[:1] != "!")
    ]
    steps.reverse()

    def matches(key: object) -> bool:
        name = plain_key(key)
        return next((takes for takes, fits in steps if fits(name)), False)

    # a large pillar has more keys than are worth remembering
    return lru_cache(8192)(matches)


def _any_of(globs: Iterable[str]) -> Callable[[str], bool]:
    """Return whether one of them matches; plain ones need no regular expression, which takes long
    to make.
    """
    exact: set[str] = set()
    ends: list[str] = []
    inside: list[str] = []
    parts: list[list[str]] = []
    others: list[str] = []
    for glob in globs:
        word = glob.strip("*")
        if "?" in word or "[" in word:
            others.append(fnmatch.translate(glob))
        elif "*" in word:
            parts.append(glob.split("*"))
        elif glob == word:
            exact.add(word)
        elif glob == f"*{word}":
            ends.append(word)
        elif glob == f"*{word}*":
            inside.append(word)
        else:
            parts.append(glob.split("*"))
    endings, expression = tuple(ends), pattern("|".join(others) or r"(?!)")
    return lambda name: (
        name in exact
        or name.endswith(endings)
        or any(word in name for word in inside)
        or any(_has_in_order(name, some) for some in parts)
        or (bool(others) and expression.match(name) is not None)
    )


def _has_in_order(name: str, parts: list[str]) -> bool:
    """Return whether a name begins with the first part, ends with the last one, and has the others
    between them.

    >>> _has_in_order("secret_of_a_user", ["", "secret", "_user"])
    True
    """
    first, *middle, last = parts
    at, end = len(first), len(name) - len(last)
    if at > end or not (name.startswith(first) and name.endswith(last)):
        return False
    for part in middle:
        at = name.find(part, at, end) + len(part)
        if at < len(part):
            return False
    return True


def without_logins(text: str) -> str:
    """A text without the passwords that stand in URLs."""
    if "://" not in text:
        return text
    return LOGIN.sub(lambda login: login[0].replace(login[1], HIDDEN), text)
