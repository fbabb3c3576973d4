# SPDX-License-Identifier: Apache-2.0
"""The remotes of a repository, and what is cloned, fetched and pushed."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from typing import Any

from modules._texts.lines import plain_name, split
from modules.git._arguments import identity_keys, optional_word
from modules.git._run import ask, change, credentials, refs_of
from runner.api import CommandFailed


def remotes(
    cwd: str, user: str | None = None, redact_auth: bool = True, **_: Any
) -> dict[str, dict[str, str]]:
    """The remotes of a repository with their URLs for fetch and push. redact_auth: without the user
    and the password in them.
    """
    urls: dict[str, dict[str, str]] = {}
    for line in ask(["remote", "-v"], cwd, user).splitlines():
        name, _tab, rest = line.partition("\t")
        url, _space, kind = rest.rpartition(" ")
        shown = re.sub(r"^(\w+://)[^/@]+@", r"\1<redacted>@", url) if redact_auth else url
        urls.setdefault(name, {})[kind.strip("()")] = shown
    return urls


def remote_get(
    cwd: str, remote: str = "origin", user: str | None = None, redact_auth: bool = True, **_: Any
) -> dict[str, str]:
    """The URLs of one remote for fetch and push. Raises CommandFailed when there is none.
    redact_auth: as of remotes.
    """
    known = remotes(cwd, user, redact_auth)
    if remote not in known:
        raise CommandFailed(f"Remote '{remote}' not present in git checkout located at {cwd}")
    return known[remote]


def remote_set(
    cwd: str,
    url: str,
    remote: str = "origin",
    user: str | None = None,
    push_url: str | None = None,
    **_: Any,
) -> dict[str, str]:
    """Have a remote with this URL; its URLs for fetch and push. push_url: another one to push to.

    upstream:
      module.run:
        - git.remote_set:
          - cwd: /srv/app
          - url: https://example.com/app.git
          - remote: upstream
    """
    if remote in remotes(cwd, user):
        change(["remote", "rm", "--", remote], cwd, user)
    change(["remote", "add", "--", remote, url], cwd, user)
    if push_url:
        change(["remote", "set-url", "--push", "--", remote, push_url], cwd, user)
    return remote_get(cwd, remote, user)


def ls_remote(
    cwd: str | None = None,
    remote: str = "origin",
    ref: str | None = None,
    opts: str = "",
    user: str | None = None,
    identity: str | Sequence[str] = (),
    https_user: str | None = None,
    https_pass: str | None = None,
    **_: Any,
) -> dict[str, str]:
    """The references of a remote (a name in `cwd`, or a URL) with their commits. Raises
    CommandFailed when git fails. ref: only those with this name.
    """
    words = [*shlex.split(opts), "--", remote, *([ref] if ref else [])]
    done = refs_of(
        words, cwd, user, identity_keys(identity, user), credentials(https_user, https_pass, remote)
    ).or_fail()
    return {name: sha for sha, name in (line.split("\t") for line in split(done.stdout))}


def salt_remote_refs(
    url: str,
    heads: bool = False,
    tags: bool = False,
    user: str | None = None,
    identity: str | Sequence[str] = (),
    https_user: str | None = None,
    https_pass: str | None = None,
    filter: str | None = None,
    **_: Any,
) -> dict[str, str]:
    """The references of a repository at a URL with their commits. heads, tags: only these. filter:
    only those of this name.

    {{ salt['git.remote_refs']('https://git.example.com/app.git', tags=True) | json }}
    """
    opts = " ".join([*(["--heads"] if heads else []), *(["--tags"] if tags else [])])
    return ls_remote(None, url, filter, opts, user, identity, https_user, https_pass)


def clone(
    cwd: str,
    url: str,
    name: str | None = None,
    opts: str = "",
    user: str | None = None,
    identity: str | Sequence[str] = (),
    https_user: str | None = None,
    https_pass: str | None = None,
    **_: Any,
) -> bool:
    """Clone a repository to `cwd`, or with a name to that folder in it."""
    target = f"{cwd.rstrip('/')}/{name}" if name else cwd
    words = ["clone", *shlex.split(opts), "--", url, target]
    change(
        words, None, user, identity_keys(identity, user), credentials(https_user, https_pass, url)
    )
    return True


def fetch(
    cwd: str,
    remote: str | None = None,
    force: bool = False,
    refspecs: str | Sequence[str] | None = None,
    opts: str = "",
    user: str | None = None,
    identity: str | Sequence[str] = (),
    **_: Any,
) -> str:
    """Fetch from a remote; what git says. refspecs: only these references, a list or a text with
    commas.
    """
    listed = refspecs.split(",") if isinstance(refspecs, str) else list(refspecs or ())
    words = [
        "fetch",
        *(["--force"] if force else []),
        *shlex.split(opts),
        *optional_word(remote or ("origin" if listed else None), "the remote"),
        *(plain_name(text, "the refspec") for text in listed),
    ]
    return change(words, cwd, user, identity_keys(identity, user))


def pull(
    cwd: str, opts: str = "", user: str | None = None, identity: str | Sequence[str] = (), **_: Any
) -> str:
    """Pull from the branch that is tracked; what git says."""
    return change(["pull", *shlex.split(opts)], cwd, user, identity_keys(identity, user))


def push(
    cwd: str,
    remote: str | None = None,
    ref: str | None = None,
    opts: str = "",
    user: str | None = None,
    identity: str | Sequence[str] = (),
    **_: Any,
) -> str:
    """Push to a remote; what git says."""
    words = ["push", *shlex.split(opts), "--", *(word for word in (remote, ref) if word)]
    return change(words, cwd, user, identity_keys(identity, user))
