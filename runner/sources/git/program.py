# SPDX-License-Identifier: Apache-2.0
"""The program git: how it is started, what it may read, and what its failures mean."""

from __future__ import annotations

import errno
import os
import re
import shlex
import subprocess
import urllib.parse
from collections.abc import Mapping, Sequence
from typing import Any

from runner.model.errors import RunnerError
from runner.model.records import Record
from runner.support.files.trusted_folder import trusted_folder
from runner.support.programs import running

PROTOCOLS = "ssh:https:http:file:git"  # those without programs of their own, such as `ext::`
# what git says of objects here; what the other side says begins with `remote:`
_DAMAGE = re.compile(
    r"^(?!remote:).*?(?:object file \S+ is empty|(?:object|packfile|pack) .* corrupt|inflate: "
    r"|bad object |(?:missing|unable to (?:read|find)|could not read) .*(?:blob|tree|commit|sha1)"
    r"|garbage at end of|packfile \S+ (?:index|does not match)|index file \S+ )",
    re.M | re.I,
)
# likewise of the disk here
_FULL = re.compile(r"^(?!remote:).*(?:No space left on device|Disk quota exceeded)", re.M)
_USELESS = (
    "fatal: Could not read from remote repository",
    "Please make sure you have the correct access rights",
    "and the repository exists",
)
_LOGIN = re.compile(r"^(?P<scheme>\w[\w+.-]*://)(?P<login>[^/]*)@")
# what users set to reach a repository; all else that begins with GIT_ would alter what is asked
_REACHING = ("GIT_SSH", "GIT_SSH_COMMAND", "GIT_SSL_CAINFO", "GIT_SSL_CAPATH", "GIT_SSL_CERT")
_NO_CONFIGURATION = {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1"}
_QUIET = (
    "-c",
    "core.fsmonitor=false",
    "-c",
    "core.hooksPath=/dev/null",
    "-c",
    "gc.autoDetach=false",
)
# what is fetched is on the disk before the references name it
_DURABLE = ("-c", "core.fsync=all", "-c", "advice.detachedHead=false")
_HELPER = (
    '!f() { test "$1" = get && printf "username=%s\\npassword=%s\\n" "$RUNNER_GIT_USER"'
    ' "$RUNNER_GIT_PASSWORD"; }; f'
)
_CURES = (
    ("Could not resolve host", "is the name right, and is there a network?"),
    ("Permission denied (publickey", "the server does not know the key: `deploy_key`"),
    ("Host key verification failed", "put the host's key into known_hosts: `ssh-keyscan HOST`"),
    ("could not read Username", "the server wants a login: is the URL right, and is it public?"),
    ("Authentication failed", "the user or the password is wrong"),
    ("does not appear to be a git repository", "is the URL right?"),
    ("not found", "is the URL right?"),
    ("detected dubious ownership", "the repository belongs to another user: `safe.directory`"),
)


class GitError(RunnerError):
    """The program git failed, or a repository is not as it should be."""

    code = "git"


class DamagedCopy(GitError):
    """A copy of a repository has lost what was in it, by a disk or by a person."""


class FullDisk(GitError):
    """There is no room here for a copy of a repository."""

    def __init__(self, message: str) -> None:
        super().__init__(message, hint="make room, or choose another `cachedir`")


def not_written(what: str, error: OSError) -> GitError:
    """The failure to write a file here. what: it is about, for messages."""
    message = f"{what}: {error.filename or 'its copy cannot be written'}: {error.strerror}"
    return (FullDisk if error.errno in (errno.ENOSPC, errno.EDQUOT) else GitError)(message)


class Remote(Record):
    """A repository, and how to reach it.

    url: as git takes it; ssh, https, http, file, git, a path, or host:path. deploy_key: the file of
    an ssh key; empty for those of the user. ssl_verify: False, or the file of the authorities that
    sign the server's certificate. user, password: for https; the URL may have them, too.
    known_hosts: a file of ssh's host keys; empty for the user's. timeout: seconds for a fetch.
    """

    url: str
    deploy_key: str = ""
    ssl_verify: bool | str = True
    user: str = ""
    password: str = ""
    known_hosts: str = ""
    timeout: float = 60.0

    @property
    def address(self) -> str:
        """The URL without a login, which other users could see in the list of processes."""
        return _LOGIN.sub(r"\g<scheme>", self.url) if self._has_password() else self.url

    def environment(self) -> dict[str, str]:
        """The variables with which git reaches it. Raises GitError for a key that is not there."""
        values = {"GIT_TERMINAL_PROMPT": "0", "GIT_ALLOW_PROTOCOL": PROTOCOLS}
        values |= {"SSH_ASKPASS": "", "GIT_ASKPASS": ""}
        values |= self._ssh()
        settings: list[tuple[str, str]] = [("core.askPass", "")]
        if self.ssl_verify is False:
            settings.append(("http.sslVerify", "false"))
        elif isinstance(self.ssl_verify, str):
            settings.append(("http.sslCAInfo", self.ssl_verify))
        user, password = self._login()
        if password:
            server = "/".join(self.address.split("/")[:3])  # the helper is asked for no other
            settings.append((f"credential.{server}.helper", _HELPER))
            values |= {"RUNNER_GIT_USER": user, "RUNNER_GIT_PASSWORD": password}
        values["GIT_CONFIG_COUNT"] = str(len(settings))
        for number, (key, value) in enumerate(settings):
            values |= {f"GIT_CONFIG_KEY_{number}": key, f"GIT_CONFIG_VALUE_{number}": value}
        return values

    def _ssh(self) -> dict[str, str]:
        for path in filter(None, (self.deploy_key, self.known_hosts)):
            if not os.access(path, os.R_OK):
                raise GitError(f"{path}: no such file, or it may not be read")
        program = os.environ.get("GIT_SSH_COMMAND") or shlex.quote(os.environ.get("GIT_SSH", "ssh"))
        words = ["-o", "BatchMode=yes"]
        if self.deploy_key:
            words += ["-o", "IdentitiesOnly=yes", "-i", self.deploy_key]
        if self.known_hosts:
            words += ["-o", f"UserKnownHostsFile={self.known_hosts}"]
        return {"GIT_SSH_COMMAND": f"{program} {shlex.join(words)}"}

    def _login(self) -> tuple[str, str]:
        if not self._has_password():
            return self.user, self.password
        user, _, password = self._written_login().partition(":")
        unquote = urllib.parse.unquote
        return self.user or unquote(user), self.password or unquote(password)

    def _has_password(self) -> bool:
        return self.url.startswith("http") and ":" in self._written_login()

    def _written_login(self) -> str:
        login = _LOGIN.match(self.url)
        return login["login"] if login else ""


def display_url(url: str) -> str:
    """The URL of a repository without the password in it.

    >>> display_url("https://me:secret@example.org/a.git")
    'https://me@example.org/a.git'
    >>> display_url("https://token@example.org/a.git")
    'https://token@example.org/a.git'
    >>> display_url("git@example.org:a.git")
    'git@example.org:a.git'
    """
    return re.sub(r"^(\w[\w+.-]*://[^/:@]*):[^/]*@", r"\1@", url)


def checked_url(url: str) -> str:
    """A URL that git may be given. Raises GitError for one that it would take for an option, or for
    a program to run.
    """
    if not url or url.startswith("-") or not url.isprintable():
        raise GitError(f"{url!r} is no URL of a repository")
    transport = re.match(r"(\w+)::|(\w[\w+.-]*)://", url)
    if transport and (transport[1] or transport[2]) not in PROTOCOLS.split(":"):
        raise GitError(
            f"{display_url(url)}: a repository cannot be reached by {transport[1] or transport[2]}",
            hint="one of " + ", ".join(PROTOCOLS.split(":")),
        )
    return url


def environment(values: Mapping[str, str] = {}, own_configuration: bool = False) -> dict[str, str]:
    """The variables git is started with. values: further ones. own_configuration: whether it reads
    the user's, who may have a proxy or a helper for passwords there; never that of another user's
    home, which root may have been given.
    """
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("GIT_") or (own_configuration and name in _REACHING)
    }
    kept |= {"GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C.UTF-8"}
    if not own_configuration:
        kept |= _NO_CONFIGURATION
    elif not _home_is_ours():
        kept |= {"GIT_CONFIG_GLOBAL": "/dev/null"}
    return {**kept, **values}


