# SPDX-License-Identifier: Apache-2.0
"""Texts that look like a secret which nobody declared one: what a machine has in its files."""

from __future__ import annotations

import re

# the ends of names that mean a secret. Nothing here takes more than linear time: files are hostile.
_WORD = (
    r"(?:(?<!no)passw(?:or)?d|passphrase|secret|token|api[_-]?key|access[_-]?key|private[_-]?key"
    r"|auth[_-]?key|credentials?|requirepass|masterauth|psk|community6?|auth_pass|bindpw|rootpw)"
)
_SHORT = r"(?<![A-Za-z])(?:pass|pwd)"  # of assignments alone: proxy_pass is a directive
# what stands for a value, and is none: nothing, a switch, a place, a variable
_PLAIN = (
    r"(?:=>?|:|yes|no|on|off|true|false|none|null|all|file|auto|default|ask|prohibit-password"
    r"|(?:files|compat|db|systemd)(?: .*)?|sufficient|required|requisite|optional|substack|include"
    r"|\d{1,4}|[/~$%<{*].*|\w+\(.*|https?://[^\s@]*)?[;,)]*"
)
LIKELY = re.compile(
    "|".join(
        (
            r"-----BEGIN (?:[A-Z ]*PRIVATE KEY|OpenVPN Static key)",
            r"(?<!\w)(?:AKIA|ASIA)[A-Z0-9]{16}(?!\w)",
            r"(?<!\w)(?:gh[opsu]_|github_pat_|glpat-|xox[abprs]-|hvs\.|dop_v1_|npm_)\w{10}",
            r"(?<!\w)[sr]k_live_\w{10}",
            r"(?<!\w)AGE-SECRET-KEY-1",
            r"(?<!\w)eyJ[\w-]{10,}\.[\w-]{10,}\.",
            r"\$(?:1|2[abxy]?|5|6|7|y|gy|apr1|argon2\w*)\$[^\s'\"]{8}",
            r"\{S?(?:SHA|MD5|CRYPT)\d*\}\S{8}",
            r"://[^\s/@:'\"]*:[^\s/@'\"]+@",
            r"(?i:authorization|x-auth-token)['\"]?\s*[:=]\s*\S+",
            r"(?i:bearer|basic)\s+[\w+/=.-]{16,}",
            r"(?i:machine)\s+\S+\s+(?i:login)\s+\S+\s+(?i:password)\s+\S",
            r"(?i:identified\s+by)\s+(?i:password\s+)?['\"]\S",
            r"(?i:<[\w.:-]{0,40}(?:passw(?:or)?d|secret|token)[^<>]{0,99}>)[^<\s]",
            r"(?m:^)[ \t]*r[ow]community6?[ \t]+\S",
            # of Unix programs: -u user:word, -pWORD
            r"(?<![\w-])(?:curl|https?)\s(?:[^\n|;]{0,300}\s)?(?:-u|--user)[= ]?['\"]?"
            r"[\w.@-]{1,64}:[^\s:/]",
            r"(?<![\w-])(?:mysql|mysqldump|mariadb|mariadb-dump|sshpass)\s"
            r"(?:[^\n|;]{0,300}\s)?-p['\"]?[^\s'\"]",
        )
    )
)
_ASSIGNED = re.compile(
    rf"(?i)(?:{_WORD}|{_SHORT})(?:['\"][ \t]*,|['\"]?[ \t]*[:=]{{1,2}}>?)[ \t]*"
    r"(?P<value>\S[^\n]{0,200})"
)
_DIRECTIVE = re.compile(rf"(?im)^[ \t]*[\w.-]{{0,40}}{_WORD}[ \t]+(?P<value>\S+)[ \t]*$")
# files that hold keys in a form of their own
_KEY_FILE = re.compile(r".*\.(?:key|p12|pfx|jks|keystore|keytab|kdbx)", re.IGNORECASE)


def likely_secret(text: str) -> bool:
    """Return whether a text seems to hold a secret: a private key, a token, the hash of a password,
    a password in a URL, or something that is assigned to a name such as `password`.
    """
    return (
        LIKELY.search(text) is not None
        or any(_is_value(match["value"]) for match in _DIRECTIVE.finditer(text))
        or any(map(_assigns, _ASSIGNED.finditer(text)))
    )


def _assigns(match: re.Match[str]) -> bool:
    """Return whether something that may be a secret is assigned, not only in an example."""
    start = match.string.rfind("\n", max(0, match.start() - 300), match.start()) + 1
    commented = match.string[start : match.start()].lstrip()[:1] in ("#", ";")
    value = match["value"]
    return _is_value(value) and (not commented or _is_no_example(value))


def likely_key_file(path: str, data: bytes) -> bool:
    """Return whether a file seems to hold a private key by its name."""
    return _KEY_FILE.fullmatch(path) is not None and b"PUBLIC KEY" not in data


def _is_value(text: str) -> bool:
    return not re.fullmatch(_PLAIN, text.strip("'\" ,;"), re.IGNORECASE)


def _is_no_example(text: str) -> bool:
    """Return whether a value that stands in a comment is more than an example."""
    word = text.strip("'\" ,;")
    return re.fullmatch(r"(?=.*\d)(?=.*[A-Za-z])\S{8,}", word) is not None
