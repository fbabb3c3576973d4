# SPDX-License-Identifier: Apache-2.0
"""The reference of the configuration's keys, put together from what the program itself reads: types
and defaults from `Options`, `PartSettings` and the tables of gitfs, and from the pages of keys.txt.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from runner.model.diagnostics import similar, suggestion
from runner.model.errors import RunnerError
from runner.model.records import Record
from runner.model.releases import setting_since
from runner.sources.config import key_descriptions, report
from runner.sources.config.key_descriptions import MODULES, REPOSITORIES
from runner.sources.config.keys import DEFAULTS, NUMBER, choices, salt_keys, types
from runner.sources.config.options import Options
from runner.sources.config.unused_keys import PRINTING, instead
from runner.sources.gitfs import settings as repositories
from runner.sources.trees import source

NOTE = (
    "<!-- Made by `runner doc --reference` from runner/sources/config/: change"
    " that, not this file. -->\n"
)
STORES = "Any other key with a `driver` below it is a store for `sdb://KEY/...`."
FROM_SALT = (
    "The keys of a Salt minion's configuration are all taken. Those of this page have an effect;"
    " the others belong to a master, a daemon or a network, and templates see them in `opts`."
)


class KeyManual(Record):
    """What the reference says of one key. unit, default: empty where there is none."""

    name: str
    type: str
    unit: str
    default: str
    since: str
    about: str
    example: str
    group: str


@cache
def keys() -> Mapping[str, KeyManual]:
    """All keys that have an effect, by their names, in the order of the reference."""
    documented = {name: _entry(name, page) for name, page in key_descriptions.pages().items()}
    tables = {"gitfs": repositories.GITFS, "git_pillar": repositories.GIT_PILLAR}
    for prefix, kinds in tables.items():
        for setting, kind in kinds.items():
            documented[f"{prefix}_{setting}"] = _of_repositories(prefix, setting, kind)
    return documented


def entries(name: str) -> list[KeyManual]:
    """A key, and those below it.

    Raises RunnerError for one that has no effect, with what to use instead, or does not exist.
    """
    documented = keys()
    chosen = [key for full, key in documented.items() if f"{full}.".startswith(f"{name}.")]
    if chosen:
        return chosen
    if name in instead():
        raise RunnerError(f"{name} is a key of Salt without effect in runner", hint=instead()[name])
    if name in salt_keys() or name in DEFAULTS:
        raise RunnerError(
            f"{name} is a key of Salt without effect in runner",
            hint=PRINTING.get(name, "it may stay; templates see it in `opts`"),
        )
    parent, dot, _ = name.partition(".")
    below = [full for full in documented if full.startswith(f"{parent}.")]
    near = similar(
        name, below or [*documented, *salt_keys()], 1, 0.85 if dot and not below else 0.6
    )
    hint = suggestion(near[0]) if near else "`runner doc config` lists all"
    if dot and not below and not near:
        hint = f"a module of yours may read it: `runner doc {parent}`"
    raise RunnerError(f"there is no configuration key {name}", hint=hint)


def _entry(name: str, description: key_descriptions.Description) -> KeyManual:
    return KeyManual(
        name,
        description.type or _type(name),
        description.unit,
        description.default or _default(name),
        setting_since(name),
        description.about,
        description.example,
        description.group,
    )


def _of_repositories(prefix: str, setting: str, kind: str) -> KeyManual:
    description = key_descriptions.of_repositories()[setting]
    default = repositories.DEFAULTS.get(setting, repositories.EMPTY[kind])
    return KeyManual(
        f"{prefix}_{setting}",
        # the unit is in the names of the kinds there
        NUMBER if kind == repositories.NUMBER else kind,
        description.unit,
        description.default or _yaml(default) or "none",
        setting_since(f"{prefix}_{setting}"),
        description.about,
        f"{prefix}_{description.example}",
        REPOSITORIES,
    )


def _type(name: str) -> str:
    if texts := choices(name):
        return f"one of {', '.join(texts)}"
    *first, last = types(name)
    return f"{', '.join(first)} or {last}" if first else last


def _default(name: str) -> str:
    """Return what the program takes where a configuration does not say it."""
    parent, dot, inner = name.partition(".")
    if parent == "tree" and dot:
        return _yaml(getattr(source.TreeSource(""), inner))
    if name == "report.timeout":
        return _yaml(report.TIMEOUT)
    value = DEFAULTS[name] if name in DEFAULTS else getattr(Options(), name, None)
    return _yaml(value) or "none"


def _yaml(value: Any) -> str:
    """A default as a configuration would have it; empty for none."""
    if value is None or value == "":
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_quoted, value))}]"
    return "{}" if isinstance(value, Mapping) else str(value)


def _quoted(value: Any) -> str:
    text = str(value)
    return f"'{text}'" if text.startswith("*") else text


# ---------------------------------------------------------------- for readers


def contents(width: int = 80) -> str:
    """The list of all keys by groups."""
    lines = ["Keys of the configuration (`runner doc config KEY` describes one):"]
    by_group: dict[str, list[str]] = {}
    for key in keys().values():
        if "." not in key.name or key.group == MODULES:
            by_group.setdefault(key.group, []).append(key.name)
    for group, names in by_group.items():
        lines += ["", f"  {group}:", *_wrapped(", ".join(names), width, 4)]
    for text in (FROM_SALT, STORES):
        lines += ["", *_wrapped(text, width)]
    return "\n".join(lines) + "\n"


def as_text(name: str, width: int = 80) -> str:
    """The entries of a key for a terminal."""
    return "\n".join("\n".join(_lines(key, min(width, 100))) + "\n" for key in entries(name))


def _wrapped(text: str, width: int, indent: int = 2) -> list[str]:
    return textwrap.wrap(text, width, initial_indent=" " * indent, subsequent_indent=" " * indent)


def _lines(key: KeyManual, width: int) -> Iterator[str]:
    yield f"{key.name}  (configuration)"
    yield ""
    yield from _wrapped(key.about, width)
    yield ""
    yield from textwrap.indent(key.example, " " * 6).split("\n")
    yield ""
    for title, value in _facts(key):
        yield from textwrap.wrap(
            f"{title}: {value}", width, initial_indent="  ", subsequent_indent=" " * 4
        )


def _facts(key: KeyManual) -> Iterator[tuple[str, str]]:
    facts = {"Type": key.type, "Unit": key.unit, "Default": key.default, "Since": key.since}
    return ((title, value) for title, value in facts.items() if value)


def as_markdown(name: str) -> str:
    """The entries of a key as Markdown."""
    return "\n".join(map(_markdown, entries(name)))


def page() -> str:
    """The whole reference as one page of Markdown."""
    parts = [f"{NOTE}# Configuration\n", f"{FROM_SALT}\n", f"{STORES}\n"]
    group = ""
    for key in keys().values():
        if key.group != group:
            group = key.group
            parts.append(f"## {group}\n")
        parts.append(_markdown(key))
    rows = (f"| `{name}` | {' '.join(text.split())} |\n" for name, text in instead().items())
    parts.append(
        "## Keys of Salt that are done in another way\n\n| key | instead |\n|---|---|\n"
        + "".join(rows)
    )
    others = sorted(name for name in salt_keys() if name not in keys() and name not in instead())
    parts.append(f"## Keys of Salt without effect\n\n{', '.join(f'`{name}`' for name in others)}\n")
    return "\n".join(parts)


def _markdown(key: KeyManual) -> str:
    facts = "; ".join(f"{title.lower()}: {_code(value)}" for title, value in _facts(key))
    return f"### `{key.name}`\n\n{key.about}\n\n{facts}\n\n```yaml\n{key.example}\n```\n"


def _code(value: str) -> str:
    """A default with marks of Markdown as code."""
    return f"`{value}`" if any(mark in value for mark in "[]{}*_|") and "`" not in value else value