def _home_is_ours() -> bool:
    try:
        home = trusted_folder(os.path.expanduser("~"), make=False)
        if home.exists(".gitconfig"):
            os.close(home.open(".gitconfig", os.O_RDONLY))
    except (OSError, RunnerError):
        return False
    return True


class Answer(Record):
    """What a git said. status: its exit code."""

    status: int
    output: bytes
    errors: str


class BareRepository(Record):
    """A bare repository of runner's own. name: what it is called in messages."""

    folder: str
    name: str

    def git(self, *words: str, **how: Any) -> str:
        """Return what git prints of this repository. how: as for `ask`. Raises GitError."""
        return self.read(*words, **how).decode("utf-8", "surrogateescape")

    def read(self, *words: str, **how: Any) -> bytes:
        """The same, as bytes."""
        answer = self.ask(*words, **how)
        if answer.status:
            raise failure(self.name, answer)
        return answer.output

    def says(self, *words: str) -> str | None:
        """The same without white space around it; None where git fails."""
        answer = self.ask(*words)
        return None if answer.status else answer.output.decode("utf-8", "surrogateescape").strip()

    def ask(self, *words: str, **how: Any) -> Answer:
        """Return what git says, even where it fails. how: as for `ask_git`. Raises GitError."""
        return ask_git(["--git-dir", self.folder, *words], self.name, **how)


