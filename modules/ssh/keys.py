# SPDX-License-Identifier: Apache-2.0
"""authorized_keys: who may log in with which key."""

from __future__ import annotations

import binascii
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from modules import _paths, file
from modules import user as users
from modules._texts.lines import encoded, once_a_line, once_a_version, one_line, split
from runner.api import Record, StateFailed, cached_look, pattern

KINDS = (
    "ssh-rsa|ssh-dss|ssh-ed25519|ecdsa-sha2-nistp256|ecdsa-sha2-nistp384|ecdsa-sha2-nistp521|"
    "sk-ssh-ed25519@openssh\\.com|sk-ecdsa-sha2-nistp256@openssh\\.com"
)
_LINE = pattern(
    rf"(?:(?P<options>\S.*?)\s+)?(?P<kind>{KINDS})\s+(?P<key>\S+)(?:\s+(?P<comment>.*))?"
)
_SHORT = {
    "rsa": "ssh-rsa",
    "dsa": "ssh-dss",
    "ed25519": "ssh-ed25519",
    "ecdsa": "ecdsa-sha2-nistp256",
}
SSHD = "/etc/ssh/sshd_config"
_FILES = "authorizedkeysfile"
MOST_INCLUDES = 16  # one inside the other, as sshd takes them
# the options whose value sshd wants in double quotes
QUOTED = "command environment expiry-time from permitlisten permitopen principals tunnel".split()


class Key(Record):
    """One key. kind: as sshd writes it."""

    key: str
    kind: str = "ssh-rsa"
    comment: str = ""
    options: str = ""

    @property
    def line(self) -> str:
        text = f"{self.options} {self.kind} {self.key} {self.comment}".lstrip()
        return one_line(text, "the line of the key")


@once_a_line
def parsed(text: str) -> Key | None:
    """The key that a line has; None for comments and what is not a key."""
    match = None if text.lstrip().startswith("#") else _LINE.fullmatch(text.strip())
    if match is None:
        return None
    return Key(
        match["key"], match["kind"], (match["comment"] or "").strip(), match["options"] or ""
    )


def kind(enc: str) -> str:
    """The kind of a key, as sshd writes it, of the word of a state."""
    return _SHORT.get(enc, enc)


