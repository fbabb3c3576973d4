# SPDX-License-Identifier: Apache-2.0
"""/etc/shadow: passwords and how long they hold. Hashes go to programs by standard input, never as
an argument.
"""

from __future__ import annotations

import ctypes
import hmac
import re
import secrets
import string

from modules import _accounts
from modules._accounts.provider import provider
from modules._accounts.values import Aging as Aging
from modules._paths import text_of
from modules._texts.lines import one_line, plain_name
from runner.api import CommandFailed, FormerState, changer, for_states

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

PATH = "/etc/shadow"
DAYS = Aging._fields  # the columns after the name and the hash
PREFIXES = {"md5": "$1$", "blowfish": "$2b$", "sha256": "$5$", "sha512": "$6$", "yescrypt": "$y$"}
_B64 = "[./0-9A-Za-z]"
_LAST_OF_DES = "[.26AEIMQUYcgkosw]"  # what the last character can be, which holds four bits
# what crypt(3) makes of a password, by crypt(5)
_HASHES = (
    rf"\$y\${_B64}+\${_B64}{{0,86}}\${_B64}{{43}}",  # yescrypt
    rf"\$gy\${_B64}+\${_B64}{{0,86}}\${_B64}{{43}}",
    rf"\$7\${_B64}{{11,97}}\${_B64}{{43}}",  # scrypt
    rf"\$2[abxy]\$\d\d\${_B64}{{53}}",  # bcrypt
    rf"\$6\$(rounds=[1-9]\d*\$)?[^$:\s]{{1,16}}\${_B64}{{86}}",
    rf"\$5\$(rounds=[1-9]\d*\$)?[^$:\s]{{1,16}}\${_B64}{{43}}",
    rf"\$sha1\$[1-9]\d*\${_B64}{{1,64}}\${_B64}{{28}}",
    rf"\$md5(,rounds=[1-9]\d*)?\${_B64}{{8}}\${{1,2}}{_B64}{{22}}",  # of Solaris
    rf"\$1\$[^$:\s]{{1,8}}\${_B64}{{22}}",
    r"\$3\$\$[0-9a-f]{32}",
    rf"_{_B64}{{18}}{_LAST_OF_DES}",  # of BSD
    rf"{_B64}{{12}}{_LAST_OF_DES}",
)
_NOBODY = r"[!*]|!!|!\*|\*[A-Z]{1,8}\*"  # what lets nobody in, such as *LK* of other systems
HASH_HINT = (
    "`- hash_password: true` hashes it; `openssl passwd -6` makes a hash of a word that it asks"
    " for; '*' lets nobody in"
)


def hash_problem(password: str) -> str | None:
    """The reason why a text is not what /etc/shadow has for a password; None where it is: a hash,
    perhaps locked by a `!`, or what lets nobody in.
    """
    if not password or re.fullmatch(f"{_NOBODY}|!{{0,2}}({'|'.join(_HASHES)})", password, re.ASCII):
        return None
    return (
        "expected the hash of a password, and this is none (crypt(5) has the forms): /etc/shadow"
        " would have it as it is"
    )


def info(name: str) -> dict[str, Any]:
    """The hash of a user's password and its days; -1 for what is not set. All empty for an unknown
    user.

    {{ salt['shadow.info']('root').lstchg }}
    """
    lines = [] if ":" in name else _accounts.lines_of(PATH, name)
    if not lines:
        return {"name": "", "passwd": "", **dict.fromkeys(DAYS, "")}
    columns = lines[-1].split(":")
    numbers = [int(text) if text.isdigit() else -1 for text in columns[2:8]]
    return {"name": name, "passwd": columns[1], **dict(zip(DAYS, numbers, strict=False))}


def list_users() -> list[str]:
    """The names in /etc/shadow, sorted."""
    return sorted(
        {line.partition(":")[0] for line in text_of(PATH, "surrogateescape").split("\n")} - {""}
    )


def default_hash() -> str:
    """The text in place of a hash that lets nobody in."""
    return "!"


def gen_password(
    password: str | None = None, crypt_salt: str | None = None, algorithm: str = "sha512"
) -> str:
    """The hash of a password (without one: of a random one). Raises CommandFailed for an unknown
    algorithm and a salt that it does not take.

    {{ salt['shadow.gen_password'](pillar['password']) }}
    """
    if algorithm not in PREFIXES:
        raise CommandFailed(f"there is no hash {algorithm!r}; there are {', '.join(PREFIXES)}")
    letters = string.ascii_letters + string.digits
    salt = crypt_salt or "".join(
        secrets.choice(letters) for _ in range(22 if algorithm == "blowfish" else 16)
    )
    settings = {"blowfish": "12$", "yescrypt": "j9T$"}.get(algorithm, "")
    password_hash = _crypt(
        password or secrets.token_urlsafe(20), f"{PREFIXES[algorithm]}{settings}{salt}"
    )
    if not password_hash:
        raise CommandFailed(f"{algorithm} does not take this salt")
    return password_hash


