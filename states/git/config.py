"""git.config_set and config_unset: keys of git's configuration."""

from __future__ import annotations

import re
from typing import Any

from modules import file, git
from runner.api import AbsolutePath, OneOrMany, Plan, Planned, Secret, StateFailed


def config_set(
    name: str,
    value: str | int | float | bool | None = None,
    multivar: OneOrMany[str | int | float | bool] | None = None,
    repo: AbsolutePath | None = None,
    user: str | None = None,
    password: Secret[str] | None = None,
    output_encoding: str | None = None,
    global_: bool = False,
) -> Planned:
    """Make sure that a key of git's configuration has a value, or several (multivar).

    name: the key. repo: the repository; global: of the user (default: who runs this) instead.

        user.email:
          git.config_set:
            - value: zoe@example.com
            - global: True

    Behaviour: Salt 3008's git.config_set; a plan has the keys of the real run.
    """
    if (value is None) == (multivar is None):
        count = "Only one" if value is not None else "One"
        raise StateFailed(f"{count} of 'value' and 'multivar' has to be given")
    _check_place(repo, global_)
    wanted = [_text(each) for each in (multivar if multivar is not None else [value])]
    old = git.config_values(name, repo, user, global_)
    label = f"{'Global key ' if global_ else ''}'{name}'"
    shown: Any = wanted if multivar is not None else f"'{wanted[0]}'"
    if old == wanted:
        return f"{label} is already set to {shown}"
    verb = ("set to" if old else "added as") if old or not global_ else "added as"
    yield Plan({name: {"old": old or None, "new": wanted}}, f"{label} would be {verb} {shown}")
    if old:
        git.config_change(["--unset-all", name], repo, user, global_)
    for each in wanted:
        git.config_change(["--add", name, each], repo, user, global_)
    return f"{label} was {verb} {shown}"


def config_unset(
    name: str,
    value_regex: str | None = None,
    repo: AbsolutePath | None = None,
    user: str | None = None,
    password: Secret[str] | None = None,
    output_encoding: str | None = None,
    global_: bool = False,
    all_: bool = False,
) -> Planned:
    """Make sure that a key of git's configuration is not set.

    name: the key. value_regex: only values that match. all: several values, too. repo, global, user: as of config_set.

        core.pager:
          git.config_unset:
            - global: True

    Behaviour: Salt 3008's git.config_unset.
    """
    _check_place(repo, global_)
    old = git.config_values(name, repo, user, global_)
    gone = [each for each in old if value_regex is None or re.search(value_regex, each)]
    if not gone:
        return "No matching keys are set"
    if len(gone) > 1 and not all_:
        raise StateFailed("Multiple matches found and 'all' is set to False")
    yield Plan({name: gone}, f"{len(gone)} key(s) would have value(s) unset")
    git.config_change(["--unset-all", name, *([value_regex] if value_regex else [])], repo, user, global_)
    return f"{len(gone)} key(s) successfully unset"


def _check_place(repo: str | None, everywhere: bool) -> None:
    if everywhere == (repo is not None):
        raise StateFailed("Either repo or global: True has to be given, and not both")
    if repo is not None and not file.is_dir(repo):
        raise StateFailed(f"{repo} is no folder", lacks=("file", repo))


def _text(value: str | int | float | bool | None) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
