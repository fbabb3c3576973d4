"""Salt's functions of the git module that change a repository or git's configuration."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import Any

from modules._lines import plain_name
from modules.git._run import change, config_change, config_values, keys
from modules.git._salt import remote_get, remotes
from runner.api import CommandFailed


def config_set(
    key: str,
    value: Any = None,
    multivar: Sequence[Any] | None = None,
    cwd: str | None = None,
    user: str | None = None,
    **options: Any,
) -> list[str]:
    """Set a key of git's configuration; the values that it has then. Raises CommandFailed for both
    of value and multivar, or neither.

    value: the one value; multivar: several. cwd: the repository. global: the user's own
    configuration instead.

        no ownership check:
          module.run:
            - git.config_set:
              - key: safe.directory
              - value: '*'
              - global: true
    """
    if (value is None) == (multivar is None):
        raise CommandFailed("give one of value and multivar")
    everywhere = _is_global(cwd, options)
    first, *more = [str(text) for text in (multivar if multivar is not None else [value])] or [""]
    config_change(["--replace-all", key, first], cwd, user, everywhere)
    for text in more:
        config_change(["--add", key, text], cwd, user, everywhere)
    return config_values(key, cwd, user, "global" if everywhere else "local")


def config_unset(
    key: str,
    value_regex: str | None = None,
    cwd: str | None = None,
    user: str | None = None,
    **options: Any,
) -> bool:
    """Remove a key of git's configuration. Raises CommandFailed when it is not set, and for several
    values without `all`.

    value_regex: only values that match. all: though there are several. global: of the user's own
    configuration.
    """
    everywhere = _is_global(cwd, options)
    values = config_values(key, cwd, user, "global" if everywhere else "local")
    if not values:
        raise CommandFailed(f"Key '{key}' does not exist")
    if len(values) > 1 and value_regex is None and not options.get("all"):
        raise CommandFailed(f"Multiple values exist for key '{key}'")
    words = [
        "--unset-all" if options.get("all") else "--unset",
        key,
        *([value_regex] if value_regex else []),
    ]
    config_change(words, cwd, user, everywhere)
    return True


def _is_global(cwd: str | None, options: dict[str, Any]) -> bool:
    if options.get("global"):
        return True
    if cwd is None:
        raise CommandFailed("'cwd' argument required unless global=True")
    return False


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


def init(cwd: str, bare: bool = False, opts: str = "", user: str | None = None, **_: Any) -> str:
    """Make an empty repository at a folder; what git says. bare: one without files."""
    return change(
        ["init", *(["--bare"] if bare else []), *shlex.split(opts), "--", cwd], None, user
    )


def add(cwd: str, filename: str, opts: str = "", user: str | None = None, **_: Any) -> str:
    """Stage a file; what git says."""
    return change(["add", "--verbose", *shlex.split(opts), "--", filename], cwd, user)


def commit(
    cwd: str,
    message: str,
    opts: str = "",
    user: str | None = None,
    filename: str | None = None,
    git_opts: str = "",
    **_: Any,
) -> str:
    """Commit what is staged, or one file; what git says. git_opts: `-c user.name=deploy`."""
    return change(
        [
            *shlex.split(git_opts),
            "commit",
            "-m",
            message,
            *shlex.split(opts),
            *(["--", filename] if filename else []),
        ],
        cwd,
        user,
    )


def reset(cwd: str, opts: str = "", user: str | None = None, **_: Any) -> str:
    """Reset a work tree; what git says.

    {{ salt['git.reset']('/srv/app', '--hard origin/main') }}
    """
    return change(["reset", *shlex.split(opts)], cwd, user)


def submodule(
    cwd: str,
    command: str,
    opts: str = "",
    user: str | None = None,
    identity: str | Sequence[str] = (),
    **_: Any,
) -> str:
    """Run `git submodule` with a command (`update`); what git says. opts: `--init --recursive`."""
    return change(
        ["submodule", plain_name(command, "the command of git submodule"), *shlex.split(opts)],
        cwd,
        user,
        _keys_of(identity, user),
    )


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
    return change(words, cwd, user, _keys_of(identity, user))


def _keys_of(identity: str | Sequence[str], user: str | None) -> tuple[str, ...]:
    return keys([identity] if isinstance(identity, str) else list(identity), user) or ()
