# SPDX-License-Identifier: Apache-2.0
"""`decrypt_pillar`: parts of the pillar that are decrypted after it is compiled."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

from runner.language.pillar.undecrypted import LEFT
from runner.model.diagnostics import Diagnostic
from runner.model.errors import CompileError
from runner.model.places import Source

Decrypted = Callable[[str, Any, Source], Any]


def decrypt(
    pillar: dict[str, Any],
    opts: Mapping[str, Any],
    renderers: Collection[str],
    decrypted: Decrypted,
    place: Source,
) -> dict[str, Any]:
    """The pillar with what `decrypt_pillar` names decrypted. Raises CompileError with all mistakes.

    renderers: that decrypt. decrypted: a value (or whole branch) with the messages of a renderer
    replaced. place: of `decrypt_pillar`.
    """
    allowed = opts.get("decrypt_pillar_renderers") or renderers
    delimiter = str(opts.get("decrypt_pillar_delimiter") or ":")
    problems: list[Diagnostic] = []
    malformed = [
        item
        for item in _configured(opts["decrypt_pillar"])
        if isinstance(item, Mapping) and len(item) != 1
    ]
    if malformed or isinstance(opts["decrypt_pillar"], str):
        hint = "write\n    decrypt_pillar:\n      - secrets:passwords"
        raise CompileError(
            [Diagnostic("decrypt_pillar config option is malformed", place, hint, "pillar")]
        )
    for path, renderer in _named(
        opts["decrypt_pillar"], str(opts.get("decrypt_pillar_default") or "gpg")
    ):
        if renderer == LEFT:
            continue
        if renderer not in allowed or renderer not in renderers:
            what = f"decrypt_pillar: {renderer!r} is not a valid decryption renderer"
            hint = f"there is {', '.join(renderers)}, and {LEFT} for what is to stay encrypted"
            problems.append(Diagnostic(what, place, hint, "pillar"))
            continue
        *parents, last = str(path).split(delimiter)
        inner: Any = pillar
        for part in parents:
            inner = inner.get(part) if isinstance(inner, dict) else None
        if isinstance(inner, dict) and last in inner:
            inner[last] = decrypted(renderer, inner[last], place)
    if problems:
        raise CompileError(problems)
    return pillar


def _configured(configured: Any) -> list[Any]:
    return (
        [{path: renderer} for path, renderer in configured.items()]
        if isinstance(configured, Mapping)
        else list(configured)
    )


def _named(configured: Any, default: str) -> Iterator[tuple[str, str]]:
    """The paths of `decrypt_pillar` with their renderers: a list of paths and of {path: renderer},
    or one mapping.
    """
    for item in _configured(configured):
        if isinstance(item, Mapping):
            yield from ((str(path), str(renderer or default)) for path, renderer in item.items())
        else:
            yield str(item), default