def verifies(password: str, hashed: str) -> bool:
    """Return whether a password is the one that was hashed; a lock in front of the hash does not
    count.
    """
    hashed = hashed.lstrip("!")
    password_hash = _crypt(password, hashed) if hashed.startswith("$") else ""
    return bool(password_hash) and hmac.compare_digest(password_hash, hashed)


def _crypt(password: str, setting: str) -> str:
    """crypt(3) of the system's own library; empty when it does not know the setting."""
    for library in ("libcrypt.so.1", "libcrypt.so.2", "libc.so"):
        try:
            crypt = ctypes.CDLL(library).crypt
        except (OSError, AttributeError):
            continue
        crypt.restype = ctypes.c_char_p
        password_hash: bytes | None = crypt(password.encode(), setting.encode())
        return (
            password_hash.decode() if password_hash and not password_hash.startswith(b"*") else ""
        )
    raise CommandFailed(
        "there is no libcrypt here that could hash a password; give its hash instead"
    )


@for_states
def former_state(name: str, *_: object, **__: object) -> FormerState:
    """The hash of a user's password and its days, as undo restores them."""
    entry = info(name)
    state = {key: entry[key] for key in ("passwd", *DAYS)} if entry["name"] else {}
    return FormerState("password", name, state, private=True)


@changer(touches=["users"], before=former_state, planned=True)
def set_password(name: str, password: str, use_usermod: bool = False) -> bool:
    """Set the hash of a user's password. Raises CommandFailed for a name with a colon, and for what
    is no hash. use_usermod: accepted; its command line would show the hash to everybody.

    runner call shadow.set_password zoe '$6$rounds=5000$...'
    """
    problem = hash_problem(password)
    if problem:
        raise CommandFailed(f"the password of {name}: {problem}")
    _put(name, password)
    return True


@changer(touches=["users"], before=former_state, planned=True)
def put_password(name: str, field: str) -> None:
    """Set the second column of a line of /etc/shadow as it was at some time, whatever that is."""
    _put(name, field)


def _put(name: str, field: str) -> None:
    if ":" in name:
        raise CommandFailed(f"{name!r} is not the name of a user: it has a colon")
    user = plain_name(name, "the name of the user")
    provider().set_password(user, one_line(field, "the hash of the password"))


@changer(touches=["users"], before=former_state, planned=True)
def del_password(name: str) -> bool:
    """Let a user in without a password."""
    provider().del_password(plain_name(name, "the user's name"))
    return True


@changer(touches=["users"], before=former_state, planned=True)
def lock_password(name: str) -> bool:
    """Let nobody in by this password, and keep it."""
    provider().lock(plain_name(name, "the user's name"), True)
    return True


@changer(touches=["users"], before=former_state, planned=True)
def unlock_password(name: str) -> bool:
    """Take back the lock of a password. Raises CommandFailed where there is no password."""
    provider().lock(plain_name(name, "the user's name"), False)
    return True


@for_states
@changer(touches=["users"], before=former_state, planned=True)
def set_days(name: str, aging: Aging) -> None:
    """Set some of the days of a password. Raises CommandFailed for what is neither a number of days
    nor a date, and where busybox stands in for chage.
    """
    said = {key: _day(key, day) for key, day in aging._asdict().items() if day is not None}
    provider().age(plain_name(name, "the user's name"), Aging(**said))


def _day(key: str, value: int | str) -> str:
    text = str(value).strip()
    pattern = r"-?\d+|\d{4}-\d\d-\d\d" if key in ("lstchg", "expire") else r"-?\d+"
    if not re.fullmatch(pattern, text, re.ASCII):
        also = ", or a date as 2030-12-31" if key in ("lstchg", "expire") else ""
        raise CommandFailed(f"{text!r}: expected a number of days{also}")
    return text


def set_date(name: str, date: int | str) -> bool:
    """Set the day on which a password was last changed: days since 1970, or a date; 0 asks for a
    new password at the next login.

    runner call shadow.set_date zoe 2026-01-31
    """
    set_days(name, Aging(lstchg=date))
    return True


def set_expire(name: str, expire: int | str) -> bool:
    """Set the day on which an account ends: days since 1970, or a date; -1 for never.

    runner call shadow.set_expire zoe 2030-12-31
    """
    set_days(name, Aging(expire=expire))
    return True


def set_inactdays(name: str, inactdays: int) -> bool:
    """Set the days after the end of a password on which it can still be changed; -1 for no end."""
    set_days(name, Aging(inact=inactdays))
    return True


def set_maxdays(name: str, maxdays: int) -> bool:
    """Set the days after which a password has to be changed; -1 for never."""
    set_days(name, Aging(max=maxdays))
    return True


def set_mindays(name: str, mindays: int) -> bool:
    """Set the days before which a password cannot be changed again; 0 for none."""
    set_days(name, Aging(min=mindays))
    return True


def set_warndays(name: str, warndays: int) -> bool:
    """Set the days before its end on which a user is warned of a password; 0 for none."""
    set_days(name, Aging(warn=warndays))
    return True