def kind_within(digits: str) -> str:
    """The kind that a key begins with itself; empty where that is none."""
    begin = digits[: min(len(digits), 64) // 4 * 4]
    try:
        decoded = binascii.a2b_base64(begin)
    except binascii.Error:
        return ""
    name = decoded[4 : 4 + int.from_bytes(decoded[:4], "big")].decode("ascii", "replace")
    return name if re.fullmatch(KINDS, name) else ""


def is_whole(digits: str) -> bool:
    """Return whether a key ends where the last of its parts does, each of which says its length."""
    try:
        decoded = binascii.a2b_base64(digits)
    except binascii.Error:
        return False
    at = 0
    while at < len(decoded):
        at += 4 + int.from_bytes(decoded[at : at + 4], "big")
    return at == len(decoded)


def wanted(name: str, enc: str, comment: str, options: Iterable[str]) -> Key:
    """The key that a state names: a whole line, or only its digits. Raises StateFailed for what is
    no key.
    """
    key = parsed(name)
    if key is None:
        key = Key(name.strip(), kind(enc), comment)
    if not re.fullmatch(KINDS, key.kind):
        raise StateFailed(f"Incorrect encryption key type '{enc}'.")
    if not re.fullmatch(r"AAAA[0-9A-Za-z+/]+={0,3}", key.key):
        raise StateFailed("Invalid public ssh key, most likely has spaces or invalid syntax")
    return key._replace(options=key.options or ",".join(options), comment=key.comment or comment)


def option_list(text: str) -> list[str]:
    """The options of a key, one by one; a comma in quotes separates none."""
    return re.findall(r'(?:[^,"]|"(?:[^"\\]|\\.)*")+', text)


def path_of(user: str, config: str) -> str:
    """The file of a user's keys. Raises StateFailed when there is no such user."""
    info = users.info(user)
    if not info:
        why = (
            "Failed to add the ssh key. Is the home directory available, and/or does the key file"
            f" exist? There is no user {user}"
        )
        raise StateFailed(why, missing=("user", user))
    path = config.replace("%h", info["home"]).replace("%u", user).replace("%%", "%")
    return path if path.startswith("/") else os.path.join(info["home"], path)


def not_read(user: str, config: str) -> str:
    """Why sshd does not look for keys in a file of a user; empty where it does, or where its
    configuration is not there or says otherwise for some.
    """
    files = _looked_for()
    if not files or not {config, f"%h/{config}"}.isdisjoint(files):
        return ""
    if path_of(user, config) in (path_of(user, file) for file in files):
        return ""
    return (
        f"sshd does not look for keys in {config}: AuthorizedKeysFile of its configuration is"
        f" {' '.join(files)}, which `- config:` can name"
    )


@cached_look("sshd", SSHD, f"{SSHD}.d")
def _looked_for() -> list[str]:
    """What AuthorizedKeysFile names; nothing where that is not said, or not for all."""
    settings = [*_configured(SSHD)]
    names = [words[0] for words in settings]
    at = [number for number, name in enumerate(names) if name == _FILES]
    if not at or "match" in names[: at[-1]]:
        return []
    return [word.strip('"') for word in settings[at[0]][1:]]


def _configured(path: str, depth: int = 0) -> Iterator[list[str]]:
    """The settings of sshd, each with its words, its name in lower case, and its includes in their
    place.
    """
    for words in _settings(_paths.text_of(path)) if depth <= MOST_INCLUDES else ():
        if words[0] != "include":
            yield words
            continue
        for shape in words[1:]:
            for included in sorted(_paths.glob(os.path.join(os.path.dirname(SSHD), shape))):
                yield from _configured(included, depth + 1)


@once_a_version
def _settings(text: str) -> Sequence[list[str]]:
    lines = (re.sub(r"\s*=\s*|\s+", " ", line.strip(), count=1).split() for line in split(text))
    return [[words[0].lower(), *words[1:]] for words in lines if words and words[0][0] != "#"]


def of_source(
    source: str, saltenv: str | None = None, options: Iterable[str] | None = None
) -> list[Key]:
    """The keys of a file (salt://, or a path), with these options in place of theirs. Raises
    StateFailed where there is none.
    """
    path = file.fetched(source, saltenv)
    if path is None:
        why = f"The source {source} does not exist"
        raise StateFailed(why, missing=("file", source))
    keys = [key for key in map(parsed, split(file.text_to_edit(path))) if key]
    if not keys:
        raise StateFailed(f"{source} holds no public key")
    return [key._replace(options=",".join(options)) for key in keys] if options else keys


def lines(path: str) -> list[str]:
    """The lines of a file of keys; none when there is no file."""
    return split(file.text_to_edit(path))


def known(path: str) -> Mapping[str, Key]:
    """The keys of a file by their digits; none when there is no file."""
    return _known(file.text_to_edit(path))


@once_a_version
def _known(text: str) -> Mapping[str, Key]:
    return {key.key: key for key in map(parsed, split(text)) if key}


def changed(path: str, add: Iterable[Key] = (), remove: Iterable[str] = ()) -> list[str]:
    """The lines of a file with some keys added or replaced, and some removed (by their digits)."""
    present, result = known(path), lines(path)
    if removed := {*remove} & present.keys():
        result = [line for line in result if not ((key := parsed(line)) and key.key in removed)]
    for new in add:
        is_there = new.key in present and new.key not in removed
        at = _first(result, new.key) if is_there else len(result)
        result[at : at + 1] = [new.line]
    return result


def _first(texts: list[str], digits: str) -> int:
    """The number of the first line with a key."""
    found = (
        index for index, text in enumerate(texts) if (key := parsed(text)) and key.key == digits
    )
    return next(found)


def write(path: str, user: str, content: Iterable[str]) -> None:
    """Write a file of keys; a new one, and its folder, belong to the user and nobody else reads
    them.
    """
    info = users.info(user)
    new = not file.is_file(path)
    folder = os.path.dirname(path)
    if not file.is_dir(folder):
        file.makedirs(folder, mode="0700", user=info["uid"], group=info["gid"])
    data = encoded(content)
    if new:
        file.write(path, data, mode="0600", user=info["uid"], group=info["gid"])
    else:
        file.write(path, data)
