# SPDX-License-Identifier: Apache-2.0
"""git's configuration, looked at and changed."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from modules.git._run import config_change, config_matching, config_values
from runner.api import CommandFailed


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
    commands = [["--replace-all", key, first], *(["--add", key, text] for text in more)]
    config_change(commands, cwd, user, everywhere)
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
    config_change([words], cwd, user, everywhere)
    return True


def _is_global(cwd: str | None, options: dict[str, Any]) -> bool:
    if options.get("global"):
        return True
    if cwd is None:
        raise CommandFailed("'cwd' argument required unless global=True")
    return False
