"""Salt's functions of the git module."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from typing import Any

from modules import file
from modules._lines import plain_name
from modules.git._run import (
    ask,
    change,
    config_matching,
    config_values,
    credentials,
    keys,
    look,
    probe,
)
from runner.api import CommandFailed


def version(versioninfo: bool = False) -> Any:
    """The version of git, as a list of numbers with `versioninfo`."""
    text = probe(["--version"]).stdout.split()[2]
    return [int(part) for part in text.split(".") if part.isdigit()] if versioninfo else text


def is_worktree(cwd: str, user: str | None = None, **_: Any) -> bool:
    """Return whether a folder is the top of a further work tree (`git worktree add`); an ordinary
    clone is none.
    """
    if not file.is_dir(cwd):
        return False
    output = look(["rev-parse", "--show-cdup", "--git-dir", "--git-common-dir"], cwd, user)
    above, own, common = (output.split("\n") if output is not None else ["no", "", ""])[:3]
    return not above and own != common


def current_branch(cwd: str, user: str | None = None, **_: Any) -> str:
    """The branch that is checked out; HEAD when none is.

    {{ salt['git.current_branch']('/srv/app') }}
    """
    return ask(["rev-parse", "--abbrev-ref", "HEAD"], cwd, user)


def revision(
    cwd: str, rev: str = "HEAD", short: bool = False, user: str | None = None, **_: Any
) -> str:
    """The commit of a revision. Raises CommandFailed when there is none."""
    return ask(
        [
            "rev-parse",
            *(["--short"] if short else []),
            f"{plain_name(rev, 'the revision')}^{{commit}}",
        ],
        cwd,
        user,
    )


def rev_parse(
    cwd: str, rev: str | None = None, opts: str = "", user: str | None = None, **_: Any
) -> str:
    """The output of `git rev-parse`."""
    return ask(["rev-parse", *shlex.split(opts), *_plain_words(rev, "the revision")], cwd, user)


def describe(cwd: str, rev: str = "HEAD", user: str | None = None, **_: Any) -> str:
    """The tag before a revision and the distance to it, or the short commit."""
    return ask(["describe", "--always", *_plain_words(rev, "the revision")], cwd, user)


def list_branches(cwd: str, remote: bool = False, user: str | None = None, **_: Any) -> list[str]:
    """The branches of a repository, or those of its remotes."""
    return _names("refs/remotes/" if remote else "refs/heads/", cwd, user)


def list_tags(cwd: str, user: str | None = None, **_: Any) -> list[str]:
    """The tags of a repository."""
    return _names("refs/tags/", cwd, user)


def _names(prefix: str, cwd: str, user: str | None) -> list[str]:
    return [
        name.removeprefix(prefix)
        for name in ask(["for-each-ref", "--format=%(refname)", prefix], cwd, user).split()
    ]


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
    words = ["ls-remote", *shlex.split(opts), "--", remote, *([ref] if ref else [])]
    done = probe(
        words, cwd, user, _keys(identity, user), credentials(https_user, https_pass, remote)
    )
    if done.retcode:
        raise CommandFailed(done.error_text)
    return {name: sha for sha, name in (line.split("\t") for line in done.stdout.splitlines())}


def _keys(identity: str | Sequence[str], user: str | None) -> tuple[str, ...]:
    return keys([identity] if isinstance(identity, str) else list(identity), user) or ()


def status(cwd: str, user: str | None = None, **_: Any) -> dict[str, list[str]]:
    """The changed paths of a work tree, by kind: modified, new, deleted, untracked."""
    kinds = {
        "M": "modified",
        "T": "modified",
        "R": "modified",
        "A": "new",
        "D": "deleted",
        "?": "untracked",
    }
    paths: dict[str, list[str]] = {}
    entries = iter(ask(["status", "--porcelain", "-z"], cwd, user).split("\0"))
    for entry in entries:
        if entry[:1] in ("R", "C"):
            next(entries, "")  # the old name
        kind = kinds.get(entry[:2].strip()[:1])
        if kind:
            paths.setdefault(kind, []).append(entry[3:])
    return paths


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
    cwd: str,
    remote: str = "origin",
    user: str | None = None,
    redact_auth: bool = True,
    **_: Any,
) -> dict[str, str]:
    """The URLs of one remote for fetch and push. Raises CommandFailed when there is none.
    redact_auth: as of remotes.
    """
    known = remotes(cwd, user, redact_auth)
    if remote not in known:
        raise CommandFailed(f"Remote '{remote}' not present in git checkout located at {cwd}")
    return known[remote]


def config_get(
    key: str, cwd: str | None = None, user: str | None = None, all: bool = False, **options: Any
) -> Any:
    """A value of git's configuration, a list with `all`; None when it is not set. global: only the
    user's own.
    """
    scope = "global" if options.get("global") or cwd is None else None
    values = config_values(key, cwd, user, scope)
    return (values or None) if all else (values[-1] if values else None)


def config_get_regexp(
    key: str,
    value_regex: str | None = None,
    cwd: str | None = None,
    user: str | None = None,
    **options: Any,
) -> dict[str, list[str]]:
    """The keys of git's configuration that a regular expression matches, with their values.
    value_regex: only values that this one matches. Raises CommandFailed for a wrong one.
    """
    scope = "global" if options.get("global") or cwd is None else None
    values = config_matching(f".*{key}.*", cwd, user, scope)
    if value_regex is None:
        return values
    try:
        wanted = re.compile(value_regex)
    except re.error as problem:
        raise CommandFailed(f"value_regex: {problem}") from None
    some = {name: [text for text in texts if wanted.search(text)] for name, texts in values.items()}
    return {name: texts for name, texts in some.items() if texts}


# ---------------------------------------------------------------- changing


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
    change(words, None, user, _keys(identity, user), credentials(https_user, https_pass, url))
    return True


def checkout(
    cwd: str,
    rev: str | None = None,
    force: bool = False,
    opts: str = "",
    user: str | None = None,
    **_: Any,
) -> str:
    """Check out a revision; what git says."""
    words = [
        "checkout",
        *(["--force"] if force else []),
        *shlex.split(opts),
        *_plain_words(rev, "the revision"),
    ]
    return change(words, cwd, user)


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
        *_plain_words(remote or ("origin" if listed else None), "the remote"),
        *(plain_name(text, "the refspec") for text in listed),
    ]
    return change(words, cwd, user, _keys(identity, user))


def _plain_words(word: str | None, what: str) -> list[str]:
    return [plain_name(word, what)] if word else []


def pull(
    cwd: str, opts: str = "", user: str | None = None, identity: str | Sequence[str] = (), **_: Any
) -> str:
    """Pull from the branch that is tracked; what git says."""
    return change(["pull", *shlex.split(opts)], cwd, user, _keys(identity, user))
