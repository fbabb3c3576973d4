# SPDX-License-Identifier: Apache-2.0
"""git.config_set and config_unset: keys of git's configuration."""

from __future__ import annotations

import re
from typing import Any

from modules import file, git
from runner.api import AbsolutePath, Line, Name, OneOrMany, Plan, Planned, Secret, StateFailed

VARIABLE = re.compile("[A-Za-z][A-Za-z0-9-]*")


def config_set(
    name: Line,
    value: Line | int | float | bool | None = None,
    multivar: OneOrMany[Line | int | float | bool] | None = None,
    repo: AbsolutePath | None = None,
    user: Name | None = None,
    password: Secret[Line] | None = None,
    output_encoding: Line | None = None,
    global_: bool = False,
) -> Planned:
    """Make sure that a key of git's configuration has a value, or several (multivar).

    name: The key.
    value: The one value of the key.
    multivar: A list of all the values that the key has, instead of value.
    repo: The repository whose configuration is set.
    user: Whose configuration is set with `global`, and who git runs as; without it the caller.
    password, output_encoding: as of git.latest.
    global: Set the configuration of the user instead of that of a repository.

        user.email:
          git.config_set:
            - value: zoe@example.com
            - global: True

    Behaviour: Salt 3008's git.config_set; a plan has the keys of the real run.
    """
    if (value is None) == (multivar is None):
        raise StateFailed(
            "One of 'value' and 'multivar' is required"
            if value is None
            else "Only one of 'value' and 'multivar' is permitted"
        )
    wanted = [str(text) for text in (multivar if multivar is not None else [value])]
    shown: Any = wanted if multivar is not None else f"'{wanted[0]}'"
    failed = f"Failed to set '{name}' to {shown}: "
    if "." not in name:
        raise StateFailed(f"{failed}error: key does not contain a section: {name}")
    section, variable = name.partition(".")[0], name.rpartition(".")[2]
    if not re.fullmatch("[A-Za-z0-9-]+", section) or not VARIABLE.fullmatch(variable):
        raise StateFailed(f"{failed}error: invalid key: {name}")
    repo = _place(repo, user, global_, failed)
    old = git.config_values(name, repo, user, _scope(global_))
    label = f"{'Global key ' if global_ else ''}'{name}'"
    if old == wanted:
        return f"{label} is already set to {shown}"
    verb = "set to" if old else "added as"
    yield Plan({name: {"old": old or None, "new": wanted}}, f"{label} would be {verb} {shown}")
    commands = [["--unset-all", name]] if old else []
    commands += (["--add", name, text] for text in wanted)
    try:
        git.config_change(commands, repo, user, global_)
    except StateFailed as failure:
        raise StateFailed(failed + failure.message) from None
    return f"{label} was {verb} {shown}"


def config_unset(
    name: Line,
    value_regex: Line | None = None,
    repo: AbsolutePath | None = None,
    user: Name | None = None,
    password: Secret[Line] | None = None,
    output_encoding: Line | None = None,
    global_: bool = False,
    all_: bool = False,
) -> Planned:
    """Make sure that a key of git's configuration is not set.

    name: The key, or a regular expression that matches whole keys.
    value_regex: Unset only values that this regular expression matches.
    repo, user: as of git.config_set.
    password, output_encoding: as of git.latest.
    global: Look at the configuration of the user instead of that of a repository.
    all: Unset a key that has several values, too.

        core.pager:
          git.config_unset:
            - global: True

    Behaviour: Salt 3008's git.config_unset, where that works.
    """
    repo = _place(repo, user, global_, f"Failed to unset '{name}': ")
    old = git.config_matching(name, repo, user, _scope(global_))
    unset = {
        key: [text for text in values if _matches(value_regex, text)] for key, values in old.items()
    }
    unset = {key: values for key, values in unset.items() if values}
    if not unset:
        return "No matching keys are set"
    several = {key: values for key, values in unset.items() if len(values) > 1}
    if several and not all_:
        listed = ", ".join(f"{key} ({', '.join(values)})" for key, values in several.items())
        raise StateFailed(
            "Multivar(s) matched by the key expression (set 'all' to True to force removal):"
            f" {listed}"
        )
    yield Plan(dict(unset), f"{len(unset)} key(s) would have value(s) unset")
    only = [value_regex] if value_regex else []
    git.config_change([["--unset-all", key, *only] for key in unset], repo, user, global_)
    return "Value(s) successfully unset"


def _matches(pattern: str | None, value: str) -> bool:
    try:
        return pattern is None or re.search(pattern, value) is not None
    except re.error as problem:
        raise StateFailed(
            f"value_regex {pattern!r} is not a regular expression: {problem}"
        ) from None


def _scope(everywhere: bool) -> str:
    return "global" if everywhere else "local"


def _place(repo: str | None, user: str | None, everywhere: bool, failed: str) -> str | None:
    """The folder to work in; StateFailed where it is not a repository."""
    if everywhere:
        return None
    if repo is None:
        raise StateFailed("Non-global config options require the 'repo' argument to be set")
    if not file.is_dir(repo):
        raise StateFailed(f"{failed}{repo} is not a folder", missing=("file", repo))
    done = git.probe(["rev-parse", "--git-dir"], repo, user)
    if done.retcode:
        raise StateFailed(failed + done.error_text, missing=("file", f"{repo.rstrip('/')}/.git"))
    return repo