def ask_git(
    words: Sequence[str],
    what: str,
    values: Mapping[str, str] = {},
    *,
    own_configuration: bool = False,
    folder: str = "/",
    input: str = "",
    timeout: float | None = None,
) -> Answer:
    """Run git. what: what it is about, for messages. values: variables. folder: where it starts.
    input: for its standard input. timeout: seconds, after which it and its children are killed.
    Raises GitError where it cannot be started, or takes too long.
    """
    try:
        with running(
            ["git", *_QUIET, *_DURABLE, *words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment(values, own_configuration),
            cwd=folder,
            umask=0o022,
        ) as program:
            output, errors = program.communicate(input.encode(errors="surrogateescape"), timeout)
    except OSError as error:
        raise GitError(f"{what}: git: {error.strerror}", hint="install git") from None
    except subprocess.TimeoutExpired:
        raise GitError(
            f"{what}: no end after {timeout:g} s", hint="is the server well? a longer time may do"
        ) from None
    return Answer(program.returncode, output, errors.decode("utf-8", "replace"))


def failure(what: str, answer: Answer) -> GitError:
    """Return what a git that failed means. what: it is about, for messages."""
    lines = [line.strip() for line in answer.errors.splitlines() if line.strip()]
    fatal = [line for line in lines if line.startswith(("fatal:", "error:"))]
    reason = "; ".join(fatal[:2]) or (lines[-1] if lines else f"git ended with {answer.status}")
    if "Could not read from remote repository" in reason:  # what ssh said is the reason
        told = (line for line in lines if not line.startswith(_USELESS))
        reason = next(told, reason)
    cure = next((cure for word, cure in _CURES if word in answer.errors), None)
    masked = re.sub(r"(\w://[^/\s:@]*):[^/\s@]*@", r"\1@", reason)
    if _FULL.search(answer.errors):
        return FullDisk(f"{what}: its copy cannot be written: {masked.removeprefix('fatal: ')}")
    kind = DamagedCopy if _DAMAGE.search(answer.errors) else GitError
    return kind(f"{what}: {masked.removeprefix('fatal: ')}", hint=cure)
